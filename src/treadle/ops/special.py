"""The relatives of the error function and of the gamma function.

Polynomials are truncated Chebyshev series of the exact functions, one for each width; the
asymptotic series have their textbook coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from treadle.base.dtypes import float32, float64
from treadle.ops.composite import composite, precisely
from treadle.ops.defs import Samples
from treadle.ops.elementwise import (
    bitwise_or,
    cast,
    eq,
    erf,
    exp,
    ge,
    gt,
    log,
    lt,
    minimum,
    round_,
    sin,
    sqrt,
    where,
)  # fmt: skip
from treadle.ops.numeric import tan, with_sign

SCALED_ERFC = {  # (1 + 2x) exp(x^2) erfc(x) in t = (x - 3) / (x + 3)
    float32: (
        *(1.2530080563677553, -0.1356210694002736, -0.047562156927520076, 0.1296441143440814),
        *(-0.1192752752822409, 0.06831656777114085, -0.02376357643949504, 0.0024991168696069477),
        *(0.001875079123772353, -0.0007264536790340485, -9.254516686923966e-05),
        7.731024224076895e-05,
    ),
    float64: (
        *(1.2530080582697296, -0.13562110612458117, -0.0475622943534492, 0.1296451587027594),
        *(-0.11927366341538638, 0.0683080273440099, -0.02377051491717134, 0.0025293918156939696),
        *(0.0018886903449991718, -0.0007798322696543306, -0.00010515971958448065),
        *(0.0001250993424583729, 4.949196649968345e-06, -2.0100542268525612e-05),
        *(-7.308281468783614e-07, 3.472370944977168e-06, 3.5576086684080595e-07),
        *(-6.166011460398726e-07, -1.4047654315428462e-07, 1.0183620603842736e-07),
        *(4.1064013667940355e-08, -1.3312919661038687e-08, -8.217595058711455e-09),
        *(9.862533510345587e-10, 8.393734858690877e-10),
    ),
}
LOG_GAMMA = {  # lgamma(2 + z) / z up to |z| = 1/2
    float32: (
        *(0.4227843349991114, 0.32246701788359344, -0.06735228129865486, 0.020581630642947785),
        *(-0.007386177637204783, 0.002878826909956992, -0.0011858376980732241),
        *(0.0005703469213916325, -0.0002538618465087723),
    ),
    float64: (
        *(0.42278433509846713, 0.32246703342411215, -0.0673523010531956, 0.020580808427992214),
        *(-0.007385551028937974, 0.002890510319171675, -0.0011927539009204018),
        *(0.0005096698136708768, -0.00022315497868931946, 9.94536967684417e-05),
        *(-4.492371708374659e-05, 2.053566973891129e-05, -9.456338120610123e-06),
        *(4.2551334320752134e-06, -1.9741884532905586e-06, 1.2162149498623653e-06),
        -5.812501250599261e-07,
    ),
}
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
HARMONIC = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
SPLIT = {float32: 2.0**12 + 1, float64: 2.0**27 + 1}  # halves a float's digits
ERFC_END = {float32: 11.0, float64: 28.0}  # from here erfc is 0
ROOT_PI = math.sqrt(math.pi)
FROM_STIRLING = 8.0
TINY = 2.0**-60  # below, the product with its sine might underflow
FROM_HARMONIC = {float32: (6.0, 4), float64: (10.0, 7)}  # (from where on, terms of the series)


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Horner's scheme; the constant term comes first."""
    result = x * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        result = result * x + coefficient
    return result


def reference(function: Any) -> Any:
    """A function of Python numbers as a reference for arrays."""
    return lambda np, x: np.vectorize(function, otypes=[np.float64])(np.asarray(x, np.float64))


# ---- error functions


def _exp_minus_square(x: Any) -> Any:
    """exp(-x^2), with what rounding x^2 loses made good."""
    shifted = x * SPLIT[x.dtype]
    high = shifted - (shifted - x)
    low = x - high
    square = x * x
    lost = ((high * high - square) + 2.0 * high * low) + low * low
    value = exp(-square)
    return value - value * lost


def _erfc(x: Any) -> Any:
    size = minimum(abs(x), ERFC_END[x.dtype])
    scaled = polynomial((size - 3.0) / (size + 3.0), SCALED_ERFC[x.dtype])
    tail = _exp_minus_square(size) * (scaled / (2.0 * size + 1.0))
    return where(lt(size, 0.5), 1.0 - erf(x), where(lt(x, 0.0), 2.0 - tail, tail))


@composite(reference(math.erfc), grad=lambda g, y, x: (g * (-2.0 / ROOT_PI) * exp(-(x * x)),))
def erfc(x: Any, /) -> Any:
    """1 - erf(x), accurate where that is small."""
    return precisely(_erfc, x)


def inverse_of_erf(x: float) -> float:
    """By bisection, on the complement where erf is flat."""
    size = abs(x)
    if not size < 1.0:
        return math.copysign(math.inf, x) if size == 1.0 else math.nan
    low, high = 0.0, 7.0
    while low < (middle := 0.5 * (low + high)) < high:
        below = math.erfc(middle) > 1.0 - size if size >= 0.5 else math.erf(middle) < size
        low, high = (middle, high) if below else (low, middle)
    return math.copysign(low, x)


def _inverse_guess(size: Any, rest: Any) -> Any:
    """erfinv to three digits; rest is 1 - size, which size may be too coarse for."""
    logarithm = log(rest * (1.0 + size))
    part = logarithm * 0.5 + 2.0 / (math.pi * 0.147)
    far = sqrt(sqrt(part * part - logarithm * (1.0 / 0.147)) - part)
    near = size * (ROOT_PI / 2) * (size * size * (math.pi / 12) + 1.0)
    return where(lt(size, 0.2), near, far)


