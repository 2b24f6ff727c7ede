"""The modified Bessel functions of the first kind, as they are and without their growth.

Below 6 they are their power series, whose terms are all positive. From there on a root of x times
them, without the exponential, is nearly constant: a truncated Chebyshev series of the exact
function in 12 / x - 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from treadle.base.dtypes import float32, float64
from treadle.ops.composite import composite, precisely
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import abs_, eq, exp, lt, minimum, sign_of, sqrt, where
from treadle.ops.numeric import with_sign
from treadle.ops.special import polynomial

FAR_0 = (
    0.40344711573727093,
    0.00463274823559421,
    0.00013584531414120412,
    8.806600788332188e-06,
    1.0056616887658951e-06,
    1.463458728877647e-07,
    1.2106709234628352e-08,
    -5.091942749215154e-09,
    -2.869883546921831e-09,
    -4.634016091623222e-10,
    1.5820431644228437e-10,
    8.709536616768745e-11,
    -1.586537205602996e-12,
    -1.1071539467665867e-11,
    -1.1369521684549784e-12,
    1.433708285979293e-12,
    2.4835306549294827e-13,
    -2.102743189557381e-13,
    -3.9440093829469826e-14,
    3.5390485056639414e-14,
    4.9065778303218866e-15,
    -6.54263854149791e-15,
    -2.5127422627483686e-16,
    1.2392804092835035e-15,
    -1.246003514392757e-16,
    -2.211289582668625e-16,
    6.418155658412475e-17,
    3.2350544234065055e-17,
    -2.025799273068102e-17,
    -2.1623133664154044e-18,
    4.90700860899428e-18,
)
FAR_1 = (
    0.385910730621062,
    -0.013235172822670692,
    -0.00021412156530710997,
    -1.155641124662166e-05,
    -1.2115312340642534e-06,
    -1.7157721967574232e-07,
    -1.5291032789587892e-08,
    5.133959758339682e-09,
    3.099171622566994e-09,
    5.356985955224047e-10,
    -1.5752988391429342e-10,
    -9.38358930625145e-11,
    1.5402752739447084e-13,
    1.1589232729690695e-11,
    1.375808825275706e-12,
    -1.4758956674402961e-12,
    -2.8311901635972394e-13,
    2.1485973918352874e-13,
    4.458467714664401e-14,
    -3.6169953218918343e-14,
    -5.6901752071100504e-15,
    6.720821447337417e-15,
    3.6854599274208975e-16,
    -1.283143743048933e-15,
    1.0921440241884257e-16,
    2.315227306257877e-16,
    -6.302445877064096e-17,
    -3.4580980837479477e-17,
    2.0485993889478778e-17,
    2.563182773104464e-18,
    -5.049810448837838e-18,
)
FROM = 6.0  # where the second form begins
TERMS = {float32: (13, 9), float64: (21, 31)}  # of the two series
SMALL = 1e-30  # below it a half of x is its first Bessel function, in any precision


def chebyshev(t: Any, coefficients: Sequence[float]) -> Any:
    """A Chebyshev series at t in [-1, 1], by Clenshaw's recurrence."""
    last, before = t * (2.0 * coefficients[-1]) + coefficients[-2], coefficients[-1]
    for coefficient in coefficients[-3:0:-1]:
        last, before = t * (2.0 * last) - before + coefficient, last
    return t * last - before + coefficients[0]


def _near(size: Any, order: int) -> Any:
    """The power series, for size up to 6."""
    count, _ = TERMS[size.dtype]
    terms = [1.0 / (math.factorial(k) * math.factorial(k + order)) for k in range(count)]
    half = size * 0.5
    series = polynomial(half * half, terms)
    return half * series if order else series


def _far(size: Any, order: int) -> Any:
    """Without its growth, for size from 6 on."""
    _, count = TERMS[size.dtype]
    return chebyshev(12.0 / size - 1.0, (FAR_1 if order else FAR_0)[:count]) / sqrt(size)


def _bessel(x: Any, order: int, scaled: bool) -> Any:
    size = abs_(x)
    small = lt(size, FROM)
    near, far = _near(minimum(size, FROM), order), _far(where(small, FROM, size), order)
    if scaled:
        value = where(small, near * exp(-size), far)
    else:
        half = exp(size * 0.5)  # its square overflows earlier than the result
        endless = eq(size, math.inf)
        value = where(small, near, where(endless, math.inf, far * half * half))
    return with_sign(value, x) if order else value


def _integral(np: Any, x: Any, order: int, scaled: bool) -> Any:
    """Their integral over a circle by the trapezoidal rule, which is exact but for rounding here.

    Of order 1 after integration by parts: so all terms are positive.
    """
    x = np.asarray(x, np.float64)
    size = np.minimum(np.abs(x), 600.0)[..., None]
    angle = (np.arange(400) + 0.5) * (math.pi / 400)
    weight = size * np.sin(angle) ** 2 if order else 1.0
    value = (np.exp(size * (np.cos(angle) - 1.0)) * weight).mean(-1)
    value = value if scaled else value * np.exp(size[..., 0])
    value = np.where(np.isinf(x), 0.0 if scaled else np.inf, value)
    return np.copysign(value, x) if order else value


def _row(name: str, order: int, scaled: bool, slope: Callable[..., Any]) -> Op:
    def bessel(x: Any, /) -> Any:
        return precisely(lambda x: _bessel(x, order, scaled), x)

    def reference(np: Any, x: Any) -> Any:
        return _integral(np, x, order, scaled)

    told = " times exp(-|x|)" if scaled else ""
    bessel.__name__ = name
    bessel.__doc__ = f"The modified Bessel function of the first kind, of order {order}{told}."
    grad = lambda g, y, x: (g * slope(y, x),)  # noqa: E731
    return composite(reference, Samples(), grad, flops=120.0)(bessel)


def _quotient(y: Any, x: Any) -> Any:
    """y / x for an odd y, and its slope at 0, one half, there."""
    small = lt(abs_(x), SMALL)  # half of a subnormal number may be nothing
    return where(small, 0.5, y / where(small, 1.0, x))


# fmt: off
i0 = _row("i0", 0, False, lambda y, x: i1(x))
i1: Op = _row("i1", 1, False, lambda y, x: i0(x) - _quotient(y, x))
i0e = _row("i0e", 0, True, lambda y, x: i1e(x) - sign_of(x) * y)
i1e: Op = _row("i1e", 1, True, lambda y, x: i0e(x) - _quotient(y, x) - sign_of(x) * y)
# fmt: on
