"""Index tensors out of range: refused where they are known, harmless where they are not."""

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import IndexingError

X = np.arange(12.0, dtype=np.float32).reshape(4, 3)
ROWS = {
    "gather": lambda i: td.gather(td.tensor(X), td.tensor([[i, 0, 1]]), axis=0),
    "take": lambda i: td.take(td.tensor(X), td.tensor([0, i]), axis=0),
    "take_along_axis": lambda i: td.take_along_axis(td.tensor(X), td.tensor([[i]]), axis=0),
    "put_along_axis": lambda i: td.put_along_axis(td.tensor(X), td.tensor([[i]]), 1.0, axis=0),
    "scatter": lambda i: td.scatter(td.tensor(X), td.tensor([[i, 0, 1]]), 1.0, axis=0),
    "scatter_add": lambda i: td.scatter_add(td.tensor(X), td.tensor([[i, 0, 1]]), 1.0, axis=0),
    "scatter_mul": lambda i: td.scatter_mul(td.tensor(X), td.tensor([[i, 0, 1]]), 1.0, axis=0),
    "index_add": lambda i: td.index_add(td.tensor(X), td.tensor([i]), td.ones(1, 3)),
    "embedding": lambda i: td.nn.Embedding(4, 3)(td.tensor([[i]], dtype="int32")),
    "one_hot": lambda i: td.one_hot(td.tensor([i], dtype="int8"), 4),
    "cross_entropy": lambda i: td.cross_entropy(td.tensor(X.T), td.tensor([0, i, 1])),
}


@pytest.mark.parametrize("bad", [4, 100, -5])
@pytest.mark.parametrize("name", ROWS)
def test_known_indices_out_of_range_are_refused_at_the_call(name, bad):
    with pytest.raises(IndexingError, match=f"(?s)out of range.*{bad}.*4") as caught:
        ROWS[name](bad)
    assert ("take" if name == "embedding" else name) in str(caught.value)
    ROWS[name](3).numpy()


def scattered(name, how, device):
    base = td.tensor(np.ones((5, 3), np.float32)).to(device)
    values = td.tensor(np.arange(2.0, 8.0, dtype=np.float32).reshape(2, 3)).to(device)
    index = td.tensor(np.array([[5, -1, -6], [0, 100, -(2**40)]])).to(device)
    if how == "pending":
        index = index + 0
        return getattr(td, name)(base, index, values, axis=0).numpy()
    return td.compile(lambda i: getattr(td, name)(base, i, values, axis=0))(index).numpy()


@pytest.mark.parametrize(
    ("device", "how"), [("cpu", "pending"), ("cpu", "traced"), ("reference", "pending")]
)
@pytest.mark.parametrize(
    ("name", "join"),
    [("scatter", lambda a, b: b), ("scatter_add", lambda a, b: a + b),
     ("scatter_mul", lambda a, b: a * b), ("scatter_max", max), ("scatter_min", min)],
)  # fmt: skip
def test_writes_out_of_range_are_dropped(name, join, device, how):
    expected = np.ones((5, 3), np.float32)
    expected[4, 1] = join(1.0, 3.0)  # -1 counts from the end
    expected[0, 0] = join(1.0, 5.0)
    np.testing.assert_array_equal(scattered(name, how, device), expected)


def test_writes_out_of_range_are_dropped_along_every_layout():
    """Lanes that agree take a branch, others a mask, and one line alone neither."""
    rng = np.random.default_rng(0)
    for shape, axis in (((7,), 0), ((70,), 0), ((6, 40), 0), ((40, 6), 1), ((3, 5, 33), 1)):
        base = rng.standard_normal(shape).astype(np.float32)
        index = rng.integers(-3 * shape[axis], 3 * shape[axis], shape)
        values = rng.standard_normal(shape).astype(np.float32)
        expected = base.copy()
        for at in np.ndindex(shape):
            to = list(at)
            to[axis] = index[at]
            if -shape[axis] <= index[at] < shape[axis]:
                expected[tuple(to)] = values[at]
        operands = td.tensor(base), td.tensor(index) + 0, td.tensor(values)
        np.testing.assert_array_equal(td.scatter(*operands, axis=axis).numpy(), expected)
        rows = rng.integers(-8, 8, 4)
        flat = td.tensor(base).reshape(shape[0], -1)
        added = td.ones(4, flat.shape[1])
        sums = base.reshape(shape[0], -1).copy()
        for row in rows[(rows >= -shape[0]) & (rows < shape[0])]:
            sums[row] += 1
        found = td.index_add(flat, td.tensor(rows) + 0, added)
        np.testing.assert_allclose(found.numpy(), sums, rtol=1e-6)


