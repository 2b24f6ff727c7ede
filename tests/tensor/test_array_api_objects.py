"""The Python array API standard: indexing, attributes, numbers, exchange, and what there is."""

from __future__ import annotations

import operator

import array_api_strict as xp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace
from strict import ALL, FLOATS, INTEGERS, NUMERIC, agree, draw, ours, strict

import treadle as td

# ---- indexing

KEYS = [
    0, -1, 2, slice(None), slice(1, 3), slice(None, None, -1), slice(4, None, -2), slice(2, 2),
    slice(-100, 100), ..., None, (0, 1), (0, ..., -1), (..., slice(1, None, 2)), (None, 0, None),
    (slice(None), 1), (slice(3, 0, -1), slice(None), slice(0, 2)), (1, 2, 0), (..., 1, 2, 0),
    (slice(None), None, ..., None), (), (slice(0, 0), 1), (-2, slice(-1, None), -1),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_basic_keys(key):
    rng = np.random.default_rng(1)
    for dtype in ("bool", "int8", "uint64", "float64"):
        x = draw(rng, dtype, (5, 3, 2))
        found, expected = ours(x)[key], np.asarray(x[key])
        assert (found.dtype.name, found.shape) == (dtype, expected.shape)
        np.testing.assert_array_equal(found.numpy(), expected)
        y, z = ours(x), x.copy()
        y[key] = 1
        z[key] = 1
        np.testing.assert_array_equal(y.numpy(), z)
        value = draw(rng, dtype, z[key].shape)
        y[key], z[key] = ours(value), value
        np.testing.assert_array_equal(y.numpy(), z)


ARRAYS = make_strategies_namespace(td, api_version="2024.12")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_key(data):
    shape = data.draw(ARRAYS.array_shapes(min_dims=0, min_side=0, max_dims=4, max_side=5))
    key = data.draw(ARRAYS.indices(shape, allow_newaxis=True))
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    y = td.asarray(x, copy=True)
    assert y[key].tolist() == x[key].tolist()
    x[key] = -1
    y[key] = -1
    assert y.tolist() == x.tolist()


def test_masks_and_index_arrays():
    rng = np.random.default_rng(2)
    for dtype in ALL:
        x = draw(rng, dtype, (3, 4))
        for shape in ((3, 4), (3,), ()):
            mask = draw(rng, "bool", shape)
            found, expected = ours(x)[ours(mask)], x[mask]
            assert found.dtype.name == dtype
            assert found.shape == expected.shape
            np.testing.assert_array_equal(found.numpy(), expected)
        y, z = ours(x), x.copy()
        mask = draw(rng, "bool", (3, 4))
        y[ours(mask)], z[mask] = 1, 1
        np.testing.assert_array_equal(y.numpy(), z)
        rows, columns = np.array([[0], [2]]), np.array([1, -1, 3])
        agree(ours(x)[ours(rows), ours(columns)], strict(x)[strict(rows), strict(columns)])
        agree(ours(x)[1, ours(columns)], strict(x)[1, strict(columns)])
    assert td.asarray(5)[td.asarray(True)].tolist() == [5]
    assert td.arange(4)[td.asarray(2)].item() == 2


def test_bad_keys():
    x = td.ones((2, 3))
    for key in (2, -3, (0, 3), (0, 0, 0), (..., 0, ...)):
        with pytest.raises(IndexError):
            x[key]
    for key in (1.5, "a", td.ones(2)):
        with pytest.raises((IndexError, TypeError)):
            x[key]


# ---- attributes and numbers


def test_attributes():
    for dtype in ALL:
        for shape in ((), (3,), (2, 0), (2, 3, 4)):
            x, y = td.zeros(shape, dtype=dtype), xp.zeros(shape, dtype=getattr(xp, dtype))
            assert (x.shape, x.ndim, x.size) == (y.shape, y.ndim, y.size)
            assert isinstance(x.shape, tuple)
            assert x.dtype == getattr(td, dtype)
            assert x.device == td.__array_namespace_info__().default_device()
            if len(shape) > 1:
                assert x.mT.shape == y.mT.shape
    x = td.asarray([[1, 2, 3], [4, 5, 6]])
    assert x.T.tolist() == x.mT.tolist() == [[1, 4], [2, 5], [3, 6]]
    with pytest.raises(ValueError, match="two axes"):
        _ = td.ones((2, 3, 4)).T
    with pytest.raises(ValueError, match="axes"):
        _ = td.ones(3).mT


def test_namespace():
    assert td.ones(1).__array_namespace__() is td
    assert td.ones(1).__array_namespace__(api_version="2024.12").__name__ == "treadle"
    with pytest.raises(ValueError, match="no such version"):
        td.ones(1).__array_namespace__(api_version="1999.01")
    assert (td.e, td.inf, td.pi, td.newaxis) == (np.e, np.inf, np.pi, None)
    assert np.isnan(td.nan)
    assert td.__array_api_version__ == "2024.12"


@pytest.mark.parametrize("dtype", ALL)
def test_python_numbers(dtype):
    one = td.asarray(1, dtype=dtype)
    assert bool(one) is True
    assert not bool(td.asarray(0, dtype=dtype))
    assert type(int(one)) is int
    assert type(float(one)) is float
    assert complex(one) == 1 + 0j
    if dtype in INTEGERS:
        assert operator.index(one) == 1
        assert [5, 6, 7][one] == 6
    else:
        with pytest.raises(TypeError):
            operator.index(one)
    for convert in (bool, int, float, complex):
        with pytest.raises((TypeError, ValueError)):
            convert(td.ones(2, dtype=dtype))
    if dtype in FLOATS:
        assert float(td.asarray(float("inf"), dtype=dtype)) == float("inf")
        with pytest.raises(OverflowError):
            int(td.asarray(float("inf"), dtype=dtype))
        with pytest.raises(ValueError, match="NaN"):
            int(td.asarray(float("nan"), dtype=dtype))


def test_iteration():
    assert [row.tolist() for row in td.asarray([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    assert len(td.ones((3, 2))) == 3
    with pytest.raises(TypeError):
        iter(td.ones(()))


# ---- what the standard refuses


def test_refused():
    flags, x = td.asarray([True, False]), td.asarray([1.0, 2.0])
    with pytest.raises(TypeError):
        x & x
    with pytest.raises(TypeError):
        x << 1
    with pytest.raises(TypeError):
        operator.invert(x)
    with pytest.raises(TypeError):
        flags << flags
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(ValueError, match="broadcast"):
        td.ones((2, 3)) + td.ones(4)
    with pytest.raises(ValueError, match="axis"):
        td.sum(x, axis=1)
    for wrong in (-4, 3):
        with pytest.raises(IndexError, match="axis out of range"):
            td.expand_dims(td.ones((2, 3)), axis=wrong)
    with pytest.raises(ValueError, match="size 1"):
        td.squeeze(td.ones((2, 1)), axis=0)
    with pytest.raises(ValueError, match="axis"):
        td.cumulative_sum(td.ones((2, 2)))
    with pytest.raises(ValueError, match="reduce"):
        td.max(td.ones(0))
    with pytest.raises(ValueError, match="kind"):
        td.isdtype(td.int8, "number")
    with pytest.raises(ValueError, match="matmul"):
        td.ones(()) @ td.ones(2)
    with pytest.raises(ValueError, match="axes"):
        td.matrix_transpose(td.ones(2))


# ---- dtypes, devices, exchange


def test_dtype_functions():
    for dtype in ALL:
        d = getattr(td, dtype)
        assert d == getattr(td, dtype)
        assert d != (td.int8 if dtype != "int8" else td.int16)
        for kind in (
            "bool",
            "signed integer",
            "unsigned integer",
            "integral",
            "real floating",
            "complex floating",
            "numeric",
        ):
            assert td.isdtype(d, kind) is xp.isdtype(getattr(xp, dtype), kind)
        assert td.isdtype(d, (td.int8, "bool")) is (dtype in ("int8", "bool"))
        assert td.isdtype(dtype=d, kind=d)
    for dtype in INTEGERS:
        own, other = td.iinfo(getattr(td, dtype)), xp.iinfo(getattr(xp, dtype))
        assert (own.bits, own.min, own.max, own.dtype.name) == (
            other.bits, other.min, other.max, dtype)  # fmt: skip
    for dtype in FLOATS:
        own, other = td.finfo(getattr(td, dtype)), xp.finfo(getattr(xp, dtype))
        for name in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(own, name) == getattr(other, name)
            assert type(getattr(own, name)) is type(getattr(other, name))
        assert td.finfo(td.ones(1, dtype=dtype)) == own


def test_what_there_is():
    info, other = td.__array_namespace_info__(), xp.__array_namespace_info__()
    assert set(info.capabilities()) == set(other.capabilities())
    assert info.default_device() in info.devices()
    assert info.capabilities()["max dimensions"] == other.capabilities()["max dimensions"] == 64
    assert td.ones((1,) * 64).numpy().ndim == td.ones((1,) * 65).sum(0).numpy().ndim == 64
    assert set(info.default_dtypes()) == set(other.default_dtypes())
    assert info.default_dtypes()["real floating"] == td.ones(1).dtype
    assert info.default_dtypes()["indexing"] == td.argmax(td.ones(1)).dtype
    for device in info.devices():
        assert td.zeros(1, device=device).device == device
        for kind in (
            None,
            "bool",
            "signed integer",
            "unsigned integer",
            "integral",
            "real floating",
            "complex floating",
            "numeric",
            ("bool", "integral"),
            (),
        ):
            own = info.dtypes(device=device, kind=kind)
            wanted = set(other.dtypes(kind=kind))
            assert set(own) == wanted
            assert all(own[name] == getattr(td, name) for name in own)


def test_devices():
    x = td.ones(2)
    assert x.to_device(x.device) is x
    there = x.to_device(td.zeros(1, device="reference").device)
    assert there.tolist() == [1.0, 1.0]
    assert there.device is not x.device
    with pytest.raises(ValueError, match="stream"):
        x.to_device(x.device, stream=3)


def test_exchange():
    for dtype in NUMERIC:
        x = td.arange(6, dtype=dtype).reshape(2, 3)
        assert np.from_dlpack(x).tolist() == x.tolist()
        back = td.from_dlpack(xp.asarray(np.arange(6, dtype=dtype)))
        assert back.dtype.name == dtype
        assert back.tolist() == list(range(6))
        own = td.from_dlpack(x, copy=True)
        own[0, 0] = 5
        assert x[0, 0].item() == 0
        assert x.__dlpack_device__() == (1, 0)
