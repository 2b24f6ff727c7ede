"""The Python array API standard: names, signatures, dtypes and values beside array_api_strict."""

from __future__ import annotations

import inspect
import operator
from inspect import Parameter

import array_api_strict as xp
import numpy as np
import pytest

import treadle as td

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
INTEGERS, FLOATS = (*SIGNED, *UNSIGNED), ("float32", "float64")
NUMERIC, ALL = (*INTEGERS, *FLOATS), ("bool", *INTEGERS, *FLOATS)
SHAPES = ((), (1,), (7,), (3, 4), (0,), (2, 0, 3), (2, 1, 5))

COMPLEX = {"complex64", "complex128", "conj", "imag", "real"}
EXTENSIONS = {"fft", "linalg"}
OF_STRICT_ONLY = {name for name in xp.__all__ if "flags" in name.lower()}

SPECIAL = (
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1.5, -2.5, 3.0, -3.0, 3.75,
    -7.25, 1e-30, -1e-30, 1e30, -1e30, 88.0, -104.0,
)  # fmt: skip
"""Every kind of number that the standard's tables of special cases tell apart."""


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


# ---- both sides of a comparison


def draw(rng, dtype, shape, low=-9, high=9):
    """Random elements that are exact in every dtype: few of them twice, both ends of integers."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in UNSIGNED:
        low = max(low, 0)
    return rng.integers(low, high + 1, shape).astype(dtype)


def strict(value):
    """An array, or whatever holds arrays, as array_api_strict has it."""
    if isinstance(value, np.ndarray | np.generic):
        return xp.asarray(np.array(value))  # its own: operators in place write there
    return type(value)(map(strict, value)) if isinstance(value, list | tuple) else value


def ours(value):
    """An array, or whatever holds arrays, as a tensor."""
    if isinstance(value, np.ndarray | np.generic):
        return td.asarray(np.array(value))
    return type(value)(map(ours, value)) if isinstance(value, list | tuple) else value


def agree(found, expected, ulps=8):
    """The same dtype, shape and values, NaN and the sign of zero included."""
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            agree(one, other, ulps)
        return
    if not hasattr(expected, "dtype"):
        assert found == expected and type(found) is type(expected)
        return
    expected = np.asarray(expected._array)
    assert found.dtype.name == expected.dtype.name
    assert found.shape == expected.shape
    values = found.numpy()
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(values, expected)
        return
    np.testing.assert_allclose(values, expected, rtol=ulps * np.finfo(expected.dtype).eps, atol=0)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(values[zero]), np.signbit(expected[zero]))


class Calls:
    """Calls of one function on both sides; ours are computed together, so compiled once."""

    def __init__(self, name, ulps=8):
        self.name, self.ulps, self.pairs = name, ulps, []

    def add(self, *operands, **options):
        given = {key: strict(value) for key, value in options.items()}
        own = {key: ours(value) for key, value in options.items()}
        if "dtype" in options:
            given["dtype"] = getattr(xp, options["dtype"])
            own["dtype"] = getattr(td, options["dtype"])
        expected = getattr(xp, self.name)(*map(strict, operands), **given)
        found = getattr(td, self.name)(*map(ours, operands), **own)
        self.pairs.append((found, expected, (operands, options)))

    def check(self):
        td.realize(*(x for found, _, _ in self.pairs for x in _tensors(found)))
        wrong = []
        for found, expected, call in self.pairs:
            try:
                agree(found, expected, self.ulps)
            except AssertionError as error:
                wrong.append(f"{self.name}{_shown(call)}: {error}")
        assert self.pairs
        assert not wrong, "\n\n".join(wrong[:6]) + f"\n{len(wrong)} of {len(self.pairs)}"


def _shown(value):
    """Arrays by dtype and shape."""
    if isinstance(value, list | tuple):
        return tuple(map(_shown, value))
    small = not isinstance(value, np.ndarray) or value.size < 9
    return value if small else f"{value.dtype}{value.shape}"


def _tensors(found):
    if isinstance(found, list | tuple):
        return [x for part in found for x in _tensors(part)]
    return [found] if isinstance(found, td.Tensor) else []


# ---- names and signatures


def test_every_name_of_the_standard_is_there():
    missing = {name for name in xp.__all__ if not hasattr(td, name)}
    assert missing == COMPLEX | EXTENSIONS | OF_STRICT_ONLY


FUNCTIONS = [
    name for name in xp.__all__
    if inspect.isfunction(getattr(xp, name)) and name not in COMPLEX | OF_STRICT_ONLY
]  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures(name):
    """More parameters are allowed, and positional ones may have names."""
    wanted = list(inspect.signature(getattr(xp, name)).parameters.values())
    own = inspect.signature(getattr(td, name)).parameters
    in_order = list(own.values())
    for position, one in enumerate(wanted):
        if one.kind is Parameter.KEYWORD_ONLY:
            assert own[one.name].kind in (one.kind, Parameter.POSITIONAL_OR_KEYWORD)
            if one.default in (None, True, False) or isinstance(one.default, int | float | str):
                assert own[one.name].default == one.default
        elif one.kind is Parameter.POSITIONAL_ONLY:
            assert in_order[position].kind in (one.kind, Parameter.POSITIONAL_OR_KEYWORD)
        else:
            assert in_order[position].kind is one.kind
            if one.kind is Parameter.POSITIONAL_OR_KEYWORD:
                assert in_order[position].name == one.name


def test_a_tensor_has_every_method():
    wanted = {name for name in dir(type(xp.ones(1))) if not name.startswith("_") or "__" in name}
    in_place = {name for name in wanted if name.startswith("__i") and name[3:] != "nvert__"}
    bound = {f"__i{name}__" for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
        "lshift", "rshift",
    )}  # fmt: skip
    missing = wanted - set(dir(td.Tensor))
    assert missing <= (in_place & bound) | {"__buffer__"}  # x += y binds x to x + y


# ---- elementwise functions

UNARY = {
    **dict.fromkeys("abs ceil floor negative positive round sign square trunc".split(), NUMERIC),
    **dict.fromkeys("isfinite isinf isnan".split(), NUMERIC),
    **dict.fromkeys(
        "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 reciprocal "
        "signbit sin sinh sqrt tan tanh".split(), FLOATS
    ),
    "bitwise_invert": ("bool", *INTEGERS), "logical_not": ("bool",),
}  # fmt: skip
BINARY = {
    **dict.fromkeys("add multiply subtract floor_divide remainder pow".split(), NUMERIC),
    **dict.fromkeys("maximum minimum less less_equal greater greater_equal".split(), NUMERIC),
    **dict.fromkeys("equal not_equal".split(), ALL),
    **dict.fromkeys("atan2 copysign divide hypot logaddexp nextafter".split(), FLOATS),
    **dict.fromkeys("logical_and logical_or logical_xor".split(), ("bool",)),
    **dict.fromkeys("bitwise_and bitwise_or bitwise_xor".split(), ("bool", *INTEGERS)),
    **dict.fromkeys("bitwise_left_shift bitwise_right_shift".split(), INTEGERS),
}  # fmt: skip


def line(dtype):
    """Special numbers, or both ends of an integer type and what lies around 0."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        return np.array(SPECIAL, dtype)
    info = np.iinfo(dtype)
    around = range(max(info.min, -5), 6)
    return np.array([info.min, info.min + 1, *around, 63, info.max - 1, info.max], dtype)


