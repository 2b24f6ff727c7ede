"""A sum and a broadcast along other axes change places, at any rank."""

from __future__ import annotations

import numpy as np
import pytest

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
