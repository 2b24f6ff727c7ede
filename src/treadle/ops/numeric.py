"""Functions of numbers that are defined by other rows and stay accurate.

Definitions are arranged so that every step is well conditioned: a few units of last place over the
whole range, special values as in C. Narrow floats are computed in float32 and rounded once.
"""

from __future__ import annotations

import math
from typing import Any

from treadle.base.dtypes import DType, dtype, float32, promote
from treadle.base.errors import ArgumentError, explain
from treadle.ops import rules
from treadle.ops.composite import composite, precisely
from treadle.ops.defs import JUMPS, Samples
from treadle.ops.elementwise import (
    LN2,
    atan,
    bitcast,
    bitwise_and,
    bitwise_or,
    cast,
    cos,
    detach,
    eq,
    exp,
    expm1,
    floor_divide,
    gt,
    log,
    log1p,
    lt,
    maximum,
    minimum,
    ne,
    power,
    remainder,
    sign_of,
    sin,
    sqrt,
    where,
)  # fmt: skip

PAIRS: tuple[tuple[Any, ...], ...] = (
    ((70,), (70,), {}), ((3, 1), (1, 4), {}), ((), (), {}), ((0,), (1,), {}),
)  # fmt: skip
LARGE = 2.0**28  # from here, x * x + 1 is x * x
PI = {  # the float nearest to pi, and what it lacks
    float32: (3.1415927410125732, -8.742277657347586e-08),
    dtype("float64"): (math.pi, 1.2246467991473532e-16),
}


def bits_of(x: Any) -> Any:
    """The bits of a float as a signed integer: below 0 where the sign is set."""
    return bitcast(x, f"int{x.dtype.bits}")


def with_sign(size: Any, sign: Any) -> Any:
    """A float that is not negative, with the sign of another of its type."""
    only = bitwise_and(bits_of(sign), int(dtype(f"int{sign.dtype.bits}").least))
    return bitcast(bitwise_or(bits_of(size), only), size.dtype)


# ---- signs


@composite(lambda np, x: np.copy(x))
def positive(x: Any, /) -> Any:
    """x itself."""
    return x


@composite(lambda np, x: np.sign(x), aliases=("sgn",))
def sign(x: Any, /) -> Any:
    """-1, 0 or 1; NaN where x is. Of a complex number x / |x|, and 0 at 0."""
    if x.dtype.is_complex:
        size = abs(x)
        return x / where(eq(size, 0.0), 1.0, size)
    x = detach(x)
    return where(ne(x, x), x, sign_of(x)) if x.dtype.is_float else sign_of(x)


def _signbit(np: Any, x: Any) -> Any:
    return np.signbit(x) if x.dtype.kind == "f" else x < 0


@composite(_signbit, grad=JUMPS)
def signbit(x: Any, /) -> Any:
    """True where the sign of x is set, also that of -0.0 and of NaN."""
    return lt(bits_of(x) if x.dtype.is_float else x, 0)


def _copysign_grad(g: Any, y: Any, x: Any, sign: Any) -> tuple[Any, None]:
    kept = where(eq(signbit(y), signbit(x)), g, -g)
    return where(eq(x, 0), 0.0, kept), None


@composite(lambda np, x, y: np.copysign(x, y), Samples(smooth=False), grad=_copysign_grad)
def copysign(x: Any, y: Any, /) -> Any:
    """The size of x with the sign of y."""
    return precisely(lambda x, y: with_sign(abs(x), y), x, y)


@composite(lambda np, x, y: np.nextafter(x, y), Samples(cases=PAIRS), grad=JUMPS)
def nextafter(x: Any, y: Any, /) -> Any:
    """The next number of the type after x towards y."""
    _, kind = rules.floating("nextafter", (x.dtype, y.dtype))
    x, y = cast(x, kind), cast(y, kind)
    bits = bits_of(x)
    away = eq(gt(y, x), gt(x, 0.0))
    step = bitcast(where(away, bits + 1, bits - 1), kind)
    first = with_sign(abs(x) + 2.0 ** (1 - kind.bias - kind.mantissa), y)
    moved = where(eq(x, 0.0), first, step)
    odd = bitwise_or(ne(x, x), ne(y, y))
    return where(odd, x + y, where(eq(x, y), y, moved))


# ---- powers


@composite(lambda np, x: x * x)
def square(x: Any, /) -> Any:
    """x * x."""
    return x * x


@composite(lambda np, x: 1.0 / x, Samples(0.5, 4.0))
def reciprocal(x: Any, /) -> Any:
    """1 / x."""
    return 1.0 / x


@composite(lambda np, x: 1.0 / np.sqrt(x), Samples(0.1, 8.0))
def rsqrt(x: Any, /) -> Any:
    """1 / sqrt(x)."""
    return 1.0 / sqrt(x)


