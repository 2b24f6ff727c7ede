"""Floats of 8 bits as compiled code converts them: every byte, every tie, against ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from narrow_cases import FLOAT8, every_byte, floats_around

import treadle as td
from treadle.base.dtypes import STORAGE, dtype

kinds = pytest.mark.parametrize("kind", FLOAT8)
NARROW = tuple(d.name for d in STORAGE)


def numpy_type(kind):
    return np.dtype(getattr(ml_dtypes, kind, kind))


def assert_same_bits(result, expected):
    unsigned = f"u{expected.dtype.itemsize}"
    np.testing.assert_array_equal(result.view(unsigned), expected.view(unsigned))


@kinds
def test_every_byte_widens_to_the_float_it_stands_for(kind):
    given = every_byte(kind)
    for wide in ("float32", "float64"):
        result = td.tensor(given).cast(wide).numpy()
        expected = given.astype(wide)
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


@kinds
def test_every_byte_survives_the_way_through_float32(kind):
    given = every_byte(kind)
    there = td.tensor(given).cast("float32").realize()
    assert_same_bits(there.cast(kind).numpy()[~np.isnan(given)], given[~np.isnan(given)])
    assert np.isnan(there.cast(kind).numpy()[np.isnan(given)]).all()


@kinds
def test_floats_round_to_the_nearest_even_byte(kind):
    given = floats_around(kind)
    assert given.size > 700  # numbers, midpoints and their neighbours, of both signs
    assert_same_bits(td.tensor(given).cast(kind).numpy(), given.astype(numpy_type(kind)))


@kinds
def test_random_bits_round_as_ml_dtypes_rounds_them(kind):
    bits = np.random.default_rng(3).integers(0, 1 << 32, 1 << 18, dtype=np.uint32)
    with np.errstate(invalid="ignore"):
        given = bits.view(np.float32)
        expected = given.astype(numpy_type(kind))
    assert_same_bits(td.tensor(given).cast(kind).numpy(), expected)


@pytest.mark.parametrize("kind", NARROW)
def test_float64_rounds_as_numpy_and_ml_dtypes_do(kind):
    """float16 once, others by way of float32: seen at what is a tie in float32 only."""
    middle = 1 + 2.0 ** -(dtype(kind).mantissa + 1)
    given = np.array([middle, middle + 2.0**-45, middle - 2.0**-45], np.float64)
    given = np.concatenate([given, -given, [np.nan, np.inf, 0.0, -0.0, 1e300, 1e-30, 3e-8]])
    with np.errstate(over="ignore"):
        expected = given.astype(numpy_type(kind))
    assert_same_bits(td.tensor(given).cast(kind).numpy(), expected)


@kinds
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (7, 33), (3000,)], ids=str)
def test_arithmetic_is_done_in_float32_and_rounded_once(kind, shape):
    rng = np.random.default_rng(len(shape))
    x, y = (rng.uniform(-4, 4, shape).astype(numpy_type(kind)) for _ in range(2))
    result = (td.tensor(x) * td.tensor(y) + td.tensor(x)).numpy()
    wide = x.astype(np.float32) * y.astype(np.float32) + x.astype(np.float32)
    assert_same_bits(result, np.asarray(wide, np.float32).astype(numpy_type(kind)))


@kinds
def test_strided_and_looked_up_bytes(kind):
    given = every_byte(kind)[:120].reshape(8, 15)
    x = td.tensor(given)
    for result, expected in (
        (x.T + 0.0, given.T),
        (x[::-1, ::2] + 0.0, given[::-1, ::2]),
        (x[td.tensor([3, 1, 1])] + 0.0, given[[3, 1, 1]]),
    ):
        np.testing.assert_array_equal(result.numpy(), expected)


@kinds
@pytest.mark.parametrize("shape", [(1, 40, 1), (3, 4, 5), (65, 70, 33), (1, 300, 70), (70, 300, 1)])
@pytest.mark.parametrize("turned", [False, True])
def test_products_of_bytes_are_summed_in_float32(kind, shape, turned):
    m, k, n = shape
    rng = np.random.default_rng(m + k + n)
    a, b = (rng.integers(-2, 3, s).astype(numpy_type(kind)) for s in ((m, k), (k, n)))
    exact = a.astype(np.float32) @ b.astype(np.float32)
    left = td.tensor(np.ascontiguousarray(a.T)).T if turned else td.tensor(a)
    assert_same_bits((left @ td.tensor(b)).numpy(), exact.astype(numpy_type(kind)))


@kinds
def test_what_a_tensor_shows_of_bytes(kind):
    x = td.tensor([1.0, -0.5, 3.0], dtype=kind)
    assert x.nbytes == 3
    assert x.tolist() == [1.0, -0.5, 3.0]
    assert x[1].item() == -0.5
    assert repr(x) == f"tensor([ 1. , -0.5,  3. ], dtype={kind})"
    assert x.sum().dtype is dtype(kind)


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("shape", [(1000,), (70_000,), (3, 30_000), (70, 1000)], ids=str)
def test_means_and_long_sums_are_computed_in_float32(kind, shape):
    """Partial totals would overflow float8 at a few hundred and lose all but a few bits."""
    given = np.resize(np.array([1.0, 2.0, -1.0, 0.5]), shape).astype(numpy_type(kind))
    x, wide = td.tensor(given), given.astype(np.float64)
    assert_same_bits(x.mean().numpy(), np.asarray(wide.mean()).astype(numpy_type(kind)))
    assert_same_bits(x.mean(axis=-1).numpy(), wide.mean(-1).astype(numpy_type(kind)))
    with np.errstate(over="ignore"):
        total = wide.sum(-1).astype(numpy_type(kind))
    assert_same_bits(x.sum(axis=-1).numpy(), total)
    np.testing.assert_allclose(
        x.var(axis=-1).numpy().astype(float), wide.var(-1), rtol=float(x.dtype.bits == 8) / 8 + 0.01
    )
