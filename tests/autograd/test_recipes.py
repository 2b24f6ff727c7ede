"""Gradients of composites copied from what was recorded once: the same graph, for every call."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.autograd import recipes
from treadle.autograd.backward import _copied, _through
from treadle.base.dtypes import float32
from treadle.base.errors import GradientError
from treadle.ir.graph import structure
from treadle.ir.node import placeholder
from treadle.ops.defs import TABLE, Kind
from treadle.passes.pipeline import simplify
from treadle.testing.arrays import node_of
from treadle.testing.samples import cases, takes

SMOOTH = sorted(name for name, op in TABLE.items() if op.kind is Kind.COMPOSITE and op.grad is None)


def test_rules_run_once_for_each_kind_of_call(monkeypatch):
    monkeypatch.setattr(recipes, "_RECIPES", {})
    made, counts = [], []
    real = recipes.Recipe
    monkeypatch.setattr(recipes, "Recipe", lambda *args: made.append(1) or real(*args))
    w = td.nn.Parameter(td.tensor(np.ones((3, 4), np.float32)))
    for k in range(5):
        x = td.tensor(np.full((2, 4), k + 1.0, np.float32))
        w.grad = None
        td.relu(td.linear(x, w)).mean().backward()
        np.testing.assert_allclose(w.grad.numpy(), np.full((3, 4), (k + 1) / 3), rtol=1e-6)
        counts.append(len(made))
    assert 0 < counts[0] == counts[-1]


def test_an_operand_given_twice_is_told_from_two():
    x, y = (td.tensor([1.0, 2.0]).requires_grad_() for _ in range(2))
    td.lerp(x, y, 0.25).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([0.75, 0.75], [0.25, 0.25])
    x.grad = None
    td.lerp(x, x, 0.25).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_gradients_of_gradients_go_through_copies():
    for _ in range(2):
        x = td.tensor([0.5, -1.5]).requires_grad_()
        td.silu(x).sum().backward(create_graph=True)
        first, x.grad = x.grad, None
        first.sum().backward()
        s = 1 / (1 + np.exp(-x.numpy()))
        expected = s * (1 - s) * (2 + x.numpy() * (1 - 2 * s))
        np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("name", SMOOTH)
def test_a_copy_is_the_graph_that_the_rules_record(name):
    op = TABLE[name]
    rng = np.random.default_rng(0)
    for case in cases(op, float32, rng) if takes(op, float32) else ():
        try:
            node = case.record([node_of(x) for x in case.operands])
        except td.TreadleError:
            continue
        if not hasattr(node, "op") or node.op is not op or not node.dtype.is_float:
            continue
        operands = list(dict.fromkeys(node.operands))
        g = placeholder(node.type)
        try:
            expected = _through(node, operands, g)
        except GradientError:
            continue
        for _ in range(2):
            found = _copied(node, operands, g)
            assert [x is None for x in found] == [x is None for x in expected]
            both = [[x for x in parts if x is not None] for parts in (found, expected)]
            assert structure(both[0])[0] == structure(both[1])[0]


@pytest.mark.parametrize("product", [
    lambda x, w: td.linear(x, w), lambda x, w: x @ w.T, lambda x, w: td.einsum("bi,oi->bo", x, w),
], ids=("linear", "matmul", "einsum"))  # fmt: skip
def test_gradients_of_transposed_weights_lie_as_these(product):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    w = td.ones(5, 4).realize().requires_grad_()
    y = product(td.tensor(x), w)
    (y * y).sum().backward()
    (found,) = simplify([w.grad._node])
    assert found.op.name == "matrix_product"  # and no copy that turns it
    np.testing.assert_allclose(w.grad.numpy(), 2 * (x @ np.ones((4, 5))).T @ x, rtol=1e-6)