def _pow(np: Any, x: Any, y: Any) -> Any:
    return np.power(x, np.maximum(y, 0)) if x.dtype.kind in "iu" else np.power(x, y)


def _pow_check(x: Any, y: Any) -> None:
    if isinstance(y, int) and y < 0 and x.dtype.is_integer:
        hint = "cast the tensor to a float first"
        raise ArgumentError(explain("pow", "an integer to a negative power", hint, y=y))


@composite(_pow, Samples(0.5, 3.0), flops=24.0, check=_pow_check)
def pow_(x: Any, y: Any, /) -> Any:
    """x to the power y. Integers wrap around; to a negative power they are 1 for 1, +-1 for -1, 0.

    >>> import treadle as td
    >>> td.pow(td.tensor([2, 3, -1]), td.tensor([10, -1, -3])).tolist()
    [1024, 0, -1]
    """
    _, kind = rules.number("pow", (x.dtype, y.dtype))
    return power(x, y) if kind.is_inexact else _whole_power(cast(x, kind), cast(y, kind), kind)


def _whole_power(x: Any, y: Any, kind: DType) -> Any:
    """By squaring: a factor for every bit of the exponent that is set."""
    odd = ne(bitwise_and(y, 1), 0)
    result, factor = where(odd, x, 1), x
    for bit in range(1, kind.bits - (kind.kind == "int")):
        factor = factor * factor
        chosen = ne(bitwise_and(y, 1 << bit), 0)
        result = where(chosen, result * factor, result)
    if kind.kind == "uint":
        return result
    inverse = where(eq(x, 1) | eq(x, -1), where(odd, x, x * x), 0)
    return where(lt(y, 0), inverse, result)


def _hypot(x: Any, y: Any) -> Any:
    large, small = maximum(abs(x), abs(y)), minimum(abs(x), abs(y))
    ratio = small / where(eq(large, 0.0), 1.0, large)
    size = large * sqrt(ratio * ratio + 1.0)
    endless = bitwise_or(eq(abs(x), math.inf), eq(abs(y), math.inf))
    return where(endless, math.inf, size)


def _hypot_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    size = where(eq(y, 0.0), 1.0, y)
    return g * (a / size), g * (b / size)


@composite(lambda np, x, y: np.hypot(x, y), grad=_hypot_grad)
def hypot(x: Any, y: Any, /) -> Any:
    """sqrt(x * x + y * y) without overflow."""
    return precisely(_hypot, x, y)


# ---- angles


@composite(lambda np, x: np.tan(x), Samples(-1.2, 1.2), lambda g, y, x: (g * (y * y + 1.0),))
def tan(x: Any, /) -> Any:
    """Tangent, in radians."""
    return precisely(lambda x: sin(x) / cos(x), x)


@composite(
    lambda np, x: np.arcsin(x), Samples(-0.9, 0.9),
    lambda g, y, x: (g / sqrt((1.0 - x) * (1.0 + x)),), aliases=("arcsin",),
)  # fmt: skip
def asin(x: Any, /) -> Any:
    """Inverse sine, in radians."""
    return precisely(lambda x: atan(x / sqrt((1.0 - x) * (1.0 + x))), x)


@composite(
    lambda np, x: np.arccos(x), Samples(-0.9, 0.9),
    lambda g, y, x: (-g / sqrt((1.0 - x) * (1.0 + x)),), aliases=("arccos",),
)  # fmt: skip
def acos(x: Any, /) -> Any:
    """Inverse cosine, in radians."""
    return precisely(lambda x: 2.0 * atan(sqrt((1.0 - x) / (1.0 + x))), x)


def _atan2(y: Any, x: Any) -> Any:
    """The angle of (|x|, |y|), then that of the quadrant."""
    high, low = PI[x.dtype]
    along, across = abs(x), abs(y)
    equal = where(eq(across, 0.0), 0.0, 1.0)  # also where both are infinite
    angle = atan(where(eq(across, along), equal, across / along))
    turned = where(signbit(x), high - (angle - low), angle)
    return with_sign(turned, y)


def _atan2_grad(g: Any, angle: Any, y: Any, x: Any) -> tuple[Any, Any]:
    square = x * x + y * y
    g = where(eq(square, 0.0), 0.0, g / square)
    return g * x, -g * y


@composite(lambda np, y, x: np.arctan2(y, x), Samples(0.1, 4.0), _atan2_grad, aliases=("arctan2",))
def atan2(y: Any, x: Any, /) -> Any:
    """The angle from the positive x axis to the point (x, y), from -pi to pi."""
    return precisely(_atan2, y, x)


# ---- hyperbolic functions


def _sinh(x: Any) -> Any:
    size = abs(x)
    grown = expm1(minimum(size, 20.0))
    half = exp(size * 0.5)  # its square overflows no earlier than the result
    near = 0.5 * (grown + grown / (grown + 1.0))
    return with_sign(where(gt(size, 20.0), 0.5 * half * half, near), x)


