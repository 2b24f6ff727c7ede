"""The largest elements of long lines: only cells that can hold them are looked at."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.backends.reference.eval import evaluate
from treadle.base.dtypes import dtype
from treadle.ir.node import leaf, type_of
from treadle.ops import largest

KINDS = (np.float32, np.float64, np.float16, np.int8, np.int64, np.uint8, np.bool_)
CASES = (
    ((1000,), 0, 3), ((1003,), 0, 20), ((2, 700), 1, 9), ((700, 3), 0, 12), ((2, 333, 2), 1, 5),
    ((257,), 0, 9), ((4096,), 0, 2),
)  # fmt: skip


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Lines are long from 64 elements on."""
    monkeypatch.setattr(largest, "AT_HAND", 64)


def values(kind, shape):
    """Numbers of which many are equal, and some special."""
    rng = np.random.default_rng(len(shape))
    x = rng.integers(0, 2 if kind is np.bool_ else 30, shape).astype(kind)
    if np.dtype(kind).kind == "f":
        x = np.where(
            rng.random(shape) < 0.01, rng.choice([np.nan, np.inf, -np.inf, -0.0], shape), x
        )
    return x.astype(kind)


def places(x, k, axis, descending):
    """What NumPy says, by a stable sort of whole lines."""
    x = x.astype(np.int64) if x.dtype == bool else x
    if not descending:
        order = np.argsort(x, axis, kind="stable")
    else:
        order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    return np.take(order, np.arange(k), axis)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: np.dtype(kind).name)
def test_same_as_a_stable_sort(kind):
    for shape, axis, k in CASES:
        x = values(kind, shape)
        node = leaf(type_of(shape, dtype(x.dtype.name)), x)
        for descending in (True, False):
            found = largest.best_indices(node, k, axis, descending)
            (got,) = evaluate([found], lambda n: n.buffer)
            np.testing.assert_array_equal(got, places(x, k, axis, descending))


def test_cells_are_used_where_they_spare_most_of_the_work(monkeypatch):
    assert largest.cell_size(1000, 3) == 16
    assert largest.cell_size(60, 3) == 0  # short
    assert largest.cell_size(1000, 900) == 0  # nearly all are wanted
    assert largest.cell_size(1000, 0) == 0
    monkeypatch.setattr(largest, "AT_HAND", 1 << 14)
    assert largest.cell_size(1 << 26, 100) == 512
    assert largest.cell_size(4096, 100) == 0


def test_all_nan_and_all_equal():
    for value in (np.nan, 7.0, -np.inf):
        x = np.full(500, value, np.float32)
        for way in (True, False):
            found, index = td.topk(td.tensor(x), 12, largest=way)
            assert index.tolist() == list(range(12))
            np.testing.assert_array_equal(found.numpy(), x[:12])


def test_gradient_goes_to_the_chosen():
    x = td.tensor(np.random.default_rng(0).permutation(600).astype(np.float32))
    slope = td.grad(lambda v: (td.topk(v, 10)[0] * td.arange(10)).sum())(x)
    expected = np.where(x.numpy() >= 590, 599 - x.numpy(), 0.0)
    np.testing.assert_array_equal(slope.numpy(), expected)
