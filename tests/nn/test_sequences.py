"""Recurrent layers, attention with a cache, rotary positions: against the plain way to do it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treadle as td
from treadle import nn
from treadle.base.errors import ArgumentError
from treadle.nn.utils import rnn

random = np.random.default_rng(0)


def normal(*shape):
    return td.tensor(random.standard_normal(shape).astype(np.float32))


def close(ours, expected, tolerance=1e-5):
    np.testing.assert_allclose(ours.numpy(), np.asarray(expected), rtol=tolerance, atol=tolerance)


# ---- several lengths


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("both", [False, True])
def test_a_packed_batch_is_its_sequences_one_by_one(name, both):
    layer = getattr(nn, name)(3, 4, num_layers=2, bidirectional=both)
    rows = [normal(n, 3) for n in (2, 5, 1, 3)]
    packed = rnn.pack_sequence(rows, enforce_sorted=False)
    found, last = layer(packed)
    for k, (row, part) in enumerate(zip(rows, rnn.unpack_sequence(found), strict=True)):
        alone, state = layer(row)
        close(part, alone.numpy())
        close((last[0] if name == "LSTM" else last)[:, k],
              (state[0] if name == "LSTM" else state).numpy())  # fmt: skip


def test_a_packed_batch_compiles_with_its_lengths():
    layer, x = nn.GRU(3, 4), normal(5, 3, 3)

    def f(x, lengths):
        packed = rnn.pack_padded_sequence(x, lengths)
        return rnn.pad_packed_sequence(layer(packed)[0])[0]

    for lengths in ([5, 3, 1], [4, 4, 2]):
        close(td.compile(f)(x, lengths), f(x, lengths).numpy())


def test_padding_and_packing_undo_each_other():
    rows = [normal(n, 2) for n in (4, 2, 3)]
    padded = rnn.pad_sequence(rows, batch_first=True, padding_value=7.0)
    assert padded.shape == (3, 4, 2)
    assert (padded.numpy()[1, 2:] == 7).all()
    left = rnn.pad_sequence(rows, batch_first=True, padding_side="left").numpy()
    np.testing.assert_array_equal(left[1, 2:], rows[1].numpy())
    for a, b in zip(rnn.unpad_sequence(padded, [4, 2, 3], True), rows, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    packed = rnn.pack_padded_sequence(padded, [4, 2, 3], True, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1]
    back, lengths = rnn.pad_packed_sequence(packed, True, 7.0, total_length=6)
    assert lengths.tolist() == [4, 2, 3]
    np.testing.assert_array_equal(back.numpy()[:, :4], padded.numpy())
    assert (back.numpy()[:, 4:] == 7).all()
    with pytest.raises(ArgumentError, match="longest"):
        rnn.pack_padded_sequence(padded, [2, 4, 3], True)
    with pytest.raises(ArgumentError, match="longer"):
        rnn.pack_padded_sequence(padded, [9, 2, 2], True)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_cells_are_steps_of_layers(name):
    layer, cell = getattr(nn, name)(3, 4), getattr(nn, f"{name}Cell")(3, 4)
    state = {k.removesuffix("_l0"): v for k, v in layer.state_dict().items()}
    cell.load_state_dict(state)
    x, hidden = normal(4, 2, 3), None
    expected, _ = layer(x)
    for t in range(4):
        hidden = cell(x[t], hidden)
        close(hidden[0] if name == "LSTM" else hidden, expected[t].numpy())


# ---- attention


def attended(q, k, v, heads, mask=None):
    """Plain attention in NumPy of (batch, length, size)."""
    q, k, v = (
        np.stack(np.split(x, n, -1), 1) for x, n in ((q, heads[0]), (k, heads[1]), (v, heads[1]))
    )
    k, v = (np.repeat(x, heads[0] // heads[1], 1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    scores = scores if mask is None else np.where(mask, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.concatenate(list((weights @ v).swapaxes(0, 1)), -1), weights


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("need_weights", [False, True])
def test_grouped_heads(kv_heads, need_weights):
    layer = nn.MultiheadAttention(8, 4, batch_first=True, num_kv_heads=kv_heads)
    x, mask = normal(2, 5, 8), np.triu(np.ones((5, 5), bool), 1)
    found, weights = layer(x, x, x, attn_mask=td.tensor(mask), need_weights=need_weights)
    own = x.numpy() @ layer.in_proj_weight.numpy().T
    narrow = kv_heads * 2
    parts = own[..., :8], own[..., 8 : 8 + narrow], own[..., 8 + narrow :]
    mixed, expected = attended(*parts, (4, kv_heads), mask)
    close(found, mixed @ layer.out_proj.weight.numpy().T)
    assert (weights is not None) is need_weights
    if need_weights:
        close(weights, expected.mean(1))


@pytest.mark.parametrize("kv_heads", [None, 2])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_cache_gives_what_the_whole_text_gives(kv_heads, compiled):
    layer = nn.MultiheadAttention(8, 4, batch_first=True, num_kv_heads=kv_heads)
    x = normal(2, 6, 8)
    mask = td.nn.Transformer.generate_square_subsequent_mask(6)
    expected, _ = layer(x, x, x, attn_mask=mask, need_weights=False)
    cache = nn.KVCache(2, kv_heads or 4, 7, 2)

    def step(x):
        return layer(x, x, x, need_weights=False, cache=cache)[0]

    run = td.compile(step) if compiled else step
    with td.no_grad():
        found = [run(x[:, :3])] + [run(x[:, k : k + 1]) for k in range(3, 6)]
    close(td.concat(found, axis=1), expected.numpy())
    assert cache.room == 1
    if compiled:
        assert sum(map(len, run.entries.values())) == 2
    with pytest.raises(ArgumentError, match="fits"):
        step(x[:, :2])
    cache.reset()
    close(run(x[:, :3]), expected.numpy()[:, :3])


# ---- positions


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotations_depend_on_distances_alone(interleaved):
    rotary = nn.RotaryEmbedding(6, interleaved=interleaved)
    q, k = normal(6), normal(6)
    scores = []
    for start in (0, 5, 40):
        at = td.tensor([start, start + 3])
        turned = rotary(td.stack([q, k]), at)
        scores.append(float((turned[0] * turned[1]).sum()))
    np.testing.assert_allclose(scores, scores[0], rtol=1e-4, atol=1e-5)


def test_rotations_are_complex_products():
    rotary, x = nn.RotaryEmbedding(4, base=100.0), normal(2, 3, 5, 6)
    positions = td.tensor([[0, 1, 2, 3, 4], [7, 8, 9, 10, 11]])
    found = rotary(x, positions).numpy()
    a = x.numpy()
    turn = np.exp(1j * positions.numpy()[:, None, :, None] * 100.0 ** (-np.arange(2) / 2))
    expected = (a[..., :2] + 1j * a[..., 2:4]) * turn
    np.testing.assert_allclose(found[..., :2], expected.real, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[..., 2:4], expected.imag, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found[..., 4:], a[..., 4:])


def test_scaled_rotations():
    plain = nn.RotaryEmbedding(8).frequencies.numpy()
    linear = nn.RotaryEmbedding(8, scaling={"rope_type": "linear", "factor": 4.0})
    np.testing.assert_allclose(linear.frequencies.numpy(), plain / 4)
    scaling = {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 128,
    }  # fmt: skip
    found = nn.RotaryEmbedding(8, scaling=scaling).frequencies.numpy()
    assert found[0] == plain[0]
    np.testing.assert_allclose(found[-1], plain[-1] / 8)
    assert plain[1] / 8 < found[1] < plain[1]


@pytest.mark.parametrize("need_weights", [True, False])
def test_queries_that_see_no_key_give_the_bias_whoever_asks_for_weights(need_weights):
    layer = nn.MultiheadAttention(8, 4, num_kv_heads=2, batch_first=True)
    x = td.random.normal((2, 3, 8))
    hidden = td.tensor([[True] * 3, [False] * 3])
    found, _ = layer(x, x, x, key_padding_mask=hidden, need_weights=need_weights)
    expected = np.broadcast_to(layer.out_proj.bias.numpy(), (3, 8))
    np.testing.assert_allclose(found.numpy()[0], expected, atol=1e-6)
