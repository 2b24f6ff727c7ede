"""Functions of complex numbers against NumPy: accuracy, branch cuts, special values, ranges."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError

KINDS = {"complex64": np.float32, "complex128": np.float64}
NUMPY = {name: f"arc{name[1:]}" for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")}
NAMES = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh",
)  # fmt: skip
ROUNDINGS = 4  # of the size of a result
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def of_parts(a, b, kind):
    made = np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b)), kind)
    made.real, made.imag = a, b
    return made


def by_numpy(name, z):
    """In long double where the machine has one: NumPy's own roundings do not count."""
    return getattr(np, NUMPY.get(name, name))(z.astype(np.clongdouble))


def by_treadle(name, z):
    return getattr(td, name)(td.tensor(z)).numpy()


def check(found, wanted, kind):
    """Close relative to the size; what is too small or too large for the kind is not looked at."""
    limits = np.finfo(KINDS[kind])
    size = np.abs(wanted)
    inside = np.isfinite(wanted) & (size < limits.max / 4)
    least = np.maximum(size, limits.tiny * 4)
    error = np.where(inside, np.abs(found - wanted) / least, 0.0)
    assert np.nanmax(error) <= ROUNDINGS * limits.eps
    assert not np.isnan(found[inside]).any()


def points(kind):
    """Numbers of many sizes and angles, near the unit circle, near 1 and -1, and near 0."""
    rng = np.random.default_rng(7)
    turns = np.exp(1j * rng.uniform(-np.pi, np.pi, (5, 400)))
    sizes = [
        np.abs(rng.standard_normal(400)),
        10 ** rng.uniform(-5, 5, 400),
        1 + 1e-6 * rng.standard_normal(400),
        10 ** rng.uniform(-30, -1, 400),
    ]
    near = rng.choice([-1, 1], 400) + 1e-3 * turns[4] * rng.uniform(0, 1, 400)
    return np.concatenate([*(size * turn for size, turn in zip(sizes, turns, strict=False)),
                           near]).astype(kind)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_function_is_accurate_everywhere(name, kind):
    z = points(kind)
    z = z[np.abs(z) < 4] if name == "exp2" else z  # its angles are products with log(2)
    check(by_treadle(name, z), by_numpy(name, z), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_log1p_is_accurate_near_0(kind):
    """NumPy's loses all digits of the real part there."""
    z = points(kind)
    wide = z.astype(np.clongdouble)
    small = np.abs(wide) < 0.02
    near = sum(-((-wide) ** k) / k for k in range(1, 13))
    check(by_treadle("log1p", z), np.where(small, near, np.log(1 + wide)), kind)


EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan)
LEFT_OPEN = {
    # What C leaves open: signs of zeros and of infinities beside a NaN.
    "exp": 1, "exp2": 1, "sin": 3, "cos": 4, "tan": 2, "sinh": 3, "cosh": 2, "tanh": 2,
}  # fmt: skip
OF_NUMPY = {"expm1": 10}
"""NumPy multiplies by infinities where C's rules for exp would not: here they hold."""


def odd_points():
    a, b = np.meshgrid(EDGES, EDGES)
    return of_parts(a.ravel(), b.ravel(), np.complex128)


def same(found, wanted):
    """Equal to the sign of zero, both NaN, or close."""
    equal = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    return equal | (np.isnan(found) & np.isnan(wanted)) | np.isclose(found, wanted, 1e-14, 0.0) & (
        wanted != 0)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_special_values_and_branch_cuts_are_those_of_c(name):
    z = odd_points()
    found, wanted = by_treadle(name, z), getattr(np, NUMPY.get(name, name))(z)
    agree = same(found.real, wanted.real) & same(found.imag, wanted.imag)
    assert np.sum(~agree) <= LEFT_OPEN.get(name, 0) + OF_NUMPY.get(name, 0)
    if name in OF_NUMPY:
        return
    unsigned = same(np.abs(found.real), np.abs(wanted.real)) & same(
        np.abs(found.imag), np.abs(wanted.imag))  # fmt: skip
    assert unsigned.all()


