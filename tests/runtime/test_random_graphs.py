"""Random graphs, and their gradients, through the compiled backend against the reference."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from treadle.autograd.backward import gradients
from treadle.base.errors import GradientError
from treadle.ir.graph import toposort
from treadle.ops.reduce import sum_
from treadle.testing.arrays import by_reference, compiled, unit_roundoff
from treadle.testing.growth import EVERY
from treadle.testing.strategies import graph_of, misses, recipes

GRAPHS = int(os.environ.get("TREADLE_RANDOM_GRAPHS", "300"))  # 2000 and more at night
PARTS = 4  # so that several workers share them
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
JUMPY = {"max", "min", "maximum", "minimum"}  # gradients jump where values nearly tie


@pytest.mark.parametrize("part", range(PARTS))
def test_compiled_random_graph_gives_the_reference_value(part):
    @settings(max_examples=GRAPHS // PARTS, suppress_health_check=QUIET, database=None)
    @given(recipes())
    def check(recipe):
        graph = graph_of(*recipe, EVERY)
        results = compiled([root.node for root in graph.roots])
        for root, result in zip(graph.roots, results, strict=True):
            assert not misses(root, result), graph

    check()


def gradients_of(graph):
    """Gradients of the float roots by the float leaves; none where they jump or do not exist."""
    roots = [sum_(root.node) for root in graph.roots if root.node.dtype.is_float]
    order = toposort(roots)
    if not roots or {node.op.name for node in order} & JUMPY:
        return []
    leaves = [node for node in order if node.op.name == "leaf" and node.dtype.is_float]
    try:
        found = gradients(roots, leaves, [None] * len(roots))
    except GradientError:
        return []
    return [g for g in found if g is not None]


@pytest.mark.parametrize("part", range(PARTS))
def test_compiled_gradients_of_a_random_graph_give_the_reference_value(part):
    checked = 0
    for seed in range(part * GRAPHS // PARTS, (part + 1) * GRAPHS // PARTS):
        graph = graph_of(seed, 12, EVERY)
        roots = gradients_of(graph)
        coarsest = max([0.0, *(unit_roundoff(n.dtype) for n in toposort(roots))])
        expected = by_reference(roots, precise=True)
        for value, result in zip(expected, compiled(roots), strict=True):
            scale = max(1.0, float(np.abs(value).max(initial=0)))
            bound = 100 * coarsest * scale
            np.testing.assert_allclose(result.astype(np.float64), value, atol=bound, err_msg=graph)
            checked += 1
    assert checked > GRAPHS // 50
