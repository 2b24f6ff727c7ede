"""What functions of complex numbers are on pairs of real and imaginary parts.

Branch cuts and special values are those of C (Annex G), which NumPy follows; a sum whose size alone
is too large or too small is scaled first. Formulas of inverse functions are Kahan's (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.base.dtypes import float32, float64
from treadle.ops import elementwise as e
from treadle.ops import numeric as n
from treadle.ops.defs import Op
from treadle.ops.elementwise import (
    LN2,
    LN10,
    bitwise_and,
    bitwise_or,
    eq,
    ge,
    gt,
    log1p,
    lt,
    maximum,
    minimum,
    ne,
    where,
)  # fmt: skip
from treadle.ops.numeric import with_sign
from treadle.ops.special import SPLIT

Pair = tuple[Any, Any]
OFFSET = {float32: 64.0, float64: 512.0}  # taken from exponents near the largest
FAR = {float32: 2.0**26, float64: 2.0**56}  # from here, z * z + 1 is z * z
FLAT = {float32: 10.0, float64: 20.0}  # from here, tanh is 1
HUGE = {float32: 2.0**124, float64: 2.0**1020}
TINY = {float32: 2.0**-100, float64: 2.0**-960}


def _is_endless(x: Any) -> Any:
    return eq(abs(x), math.inf)


def _is_odd(x: Any) -> Any:
    """Infinite or NaN?"""
    return ne(x - x, 0.0)


# ---- arithmetic


def mul(a: Any, b: Any, c: Any, d: Any) -> Pair:
    """The product."""
    return a * c - b * d, a * d + b * c


def div(a: Any, b: Any, c: Any, d: Any) -> Pair:
    """Smith's quotient (1962): by the larger part of the divisor."""
    by_real = ge(abs(c), abs(d))
    large, small = where(by_real, c, d), where(by_real, d, c)
    nothing = eq(large, 0.0)
    ratio = where(nothing, 0.0, small / large)
    whole = where(nothing, abs(large), large + small * ratio)
    first, second = where(by_real, a, b), where(by_real, b, a)
    imaginary = where(by_real, b - a * ratio, b * ratio - a)
    return (first + second * ratio) / whole, imaginary / whole


def reciprocal(a: Any, b: Any) -> Pair:
    """1 / z."""
    return div(a.zeros_like() + 1.0, a.zeros_like(), a, b)


def size(a: Any, b: Any) -> Any:
    """The absolute value."""
    return n.hypot(a, b)


# ---- exponentials


def _raised(x: Any) -> Pair:
    """exp(x) as two factors that do not overflow where a part of their product does not."""
    offset = OFFSET[x.dtype]
    large = gt(x, offset)
    return e.exp(where(large, x - offset, x)), where(large, math.exp(offset), 1.0)


def exp(a: Any, b: Any) -> Pair:
    """exp(a) (cos b + i sin b)."""
    size, more = _raised(a)
    lost = bitwise_and(_is_endless(a), _is_odd(b))
    real = where(lost, where(gt(a, 0.0), math.inf, 0.0), size * e.cos(b) * more)
    imaginary = where(lost, where(gt(a, 0.0), math.nan, 0.0), size * e.sin(b) * more)
    return real, where(eq(b, 0.0), b, imaginary)


def exp2(a: Any, b: Any) -> Pair:
    """2 to the power z."""
    return exp(a * LN2, b * LN2)


def expm1(a: Any, b: Any) -> Pair:
    """exp(z) - 1: what cos(b) lacks of 1 is twice the square of a sine."""
    half = e.sin(b * 0.5)
    near = e.expm1(a) * e.cos(b) - 2.0 * half * half
    real, imaginary = exp(a, b)
    return where(gt(abs(a), 32.0), real - 1.0, near), imaginary


def sigmoid(a: Any, b: Any) -> Pair:
    """1 / (1 + exp(-z)), by the exponential that does not overflow."""
    right = ge(a, 0.0)
    c, d = exp(-abs(a), where(right, -b, b))
    one, nothing = c.zeros_like() + 1.0, c.zeros_like()
    return div(where(right, one, c), where(right, nothing, d), c + 1.0, d)


# ---- logarithms


def _squared(x: Any) -> Pair:
    """x * x, and what rounding it loses (Dekker 1971)."""
    shifted = x * SPLIT[x.dtype]
    high = shifted - (shifted - x)
    low, square = x - high, x * x
    return square, ((high * high - square) + 2.0 * high * low) + low * low


def _log_near_one(large: Any, small: Any) -> Any:
    """log(hypot) of parts whose squares add up to about 1: the sum less 1 is exact first."""
    p, lost = _squared(large)
    q, more = _squared(small)
    rest = p - 1.0
    total = rest + q
    other = total - rest
    missed = (rest - (total - other)) + (q - other)
    return 0.5 * log1p(total + (missed + (lost + more)))


