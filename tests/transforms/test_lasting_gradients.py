"""Gradients are state: compiled or not, and one inside another, they are the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import GradientError


def zero_inside(w, optimizer, x):
    optimizer.zero_grad()
    loss = (w * x).sum()
    loss.backward()
    optimizer.step()
    return loss


def never_zero(w, optimizer, x):
    loss = (w * x).sum()
    loss.backward()
    optimizer.step()
    return loss


def zero_after(w, optimizer, x):
    loss = never_zero(w, optimizer, x)
    optimizer.zero_grad()
    return loss


def only_collect(w, optimizer, x):
    loss = (w * w * x).sum()
    loss.backward()
    return loss


def collect_afresh(w, optimizer, x):
    optimizer.zero_grad()
    return only_collect(w, optimizer, x)


def only_step(w, optimizer, x):
    optimizer.step()
    return (w * x).sum()


def twice(w, optimizer, x):
    only_collect(w, optimizer, x)
    return only_collect(w, optimizer, x * 2.0)


STEPS = (zero_inside, never_zero, zero_after, only_collect, collect_afresh, only_step, twice)


def learner(rule, transform):
    w = td.nn.Parameter(td.tensor([0.5, -1.0, 2.0]))
    optimizer = getattr(td.optim, rule)([w], lr=0.25)
    return w, optimizer, {f: transform(lambda x, f=f: f(w, optimizer, x)) for f in STEPS}


def gradient_of(w):
    try:
        return None if w.grad is None else w.grad.tolist()
    except GradientError:
        return "inside"


@pytest.mark.parametrize("rule", ["SGD", "Adam"])
@pytest.mark.parametrize("seed", range(12))
def test_gradients_in_tensors_are_what_they_are_without_compiling(rule, seed):
    """Random steps in random order: whatever is there to be read is the same number."""
    rng = np.random.default_rng(seed)
    order = [STEPS[k] for k in rng.integers(0, len(STEPS), 8)]
    clear, look = rng.random(8) < 0.2, rng.random(8) < 0.5
    inputs = [td.tensor(rng.normal(size=3).astype(np.float32)) for _ in order]
    plain, fast = (learner(rule, transform) for transform in (lambda f: f, td.compile))
    for f, x, empty, wanted in zip(order, inputs, clear, look, strict=True):
        if empty or gradient_of(fast[0]) == "inside":
            for _, optimizer, _ in (plain, fast):
                optimizer.zero_grad()
        losses = [functions[f](x).item() for _, _, functions in (plain, fast)]
        np.testing.assert_allclose(*losses, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(fast[0].numpy(), plain[0].numpy(), rtol=1e-5, atol=1e-6)
        found, expected = gradient_of(fast[0]) if wanted else "inside", gradient_of(plain[0])
        if found != "inside":
            assert (found is None) == (expected is None)
            np.testing.assert_allclose(found or [], expected or [], rtol=1e-5, atol=1e-6)


def test_three_steps_without_forgetting_gradients():
    for compiled in (False, True):
        w = td.tensor([0.0]).requires_grad_()
        optimizer = td.optim.SGD([w], lr=1.0)
        step = (td.compile if compiled else lambda f: f)(
            lambda w=w, o=optimizer: never_zero(w, o, td.ones(1))
        )
        for _ in range(3):
            step()
        assert w.tolist() == [-6.0]
        assert w.grad.tolist() == [3.0]


# ---- derivatives inside derivatives


def test_a_gradient_inside_a_gradient_leaves_what_the_outer_one_follows():
    x, w = td.tensor(2.0), td.tensor(3.0)

    def outer(w):
        return td.grad(lambda x: w * x * x)(x) + w * w * w

    def pending(w):
        v = w * 1.0
        return td.grad(lambda x: v * x * x)(x + 0.0) + v * w * w

    def looked_at(w):
        slope = td.grad(lambda x: w * x * x)(x)
        slope.item()
        return slope + w * w * w

    def penalty(w):
        value, slope = td.value_and_grad(lambda x: (w * x * x).sum())(x)
        return slope * slope + value

    def thrice(w):
        return td.grad(lambda v: td.grad(lambda u: u * v * w * w)(v) * v)(x)

    for f, expected in ((outer, 31.0), (pending, 31.0), (penalty, 100.0), (thrice, 24.0)):
        for transform in (lambda f: f, td.compile):
            assert transform(td.grad(f))(w).item() == pytest.approx(expected)
            assert transform(td.grad(f))(w * 1.0).item() == pytest.approx(expected)
    assert td.grad(looked_at)(w).item() == 31.0
    assert td.jacobian(outer)(w).item() == 31.0
    assert td.jvp(outer, [w], [td.tensor(1.0)])[1].item() == 31.0
