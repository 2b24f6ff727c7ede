"""Branches and loops that values decide: what is run, its gradient, and what is refused."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, DtypeError, ShapeError
from treadle.ir.parser import parse_graph
from treadle.ir.printer import graph_text
from treadle.ir.verify import RECORDED, verify
from treadle.testing.arrays import by_reference
from treadle.testing.gradcheck import gradcheck


def tensors(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [td.tensor(rng.uniform(-1, 1, shape)) for shape in shapes]


def both_ways(f, *args):
    """Lazily and compiled, which are the same."""
    lazily, compiled = f(*args), td.compile(f)(*args)
    np.testing.assert_array_equal(lazily.numpy(), compiled.numpy())
    np.testing.assert_allclose(by_reference([f(*args)._node])[0], lazily.numpy(), rtol=1e-12)
    return lazily.numpy()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cond_runs_the_branch_of_its_predicate(sign):
    x, w = tensors(0, (3,), (3, 3))
    x = (x * x + 0.1) * sign

    def run(x):
        return td.cond(x.sum() > 0, lambda x: td.tanh(x @ w), lambda x: x * 2 - w.sum(), x)

    expected = np.tanh(x.numpy() @ w.numpy()) if sign > 0 else x.numpy() * 2 - w.numpy().sum()
    np.testing.assert_allclose(both_ways(run, x), expected, rtol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gradient_of_cond_is_that_of_the_branch(sign):
    x, w = tensors(1, (3,), (3, 3))
    x = (x * x + 0.1) * sign

    def run(x, w):
        return td.cond(x.sum() > 0, lambda x: td.tanh(x @ w), lambda x: td.exp(x) * w[0], x)

    gradcheck(run, [x.numpy(), w.numpy()])
    gradcheck(td.compile(td.grad(lambda x, w: run(x, w).sum())), [x.numpy(), w.numpy()], wrt=())
    slope = td.grad(lambda x, w: (run(x, w) ** 2).sum(), argnums=(0, 1))
    gradcheck(lambda x, w: td.concat([g.reshape(-1) for g in slope(x, w)]), [x.numpy(), w.numpy()])


def test_branch_not_taken_does_no_harm():
    x = td.tensor([0.0, 4.0]).requires_grad_()
    y = td.cond(x.sum() < 0, lambda x: td.log(x).sum(), lambda x: x.sum(), x)
    y.backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_branches_that_hand_on_what_they_get():
    a, b = td.tensor([1.0]), td.tensor([2.0])
    for pred, wanted in ((True, [2.0, 1.0, 1.0]), (False, [1.0, 1.0, 7.0])):
        flag = td.tensor(pred)
        found = td.cond(flag, lambda a, b: (b, a, a), lambda a, b: (a, a, a * 7), a, b)
        assert [x.item() for x in found] == wanted
        found = td.compile(lambda p, a, b: td.cond(p, lambda: (b, a, a), lambda: (a, a, a * 7)))(
            flag, a, b
        )
        assert [x.item() for x in found] == wanted


def test_python_bool_decides_at_once():
    def never(x):
        raise AssertionError("called")

    assert td.cond(True, lambda x: x + 1, never, td.tensor(1)).item() == 2
    assert td.switch(1, [never, lambda x: x + 2], td.tensor(1)).item() == 3


@pytest.mark.parametrize(("index", "chosen"), [(-5, 0), (0, 0), (1, 1), (2, 2), (9, 2)])
@pytest.mark.parametrize("kind", ["int64", "int8", "uint8"])
def test_switch_and_indices_out_of_range(index, chosen, kind):
    if index < 0 and kind == "uint8":
        return
    branches = [lambda x: x + 1, lambda x: x * x, td.sin]
    x = td.tensor([0.5, 3.0], dtype="float64")
    found = both_ways(lambda k, x: td.switch(k, branches, x), td.tensor(index, dtype=kind), x)
    np.testing.assert_allclose(found, branches[chosen](x).numpy(), rtol=1e-14)


def test_switch_has_a_gradient_inside_a_loop():
    branches = [lambda c: td.sin(c), lambda c: c * c, lambda c: c * 0.5]
    picks = td.tensor([0, 2, 1, 0])

    def run(c):
        return td.scan(lambda c, k: (td.switch(k, branches, c), c), c, picks)[1]

    gradcheck(run, [np.array([0.3, -0.7])])
    c, expected = td.tensor([0.3, -0.7], dtype="float64"), []
    for k in (0, 2, 1, 0):
        expected.append(c.numpy())
        c = branches[k](c)
    got = both_ways(run, td.tensor([0.3, -0.7], dtype="float64"))
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def collatz(n):
    """Steps until 1."""
    count = 0
    while n != 1:
        n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
    return count


@pytest.mark.parametrize("n", [1, 2, 7, 27])
def test_while_loop(n):
    def step(state):
        n, count = state
        n = td.cond(n % 2 == 0, lambda n: n // 2, lambda n: n * 3 + 1, n)
        return n, count + 1

    def run(n):
        return td.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]

    assert both_ways(run, td.tensor(n)) == collatz(n)


def test_while_loop_ends_after_most_steps():
    def run(x):
        return td.while_loop(lambda x: x < 1e9, lambda x: x * 2, x, max_steps=5)

    assert both_ways(run, td.tensor(1.0, dtype="float64")) == 32.0
    assert both_ways(run, td.tensor(2e9, dtype="float64")) == 2e9


def newton(a, **options):
    """A square root; the number of steps depends on a."""

    def far(state):
        x, _ = state
        return ((x * x - a).abs() > 1e-3).any()

    def step(state):
        x, k = state
        return (x + a / x) * 0.5, k + 1

    return td.while_loop(far, step, (a, 0), **options)


def test_gradient_of_a_bounded_while_loop():
    a = np.array([2.0, 9.0, 0.5])
    x, steps = newton(td.tensor(a))
    np.testing.assert_allclose(x.numpy(), np.sqrt(a), atol=1e-3)
    assert 3 <= steps.item() <= 8
    gradcheck(lambda a: newton(a, max_steps=12)[0], [a])
    found = newton(td.tensor(a).requires_grad_(), max_steps=12)
    np.testing.assert_allclose(found[0].numpy(), x.numpy(), rtol=1e-14)
    assert found[1].item() == steps.item()


def test_while_loop_inside_a_loop():
    def count(x):
        return td.while_loop(lambda s: s[0] < 100, lambda s: (s[0] * 2, s[1] + 1), (x, 0))[1]

    found = both_ways(lambda xs: td.map(count, xs), td.tensor([1, 99, 100, 3]))
    assert found.tolist() == [7, 1, 0, 6]


def test_random_numbers_in_branches():
    td.manual_seed(1)
    draw = td.compile(lambda p: td.cond(p, lambda: td.rand(4), lambda: td.randn(4)))
    seen = [draw(td.tensor(flag)).numpy() for flag in (True, True, False)]
    assert len(np.unique(seen)) == 12
    again = td.cond(td.tensor(True), lambda: td.rand(3), lambda: td.zeros(3))
    assert len(np.unique(again.numpy())) == 3


def test_text_reads_back():
    x = td.ones(2)
    y = td.cond(x.sum() > 0, lambda x: x * 2, lambda x: -x, x)
    z = td.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, y)
    text = graph_text([z._node])
    (root,) = parse_graph(text)
    assert graph_text([root]) == text
    verify([root], RECORDED, "test")


class TestRefused:
    def test_predicates(self):
        x = td.ones(2)
        with pytest.raises(ShapeError, match="one bool"):
            td.cond(x > 0, lambda: x, lambda: x)
        with pytest.raises(DtypeError, match="bool"):
            td.cond(x.sum(), lambda: x, lambda: x)
        with pytest.raises(ArgumentError, match="condition"):
            td.cond("yes", lambda: x, lambda: x)
        with pytest.raises(DtypeError, match="index"):
            td.switch(x, [lambda: x])
        with pytest.raises(ArgumentError, match="no branches"):
            td.switch(td.tensor(0), [])

    def test_branches_that_differ(self):
        x, p = td.ones(2), td.tensor(True)
        with pytest.raises(ShapeError) as found:
            td.cond(p, lambda: x, lambda: x.sum())
        assert "f32[2]" in str(found.value)
        assert "f32[]" in str(found.value)
        with pytest.raises(DtypeError, match="different types"):
            td.cond(p, lambda: x, lambda: x > 0)
        with pytest.raises(ArgumentError, match="forms"):
            td.cond(p, lambda: x, lambda: (x, x))

    def test_states_that_change(self):
        with pytest.raises(ShapeError, match="another type"):
            td.while_loop(lambda x: x.sum() < 3, lambda x: x.reshape(1, 2), td.ones(2))
        with pytest.raises(ArgumentError, match="form"):
            td.while_loop(lambda x: x.sum() < 3, lambda x: (x, x), td.ones(2))
        with pytest.raises(ArgumentError, match="random"):
            td.while_loop(lambda x: x < 3, lambda x: x + td.rand(()), td.tensor(0.0))

    def test_assignment_in_a_branch(self):
        state = td.zeros(2)
        with pytest.raises(ArgumentError, match="outlives"):
            td.cond(td.tensor(True), lambda: state.assign(td.ones(2)), lambda: state)
        assert state.tolist() == [0.0, 0.0]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_loop_without_end_can_be_interrupted():
    def ring(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError):
            td.while_loop(lambda x: x > -1, lambda x: (x + 1) % 7, td.tensor(0)).item()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_loop_that_comes_up_for_air_goes_on_where_it_was():
    def run(c, k):  # some 100 ms and more
        return td.while_loop(lambda s: s[1] < k, lambda s: (s[0] * 3 % 1009, s[1] + 1), (c, 0))

    steps = 8_000_000
    found, count = run(td.tensor(1), td.tensor(steps))
    assert count.item() == steps
    assert found.item() == pow(3, steps, 1009)
