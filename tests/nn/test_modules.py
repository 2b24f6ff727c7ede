"""Modules: names of parameters, state in and out, what layers compute."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import ArgumentError

rng = np.random.default_rng(0)


class Block(nn.Module):
    """One of each way to hold tensors."""

    def __init__(self):
        self.first = nn.Linear(3, 4)
        self.norm = nn.LayerNorm(4)
        self.list = [nn.Linear(4, 4, bias=False), nn.ReLU()]
        self.named = {"out": nn.Linear(4, 2)}
        self.register_buffer("table", td.zeros(5))
        self.other = td.zeros(5)  # a tensor that is nobody's business
        self.scale = nn.Parameter(td.ones(1))

    def forward(self, x):
        x = self.list[1](self.list[0](self.norm(self.first(x))))
        return self.named["out"](x) * self.scale


NAMES = [
    "scale", "first.weight", "first.bias", "norm.weight", "norm.bias", "list.0.weight",
    "named.out.weight", "named.out.bias",
]  # fmt: skip


def test_parameters_are_named_by_their_path():
    assert [name for name, _ in Block().named_parameters()] == NAMES


def test_state_holds_buffers_too():
    assert set(Block().state_dict()) == {*NAMES, "table"}


def test_sequential_names_by_position():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    expected = ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert [name for name, _ in model.named_parameters()] == expected


def test_shared_parameters_are_listed_once():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    getattr(model, "1").weight = getattr(model, "0").weight
    assert len(list(model.parameters())) == 3


def test_state_goes_from_one_model_to_another():
    one, other = Block(), Block()
    x = td.tensor(rng.standard_normal((6, 3)).astype(np.float32))
    assert not np.array_equal(one(x).numpy(), other(x).numpy())
    other.load_state_dict(one.state_dict())
    np.testing.assert_array_equal(one(x).numpy(), other(x).numpy())
    assert all(p.requires_grad for p in other.parameters())


def test_state_may_come_as_arrays():
    one, other = Block(), Block()
    other.load_state_dict({name: t.numpy() for name, t in one.state_dict().items()})
    for name, value in other.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), one.state_dict()[name].numpy())


def test_loaded_models_do_not_share_memory():
    one, other = Block(), Block()
    other.load_state_dict(one.state_dict())
    before = other.scale.numpy().copy()
    one.scale.assign(one.scale * 3.0)
    np.testing.assert_array_equal(other.scale.numpy(), before)


@pytest.mark.parametrize("change", [
    lambda s: s.pop("scale"), lambda s: s.update(more=td.ones(1)),
    lambda s: s.update(scale=td.ones(2)),
])  # fmt: skip
def test_state_that_does_not_fit_is_refused(change):
    state = Block().state_dict()
    change(state)
    with pytest.raises(ArgumentError, match="load_state_dict"):
        Block().load_state_dict(state)


def test_partial_state_loads_when_asked_to():
    model = Block()
    model.load_state_dict({"scale": td.full((1,), 4.0)}, strict=False)
    assert model.scale.tolist() == [4.0]


def test_training_mode_reaches_every_module():
    model = Block()
    assert all(not m.training for m in model.eval().modules())
    assert all(m.training for m in model.train().modules())
    assert len(list(model.modules())) == 6


def test_modules_print_as_a_tree():
    text = repr(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    assert "Sequential(" in text
    assert "(0): Linear(in_features=2, out_features=3, bias=True)" in text


def test_linear_multiplies_by_the_transpose_and_adds():
    layer = nn.Linear(3, 2)
    x = rng.standard_normal((4, 5, 3)).astype(np.float32)
    expected = x @ layer.weight.numpy().T + layer.bias.numpy()
    np.testing.assert_allclose(layer(td.tensor(x)).numpy(), expected, atol=1e-6)
    bound = 1 / np.sqrt(3)
    assert np.abs(layer.weight.numpy()).max() <= bound


def test_embedding_looks_rows_up():
    layer = nn.Embedding(7, 3)
    index = np.array([[0, 6], [2, 2]])
    result = layer(td.tensor(index))
    np.testing.assert_array_equal(result.numpy(), layer.weight.numpy()[index])
    result.sum().backward()
    assert layer.weight.grad.numpy()[:, 0].tolist() == [1, 0, 2, 0, 0, 0, 1]


def test_layer_norm_starts_as_plain_normalisation():
    x = rng.standard_normal((5, 8)).astype(np.float32)
    result = nn.LayerNorm(8)(td.tensor(x)).numpy()
    np.testing.assert_allclose(result.mean(1), 0, atol=1e-6)
    np.testing.assert_allclose(result.std(1), 1, atol=1e-3)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_is_smooth_relu(approximate):
    x = td.tensor([-10.0, 0.0, 10.0])
    np.testing.assert_allclose(nn.GELU(approximate)(x).numpy(), [0.0, 0.0, 10.0], atol=1e-5)


def test_the_same_seed_builds_the_same_model():
    models = []
    for _ in range(2):
        td.manual_seed(9)
        models.append(Block())
    for a, b in zip(*(m.parameters() for m in models), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
