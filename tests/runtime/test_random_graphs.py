"""Random graphs through the compiled backend, against the reference evaluator."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings

from treadle.testing.arrays import compiled
from treadle.testing.strategies import graph_of, misses, recipes

GRAPHS = int(os.environ.get("TREADLE_RANDOM_GRAPHS", "75"))
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@pytest.mark.parametrize("part", range(4))
def test_compiled_random_graph_gives_the_reference_value(part):
    @settings(max_examples=GRAPHS, deadline=None, suppress_health_check=QUIET, database=None)
    @given(recipes())
    def check(recipe):
        graph = graph_of(*recipe)
        results = compiled([root.node for root in graph.roots])
        for root, result in zip(graph.roots, results, strict=True):
            assert not misses(root, result), graph

    check()
