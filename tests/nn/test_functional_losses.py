"""Losses of nn.functional against sums written out in NumPy, float64."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from treadle.nn import functional as F
from treadle.testing.gradcheck import gradcheck

rng = np.random.default_rng(3)
REDUCTIONS = {"none": lambda x: x, "sum": np.sum, "mean": np.mean}


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


def log_softmax(x, axis):
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


# ---- classes


def picked(values, labels):
    """values (N, C, ...) at labels (N, ...)."""
    return np.take_along_axis(values, np.expand_dims(labels, 1), 1).squeeze(1)


@pytest.mark.parametrize(
    "shape", [(4, 3), (2, 3, 3), (3, 3, 3), (2, 3, 2, 4), (1, 3, 1), (2, 3, 0)]
)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_are_axis_1(shape, reduction, weighted):
    x, labels = rng.standard_normal(shape), rng.integers(0, 3, (shape[0], *shape[2:]))
    weight = np.array([0.5, 2.0, 1.5]) if weighted else np.ones(3)
    given = td.tensor(weight) if weighted else None
    losses = -picked(log_softmax(x, 1), labels) * weight[labels]
    total = weight[labels].sum()
    with np.errstate(invalid="ignore"):
        expected = losses.sum() / total if reduction == "mean" else REDUCTIONS[reduction](losses)
    operands = td.tensor(x), td.tensor(labels), given
    close(F.cross_entropy(*operands, reduction=reduction), expected)
    logs = td.tensor(log_softmax(x, 1))
    close(F.nll_loss(logs, *operands[1:], reduction=reduction), expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.25])
def test_targets_that_are_ignored_do_not_count(weighted, smoothing):
    x, labels = rng.standard_normal((6, 4)), np.array([0, -100, 3, 1, -100, 2])
    weight = np.array([0.5, 2.0, 1.5, 1.0]) if weighted else np.ones(4)
    given = td.tensor(weight) if weighted else None
    options = {"label_smoothing": smoothing}
    found = F.cross_entropy(td.tensor(x), td.tensor(labels), given, **options)
    kept = labels >= 0
    alone = F.cross_entropy(td.tensor(x[kept]), td.tensor(labels[kept]), given, **options)
    logs = log_softmax(x[kept], 1)
    own = -picked(logs, labels[kept]) * weight[labels[kept]] * (1 - smoothing)
    even = -(logs * weight).sum(1) * smoothing / 4
    close(found, (own + even).sum() / weight[labels[kept]].sum())
    close(alone, found.item())


@pytest.mark.parametrize("shape", [(4,), (5, 4), (2, 4, 3)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_targets_may_be_probabilities(shape, smoothing, reduction):
    x, target = rng.standard_normal(shape), rng.random(shape)
    axis, weight = min(1, len(shape) - 1), np.array([0.5, 2.0, 1.5, 1.0])
    wanted = target * (1 - smoothing) + smoothing / 4
    column = weight.reshape((-1,) + (1,) * (len(shape) - 1 - axis))
    losses = -(log_softmax(x, axis) * wanted * column).sum(axis)
    found = F.cross_entropy(
        td.tensor(x), td.tensor(target), td.tensor(weight), reduction=reduction,
        label_smoothing=smoothing,
    )  # fmt: skip
    close(found, REDUCTIONS[reduction](losses))


def test_labels_that_do_not_fit_are_refused():
    logits = td.zeros(2, 3, 4)
    with pytest.raises(ShapeError, match="axis 1"):
        F.cross_entropy(logits, td.zeros(2, 3, dtype="int64"))
    with pytest.raises(DtypeError, match="integers"):
        F.nll_loss(logits, td.zeros(2, 4))
    with pytest.raises(IndexingError, match="range"):
        F.cross_entropy(logits, td.tensor(np.full((2, 4), 3)))
    with pytest.raises(ShapeError, match="each class"):
        F.cross_entropy(logits, td.zeros(2, 4, dtype="int64"), td.ones(4))
    with pytest.raises(ArgumentError, match="share"):
        F.cross_entropy(logits, td.zeros(2, 4, dtype="int64"), label_smoothing=1.5)
    with pytest.raises(ArgumentError, match="none, mean, sum"):
        F.nll_loss(logits, td.zeros(2, 4, dtype="int64"), td.ones(3), reduction="batch")
    with pytest.raises(TypeError, match="positional"):
        F.cross_entropy(logits, td.zeros(2, 4, dtype="int64"), None, None)


def spelled(labels, blank):
    """What a line of classes spells: repeats once, blanks not at all."""
    return [k for k, _ in itertools.groupby(labels) if k != blank]


@pytest.mark.parametrize("target", [[], [1], [2, 2], [1, 2], [1, 2, 1]])
@pytest.mark.parametrize("blank", [0, 3])
def test_ctc_is_the_chance_of_all_that_spell_the_target(target, blank):
    target = [k % 3 if blank == 3 else k for k in target]
    logs = log_softmax(rng.standard_normal((4, 4)), 1)
    chance = sum(
        math.exp(sum(logs[t, k] for t, k in enumerate(line)))
        for line in itertools.product(range(4), repeat=4)
        if spelled(line, blank) == target
    )
    labels = td.tensor(np.array([target + [1] * (3 - len(target))]))
    found = F.ctc_loss(td.tensor(logs[:, None]), labels, [4], [len(target)], blank, "sum")
    close(found, -math.log(chance))


def test_ctc_takes_batches_padded_or_in_one_line():
    logs = td.tensor(log_softmax(rng.standard_normal((7, 3, 5)), 2))
    rows = [[1, 2, 2], [4], [3, 1]]
    lengths, times = [3, 1, 2], [7, 5, 6]
    padded = td.tensor(np.array([row + [0] * (3 - len(row)) for row in rows]))
    line = td.tensor(np.concatenate(rows))
    each = [
        F.ctc_loss(logs[:t, k], td.tensor(np.array(row)), [t], [len(row)], reduction="none")
        for k, (row, t) in enumerate(zip(rows, times, strict=True))
    ]
    expected = np.array([loss.item() for loss in each])
    for targets in (padded, line):
        close(F.ctc_loss(logs, targets, times, lengths, reduction="none"), expected)
        close(F.ctc_loss(logs, targets, td.tensor(times), td.tensor(lengths)),
              (expected / lengths).mean())  # fmt: skip


def test_ctc_of_targets_that_are_too_long():
    logs = log_softmax(rng.standard_normal((2, 2, 4)), 2)
    targets, lengths = td.tensor(np.array([[1, 1, 2], [1, 0, 0]])), ([2, 2], [3, 1])
    found = F.ctc_loss(td.tensor(logs), targets, *lengths, reduction="none")
    assert np.isinf(found.numpy()).tolist() == [True, False]
    x = td.tensor(logs, requires_grad=True)
    F.ctc_loss(x, targets, *lengths, reduction="sum", zero_infinity=True).backward()
    slope = x.grad.numpy()
    assert not slope[:, 0].any()
    assert slope[:, 1].any()
    with pytest.raises(ArgumentError, match="input_lengths"):
        F.ctc_loss(td.tensor(logs), targets, [3, 2], [1, 1])
    with pytest.raises(ShapeError, match="one length"):
        F.ctc_loss(td.tensor(logs), targets, [2], [1])


def test_ctc_has_the_gradient_of_its_slope():
    targets = td.tensor(np.array([[1, 2], [3, 3]]))
    gradcheck(lambda x: F.ctc_loss(x, targets, [5, 4], [2, 2]), [rng.standard_normal((5, 2, 4))])


# ---- numbers and vectors


def test_a_variance_without_the_last_axis_is_for_rows():
    x, target = rng.standard_normal((2, 4, 4))
    var = rng.uniform(0.5, 2, 4)
    expected = 0.5 * (np.log(var[:, None]) + (x - target) ** 2 / var[:, None])
    operands = td.tensor(x), td.tensor(target)
    close(F.gaussian_nll_loss(*operands, td.tensor(var), reduction="none"), expected)
    close(F.gaussian_nll_loss(*operands, 2.0), (0.5 * (np.log(2) + (x - target) ** 2 / 2)).mean())
    with pytest.raises(ShapeError, match="var does not fit"):
        F.gaussian_nll_loss(*operands, td.ones(1, 1))
    with pytest.raises(ArgumentError, match="negative"):
        F.gaussian_nll_loss(*operands, -1.0)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_weighted_losses(reduction):
    x, target, weight = rng.uniform(0.5, 2, (3, 4, 5))
    operands, given = (td.tensor(x), td.tensor(target)), td.tensor(weight)
    for loss, power in ((F.mse_loss, 2), (F.l1_loss, 1)):
        losses = np.abs(x - target) ** power * weight
        expected = (
            losses.sum() / weight.sum() if reduction == "mean" else REDUCTIONS[reduction](losses)
        )
        close(loss(*operands, reduction=reduction, weight=given), expected)
    size = np.abs(x - target)
    losses = np.where(size < 0.4, size**2 / 2, 0.4 * (size - 0.2)) * weight
    close(F.huber_loss(*operands, reduction, 0.4, given), REDUCTIONS[reduction](losses))


@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
def test_distances(p):
    x = rng.standard_normal((5, 3))
    pairs = [np.linalg.norm(x[i] - x[j], p) for i in range(5) for j in range(i + 1, 5)]
    close(F.pdist(td.tensor(x), p), pairs)
    y = rng.standard_normal((5, 3))
    each = np.linalg.norm(x - y + 1e-6, p, axis=1)
    close(F.pairwise_distance(td.tensor(x), td.tensor(y), p), each)
    close(F.pairwise_distance(td.tensor(x), td.tensor(y), p, keepdim=True), each[:, None])
    assert F.pdist(td.tensor(x[:1]), p).shape == F.pdist(td.zeros(0, 3), p).shape == (0,)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_triplets(swap, reduction):
    a, p, n = rng.standard_normal((3, 6, 4))
    distance = lambda x, y: np.linalg.norm(x - y + 1e-6, axis=1)  # noqa: E731
    far = np.minimum(distance(a, n), distance(p, n)) if swap else distance(a, n)
    expected = REDUCTIONS[reduction](np.maximum(distance(a, p) - far + 0.7, 0))
    operands = [td.tensor(x) for x in (a, p, n)]
    close(F.triplet_margin_loss(*operands, 0.7, swap=swap, reduction=reduction), expected)
    own = F.triplet_margin_with_distance_loss(
        *operands, distance_function=F.pairwise_distance, margin=0.7, swap=swap, reduction=reduction
    )
    close(own, expected)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_margins(reduction):
    x, signs = rng.standard_normal((4, 5)), rng.choice([-1.0, 1.0], (4, 5))
    end = REDUCTIONS[reduction]
    close(F.soft_margin_loss(td.tensor(x), td.tensor(signs), reduction=reduction),
          end(np.log1p(np.exp(-x * signs))))  # fmt: skip
    chances, weight = rng.random((4, 5)), rng.random(5)
    logs = chances * -np.log1p(np.exp(-x)) + (1 - chances) * -np.log1p(np.exp(x))
    given = td.tensor(x), td.tensor(chances), td.tensor(weight)
    found = F.multilabel_soft_margin_loss(*given, reduction=reduction)
    close(found, end((-logs * weight).mean(1)))
    labels = rng.integers(0, 5, 4)
    expected = [
        sum(max(0, 0.6 - x[i, y] + x[i, c]) ** 2 * weight[y] for c in range(5) if c != y) / 5
        for i, y in enumerate(labels)
    ]
    given = td.tensor(x), td.tensor(labels), 2, 0.6, td.tensor(weight)
    close(F.multi_margin_loss(*given, reduction=reduction), end(np.array(expected)))
    targets = np.array([[0, 3, -1, 1, 1], [2, -1, 4, 0, 0], [-1, 0, 1, 2, 3], [4, 3, 2, 1, 0]])
    expected = []
    for row, given in zip(x, targets.tolist(), strict=True):
        own = given[: given.index(-1)] if -1 in given else given
        others = [c for c in range(5) if c not in own]
        expected.append(sum(max(0, 1 - row[y] + row[c]) for y in own for c in others) / 5)
    close(F.multilabel_margin_loss(td.tensor(x), td.tensor(targets), reduction=reduction),
          end(np.array(expected)))  # fmt: skip
    cosine = (x[:2] * x[2:]).sum(1) / np.linalg.norm(x[:2], axis=1) / np.linalg.norm(x[2:], axis=1)
    losses = np.where([True, False], 1 - cosine, np.maximum(cosine + 0.3, 0))
    found = F.cosine_embedding_loss(
        td.tensor(x[:2]), td.tensor(x[2:]), td.tensor([1.0, -1.0]), -0.3, reduction=reduction
    )
    close(found, end(losses), 1e-10)


def test_soft_margins_do_not_overflow():
    x = td.tensor([1e4, -1e4], requires_grad=True)
    loss = F.soft_margin_loss(x, td.tensor([-1.0, 1.0]))
    loss.backward()
    assert loss.item() == 1e4
    assert x.grad.tolist() == [0.5, -0.5]


def test_linear_cross_entropy_is_both():
    x, weight, bias = (
        rng.standard_normal((5, 3)),
        rng.standard_normal((4, 3)),
        rng.standard_normal(4),
    )
    labels = rng.integers(0, 4, 5)
    found = F.linear_cross_entropy(
        td.tensor(x), td.tensor(weight), td.tensor(labels), linear_bias=td.tensor(bias)
    )
    close(found, -picked(log_softmax(x @ weight.T + bias, 1), labels).mean())