@pytest.mark.parametrize("name", sorted(UNARY))
def test_elementwise_functions_of_one(name):
    calls, rng = Calls(name), np.random.default_rng(1)
    for dtype in UNARY[name]:
        calls.add(line(dtype))
        for shape in SHAPES:
            calls.add(draw(rng, dtype, shape))
    calls.check()


def defined(name, x, y, dtype):
    """Operands for which the standard says what an integer function gives."""
    if dtype not in INTEGERS:
        return y
    if name in ("floor_divide", "remainder"):
        least = np.iinfo(dtype).min
        return np.where((y == 0) | ((x == least) & (y + 1 == 0)), np.array(3, dtype), y)
    if name == "pow" or "shift" in name:
        return np.where(y < 0, np.array(2, dtype), y)
    return y


@pytest.mark.parametrize("name", sorted(BINARY))
def test_elementwise_functions_of_two(name):
    calls, rng = Calls(name), np.random.default_rng(2)
    for dtype in BINARY[name]:
        x, y = (each.reshape(-1) for each in np.meshgrid(line(dtype), line(dtype)))
        calls.add(x, defined(name, x, y, dtype))
        for first, second in (((3, 1), (4,)), ((), (5,)), ((0, 3), (1,)), ((2, 3), (2, 3))):
            x, y = draw(rng, dtype, first), draw(rng, dtype, second)
            wide = np.broadcast_arrays(x, y)
            calls.add(wide[0], defined(name, *wide, dtype)) if name == "pow" else None
            calls.add(x, np.abs(y) + 1 if dtype in INTEGERS else y)
    calls.check()


MIXED = [
    (one, other) for group in (("bool",), SIGNED, UNSIGNED, FLOATS, (*SIGNED, *UNSIGNED[:3]))
    for one in group for other in group
]  # fmt: skip
"""Pairs of dtypes that the standard promotes."""

OPERATORS = {
    "__add__": NUMERIC, "__sub__": NUMERIC, "__mul__": NUMERIC, "__truediv__": FLOATS,
    "__floordiv__": NUMERIC, "__mod__": NUMERIC, "__pow__": NUMERIC, "__eq__": ALL, "__ne__": ALL,
    "__lt__": NUMERIC, "__le__": NUMERIC, "__gt__": NUMERIC, "__ge__": NUMERIC,
    "__and__": ("bool", *INTEGERS), "__or__": ("bool", *INTEGERS), "__xor__": ("bool", *INTEGERS),
    "__lshift__": INTEGERS, "__rshift__": INTEGERS,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BINARY))
