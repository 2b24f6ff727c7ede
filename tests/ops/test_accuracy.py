"""How far are the functions that other rows define from the truth, over the whole range?"""

from __future__ import annotations

import math

import numpy as np
import pytest

import treadle as td
from treadle.ops.defs import TABLE
from treadle.ops.special import inverse_of_erf, log_gamma, logarithmic_slope

KINDS = (np.float32, np.float64)
ULPS = 4.0  # units of last place

UNARY = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cosh": np.cosh,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "logsigmoid": lambda x: -np.logaddexp(0, -x),
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sinh": np.sinh,
    "square": np.square,
    "tan": np.tan,
}
BINARY = {
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "fmod": np.fmod,
    "hypot": np.hypot,
}
SPECIAL = {"digamma": logarithmic_slope, "erfc": math.erfc, "erfinv": inverse_of_erf,
           "lgamma": log_gamma}  # fmt: skip
ABSOLUTE = ("digamma", "lgamma")  # they cross 0, where only the distance to it is kept


def operand(kind, seed=0):
    """Special values, random bits, all sizes, near 1, within [-1, 1]."""
    rng = np.random.default_rng(seed)
    limits = np.finfo(kind)
    odd = [0.0, 0.5, 1.0, 2.0, 3.0, math.inf, math.nan, limits.max, limits.tiny,
           limits.smallest_subnormal, 88.9, 89.3, 90.0, 709.9, 710.4, 711.0, 3e8]  # fmt: skip
    width = f"u{limits.bits // 8}"
    raw = rng.integers(0, np.iinfo(width).max, 1000, dtype=width).view(kind)
    sized = rng.standard_normal(2000) * np.exp2(rng.uniform(-40, 8, 2000))
    near_one = 1 + rng.standard_normal(1000) * np.exp2(rng.uniform(-30, 0, 1000))
    parts = [odd, [-x for x in odd], raw, sized, near_one, rng.uniform(-1, 1, 1000)]
    with np.errstate(all="ignore"):
        return np.concatenate([np.asarray(part).astype(kind) for part in parts])


def wider(x):
    """A type with bits to spare: that of the reference."""
    return x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)


def distance(got, want, floor=0.0):
    """In units of last place of the result, or of floor; infinite for a wrong kind or sign."""
    limits, wide = np.finfo(got.dtype), want.dtype.type
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        size = np.clip(np.abs(want), max(wide(limits.smallest_normal), wide(floor)), limits.max)
        unit = np.ldexp(wide(1), np.frexp(size)[1] - 1 - limits.nmant)
        ends = wide(limits.min), wide(limits.max)
        apart = np.abs(np.clip(got.astype(wide), *ends) - np.clip(want, *ends)) / unit
        odd = np.isnan(rounded)
        wrong = np.isnan(got) != odd
        wrong |= (np.signbit(got) != np.signbit(rounded)) & ~odd & (np.abs(want) > floor)
    return np.where(odd & ~wrong, 0.0, np.where(wrong, np.inf, apart)).astype(np.float64)


def assert_near(name, got, xs, want, ulps=ULPS, floor=0.0):
    errors = distance(got, want, floor)
    at = int(np.argmax(errors))
    story = f"{name}({', '.join(repr(x[at]) for x in xs)}) gave {got[at]!r}, not {want[at]!r}"
    assert errors[at] <= ulps, f"{errors[at]} units: {story}"


precise = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no wider long double")


@precise
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNARY)
def test_unary_function_is_within_a_few_units(name, kind):
    x = operand(kind)
    with np.errstate(all="ignore"):
        want = UNARY[name](wider(x))
    assert_near(name, TABLE[name](td.tensor(x)).numpy(), [x], want)


