"""More functions of numbers: logarithms with their limits, steps, angles, exponents, divisors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from treadle.base.dtypes import INTEGERS, dtype, int32, promote, to_float
from treadle.ops import rules
from treadle.ops.activations import clip
from treadle.ops.composite import composite, precisely
from treadle.ops.defs import JUMPS, ON_INTEGERS, Samples
from treadle.ops.elementwise import (
    LN2,
    abs_,
    bitwise_and,
    bitwise_or,
    cast,
    cos,
    eq,
    exp,
    exp2,
    floor,
    floor_divide,
    ge,
    gt,
    le,
    log,
    log1p,
    lt,
    maximum,
    minimum,
    ne,
    real,
    remainder,
    round_,
    sigmoid,
    sin,
    trunc,
    where,
)  # fmt: skip
from treadle.ops.numeric import bits_of
from treadle.ops.special import polynomial

# ---- logarithms


def _logit(np: Any, x: Any, eps: float | None = None) -> Any:
    x = x if eps is None else np.clip(x, eps, 1 - eps)
    return np.log(x) - np.log1p(-x)


def _logit_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    eps = dict(y.arg[1])["eps"]
    slope = g / (x * (1.0 - x))
    if eps is None:
        return (where(bitwise_or(lt(x, 0.0), gt(x, 1.0)), math.nan, slope),)
    return (where(bitwise_or(lt(x, eps), gt(x, 1.0 - eps)), 0.0, slope),)


@composite(
    _logit, Samples(0.05, 0.95, cases=(((4, 5), {}), ((9,), {"eps": 0.1}), ((), {}), ((0,), {}))),
    _logit_grad,
)  # fmt: skip
def logit(x: Any, /, eps: float | None = None) -> Any:
    """log(x / (1 - x)), the inverse of sigmoid; eps: x is kept within [eps, 1 - eps].

    >>> import treadle as td
    >>> td.logit(td.tensor([0.5, 1.0])).tolist()
    [0.0, inf]
    """

    def define(x: Any) -> Any:
        x = x if eps is None else clip(x, eps, 1.0 - eps)
        rest = 1.0 - x
        return where(lt(x, 0.3), log(x / rest), log1p((2.0 * x - 1.0) / rest))

    return precisely(define, x)


def _xlogy_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    nothing = eq(a, 0.0)
    of_a = where(bitwise_and(nothing, le(b, 0.0)), 0.0, g * log(b))
    return of_a, where(bitwise_and(nothing, eq(b, 0.0)), 0.0, g * a / b)


def _xlogy(np: Any, x: Any, y: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))


@composite(_xlogy, Samples(0.1, 4.0), _xlogy_grad, flops=12.0)
def xlogy(x: Any, y: Any, /) -> Any:
    """x * log(y), and 0 where x is 0, unless y is NaN."""

    def define(x: Any, y: Any) -> Any:
        return where(bitwise_and(eq(x, 0.0), eq(y, y)), 0.0, x * log(y))

    return precisely(define, x, y)


def _xlog1py_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    nothing = eq(a, 0.0)
    of_a = where(bitwise_and(nothing, le(b, -1.0)), 0.0, g * log1p(b))
    return of_a, where(bitwise_and(nothing, eq(b, -1.0)), 0.0, g * a / (b + 1.0))


def _xlog1py(np: Any, x: Any, y: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log1p(y))


@composite(_xlog1py, Samples(-0.9, 4.0), _xlog1py_grad, flops=12.0)
def xlog1py(x: Any, y: Any, /) -> Any:
    """x * log1p(y), and 0 where x is 0, unless y is NaN."""

    def define(x: Any, y: Any) -> Any:
        return where(bitwise_and(eq(x, 0.0), eq(y, y)), 0.0, x * log1p(y))

    return precisely(define, x, y)


def _apart(x: Any, y: Any) -> Any:
    """x - y, and 0 for two equal infinities."""
    return where(eq(x, y), 0.0, x - y)


def _logaddexp(np: Any, x: Any, y: Any) -> Any:
    return np.log(np.exp(x) + np.exp(y)) if np.iscomplexobj(x) else np.logaddexp(x, y)


def _logaddexp_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return g * sigmoid(_apart(a, b)), g * sigmoid(_apart(b, a))


def _complex_logaddexp(x: Any, y: Any) -> Any:
    """By the one with the larger real part, whose exponential is the larger."""
    first = ge(real(x), real(y))
    large, small = where(first, x, y), where(first, y, x)
    return where(eq(real(small), -math.inf), large, large + log1p(exp(_apart(small, large))))


@composite(_logaddexp, grad=_logaddexp_grad)
def logaddexp(x: Any, y: Any, /) -> Any:
    """log(exp(x) + exp(y)) without overflow."""

    def define(x: Any, y: Any) -> Any:
        if x.dtype.is_complex:
            return _complex_logaddexp(x, y)
        return maximum(x, y) + log1p(exp(-abs(_apart(x, y))))

    return precisely(define, x, y, complexes=True)


def _logaddexp2_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return g * sigmoid(_apart(a, b) * LN2), g * sigmoid(_apart(b, a) * LN2)


@composite(lambda np, x, y: np.logaddexp2(x, y), grad=_logaddexp2_grad, flops=12.0)
def logaddexp2(x: Any, y: Any, /) -> Any:
    """log2(2**x + 2**y) without overflow."""

    def define(x: Any, y: Any) -> Any:
        return maximum(x, y) + log1p(exp2(-abs(_apart(x, y)))) * (1.0 / LN2)

    return precisely(define, x, y)


# ---- parts and steps


@composite(lambda np, x: x - np.trunc(x), Samples(smooth=False))
def frac(x: Any, /) -> Any:
    """What a number has behind its point, with its sign: x - trunc(x)."""
    return x - trunc(x)


def _heaviside(np: Any, x: Any, values: Any) -> Any:
    step = np.where(np.isnan(x), x, np.where(x == 0, values, x > 0))
    return step.astype(np.result_type(x, values))


@composite(_heaviside, Samples(-2.0, 2.0), grad=JUMPS)
def heaviside(x: Any, values: Any, /) -> Any:
    """0 where x is negative, 1 where it is positive, values where it is 0; NaN where x is."""
    kind = promote(x.dtype, values.dtype)
    step = where(eq(x, 0), cast(values, kind), cast(gt(x, 0), kind))
    return where(ne(x, x), cast(x, kind), step) if x.dtype.is_float else step


@composite(
    lambda np, x, least: np.maximum(x, least),
    Samples(cases=(((4, 5), (), {}), ((9,), (9,), {}), ((3, 4), (4,), {})), smooth=False),
)
def clamp_min(x: Any, min: Any, /) -> Any:  # noqa: A002 - PyTorch's name
    """x where it is above min, a number or a tensor, else min."""
    return clip(x, min)


@composite(
    lambda np, x, most: np.minimum(x, most),
    Samples(cases=(((4, 5), (), {}), ((9,), (9,), {}), ((3, 4), (4,), {})), smooth=False),
)
def clamp_max(x: Any, max: Any, /) -> Any:  # noqa: A002 - PyTorch's name
    """x where it is below max, a number or a tensor, else max."""
    return clip(x, None, max)


@composite(lambda np, x: np.isposinf(x), grad=JUMPS)
def isposinf(x: Any, /) -> Any:
    """True where x is positive infinity."""
    rules.ordered("isposinf", [x.dtype])
    return eq(x, math.inf) if x.dtype.is_float else ne(x, x)


@composite(lambda np, x: np.isneginf(x), grad=JUMPS)
def isneginf(x: Any, /) -> Any:
    """True where x is negative infinity."""
    rules.ordered("isneginf", [x.dtype])
    return eq(x, -math.inf) if x.dtype.is_float else ne(x, x)


# ---- angles


@composite(lambda np, x: np.deg2rad(x), Samples(-180.0, 180.0))
def deg2rad(x: Any, /) -> Any:
    """Degrees as radians."""
    return precisely(lambda x: x * (math.pi / 180.0), x)


@composite(lambda np, x: np.rad2deg(x))
def rad2deg(x: Any, /) -> Any:
    """Radians as degrees."""
    return precisely(lambda x: x * (180.0 / math.pi), x)


def _sinc(np: Any, x: Any) -> Any:
    rest = x - np.rint(x.real)
    sign = 1.0 - 2.0 * (np.rint(x.real) % 2)
    size = np.where(x == 0, 1.0, x) * np.pi
    return np.where(x == 0, 1.0, np.where(np.isinf(x), np.nan, sign * np.sin(np.pi * rest) / size))


SINC_SLOPE = tuple((-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(1, 11))
"""Of sin(t) / t, as t times a polynomial in t * t."""


def _sinc_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    t = x * math.pi
    near = lt(abs_(t), 1.0)
    small, some = where(near, t, 0.0), where(near, 1.0, x)
    far = (cos(some * math.pi) - y) / some
    return (g * where(near, math.pi * small * polynomial(small * small, SINC_SLOPE), far),)


@composite(_sinc, grad=_sinc_grad, flops=16.0)
def sinc(x: Any, /) -> Any:
    """sin(pi x) / (pi x), 1 at 0 and exactly 0 at the other integers."""

    def define(x: Any) -> Any:
        whole = round_(real(x) if x.dtype.is_complex else x)
        wave = sin((x - whole) * math.pi)
        signed = where(eq(remainder(whole, 2.0), 0.0), wave, -wave)
        nothing = eq(x, 0.0)
        return where(nothing, 1.0, signed / (where(nothing, 1.0, x) * math.pi))

    return precisely(define, x, complexes=True)


# ---- exponents


def _ldexp(x: Any, power: Any) -> Any:
    """By three factors: one alone may overflow where the result does not."""
    most = 2.0 * (x.dtype.bias + x.dtype.mantissa) + 8.0
    clipped = minimum(maximum(power, -most), most)
    power = where(eq(abs(power), math.inf), power, clipped)
    third = floor(clipped * (1.0 / 3.0))
    factor = exp2(third)
    return x * factor * factor * exp2(power - 2.0 * third)


def _ldexp_grad(g: Any, y: Any, x: Any, power: Any) -> tuple[Any, Any]:
    return ldexp(g, power), g * y * LN2 if power.dtype.is_float else None


def _scaled(np: Any, x: Any, power: Any) -> Any:
    return np.ldexp(x, power.astype(np.int64)) if power.dtype.kind != "f" else x * np.exp2(power)


@composite(_scaled, grad=_ldexp_grad, flops=8.0)
def ldexp(x: Any, other: Any, /) -> Any:
    """x times 2 to the power other: a float; exact for whole powers, but where it underflows."""
    kind = to_float(x.dtype)
    scaled = _ldexp(cast(x, kind.compute), cast(other, kind.compute))
    return scaled if kind is kind.compute else cast(scaled, kind)


class Parts(NamedTuple):
    """A number as mantissa * 2**exponent."""

    mantissa: Any
    exponent: Any


@composite(
    lambda np, x: list(np.frexp(x)),
    Samples(cases=(((4, 5), {}), ((9,), {}), ((), {}), ((0,), {})), smooth=False), inline=True,
)  # fmt: skip
def frexp(x: Any, /) -> Parts:
    """(mantissa, exponent): x as mantissa * 2**exponent, with a mantissa in [0.5, 1), or 0.

    >>> import treadle as td
    >>> [part.tolist() for part in td.frexp(td.tensor([10.0, -0.25]))]
    [[0.625, -0.5], [4, -1]]
    """
    _, kind = rules.floating("frexp", [x.dtype])
    wide = cast(x, kind.compute)
    bits, bias = wide.dtype.mantissa, wide.dtype.bias
    small = lt(abs_(wide), 2.0 ** (2 - bias))  # its exponent may not have a field of its own
    normal = where(small, wide * 2.0 ** (bits + 2), wide)
    field = bitwise_and(bits_of(normal) >> bits, 2 * bias + 1)
    plain = bitwise_or(eq(wide, 0.0), eq(field, 2 * bias + 1))  # 0, infinite or NaN
    found = field - (bias - 1) - where(small, bits + 2, 0)
    exponent = cast(where(plain, 0, found), int32)
    mantissa = ldexp(wide, -exponent)
    return Parts(mantissa if kind is kind.compute else cast(mantissa, kind), exponent)


# ---- divisors


def _divisor(a: Any, b: Any) -> Any:
    """By remainders, the nearer of two: each at most 1 / (1 + sqrt(2)) of the one before."""
    for _ in range(math.ceil(a.dtype.bits * LN2 / math.log(1.0 + math.sqrt(2.0))) + 1):
        ended = eq(b, 0)
        rest = remainder(a, where(ended, 1, b))
        a, b = where(ended, a, b), minimum(rest, where(ended, 0, b - rest))
    return a


def _sizes(name: str, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Both without sign, in the unsigned type of their width, and the type of the result."""
    _, kind = rules.whole(name, (x.dtype, y.dtype))
    rules.require(name, (kind,), INTEGERS)
    unsigned = dtype(f"uint{kind.bits}")
    return cast(abs_(cast(x, kind)), unsigned), cast(abs_(cast(y, kind)), unsigned), kind


@composite(lambda np, x, y: np.gcd(x, y), Samples(-60.0, 60.0), grad=ON_INTEGERS, flops=400.0)
def gcd(x: Any, y: Any, /) -> Any:
    """The greatest common divisor of integers, not negative; gcd(0, y) is |y|.

    >>> import treadle as td
    >>> td.gcd(td.tensor([12, -9, 0]), 6).tolist()
    [6, 3, 6]
    """
    first, second, kind = _sizes("gcd", x, y)
    return cast(_divisor(first, second), kind)


@composite(lambda np, x, y: np.lcm(x, y), Samples(-11.0, 11.0), grad=ON_INTEGERS, flops=400.0)
def lcm(x: Any, y: Any, /) -> Any:
    """The least common multiple of integers, not negative; 0 if one is."""
    first, second, kind = _sizes("lcm", x, y)
    common = _divisor(first, second)
    return cast(floor_divide(first, where(eq(common, 0), 1, common)) * second, kind)
