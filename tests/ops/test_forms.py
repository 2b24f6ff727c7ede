"""Calls that samples of rows do not show: several forms of an argument, several results, limits."""

from __future__ import annotations

import timeit

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, IndexingError, OperandError, ShapeError

rng = np.random.default_rng(0)
A = rng.standard_normal((4, 5, 3))


def same(ours, theirs):
    np.testing.assert_array_equal(ours.numpy(), theirs)


def put(x, key, values, accumulate):
    out = np.array(x)
    if accumulate:
        np.add.at(out, key, values)
    else:
        out[key] = values
    return out


KEYS = {
    "one": (np.array([0, 3, -1]),),
    "two": (np.array([0, 3, 1]), np.array([-1, 0, 4])),
    "broadcast": (np.array([[0], [3]]), np.array([1, 2])),
    "three": (np.array([0, 1]), np.array([0, -5]), np.array([2, 1])),
    "mask": (A[:, 0, 0] > 0,),
    "wide mask": (A[..., 0] > 0,),
    "mask and index": (np.array([True, False, True, False]), np.array([1, 4])),
    "0-d": (np.array(2),),
}


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("key", KEYS)
def test_index_put_takes_what_an_index_takes(key, accumulate):
    key = KEYS[key]
    shape = A[key].shape
    for values in (rng.standard_normal(shape), rng.standard_normal(shape[-1:]), np.array(2.5)):
        places = tuple(td.tensor(k) for k in key)
        found = td.index_put(td.tensor(A), places, td.tensor(values), accumulate=accumulate)
        np.testing.assert_allclose(found.numpy(), put(A, key, values, accumulate), rtol=1e-15)


def test_index_put_adds_where_indices_meet():
    x, i = td.zeros(3), td.tensor([1, 1, 2])
    assert td.index_put(x, (i,), td.ones(3), accumulate=True).tolist() == [0.0, 2.0, 1.0]
    assert td.compile(lambda x: x.index_put((i,), td.ones(3), True))(x).tolist() == [0.0, 2.0, 1.0]


def test_index_put_refuses_what_does_not_fit():
    x = td.zeros(3, 4)
    with pytest.raises(IndexingError, match=r"index_put.*out of range"):
        td.index_put(x, (td.tensor([3]),), td.ones(1, 4))
    with pytest.raises(ShapeError, match=r"index_put.*mask"):
        td.index_put(x, td.ones(4, 4, dtype="bool"), td.ones(()))
    with pytest.raises(ArgumentError, match="one index for each"):
        td.index_put(x, (td.tensor([0]),) * 3, td.ones(()))
    with pytest.raises(OperandError, match="index_put"):
        td.index_put(x, (1, 2), td.ones(()))


def test_scatters_of_parts_leave_the_rest():
    x = td.tensor(A)
    same(td.slice_scatter(x, td.zeros(4, 2, 3, dtype="float64"), 1, -2), np.where(
        np.arange(5)[:, None] >= 3, 0.0, A))  # fmt: skip
    assert td.select_scatter(x, td.ones(4, 3), 1, -1).numpy()[:, -1].min() == 1.0
    with pytest.raises(ShapeError, match="another shape"):
        td.slice_scatter(x, td.ones(4, 1, 3), 1, 0, 2)


def test_masked_scatter_takes_values_in_order():
    mask = A > 0
    values = np.arange(A.size, dtype=float)
    want = np.array(A)
    want[mask] = values[: mask.sum()]
    same(td.masked_scatter(td.tensor(A), td.tensor(mask), td.tensor(values)), want)


def test_index_fill_takes_a_tensor_with_a_gradient():
    value = td.tensor(3.0, requires_grad=True)
    found = td.index_fill(td.zeros(4, 2), td.tensor([0, 2]), value, axis=0)
    found.sum().backward()
    assert (found.numpy()[:, 0].tolist(), value.grad.item()) == ([3.0, 0.0, 3.0, 0.0], 4.0)