@precise
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BINARY)
def test_binary_function_is_within_a_few_units(name, kind):
    x = operand(kind)
    a, b = (part.ravel() for part in np.meshgrid(x[:36], x[:36]))
    a, b = np.concatenate([a, x]), np.concatenate([b, operand(kind, 1)])
    with np.errstate(all="ignore"):
        want = BINARY[name](wider(a), wider(b))
    assert_near(name, TABLE[name](td.tensor(a), td.tensor(b)).numpy(), [a, b], want)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_function_is_within_a_few_units(name, kind):
    rng = np.random.default_rng(3)
    ends = rng.uniform(-1, 1, 300) if name == "erfinv" else rng.uniform(-8, 28, 300)
    tails = (
        1 - 10 ** rng.uniform(-15, 0, 200) if name == "erfinv" else 10 ** rng.uniform(-8, 8, 200)
    )
    edges = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, -3.0, 1e-30, -1e-30, 2.0, 1.5]
    x = np.concatenate([edges, ends, tails]).astype(kind)
    want = np.array([SPECIAL[name](float(value)) for value in x])
    got = TABLE[name](td.tensor(x)).numpy()
    assert_near(name, got, [x], want, floor=8.0 if name in ABSOLUTE else 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_powers_of_ten_have_whole_logarithms(kind):
    powers = np.arange(0, 23 if kind is np.float64 else 11)  # further ones are no floats
    x = np.array([10.0 ** int(power) for power in powers], kind)
    np.testing.assert_array_equal(td.log10(td.tensor(x)).numpy(), powers)


@pytest.mark.parametrize("kind", [np.float16, *KINDS])
def test_nextafter_moves_by_one_bit(kind):
    rng = np.random.default_rng(0)
    limits = np.finfo(kind)
    odd = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, limits.max, limits.tiny,
                    limits.smallest_subnormal, -limits.smallest_subnormal], kind)  # fmt: skip
    a, b = (part.ravel() for part in np.meshgrid(odd, odd))
    x = np.concatenate([a, rng.standard_normal(200).astype(kind)])
    y = np.concatenate([b, rng.standard_normal(200).astype(kind)])
    with np.errstate(all="ignore"):
        want = np.nextafter(x, y)
    got = td.nextafter(td.tensor(x), td.tensor(y)).numpy()
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype
    keep = ~np.isnan(want) & (want != 0) if kind is np.float16 else ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[keep]), np.signbit(want[keep]))


def test_trigamma_follows_from_digamma():
    x = np.array([0.25, 0.5, 1.0, 3.5, 12.0, -0.5, -2.5])
    want = [17.19732915450711, 4.934802200544679, 1.6449340668482264, 0.3303577561002349,
            0.08690187287176838, 8.934802200544679, 9.539246644989124]  # fmt: skip
    t = td.tensor(x, requires_grad=True)
    (slope,) = td.gradients(td.digamma(t).sum(), [t])
    np.testing.assert_allclose(slope.numpy(), want, rtol=1e-13)


def spread(kind, rng, count, exponents):
    """Floats of both signs over many powers of two."""
    size = rng.uniform(1, 2, count) * 2.0 ** rng.uniform(-exponents, exponents, count)
    return (size * rng.choice([-1, 1], count)).astype(kind)


ODD = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, 1e-45, 2.5)
DIVISIONS = {
    "remainder": np.remainder, "fmod": np.fmod, "floor_divide": np.floor_divide,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DIVISIONS)
def test_division_with_a_rest_is_exact(name, kind):
    rng = np.random.default_rng(0)
    near = spread(kind, rng, 4000, 2)
    pairs = [
        (spread(kind, rng, 4000, 30), spread(kind, rng, 4000, 30)),
        ((rng.integers(1, 1 << 23, 4000) * near).astype(kind), near),  # quotients near integers
        tuple(part.ravel() for part in np.meshgrid(np.array(ODD, kind), np.array(ODD, kind))),
    ]
    for x, y in pairs:
        with np.errstate(all="ignore"):
            want = DIVISIONS[name](x, y)
        got = getattr(td, name)(td.tensor(x), td.tensor(y)).numpy()
        np.testing.assert_array_equal(got, want)
        real = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[real]), np.signbit(want[real]))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["int", "uint"])
def test_division_of_integers_is_exact(sign, bits):
    rng, limits = np.random.default_rng(0), np.iinfo(f"{sign}{bits}")
    odd = {limits.min, limits.max, limits.max - 1, 0, 1, 2, 3, limits.max // 2}
    odd |= {-1, -2} if limits.min else set()
    odd |= {(1 << 52) - 1, 1 << 52, (1 << 53) - 1} if bits == 64 else set()
    values = np.array(sorted(odd), limits.dtype)
    drawn = rng.integers(limits.min, limits.max, (2, 4000), limits.dtype, endpoint=True)
    shifts = rng.integers(0, bits, (2, 4000)).astype(limits.dtype)
    for x, y in (drawn >> shifts, [part.ravel() for part in np.meshgrid(values, values)]):
        with np.errstate(all="ignore"):
            expected = np.floor_divide(x, y), np.remainder(x, y)
        a, b = td.tensor(x), td.tensor(y)
        np.testing.assert_array_equal((a // b).numpy(), expected[0])
        np.testing.assert_array_equal((a % b).numpy(), expected[1])
