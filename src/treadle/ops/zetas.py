"""The zeta function of Hurwitz, the derivatives of digamma, and the gamma function of matrices."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.ops.composite import composite, precisely
from treadle.ops.defs import Samples
from treadle.ops.elementwise import (
    bitwise_and,
    bitwise_or,
    cos,
    eq,
    floor,
    ge,
    le,
    lt,
    round_,
    sin,
    where,
)  # fmt: skip
from treadle.ops.numeric import pow_
from treadle.ops.special import digamma, lgamma, log_gamma, logarithmic_slope

BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330, 854513 / 138, -236364091 / 2730,
)  # fmt: skip
TAIL = tuple(b / math.factorial(2 * k) for k, b in enumerate(BERNOULLI, 1))
WRITTEN = 12  # terms that are added as they are, before the tail is an integral and corrections
LEAST = -12.0  # of q: below, too many terms are negative numbers to powers


# ---- sums of powers


def _tail(s: Any, a: Any, power: Any) -> Any:
    """The sum of (a + k) ** -s from k = 0 on (Euler and Maclaurin); power is a ** -s."""
    total = power * a / (s - 1.0) + 0.5 * power
    term = power * s / a
    square = 1.0 / (a * a)
    for k, factor in enumerate(TAIL):
        total = total + term * factor
        if k + 1 < len(TAIL):
            term = term * ((s + (2 * k + 1)) * (s + (2 * k + 2)) * square)
    return total


def _zeta(s: Any, q: Any) -> Any:
    first = where(bitwise_and(le(q, 0.0), eq(q, floor(q))), 1.0, q)  # a pole is put in later
    count = WRITTEN - int(LEAST)
    a = first + float(count)
    power = pow_(a, -s)
    total = where(eq(power, 0.0), 0.0, _tail(s, a, power))
    for k in reversed(range(count)):  # the largest comes last
        total = total + pow_(first + float(k), -s)
    value = where(eq(q, math.inf), 0.0, total)
    pole = bitwise_and(le(q, 0.0), eq(q, floor(q)))
    value = where(pole, math.inf, where(lt(q, LEAST), math.nan, value))
    return where(eq(s, 1.0), math.inf, where(ge(s, 1.0), value, math.nan))


def sum_of_powers(s: float, q: float) -> float:
    """The zeta function of Hurwitz in float64, by many terms and the start of the same tail."""
    if s == 1.0:
        return math.inf
    if math.isnan(s) or math.isnan(q) or s < 1.0:
        return math.nan
    if q == -math.inf or (q <= 0.0 and q == math.floor(q)):
        return math.inf
    if q == math.inf:
        return 0.0
    if math.isinf(s):
        return math.inf if q < 1.0 else float(q == 1.0)
    if q < LEAST or (q < 0.0 and s != math.floor(s)):
        return math.nan
    count = 200
    parts = [_power(q + k, -s) for k in range(count)]
    a = q + count
    power = _power(a, -s)
    corrections = power * s / a * (1 / 12 - (s + 1.0) * (s + 2.0) / (720 * a * a))
    return math.fsum([*parts, power * a / (s - 1.0), 0.5 * power, corrections])


def _power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.copysign(math.inf, x) if y % 2 else math.inf


def _zetas(np: Any, s: Any, q: Any) -> Any:
    return np.vectorize(sum_of_powers, otypes=[np.float64])(s, q)


@composite(_zetas, Samples(1.5, 6.0), flops=900.0)
def zeta(x: Any, q: Any, /) -> Any:
    """The sum of 1 / (k + q)**x over k = 0, 1, 2, ... (Hurwitz's zeta function), for x > 1.

    At q of 0 and the negative integers it is infinite; between them x must be whole. Below q of -12
    it is NaN.

    >>> import treadle as td
    >>> f"{td.zeta(td.tensor(2.0), 1.0).item():.4f}"
    '1.6449'
    """
    return precisely(_zeta, x, q)


# ---- derivatives of digamma


def _cotangent(x: Any, n: int) -> Any:
    """The n-th derivative of pi * cot(pi x): a polynomial in the cotangent."""
    turn = (x - round_(x)) * math.pi
    cotangent = cos(turn) / sin(turn)
    polynomial = [0.0, 1.0]  # in the cotangent c, whose slope is -(1 + c * c)
    for _ in range(n):
        slope = [k * c for k, c in enumerate(polynomial)][1:]
        polynomial = [0.0] * (len(slope) + 2)
        for k, c in enumerate(slope):
            polynomial[k] -= c
            polynomial[k + 2] -= c
    total = polynomial[-1] * cotangent + polynomial[-2]
    for c in polynomial[-3::-1]:
        total = total * cotangent + c
    return total * math.pi ** (n + 1)


def _polygamma(x: Any, n: int) -> Any:
    """By the sum of powers; of negative x by that of 1 - x and the reflection."""
    below = lt(x, 0.0)
    pole = bitwise_and(le(x, 0.0), eq(x, floor(x)))
    t = where(below, 1.0 - x, where(pole, 1.0, x))
    order, a = float(n + 1), t + float(WRITTEN)
    power = pow_(a, -order)
    total = where(eq(power, 0.0), 0.0, _tail(order, a, power))
    for k in reversed(range(WRITTEN)):  # the largest comes last
        total = total + pow_(t + float(k), -order)
    many = math.factorial(n) if n < 171 else math.inf
    sign = 1.0 if n % 2 else -1.0
    value = total * (sign * many)
    mirrored = where(below, _cotangent(where(bitwise_or(pole, ge(x, 0.0)), 0.25, x), n), 0.0)
    reflected = where(below, -sign * value - mirrored, value)
    found = where(pole, sign * math.inf, reflected)
    return where(eq(x, -math.inf), math.nan, found)


def derivative_of_digamma(n: int, x: float) -> float:
    """The polygamma function in float64, by sums of powers."""
    if n == 0:
        return logarithmic_slope(x)
    if math.isnan(x) or x == -math.inf:
        return math.nan
    sign = 1.0 if n % 2 else -1.0
    return sign * math.factorial(n) * sum_of_powers(n + 1.0, x)


def _derivatives(np: Any, n: int, x: Any) -> Any:
    return np.vectorize(lambda v: derivative_of_digamma(n, v), otypes=[np.float64])(x)


def _polygamma_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    return (g * polygamma(dict(y.arg[1])["n"] + 1, x),)


@composite(
    lambda np, x, n: _derivatives(np, n, x),
    Samples(0.5, 8.0, cases=(*(((9,), {"n": n}) for n in (0, 1, 2, 5)), ((), {"n": 1}))),
    _polygamma_grad, flops=400.0,
)  # fmt: skip
def polygamma(x: Any, /, n: int) -> Any:
    """The n-th derivative of digamma; n and x may be given in either order.

    >>> import treadle as td
    >>> f"{td.polygamma(1, td.tensor(1.0)).item():.4f}"
    '1.6449'
    """
    if n < 0:
        raise ArgumentError(explain("polygamma", "n is not negative", n=n))
    return digamma(x) if n == 0 else precisely(lambda x: _polygamma(x, n), x)


def _either_order(arguments: Any) -> Any:
    """PyTorch's function has n first, its method has not."""

    def ordered(*given: Any, **options: Any) -> Any:
        turned = len(given) == 2 and hasattr(given[1], "_apply")
        return arguments(*(given[::-1] if turned else given), **options)

    return ordered


polygamma.arguments = _either_order(polygamma.arguments)


# ---- of matrices


def _multivariate(np: Any, x: Any, p: int) -> Any:
    of_one = np.vectorize(log_gamma, otypes=[np.float64])
    total = sum(of_one(x - k / 2) for k in range(p)) + p * (p - 1) / 4 * math.log(math.pi)
    return np.where(x > (p - 1) / 2, total, np.nan)


@composite(
    _multivariate, Samples(2.0, 8.0, cases=(((9,), {"p": 1}), ((3, 4), {"p": 3}), ((), {"p": 2}))),
    flops=200.0,
)  # fmt: skip
def mvlgamma(x: Any, /, p: int) -> Any:
    """The logarithm of the gamma function of p dimensions, for x above (p - 1) / 2; else NaN."""
    if p < 1:
        raise ArgumentError(explain("mvlgamma", "p is at least 1", p=p))

    def define(x: Any) -> Any:
        total = lgamma(x)
        for k in range(1, p):
            total = total + lgamma(x - 0.5 * k)
        total = total + p * (p - 1) / 4 * math.log(math.pi)
        return where(le(x, (p - 1) / 2), math.nan, total)

    return precisely(define, x)
