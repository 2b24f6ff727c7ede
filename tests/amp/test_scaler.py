"""Loss scaling: what is divided, which steps are skipped, how the scale goes."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.amp import GradScaler
from treadle.base.errors import ArgumentError, OperandError

FACTORS = [1.0, 2.0, np.inf, 1.0, np.nan, 3.0, 1.0, 1.0, -np.inf, 1.0]


def run(transform, factors=FACTORS, clip=False, **options):
    """(value, scale, steps counted) after each step of Adam with gradients times a factor."""
    p = td.tensor([1.0, 2.0]).requires_grad_()
    optimizer = td.optim.Adam([p], lr=0.1)
    scaler = GradScaler(**({"init_scale": 8.0, "growth_interval": 2} | options))

    def step(factor):
        optimizer.zero_grad()
        loss = (p * p * factor).sum()
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(optimizer)
            p.grad = p.grad.clip(-1.0, 1.0)
        scaler.step(optimizer)
        scaler.update()
        return loss

    go, found = transform(step), []
    for factor in factors:
        go(td.tensor(factor))
        steps = float(optimizer.state_dict()["state"][0]["step"])
        found.append((*p.tolist(), scaler.get_scale(), steps))
    return np.array(found), scaler


def plain(factors, clip=False):
    p = td.tensor([1.0, 2.0]).requires_grad_()
    optimizer = td.optim.Adam([p], lr=0.1)
    found = []
    for factor in factors:
        if np.isfinite(factor):
            optimizer.zero_grad()
            (p * p * factor).sum().backward()
            if clip:
                p.grad = p.grad.clip(-1.0, 1.0)
            optimizer.step()
        found.append(p.tolist())
    return np.array(found)


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("transform", [lambda f: f, td.compile], ids=["lazy", "compiled"])
def test_steps_that_are_not_finite_are_skipped(transform, clip):
    found, _ = run(transform, clip=clip)
    np.testing.assert_allclose(found[:, :2], plain(FACTORS, clip), rtol=1e-6)
    assert found[:, 2].tolist() == [8, 16, 8, 8, 4, 4, 8, 8, 4, 4]
    assert found[:, 3].tolist() == [1, 2, 2, 3, 3, 4, 5, 6, 6, 7]


def test_nothing_happens_if_it_is_not_enabled():
    found, scaler = run(td.compile, [1.0, 2.0], enabled=False)
    np.testing.assert_allclose(found[:, :2], plain([1.0, 2.0]), rtol=1e-6)
    assert scaler.get_scale() == 1.0
    assert scaler.state_dict() == {}


def test_each_optimizer_is_skipped_for_itself():
    p, q = (td.ones(1).requires_grad_() for _ in range(2))
    first, second = td.optim.SGD([p], lr=1.0), td.optim.SGD([q], lr=1.0)
    scaler = GradScaler(init_scale=4.0)
    (scaler.scale(p.sum()) + scaler.scale(q.sum()) * float("inf")).backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert (p.tolist(), q.tolist(), scaler.get_scale()) == ([0.0], [1.0], 2.0)


def test_small_gradients_survive_float16():
    w = td.ones(1, dtype="float16").requires_grad_()
    tiny = td.tensor([1e-5], dtype="float16")
    (w * tiny * tiny).sum().backward()
    assert w.grad.tolist() == [0.0]
    w.grad = None
    GradScaler(init_scale=2.0**16).scale((w * tiny * tiny).sum()).backward()
    assert w.grad.tolist()[0] > 0.0


def test_a_part_may_be_compiled():
    """What is unscaled inside a compiled function is not unscaled again outside."""
    p = td.ones(2).requires_grad_()
    optimizer, scaler = td.optim.SGD([p], lr=1.0), GradScaler(init_scale=4.0)

    @td.compile
    def collect(x):
        scaler.scale((p * x).sum()).backward()
        scaler.unscale_(optimizer)

    for expected in (0.5, 0.0):
        optimizer.zero_grad()
        collect(td.tensor(0.5))
        assert p.grad.tolist() == [0.5, 0.5]
        scaler.step(optimizer)
        scaler.update()
        assert p.tolist() == [expected] * 2


def test_the_state_goes_on():
    _, scaler = run(lambda f: f, [1.0, 1.0, 1.0])
    other = GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    assert scaler.state_dict() == {
        "scale": 16.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2,
        "_growth_tracker": 1,
    }  # fmt: skip
    assert "16" in repr(other)


def test_the_scale_may_be_given_and_stays_finite():
    _, scaler = run(lambda f: f, [1.0])
    scaler.update(3.0)
    assert scaler.get_scale() == 3.0
    found, _ = run(lambda f: f, [1e-38] * 6, init_scale=2.0**126)
    assert np.isfinite(found).all()


def test_lists_of_losses_are_scaled():
    a, (b,) = GradScaler(init_scale=2.0).scale([td.ones(1), (td.ones(1) * 3.0,)])
    assert (a.tolist(), b.tolist()) == ([2.0], [6.0])


def test_wrong_use_is_refused():
    scaler = GradScaler()
    p = td.ones(1).requires_grad_()
    optimizer = td.optim.SGD([p])
    with pytest.raises(ArgumentError, match="no optimizer"):
        scaler.update()
    with pytest.raises(OperandError, match="tensor"):
        scaler.scale(3.0)
    with pytest.raises(ArgumentError, match="closure"):
        scaler.step(optimizer, lambda: None)
    with pytest.raises(ArgumentError, match="closure"):
        scaler.step(td.optim.LBFGS([p]))
    p.grad = td.ones(1)
    scaler.unscale_(optimizer)
    with pytest.raises(ArgumentError, match="already"):
        scaler.unscale_(optimizer)
    with pytest.raises(ArgumentError, match="growth_factor"):
        GradScaler(growth_factor=0.5)
    with pytest.raises(ArgumentError, match="missing"):
        scaler.load_state_dict({})