def test_tensor_split_takes_places_in_a_tensor():
    parts = td.tensor_split(td.tensor(A), td.tensor([1, -1]), axis=1)
    for ours, theirs in zip(parts, np.array_split(A, [1, -1], 1), strict=True):
        same(ours, theirs)
    with pytest.raises(ArgumentError, match="differ in size"):
        td.vsplit(td.ones(5, 2), 2)
    same(td.hsplit(td.arange(4), 2)[1], [2, 3])


def test_atleast_of_one_and_of_several():
    assert td.atleast_2d(td.tensor(1.0)).shape == (1, 1)
    assert [x.shape for x in td.atleast_3d(td.ones(2), td.ones(2, 3))] == [(1, 2, 1), (2, 3, 1)]
    assert [x.shape for x in td.atleast_1d([td.tensor(1.0)])] == [(1,)]


def test_runs_of_slices():
    x = np.array([[1, 1, 2], [1, 1, 2], [3, 0, 2], [1, 1, 2]])
    found, group, counts = td.unique_consecutive(td.tensor(x), True, True, axis=0)
    same(found, x[[0, 2, 3]])
    assert (group.tolist(), counts.tolist()) == ([0, 0, 1, 2], [2, 1, 1])
    assert td.unique_consecutive(td.tensor([1.0, np.nan, np.nan])).shape == (3,)


def test_histograms_by_edges_and_of_nothing():
    x = rng.uniform(0, 1, 50)
    edges = np.array([0.1, 0.2, 0.7, 0.9])
    hist, found = td.histogram(td.tensor(x), bins=td.tensor(edges))
    same(hist, np.histogram(x, edges)[0])
    same(found, edges)
    same(td.histogram(td.tensor(x), td.tensor(edges)).hist, np.histogram(x, edges)[0])
    same(td.histogram(td.tensor(x[:4]), td.tensor(edges)).hist, np.histogram(x[:4], edges)[0])
    assert td.histc(td.tensor([2.0, 2.0]), bins=3).tolist() == [0.0, 2.0, 0.0]
    assert td.histc(td.tensor([np.nan, 1.0, 5.0]), bins=2, min=0, max=2).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("density", [False, True])
def test_histograms_of_weights(density):
    x, weights = rng.uniform(0, 1, (2, 5, 6))
    wanted = np.histogram(x, 4, (0.1, 0.9), density=density, weights=weights)
    options = {"range": (0.1, 0.9), "density": density, "weight": td.tensor(weights)}
    for found, right in zip(td.histogram(td.tensor(x), 4, **options), wanted, strict=True):
        np.testing.assert_allclose(found.numpy(), right, rtol=1e-12)
    with pytest.raises(ShapeError, match="one weight for each element"):
        td.histogram(td.tensor(x), 4, weight=td.tensor(weights[0]))


