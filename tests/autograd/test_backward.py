"""The backward walk visits every node once, whatever the depth of composites."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import treadle as td
from treadle.autograd import backward
from treadle.base.errors import GradientError


def test_every_composite_of_a_deep_chain_is_differentiated_once(monkeypatch):
    visits = Counter()
    real = backward.parts_of

    def counted(node, g):
        visits[node.op.name] += 1
        return real(node, g)

    monkeypatch.setattr(backward, "parts_of", counted)
    w = td.tensor(np.eye(3, dtype=np.float32)).requires_grad_()
    x = td.ones(2, 3)
    for _ in range(12):
        x = td.silu(td.linear(x, w))
    x.sum().backward()
    assert visits["linear"] == visits["silu"] == 12
    assert w.grad is not None


def test_an_operand_used_twice_collects_both_parts():
    x = td.tensor([2.0, 3.0]).requires_grad_()
    td.matmul(x, x).backward()
    assert x.grad.tolist() == [4.0, 6.0]


def test_gradients_by_a_value_in_the_middle_and_by_its_source():
    x = td.tensor([1.0, 2.0])
    y = td.exp(x)
    by_y, by_x = td.gradients((y * y).sum(), [y, x])
    np.testing.assert_allclose(by_y.numpy(), 2 * y.numpy(), rtol=1e-6)
    np.testing.assert_allclose(by_x.numpy(), 2 * y.numpy() ** 2, rtol=1e-6)


def test_an_element_taken_from_the_end_gets_its_gradient():
    x = td.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    index = td.tensor([[-1], [0]])
    found = td.grad(lambda x: td.gather(x, index, axis=1).sum())(x)
    assert found.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


def test_relu_has_no_slope_at_zero():
    assert td.grad(lambda x: td.relu(x).sum())(td.tensor([-1.0, 0.0, 2.0])).tolist() == [0, 0, 1]


def test_softmax_over_several_axes_has_a_gradient():
    x = td.tensor([[1.0, 2.0], [3.0, 4.0]])
    flat = td.grad(lambda x: td.softmax(x.reshape(-1))[1])(x).numpy()
    for axis in ((0, 1), None):
        found = td.grad(lambda x, axis=axis: td.softmax(x, axis=axis)[0, 1])(x)
        np.testing.assert_allclose(found.numpy(), flat, rtol=1e-5)


def test_arguments_without_a_gradient_are_named():
    for argument in (td.arange(3), 2.0, {"w": "text"}):
        with pytest.raises(GradientError, match="argument 0"):
            td.grad(lambda x: td.ones(3).sum())(argument)
    with pytest.raises(GradientError, match="argument 3"):
        td.grad(lambda x: x.sum(), argnums=3)(td.ones(2))