@pytest.mark.parametrize("name", ["log", "sqrt", "asin", "acos", "atan", "asinh", "acosh", "atanh"])
def test_both_sides_of_a_cut_are_told_apart_by_the_sign_of_zero(name):
    along = np.array([-3.0, -1.5, -0.25, 0.25, 1.5, 3.0])
    for parts in ((along, 0.0), (along, -0.0), (0.0, along), (-0.0, along)):
        z = of_parts(*parts, np.complex128)
        found, wanted = by_treadle(name, z), getattr(np, NUMPY.get(name, name))(z)
        np.testing.assert_allclose(found, wanted, rtol=1e-15)
        np.testing.assert_array_equal(np.signbit(found.imag), np.signbit(wanted.imag))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["abs", "log", "sqrt", "asinh", "acosh", "atanh", "acos"])
def test_parts_near_the_ends_of_the_range_neither_overflow_nor_vanish(name, kind):
    limits = np.finfo(KINDS[kind])
    sizes = [limits.max / 2, limits.max / 1e5, limits.tiny * 8, limits.tiny * 1e5, 1.0]
    a, b = np.meshgrid(sizes, sizes)
    z = of_parts(a.ravel(), -b.ravel(), kind)
    check(by_treadle(name, z), by_numpy(name, z), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_large_exponents_overflow_no_earlier_than_the_result(kind):
    edge = np.log(np.finfo(KINDS[kind]).max)
    z = of_parts(np.array([edge + 0.3, edge - 0.3]), np.array([1.57, 1.57]), kind)
    for name in ("exp", "sinh", "cosh"):
        found = by_treadle(name, z).real
        assert np.isfinite(found).all()
        assert (found != 0).all()


def pairs(kind, seed=3):
    rng = np.random.default_rng(seed)
    size = 10 ** rng.uniform(-8, 8, (2, 500)) if kind == "complex64" else 10 ** rng.uniform(
        -120, 120, (2, 500))  # fmt: skip
    return (size * np.exp(1j * rng.uniform(-np.pi, np.pi, (2, 500)))).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_arithmetic(kind):
    x, y = pairs(kind)
    a, b = td.tensor(x), td.tensor(y)
    wide, other = x.astype(np.clongdouble), y.astype(np.clongdouble)
    for found, wanted in (
        (a + b, wide + other), (a - b, wide - other), (a * b, wide * other), (a / b, wide / other),
        (-a, -wide), (abs(a), np.abs(wide)), (a.conj(), wide.conj()), (1.0 / a, 1 / wide),
    ):  # fmt: skip
        check(found.numpy(), wanted, kind)


def test_quotients_of_special_values_are_smiths():
    z = odd_points()
    x, y = (part.ravel() for part in np.meshgrid(z, z))
    found, wanted = (td.tensor(x) / td.tensor(y)).numpy(), x / y
    for part in ("real", "imag"):
        own, other = getattr(found, part), getattr(wanted, part)
        np.testing.assert_array_equal(np.isnan(own), np.isnan(other))
        np.testing.assert_allclose(own, other, rtol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_powers(kind):
    rng = np.random.default_rng(5)
    base = (rng.standard_normal(300) + 1j * rng.standard_normal(300)).astype(kind)
    power = (rng.standard_normal(300) + 1j * rng.standard_normal(300)).astype(kind)
    eps = np.finfo(KINDS[kind]).eps
    wanted = np.power(base.astype(np.clongdouble), power.astype(np.clongdouble))
    grown = 4 + np.abs(power * np.log(base))  # an exponent is known to so many roundings
    found = td.tensor(base) ** td.tensor(power)
    assert (np.abs(found.numpy() - wanted) <= 4 * eps * grown * np.abs(wanted)).all()
    for whole in (2, 3, 4, 7, -1, -3, 0):
        wanted = base.astype(np.clongdouble) ** whole
        found = (td.tensor(base) ** whole).numpy()
        bound = 4 * eps * (4 + np.abs(whole * np.log(base)))
        assert (np.abs(found - wanted) <= bound * np.abs(wanted)).all()
    nothing = td.tensor(np.zeros(3, kind)) ** td.tensor(np.array([2, 0, -1], kind))
    np.testing.assert_array_equal(nothing.numpy(), np.array([0, 1, complex(np.nan, np.nan)], kind))


def test_real_bases_of_complex_powers():
    x = td.tensor([2.0, 3.0])
    np.testing.assert_allclose((x**1j).numpy(), np.array([2.0, 3.0]) ** 1j, rtol=1e-6)
    np.testing.assert_allclose((2.0 ** (x * 1j)).numpy(), 2.0 ** (np.array([2, 3]) * 1j), rtol=1e-6)


def test_sums_of_exponentials_powers_and_fillings():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))
    found = td.logsumexp(td.tensor(z + 800.0), axis=1).numpy()  # exp of it would be infinite
    np.testing.assert_allclose(found, np.log(np.exp(z).sum(1)) + 800.0)
    np.testing.assert_allclose(td.vander(td.tensor(z[0]), 3).numpy(), np.vander(z[0], 3))
    filled = td.index_fill(td.tensor(z), td.tensor([0, 2]), 2 - 1j).numpy()
    np.testing.assert_array_equal(filled, [[2 - 1j] * 4, z[1], [2 - 1j] * 4])