def test_axes_to_flip_one_by_one():
    x = rng.standard_normal((2, 3, 4))
    same(td.tensor(x).flip(0, 2), np.flip(x, (0, 2)))
    same(td.flip(td.tensor(x), -1, 1), np.flip(x, (1, 2)))
    with pytest.raises(ValueError, match="twice"):
        td.tensor(x).flip(0, 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of a row that is NaN throughout
def test_statistics_past_nan():
    x = rng.standard_normal((6, 7))
    x[x > 1] = np.nan
    x[2] = np.nan
    for name in ("nansum", "nanmean", "nanmedian"):
        found = getattr(td, name)(td.tensor(x), axis=1).numpy()
        np.testing.assert_allclose(found, getattr(np, name)(x, axis=1), rtol=1e-13)
    kept = np.delete(x, 2, 0)
    found = td.nanquantile(td.tensor(kept), (0.2, 0.9), axis=1).numpy()
    np.testing.assert_allclose(found, np.nanquantile(kept, (0.2, 0.9), axis=1), rtol=1e-12)
    t = td.tensor(x, requires_grad=True)
    (slope,) = td.gradients(td.nansum(t), [t])
    same(slope, ~np.isnan(x) * 1.0)


def test_names_of_several_results():
    x = td.tensor([[3.0, 1.0, 1.0], [2.0, 2.0, 5.0]])
    assert td.aminmax(x).max.item() == 5.0
    assert td.mode(x).values.tolist() == [1.0, 2.0]
    assert td.mode(x).indices.tolist() == [2, 1]
    assert td.kthvalue(x, 2).indices.tolist() == [2, 1]
    assert td.frexp(x).exponent.tolist() == [[2, 1, 1], [2, 2, 3]]
    np.testing.assert_allclose(td.std_mean(x)[0].item(), np.std(x.numpy(), ddof=1), rtol=1e-6)


def test_tensors_like_others():
    x = td.ones(2, 3, dtype="float64")
    made = (x.new_zeros(4), x.new_ones((2, 2)), x.new_full((1,), 0.1), x.new_empty(0, 2))
    assert [y.shape for y in made] == [(4,), (2, 2), (1,), (0, 2)]
    assert all(y.dtype == "float64" for y in made)
    assert x.new_tensor([0.1]).item() == 0.1
    assert x.new_tensor([1], dtype="int32").dtype == "int32"
    assert x.new_zeros(2, requires_grad=True).requires_grad
    with pytest.raises(ArgumentError, match=r"new_full.*negative"):
        x.new_zeros(-1)
    for row, column, offset in ((3, 4, 0), (4, 2, -1), (2, 5, 2), (0, 3, 0), (3, 3, -5)):
        low, high = td.tril_indices(row, column, offset), td.triu_indices(row, column, offset)
        same(low, np.stack(np.tril_indices(row, offset, column)))
        same(high, np.stack(np.triu_indices(row, offset, column)))


def test_indices_of_triangles_far_off_or_too_large():
    assert td.tril_indices(2, 2, 1 << 70).shape == (2, 4)
    assert td.triu_indices(2, 2, 1 << 70).shape == (2, 0)
    assert td.tril_indices(2, 2, -5).shape == (2, 0)
    assert td.triu_indices(2, 2, dtype="int32").dtype == "int32"
    with pytest.raises(ArgumentError, match=r"tril_indices: an index does not fit.*int8"):
        td.tril_indices(200, 2, dtype="int8")


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
def test_indices_of_triangles_take_about_as_long_as_numpys(name):
    def best(make):
        return min(timeit.repeat(lambda: make(500, 0, 500), number=1, repeat=5))

    ours = getattr(td, name)
    assert best(lambda row, offset, col: ours(row, col, offset)) < 10 * best(getattr(np, name))


def test_a_product_of_many_matrices_is_made_in_the_cheapest_order():
    shapes = [(40, 2), (2, 30), (30, 3), (3, 50)]
    matrices = [rng.standard_normal(shape) for shape in shapes]
    want = np.linalg.multi_dot(matrices)
    np.testing.assert_allclose(td.chain_matmul(*map(td.tensor, matrices)).numpy(), want, rtol=1e-12)
    flops = td.explain(td.chain_matmul, *map(td.tensor, matrices))
    assert sum(row.flops for row in flops.rows) < 2 * (40 * 2 * 50 + 2 * 30 * 3 + 2 * 3 * 50) * 1.1
    with pytest.raises(ShapeError):
        td.chain_matmul(td.ones(2, 3), td.ones(2, 3))


def test_sums_with_products_do_not_look_at_x_for_a_beta_of_0():
    x = td.tensor(np.full((2, 2), np.nan))
    assert td.addmm(x, td.ones(2, 3), td.ones(3, 2), beta=0, alpha=2).tolist() == [[6.0] * 2] * 2
    with pytest.raises(ShapeError, match=r"addmm.*broadcast"):
        td.addmm(td.ones(5, 2, 2), td.ones(2, 3), td.ones(3, 2))


def test_new_rows_in_a_compiled_function():
    x = td.tensor(A[0])

    def f(x):
        values, _ = td.kthvalue(x, 2, axis=1)
        return td.cdist(x, x) + td.outer(values, td.nanmean(x, axis=1)) + td.cov(x)

    np.testing.assert_allclose(td.compile(f)(x).numpy(), f(x).numpy(), rtol=1e-12)
    slopes = [td.grad(lambda x, f=g: f(x).sum())(x).numpy() for g in (f, td.compile(f))]
    np.testing.assert_allclose(*slopes, rtol=1e-10)
