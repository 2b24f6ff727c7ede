"""Shape, index and set rows where their samples do not reach: values that decide sizes, ties."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, DtypeError, OperandError, ShapeError
from treadle.ops import contract as c
from treadle.ops import joining as j
from treadle.ops import movement as m
from treadle.ops import picking as p
from treadle.ops import sets as s
from treadle.ops import shaping as h
from treadle.ops import totals as t
from treadle.ops.reduce import sum_
from treadle.testing.gradcheck import gradcheck

X = td.tensor(np.arange(6.0).reshape(2, 3))
V = td.tensor([1.0, 2.0, 3.0])
INDEX = td.tensor([0, 2])


# ---- sizes that depend on values


@pytest.mark.parametrize(
    "array", [np.zeros((3, 4)), np.ones((3, 4)), np.zeros((0, 4)), np.eye(4)[::-1]],
    ids=["none", "all", "empty", "some"],
)  # fmt: skip
def test_nonzero_finds_none_some_and_all(array):
    found = p.nonzero(td.tensor(array))
    for own, expected in zip(found, np.nonzero(array), strict=True):
        np.testing.assert_array_equal(own.numpy(), expected)
    np.testing.assert_array_equal(p.argwhere(td.tensor(array)).numpy(), np.argwhere(array))


def test_nonzero_of_a_pending_value_reads_what_it_will_be():
    x = np.random.default_rng(0).normal(size=(40, 50))
    (rows, columns) = p.nonzero(td.tensor(x) * 2.0 > 1.0)
    expected = np.nonzero(x * 2.0 > 1.0)
    np.testing.assert_array_equal(rows.numpy(), expected[0])
    np.testing.assert_array_equal(columns.numpy(), expected[1])


@pytest.mark.parametrize("counts", [[2, 0, 3], [0, 0, 0], [0, 4, 0], [1]])
def test_repeat_takes_its_counts_from_a_tensor(counts):
    found = j.repeat(V, td.tensor(counts) * 1)
    np.testing.assert_array_equal(found.numpy(), np.repeat(V.numpy(), counts))


@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_repeats_alone_repeat_their_places(kind):
    counts = td.tensor([2, 0, 3], dtype=kind)
    for found in (td.repeat_interleave(counts), td.repeat_interleave(repeats=counts)):
        assert (found.tolist(), found.dtype) == ([0, 0, 2, 2, 2], kind)
    assert td.repeat_interleave(td.zeros(0, dtype=kind)).shape == (0,)
    with pytest.raises(TypeError, match="missing repeats"):
        td.repeat_interleave(counts.reshape(3, 1))


def test_one_hot_counts_its_classes():
    assert p.one_hot(td.tensor([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert p.one_hot(td.tensor(np.zeros(0, np.int64))).shape == (0, 0)


def test_each_nan_is_a_value_of_its_own():
    values, counts = s.unique_counts(td.tensor([np.nan, 1.0, np.nan, 1.0]))
    np.testing.assert_array_equal(values.numpy(), np.array([1.0, np.nan, np.nan], np.float32))
    assert counts.tolist() == [2, 1, 1]


def test_first_places_and_members_of_values_belong_together():
    x = np.random.default_rng(0).integers(0, 9, (20, 30))
    values, firsts, members, counts = (y.numpy() for y in s.unique_all(td.tensor(x)))
    np.testing.assert_array_equal(values[members], x)
    np.testing.assert_array_equal(x.reshape(-1)[firsts], values)
    assert counts.sum() == x.size


# ---- gradients where something is zero or equal


@pytest.mark.parametrize("zeros", [0, 1, 2, 5])
def test_gradient_of_a_product_is_right_with_zeros(zeros):
    x = np.linspace(0.5, 1.5, 10).reshape(2, 5)
    x[:, :zeros] = 0.0
    gradcheck(lambda x: t.prod_(x, axis=1), [x])
    gradcheck(lambda x: t.prod_(x), [x])


def test_second_derivative_of_a_product_with_a_zero():
    x = td.tensor(np.array([2.0, 0.0, 3.0]))
    (first,) = td.gradients(t.prod_(x), [x])
    (second,) = td.gradients(first[0], [x])
    assert first.tolist() == [0.0, 6.0, 0.0]
    assert second.tolist() == [0.0, 3.0, 0.0]


@pytest.mark.parametrize("zeros", [(), (0,), (0, 1), (0, 3)])
def test_gradient_of_factors_that_meet_is_right_with_zeros(zeros):
    base, values = np.array([1.5, -2.0, 0.0]), np.array([0.5, 2.0, -1.0, 3.0])
    values[list(zeros)] = 0.0
    index = td.tensor([0, 0, 1, 2])
    gradcheck(lambda b, v: c.scatter_mul(b, index, v, axis=0), [base, values])


def test_equal_largest_values_share_a_gradient():
    base, values = td.tensor([1.0, 0.0]), td.tensor([1.0, 1.0])
    result = c.scatter_max(base, td.tensor([0, 0]), values, axis=0)
    own, theirs = td.gradients(result.sum(), [base, values])
    np.testing.assert_allclose(own.numpy(), [1 / 3, 1.0], rtol=1e-6)
    np.testing.assert_allclose(theirs.numpy(), [1 / 3, 1 / 3], rtol=1e-6)


def test_of_values_for_one_place_the_last_has_the_gradient():
    base, values = td.tensor([1.0, 2.0, 3.0]), td.tensor([4.0, 5.0, 6.0])
    result = c.scatter(base, td.tensor([1, 1, 0]), values, axis=0)
    own, theirs = td.gradients(result.sum(), [base, values])
    assert result.tolist() == [6.0, 5.0, 3.0]
    assert own.tolist() == [0.0, 0.0, 1.0]
    assert theirs.tolist() == [0.0, 1.0, 1.0]


def test_norm_of_nothing_but_zeros_has_no_slope():
    x = td.zeros(3)
    assert td.gradients(t.norm(x), [x])[0].tolist() == [0.0, 0.0, 0.0]


# ---- options


@pytest.mark.parametrize("op", [sum_, t.prod_])
def test_total_in_a_dtype_has_that_dtype(op):
    x = td.tensor(np.full(5, 100, np.uint8))
    assert op(x, dtype="uint8").dtype == "uint8"
    assert op(x, dtype="uint8").item() == (500 if op is sum_ else 100**5) % 256
    assert op(x, dtype="float64").item() == (500.0 if op is sum_ else 1e10)
    assert op(x, 0, True, "int32").shape == (1,)


def test_long_products_are_cut_into_parts():
    x = np.random.default_rng(0).uniform(0.99, 1.01, 50_000)
    np.testing.assert_allclose(t.prod_(td.tensor(x)).item(), np.prod(x), rtol=1e-10)


def test_concat_of_no_axis_joins_all_elements():
    assert m.concat([X, V], axis=None).tolist() == [0, 1, 2, 3, 4, 5, 1, 2, 3]


def test_scatter_takes_one_number_for_all():
    assert c.scatter(V, INDEX, 9, axis=0).tolist() == [9.0, 2.0, 9.0]


def test_expand_keeps_an_axis_named_minus_one():
    assert m.expand(V.reshape(1, 3), 4, -1).shape == (4, 3)


def test_tensors_may_be_passed_one_by_one():
    a, b = h.broadcast_arrays(V, V.reshape(3, 1))
    assert a.shape == b.shape == (3, 3)
    assert [g.shape for g in h.meshgrid(V, INDEX, indexing="ij")] == [(3, 2), (3, 2)]


ERRORS = {
    "flatten": (lambda: h.flatten(X, 1, 0), ShapeError, "start comes after"),
    "unflatten": (lambda: h.unflatten(X, 1, (2, 2)), ShapeError, "3 elements before"),
    "squeeze": (lambda: h.squeeze(X, 0), ShapeError, "size 1"),
    "unsqueeze": (lambda: h.unsqueeze(X, 4), ShapeError, "axis=4"),
    "transpose": (lambda: h.transpose(X, 0, 2), ShapeError, "axis=2"),
    "matrix_transpose": (lambda: h.matrix_transpose(V), ShapeError, "two axes"),
    "movedim": (lambda: h.movedim(X, (0, 1), 0), ShapeError, "as many destinations"),
    "movedim-twice": (lambda: h.movedim(X, (0, 0), (0, 1)), ShapeError, "none twice"),
    "tile": (lambda: h.tile(X, -1), ArgumentError, "negative"),
    "roll": (lambda: h.roll(X, (1, 2), 0), ArgumentError, "one integer for each axis"),
    "rot90": (lambda: h.rot90(X, 1, (0,)), ShapeError, "two axes"),
    "as_strided": (lambda: h.as_strided(V, (2,), (3,)), ShapeError, "0 to 3"),
    "as_strided-axes": (lambda: h.as_strided(V, (2,), (1, 1)), ShapeError, "one stride"),
    "tril": (lambda: h.tril(V), ShapeError, "two axes"),
    "diag": (lambda: h.diag(X.reshape(1, 2, 3)), ShapeError, "one or two"),
    "diagonal": (lambda: h.diagonal(X, 0, 1, 1), ShapeError, "two axes"),
    "meshgrid": (lambda: h.meshgrid(V, indexing="yx"), ArgumentError, "'xy' or 'ij'"),
    "broadcast": (lambda: h.broadcast_arrays(V, INDEX), ShapeError, "cannot broadcast"),
    "not-tensors": (lambda: h.broadcast_arrays(1, 2), OperandError, "not a tensor"),
    "stack": (lambda: j.stack([X, V]), ShapeError, "shapes differ"),
    "stack-none": (lambda: j.stack([]), ArgumentError, "at least one"),
    "split": (lambda: j.split(V, 0), ArgumentError, "at least one"),
    "split-sizes": (lambda: j.split(V, (1, 1)), ArgumentError, "add up"),
    "chunk": (lambda: j.chunk(V, 0), ArgumentError, "at least one"),
    "repeat": (lambda: j.repeat(V, (1, 2)), ArgumentError, "one number for each"),
    "repeat-tensor": (lambda: j.repeat(V, INDEX), ShapeError, "one number for each"),
    "repeat-floats": (lambda: td.repeat(V, V), DtypeError, "repeats are integers"),
    "repeat-alone": (lambda: td.repeat(V), DtypeError, "repeats are integers"),
    "repeat-negative": (lambda: j.repeat(V, -1), ArgumentError, "negative"),
    "gather": (lambda: c.gather(V, X.cast("int64"), 0), ShapeError, "does not fit"),
    "scatter": (lambda: c.scatter(V, INDEX, V[:1], 0), ShapeError, "an index without a value"),
    "scatter-float": (lambda: c.scatter(V, V, V, 0), DtypeError, "supported"),
    "scatter_reduce": (
        lambda: p.scatter_reduce(V, INDEX, V, 0, "median"), ArgumentError, "amax"),
    "scatter_reduce-mixed": (
        lambda: p.scatter_reduce(V, INDEX, INDEX, 0, "sum"), DtypeError, "two dtypes"),
    "index_add": (lambda: p.index_add(X, INDEX, V), ShapeError, "one slice"),
    "take_along_axis": (lambda: p.take_along_axis(X, INDEX), ShapeError, "other axes"),
    "one_hot": (lambda: p.one_hot(V), DtypeError, "supported"),
    "nonzero": (lambda: p.nonzero(td.tensor(1.0)), ShapeError, "reshape"),
    "pad-mode": (lambda: m.pad(V, [(1, 1)], mode="edge"), ArgumentError, "replicate"),
    "pad-empty": (lambda: m.pad(td.zeros(0), [(1, 1)], mode="reflect"), ArgumentError, "empty"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "says"), ERRORS.values(), ids=ERRORS.keys())
def test_bad_argument_is_refused_by_name(call, error, says):
    with pytest.raises(error, match=says) as caught:
        call()
    assert ":" in str(caught.value).splitlines()[0]