def log_size(a: Any, b: Any) -> Any:
    """The logarithm of the absolute value."""
    large, small = maximum(abs(a), abs(b)), minimum(abs(a), abs(b))
    near = bitwise_and(gt(large, 0.5), lt(large, 2.0))
    ratio = small / where(eq(large, 0.0), 1.0, large)
    apart = e.log(large) + 0.5 * log1p(ratio * ratio)
    close = _log_near_one(where(near, large, 1.0), where(near, small, 0.0))
    endless = bitwise_or(_is_endless(a), _is_endless(b))
    return where(endless, math.inf, where(near, close, apart))


def log(a: Any, b: Any) -> Pair:
    """The principal logarithm; the cut lies along the negative numbers."""
    return log_size(a, b), n.atan2(b, a)


def _log_to(base: float) -> Callable[[Any, Any], Pair]:
    def scaled(a: Any, b: Any) -> Pair:
        real, imaginary = log(a, b)
        return real * (1.0 / base), imaginary * (1.0 / base)

    return scaled


def log_of_more(a: Any, b: Any) -> Pair:
    """log(1 + z), accurate near 0."""
    above = a + 1.0
    near = lt(maximum(abs(a), abs(b)), 0.5)
    small_a, small_b = where(near, a, 0.0), where(near, b, 0.0)
    close = 0.5 * log1p(small_a * (small_a + 2.0) + small_b * small_b)
    return where(near, close, log_size(above, b)), n.atan2(b, above)


def power(a: Any, b: Any, c: Any, d: Any) -> Pair:
    """exp(w log z); 1 for an exponent of 0, and 0 to a positive power is 0."""
    base_is_0 = bitwise_and(eq(a, 0.0), eq(b, 0.0))
    exponent_is_0 = bitwise_and(eq(c, 0.0), eq(d, 0.0))
    length, angle = log(where(base_is_0, 1.0, a), b)
    real, imaginary = exp(*mul(c, d, length, angle))
    vanishes = bitwise_and(gt(c, 0.0), eq(d, 0.0))
    nothing = where(vanishes, 0.0, math.nan)
    real = where(exponent_is_0, 1.0, where(base_is_0, nothing, real))
    return real, where(exponent_is_0, 0.0, where(base_is_0, nothing, imaginary))


# ---- roots


def sqrt(a: Any, b: Any) -> Pair:
    """The root whose real part is not negative; scaled where squares would leave the range."""
    large = maximum(abs(a), abs(b))
    over, under = gt(large, HUGE[a.dtype]), lt(large, TINY[a.dtype])
    scale = where(over, 2.0**-4, where(under, 2.0**60, 1.0))
    back = where(over, 2.0**2, where(under, 2.0**-30, 1.0))
    x, y = a * scale, b * scale
    root = e.sqrt((abs(x) + n.hypot(x, y)) * 0.5)
    nothing = eq(root, 0.0)
    other = where(nothing, 0.0, abs(y) / where(nothing, 1.0, root + root))
    left = lt(a, 0.0)
    real, imaginary = where(left, other, root) * back, where(left, root, other) * back
    endless = _is_endless(b)
    return where(endless, math.inf, real), with_sign(where(endless, math.inf, imaginary), b)


def rsqrt(a: Any, b: Any) -> Pair:
    """1 / sqrt(z)."""
    return reciprocal(*sqrt(a, b))


# ---- hyperbolic functions, and by a quarter turn the trigonometric ones


def _waves(x: Any) -> tuple[Any, Any, Any]:
    """cosh and sinh of x over a factor, which is 1 but for large x."""
    offset = OFFSET[x.dtype]
    large = gt(abs(x), offset)
    far = 0.5 * e.exp(abs(x) - offset)
    near = where(large, 0.0, x)
    even = where(large, far, n.cosh(near))
    odd = where(large, with_sign(far, x), n.sinh(near))
    return even, odd, where(large, math.exp(offset), 1.0)


def sinh(a: Any, b: Any) -> Pair:
    """sinh(a) cos(b) + i cosh(a) sin(b)."""
    even, odd, more = _waves(a)
    strange = _is_odd(b)
    real = where(bitwise_and(strange, bitwise_or(eq(a, 0.0), _is_endless(a))), a,
                 odd * e.cos(b) * more)  # fmt: skip
    return real, where(eq(b, 0.0), b, even * e.sin(b) * more)


def cosh(a: Any, b: Any) -> Pair:
    """cosh(a) cos(b) + i sinh(a) sin(b)."""
    even, odd, more = _waves(a)
    strange = _is_odd(b)
    real = where(bitwise_and(strange, _is_endless(a)), math.inf, even * e.cos(b) * more)
    level = bitwise_or(eq(b, 0.0), bitwise_and(eq(a, 0.0), strange))
    flat = with_sign(a.zeros_like(), with_sign(a.zeros_like() + 1.0, a) * b)
    return real, where(level, flat, odd * e.sin(b) * more)


def tanh(a: Any, b: Any) -> Pair:
    """sinh / cosh over a sum of squares; far out 1 and what is left of the angle."""
    far = gt(abs(a), FLAT[a.dtype])
    near = where(far, 0.0, a)
    sine, cosine, odd = e.sin(b), e.cos(b), n.sinh(near)
    whole = cosine * cosine + odd * odd
    left = 4.0 * sine * cosine * e.exp(-2.0 * abs(a))
    real = where(far, with_sign(a.zeros_like() + 1.0, a), odd * n.cosh(near) / whole)
    lost = bitwise_and(_is_endless(a), _is_odd(b))
    imaginary = where(far, where(lost, 0.0, left), sine * cosine / whole)
    return real, where(eq(b, 0.0), b, imaginary)


