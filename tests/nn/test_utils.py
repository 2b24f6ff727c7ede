"""What is done to gradients and weights: against NumPy, lazily and compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import ArgumentError, ShapeError
from treadle.nn import utils


def with_gradients():
    layer = nn.Linear(3, 2)
    rng = np.random.default_rng(0)
    for p in layer.parameters():
        p.grad = td.tensor(rng.standard_normal(p.shape).astype(np.float32))
    return layer, np.concatenate([p.grad.numpy().reshape(-1) for p in layer.parameters()])


def gradients(layer):
    return np.concatenate([p.grad.numpy().reshape(-1) for p in layer.parameters()])


@pytest.mark.parametrize("order", [2.0, 1.0, 3.0, math.inf, -math.inf, 0.0])
@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_gradients_are_clipped_by_their_norm(order, limit):
    layer, before = with_gradients()
    total = utils.clip_grad_norm_(layer.parameters(), limit, order)
    expected = np.linalg.norm(before, order)
    assert float(total) == pytest.approx(expected, rel=1e-5)
    scale = min(1.0, limit / (expected + 1e-6))
    np.testing.assert_allclose(gradients(layer), before * scale, rtol=1e-5)


def test_gradients_are_clipped_by_value():
    layer, before = with_gradients()
    utils.clip_grad_value_(layer.parameters(), 0.3)
    np.testing.assert_allclose(gradients(layer), before.clip(-0.3, 0.3), rtol=1e-6)


def test_a_norm_that_is_not_finite_may_be_refused():
    layer, _ = with_gradients()
    layer.bias.grad = td.tensor([math.inf, 0.0])
    with pytest.raises(ArgumentError, match="finite"):
        utils.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)
    assert utils.clip_grad_norm_([], 1.0).item() == 0.0


def test_a_compiled_step_clips():
    model = nn.Linear(3, 2)
    optimizer = td.optim.SGD(model.parameters(), lr=1.0)
    weight = model.weight.numpy().copy()

    @td.compile
    def step(x):
        optimizer.zero_grad()
        (model(x) * 100.0).sum().backward()
        norm = utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return norm

    norm = float(step(td.ones(1, 3)))
    assert norm == pytest.approx(100 * math.sqrt(8), rel=1e-5)
    np.testing.assert_allclose(weight - model.weight.numpy(), 1 / math.sqrt(8), rtol=1e-4)


def test_parameters_are_a_vector_and_back():
    one, other = nn.Linear(3, 2), nn.Linear(3, 2)
    vector = utils.parameters_to_vector(one.parameters())
    assert vector.shape == (8,)
    utils.vector_to_parameters(vector, other.parameters())
    np.testing.assert_array_equal(other.weight.numpy(), one.weight.numpy())
    with pytest.raises(ShapeError, match="elements"):
        utils.vector_to_parameters(vector[:-1], other.parameters())


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_keeps_directions_and_lengths_apart(dim):
    layer, x = nn.Linear(3, 2), td.ones(1, 3)
    before = layer(x).numpy()
    assert utils.weight_norm(layer, dim=dim) is layer
    assert list(layer.state_dict()) == ["bias", "weight_g", "weight_v"]
    np.testing.assert_allclose(layer(x).numpy(), before, rtol=1e-5, atol=1e-6)
    layer(x).sum().backward()
    assert layer.weight_g.grad.shape == layer.weight_g.shape
    with td.no_grad():
        layer.weight_v *= 5.0  # lengths of directions mean nothing
    f = td.compile(lambda x: layer(x))
    np.testing.assert_allclose(f(x).numpy(), before, rtol=1e-5, atol=1e-6)
    with td.no_grad():
        layer.weight_g *= 2.0
    expected = 2 * (before - layer.bias.numpy()) + layer.bias.numpy()
    np.testing.assert_allclose(f(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    utils.remove_weight_norm(layer)
    assert isinstance(layer.weight, nn.Parameter)
    np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ArgumentError, match="not computed"):
        utils.remove_weight_norm(layer)
    with pytest.raises(ArgumentError, match="no parameter"):
        utils.weight_norm(layer, "width")


def test_spectral_norm_finds_the_largest_stretch():
    layer = utils.spectral_norm(nn.Linear(4, 3))
    f, x = td.compile(lambda x: layer(x)), td.ones(1, 4)
    for _ in range(20):
        f(x)
    stretches = np.linalg.svd(layer.weight.detach().numpy(), compute_uv=False)
    assert stretches[0] == pytest.approx(1, rel=1e-3)
    layer.eval()
    u = layer.weight_u.tolist()
    f(x)
    assert layer.weight_u.tolist() == u
    before = layer(x).numpy()
    utils.remove_spectral_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(layer(x).numpy(), before, rtol=1e-5)
