"""What draws, what changes state and what looks up in nn.functional, lazily and compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, ShapeError
from treadle.nn import functional as F
from treadle.testing.gradcheck import gradcheck

rng = np.random.default_rng(7)


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


# ---- what draws


@pytest.mark.parametrize(
    ("name", "shape", "lead"),
    [
        ("dropout1d", (40, 30, 5), 2), ("dropout1d", (900, 5), 1), ("dropout2d", (40, 30, 2, 3), 2),
        ("dropout2d", (40, 30, 5), 2), ("dropout3d", (40, 30, 2, 1, 2), 2),
        ("dropout3d", (900, 2, 1, 2), 1),
    ],
)  # fmt: skip
def test_whole_channels_are_dropped(name, shape, lead):
    td.manual_seed(0)
    drop = getattr(F, name)
    found = drop(td.ones(shape), 0.25).numpy().reshape(int(np.prod(shape[:lead])), -1)
    assert (found == found[:, :1]).all()
    assert (found == 0).mean() == pytest.approx(0.25, abs=0.06)
    assert found.max() == np.float32(1 / 0.75)
    x = td.ones(shape)
    assert drop(x, 0.25, False) is x
    with pytest.raises(ShapeError, match="axes"):
        drop(td.ones(3), 0.25)


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
def test_alpha_dropout_keeps_mean_and_variance(name):
    td.manual_seed(1)
    x = td.random.normal((300, 300))
    found = getattr(F, name)(x, 0.3, True).numpy()
    assert found.mean() == pytest.approx(0, abs=0.02)
    assert found.std() == pytest.approx(1, abs=0.02)
    assert getattr(F, name)(x, 0.3) is x, "not training by default, as in PyTorch"
    scale = (0.7 * (1 + 0.3 * 1.7580993408473766**2)) ** -0.5
    floor = -1.7580993408473766 * scale * 0.7
    assert (np.abs(found - floor) < 1e-5).mean() == pytest.approx(0.3, abs=0.02)
    with pytest.raises(ArgumentError, match="probability"):
        getattr(F, name)(x, -0.1, True)


def test_leaks_are_drawn_in_training():
    td.manual_seed(2)
    x = -td.ones(10000)
    found = -F.rrelu(x, 0.2, 0.6, training=True).numpy()
    assert 0.2 <= found.min() < 0.21
    assert 0.59 < found.max() <= 0.6
    np.testing.assert_allclose(F.rrelu(x, 0.2, 0.6).numpy(), -0.4, rtol=1e-6)
    assert F.rrelu(td.ones(3), training=True).tolist() == [1.0, 1.0, 1.0]


def test_gumbel_samples_follow_the_chances():
    td.manual_seed(3)
    chances = np.array([0.5, 0.3, 0.2])
    logits = td.tensor(np.tile(np.log(chances), (20000, 1)).astype(np.float32))
    hard = F.gumbel_softmax(logits, hard=True).numpy()
    assert np.allclose(hard.sum(1), 1)
    assert np.abs(hard - np.round(hard)).max() < 1e-6
    np.testing.assert_allclose(hard.mean(0), chances, atol=0.015)
    soft = F.gumbel_softmax(logits, tau=0.5).numpy()
    np.testing.assert_allclose(soft.sum(1), 1, rtol=1e-5)
    x = td.tensor([[1.0, 2.0]], requires_grad=True)
    (F.gumbel_softmax(x, hard=True) * td.tensor([[1.0, 3.0]])).sum().backward()
    assert np.abs(x.grad.numpy()).max() > 0


def test_attention_drops_weights():
    td.manual_seed(4)
    q, k = td.zeros(1, 2000, 4), td.zeros(1, 10, 4)
    found = F.scaled_dot_product_attention(q, k, td.ones(1, 10, 1), dropout_p=0.5).numpy()
    assert found.mean() == pytest.approx(1, abs=0.03)
    assert found.std() == pytest.approx(math.sqrt(0.1), abs=0.03)


# ---- state


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("momentum", [0.25, "tensor"])
def test_running_statistics_of_batches_and_instances(compiled, momentum):
    x = rng.standard_normal((4, 3, 5, 2))
    share = 0.25
    given = td.tensor(np.array(0.25)) if momentum == "tensor" else momentum
    for norm, over in ((F.batch_norm, (0, 2, 3)), (F.instance_norm, (2, 3))):
        mean, var = td.zeros(3, dtype="float64"), td.ones(3, dtype="float64")
        training = {"training": True} if norm is F.batch_norm else {}

        def step(x, norm=norm, mean=mean, var=var, training=training):
            return norm(x, mean, var, momentum=given, **training)

        call = td.compile(step) if compiled else step
        found = [call(td.tensor(x)).numpy() for _ in range(2)][1]
        centred = x - x.mean(over, keepdims=True)
        np.testing.assert_allclose(found, centred / np.sqrt(x.var(over, keepdims=True) + 1e-5))
        rest = (1 - share) ** 2
        means, variances = x.mean(over).reshape(-1, 3), x.var(over, ddof=1).reshape(-1, 3)
        close(mean, (1 - rest) * means.mean(0))
        close(var, rest + (1 - rest) * variances.mean(0))
        off = {"training": False} if norm is F.batch_norm else {"use_input_stats": False}
        column = lambda t: t.numpy().reshape(3, 1, 1)  # noqa: E731
        close(
            norm(td.tensor(x), mean, var, **off), (x - column(mean)) / np.sqrt(column(var) + 1e-5)
        )


def test_norms_without_statistics_or_without_a_spread_are_refused():
    with pytest.raises(ArgumentError, match="running statistics"):
        F.batch_norm(td.ones(2, 3), None, None)
    with pytest.raises(ArgumentError, match="running statistics"):
        F.instance_norm(td.ones(2, 3, 4), use_input_stats=False)
    with pytest.raises(ShapeError, match="two values"):
        F.batch_norm(td.ones(1, 3), None, None, training=True)
    with pytest.raises(ShapeError, match="two values"):
        F.instance_norm(td.ones(2, 3, 1))


# ---- rows of a table


@pytest.mark.parametrize("compiled", [False, True])
def test_rows_that_are_looked_up_are_shortened(compiled):
    weight = rng.standard_normal((5, 3)) * 3
    table, index = td.tensor(weight, requires_grad=True), td.tensor([1, 3, 3])
    call = lambda i: F.embedding(i, table, max_norm=1.0)  # noqa: E731
    found = (td.compile(call) if compiled else call)(index).numpy()
    lengths = np.linalg.norm(weight, axis=1, keepdims=True)
    short = np.where(lengths > 1, weight / (lengths + 1e-7), weight)
    np.testing.assert_allclose(found, short[[1, 3, 3]])
    expected = np.where(np.isin(np.arange(5), [1, 3])[:, None], short, weight)
    close(table, expected)
    assert table.requires_grad


def test_gradients_by_frequency_and_not_for_padding():
    table = td.ones(4, 2, requires_grad=True)
    index = td.tensor([0, 2, 2, 2, 1])
    F.embedding(index, table, -3, scale_grad_by_freq=True).sum().backward()
    assert table.grad.tolist() == [[1, 1], [0, 0], [1, 1], [0, 0]]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("compiled", [False, True])
def test_bags(mode, padding, compiled):
    weight, index = rng.standard_normal((6, 3)), np.array([0, 2, 2, 5, 1, 2, 4, 2])
    offsets, ends = [0, 3, 3, 5, 7], [3, 3, 5, 7, 8]
    reduce = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
    expected = np.zeros((5, 3))
    for k, (start, end) in enumerate(zip(offsets, ends, strict=True)):
        rows = weight[[i for i in index[start:end] if i != padding]]
        expected[k] = reduce(rows, 0) if len(rows) else 0

    def bag(index, weight, offsets, last=False):
        return F.embedding_bag(index, weight, offsets, mode=mode, padding_idx=padding,
                               include_last_offset=last)  # fmt: skip

    call = td.compile(bag) if compiled else bag
    operands = td.tensor(index), td.tensor(weight)
    close(call(*operands, td.tensor(offsets)), expected)
    close(call(*operands, td.tensor([*offsets, 8]), True), expected)
    square = F.embedding_bag(
        td.tensor(index.reshape(2, 4)), operands[1], mode=mode, padding_idx=padding
    )
    rows = [weight[[i for i in row if i != padding]] for row in index.reshape(2, 4)]
    close(square, np.stack([reduce(r, 0) for r in rows]))
    gradcheck(lambda w: bag(operands[0], w, td.tensor(offsets)), [weight])


def test_bags_that_do_not_fit_are_refused():
    index, weight = td.tensor([0, 1]), td.ones(3, 2)
    with pytest.raises(ShapeError, match="which bags"):
        F.embedding_bag(index, weight)
    with pytest.raises(ShapeError, match="which bags"):
        F.embedding_bag(index.reshape(1, 2), weight, td.tensor([0]))
    with pytest.raises(ArgumentError, match="sum, mean or max"):
        F.embedding_bag(index, weight, td.tensor([0]), mode="median")
    with pytest.raises(ArgumentError, match="sums"):
        F.embedding_bag(index, weight, td.tensor([0]), per_sample_weights=td.ones(2))


# ---- attention


def attention(q, k, v, hidden):
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    scores = np.where(hidden, -np.inf, scores)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_heads_see_what_masks_leave(together, weights):
    q = rng.standard_normal((4, 2, 6))
    kv = q if together else rng.standard_normal((5, 2, 6))
    into, bias = rng.standard_normal((18, 6)), rng.standard_normal(18)
    out, shift = rng.standard_normal((6, 6)), rng.standard_normal(6)
    length = len(kv)
    padding = np.zeros((2, length), bool)
    padding[1, -1] = True
    mask = np.triu(np.ones((4, length), bool), 1)
    parts = [
        (x @ w.T + b).reshape(-1, 2, 3, 2).transpose(1, 2, 0, 3)
        for x, w, b in zip((q, kv, kv), np.split(into, 3), np.split(bias, 3), strict=True)
    ]
    mixed = attention(*parts, mask | padding[:, None, None])
    expected = mixed.transpose(2, 0, 1, 3).reshape(4, 2, 6) @ out.T + shift
    first = td.tensor(q)
    others = (first, first) if together else (td.tensor(kv), td.tensor(kv))
    found, seen = F.multi_head_attention_forward(
        first, *others, 6, 3, td.tensor(into), td.tensor(bias), None, None, False, 0.0,
        td.tensor(out), td.tensor(shift), key_padding_mask=td.tensor(padding),
        attn_mask=td.tensor(mask), need_weights=weights,
    )  # fmt: skip
    close(found, expected)
    assert (seen is not None) == weights
    if seen is not None:
        assert seen.shape == (2, 4, length)
        np.testing.assert_allclose(seen.numpy().sum(-1), 1)
        assert not seen.numpy()[1, :, -1].any()


def test_masks_of_attention():
    q, k, v = (td.tensor(rng.standard_normal((2, 3, 4))) for _ in range(3))
    seen = np.tril(np.ones((3, 3), bool))
    causal = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    close(F.scaled_dot_product_attention(q, k, v, td.tensor(seen)), causal.numpy())
    added = td.tensor(np.where(seen, 0.0, -np.inf))
    close(F.scaled_dot_product_attention(q, k, v, added), causal.numpy())
    with pytest.raises(ArgumentError, match="is_causal"):
        F.scaled_dot_product_attention(q, k, v, added, is_causal=True)
    with pytest.raises(ShapeError, match="heads"):
        F.multi_head_attention_forward(q, k, v, 4, 3, td.ones(12, 4), None, None, None, False, 0.0,
                                       td.ones(4, 4), None)  # fmt: skip
    with pytest.raises(ArgumentError, match="projection is missing"):
        F.multi_head_attention_forward(q, k, v, 4, 2, None, None, None, None, False, 0.0,
                                       td.ones(4, 4), None)  # fmt: skip


# ---- arguments


def test_axes_that_pytorch_guesses():
    for shape, axis in (((4,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 3, 4, 2), 1)):
        x = td.tensor(rng.standard_normal(shape))
        close(F.softmax(x), F.softmax(x, dim=axis).numpy())
        close(F.softmin(x), F.softmax(-x, dim=axis).numpy())
        close(F.log_softmax(x), np.log(F.softmax(x, dim=axis).numpy()))
    assert F.softmax(td.tensor([1, 2]), 0, dtype="float64").dtype is td.float64


def test_names_are_pytorchs_and_inplace_means_nothing():
    x = td.tensor([-1.0, 2.0])
    assert F.relu(input=x, inplace=True).tolist() == [0.0, 2.0]
    assert x.tolist() == [-1.0, 2.0]
    assert F.leaky_relu(input=x, negative_slope=0.5, inplace=True).tolist() == [-0.5, 2.0]
    assert F.threshold(x, 0.0, 7.0, True).tolist() == [7.0, 2.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_stay_narrow(dtype):
    x = td.tensor(rng.standard_normal((2, 4, 6, 6)), dtype=dtype)
    calls = [
        lambda: F.max_pool2d(x, 2, return_indices=True)[0], lambda: F.local_response_norm(x, 3),
        lambda: F.layer_norm(x, (6,)), lambda: F.unfold(x, 2), lambda: F.softmin(x, -1),
        lambda: F.pairwise_distance(x, x * 0.5), lambda: F.instance_norm(x), lambda: F.mish(x),
        lambda: F.interpolate(x, 4, mode="bilinear", antialias=True),
        lambda: F.grid_sample(x, x[:, 0, :, :2].unsqueeze(1)),
    ]  # fmt: skip
    for call in calls:
        found = call()
        assert found.dtype.name == dtype
        assert np.isfinite(found.astype("float32").numpy()).all()
