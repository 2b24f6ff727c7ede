"""Products of any rank over any views, and values looked up at whatever computes an index."""

from __future__ import annotations

import os

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import ALL
from treadle.ir.graph import structure
from treadle.kernel.steps import ProductStep
from treadle.runtime.realize import compile_graph
from treadle.testing.arrays import array_type, unit_roundoff
from treadle.testing.choice import Choice

PRODUCTS = int(os.environ.get("TREADLE_RANDOM_PRODUCTS", "120"))  # thousands at night
FIRST = int(os.environ.get("TREADLE_FIRST_SEED", "0"))
PARTS = 3  # so that several workers share them
KINDS = ("float32",) * 4 + ("float64", "float16", "bfloat16") * 2 + tuple(
    d.name for d in ALL if d.is_integer
)  # fmt: skip


def viewed(draw, shape, kind):
    """A tensor and an array of a shape, read through a random chain of views."""
    order = draw.order(len(shape))  # it lies in memory in another order of axes
    stored = [shape[axis] for axis in order]
    wide = [n if draw.coin() else 1 for n in stored]  # some axes repeat one element
    extra = [draw.number(0, 2) if n > 1 else 0 for n in wide]
    steps = [draw.one((1, 1, 2)) if n > 1 else 1 for n in wide]
    sizes = [e + (n - 1) * s + 1 if n else 0 for n, e, s in zip(wide, extra, steps, strict=True)]
    rng = np.random.default_rng(draw.number(0, 1 << 20))
    low = 0 if kind.startswith("u") else -4
    array = (rng.integers(low, 5, sizes) / (2 if "float" in kind else 1)).astype(array_type(kind))
    tensor = td.tensor(array)
    cuts = tuple(
        slice(e, e + (n - 1) * s + 1 if n else 0, s)
        for n, e, s in zip(wide, extra, steps, strict=True)
    )
    flips = draw.some(len(shape)) if draw.coin() else ()
    back = [order.index(axis) for axis in range(len(shape))]
    tensor = tensor[cuts].expand(*stored).permute(*back)
    array = np.transpose(np.broadcast_to(array[cuts], stored), back)
    return (tensor.flip(flips), np.flip(array, flips)) if flips else (tensor, array)


def operands(draw):
    """Shapes of two operands that fit, each with batch axes of its own."""
    batch = [draw.one((1, 2, 2, 3)) for _ in range(draw.number(0, 7))]
    if batch and draw.number(0, 19) == 0:
        batch[draw.number(0, len(batch) - 1)] = 0
    m, k, n = (draw.one((1, 1, 2, 3, 5, 17)) for _ in range(3))
    if draw.number(0, 19) == 0:
        k = 0
    shapes = []
    for last in ((m, k), (k, n)):
        own = [1 if draw.number(0, 3) == 0 else size for size in batch]
        shapes.append((*own[draw.number(0, len(own)) if draw.coin() else 0 :], *last))
    return shapes


def check(draw):
    kind = draw.one(KINDS)
    (a, x), (b, y) = (viewed(draw, shape, kind) for shape in operands(draw))
    result = a @ b
    wide = np.float64 if "float" in kind else np.int64
    expected = x.astype(wide) @ y.astype(wide)
    bound = 0.0
    if "float" in kind:
        lost = (x.shape[-1] + 3) * unit_roundoff(kind)
        bound = lost * (np.abs(x).astype(wide) @ np.abs(y).astype(wide))
    if draw.coin() and x.size and y.size and wide is np.float64:  # maps on its tiles
        result = result + result[..., :1] * 2 - a[..., :1]
        first = x[..., :1].astype(wide)
        expected = expected + expected[..., :1] * 2 - first
        bound = 4 * (bound + bound[..., :1]) + 4 * unit_roundoff(kind) * (1 + np.abs(expected))
    found = result.numpy()
    assert found.shape == expected.shape
    if "float" in kind:
        assert np.all(np.abs(found.astype(wide) - expected) <= bound)
    else:
        np.testing.assert_array_equal(found, expected.astype(found.dtype))  # wraps as NumPy's do


@pytest.mark.parametrize("part", range(PARTS))
def test_random_product_gives_what_numpy_gives(part):
    for seed in range(FIRST + part, FIRST + PRODUCTS, PARTS):
        try:
            check(Choice(seed))
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


def test_batch_axes_that_alternate_between_the_operands():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((2, 1, 3, 1, 2, 1, 2, 4, 5))
    b = rng.standard_normal((1, 2, 1, 3, 1, 2, 1, 5, 3))
    np.testing.assert_allclose((td.tensor(a) @ td.tensor(b)).numpy(), a @ b, rtol=1e-12)
    slopes = td.compile(td.grad(lambda a, b: (a @ b).square().sum(), (0, 1)))(
        td.tensor(a), td.tensor(b)
    )
    g = 2 * (a @ b)
    da = (g @ np.swapaxes(b, -1, -2)).sum((1, 3, 5), keepdims=True)
    db = (np.swapaxes(a, -1, -2) @ g).sum((0, 2, 4, 6), keepdims=True)
    np.testing.assert_allclose(slopes[0].numpy(), da, rtol=1e-10)
    np.testing.assert_allclose(slopes[1].numpy(), db, rtol=1e-10)


