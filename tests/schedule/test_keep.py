"""What is computed again must not multiply along a chain of ops that read neighbours."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import float32
from treadle.base.target import Takes
from treadle.ir.graph import structure
from treadle.ir.node import placeholder, type_of
from treadle.kernel.plan import plan_steps
from treadle.ops import elementwise as e
from treadle.ops.reduce import max_, sum_
from treadle.passes.pipeline import simplify
from treadle.runtime.realize import compile_graph

CHAINS = {
    "a stencil by rolling": lambda x: (
        (x.roll(1, 0) + x.roll(-1, 0) + x.roll(1, 1) + x.roll(-1, 1)) * 0.25
    ),
    "a sum of neighbours": lambda x: (x[1:] + x[:-1]) * 0.5,
    "zeros beside": lambda x: x + td.pad(x, ((1, 0), (0, 0)))[:-1] * 0.5,
    "turned round": lambda x: x + td.flip(x, 0) * 0.5,
    "transposed": lambda x: x + x.T * 0.5,
    "window": lambda x: td.maximum(td.maximum(x[2:], x[1:-1]), x[:-2]),
    "costly and shifted": lambda x: td.gelu(x) + td.gelu(x).roll(1, 0) + td.gelu(x).roll(2, 1),
}


def work(f, times):
    """(ops on elements in all kernels, the results in memory) of f applied so many times."""
    x = y = td.tensor(np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32))
    for _ in range(times):
        y = f(y)
    roots = [y._node]
    leaves = structure(roots)[1]
    program = compile_graph(roots, leaves, {})
    kernels = [built.loops for step in program.steps for built in step.programs()]
    (found,) = program.run([leaf.buffer for leaf in leaves])
    flat = np.frombuffer(found.view(), np.float32, y.size).reshape(y.shape)
    for _ in range(times):
        x = f(x).realize()
    np.testing.assert_allclose(flat, x.numpy(), rtol=1e-5, atol=1e-6)
    return sum(len(loops.order()) for loops in kernels)


@pytest.mark.parametrize("name", CHAINS)
def test_the_work_of_a_chain_grows_with_its_length(name):
    alone = work(CHAINS[name], 1)
    for times in (2, 6):
        assert work(CHAINS[name], times) <= 2.0 * times * alone


def test_what_is_woven_of_several_arrays_is_computed_once():
    given = [td.ones(4, 32, 28, 28), td.ones(32, 32, 3, 3), td.ones(32), td.ones(6272, 40)]

    def loss(x, kernel, bias, weight):
        pooled = td.max_pool2d(td.relu(td.conv2d(x, kernel, bias, padding=1)), 2)
        return td.exp(pooled.reshape(4, -1) @ weight).sum()

    function = td.compile(td.grad(loss, (0, 1, 2)))
    function(*given)
    (traced,) = [t for known in function.entries.values() for t in known]
    programs = [built.loops for step in traced.program.steps for built in step.programs()]
    assert sum("div(" in str(loops) for loops in programs) == 1


def test_of_something_huge_the_values_of_its_rows_are_kept_instead():
    def written(rows, columns):
        x = placeholder(type_of((rows, columns), float32))
        z = e.exp(x - max_(x, axis=1, keepdims=True))
        total = sum_(sum_(z, axis=1))  # nobody has it before all rows are done
        steps = plan_steps(simplify([sum_(z * total, axis=1)]), {}, Takes())
        return {n.op.name for step in steps for n in step.writes if n.type.size > rows}

    assert written(1 << 10, 1 << 10) == {"exp"}
    assert written(1 << 14, 1 << 13) == set()