def test_what_is_dropped_has_no_gradient():
    for name in ("scatter", "scatter_add", "scatter_mul", "scatter_max"):
        base, values = td.ones(3).requires_grad_(), td.full((4,), 2.0).requires_grad_()
        index = td.tensor([1, 3, -4, 9]) + 0
        getattr(td, name)(base, index, values, axis=0).sum().backward()
        assert values.grad.tolist() == [1.0, 0.0, 0.0, 0.0], name
    x = td.ones(3).requires_grad_()
    td.gather(x, td.tensor([1, 3, -4, 1]) + 0, axis=0).sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 0.0]


def test_pending_reads_are_clamped_and_one_hot_gives_zeros():
    index = td.tensor([5, -1, -9])
    assert td.gather(td.arange(3), index + 0, axis=0).tolist() == [2, 2, 0]
    assert td.take(td.arange(3), index + 0).tolist() == [2, 2, 0]
    assert td.one_hot(td.tensor([1, 3, -1]) + 0, 3).tolist() == [[0, 1, 0], [0] * 3, [0] * 3]
    wide = td.one_hot(td.tensor([44], dtype="int8"), 301).numpy()
    assert wide.sum() == wide[0, 44] == 1  # a class number need not fit the labels' dtype


# ---- losses


def losses(logits, labels, ignore, smoothing):
    wide = logits.astype(np.float64)
    rows = wide - np.log(np.exp(wide).sum(-1, keepdims=True))
    found = np.zeros(labels.shape)
    for at in np.ndindex(labels.shape):
        if labels[at] != ignore:
            found[at] = -(1 - smoothing) * rows[at][labels[at]] - smoothing * rows[at].mean()
    return found


@pytest.mark.parametrize("how", ["known", "pending"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("ignore", [-100, 2, -1])
def test_cross_entropy_ignores_rows(ignore, smoothing, how):
    rng = np.random.default_rng(1)
    logits = rng.standard_normal((6, 2, 5)).astype(np.float32)
    labels = rng.integers(0, 5, (6, 2))
    labels[1], labels[4, 1] = ignore, ignore
    each = losses(logits, labels, ignore, smoothing)
    count = (labels != ignore).sum()
    options = {"ignore_index": ignore, "label_smoothing": smoothing}
    for reduction, expected in (("none", each), ("sum", each.sum()), ("mean", each.sum() / count)):
        x = td.tensor(logits).requires_grad_()
        y = td.tensor(labels) if how == "known" else td.tensor(labels) + 0
        loss = td.cross_entropy(x, y, reduction=reduction, **options)
        np.testing.assert_allclose(loss.numpy(), expected, rtol=1e-5, atol=1e-6)
        loss.sum().backward()
        wide = np.exp(logits.astype(np.float64))
        slope = wide / wide.sum(-1, keepdims=True) - smoothing / 5
        hit = np.eye(5)[np.where(labels == ignore, 0, labels)]
        slope = (slope - (1 - smoothing) * hit) * (labels != ignore)[..., None]
        slope = slope / (count if reduction == "mean" else 1)
        np.testing.assert_allclose(x.grad.numpy(), slope, rtol=1e-4, atol=1e-6)


def test_cross_entropy_of_nothing_is_nan_and_options_are_checked():
    x = td.zeros(2, 3)
    assert np.isnan(td.cross_entropy(x, td.tensor([-100, -100])).item())
    assert td.cross_entropy(x, td.tensor([-100, -100]), reduction="sum").item() == 0.0
    for options, word in (({"reduction": "max"}, "mean, sum"), ({"label_smoothing": 2.0}, "share")):
        with pytest.raises(ValueError, match=word):
            td.cross_entropy(x, td.tensor([0, 1]), **options)


# ---- many operands


def test_thousands_of_tensors_are_joined():
    parts = [td.tensor(float(k)) for k in range(5000)]
    expected = np.arange(5000.0)
    np.testing.assert_array_equal(td.stack(parts).numpy(), expected)
    assert (td.stack(parts[:1500]) * 2).sum().item() == 2 * expected[:1500].sum()
    made = [x * 2 for x in parts[:1000]]
    np.testing.assert_array_equal((td.stack(made) + 1).numpy(), 2 * expected[:1000] + 1)
    leaf = td.ones(()).requires_grad_()
    (td.stack([leaf] * 300) * td.arange(300)).sum().backward()
    assert leaf.grad.item() == 299 * 150
