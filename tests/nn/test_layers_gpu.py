"""Layers on a GPU: steps of training as on the host, lazily and compiled."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

pytest.importorskip("triton")
pytest.importorskip("cuda.bindings")

from test_layers import LAYERS, first

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not td.cuda.is_available(), reason="no CUDA device"),
]


def losses(model, x, wrap):
    """Three steps, and what the model has learnt."""
    optimizer = td.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = (first(model(x)) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    step = wrap(step)
    return [float(step(x)) for _ in range(3)]


@pytest.mark.parametrize("wrap", [td.compile, lambda f: f], ids=["compiled", "lazy"])
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_learns_as_on_the_host(name, wrap):
    make, shape = LAYERS[name]
    td.manual_seed(1)
    here, there = make(), make()
    there.load_state_dict(here.state_dict())
    there.to("cuda")
    x = td.tensor(np.random.default_rng(2).standard_normal(shape).astype(np.float32))
    found = losses(there, x.to("cuda"), wrap)
    np.testing.assert_allclose(found, losses(here, x, wrap), rtol=1e-4)
    for key, value in here.state_dict().items():
        np.testing.assert_allclose(
            there.state_dict()[key].numpy(), value.numpy(), rtol=1e-3, atol=1e-4, err_msg=key
        )
