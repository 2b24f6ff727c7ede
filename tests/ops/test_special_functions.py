"""Bessel functions, zeta, polygamma, exponents, divisors: how far from the truth, and their limits.

References are sums and integrals in long double, none of them the form that is computed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import treadle as td

KINDS = (np.float32, np.float64)
precise = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no wider long double")
inf, nan = math.inf, math.nan


def ulps(got, want):
    """How many units of last place apart, at most."""
    limits = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        size = np.clip(np.abs(want), limits.smallest_normal, None)
        unit = np.ldexp(np.longdouble(1), np.frexp(size)[1] - 1 - limits.nmant)
        apart = np.abs(got.astype(np.longdouble) - want) / unit
    return float(np.max(apart))


def integral(x, order, scaled):
    """Over half a circle by the trapezoidal rule, which converges faster than any power."""
    x = x.astype(np.longdouble)
    count = 3000
    angle = (np.arange(count) + np.longdouble(0.5)) * (np.longdouble(np.pi) / count)
    size = np.abs(x)[:, None]
    weight = size * np.sin(angle) ** 2 if order else 1
    value = (np.exp(-2 * size * np.sin(angle / 2) ** 2) * weight).mean(1)
    value = value if scaled else value * np.exp(size[:, 0])
    return np.copysign(value, x) if order else value


@precise
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "order", "scaled"), [
    ("i0", 0, False), ("i0e", 0, True), ("i1", 1, False), ("i1e", 1, True),
])  # fmt: skip
def test_bessel_functions_are_within_a_few_units(name, order, scaled, kind):
    rng = np.random.default_rng(0)
    most = 700.0 if scaled or kind is np.float64 else 85.0
    x = np.concatenate([
        rng.uniform(-12, 12, 400), rng.uniform(-most, most, 200), [5.999, 6.0, 6.001, 1e-4, -1e-4],
    ]).astype(kind)  # fmt: skip
    assert ulps(getattr(td, name)(td.tensor(x)).numpy(), integral(x, order, scaled)) <= 4.0


@pytest.mark.parametrize("kind", KINDS)
def test_bessel_functions_reach_their_limits(kind):
    x = td.tensor(np.array([0.0, -0.0, inf, -inf, nan], kind))
    np.testing.assert_array_equal(td.i0(x).numpy(), [1, 1, inf, inf, nan])
    np.testing.assert_array_equal(td.i0e(x).numpy(), [1, 1, 0, 0, nan])
    np.testing.assert_array_equal(td.i1(x).numpy(), [0, 0, inf, -inf, nan])
    np.testing.assert_array_equal(td.i1e(x).numpy(), [0, 0, 0, 0, nan])
    large = td.tensor(np.array([88.8 if kind is np.float32 else 712.0], kind))
    assert np.isfinite(td.i0(large).numpy()).all()  # the exponential alone would not be


def slope(define, *values):
    xs = [td.tensor(np.array(v, np.float64), requires_grad=True) for v in values]
    return td.gradients(define(*xs).sum(), xs)[-1].numpy()


def test_slopes_of_bessel_functions_at_zero():
    assert slope(td.i0, [0.0]) == [0.0]
    assert slope(td.i1, [0.0]) == [0.5]
    assert slope(td.i0e, [0.0]) == [0.0]
    assert slope(td.i1e, [0.0]) == [0.5]


def many_terms(s, q):
    """Twenty thousand terms, and the integral of the rest."""
    s, q = s.astype(np.longdouble)[:, None], q.astype(np.longdouble)[:, None]
    total = ((q + np.arange(20000)) ** -s).sum(1)
    a, s = q[:, 0] + 20000, s[:, 0]
    return total + a ** (1 - s) / (s - 1) + a**-s / 2 + s * a ** (-s - 1) / 12


@precise
@pytest.mark.parametrize(("kind", "most"), [(np.float32, 4.0), (np.float64, 8.0)])
def test_zeta_is_within_a_few_units(kind, most):
    rng = np.random.default_rng(1)
    s = np.concatenate([rng.uniform(1.05, 12, 150), rng.uniform(12, 40, 50)]).astype(kind)
    q = rng.uniform(0.3, 9, 200).astype(kind)
    got = td.zeta(td.tensor(s), td.tensor(q)).numpy()
    want = many_terms(s, q)
    known = np.abs(want) > np.finfo(kind).smallest_normal
    assert ulps(got[known], want[known]) <= most


def test_zeta_and_polygamma_where_they_are_known():
    third = 1.2020569031595942  # the sum of 1 / k**3
    one = td.tensor(np.array([1.0, 0.5]))
    np.testing.assert_allclose(td.zeta(2.0, one).numpy(), [np.pi**2 / 6, np.pi**2 / 2], rtol=4e-16)
    np.testing.assert_allclose(td.zeta(3.0, one).numpy(), [third, 7 * third], rtol=4e-16)
    np.testing.assert_allclose(
        td.polygamma(1, one).numpy(), [np.pi**2 / 6, np.pi**2 / 2], rtol=4e-16
    )
    np.testing.assert_allclose(one.polygamma(2).numpy(), [-2 * third, -14 * third], rtol=8e-16)
    np.testing.assert_allclose(td.polygamma(3, one[:1]).numpy(), [np.pi**4 / 15], rtol=8e-16)
    np.testing.assert_allclose(
        td.polygamma(1, td.tensor(np.array([-0.5, -2.5]))).numpy(),
        [8.934802200544679, 9.539246644989124], rtol=1e-15,
    )  # fmt: skip


def test_zeta_outside_of_its_sums():
    s = td.tensor(np.array([1.0, 0.5, 2.0, 2.5, 3.0, nan]))
    q = td.tensor(np.array([2.0, 2.0, -3.0, -0.5, -0.5, 1.0]))
    got = td.zeta(s, q).numpy()
    np.testing.assert_array_equal(got[:4], [inf, nan, inf, nan])
    np.testing.assert_allclose(got[4], -8 + 8.4143983221, rtol=1e-9)
    assert np.isnan(got[5])


@precise
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_polygamma_is_within_a_few_units(n, kind):
    rng = np.random.default_rng(n)
    x = np.concatenate([rng.uniform(0.05, 20, 200), 10 ** rng.uniform(1, 3, 50)]).astype(kind)
    sign = 1 if n % 2 else -1
    want = sign * math.factorial(n) * many_terms(np.full(len(x), n + 1.0), x)
    assert ulps(td.polygamma(n, td.tensor(x)).numpy(), want) <= 6.0
    below = (-rng.integers(0, 8, 100) - rng.uniform(0.1, 0.9, 100)).astype(kind)
    want = sign * math.factorial(n) * many_terms(np.full(100, n + 1.0), below)
    got = td.polygamma(n, td.tensor(below)).numpy()
    largest = np.abs(want) + 10.0 ** (n + 1)  # what is subtracted from each other there
    assert np.all(np.abs(got - want) <= 8 * np.finfo(kind).eps * largest)


def test_polygamma_at_its_poles():
    poles = td.tensor(np.array([0.0, -1.0, -7.0, -inf, inf, nan]))
    np.testing.assert_array_equal(td.polygamma(1, poles).numpy(), [inf, inf, inf, nan, 0.0, nan])
    np.testing.assert_array_equal(td.polygamma(2, poles)[:3].numpy(), [-inf] * 3)


# ---- exponents and divisors


@pytest.mark.parametrize("kind", [np.float16, *KINDS])
def test_numbers_fall_into_parts_and_come_back(kind):
    rng = np.random.default_rng(0)
    limits = np.finfo(kind)
    x = np.concatenate([
        rng.standard_normal(300) * 2.0 ** rng.uniform(-14, 14, 300),
        [0.0, -0.0, inf, -inf, nan, limits.max, limits.min, limits.tiny, -limits.tiny],
        [limits.smallest_subnormal, 3 * float(limits.smallest_subnormal), 0.5, 1.0, -1.0],
    ]).astype(kind)  # fmt: skip
    mantissa, exponent = (part.numpy() for part in td.frexp(td.tensor(x)))
    wanted = np.frexp(x)
    np.testing.assert_array_equal(mantissa, wanted[0])
    np.testing.assert_array_equal(exponent[np.isfinite(x)], wanted[1][np.isfinite(x)])
    assert exponent.dtype == np.int32
    back = td.ldexp(td.tensor(mantissa), td.tensor(exponent)).numpy()
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_powers_of_two_are_exact(kind):
    rng = np.random.default_rng(2)
    limits = np.finfo(kind)
    x = (rng.standard_normal(600) * 2.0 ** rng.integers(-60, 60, 600)).astype(kind)
    x[:4] = 0.0, inf, -inf, nan
    power = rng.integers(limits.minexp + 70, limits.maxexp - 70, 600)
    power[:8] = 10**6, -(10**6), 5, -5, limits.maxexp + 40, limits.minexp - 40, 0, 1
    with np.errstate(over="ignore"):
        want = np.ldexp(x, power)
    np.testing.assert_array_equal(td.ldexp(td.tensor(x), td.tensor(power)).numpy(), want)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_divisors_over_the_whole_range(kind):
    rng, limits = np.random.default_rng(3), np.iinfo(kind)
    x, y = rng.integers(limits.min, limits.max, (2, 400), kind, endpoint=True)
    x[:6] = limits.max, 0, 0, limits.max, limits.min, 1
    y[:6] = limits.max - 1, 0, 9, limits.max, 6, limits.max
    common = rng.integers(1, 12, 400).astype(kind)
    small = (x // 16 * common, y // 16 * common) if limits.bits > 8 else (x, y)
    for a, b in ((x, y), small):
        np.testing.assert_array_equal(td.gcd(td.tensor(a), td.tensor(b)).numpy(), np.gcd(a, b))
    a, b = (part % 11 for part in (x, y))
    np.testing.assert_array_equal(td.lcm(td.tensor(a), td.tensor(b)).numpy(), np.lcm(a, b))


def test_the_slowest_divisors_are_found():
    """Neighbours among Pell's numbers take the most steps of nearest remainders, as 1 + sqrt(2)."""
    pell = [0, 1]
    while pell[-1] < 2**61:
        pell.append(2 * pell[-1] + pell[-2])
    fibonacci = [1, 2]
    while fibonacci[-1] < 2**61:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    for line in (pell, fibonacci):
        a, b = np.array(line[1:]), np.array(line[:-1])
        np.testing.assert_array_equal(td.gcd(td.tensor(a), td.tensor(b)).numpy(), np.gcd(a, b))


@pytest.mark.parametrize("kind", KINDS)
def test_logit_and_sinc_are_within_a_few_units(kind):
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 1, 500).astype(kind)
    wide = x.astype(np.float64 if kind is np.float32 else np.longdouble)
    assert ulps(td.logit(td.tensor(x)).numpy(), np.log(wide) - np.log1p(-wide)) <= (
        4.0 if kind is np.float32 else 400.0  # the reference cancels near a half
    )
    near = (0.5 + rng.uniform(-1, 1, 300) * 2.0 ** rng.uniform(-20, -2, 300)).astype(kind)
    t = near.astype(np.longdouble) - np.longdouble(0.5)
    want = 2 * (2 * t + (2 * t) ** 3 / 3 + (2 * t) ** 5 / 5)
    close = np.abs(t) < 2.0**-12
    assert ulps(td.logit(td.tensor(near[close])).numpy(), want[close]) <= 4.0
    whole = td.tensor(np.arange(-5, 6).astype(kind))
    np.testing.assert_array_equal(td.sinc(whole).numpy(), (np.arange(-5, 6) == 0) * 1.0)