def _sinh_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    return (g * cosh(x),)


@composite(lambda np, x: np.sinh(x), grad=_sinh_grad)
def sinh(x: Any, /) -> Any:
    """Hyperbolic sine."""
    return precisely(_sinh, x)


def _cosh(x: Any) -> Any:
    half = exp(abs(x) * 0.5)
    grown = 0.5 * half * half
    return grown + 0.25 / grown


@composite(lambda np, x: np.cosh(x), grad=lambda g, y, x: (g * sinh(x),))
def cosh(x: Any, /) -> Any:
    """Hyperbolic cosine."""
    return precisely(_cosh, x)


def _asinh(x: Any) -> Any:
    size = abs(x)
    near = minimum(size, LARGE)
    square = near * near
    grown = log1p(near + square / (1.0 + sqrt(square + 1.0)))
    return with_sign(where(gt(size, LARGE), log(size) + LN2, grown), x)


def _asinh_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    return (g / (sqrt(x * x + 1.0) if x.dtype.is_complex else hypot(x, 1.0)),)


@composite(lambda np, x: np.arcsinh(x), grad=_asinh_grad, aliases=("arcsinh",))
def asinh(x: Any, /) -> Any:
    """Inverse hyperbolic sine."""
    return precisely(_asinh, x)


def _acosh(x: Any) -> Any:
    above = minimum(x, LARGE) - 1.0
    grown = log1p(above + sqrt(above * (above + 2.0)))
    return where(lt(x, 1.0), math.nan, where(gt(x, LARGE), log(x) + LN2, grown))


@composite(
    lambda np, x: np.arccosh(x), Samples(1.1, 8.0),
    lambda g, y, x: (g / (sqrt(x - 1.0) * sqrt(x + 1.0)),), aliases=("arccosh",),
)  # fmt: skip
def acosh(x: Any, /) -> Any:
    """Inverse hyperbolic cosine."""
    return precisely(_acosh, x)


def _atanh(x: Any) -> Any:
    size = abs(x)
    return with_sign(0.5 * log1p(2.0 * size / (1.0 - size)), x)


@composite(
    lambda np, x: np.arctanh(x), Samples(-0.9, 0.9),
    lambda g, y, x: (g / ((1.0 - x) * (1.0 + x)),), aliases=("arctanh",),
)  # fmt: skip
def atanh(x: Any, /) -> Any:
    """Inverse hyperbolic tangent."""
    return precisely(_atanh, x)


# ---- of two and three operands


def _fmod_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    a, b = cast(a, y.dtype), cast(b, y.dtype)
    whole = floor_divide(abs(a), abs(b))
    return g, where(eq(signbit(a), signbit(b)), -g * whole, g * whole)


@composite(lambda np, x, y: np.fmod(x, y), Samples(1.0, 8.0, smooth=False), _fmod_grad, flops=8.0)
def fmod(x: Any, y: Any, /) -> Any:
    """What division leaves, with the sign of x."""
    if promote(x.dtype, y.dtype).is_float:
        return precisely(lambda x, y: with_sign(remainder(abs(x), abs(y)), x), x, y)
    rest = remainder(x, y)
    turned = bitwise_and(ne(rest, 0), ne(lt(x, 0), lt(rest, 0)))
    return where(turned, rest - y, rest)


@composite(lambda np, x, y: np.fmin(x, y), Samples(smooth=False))
def fmin(x: Any, y: Any, /) -> Any:
    """The smaller; the other where one is NaN."""
    return where(ne(x, x), y, where(ne(y, y), x, minimum(x, y)))


@composite(lambda np, x, y: np.fmax(x, y), Samples(smooth=False))
def fmax(x: Any, y: Any, /) -> Any:
    """The larger; the other where one is NaN."""
    return where(ne(x, x), y, where(ne(y, y), x, maximum(x, y)))


def _lerp(x: Any, y: Any, weight: Any) -> Any:
    apart = y - x
    return where(lt(abs(weight), 0.5), x + weight * apart, y - apart * (1.0 - weight))


@composite(
    lambda np, x, y, weight: x + weight * (y - x),
    Samples(cases=(
        ((5,), (5,), (), {}), ((3, 1), (1, 4), (3, 4), {}), ((4,), (), (4,), {}),
        ((0,), (0,), (0,), {}),
    )),
    grad=lambda g, y, a, b, w: (g * (1.0 - w), g * w, g * (b - a)),
)  # fmt: skip
def lerp(x: Any, y: Any, weight: Any, /) -> Any:
    """x where weight is 0, y where it is 1, and the straight line through both."""
    return precisely(_lerp, x, y, weight, complexes=True)
