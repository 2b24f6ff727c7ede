"""Where rows meet NaN, infinities, ties, bounds the wrong way round and tensors without axes."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, DtypeError, OperandError, ShapeError, TreadleError

inf, nan = float("inf"), float("nan")
F = td.nn.functional


def slopes(define, *values, dtype="float64"):
    """Gradients of the sum of a function of tensors."""
    xs = [td.tensor(np.array(x, float), dtype=dtype, requires_grad=True) for x in values]
    return [g.tolist() for g in td.gradients(define(*xs).sum(), xs)]


# ---- NaN is let through, the value and the gradient

LET_THROUGH = {
    "relu": (td.relu, 1.0), "relu6": (td.relu6, 1.0), "hardtanh": (td.hardtanh, 1.0),
    "hardsigmoid": (td.hardsigmoid, 1 / 6), "hardshrink": (td.hardshrink, 1.0),
    "softshrink": (td.softshrink, 1.0), "elu": (td.elu, 1.0), "celu": (td.celu, 1.0),
    "selu": (td.selu, 1.0507009873554805), "leaky_relu": (td.leaky_relu, 1.0),
    "threshold": (lambda x: td.threshold(x, 0.5, 2.0), 1.0),
    "maximum": (lambda x: td.maximum(x, 0.0), 1.0), "minimum": (lambda x: td.minimum(x, 0.0), 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", LET_THROUGH)
@pytest.mark.parametrize("compiled", [False, True], ids=["lazily", "compiled"])
def test_nan_is_let_through(name, compiled):
    define, slope = LET_THROUGH[name]
    call = td.compile(define) if compiled else define
    assert np.isnan(call(td.tensor([nan, 1.0])).numpy()).tolist() == [True, False]
    gradient = td.grad(lambda x: define(x).sum())
    gradient = td.compile(gradient) if compiled else gradient
    np.testing.assert_allclose(gradient(td.tensor([nan], dtype="float64")).numpy(), [slope])


def test_where_a_maximum_is_nan_both_get_its_gradient():
    assert slopes(td.maximum, [nan, 1.0, 2.0, 1.0], [1.0, nan, 2.0, 3.0]) == [
        [1, 1, 0.5, 0], [1, 1, 0.5, 1],
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_extreme_of_what_holds_nan_has_its_slope_there(name):
    lines = [[1.0, nan, 3.0, nan], [2.0, 2.0, 2.0, 2.0]]
    (found,) = slopes(lambda x: getattr(td, name)(x, 1), lines)
    assert found == [[0.0, 0.5, 0.0, 0.5], [0.25] * 4]


# ---- gradients


def test_steps_are_flat():
    for define in (
        td.floor_divide,
        lambda a, b: td.div(a, b, rounding_mode="floor"),
        lambda a, b: td.div(a, b, rounding_mode="trunc"),
        lambda a, b: a // b,
    ):
        assert slopes(define, [7.5, -7.5], [2.0, 2.0]) == [[0, 0], [0, 0]]


def test_gradients_where_there_is_a_choice():
    assert slopes(td.fmax, [1.0, nan, 1.0], [1.0, 1.0, nan]) == [[0.5, 0, 1], [0.5, 1, 0]]
    assert slopes(td.fmin, [1.0, nan, 1.0], [1.0, 1.0, nan]) == [[0.5, 0, 1], [0.5, 1, 0]]
    assert slopes(td.hypot, [0.0, 3.0], [0.0, 4.0]) == [[0, 0.6], [0, 0.8]]
    assert slopes(td.logaddexp, [inf, -inf, inf], [inf, -inf, -inf]) == [
        [0.5, 0.5, 1],
        [0.5, 0.5, 0],
    ]
    assert slopes(lambda x: td.norm(x, 0.5), [0.0, 1.0]) == [[0, 1]]
    of_one, below, far = slopes(td.acosh, [1.0, 0.5, 1e200])[0]
    assert of_one == inf
    assert np.isnan(below)
    np.testing.assert_allclose(far, 1e-200)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_logcumsumexp_of_large_numbers_has_an_exact_gradient(kind):
    rng = np.random.default_rng(3)
    x = (1e4 + rng.normal(size=40)).astype(kind)
    found = np.array(slopes(lambda x: td.logcumsumexp(x, 0), x, dtype=kind)[0])
    exact = x.astype(np.longdouble) - 10000
    total = np.log(np.cumsum(np.exp(exact)))
    wanted = [float(np.exp(exact[k] - total[k:]).sum()) for k in range(40)]
    np.testing.assert_allclose(found, wanted, rtol=40 * np.finfo(kind).eps)
    assert slopes(lambda x: td.logcumsumexp(x, 0), [-inf, 0.0, -inf])[0] == [0, 2, 0]


# ---- edges


def test_no_differences_are_x_itself():
    x, more = td.tensor([1.0, 3.0]), td.tensor([9.0])
    assert td.diff(x, more, more, n=0).tolist() == [1, 3]
    assert td.diff(x, more, more, n=1).tolist() == [-8, 2, 6]


@pytest.mark.parametrize("edges", [(-1, 2), (2, -1), (-2, -1), (-1, 3), (3, -2), (0, -5), (-5, 2)])
def test_a_reflection_is_at_the_ends_that_x_had(edges):
    x = np.arange(5.0)
    before, after = edges
    wide = np.pad(x, (max(0, before), max(0, after)), "reflect")
    wanted = wide[max(0, -before) : len(wide) + min(0, after)]
    assert td.pad(td.tensor(x), [edges], mode="reflect").tolist() == wanted.tolist()


REFUSED = {
    "hardtanh": (ArgumentError, "above", lambda x: td.hardtanh(x, 1.0, -1.0)),
    "softshrink": (ArgumentError, "negative", lambda x: td.softshrink(x, -0.5)),
    "isclose": (ArgumentError, "negative", lambda x: td.isclose(x, x, rtol=-1.0)),
    "allclose": (ArgumentError, "negative", lambda x: td.allclose(x, x, atol=-1.0)),
    "pow": (ArgumentError, "negative power", lambda x: td.pow(x.long(), -2)),
    "scatter": (DtypeError, "two dtypes", lambda x: td.scatter(x, x.long(), x.long(), axis=0)),
    "clamp": (ArgumentError, "no bound", lambda x: td.clamp(x, None, None)),
    "arange": (ArgumentError, "finite", lambda x: td.arange(0, inf)),
    "concat": (OperandError, "NoneType", lambda x: td.cat([x, None])),
    "split": (ArgumentError, "at least one", lambda x: td.split(x, None)),
    "pad": (ArgumentError, "pair per axis", lambda x: td.pad(x, None)),
    "unflatten": (ShapeError, "integer", lambda x: td.unflatten(x, 0, 5)),
    "broadcast_shapes": (ShapeError, "integer", lambda x: td.broadcast_shapes((2, 1), "a")),
}
INTERNAL = ("object", "NoneType' ", "attribute", "iterable", "instances of", "interpreted")


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_our_own_words(name):
    kind, words, call = REFUSED[name]
    with pytest.raises(TreadleError) as caught:
        call(td.tensor([0.0, 1.0]))
    assert type(caught.value) is kind
    assert str(caught.value).startswith(f"{name}: ")
    assert words in str(caught.value)
    assert not [part for part in INTERNAL if part in str(caught.value)]


def test_a_number_is_a_shape_to_broadcast_with():
    assert td.broadcast_shapes((2, 1), 3) == (2, 3)
    assert td.clip(td.tensor([1.0]), None, None).tolist() == [1.0]  # as the array API has it


# ---- a tensor without axes is a line of one element

OF_LINES = {
    "sum": 2.5, "prod": 2.5, "max": 2.5, "min": 2.5, "mean": 2.5, "var": 0, "std": 0, "norm": 2.5,
    "median": 2.5, "logsumexp": 2.5, "all": True, "any": True, "count_nonzero": 1, "argmax": 0,
    "argmin": 0, "sort": 2.5, "argsort": 0, "flip": 2.5, "cumsum": 2.5, "cumprod": 2.5,
    "cummax": 2.5, "cummin": 2.5, "logcumsumexp": 2.5, "softmax": 1, "log_softmax": 0,
    "squeeze": 2.5,
}  # fmt: skip


@pytest.mark.parametrize("name", OF_LINES)
@pytest.mark.parametrize("axis", [0, -1])
def test_a_tensor_without_axes_counts_as_a_line(name, axis):
    found = getattr(td, name)(td.tensor(2.5), axis=axis)
    assert found.shape == ()
    assert found.item() == OF_LINES[name]
    with pytest.raises(ShapeError, match="axes run from -1 to 0"):
        getattr(td, name)(td.tensor(2.5), axis=1)


def test_other_rows_of_lines():
    x = td.tensor(2.5, requires_grad=True)
    assert td.roll(x, 3, 0).item() == td.roll(x, 1, -1).item() == 2.5
    assert td.quantile(x, 0.3, 0).item() == 2.5
    assert [(y.shape, y.item()) for y in td.topk(x, 1)] == [((), 2.5), ((), 0)]
    td.sort(x, 0).sum(-1).backward()
    assert x.grad.item() == 1.0


# ---- places and values


def test_scatter_takes_the_first_values_and_joins_them():
    x = td.zeros(3, 4)
    index, values = td.tensor([[0, 2], [1, 1]]), td.tensor(np.arange(1.0, 13).reshape(3, 4))
    values = values.cast("float32")
    wanted = np.zeros((3, 4))
    wanted[0, 0], wanted[0, 2], wanted[1, 1] = 1, 2, 6
    assert td.scatter(x, index, values, axis=1).tolist() == wanted.tolist()
    assert td.scatter(x, 1, index, values).tolist() == wanted.tolist()  # PyTorch's order
    wanted[1, 1] = 11
    assert td.scatter(x, index, values, axis=1, reduce="add").tolist() == wanted.tolist()
    wanted[0, 0], wanted[0, 2], wanted[1, 1] = 2, 2, 4
    ones = td.where(td.tensor(wanted) > 0, 1.0, 0.0)
    assert td.scatter(ones, 1, index, 2.0, reduce="multiply").tolist() == wanted.tolist()


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_bools_meet_at_a_place(reduce):
    x, index = td.tensor([True, False, True]), td.tensor([0, 0, 1, 1])
    values = td.tensor([True, False, True, True])
    found = td.scatter_reduce(x, index, values, 0, reduce)
    meet = any if reduce in ("sum", "amax") else all
    assert found.dtype == td.bool
    assert found.tolist() == [meet([True, True, False]), meet([False, True, True]), True]


def test_index_add_with_a_factor_in_either_order():
    x, index, values = td.ones(3), td.tensor([0, 0, 2]), td.tensor([1.0, 2.0, 3.0])
    for found in (
        td.index_add(x, index, values, axis=0, alpha=2),
        td.index_add(x, 0, index, values, alpha=2),
    ):
        assert found.tolist() == [7, 1, 7]


def test_the_covariance_of_no_samples_is_unknown():
    assert np.isnan(td.cov(td.zeros((3, 0))).numpy()).all()
    assert np.isnan(td.cov(td.zeros(0)).item())
    assert td.cov(td.zeros((0, 3))).shape == (0, 0)


def test_running_products_of_infinities():
    assert slopes(lambda x: td.cumprod(x, 0), [inf]) == [[1.0]]
    assert slopes(lambda x: td.cumprod(x, 1), [[inf], [-inf], [0.0], [2.0]]) == [[[1.0]] * 4]
    (found,) = slopes(lambda x: td.cumprod(x, 0), [2.0, inf, 0.0, 3.0])
    assert np.isnan(td.cumprod(td.tensor([2.0, inf, 0.0, 3.0]), 0).numpy()).any()
    assert np.isnan(found[:2]).all()
    assert found[2:] == [inf, 0.0]