def _inverse_step(y: Any, size: Any, rest: Any) -> Any:
    """The Taylor series of the inverse at erf(y) to the third power: four times as many digits."""
    miss = where(lt(size, 0.5), size - erf(y), _erfc(y) - rest)
    step = miss * (ROOT_PI / 2) * exp(y * y)
    return y + step * (1.0 + step * (y + step * (y * y * (4 / 3) + 1 / 3)))


def _erfinv(x: Any) -> Any:
    size = abs(x)
    rest = 1.0 - size
    short = cast(size, float32), cast(rest, float32)
    y = _inverse_step(_inverse_guess(*short), *short)
    if x.dtype is float64:
        y = _inverse_step(cast(y, float64), size, rest)
    return with_sign(where(eq(size, 1.0), math.inf, y), x)


@composite(
    reference(inverse_of_erf), Samples(-0.99, 0.99),
    lambda g, y, x: (g * (ROOT_PI / 2) * exp(y * y),),
)  # fmt: skip
def erfinv(x: Any, /) -> Any:
    """The y for which erf(y) is x."""
    return precisely(_erfinv, x)


# ---- gamma functions


def _log_gamma_near(x: Any) -> Any:
    """Of 0 < x < 8: the recurrence leads to 2 + z with |z| <= 1/2, where it is z times a series."""
    factor = where(lt(x, 0.5), x * (x + 1.0), where(lt(x, 1.5), x, 1.0))
    z = where(lt(x, 0.5), x, where(lt(x, 1.5), x - 1.0, x - 2.0))
    for _ in range(6):
        above = gt(z, 0.5)
        factor = where(above, factor * (z + 1.0), factor)
        z = where(above, z - 1.0, z)
    size = log(factor)
    return z * polynomial(z, LOG_GAMMA[x.dtype]) + where(lt(x, 1.5), -size, size)


def _log_gamma_far(x: Any) -> Any:
    """Stirling's series, for x >= 8."""
    r = 1.0 / x
    head = (x - 0.5) * (log(x) - 1.0) + (0.5 * math.log(2 * math.pi) - 0.5)
    return head + r * polynomial(r * r, STIRLING)


def _from_integer(x: Any) -> Any:
    """x less the nearest integer, exactly."""
    return x - round_(x)


def _lgamma(x: Any) -> Any:
    size = abs(x)
    near, far = minimum(size, FROM_STIRLING), where(lt(size, FROM_STIRLING), FROM_STIRLING, size)
    value = where(lt(size, FROM_STIRLING), _log_gamma_near(near), _log_gamma_far(far))
    area = size * abs(sin(_from_integer(size) * math.pi))
    pole = bitwise_or(eq(area, 0.0), eq(size, math.inf))
    mirrored = where(pole, math.inf, math.log(math.pi) - log(area) - value)
    negative = where(lt(size, TINY), -log(size), mirrored)
    return where(ge(x, 0.0), value, negative)


def _lgamma_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    return (g * digamma(x),)


def log_gamma(x: float) -> float:
    """math.lgamma with its poles."""
    return math.inf if x <= 0 and (math.isinf(x) or x == math.floor(x)) else math.lgamma(x)


@composite(reference(log_gamma), Samples(0.1, 8.0), _lgamma_grad, flops=60.0)
def lgamma(x: Any, /) -> Any:
    """log(|gamma(x)|), infinite at 0 and the negative integers."""
    return precisely(_lgamma, x)


def _digamma(x: Any) -> Any:
    """The asymptotic series, after the recurrence upwards and the reflection of negative x."""
    start, terms = FROM_HARMONIC[x.dtype]
    below, zero = lt(x, 0.0), eq(x, 0.0)
    t = where(below, 1.0 - x, where(zero, 1.0, x))
    small = lt(t, start)
    first = where(small, 1.0 / t, 0.0)  # by itself: near 0 it is nearly all there is
    t = where(small, t + 1.0, t)
    small = lt(t, start)
    above, product = where(small, 1.0, 0.0), where(small, t, 1.0)  # sum of 1 / (x + k), k > 0
    for _ in range(int(start) - 2):
        t = where(small, t + 1.0, t)
        small = lt(t, start)
        above = where(small, above * t + product, above)
        product = where(small, product * t, product)
    t = where(small, t + 1.0, t)
    r = 1.0 / t
    square = r * r
    series = log(t) - 0.5 * r - square * polynomial(square, HARMONIC[:terms])
    value = series - above / product - first
    turn = where(below, _from_integer(x), 0.25)
    mirrored = where(eq(turn, 0.0), math.nan, value - math.pi / tan(turn * math.pi))
    return where(zero, -1.0 / where(zero, x, 1.0), where(below, mirrored, value))


def logarithmic_slope(x: float) -> float:
    """The digamma function by its recurrence and asymptotic series, in float64."""
    if x == 0.0:
        return -math.copysign(math.inf, x)
    if x == math.inf:
        return x
    if math.isnan(x) or x == -math.inf or (x < 0.0 and x == math.floor(x)):
        return math.nan
    if x < 0.0:
        return logarithmic_slope(1.0 - x) - math.pi / math.tan(math.pi * (x - round(x)))
    parts = []
    while x < 20.0:
        parts.append(-1.0 / x)
        x += 1.0
    powers = [x ** (-2 * k) for k in range(1, 8)]
    series = [-c * power for c, power in zip(HARMONIC, powers, strict=True)]
    return math.fsum([math.log(x), -0.5 / x, *series, *parts])


@composite(reference(logarithmic_slope), Samples(0.1, 8.0), flops=60.0)
def digamma(x: Any, /) -> Any:
    """The derivative of lgamma."""
    return precisely(_digamma, x)
