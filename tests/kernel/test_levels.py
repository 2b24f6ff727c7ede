"""What a kernel computes once, and keeps from one pass over a row to the next."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.base.dtypes import dtype
from treadle.ir.graph import structure
from treadle.ir.node import leaf, type_of
from treadle.kernel.levels import kept_count
from treadle.kernel.signature import Signature
from treadle.ops import composite as c
from treadle.ops import elementwise as e
from treadle.ops.reduce import max_
from treadle.runtime.realize import compile_graph
from treadle.testing.arrays import by_reference, compiled, node_of


def by_its_mean(value):
    """What an elementwise value becomes: it is wanted by two passes."""
    return value / c.mean(value * value, axis=-1, keepdims=True)


def peak(x):
    return max_(abs(x), axis=-1, keepdims=True) + 1.0


WAYS = {
    "exp": (lambda x: by_its_mean(e.exp(x)), 1),
    "a quotient": (lambda x: by_its_mean(x / peak(x)), 1),
    "a root": (lambda x: by_its_mean(e.sqrt(abs(x) + 1.0)), 1),
    "a product": (lambda x: by_its_mean(x * 3.0), 0),
    "a quotient of the last pass": (lambda x: x / peak(x), 0),
    "a number of the row": (lambda x: by_its_mean(x * (1.0 / peak(x))), 0),
}


@pytest.mark.parametrize("name", WAYS)
def test_what_takes_long_is_computed_once(name):
    make, count = WAYS[name]
    x = leaf(type_of((4, 100), dtype("float32")), object())
    roots = [make(x)]
    (step,) = compile_graph(roots, structure(roots)[1], {}).steps
    (built,) = step.programs()
    assert kept_count(Signature(built.loops).text) == count


@pytest.mark.parametrize("shape", [(4, 100), (3, 1), (1, 1000), (0, 5), (2, 3, 17)])
@pytest.mark.parametrize("name", WAYS)
def test_kept_values_are_right(name, shape):
    make, _ = WAYS[name]
    rng = np.random.default_rng(0)
    roots = [make(node_of(rng.standard_normal(shape).astype(np.float32)))]
    for ours, theirs in zip(compiled(roots), by_reference(roots), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=3e-6)
