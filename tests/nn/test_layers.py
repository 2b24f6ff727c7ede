"""Layers: first values, training steps, compiled as lazily, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import ArgumentError, ShapeError, TreadleError

rng = np.random.default_rng(0)


def normal(*shape):
    return td.tensor(rng.standard_normal(shape).astype(np.float32))


LAYERS = {
    "linear": (lambda: nn.Linear(4, 3), (5, 4)),
    "conv1d": (lambda: nn.Conv1d(2, 4, 3, padding=1), (2, 2, 6)),
    "conv2d": (lambda: nn.Conv2d(2, 4, 3, padding="same", padding_mode="circular"), (2, 2, 5, 5)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(2, 3, 2, stride=2), (2, 2, 3, 3)),
    "batch norm": (lambda: nn.BatchNorm1d(3), (6, 3)),
    "batch norm of images": (lambda: nn.BatchNorm2d(3, momentum=None), (4, 3, 2, 2)),
    "instance norm": (
        lambda: nn.InstanceNorm1d(3, affine=True, track_running_stats=True), (4, 3, 5),
    ),
    "layer norm": (lambda: nn.LayerNorm((2, 4)), (3, 2, 4)),
    "rms norm": (lambda: nn.RMSNorm(4), (3, 4)),
    "group norm": (lambda: nn.GroupNorm(2, 4), (3, 4, 5)),
    "prelu": (lambda: nn.PReLU(), (3, 4)),
    "pooled": (
        lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.Flatten()), (2, 1, 8, 8),
    ),
    "rnn": (lambda: nn.RNN(3, 4, 2, bidirectional=True), (3, 2, 3)),
    "lstm": (lambda: nn.LSTM(3, 4, proj_size=2, batch_first=True), (2, 3, 3)),
    "gru": (lambda: nn.GRU(3, 4), (3, 2, 3)),
    "encoder": (lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (3, 2, 4)),
    "rotary": (lambda: nn.Sequential(nn.Linear(4, 4), nn.RotaryEmbedding(4)), (2, 3, 4)),
}  # fmt: skip


def first(found):
    return found if isinstance(found, td.Tensor) else first(found[0])


@pytest.mark.parametrize("name", LAYERS)
def test_a_training_step_is_the_same_compiled(name):
    make, shape = LAYERS[name]
    lazy, compiled, x = make(), make(), normal(*shape)
    compiled.load_state_dict(lazy.state_dict())
    steps = []
    for model in (lazy, compiled):
        optimizer = td.optim.SGD(model.parameters(), lr=0.1)

        def step(x, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (first(model(x)) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        steps.append(step)
    steps[1] = td.compile(steps[1])
    losses = [[float(step(x)) for _ in range(3)] for step in steps]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
    assert losses[0][2] < losses[0][0]
    for key, value in lazy.state_dict().items():
        np.testing.assert_allclose(
            compiled.state_dict()[key].numpy(), value.numpy(), rtol=1e-4, atol=1e-5, err_msg=key
        )


# ---- first values


def test_first_values_are_kaiming_s():
    td.manual_seed(0)
    for layer, fan in (
        (nn.Linear(50, 40), 50), (nn.Conv2d(8, 16, 3), 72), (nn.Conv1d(8, 16, 5), 40),
        (nn.ConvTranspose2d(16, 8, 3), 72),
    ):  # fmt: skip
        for own in (layer.weight, layer.bias):
            array, bound = own.numpy(), 1 / math.sqrt(fan)
            assert np.abs(array).max() <= bound
        weight = layer.weight.numpy()
        assert weight.std() == pytest.approx(1 / math.sqrt(fan) / math.sqrt(3), rel=0.05)


def test_first_values_of_others():
    td.manual_seed(0)
    table = nn.Embedding(200, 20, padding_idx=3).weight.numpy()
    assert not table[3].any()
    assert table[[0, 1, 2]].all()
    assert table.std() == pytest.approx(1, rel=0.05)
    attention = nn.MultiheadAttention(32, 4)
    bound = math.sqrt(6 / (32 + 96))
    assert bound * 0.98 < np.abs(attention.in_proj_weight.numpy()).max() <= bound
    assert not attention.in_proj_bias.numpy().any()
    assert np.abs(nn.LSTM(3, 16).weight_hh_l0.numpy()).max() <= 0.25
    norm = nn.BatchNorm1d(3)
    assert norm.weight.tolist() == norm.running_var.tolist() == [1, 1, 1]
    assert norm.bias.tolist() == norm.running_mean.tolist() == [0, 0, 0]
    assert nn.PReLU().weight.tolist() == [0.25]


def test_a_model_is_made_of_one_program_when_it_is_looked_at():
    """Making layers computes nothing."""
    layers = [nn.Linear(1000, 1000) for _ in range(3)]
    assert all(p._node.buffer is None for m in layers for p in m.parameters())


# ---- running statistics


@pytest.mark.parametrize("momentum", [0.3, None])
def test_running_statistics(momentum):
    norm = nn.BatchNorm1d(2, momentum=momentum)
    mean, var = np.zeros(2), np.ones(2)
    for k in range(1, 4):
        x = rng.standard_normal((5, 2)).astype(np.float32) * 2 + 1
        norm(td.tensor(x))
        share = 1 / k if momentum is None else momentum
        mean = mean * (1 - share) + share * x.mean(0)
        var = var * (1 - share) + share * x.var(0, ddof=1)
    np.testing.assert_allclose(norm.running_mean.numpy(), mean, rtol=1e-5)
    np.testing.assert_allclose(norm.running_var.numpy(), var, rtol=1e-5)
    assert norm.num_batches_tracked.item() == 3
    expected = (x - mean) / np.sqrt(var + 1e-5)
    np.testing.assert_allclose(norm.eval()(td.tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)
    norm.reset_running_stats()
    assert norm.running_mean.tolist() == [0, 0]


# ---- chance


@pytest.mark.parametrize("name", ["Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"])
def test_whole_channels_are_dropped(name):
    td.manual_seed(1)
    shape = (8, 16, *(3, 2, 2)[: int(name[-2]) if name[-1] == "d" else 1])
    layer = getattr(nn, name)(0.5)
    found = layer(td.ones(*shape)).numpy().reshape(8 * 16, -1)
    assert (found == found[:, :1]).all()
    assert len(np.unique(found[:, 0])) == 2
    assert layer.eval()(td.ones(*shape)).numpy().all()


# ---- what is refused


REFUSED = {
    "groups": (ArgumentError, "groups", lambda: nn.Conv2d(3, 4, 3, groups=2)),
    "kernel": (ArgumentError, "kernel_size", lambda: nn.Conv2d(3, 4, (3, 3, 3))),
    "mode": (ArgumentError, "padding_mode", lambda: nn.Conv2d(3, 4, 3, padding_mode="zero")),
    "size": (ArgumentError, "output_padding",
             lambda: nn.ConvTranspose1d(1, 1, 3, stride=2)(td.ones(1, 1, 4), output_size=[20])),
    "axes": (ShapeError, "BatchNorm2d", lambda: nn.BatchNorm2d(3)(td.ones(2, 3))),
    "group norm": (ArgumentError, "GroupNorm", lambda: nn.GroupNorm(2, 3)),
    "probability": (ArgumentError, "probability", lambda: nn.Dropout(1.5)),
    "padding_idx": (ArgumentError, "row", lambda: nn.Embedding(3, 2, padding_idx=3)),
    "heads": (ArgumentError, "heads", lambda: nn.MultiheadAttention(5, 2)),
    "projection": (ArgumentError, "proj_size", lambda: nn.RNNBase("GRU", 3, 4, proj_size=2)),
    "hx": (ShapeError, "hx", lambda: nn.GRU(3, 4)(td.ones(2, 1, 3), td.ones(1, 1, 5))),
    "steps": (ShapeError, "steps", lambda: nn.LSTM(3, 4)(td.ones(0, 1, 3))),
    "padding": (ShapeError, "key_padding_mask", lambda: nn.MultiheadAttention(
        4, 2, num_kv_heads=1)(*[td.ones(3, 2, 4)] * 3, key_padding_mask=td.zeros(3, 3))),
    "input": (ShapeError, "input_size", lambda: nn.LSTM(3, 4)(td.ones(2, 1, 4))),
    "reduction": (ArgumentError, "reduction", lambda: nn.MSELoss(reduction="average")),
    "cutoffs": (ArgumentError, "cutoffs", lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 8, [5, 3])),
    "rotary": (ArgumentError, "even", lambda: nn.RotaryEmbedding(3)),
    "scaling": (ArgumentError, "scaling", lambda: nn.RotaryEmbedding(4, scaling={"type": "odd"})),
    "activation": (ArgumentError, "activation",
                   lambda: nn.TransformerEncoderLayer(4, 2, activation="swish")),
    "fraction": (ArgumentError, "output_size", lambda: nn.FractionalMaxPool2d(2)),
    "bag": (ArgumentError, "mode", lambda: nn.EmbeddingBag(3, 2, mode="median")),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused(what):
    kind, words, call = REFUSED[what]
    with pytest.raises(TreadleError, match=words) as caught:
        call()
    assert isinstance(caught.value, kind)


EMPTY = {
    "linear": lambda: nn.Linear(0, 3)(td.zeros(2, 0)),
    "no rows": lambda: nn.Linear(3, 2)(td.zeros(0, 3)),
    "conv": lambda: nn.Conv2d(1, 2, 3)(td.zeros(0, 1, 5, 5)),
    "embedding": lambda: nn.Embedding(3, 2, padding_idx=0)(td.zeros(0, dtype="int64")),
    "lstm": lambda: nn.LSTM(3, 4)(td.zeros(2, 0, 3))[0],
    "attention": lambda: nn.MultiheadAttention(4, 2)(*[td.zeros(3, 0, 4)] * 3)[0],
    "groups": lambda: nn.MultiheadAttention(4, 2, num_kv_heads=1)(*[td.zeros(3, 0, 4)] * 3)[0],
    "graph": lambda: nn.GATConv(3, 2)(td.ones(4, 3), td.zeros(2, 0, dtype="int64")),
    "nodes": lambda: nn.GCNConv(3, 2)(td.ones(0, 3), td.zeros(2, 0, dtype="int64")),
    "rotary": lambda: nn.RotaryEmbedding(4)(td.zeros(2, 0, 4)),
}
SHAPES = [
    (2, 3), (0, 2), (0, 2, 3, 3), (0, 2), (2, 0, 4), (3, 0, 4), (3, 0, 4), (4, 2), (0, 2),
    (2, 0, 4),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shape"), list(zip(EMPTY, SHAPES, strict=True)))
def test_nothing_goes_in_and_nothing_comes_out(name, shape):
    assert EMPTY[name]().numpy().shape == shape
