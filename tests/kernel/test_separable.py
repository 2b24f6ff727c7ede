"""Products that read an operand at places that tables give: any views, on either side."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.kernel import operands

ROWS, COLUMNS = 6, 5
VIEWS = {
    "turned": lambda x, lib: lib.flip(x, (0, 1)),
    "with gaps": lambda x, lib: x[::2, ::2],
    "one column, backwards": lambda x, lib: x[::-1, 2:3],
    "one row, with gaps": lambda x, lib: x[2:3, ::-2],
    "side by side": lambda x, lib: windows(x, lib, 2, 3).reshape(-1, 6),
    "one below the other": lambda x, lib: windows(x, lib, 2, 1).reshape(-1, 2).T,
    "all in one column": lambda x, lib: windows(x, lib, 1, 1)[::2].reshape(-1, 1),
}


def windows(x, lib, high, wide):
    if lib is np:
        return np.lib.stride_tricks.sliding_window_view(x, (high, wide))
    return x.unfold(0, high, 1).unfold(1, wide, 1)


@pytest.fixture(autouse=True)
def tables_for_little_work(monkeypatch):
    monkeypatch.setattr(operands, "LEAST_WORK", 1)


def whole(*shape, seed):
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


@pytest.mark.parametrize("other", [1, 2, 7])
@pytest.mark.parametrize("view", VIEWS)
def test_products_of_views(view, other):
    table = whole(ROWS, COLUMNS, seed=1)
    seen = VIEWS[view](table, np)
    left, right = whole(other, seen.shape[0], seed=2), whole(seen.shape[1], other, seed=3)
    x = td.tensor(table)
    np.testing.assert_array_equal((td.tensor(left) @ VIEWS[view](x, td)).numpy(), left @ seen)
    np.testing.assert_array_equal((VIEWS[view](x, td) @ td.tensor(right)).numpy(), seen @ right)


@pytest.mark.parametrize("columns", [1, 5])
def test_maps_over_products_of_views(columns):
    table, bias = whole(4, 3 * columns, seed=1), whole(columns, seed=2)
    seen, left = table[::-1, ::3], whole(7, 4, seed=3)
    made = td.tensor(left) @ td.tensor(table)[::-1, ::3] + td.tensor(bias)
    np.testing.assert_array_equal(made.relu().numpy(), np.maximum(left @ seen + bias, 0))


def test_batches_of_views():
    table, left = whole(3, 4, 5, seed=1), whole(3, 2, 4, seed=2)
    made = td.tensor(left) @ td.tensor(table).flip((1, 2))
    np.testing.assert_array_equal(made.numpy(), left @ table[:, ::-1, ::-1])
