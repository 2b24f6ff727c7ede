"""Options that PyTorch or NumPy have: indices beside values, dtypes, forms of arguments."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, IndexingError, OperandError, ShapeError

inf, nan = float("inf"), float("nan")
F = td.nn.functional
rng = np.random.default_rng(5)


def same(found, wanted):
    found, wanted = found.numpy(), np.asarray(wanted)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


# ---- where a value stands


@pytest.mark.parametrize("kind", ["float32", "int64", "uint8"])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_extremes_say_where_they_stand(name, axis, kind):
    x = rng.integers(0, 5, (7, 6)).astype(kind)
    values, indices = getattr(td, name)(td.tensor(x), axis, return_indices=True)
    same(values, getattr(np, {"cummax": "maximum", "cummin": "minimum"}[name]).accumulate(x, axis))
    assert indices.dtype == td.int64
    np.testing.assert_array_equal(np.take_along_axis(x, indices.numpy(), axis), values.numpy())
    assert (np.diff(indices.numpy(), axis=axis) >= 0).all()


def test_the_place_of_nan_and_of_the_last_of_equal_elements():
    values, indices = td.cummax(td.tensor([1.0, 3.0, 3.0, nan, 2.0]), 0, return_indices=True)
    assert indices.tolist() == [0, 1, 2, 3, 3]
    assert np.isnan(values.numpy()).tolist() == [False, False, False, True, True]
    assert [y.item() for y in td.cummin(td.tensor(2.5), 0, return_indices=True)] == [2.5, 0]


def test_a_median_with_its_index_is_an_element():
    x = np.array([[4.0, 1.0, 3.0, 2.0], [nan, 5.0, nan, 0.0]])
    values, indices = td.median(td.tensor(x), axis=1, return_indices=True)
    np.testing.assert_array_equal(values.numpy(), [2.0, nan])
    assert indices.tolist() == [3, 0]
    values, indices = td.median(td.tensor([5.0, 1.0, 3.0]), return_indices=True)
    assert (values.item(), indices.item()) == (3.0, 2)
    values, indices = td.median(td.tensor(x[:1]), axis=1, keepdims=True, return_indices=True)
    assert values.shape == indices.shape == (1, 1)
    slope = td.grad(lambda x: td.median(x, 0, return_indices=True).values)
    assert slope(td.tensor([4.0, 1.0, 3.0, 2.0])).tolist() == [0, 0, 0, 1]


# ---- sets and searches


@pytest.mark.parametrize("shape", [(30, 2), (40, 5), (6, 1), (1, 7), (0, 3), (4, 0), (20, 2, 3)])
@pytest.mark.parametrize("kind", ["int64", "float32", "bool"])
def test_unique_slices(shape, kind):
    x = rng.integers(0, 2 if kind == "bool" else 3, shape).astype(kind)
    for axis in range(x.ndim):
        if 0 in shape and shape[axis]:
            wanted = np.take(x, [0], axis)  # NumPy refuses: all are equal
            same(td.unique(td.tensor(x), axis=axis), wanted)
            continue
        wanted = np.unique(x, axis=axis, return_inverse=True, return_counts=True)
        found = td.unique(td.tensor(x), True, True, axis=axis)
        for ours, theirs in zip(found, wanted, strict=True):
            same(ours, theirs)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (0,)])
def test_search_in_several_lines(side, lead):
    lines = rng.integers(0, 9, (*lead, 8)).astype("float32")
    values = rng.integers(-1, 10, (*lead, 5)).astype("float32")
    sorter = np.argsort(lines, -1)
    ordered = np.take_along_axis(lines, sorter, -1)
    wanted = np.zeros(values.shape, np.int64)
    for k in np.ndindex(lead):
        wanted[k] = np.searchsorted(ordered[k], values[k], side)
    same(td.searchsorted(td.tensor(ordered), td.tensor(values), side=side), wanted)
    same(td.searchsorted(td.tensor(lines), td.tensor(values), td.tensor(sorter), side), wanted)
    search = td.compile(lambda a, b: td.searchsorted(a, b, side=side))
    same(search(td.tensor(ordered), td.tensor(values)), wanted)


# ---- fractions that are tensors


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "nearest", "midpoint"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_quantiles_at_a_tensor_of_fractions(how, axis):
    x = rng.normal(size=(6, 5))
    for q in (np.array([0.0, 0.3, 0.5, 1.0]), np.array(0.75), np.array([])):
        found = td.quantile(td.tensor(x), td.tensor(q), axis, interpolation=how)
        wanted = np.quantile(x, q, axis, method=how)
        same(found, wanted)
    x[2, 3] = nan
    found = td.compile(lambda x, q: td.quantile(x, q, 1, True, how))
    wanted = np.quantile(x, [0.2, 0.9], 1, keepdims=True, method=how)
    same(found(td.tensor(x), td.tensor([0.2, 0.9], dtype="float64")), wanted)


def test_quantiles_of_infinities_and_fractions_out_of_range():
    x, q = td.tensor([-inf, -inf, 1.0, inf, inf]), td.tensor([0.1, 0.5, 0.9])
    assert td.quantile(x, q).tolist() == [-inf, 1.0, inf]
    for wrong in (td.tensor([0.5, 1.5]), td.tensor([[0.5]])):
        with pytest.raises(ArgumentError, match="from 0 to 1"):
            td.quantile(x, wrong)


# ---- dtypes


def test_reductions_and_scans_in_a_dtype():
    x = td.tensor([[1, 2], [3, 4]], dtype="int32")
    assert td.mean(x, dtype="float64").dtype == td.float64
    assert td.mean(x, 1, dtype=td.float64).tolist() == [1.5, 3.5]
    assert td.cumsum(x, 1, dtype="int8").dtype == td.int8
    assert td.cumprod(x, 1, "float64").tolist() == [[1, 2], [3, 12]]
    assert td.softmax(x, 1, dtype="float64").dtype == td.float64
    assert td.sum(x > 1, dtype="uint8").item() == 3
    assert td.norm(x, dtype="float64").item() == math.sqrt(30)


def test_numbers_at_equal_steps_as_integers():
    assert td.linspace(0, 10, 5, dtype="int64").tolist() == [0, 2, 5, 7, 10]
    assert td.linspace(-5, 5, 4, dtype="int32").tolist() == [-5, -1, 1, 5]
    assert td.linspace(5, -5, 4, dtype="int32").tolist() == [5, 1, -1, -5]
    assert td.linspace(0, 49, 50, dtype="int64").tolist() == list(range(50))
    assert td.linspace(0, 21, 22, dtype="uint8", endpoint=False).tolist()[-1] == 20
    assert td.linspace(3, 7, 1, dtype="int64").tolist() == [3]
    assert td.linspace(0.5, 3.5, 4, dtype="int64").tolist() == [0, 1, 2, 3]
    assert td.logspace(0, 3, 4, dtype="int32").tolist() == [1, 10, 100, 1000]


def test_float_power_is_in_float64():
    for kind in ("float32", "int32", "bool", "float64", "bfloat16"):
        x = td.tensor([1, 2, 3]).cast(kind)
        found = td.float_power(x, 2)
        assert found.dtype == td.float64
        assert found.tolist() == (x.cast("float64") * x.cast("float64")).tolist()
    x = td.tensor([2.0, 3.0], requires_grad=True)
    td.float_power(x, 3).sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (td.float32, [12, 27])
    assert (x**2.5).dtype == td.pow(x, 2.5).dtype == td.float32


# ---- forms of arguments


def test_two_numbers_make_a_tensor():
    assert (td.add(1, 2).dtype, td.add(1, 2).item()) == (td.int64, 3)
    assert (td.maximum(2, 3.5).dtype, td.maximum(2, 3.5).item()) == (td.float32, 3.5)
    assert td.pow(2, 3).item() == 8
    assert td.where(True, 1.5, 2).item() == 1.5
    for wrong in (lambda: td.exp(1.0), lambda: td.add(1, None), lambda: td.matmul(1, 2)):
        with pytest.raises((OperandError, ShapeError)):
            wrong()


def test_parts_are_tuples():
    x = td.ones(4, 2)
    for parts in (td.split(x, 2), td.split(x, [1, 3]), x.split((3, 1), dim=0), td.chunk(x, 3),
                  td.unstack(x), x.unbind(1), td.nonzero(x)):  # fmt: skip
        assert type(parts) is tuple


def test_lists_and_tuples_inside_an_index():
    x = np.arange(12.0).reshape(3, 4)
    t = td.tensor(x)
    for key in (
        ((0, 2), slice(None)), ((0, 2), (1, 3)), (0, (0, 2)), ([0, 2], slice(1, 3)), ((0, 1),),
        (slice(None), ((0, 1), (2, 3))), (..., (3, 0)), ((True, False, True),), ((), 0),
    ):  # fmt: skip
        wanted = x[tuple(np.array(k, int) if k == () else k for k in key)]
        same(t[key], wanted)
    t[(0, 2), :] = 0.0
    assert t.sum(1).tolist() == [0, 22, 0]
    with pytest.raises(IndexingError):
        t[((0, 1), (2,)), :]


def test_nonzero_and_argwhere_of_one_element():
    for value in (0.0, 2.0):
        found = td.argwhere(td.tensor(value))
        assert found.shape == np.argwhere(np.float32(value)).shape
    with pytest.raises(ShapeError, match="argwhere"):
        td.nonzero(td.tensor(2.0))
    assert [i.tolist() for i in td.nonzero(td.tensor(2.0), as_tuple=True)] == [[0]]
    assert td.nonzero(td.tensor([0, 3]), as_tuple=False).tolist() == [[1]]


def test_a_gradient_is_asked_for_by_setting_an_attribute():
    x = td.tensor([1.0, 2.0])
    x.requires_grad = True
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]
    x.requires_grad = False
    assert not (x * x).requires_grad


def test_take_without_an_axis_is_of_all_elements():
    x = np.arange(12.0).reshape(3, 4)
    same(td.take(td.tensor(x), td.tensor([[1, 5], [-1, 0]])), np.take(x, [[1, 5], [-1, 0]]))
    with pytest.raises(IndexingError):
        td.take(td.tensor(x), td.tensor([12]))


# ---- losses

BROADCAST = {
    "mse_loss": lambda a, b: (a - b) ** 2, "l1_loss": lambda a, b: np.abs(a - b),
    "smooth_l1_loss": lambda a, b: np.where(abs(a - b) < 1, (a - b) ** 2 / 2, abs(a - b) - 0.5),
    "huber_loss": lambda a, b: np.where(abs(a - b) < 1, (a - b) ** 2 / 2, abs(a - b) - 0.5),
    "poisson_nll_loss": lambda a, b: np.exp(a) - b * a,
    "kl_div": lambda a, b: b * (np.log(b) - a),
    "soft_margin_loss": lambda a, b: np.log1p(np.exp(-a * b)),
}  # fmt: skip


@pytest.mark.parametrize("name", BROADCAST)
@pytest.mark.parametrize("shapes", [((3, 1), (4,)), ((2, 3), ()), ((4,), (2, 4))], ids=str)
def test_losses_broadcast_and_say_so(name, shapes):
    a, b = (rng.uniform(0.5, 2.0, shape) for shape in shapes)
    loss = getattr(F, name)
    with pytest.warns(UserWarning, match="shapes differ, broadcast to"):
        found = loss(td.tensor(a), td.tensor(b))
    same(found, BROADCAST[name](a, b).mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slope = td.grad(lambda x: loss(x, td.tensor(b)))(td.tensor(a))
    assert slope.shape == shapes[0]
