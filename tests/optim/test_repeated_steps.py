"""Steps outside of compiled functions: recorded once, written in place, and nobody notices."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import treadle as td
from treadle import optim

RULES = ("SGD", "ASGD", "Rprop", "Lion", "Adam", "NAdam", "RAdam", "RMSprop", "Adagrad", "LAMB")


def parameter(seed=0, shape=(3, 4)):
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return td.tensor(values).requires_grad_()


def advance(optimizer, p):
    optimizer.zero_grad()
    loss = (p * p * p).sum()
    loss.backward()
    optimizer.step()
    return loss


def address(x):
    return x._node.buffer.address


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_recorded_once(name):
    p = parameter()
    optimizer = getattr(optim, name)([p], lr=0.01)
    calls = []
    update = optimizer.update
    optimizer.update = lambda *args: (calls.append(1), update(*args))[1]
    for k in range(4):
        optimizer.lr = 0.01 / (k + 1)  # a schedule's work
        advance(optimizer, p)
    assert len(calls) == 1


def test_adam_is_what_it_says():
    p = parameter()
    optimizer = optim.Adam([p], lr=0.1, betas=(0.5, 0.75), eps=1e-3)
    value, mean, square = p.numpy().astype(np.float64), 0.0, 0.0
    for k in range(1, 6):
        optimizer.lr = 0.1 / k
        advance(optimizer, p)
        g = 3 * value**2
        mean, square = 0.5 * mean + 0.5 * g, 0.75 * square + 0.25 * g * g
        root = np.sqrt(square / (1 - 0.75**k))
        value = value - 0.1 / k * mean / (1 - 0.5**k) / (root + 1e-3)
        np.testing.assert_allclose(p.numpy(), value, rtol=1e-5, atol=1e-6)


def test_state_stays_where_it_is():
    p = parameter()
    optimizer = optim.Adam([p])
    advance(optimizer, p)
    state = optimizer.state[p]
    places = [address(state["exp_avg"]), address(state["exp_avg_sq"])]
    for _ in range(3):
        advance(optimizer, p)
    assert [address(state["exp_avg"]), address(state["exp_avg_sq"])] == places


def test_what_somebody_holds_keeps_its_value():
    p = parameter()
    optimizer = optim.Adam([p], lr=0.5)
    advance(optimizer, p)
    mean, seen, array = optimizer.state[p]["exp_avg"].detach(), p.detach(), p.numpy()
    before = mean.tolist(), seen.tolist()
    loss = advance(optimizer, p)
    assert p.tolist() != before[1]
    assert (mean.tolist(), seen.tolist(), array.tolist()) == (*before, before[1])
    optimizer.zero_grad()
    loss.backward()  # by the values that the loss was computed from
    np.testing.assert_allclose(p.grad.numpy(), 3 * array**2, rtol=1e-5)


def test_state_may_be_exchanged():
    p = parameter()
    optimizer = optim.SGD([p], lr=1.0, momentum=0.5)
    for _ in range(2):
        p.grad = td.ones(3, 4)
        optimizer.step()
    before = p.numpy().astype(np.float64)
    optimizer.state[p]["momentum_buffer"] = td.full((3, 4), 8.0)
    p.grad = td.ones(3, 4)
    optimizer.step()
    np.testing.assert_allclose(p.numpy(), before - 5.0, rtol=1e-6)


def test_gradients_may_come_and_go_and_be_narrow():
    one, two = parameter(1), parameter(2)
    optimizer = optim.SGD([one, two], lr=0.5)
    values = [one.numpy().astype(np.float64), two.numpy().astype(np.float64)]
    for given in (("float32", None), ("float32", "float32"), (None, None), ("float16", "float32")):
        for k, (p, kind) in enumerate(zip((one, two), given, strict=True)):
            p.grad = None if kind is None else td.full((3, 4), 0.25, dtype=kind)
            values[k] = values[k] if kind is None else values[k] - 0.125
        optimizer.step()
    for p, value in zip((one, two), values, strict=True):
        np.testing.assert_allclose(p.numpy(), value, rtol=1e-6)


def test_rules_of_others_run_each_time():
    seen = []

    class Counting(optim.SGD):
        def update(self, p, g, state, n):
            seen.append(len(seen))
            return p - g * float(len(seen))

    p = td.zeros(2).requires_grad_()
    optimizer = Counting([p], lr=1.0)
    for _ in range(3):
        p.grad = td.ones(2)
        optimizer.step()
    assert (seen, p.tolist()) == ([0, 1, 2], [-6.0, -6.0])


def test_programs_are_no_part_of_files():
    p = parameter()
    optimizer = optim.Adam([p])
    advance(optimizer, p)
    assert pickle.loads(pickle.dumps(optimizer.repeated)).compiled is None
