"""Gradients as tensors know them: leaves, hooks, switches, higher orders, and nothing unasked."""

from __future__ import annotations

import gc
import threading
from itertools import pairwise

import numpy as np
import pytest

import treadle as td
from treadle.autograd import backward
from treadle.base.errors import GradientError, OperandError, ShapeError
from treadle.tensor.gradients import WATCHED, enable_grad, no_grad


def leaf(*values):
    return td.tensor(np.array(values)).requires_grad_()


# ---- hooks


def test_hooks_see_and_change_gradients_on_their_way():
    x = leaf(1.0, 2.0)
    y = x * x
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10.0)
    (y * 3.0).sum().backward()
    assert seen == [[3.0, 3.0]]
    assert x.grad.tolist() == [60.0, 120.0]


def test_a_hook_is_given_the_whole_gradient_once():
    x = leaf(2.0)
    y = x * 3.0
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    (y * y + td.sin(y) * 0.0 + y).sum().backward()
    assert seen == [13.0]


def test_hooks_of_leaves_change_what_is_collected():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: -g)
    (x * 5.0).sum().backward()
    assert x.grad.tolist() == [-5.0]
    handle.remove()
    handle.remove()
    x.grad = None
    (x * 5.0).sum().backward()
    assert x.grad.tolist() == [5.0]


def test_hooks_work_in_gradients_and_in_grad():
    x = leaf(1.0, 2.0)
    y = x * x
    y.register_hook(lambda g: g * 2.0)
    assert td.gradients(y.sum(), [x])[0].tolist() == [4.0, 8.0]

    def f(x):
        y = x * x
        y.register_hook(lambda g: g * 2.0)
        return y.sum()

    assert td.grad(f)(td.tensor([1.0, 2.0])).tolist() == [4.0, 8.0]


def test_hooks_stay_with_a_leaf_that_is_assigned():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 2.0)
    x.assign(x * 3.0)
    (x * x).sum().backward()
    assert x.grad.tolist() == [12.0]


def test_hooks_inside_compiled_functions_become_part_of_them():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    x.register_hook(lambda g: g * 0.5)

    @td.compile
    def step(scale):
        x.grad = None
        y = x * x
        y.register_hook(lambda g: g * 10.0)
        (y * scale).sum().backward()
        return x.grad

    for scale in (1.0, 3.0):
        assert step(td.tensor(scale)).tolist() == [10.0 * scale, 20.0 * scale]


def test_hooks_that_give_something_else_are_told_so():
    x = leaf(1.0, 2.0)
    handle = x.register_hook(lambda g: g.sum())
    with pytest.raises(ShapeError, match="hook"):
        (x * x).sum().backward()
    handle.remove()
    x.register_hook(lambda g: 2.0)
    with pytest.raises(OperandError, match="hook"):
        (x * x).sum().backward()
    with pytest.raises(OperandError, match="register_hook"):
        x.register_hook(3)
    with pytest.raises(GradientError, match="register_hook"):
        td.ones(2).register_hook(print)


def test_what_is_watched_does_not_live_longer():
    gc.collect()
    before = len(WATCHED)
    y = leaf(1.0) * 2.0
    y.register_hook(print)
    assert len(WATCHED) == before + 1
    del y
    gc.collect()
    assert len(WATCHED) == before


# ---- leaves and what lies between


def test_values_in_between_keep_their_gradient_if_asked():
    x = leaf(1.0, 2.0)
    y, z = x * x, x * 3.0
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    (y * 2.0 + z).sum().backward()
    assert (y.grad.tolist(), z.grad) == ([2.0, 2.0], None)
    assert x.grad.tolist() == [7.0, 11.0]
    with pytest.raises(GradientError, match="retain_grad"):
        td.ones(2).retain_grad()


def test_leaves_are_what_nothing_comes_before():
    x = leaf(1.0)
    assert (x.is_leaf, (x * 2.0).is_leaf, (x * 2.0).detach().is_leaf) == (True, False, True)
    assert td.ones(2).is_leaf
    y = (x * 2.0).requires_grad_()
    assert not y.is_leaf  # it still passes gradients on
    y.sum().backward()
    assert x.grad.tolist() == [2.0]
    with pytest.raises(GradientError, match="detach"):
        (x * 2.0).requires_grad_(False)
    assert not x.requires_grad_(False).requires_grad


def test_gradients_have_the_shape_of_their_tensors():
    x = leaf(1.0, 2.0)
    with pytest.raises(ShapeError, match="backward"):
        (x * 2.0).backward(td.ones(3))
    with pytest.raises(OperandError, match="backward"):
        (x * 2.0).backward([1.0, 1.0])
    with pytest.raises(GradientError, match="scalar"):
        (x * 2.0).backward()
    with pytest.raises(ShapeError, match="grad"):
        x.grad = td.ones(3)
    (x * 2.0).backward(td.ones(2, dtype="float32"))
    assert (x.grad.dtype, x.grad.tolist()) == (td.float64, [2.0, 2.0])
    x.grad = None
    x.backward(td.ones(2, dtype="float32"))
    assert x.grad.dtype is td.float64


