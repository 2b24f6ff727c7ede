"""Steps of one optimizer, ours and PyTorch's, from the same numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import treadle as td
from treadle import optim

torch = pytest.importorskip("torch")

STEPS = 20
SHAPES = ((4, 3), (3, 5), (5,), (), (2, 3, 4), (1, 1))
DECAY, BOTH = (0.0, 0.1), (False, True)


def grid(**options):
    """Every combination of values, as keyword arguments."""
    return [dict(zip(options, values, strict=True)) for values in product(*options.values())]


def arrays(seed=0, shapes=SHAPES):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def loss_of(params, scale):
    """A loss with curvature and bounded gradients, which are not the same in every step."""
    total = 0.0
    for k, p in enumerate(params):
        total = total + (p * (0.7 + 0.3 * k) + scale).sin().sum() + (p * p + 1.0).sqrt().sum()
    return total


def ours_after(name, options, steps=STEPS, compiled=True, starts=None):
    params = [td.tensor(x).requires_grad_() for x in starts or arrays()]
    optimizer = getattr(optim, name)(params, **options)

    def step(scale):
        optimizer.zero_grad()
        loss = loss_of(params, scale)
        loss.backward()
        optimizer.step()
        return loss

    run = td.compile(step) if compiled else step
    for k in range(steps):
        run(td.tensor(np.cos(k)))
    return params, optimizer


def theirs_after(name, options, steps=STEPS, starts=None):
    params = [torch.tensor(x, requires_grad=True) for x in starts or arrays()]
    optimizer = getattr(torch.optim, name)(params, **options)
    for k in range(steps):
        optimizer.zero_grad()
        loss_of(params, float(np.cos(k))).backward()
        optimizer.step()
    return params, optimizer


def assert_same(ours, theirs, within=1e-10):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=within, atol=within)


def assert_same_state(mine, other):
    own, their = mine.state_dict(), other.state_dict()
    for number, kept in their["state"].items():
        for name, value in kept.items():
            if value is not None:
                np.testing.assert_allclose(
                    own["state"][number][name].numpy(), np.asarray(value), rtol=1e-10, atol=1e-10
                )
