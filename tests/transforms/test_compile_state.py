"""What compiled functions do to what outlives them: gradients and state are not lost silently."""

from __future__ import annotations

import sys

import pytest

import treadle as td
from treadle.base.errors import GradientError


def test_the_result_of_a_compiled_function_has_no_gradient_and_says_so():
    w, closed = (td.tensor([3.0]).requires_grad_() for _ in range(2))
    for f in (lambda x: x * 2.0, lambda x: x, lambda x: closed + x.detach()):
        y = td.compile(f)(w)
        assert y.requires_grad
        assert y.tolist() == f(w).tolist()
        for work in (
            lambda y=y: (y * w).sum().backward(),
            lambda y=y: y.sum().backward(),
            lambda y=y: y.backward(td.ones(1)),
            lambda y=y: td.gradients((y * w).sum(), [w]),
            lambda y=y: td.grad(lambda v, y=y: (y * v).sum())(w),
        ):
            with pytest.raises(GradientError, match="result of a compiled function"):
                work()
        assert w.grad is None
        (y.detach() * w).sum().backward()
        assert w.grad.tolist() == y.tolist()
        w.grad = None


def test_results_that_need_no_gradient_are_plain_values():
    w, v = td.tensor([3.0]).requires_grad_(), td.tensor([5.0]).requires_grad_()
    found = td.compile(lambda x: (x.detach() * 2.0, x > 0.0, td.ones(1)))(w)
    assert not any(y.requires_grad for y in found)
    value, slope = td.compile(td.value_and_grad(lambda x: (x * x).sum()))(td.tensor([3.0]))
    assert not value.requires_grad
    (value * slope * v).sum().backward()
    assert v.grad.tolist() == [54.0]


def test_gradients_switched_off_around_a_compiled_function():
    w = td.tensor([3.0]).requires_grad_()
    f, x = td.compile(lambda x: x * w), td.tensor([2.0])
    for _ in range(2):
        with td.no_grad():
            assert not f(x).requires_grad
            assert not f(w).requires_grad
        assert f(x).requires_grad
        assert f(w).requires_grad


def test_inputs_before_a_compiled_function_are_not_taken_for_unused():
    f, x, v = td.compile(lambda x: x * 2.0), td.ones(2), td.ones(2)
    y = f(x)
    with pytest.raises(GradientError, match="compiled was computed before"):
        td.gradients(y.sum(), [x])
    assert td.gradients((y * v).sum(), [v])[0].tolist() == [2.0, 2.0]


def test_a_returned_loss_keeps_no_argument_alive():
    w = td.nn.Parameter(td.ones(3))
    optimizer = td.optim.SGD([w], lr=0.5)

    @td.compile
    def step(x):
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = td.ones(3).requires_grad_().realize()
    memory = [sys.getrefcount(x._node), sys.getrefcount(w._node)]
    losses = [step(x) for _ in range(3)]
    assert [loss.item() for loss in losses] == [3.0, 1.5, 0.0]
    assert [sys.getrefcount(x._node), sys.getrefcount(w._node)] == memory
    assert all(loss.requires_grad for loss in losses)


def test_gradients_left_behind_are_there_as_without_compiling():
    w, mean = td.nn.Parameter(td.ones(3)), td.zeros(3)

    @td.compile
    def left(x, keep=False):
        loss = (w * x).sum()
        loss.backward()
        if keep:
            mean.assign(x)
        return loss

    left(td.ones(3))
    assert w.grad.tolist() == [1.0] * 3
    kept = w.grad
    left(td.full((3,), 2.0), keep=True)
    assert w.grad.tolist() == [3.0] * 3
    assert kept.tolist() == [1.0] * 3
    assert mean.tolist() == [2.0] * 3

    def argument(x):
        (x * x).sum().backward()
        return x * 1.0

    x, follow = td.ones(3).requires_grad_(), td.compile(argument)
    for k in (1, 2, 3):
        follow(x)
        assert x.grad.tolist() == [2.0 * k] * 3


