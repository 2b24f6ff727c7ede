"""Complex numbers by the array API standard, beside array_api_strict."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np
import pytest
from strict import SHAPES, ours, strict

import treadle as td

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
KINDS = ("complex64", "complex128")
UNARY = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "conj", "cos", "cosh", "exp", "expm1",
    "imag", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "negative", "positive",
    "real", "reciprocal", "round", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
)  # fmt: skip
BINARY = ("add", "divide", "equal", "multiply", "not_equal", "pow", "subtract")
CALLS = {
    "sum": [{}, {"axis": 1}, {"axis": (0, 1), "keepdims": True}],
    "prod": [{}, {"axis": 0}, {"keepdims": True}],
    "mean": [{}, {"axis": -1}],
    "cumulative_sum": [{"axis": 0}, {"axis": 1, "include_initial": True}],
    "cumulative_prod": [{"axis": 1}],
    "any": [{}, {"axis": 0}],
    "all": [{}, {"axis": 1}],
    "flip": [{}, {"axis": 0}],
    "roll": [{"shift": 1}, {"shift": (1, -1), "axis": (0, 1)}],
    "tril": [{}, {"k": 1}],
    "triu": [{"k": -1}],
    "matrix_transpose": [{}],
    "expand_dims": [{"axis": 1}],
    "diff": [{"axis": 0}],
    "count_nonzero": [{}],
    "zeros_like": [{}],
    "ones_like": [{}],
    "full_like": [{"fill_value": 2 - 1j}],
    "unique_values": [{}],
    "unique_counts": [{}],
    "unique_inverse": [{}],
    "unique_all": [{}],
}
PAIRS = ("matmul", "tensordot", "vecdot")


def draw(seed, kind, shape):
    """Whole numbers and halves, some of them equal."""
    rng = np.random.default_rng(seed)
    return (rng.integers(-3, 4, shape) / 2 + 1j * rng.integers(-3, 4, shape) / 2).astype(kind)


def check(found, expected, ulps=8):
    """Dtype, shape, and values to so many units of the size."""
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            check(one, other, ulps)
        return
    expected = np.asarray(expected._array)
    assert found.dtype.name == expected.dtype.name
    assert found.shape == expected.shape
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(found.numpy(), expected)
        return
    eps = np.finfo(expected.dtype).eps
    np.testing.assert_allclose(found.numpy(), expected, rtol=ulps * eps, atol=ulps * eps)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNARY)
def test_functions(name, kind):
    for seed, shape in enumerate(SHAPES):
        z = draw(seed, kind, shape) + np.array(0.125 + 0.25j, kind)  # off the branch points
        check(getattr(td, name)(ours(z)), getattr(xp, name)(strict(z)))


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", [*KINDS, "float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name, first, second):
    x = draw(1, first, (3, 4)) + np.array(0.125j, first)
    y = draw(2, "complex128", (4,)) + 1.25
    y = (y if second in KINDS else y.real).astype(second)
    for a, b in ((x, y), (y, x)):
        check(getattr(td, name)(ours(a), ours(b)), getattr(xp, name)(strict(a), strict(b)), 32)
    for number in (2, 0.5, 1j):
        if name not in ("equal", "not_equal"):
            check(getattr(td, name)(ours(x), number), getattr(xp, name)(strict(x), number), 32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_calls(name, kind):
    for options in CALLS[name]:
        z = draw(3, kind, (3, 4))
        check(getattr(td, name)(ours(z), **options), getattr(xp, name)(strict(z), **options))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name, kind):
    shapes = {"vecdot": ((3, 4), (3, 4))}.get(name, ((3, 4), (4, 2)))
    options = {"axes": 1} if name == "tensordot" else {}
    a, b = (draw(k, kind, shape) for k, shape in enumerate(shapes))
    found = getattr(td, name)(ours(a), ours(b), **options)
    check(found, getattr(xp, name)(strict(a), strict(b), **options))


def test_makers():
    for kind in KINDS:
        own, other = getattr(td, kind), getattr(xp, kind)
        check(td.zeros((2, 3), dtype=own), xp.zeros((2, 3), dtype=other))
        check(td.eye(3, dtype=own), xp.eye(3, dtype=other))
        check(td.full((2,), 1 - 2j, dtype=own), xp.full((2,), 1 - 2j, dtype=other))
        check(td.linspace(0, 1 + 2j, 5, dtype=own), xp.linspace(0, 1 + 2j, 5, dtype=other))
        check(td.asarray([1, 2j], dtype=own), xp.asarray([1, 2j], dtype=other))
        check(td.astype(td.ones(2), own), xp.astype(xp.ones(2), other))
        assert td.finfo(own).eps == xp.finfo(other).eps
        assert td.finfo(own).max == xp.finfo(other).max
    assert td.linspace(0, 1j, 3).dtype is td.complex64


@pytest.mark.parametrize("kind", KINDS)
def test_dtypes(kind):
    d, other = getattr(td, kind), getattr(xp, kind)
    for name in ("bool", "int8", "uint64", "float32", "float64", *KINDS):
        mixed = name in ("float32", "float64", *KINDS)
        if mixed:
            wanted = xp.result_type(getattr(xp, name), other)
            assert td.result_type(getattr(td, name), d).name == str(wanted).rpartition(".")[2]
        own, theirs = td.can_cast(d, getattr(td, name)), xp.can_cast(other, getattr(xp, name))
        assert own is theirs
    for kind_name in ("complex floating", "numeric", "real floating", "integral"):
        assert td.isdtype(d, kind_name) is xp.isdtype(other, kind_name)


def test_numbers():
    assert complex(td.asarray(1 - 2j)) == 1 - 2j
    for number in (float, int):
        with pytest.raises(TypeError):
            number(td.asarray(1j))
    with pytest.raises(TypeError):
        td.less(td.asarray(1j), td.asarray(2j))