def test_sums_of_exponentials_that_do_not_fit():
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((2, 5)) + 1j * rng.standard_normal((2, 5)) for _ in range(2))
    for far in (-800.0, 800.0):
        found = td.logaddexp(td.tensor(x + far), td.tensor(y + far)).numpy()
        np.testing.assert_allclose(found, np.log(np.exp(x) + np.exp(y)) + far)
    steps = x + 800.0 * np.array([-1, 0, 0, 1, 1])
    found = td.logcumsumexp(td.tensor(steps), axis=1).numpy()
    wanted = [steps[:, 0], steps[:, 1], np.log(np.exp(x[:, 1:3]).sum(1)), steps[:, 3],
              np.log(np.exp(x[:, 3:]).sum(1)) + 800.0]  # fmt: skip
    np.testing.assert_allclose(found, np.stack(wanted, 1))
    nothing = td.tensor(np.array([complex(-np.inf, 1), complex(-np.inf, 2), 1j]))
    np.testing.assert_allclose(td.logcumsumexp(nothing, axis=0).numpy()[2], 1j)


def test_sinc_at_whole_numbers_and_along_the_imaginary_axis():
    z = np.array([0, 1, -3, 1e6, 0.5j, 2 + 0.25j, 1e-9 + 1e-9j])
    wanted = np.ones(7, complex)
    wanted[1:] = np.sin(np.pi * (z[1:] - np.rint(z[1:].real))) / (np.pi * z[1:])
    wanted[1:] *= (-1.0) ** np.rint(z[1:].real)
    np.testing.assert_allclose(td.sinc(td.tensor(z)).numpy(), wanted, rtol=1e-14)


FACTOR, OTHER = 0.5 - 2j, 1 + 3j
SCALED = {
    "add": lambda x, y: (td.add(x, y, alpha=FACTOR), lambda x, y: x + FACTOR * y),
    "sub": lambda x, y: (td.sub(x, y, alpha=FACTOR), lambda x, y: x - FACTOR * y),
    "addcmul": lambda x, y: (td.addcmul(x, x, y, value=FACTOR), lambda x, y: x + FACTOR * x * y),
    "addcdiv": lambda x, y: (td.addcdiv(x, x, y, value=FACTOR), lambda x, y: x + FACTOR * x / y),
    "addmm": lambda x, y: (
        td.addmm(x, x, y, beta=OTHER, alpha=FACTOR), lambda x, y: OTHER * x + FACTOR * x @ y),
    "baddbmm": lambda x, y: (
        td.baddbmm(x[None], x[None], y[None], beta=OTHER, alpha=FACTOR)[0],
        lambda x, y: OTHER * x + FACTOR * x @ y),
    "full_like": lambda x, y: (td.full_like(x, FACTOR), lambda x, y: np.full_like(x, FACTOR)),
    "masked_fill": lambda x, y: (
        td.masked_fill(x, x.real > 0, FACTOR), lambda x, y: np.where(x.real > 0, FACTOR, x)),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALED)
def test_options_that_are_complex_numbers(name):
    rng = np.random.default_rng(2)
    x, y = (rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3)) for _ in range(2))
    found, reference = SCALED[name](td.tensor(x), td.tensor(y))
    np.testing.assert_allclose(found.numpy(), reference(x, y), rtol=1e-13)


def test_an_option_that_is_no_number_is_refused():
    x = td.ones(2)
    with pytest.raises(ArgumentError, match="addcmul: value is a number"):
        td.addcmul(x, x, x, value="1j")