def test_gradients_that_a_trace_uses_may_stay_inside():
    w = td.nn.Parameter(td.ones(3))
    frozen = td.nn.Parameter(td.ones(3))

    def loss_of(x):
        w.grad = frozen.grad = None
        own = td.ones(3).requires_grad_()
        (w * x * frozen * own).sum().backward()

    def norm(x):
        loss_of(x)
        return (w.grad * w.grad).sum()

    def own_leaf(x):
        own = td.ones(3).requires_grad_()
        (own * x.detach()).sum().backward()
        return x * 1.0

    def forgotten(x):
        loss_of(x)
        w.grad = frozen.grad = None
        return x * 1.0

    x = td.tensor([1.0, 2.0, 3.0])
    assert td.compile(norm)(x).item() == 14.0
    assert td.compile(own_leaf)(x).tolist() == [1.0, 2.0, 3.0]
    assert td.compile(forgotten)(x).tolist() == [1.0, 2.0, 3.0]


def test_gradients_collected_outside_are_read_anew():
    w = td.nn.Parameter(td.ones(2))
    optimizer = td.optim.SGD([w], lr=1.0)
    update = td.compile(optimizer.step)
    for k, expected in ((1.0, [0.0, 0.0]), (2.0, [-2.0, -2.0]), (3.0, [-5.0, -5.0])):
        optimizer.zero_grad()
        (w * k).sum().backward()
        update()
        assert w.tolist() == expected
    optimizer.zero_grad()
    update()  # nobody has a gradient: nothing to do
    assert w.tolist() == [-5.0, -5.0]


# ---- state


CONSTANTS = {
    "zeros": lambda: td.zeros(()),
    "full": lambda: td.full((), 0.0),
    "pending": lambda: td.ones(()) * 0.0,
    "one element": lambda: td.zeros(1),
    "in memory": lambda: td.tensor(0.0),
}


@pytest.mark.parametrize("make", CONSTANTS.values(), ids=CONSTANTS)
def test_constants_are_state_like_any_tensor(make):
    d, c = make(), make()

    @td.compile
    def g(x):
        d.assign(d + 1.0)
        return x + d

    assert [g(make()).sum().item() for _ in range(3)] == [1.0, 2.0, 3.0]
    assert d.sum().item() == 3.0
    assert c.sum().item() == 0.0


@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_constant_assigned_outside_is_read_anew(shape):
    c = td.zeros(shape)
    f = td.compile(lambda x: x + c)
    assert f(td.zeros(shape)).sum().item() == 0.0
    c.assign(td.full(shape, 7.0))
    assert f(td.zeros(shape)).max().item() == 7.0


def test_an_iota_can_be_state():
    n = td.arange(3)
    step = td.compile(lambda: n.assign(n + 1))
    assert [step().tolist() for _ in range(3)] == [[1, 2, 3], [2, 3, 4], [3, 4, 5]]
    assert td.arange(3).tolist() == [0, 1, 2]


def test_a_computed_tensor_that_is_closed_over_is_read_anew():
    made = {
        "arithmetic": td.ones(2) * 3.0, "arange": td.arange(2).cast("float32"),
        "a view": td.ones(1, 2).reshape(2), "an entry": td.ones(3, 2)[1],
    }  # fmt: skip
    for name, a in made.items():
        uses = {
            "sum": td.compile(lambda x, a=a: x + a),
            "function": td.compile(lambda x, a=a: x * td.exp(a)),
            "index": td.compile(lambda x, a=a: x - a[1]),
            "product": td.compile(lambda x, a=a: x @ a),
        }
        x = td.ones(2)
        for f in uses.values():
            f(x)
        a.assign(td.tensor([5.0, 7.0]))
        assert uses["sum"](x).tolist() == [6.0, 8.0], name
        assert uses["index"](x).tolist() == [-6.0, -6.0], name
        assert uses["product"](x).item() == 12.0, name
        assert abs(uses["function"](x)[0].item() - 148.41316) < 1e-3, name


@pytest.mark.parametrize("look", [td.realize, lambda x: x.realize()], ids=["function", "method"])
def test_computing_inside_a_function_does_not_end_what_is_traced(look):
    w = td.tensor([1.0, 2.0])

    @td.compile
    def step():
        w.assign(w * 2.0)
        total = w.sum()
        look(total)
        look(w)
        return total

    assert [float(step()) for _ in range(3)] == [6.0, 12.0, 24.0]
    assert w.tolist() == [8.0, 16.0]
