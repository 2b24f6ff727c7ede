"""The Python array API standard: creation, manipulation, reductions, searching and products."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np
import pytest
from strict import ALL, FLOATS, MIXED, NUMERIC, SHAPES, SIGNED, Calls, draw, line, ours, strict

import treadle as td

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of NaN and infinity


# ---- creation


def test_creation():
    for shape in (3, (3,), (2, 3), (), (0, 2)):
        for name in ("zeros", "ones", "empty"):
            calls = Calls(name)
            for dtype in ALL:
                if name != "empty":
                    calls.add(shape, dtype=dtype)
                    calls.add(shape=shape, dtype=dtype)
                assert getattr(td, name)(shape, dtype=dtype).dtype.name == dtype
            if name != "empty":
                calls.check()
            default = getattr(td, name)(shape)
            assert default.dtype is td.float32
            assert default.shape == getattr(xp, name)(shape).shape
    calls = Calls("full")
    for dtype in ALL:
        calls.add((2, 3), 1, dtype=dtype) if dtype != "bool" else calls.add((2,), True)
    calls.add((2,), 3)
    calls.check()
    assert td.full((2,), 3.0).dtype is td.float32


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "full_like"])
def test_creation_like(name):
    calls = Calls(name)
    fill = (1,) if name == "full_like" else ()
    for dtype in NUMERIC:
        for shape in SHAPES:
            x = np.ones(shape, dtype)
            calls.add(x, *fill)
            calls.add(x, *fill, dtype="float64")
    if name == "empty_like":
        calls.pairs = [(x.zeros_like(), xp.zeros_like(y), call) for x, y, call in calls.pairs]
    calls.check()


def test_ranges():
    calls = Calls("arange")
    for dtype in (*SIGNED, *FLOATS):
        for bounds in ((5,), (2, 9), (2, 9, 3), (9, 2, -2), (3, 3), (5, 2), (0,)):
            calls.add(*bounds, dtype=dtype)
    for bounds in ((0.5, 4.0, 0.25), (1.0, -2.0, -0.75), (-3.5,)):
        calls.add(*bounds, dtype="float64")
    calls.add(7)
    calls.check()
    assert td.arange(2.0).dtype is td.float32
    calls = Calls("linspace", ulps=2)
    for dtype in FLOATS:
        for start, stop, count in ((0, 1, 5), (-3.5, 2, 8), (1, 1, 3), (2, -2, 1), (0, 1, 0)):
            calls.add(start, stop, count, dtype=dtype)
            calls.add(start, stop, num=count, dtype=dtype, endpoint=False)
    calls.check()
    calls = Calls("eye")
    for dtype in NUMERIC:
        for sizes in ((3,), (2, 4), (4, 2), (0, 3)):
            for k in (0, 1, -2, 7):
                calls.add(*sizes, k=k, dtype=dtype)
    calls.check()


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles(name):
    calls, rng = Calls(name), np.random.default_rng(4)
    for dtype in ALL:
        for shape in ((3, 4), (4, 2), (2, 3, 3), (0, 3)):
            for k in (-2, 0, 1, 9):
                calls.add(draw(rng, dtype, shape), k=k)
    calls.check()


def test_meshgrid_and_broadcasting():
    mesh, arrays, rng = Calls("meshgrid"), Calls("broadcast_arrays"), np.random.default_rng(5)
    to = Calls("broadcast_to")
    for dtype in ALL:
        x, y, z = (draw(rng, dtype, (n,)) for n in (3, 2, 4))
        for vectors in ((x,), (x, y), (x, y, z)):
            mesh.add(*vectors)
            mesh.add(*vectors, indexing="ij")
        arrays.add(draw(rng, dtype, (3, 1)), draw(rng, "int64", (4,)), draw(rng, dtype, ()))
        to.add(draw(rng, dtype, (3, 1)), (2, 3, 4))
        to.add(draw(rng, dtype, ()), shape=(0, 2))
    for calls in (mesh, arrays, to):
        calls.check()
    assert td.broadcast_shapes((3, 1), (4,), ()) == (3, 4)
    assert isinstance(td.meshgrid(td.ones(2)), list)
    assert isinstance(td.unstack(td.ones(2)), tuple)
    assert isinstance(td.nonzero(td.ones(2)), tuple)
    assert isinstance(td.broadcast_arrays(td.ones(2)), list)


def test_conversions():
    calls, rng = Calls("astype"), np.random.default_rng(6)
    x = td.asarray([1.0, 2.0])
    for one in ALL:
        for other in ALL:
            value = strict(draw(rng, one, (5,), 0, 9))
            found = td.astype(ours(np.asarray(value._array)), getattr(td, other))
            calls.pairs.append((found, xp.astype(value, getattr(xp, other)), ((one, other), {})))
    calls.check()
    assert td.astype(x, x.dtype) is not x
    assert td.astype(x, x.dtype, copy=False) is x
    y = td.asarray(x, copy=True)
    y[0] = 7.0
    assert x.tolist() == [1.0, 2.0]
    assert td.asarray(x) is x
    assert td.asarray(x, dtype=td.int8, device=x.device).dtype is td.int8
    assert td.asarray([True, False]).dtype is td.bool
    assert td.asarray([[1, 2]]).dtype is td.int64
    assert td.asarray(3.5).shape == ()
    assert td.asarray([1, 2.5]).dtype is td.float32
    assert td.asarray([2**63 + 1, 0], dtype=td.uint64).tolist() == [2**63 + 1, 0]
    assert td.arange(2**63, 2**63 + 2, dtype=td.uint64).tolist() == [2**63, 2**63 + 1]
    with pytest.raises(ValueError, match="bounds"):
        td.asarray([300], dtype=td.uint8)
    with pytest.raises(ValueError, match="must copy"):
        td.asarray(x, dtype=td.int8, copy=False)


# ---- manipulation

MOVED = {
    "concat": [((((2, 3), (4, 3)),), {}), ((((2, 3), (2, 1)),), {"axis": -1}),
               ((((2, 3), (4,)),), {"axis": None})],
    "expand_dims": [(((2, 3),), {"axis": axis}) for axis in (0, 1, 2, -1, -3)],
    "flip": [(((2, 3),), {}), (((2, 3),), {"axis": 1}), (((2, 3),), {"axis": (0, -1)})],
    "moveaxis": [(((2, 3, 4), 0, -1), {}), (((2, 3, 4), (0, 1), (2, 0)), {})],
    "permute_dims": [(((2, 3, 4), (2, 0, 1)), {}), (((2, 3),), {"axes": (1, 0)}), (((), ()), {})],
    "repeat": [(((2, 3), 2), {}), (((2, 3), 2), {"axis": 1}), (((3,), 0), {"axis": 0})],
    "reshape": [(((2, 6), (3, -1)), {}), (((2, 3), (6,)), {"copy": True}), (((0, 3), (3, 0)), {}),
                (((1,), ()), {}), (((2, 3),), {"shape": (3, 2), "copy": None})],
    "roll": [(((2, 3), 1), {}), (((2, 3), -4), {"axis": 1}), (((2, 3), (1, 2)), {"axis": (0, 1)})],
    "squeeze": [(((1, 3, 1), 0), {}), (((1, 3, 1),), {"axis": (0, -1)})],
    "stack": [((((2, 3), (2, 3)),), {}), ((((2,), (2,)),), {"axis": -1})],
    "tile": [(((2, 3), (2, 2)), {}), (((3,), (2, 1, 3)), {}), (((2, 3), (2,)), {})],
    "unstack": [(((2, 3),), {}), (((2, 3),), {"axis": -1})],
    "matrix_transpose": [(((2, 3),), {}), (((2, 3, 4),), {})],
}  # fmt: skip
"""Calls by name: shapes stand for arrays in the first place."""


@pytest.mark.parametrize("name", sorted(MOVED))
def test_manipulation(name):
    calls, rng = Calls(name), np.random.default_rng(7)
    for dtype in ALL:
        for (first, *rest), options in MOVED[name]:
            several = name in ("concat", "stack")
            shapes = first if several else (first,)
            arrays = [draw(rng, dtype, shape) for shape in shapes]
            calls.add(arrays if several else arrays[0], *rest, **options)
    if name in ("concat", "stack"):
        for one, other in MIXED:
            calls.add([draw(rng, one, (2,)), draw(rng, other, (2,))])
    if name == "repeat":
        calls.add(draw(rng, "int8", (3, 2)), np.array([1, 0, 3]), axis=0)
        calls.add(draw(rng, "int8", (3,)), np.array([1, 0, 3]))
    calls.check()


# ---- reductions


AXES = (
    ((), None), ((5,), None), ((3, 4), None), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), (0, 2)),
    ((2, 3, 4), (-1, 1)), ((1,), 0), ((3, 4), ()),
)  # fmt: skip
EMPTY = (((0,), None), ((2, 0, 3), 1), ((2, 0, 3), 0), ((0, 3), (0, 1)))
REDUCED = {
    **dict.fromkeys(("sum", "prod"), NUMERIC), **dict.fromkeys(("max", "min"), NUMERIC),
    **dict.fromkeys(("mean", "std", "var"), FLOATS), **dict.fromkeys(("any", "all"), ALL),
    "count_nonzero": ALL,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REDUCED))
def test_reductions(name):
    calls, rng = Calls(name, ulps=64), np.random.default_rng(8)
    cases = AXES if name in ("max", "min") else (*AXES, *EMPTY)
    for dtype in REDUCED[name]:
        for shape, axis in cases:
            x = draw(rng, dtype, shape, -2, 3)
            calls.add(x, axis=axis)
            calls.add(x, axis=axis, keepdims=True)
        if name in ("sum", "prod"):
            for wanted in ("float64", "int64", "uint8", "float32"):
                if wanted in FLOATS or dtype not in FLOATS:
                    calls.add(draw(rng, dtype, (3, 4), 0, 3), dtype=wanted, axis=1)
        if name in ("std", "var"):
            for correction in (1, 0.5, 2.0):
                calls.add(draw(rng, dtype, (4, 5)), axis=1, correction=correction, keepdims=True)
        if dtype in FLOATS:
            calls.add(np.array([[1, np.nan, 3], [np.inf, 1, 2], [-np.inf, -1, 0]], dtype), axis=1)
    calls.check()


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_running_totals(name):
    calls, rng = Calls(name, ulps=64), np.random.default_rng(9)
    for dtype in NUMERIC:
        for shape, axis in (((5,), None), ((3, 4), 0), ((3, 4), -1), ((2, 0, 3), 1)):
            x = draw(rng, dtype, shape, 0, 3)
            calls.add(x, axis=axis)
            calls.add(x, axis=axis, include_initial=True)
        calls.add(draw(rng, dtype, (4,), 0, 3), dtype="float64")
    calls.check()


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_extremes(name):
    calls, rng = Calls(name), np.random.default_rng(10)
    for dtype in NUMERIC:
        for shape, axis in ((s, a) for s, a in AXES if not isinstance(a, tuple)):
            x = draw(rng, dtype, shape, 0, 2)
            calls.add(x, axis=axis)
            calls.add(x, axis=axis, keepdims=True)
        if dtype in FLOATS:
            calls.add(np.array([[1, np.nan, 3], [np.inf, 1, np.nan]], dtype), axis=1)
    calls.check()


def test_differences():
    calls, rng = Calls("diff"), np.random.default_rng(11)
    for dtype in NUMERIC:
        x, y = draw(rng, dtype, (3, 5)), draw(rng, dtype, (3, 2))
        for options in ({}, {"n": 2}, {"n": 0}, {"axis": 0}, {"prepend": y}, {"append": y, "n": 3}):
            calls.add(x, **options)
    calls.check()


# ---- searching, sorting, sets


def test_searching():
    rng = np.random.default_rng(12)
    found, places = Calls("nonzero"), Calls("searchsorted")
    take, along = Calls("take"), Calls("take_along_axis")
    for dtype in ALL:
        for shape in ((5,), (3, 4), (0, 2), (2, 3, 2)):
            found.add(draw(rng, dtype, shape, 0, 2))
        x = draw(rng, dtype, (3, 4))
        take.add(x, np.array([2, 0, 2]), axis=0)
        take.add(x, np.array([3, 1], "uint8"), axis=-1)
        take.add(x[0], np.array([], "int64"))
        along.add(x, rng.integers(-4, 4, (3, 2)))
        along.add(x, rng.integers(0, 3, (2, 4)), axis=0)
        if dtype != "bool":
            table, values = draw(rng, dtype, (9,)), draw(rng, dtype, (2, 3))
            for side in ("left", "right"):
                places.add(np.sort(table), values, side=side)
                places.add(table, values, side=side, sorter=np.argsort(table))
    for calls in (found, places, take, along):
        calls.check()


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_sorting(name):
    calls, rng = Calls(name), np.random.default_rng(13)
    for dtype in NUMERIC:
        for shape, axis in (((7,), -1), ((3, 40), 1), ((30, 3), 0), ((0,), 0), ((2, 0), 1)):
            x = draw(rng, dtype, shape, 0, 5)
            for options in ({}, {"descending": True}, {"stable": True}):
                calls.add(x, axis=axis, **options)
        x = np.unique(line(dtype))
        x = x[~np.isnan(x)] if dtype in FLOATS else x
        calls.add(rng.permutation(x))
        calls.add(rng.permutation(x), descending=True)
    calls.check()


def test_sets():
    rng = np.random.default_rng(14)
    for name in ("unique_values", "unique_counts", "unique_inverse", "unique_all"):
        calls = Calls(name)
        for dtype in ALL:
            for shape in ((), (9,), (3, 4), (0,)):
                calls.add(draw(rng, dtype, shape, 0, 3))
        for dtype in FLOATS:  # every NaN is a value of its own
            calls.add(np.array([1, np.nan, 1, np.nan, np.inf], dtype))
        calls.check()
        one, other = (getattr(m, name)(m.ones(2)) for m in (td, xp))
        assert getattr(one, "_fields", None) == getattr(other, "_fields", None)


def test_membership():
    rng = np.random.default_rng(15)
    for one, other in dict.fromkeys(MIXED):
        for shape in ((3, 4), (0,), ()):
            x, y = draw(rng, one, (3, 5)), draw(rng, other, shape)
            for invert in (False, True):
                found = td.isin(ours(x), ours(y), invert=invert)
                np.testing.assert_array_equal(found.numpy(), np.isin(x, y, invert=invert))


# ---- linear algebra


def summable(*operands):
    """Integers of 8 and 16 bits as what their products add up in here."""
    widest = max(x.itemsize for x in operands)
    narrow = widest < 4 and all(x.dtype.kind in "iu" for x in operands)
    return [x.astype(f"int{widest * 32}") for x in operands] if narrow else operands


def test_products():
    names = ("matmul", "tensordot", "vecdot")
    matmul, dot, vecdot = (Calls(name, given=summable) for name in names)
    rng = np.random.default_rng(16)
    for one, other in dict.fromkeys(MIXED):
        if "bool" in (one, other):
            continue
        for first, second in (
            ((3, 4), (4, 2)),
            ((4,), (4,)),
            ((2, 3, 4), (4,)),
            ((4,), (5, 4, 2)),
            ((2, 1, 3, 4), (5, 4, 2)),
            ((0, 3), (3, 2)),
            ((2, 0), (0, 3)),
        ):
            matmul.add(draw(rng, one, first), draw(rng, other, second))
        for first, second, axes in (
            ((2, 3, 4), (3, 4, 5), 2),
            ((2,), (3,), 0),
            ((3, 4), (4,), 1),
            ((2, 3, 4), (4, 5, 2), ((0, 2), (2, 0))),
        ):
            dot.add(draw(rng, one, first), draw(rng, other, second), axes=axes)
        for first, second, axis in (
            ((3, 4), (3, 4), -1),
            ((3, 4), (4,), -1),
            ((3, 4), (3, 4), -2),
            ((0,), (0,), -1),
            ((2, 1, 4), (3, 4), -1),
        ):
            vecdot.add(draw(rng, one, first), draw(rng, other, second), axis=axis)
    for calls in (matmul, dot, vecdot):
        calls.check()
    x, y = td.ones((2, 3)), td.ones((3, 3))
    x @= y
    assert x.tolist() == [[3.0] * 3] * 2
