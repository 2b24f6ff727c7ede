"""Update rules against their formulas, and what every optimizer does."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import optim
from treadle.base.errors import ArgumentError

START, SLOPE = np.array([1.0, -2.0, 3.0]), np.array([0.5, -0.1, 2.0])


def stepped(make, steps):
    """The parameter after steps with a constant gradient."""
    p = td.tensor(START.astype(np.float32)).requires_grad_()
    optimizer = make([p])
    for _ in range(steps):
        optimizer.zero_grad()
        (p * td.tensor(SLOPE.astype(np.float32))).sum().backward()
        optimizer.step()
    return p.numpy()


def sgd(steps, lr, momentum=0.0, decay=0.0):
    p, velocity = START.copy(), 0.0
    for _ in range(steps):
        velocity = momentum * velocity + SLOPE + decay * p
        p = p - lr * velocity
    return p


def adam(steps, lr, decay=0.0, decoupled=False, betas=(0.9, 0.999)):
    p, mean, square = START.copy(), 0.0, 0.0
    for t in range(1, steps + 1):
        g = SLOPE + (0.0 if decoupled else decay * p)
        p = p * (1 - lr * decay) if decoupled else p
        mean = betas[0] * mean + (1 - betas[0]) * g
        square = betas[1] * square + (1 - betas[1]) * g * g
        corrected = np.sqrt(square / (1 - betas[1] ** t)) + 1e-8
        p = p - lr * mean / (1 - betas[0] ** t) / corrected
    return p


CASES = {
    "sgd": (lambda ps: optim.SGD(ps, lr=0.1), sgd(5, 0.1)),
    "momentum": (lambda ps: optim.SGD(ps, lr=0.1, momentum=0.9), sgd(5, 0.1, 0.9)),
    "decay": (lambda ps: optim.SGD(ps, lr=0.1, weight_decay=0.3), sgd(5, 0.1, 0.0, 0.3)),
    "adam": (lambda ps: optim.Adam(ps, lr=0.1), adam(5, 0.1)),
    "betas": (lambda ps: optim.Adam(ps, lr=0.1, betas=(0.5, 0.9)), adam(5, 0.1, betas=(0.5, 0.9))),
    "adam decay": (lambda ps: optim.Adam(ps, lr=0.1, weight_decay=0.3), adam(5, 0.1, 0.3)),
    "adamw": (lambda ps: optim.AdamW(ps, lr=0.1, weight_decay=0.3), adam(5, 0.1, 0.3, True)),
}


@pytest.mark.parametrize("name", CASES)
def test_five_steps_follow_the_formula(name):
    make, expected = CASES[name]
    np.testing.assert_allclose(stepped(make, 5), expected, rtol=3e-5, atol=1e-6)


def test_parameters_without_gradient_stay():
    p, q = (td.tensor([1.0]).requires_grad_() for _ in range(2))
    optimizer = optim.SGD([p, q], lr=1.0)
    (p * 2.0).sum().backward()
    optimizer.step()
    assert (p.tolist(), q.tolist()) == ([-1.0], [1.0])


def test_zero_grad_forgets():
    p = td.tensor([1.0]).requires_grad_()
    optimizer = optim.SGD([p], lr=1.0)
    (p * 2.0).sum().backward()
    optimizer.zero_grad()
    assert p.grad is None


def test_the_learning_rate_can_be_read_and_set():
    optimizer = optim.SGD([td.tensor([1.0]).requires_grad_()], lr=0.25)
    assert optimizer.lr == 0.25
    optimizer.lr = 0.5
    assert optimizer.lr == 0.5


@pytest.mark.parametrize("make", [lambda: optim.SGD([]), lambda: optim.Adam(
    [td.tensor([1.0]).requires_grad_()], lr=-1.0)])  # fmt: skip
def test_wrong_settings_are_refused(make):
    with pytest.raises(ArgumentError, match="optimizer"):
        make()


def test_parameters_keep_collecting_after_a_step():
    p = td.tensor([1.0]).requires_grad_()
    optimizer = optim.AdamW([p])
    for _ in range(2):
        (p * p).sum().backward()
        optimizer.step()
    assert p.requires_grad
    assert p.grad is not None


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16"])
def test_parameters_keep_their_dtype(kind):
    p = td.tensor([1.0, 2.0], dtype=kind).requires_grad_()
    optimizer = optim.Adam([p], lr=0.1)
    (p * p).sum().backward()
    optimizer.step()
    assert p.dtype.name == kind
    assert p.numpy().astype(np.float32).tolist() != [1.0, 2.0]