# ---- switches


def test_switches_are_contexts_and_decorators():
    x = leaf(1.0)

    @no_grad
    def bare():
        return x * 2.0

    @no_grad()
    def called():
        with enable_grad():
            inner = x * 2.0
        return x * 2.0, inner

    assert not bare().requires_grad
    assert [y.requires_grad for y in called()] == [False, True]
    assert (x * 2.0).requires_grad
    assert bare.__name__ == "bare"


def test_one_switch_may_be_entered_twice():
    switch, x = no_grad(), leaf(1.0)
    with switch, switch:
        assert not (x * 2.0).requires_grad
    assert (x * 2.0).requires_grad


def test_decorated_functions_do_not_switch_other_threads():
    x, found = leaf(1.0), []

    @no_grad
    def f():
        other = threading.Thread(target=lambda: found.append((x * 2.0).requires_grad))
        other.start()
        other.join()

    f()
    assert found == [True]


def test_a_decorated_function_may_run_in_two_threads():
    x, found = leaf(1.0), []
    first_in, second_in, first_out = (threading.Event() for _ in range(3))

    @enable_grad
    def f(mine, others):
        mine.set()
        others.wait(5)

    def first():
        f(first_in, second_in)
        found.append((x * 2.0).requires_grad)
        first_out.set()

    other = threading.Thread(target=first)
    other.start()
    first_in.wait(5)
    with no_grad():
        f(second_in, first_out)
        found.append((x * 2.0).requires_grad)
    other.join()
    assert found == [True, False]


# ---- higher orders


def test_backward_through_backward():
    x = leaf(2.0, 3.0)
    (x * x * x * x).sum().backward(create_graph=True)
    first = x.grad
    assert (first.tolist(), first.requires_grad) == ([32.0, 108.0], True)
    x.grad = None
    first.sum().backward(create_graph=True)
    second = x.grad
    x.grad = None
    second.sum().backward()
    assert (second.tolist(), x.grad.tolist()) == ([48.0, 108.0], [48.0, 72.0])
    assert not x.grad.requires_grad


def test_graphs_are_kept():
    x = leaf(3.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [12.0]


def test_derivatives_of_every_order_of_a_composite():
    f = lambda x: td.exp(td.sin(x))  # noqa: E731
    order = [f]
    for _ in range(3):
        order.append(td.grad(order[-1]))
    at, step = 0.7, 1e-4
    for low, high in pairwise(order):
        near = [low(td.tensor(np.float64(at + d))).item() for d in (step, -step)]
        difference = (near[0] - near[1]) / (2 * step)
        assert high(td.tensor(np.float64(at))).item() == pytest.approx(difference, rel=1e-6)


# ---- nothing that nobody asked for


def test_a_product_is_differentiated_only_where_somebody_asks():
    x, w = td.ones(32, 32), td.ones(32, 32)

    def products(argnums):
        found = td.explain(td.grad(lambda x, w: td.tanh(x @ w).sum(), argnums), x, w)
        return sum(row.kind == "product" for row in found.rows)

    assert (products((0, 1)), products(0), products(1)) == (3, 2, 2)


def test_rules_run_only_between_what_is_asked_for_and_the_result(monkeypatch):
    visited = []
    real = backward.parts_of
    monkeypatch.setattr(backward, "parts_of", lambda n, g: visited.append(n.op.name) or real(n, g))
    x, w = leaf(1.0), leaf(2.0)
    y = td.exp(x) * td.sin(w)
    td.gradients(y.sum(), [x])
    assert "exp" in visited
    assert "sin" not in visited
    visited.clear()
    middle = td.exp(x)
    td.gradients((middle * middle).sum(), [middle])
    assert "exp" not in visited
    visited.clear()
    with td.no_grad():
        frozen = td.cos(x)
    (frozen * td.tanh(w)).sum().backward()
    assert "tanh" in visited
    assert "cos" not in visited


def test_a_gradient_nobody_reads_is_never_computed():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * w).sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    assert w.grad._node.buffer is None


def test_ops_without_a_gradient_are_named():
    x = td.tensor([1.5, 2.5])
    with pytest.raises(GradientError, match="heaviside"):
        td.grad(lambda x: td.heaviside(x, td.tensor(0.5)).sum())(x)


# ---- values that were looked at


def test_looking_in_between_changes_no_gradient():
    def f(x):
        y = x * x
        y.tolist()
        return (y * y).sum()

    assert td.grad(f)(td.tensor([1.0, 2.0])).tolist() == [4.0, 32.0]


def test_gradients_do_not_guess_what_was_forgotten():
    x = td.tensor([1.0, 2.0])
    y = (x * x).realize()
    with pytest.raises(GradientError, match="requires_grad_"):
        td.gradients(y.sum(), [x])
    assert td.gradients((x * 2.0).sum(), [x, td.ones(3)])[1].tolist() == [0.0] * 3
