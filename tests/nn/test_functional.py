"""Layers without parameters in PyTorch's arrangement of arguments, and those that draw."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, IndexingError, ShapeError
from treadle.nn import functional as F

rng = np.random.default_rng(1)
X = rng.standard_normal((4, 6, 3, 5)).astype(np.float32)
x = td.tensor(X)


def normalised(array, axes, eps=1e-5):
    centred = array.astype(np.float64) - array.mean(axes, keepdims=True, dtype=np.float64)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + eps)


def close(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-5, atol=2e-5)


def test_layer_norm_takes_the_shape_second():
    weight, bias = rng.standard_normal((2, 3, 5)).astype(np.float32)
    found = F.layer_norm(x, (3, 5), td.tensor(weight), td.tensor(bias), 1e-3)
    close(found, normalised(X, (2, 3), 1e-3) * weight + bias)
    close(F.layer_norm(x, 5), normalised(X, (3,)))
    close(td.layer_norm(x, td.tensor(weight[0]), td.tensor(bias[0])),
          normalised(X, (3,)) * weight[0] + bias[0])  # fmt: skip
    for wrong in ((5, 3), (), (9, 4, 6, 3, 5)):
        with pytest.raises(ShapeError, match="normalized_shape"):
            F.layer_norm(x, wrong)
    with pytest.raises(ShapeError, match="weight"):
        F.layer_norm(x, (5,), td.ones(3))


def test_rms_norm_divides_by_the_root_of_the_mean_square():
    wide = X.astype(np.float64)
    close(
        F.rms_norm(x, (3, 5), eps=0.1), wide / np.sqrt((wide**2).mean((2, 3), keepdims=True) + 0.1)
    )
    tiny = td.tensor([1e-4, 1e-4])
    expected = 1e-4 / np.sqrt(1e-8 + np.finfo(np.float32).eps)
    close(td.rms_norm(tiny), [expected] * 2)


def test_group_and_instance_norm():
    grouped = normalised(X.reshape(4, 2, -1), (2,)).reshape(X.shape)
    weight = np.arange(1, 7, dtype=np.float32)
    close(F.group_norm(x, 2, td.tensor(weight)), grouped * weight[:, None, None])
    close(F.instance_norm(x), normalised(X, (2, 3)))
    with pytest.raises(ArgumentError, match="equal size"):
        F.group_norm(x, 4)


def test_batch_norm_keeps_running_statistics_in_training():
    mean, var = td.zeros(6), td.ones(6)
    found = F.batch_norm(x, mean, var, training=True, momentum=0.25)
    close(found, normalised(X, (0, 2, 3)))
    close(mean, 0.25 * X.mean((0, 2, 3)))
    close(var, 0.75 + 0.25 * X.var((0, 2, 3), ddof=1))
    inferred = F.batch_norm(x, mean, var)
    kept = [t.numpy().reshape(6, 1, 1) for t in (mean, var)]
    close(inferred, (X - kept[0]) / np.sqrt(kept[1] + 1e-5))


def test_normalize_gives_vectors_of_one_length():
    close(F.normalize(x, dim=-1), X / np.linalg.norm(X, axis=-1, keepdims=True))
    assert F.normalize(td.zeros(1, 3)).tolist() == [[0.0, 0.0, 0.0]]


def test_pad_names_the_last_axis_first():
    close(F.pad(x, (1, 2)), np.pad(X, ((0, 0), (0, 0), (0, 0), (1, 2))))
    close(F.pad(x, (1, 0, 2, 3), value=4.0),
          np.pad(X, ((0, 0), (0, 0), (2, 3), (1, 0)), constant_values=4.0))  # fmt: skip
    close(F.pad(x, (-1, -2)), X[..., 1:-2])
    close(F.pad(x, (2, 2), mode="reflect"), np.pad(X, ((0, 0),) * 3 + ((2, 2),), "reflect"))
    with pytest.raises(ArgumentError, match="last axis first"):
        F.pad(x, (1, 2, 3))
    with pytest.raises(ArgumentError, match="last axis first"):
        F.pad(x, 1)


def test_dropout_keeps_the_mean():
    td.manual_seed(0)
    ones = td.ones(40000)
    found = F.dropout(ones, 0.25).numpy()
    assert set(np.unique(found)) == {np.float32(0), np.float32(1 / 0.75)}
    assert found.mean() == pytest.approx(1.0, abs=0.02)
    assert F.dropout(ones, 0.25, training=False) is ones
    assert not F.dropout(ones, 1.0).numpy().any()
    layer = td.nn.Dropout(0.5)
    assert layer.train()(ones).numpy().min() == 0
    assert layer.eval()(ones) is ones
    with pytest.raises(ArgumentError, match="probability"):
        F.dropout(ones, 1.5)


def test_gradient_of_dropout_is_its_mask():
    y = td.ones(100, requires_grad=True)
    found = F.dropout(y, 0.5)
    found.sum().backward()
    np.testing.assert_array_equal(y.grad.numpy(), found.numpy())


def test_embedding_looks_up_rows():
    weight = td.tensor(rng.standard_normal((5, 2)).astype(np.float32), requires_grad=True)
    index = td.tensor([[4, 0], [1, 1]])
    found = F.embedding(index, weight, padding_idx=1)
    np.testing.assert_array_equal(found.numpy(), weight.numpy()[index.numpy()])
    found.sum().backward()
    assert weight.grad.tolist() == [[1, 1], [0, 0], [0, 0], [0, 0], [1, 1]]
    with pytest.raises(IndexingError):
        F.embedding(td.tensor([5]), weight)


def test_fractional_pools_draw_their_samples():
    td.manual_seed(3)
    first, second = (F.fractional_max_pool2d(x, 2, output_size=(2, 3)) for _ in range(2))
    assert first.shape == (4, 6, 2, 3)
    assert not np.array_equal(first.numpy(), second.numpy())
    samples = td.full((4, 6, 2), 0.5)
    given = F.fractional_max_pool2d(x, 2, output_size=2, _random_samples=samples)
    np.testing.assert_array_equal(
        given.numpy(), td.fractional_max_pool2d(x, samples, 2, output_size=2).numpy()
    )
    assert F.fractional_max_pool3d(x, 2, output_size=(2, 1, 2)).shape == (4, 2, 1, 2)


def test_area_is_the_mean_of_regions():
    found = F.interpolate(td.tensor(X[..., :4]), size=(1, 2), mode="area")
    close(found, X[..., :4].reshape(4, 6, 1, 3, 2, 2).mean((3, 5)))


def test_losses_refuse_what_does_not_fit():
    with pytest.raises(ShapeError, match="shapes differ"):
        F.binary_cross_entropy(td.ones(4, 1), td.ones(4))
    with pytest.raises(ShapeError, match="broadcast"):
        F.mse_loss(td.ones(4, 2), td.ones(4, 3))
    with pytest.raises(ArgumentError, match="mean, sum"):
        F.l1_loss(td.ones(4), td.ones(4), reduction="average")
    with pytest.raises(IndexingError, match="range"):
        F.nll_loss(td.zeros(2, 3), td.tensor([0, 3]))