# ---- values at computed indices

TABLE = np.random.default_rng(1).standard_normal((7, 3)).astype(np.float32)
SORTED = np.sort(TABLE.ravel())
SHAPES = {"column": (6, 1), "row": (1, 6), "one": (1, 1), "matrix": (5, 4), "cube": (2, 3, 1)}


def whole(*shape, seed=0):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


# Numbers of a shape, computed by Treadle and by NumPy.
MAKERS = {
    "product": lambda s: (td.tensor(whole(*s[:-1], 4)) @ td.tensor(whole(4, s[-1], seed=1)),
                          whole(*s[:-1], 4) @ whole(4, s[-1], seed=1)),
    "map of a product": lambda s: (
        abs(td.tensor(whole(*s[:-1], 4)) @ td.tensor(whole(4, s[-1], seed=1)) - 2) * 2,
        abs(whole(*s[:-1], 4) @ whole(4, s[-1], seed=1) - 2) * 2),
    "sum": lambda s: (td.tensor(whole(*s, 5)).sum(-1), whole(*s, 5).sum(-1)),
    "largest": lambda s: (td.tensor(whole(*s, 5)).max(-1), whole(*s, 5).max(-1)),
    "running total": lambda s: (td.tensor(whole(*s)).cumsum(0), whole(*s).cumsum(0)),
    "order": lambda s: (td.tensor(whole(*s)).argsort(0).cast("float32"),
                        whole(*s).argsort(0, kind="stable").astype(np.float32)),
    "looked up": lambda s: (td.tensor(whole(9))[td.tensor(np.arange(np.prod(s)) % 9).reshape(s)],
                            whole(9)[(np.arange(np.prod(s)) % 9).reshape(s)]),
    "view": lambda s: (td.tensor(whole(*s[::-1])).permute(*range(len(s))[::-1]).flip(0),
                       whole(*s[::-1]).T[::-1]),
}  # fmt: skip


def written(index, values):
    total = np.zeros((7, 3), np.float32)
    np.add.at(total, index.ravel(), values)
    return total


# What is done at indices between 0 and 6, by Treadle and by NumPy.
USERS = {
    "take": (lambda i: td.tensor(TABLE)[i], lambda i: TABLE[i]),
    "two indices": (lambda i: td.tensor(TABLE)[i, i % 3], lambda i: TABLE[i, i % 3]),
    "gather": (lambda i: td.gather(td.tensor(TABLE[:, 0]), i.reshape(-1), axis=0),
               lambda i: TABLE[:, 0][i.ravel()]),
    "searchsorted": (lambda i: td.searchsorted(td.tensor(SORTED), i.cast("float32") / 4 - 1),
                     lambda i: np.searchsorted(SORTED, i.astype(np.float32) / 4 - 1)),
    "scatter_add": (
        lambda i: td.index_add(td.zeros(7, 3), i.reshape(-1), td.ones(i.size, 3)),
        lambda i: written(i, np.ones((i.size, 3), np.float32))),
    "one_hot": (lambda i: td.one_hot(i, 7).cast("int64"), lambda i: np.eye(7, dtype=np.int64)[i]),
    "looked up twice": (
        lambda i: td.tensor(TABLE)[(td.tensor(TABLE[:, 1])[i] > 0).cast("int64") + i // 2],
        lambda i: TABLE[(TABLE[:, 1][i] > 0).astype(np.int64) + i // 2]),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("maker", MAKERS)
def test_values_at_computed_indices(maker, shape):
    for name, (ours, numpys) in USERS.items():
        values, expected = MAKERS[maker](SHAPES[shape])
        index = values.cast(td.int64) % 7
        found = ours(index).numpy()
        np.testing.assert_array_equal(found, numpys(expected.astype(np.int64) % 7), err_msg=name)


# ---- integers

WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SIZES = [(1, 70, 33), (33, 70, 1), (7, 3, 9), (67, 300, 75), (2, 1, 5), (130, 64, 128)]


def of_all_sizes(rng, shape, kind):
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, shape, kind, endpoint=True)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("right", WHOLE)
@pytest.mark.parametrize("left", WHOLE)
def test_products_of_integers_are_exact_or_wrap_around(left, right, size):
    rng = np.random.default_rng(0)
    m, k, n = size
    x, y = of_all_sizes(rng, (m, k), left), of_all_sizes(rng, (n, k), right).T
    a, b = td.tensor(x), td.tensor(y.T).T
    if {left, right} & {"uint64"} and not all(kind[0] == "u" for kind in (left, right)):
        pytest.skip("they meet in no integer")
    found = a @ b
    kind = str(found.dtype).split(".")[1]
    expected = x.astype(kind) @ y.astype(kind)
    np.testing.assert_array_equal(found.numpy(), expected)
    mapped = ((a @ b) * 3 - 7).numpy()
    np.testing.assert_array_equal(
        mapped, expected * expected.dtype.type(3) - expected.dtype.type(7)
    )


@pytest.mark.parametrize("kind", WHOLE)
def test_products_of_integers_go_through_the_caches_in_blocks(kind):
    a = td.tensor(np.ones((40, 50), kind))
    roots = [(a @ a.T)._node]
    (step,) = compile_graph(roots, structure(roots)[1], {}).steps
    assert isinstance(step, ProductStep)