def turned(function: Callable[[Any, Any], Pair]) -> Callable[[Any, Any], Pair]:
    """-i f(i z): sin from sinh, and so on."""

    def rotated(a: Any, b: Any) -> Pair:
        real, imaginary = function(-b, a)
        return imaginary, -real

    return rotated


def cos(a: Any, b: Any) -> Pair:
    """cosh(i z)."""
    return cosh(-b, a)


# ---- their inverses


def _far(a: Any, b: Any) -> tuple[Any, Any]:
    """Are inverse hyperbolic functions of a large number logarithms? And log(2 |z|)."""
    far = gt(maximum(abs(a), abs(b)), FAR[a.dtype])
    far = bitwise_or(far, bitwise_or(_is_endless(a), _is_endless(b)))
    return far, log_size(a, b) + LN2


def asin(a: Any, b: Any) -> Pair:
    """The inverse sine; the cuts lie on the real axis, beyond -1 and 1."""
    far, length = _far(a, b)
    x, y = where(far, 0.0, a), where(far, 0.0, b)
    (p, q), (r, s) = sqrt(1.0 - x, -y), sqrt(1.0 + x, y)
    real = where(far, n.atan2(a, abs(b)), n.atan2(x, p * r - q * s))
    return real, where(far, with_sign(length, b), n.asinh(p * s - q * r))


def acos(a: Any, b: Any) -> Pair:
    """The inverse cosine; cuts as those of the inverse sine."""
    far, length = _far(a, b)
    x, y = where(far, 0.0, a), where(far, 0.0, b)
    (p, q), (r, s) = sqrt(1.0 - x, -y), sqrt(1.0 + x, y)
    real = where(far, n.atan2(abs(b), a), 2.0 * n.atan2(p, r))
    return real, where(far, with_sign(length, -b), n.asinh(r * q - s * p))


def acosh(a: Any, b: Any) -> Pair:
    """The inverse hyperbolic cosine; the cut lies on the real axis, below 1."""
    far, length = _far(a, b)
    x, y = where(far, 2.0, a), where(far, 0.0, b)
    (p, q), (r, s) = sqrt(x - 1.0, y), sqrt(x + 1.0, y)
    real = where(far, length, n.asinh(p * r + q * s))
    return real, where(far, n.atan2(b, a), 2.0 * n.atan2(q, r))


def atanh(a: Any, b: Any) -> Pair:
    """The inverse hyperbolic tangent; the cuts lie on the real axis, beyond -1 and 1."""
    far, _ = _far(a, b)
    x, y = where(far, 0.0, abs(a)), where(far, 0.0, b)
    below = 1.0 - x
    square = below * below + y * y
    pole = bitwise_and(eq(square, 0.0), ne(y, 0.0))
    steep = 0.5 * (LN2 - e.log(where(pole, abs(y), 1.0)))
    length = where(pole, steep, 0.25 * log1p(4.0 * x / where(pole, 1.0, square)))
    endless = bitwise_or(_is_endless(a), _is_endless(b))
    rest = where(endless, 0.0, abs(reciprocal(where(endless, 1.0, a), where(endless, 0.0, b))[0]))
    real = with_sign(where(far, rest, length), a)
    angle = 0.5 * n.atan2(2.0 * y, below * (1.0 + x) - y * y)
    quarter = where(ne(b, b), math.nan, with_sign(a.zeros_like() + 0.5 * math.pi, b))
    return where(bitwise_and(eq(a, 0.0), ne(b, b)), a, real), where(far, quarter, angle)


# ---- the rows

asinh, atan = turned(asin), turned(atanh)
FUNCTIONS: dict[Op, Callable[..., Any]] = {
    e.mul: mul, e.div: div, e.abs_: size, e.conj: lambda a, b: (a, -b), e.real: lambda a, b: a,
    e.imag: lambda a, b: b,
    e.eq: lambda a, b, c, d: bitwise_and(eq(a, c), eq(b, d)),
    e.ne: lambda a, b, c, d: bitwise_or(ne(a, c), ne(b, d)),
    e.exp: exp, e.exp2: exp2, e.expm1: expm1, e.log: log, e.log2: _log_to(LN2),
    e.log10: _log_to(LN10), e.log1p: log_of_more, e.float_power: power, e.sqrt: sqrt,
    e.sigmoid: sigmoid, e.sin: turned(sinh), e.cos: cos, e.tanh: tanh, e.atan: atan,
    n.tan: turned(tanh), n.sinh: sinh, n.cosh: cosh, n.asin: asin, n.acos: acos, n.asinh: asinh,
    n.acosh: acosh, n.atanh: atanh, n.rsqrt: rsqrt, n.reciprocal: reciprocal,
}  # fmt: skip
"""Parts of the operands to parts of the result, or to one number where that is real."""

for _op, _function in FUNCTIONS.items():
    _op.pairs = _function
