"""Modules as functions of their parameters, and gradients of each sample."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import ArgumentError, ShapeError
from treadle.nn.utils import functional_call


def small():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(0), nn.Linear(32, 4))


def values(model):
    return {name: p.detach() for name, p in model.named_parameters()}


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_of_each_sample(compiled):
    td.manual_seed(0)
    model, x, y = small(), td.randn(5, 1, 6, 6), td.tensor([0, 1, 2, 3, 0])

    def loss(params, x, y):
        return nn.functional.cross_entropy(functional_call(model, params, x), y)

    f = td.vmap(td.grad(loss), in_axes=(None, 0, 0))
    found = (td.compile(f) if compiled else f)(values(model), x, y)
    for n in range(5):
        model.zero_grad()
        nn.functional.cross_entropy(model(x[n]), y[n]).backward()
        for name, p in model.named_parameters():
            np.testing.assert_allclose(
                found[name].numpy()[n], p.grad.numpy(), rtol=1e-4, atol=1e-6, err_msg=name
            )


@pytest.mark.parametrize("compiled", [False, True])
def test_an_ensemble_is_one_call(compiled):
    models = [small() for _ in range(3)]
    x = td.randn(1, 6, 6)
    states = [values(model) for model in models]
    stacked = {name: td.stack([s[name] for s in states]) for name in states[0]}
    f = td.vmap(lambda params, x: functional_call(models[0], params, (x,)), in_axes=(0, None))
    found = (td.compile(f) if compiled else f)(stacked, x).numpy()
    wanted = np.stack([model(x).numpy() for model in models])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_the_module_stays_as_it_is():
    layer = nn.BatchNorm1d(3)
    mean = td.full((3,), 2.0)
    before = layer.running_mean.tolist()
    found = functional_call(layer.eval(), {"running_mean": mean}, td.ones(2, 3))
    np.testing.assert_allclose(found.numpy(), np.full((2, 3), -1.0), rtol=1e-4)
    td.compile(lambda x, m: functional_call(layer.train(), {"running_mean": m}, x))(
        td.ones(2, 3), mean
    )
    assert layer.running_mean.tolist() == before
    other = nn.Linear(3, 3)
    weight = other.weight.tolist()
    with pytest.raises(ShapeError):
        functional_call(other, [{"weight": td.ones(3, 3)}, {"bias": td.ones(3)}], td.ones(5))
    assert other.weight.tolist() == weight
    with pytest.raises(ArgumentError, match="no such name: w"):
        functional_call(layer, {"w": mean}, td.ones(2, 3))
    with pytest.raises(ShapeError, match="running_mean"):
        functional_call(layer, {"running_mean": td.ones(4)}, td.ones(2, 3))
