"""Groups that never wait for each other: by their ranks, and over random graphs."""

from __future__ import annotations

import os

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import FLOATS
from treadle.base.errors import CompilerError
from treadle.base.target import Takes
from treadle.ir.graph import toposort
from treadle.ir.node import LEAF
from treadle.kernel.plan import as_stored, plan_steps
from treadle.passes.pipeline import simplify
from treadle.schedule.clusters import Cluster, depends, put_before, put_together
from treadle.schedule.fuse import Fusion
from treadle.schedule.order import Touched, order_clusters
from treadle.testing.choice import Choice
from treadle.testing.skeletons import Skeleton

GRAPHS = int(os.environ.get("TREADLE_RANDOM_SKELETONS", "300"))  # thousands at night
FIRST = int(os.environ.get("TREADLE_FIRST_SEED", "0"))
PARTS = 2  # so that several workers share them


def test_sorted_values_that_are_looked_up_and_their_gradient():
    """A group took in a node that reads a later group, and a search did not look behind it."""
    rng = np.random.default_rng(0)
    x, b = rng.standard_normal((17, 8)), rng.standard_normal((7, 17))
    i, j = rng.integers(0, 17, (5, 7)), rng.integers(0, 8, (5, 7))
    rows, columns = td.tensor(i), td.tensor(j)

    def loss(x, b):
        return (x.sort(1)[rows, columns] @ b).sum() + x.sum(0).square().sum()

    found = td.compile(td.grad(loss, (0, 1)))(td.tensor(x), td.tensor(b))
    slope_x = np.tile(2 * x.sum(0), (17, 1))
    order = np.argsort(x, 1, kind="stable")
    for place in np.ndindex(i.shape):
        slope_x[i[place], order[i[place], j[place]]] += b.sum(1)[place[1]]
    slope_b = np.tile(np.sort(x, 1)[i, j].sum(0)[:, None], (1, 17))
    np.testing.assert_allclose(found[0].numpy(), slope_x, rtol=1e-10)
    np.testing.assert_allclose(found[1].numpy(), slope_b, rtol=1e-10)


def in_order(steps, leaves):
    """Does every step read what is there by then?"""
    there = set(leaves)
    for step in steps:
        if not step.reads() <= there:
            return False
        there |= set(step.writes)
    return True


@pytest.mark.parametrize("part", range(PARTS))
def test_kernels_of_a_random_graph_read_what_is_there(part):
    for seed in range(FIRST + part, FIRST + GRAPHS, PARTS):
        graph = Skeleton(seed, 24)
        roots, _ = as_stored(simplify(graph.roots()), {})
        leaves = [node for node in toposort(roots) if node.op is LEAF]
        replaces = {root: leaf for root, leaf in zip(roots, leaves, strict=False)
                    if root.type is leaf.type and root.op is not LEAF}  # fmt: skip
        steps = plan_steps(roots, replaces, Takes(FLOATS))
        assert in_order(steps, leaves), seed
        assert {n for n in roots if n.op is not LEAF} <= {n for t in steps for n in t.writes}
        fusion = Fusion(toposort(roots), Takes(FLOATS), {})
        for cluster in fusion.run():
            assert all(other.rank < cluster.rank for other in cluster.before), seed


def test_kernels_that_wait_for_each_other_are_an_error():
    one, two = Cluster(0, "loop", 1), Cluster(1, "loop", 1)
    a, b = (td.zeros(1)._node for _ in range(2))
    nothing = frozenset()
    touched = {one: Touched(frozenset([b]), frozenset([a])),
               two: Touched(frozenset([a]), frozenset([b]))}  # fmt: skip
    with pytest.raises(CompilerError, match="wait for each other"):
        order_clusters(touched, {a: one, b: two}, nothing, {})


# ---- ranks, against searches that look everywhere


def reaches(late, early, skip_direct=False):
    stack = [c for c in late.before if not (skip_direct and c is early)]
    seen = set(stack)
    while stack:
        cluster = stack.pop()
        if cluster is early:
            return True
        stack += [c for c in cluster.before if c not in seen]
        seen |= set(cluster.before)
    return False


def connect(early, late):
    put_before(early, late)
    late.before[early] = True
    early.after.add(late)


def merge(one, two, clusters):
    put_together(one, two)
    for other in two.before:
        other.after.discard(two)
        if other is not one:
            one.before[other] = True
            other.after.add(one)
    for other in two.after:
        del other.before[two]
        if other is not one:
            other.before[one] = True
            one.after.add(other)
    one.after.discard(two)
    clusters.remove(two)


@pytest.mark.parametrize("seed", range(40))
def test_ranks_follow_every_edge_and_merge(seed):
    draw = Choice(seed)
    clusters = [Cluster(k, "loop", 1, rank=k) for k in range(14)]
    for _ in range(120):
        if len(clusters) < 3:
            break
        one, two = draw.sample(clusters, 2)
        for skip in (False, True):
            assert depends(one, two, skip) == reaches(one, two, skip)
        if draw.number(0, 9):
            if not reaches(one, two):
                connect(one, two)
        elif not reaches(one, two, True) and not reaches(two, one, True):
            merge(one, two, clusters)
        for cluster in clusters:
            assert all(other.rank < cluster.rank for other in cluster.before)
        assert len({cluster.rank for cluster in clusters}) == len(clusters)
