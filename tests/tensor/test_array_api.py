"""The Python array API standard: names, signatures, operators and elementwise functions."""

from __future__ import annotations

import inspect
import operator
from inspect import Parameter

import array_api_strict as xp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace
from strict import (
    ALL,
    FLOATS,
    INTEGERS,
    MIXED,
    NUMERIC,
    SHAPES,
    Calls,
    agree,
    draw,
    line,
    ours,
    strict,
)  # fmt: skip

import treadle as td

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of NaN and infinity

EXTENSIONS = {"fft", "linalg"}
OF_STRICT_ONLY = {name for name in xp.__all__ if "flags" in name.lower()}


# ---- names and signatures


def test_every_name_of_the_standard_is_there():
    missing = {name for name in xp.__all__ if not hasattr(td, name)}
    assert missing <= EXTENSIONS | OF_STRICT_ONLY


FUNCTIONS = [
    name for name in xp.__all__
    if inspect.isfunction(getattr(xp, name)) and name not in OF_STRICT_ONLY
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


def each(names, dtypes):
    """The same dtypes for several functions."""
    return dict.fromkeys(names.split(), dtypes)


UNARY = (
    each("abs ceil floor negative positive round sign square trunc", NUMERIC)
    | each("isfinite isinf isnan", NUMERIC)
    | each("acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2", FLOATS)
    | each("reciprocal signbit sin sinh sqrt tan tanh", FLOATS)
    | each("bitwise_invert", ("bool", *INTEGERS))
    | each("logical_not", ("bool",))
)
BINARY = (
    each("add multiply subtract floor_divide remainder pow maximum minimum", NUMERIC)
    | each("less less_equal greater greater_equal", NUMERIC)
    | each("equal not_equal", ALL)
    | each("atan2 copysign divide hypot logaddexp nextafter", FLOATS)
    | each("logical_and logical_or logical_xor", ("bool",))
    | each("bitwise_and bitwise_or bitwise_xor", ("bool", *INTEGERS))
    | each("bitwise_left_shift bitwise_right_shift", INTEGERS)
)


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
        for number in {"bool": (True,), "float32": (0.5, 2), "float64": (0.5, 2)}.get(dtype, (3,)):
            x = draw(rng, dtype, (3, 4), 1, 5)
            calls.add(x, number)
            calls.add(number, x)
    calls.check()


ARRAYS = make_strategies_namespace(td, api_version="2024.12")


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_elementwise_functions_of_anything(data):
    """Arrays as hypothesis makes them for any library that follows the standard."""
    name = data.draw(st.sampled_from(sorted(UNARY | BINARY)))
    dtype = data.draw(st.sampled_from((UNARY | BINARY)[name]))
    shape = data.draw(ARRAYS.array_shapes(min_dims=0, min_side=0, max_dims=2, max_side=5))
    some = ARRAYS.arrays(getattr(td, dtype), shape)
    operands = [data.draw(some).numpy() for _ in range(1 + (name in BINARY))]
    if name in BINARY:
        operands[1] = defined(name, *operands, dtype)
    calls = Calls(name)
    calls.add(*operands)
    calls.check()


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
