"""A sum and a broadcast along other axes change places, at any rank."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.ir.graph import toposort
from treadle.ops import movement as m
from treadle.ops.reduce import sum_
from treadle.passes.pipeline import simplify
from treadle.testing.arrays import compiled, node_of


def drawn(rng, rank):
    """Sizes, which axes are broadcast, and which are summed: some of each."""
    sizes = rng.integers(2, 5, rank)
    spread = rng.random(rank) < 0.5
    spread[0], spread[-1] = True, False
    summed = rng.random(rank) < 0.5
    summed[0], summed[-1] = False, True
    return sizes, spread, tuple(np.flatnonzero(summed).tolist())


@pytest.mark.parametrize("rank", [2, 3, 4, 5, 6])
def test_a_sum_is_taken_before_the_broadcast(rank):
    rng = np.random.default_rng(rank)
    for _ in range(8):
        sizes, spread, axes = drawn(rng, rank)
        small = rng.integers(-9, 9, np.where(spread, 1, sizes)).astype(np.float32)
        shape = tuple(sizes.tolist())
        x = node_of(small)
        total = sum_(x.expand(shape), axis=axes)
        (result,) = compiled([total])
        expected = np.broadcast_to(small, shape).astype(np.float64).sum(axes)
        np.testing.assert_array_equal(result, expected)
        (simple,) = simplify([sum_(node_of(small).expand(shape), axis=axes)])
        sums = [n for n in toposort([simple]) if n.op is sum_]
        assert all(n.operands[0].op is not m.expand or n.arg[0] != axes for n in sums)


@pytest.mark.parametrize("seed", range(40))
def test_long_reductions_with_axes_of_one_element_end(seed):
    """Long lines are cut into chunks: whatever axes are reduced besides, the rules end."""
    rng = np.random.default_rng(seed)
    sizes = [1] * rng.integers(0, 4) + [int(rng.choice([2, 3, 130])), 2, 5000]
    shape = tuple(int(n) for n in rng.permutation(sizes))
    axes = tuple(int(k) for k in np.flatnonzero(rng.random(len(shape)) < 0.7)) or (0,)
    x = rng.integers(-4, 5, shape).astype(np.float32)
    for name in ("sum", "max", "min", "any", "all"):
        found = getattr(td, name)(td.tensor(x), axes).numpy()
        np.testing.assert_array_equal(found, getattr(np, name)(x, axis=axes), err_msg=name)