def test_promotion(name):
    calls = Calls(name)
    for one, other in dict.fromkeys(MIXED):
        if {one, other} <= set(BINARY[name]):
            calls.add(np.array([1, 0, 1, 1], one), np.array([1, 1, 1, 1], other))
    calls.check()


def test_result_type_and_can_cast():
    for one, other in MIXED:
        wanted = xp.result_type(getattr(xp, one), getattr(xp, other))
        found = td.result_type(getattr(td, one), getattr(td, other))
        assert found.name == str(wanted).rpartition(".")[2]
        x = td.ones(2, dtype=one)
        assert td.result_type(x, getattr(td, other)) is found
        wanted = xp.can_cast(getattr(xp, one), getattr(xp, other))
        assert td.can_cast(getattr(td, one), getattr(td, other)) == wanted
        assert td.can_cast(x, getattr(td, other)) == wanted


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_operators(name):
    """Between two arrays, beside a Python number on either side, and in place."""
    plain = getattr(operator, name)
    in_place = getattr(operator, name.replace("__", "__i", 1), None)
    pairs = []
    for dtype in OPERATORS[name]:
        numbers = {"bool": (True, False), "float32": (1, 0.5), "float64": (1, 0.5)}
        for number in numbers.get(dtype, (1, 3)):
            x = np.array([1, 2, 3, 0], dtype) if name[2:5] not in ("flo", "mod") else np.array(
                [1, 2, 3, 5], dtype)  # fmt: skip
            other = np.array([1, 1, 2, 2], dtype)
            for function in (f for f in (plain, in_place) if f is not None):
                pairs.append((function(ours(x), number), function(strict(x), number)))
                pairs.append((function(ours(x), ours(other)), function(strict(x), strict(other))))
            pairs.append((plain(number, ours(other)), plain(number, strict(other))))
    td.realize(*(found for found, _ in pairs))
    for found, expected in pairs:
        agree(found, expected)


def test_operators_of_one():
    for dtype in ALL:
        x = line(dtype)
        if dtype != "bool":
            for function in (operator.neg, operator.pos, operator.abs):
                agree(function(ours(x)), function(strict(x)))
        if dtype not in FLOATS:
            agree(~ours(x), ~strict(x))


def test_where_and_clip():
    calls, clip, rng = Calls("where"), Calls("clip"), np.random.default_rng(3)
    for one, other in dict.fromkeys(MIXED):
        x, y = draw(rng, one, (3, 1)), draw(rng, other, (4,))
        calls.add(draw(rng, "bool", (4,)), x, y)
    for dtype in NUMERIC:
        x = draw(rng, dtype, (3, 4))
        calls.add(draw(rng, "bool", (3, 1)), x, 2)
        calls.add(draw(rng, "bool", ()), 3, x)
        for low, high in ((1, None), (None, 3), (2, 5), (None, None)):
            clip.add(x, low, high)
            clip.add(x, min=low, max=high)
        clip.add(x, draw(rng, dtype, (4,), 1, 3), draw(rng, dtype, (3, 1), 3, 5))
    for dtype in FLOATS:
        clip.add(line(dtype), -1.5, 2.0)
    calls.check()
    clip.check()


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
                    calls.add(np.abs(x := draw(rng, dtype, (3, 4), 0, 3)), dtype=wanted, axis=1)
        if name in ("std", "var"):
            for correction in (1, 0.5, 2.0):
                calls.add(draw(rng, dtype, (4, 5)), axis=1, correction=correction, keepdims=True)
        if dtype in FLOATS:
            calls.add(np.array([[1, np.nan, 3], [np.inf, 1, 2], [-np.inf, 0, -0.0]], dtype), axis=1)
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


def test_products():
    matmul, dot, vecdot = Calls("matmul"), Calls("tensordot"), Calls("vecdot")
    rng = np.random.default_rng(16)
    for one, other in dict.fromkeys(MIXED):
        if "bool" in (one, other):
            continue
        for first, second in (((3, 4), (4, 2)), ((4,), (4,)), ((2, 3, 4), (4,)), ((4,), (5, 4, 2)),
                              ((2, 1, 3, 4), (5, 4, 2)), ((0, 3), (3, 2)), ((2, 0), (0, 3))):
            matmul.add(draw(rng, one, first), draw(rng, other, second))
        for first, second, axes in (((2, 3, 4), (3, 4, 5), 2), ((2,), (3,), 0), ((3, 4), (4,), 1),
                                    ((2, 3, 4), (4, 5, 2), ((0, 2), (2, 0)))):
            dot.add(draw(rng, one, first), draw(rng, other, second), axes=axes)
        for first, second, axis in (((3, 4), (3, 4), -1), ((3, 4), (4,), -1), ((3, 4), (3, 4), -2),
                                    ((0,), (0,), -1), ((2, 1, 4), (3, 4), -1)):
            vecdot.add(draw(rng, one, first), draw(rng, other, second), axis=axis)
    for calls in (matmul, dot, vecdot):
        calls.check()
    x, y = td.ones((2, 3)), td.ones((3, 3))
    x @= y
    assert x.tolist() == [[3.0] * 3] * 2
