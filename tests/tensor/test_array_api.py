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
        return xp.asarray(np.asarray(value))
    return type(value)(map(strict, value)) if isinstance(value, list | tuple) else value


def ours(value):
    """An array, or whatever holds arrays, as a tensor."""
    if isinstance(value, np.ndarray | np.generic):
        return td.asarray(np.asarray(value))
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
        named = {"dtype": lambda name: (getattr(xp, name), getattr(td, name))}
        own = {key: ours(value) for key, value in options.items()}
        if isinstance(options.get("dtype"), str):
            given["dtype"], own["dtype"] = named["dtype"](options["dtype"])
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
