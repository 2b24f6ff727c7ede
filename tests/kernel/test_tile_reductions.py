"""Reductions of a product that its tiles begin: what they give, and which programs have them."""

from __future__ import annotations

import os

import numpy as np
import pytest

import treadle as td
from treadle.ir.graph import structure
from treadle.kernel.steps import ProductStep
from treadle.ops import composite as c
from treadle.ops import elementwise as e
from treadle.ops.contract import matrix_product
from treadle.ops.neural import layer_norm, softmax
from treadle.ops.reduce import max_, min_, sum_
from treadle.runtime.realize import compile_graph
from treadle.testing.arrays import by_reference, compiled, node_of
from treadle.testing.choice import Choice
from treadle.testing.simulate import Simulation

PROGRAMS = int(os.environ.get("TREADLE_RANDOM_PRODUCTS", "120"))  # thousands at night
FIRST = int(os.environ.get("TREADLE_FIRST_SEED", "0"))
PARTS = 3  # so that several workers share them


def random(*shape, seed=0, kind=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


# ---- values


def reductions(draw, dims):
    """A reduction along the axes of a product: its name, axes and whether they stay."""
    ways = [(-1,), tuple(range(dims - 1)), tuple(range(dims)), (-2, -1), (-2,), (0,)]
    axes = tuple(sorted({axis % dims for axis in draw.one(ways)}))
    return draw.one(("sum", "sum", "mean", "max", "min")), axes, draw.coin()


def mapped(draw, x, other, wide, array):
    """A map of the product, next to it in float64."""
    way = draw.number(0, 3)
    if way == 0:
        return x, wide
    if way == 1:
        return td.maximum(x, 0.0) + other, np.maximum(wide, 0.0) + array
    if way == 2:
        return x * x, wide * wide
    return td.where(other > 0, x, 0.0), np.where(array > 0, wide, 0.0)


def check(draw):
    """A product, maps of it, some kept, and reductions of those, against NumPy in float64."""
    sizes = (1, 2, 3, 5, 7, 17, 40, 65, 130)
    m, n = draw.one(sizes), draw.one(sizes)
    k = draw.one((0, 1, 3, 20, 300))
    batch = [draw.one((1, 2, 3)) for _ in range(draw.number(0, 2))]
    if draw.number(0, 9) == 0:
        m = 0
    seed = draw.number(0, 1 << 20)
    a, b = random(*batch, m, k, seed=seed), random(k, n, seed=seed + 1)
    other = random(*batch, m, n, seed=seed + 2)
    wide = a.astype(np.float64) @ b.astype(np.float64)
    product = td.tensor(a) @ td.tensor(b)
    results, expected = [], []
    for _ in range(draw.number(1, 3)):
        x, array = mapped(draw, product, td.tensor(other), wide, other)
        name, axes, stay = reductions(draw, wide.ndim)
        if 0 in [array.shape[axis] for axis in axes] and name != "sum":
            name = "sum"
        results.append(getattr(x, name)(axis=axes, keepdims=stay))
        expected.append(getattr(np, name)(array, axis=axes, keepdims=stay))
        if draw.coin():
            results.append(x)
            expected.append(array)
    td.realize(*results)
    scale = 1 + (np.abs(wide).max() if wide.size else 0)
    for found, right in zip(results, expected, strict=True):
        count = max(1, wide.size // max(1, right.size))
        assert found.shape == right.shape
        error = np.abs(found.numpy().astype(np.float64) - right)
        assert np.all(error <= 3e-6 * scale**2 * count + 1e-6 * np.abs(right))


@pytest.mark.parametrize("part", range(PARTS))
def test_reductions_of_a_random_product(part):
    for seed in range(FIRST + part, FIRST + PROGRAMS, PARTS):
        try:
            check(Choice(seed))
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


@pytest.mark.parametrize("kind", ["float64", "float16", "bfloat16"])
def test_other_dtypes(kind):
    a, b = (td.tensor(random(90, 70, seed=k)).cast(kind) for k in range(2))
    x, y = (t.cast("float64").numpy() for t in (a, b))
    right = np.maximum(x @ y.T, 0)
    product = td.maximum(a @ b.T, 0.0)
    bound = {"float64": 1e-12, "float16": 2e-3, "bfloat16": 2e-2}[kind]
    for found, expected in (
        (product.sum(0), right.sum(0)),
        (product.sum(1), right.sum(1)),
        (product.max(1), right.max(1)),
    ):
        np.testing.assert_allclose(found.cast("float64").numpy(), expected, rtol=bound, atol=bound)


ALONG = {
    "rows of all items": lambda x: x.sum((0, 1)),
    "rows of an item": lambda x: x.sum(1),
    "columns": lambda x: x.sum(-1),
    "columns and rows": lambda x: x.sum((1, 2)),
    "largest of what is below zero": lambda x: (-abs(x) - 1).max(-1),
    "smallest of what is above zero": lambda x: (abs(x) + 1).min(-1),
    "means": lambda x: x.mean(-1),
}


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("shape", [(3, 40, 20, 70), (2, 300, 9, 150), (5, 2, 3, 2), (1, 90, 4, 33)])
def test_reductions_along(name, shape):
    """Alone, so that they join the product: items, rows, depth and columns of it."""
    items, m, k, n = shape
    a, b = random(items, m, k), random(items, k, n, seed=1)
    right = ALONG[name](a.astype(np.float64) @ b)
    found = ALONG[name](td.tensor(a) @ td.tensor(b)).numpy()
    np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-5 * (1 + np.abs(right).max()))


def test_infinities_and_no_numbers_reach_their_rows_and_columns_alone():
    a, b = random(70, 40), random(40, 100, seed=1)
    a[3, 5], a[7, 2] = np.nan, np.inf
    found = td.tensor(a) @ td.tensor(b)
    high, low, total = found.max(1).numpy(), found.min(1).numpy(), found.sum(0).numpy()
    right = a.astype(np.float64) @ b
    np.testing.assert_allclose(high, right.max(1), rtol=1e-5)
    np.testing.assert_allclose(low, right.min(1), rtol=1e-5)
    assert np.isnan(total).all()


def test_many_rows_are_added_up_in_blocks():
    """One by one, what is less than a millionth of the sum so far is lost each time."""
    rows, value = 600_000, 1 + 2**-12
    a, b = node_of(np.full((rows, 1), value, np.float32)), node_of(np.ones((1, 64), np.float32))
    root = sum_(matrix_product(a, b), axis=0)
    assert steps_of(root)[0].parts
    np.testing.assert_allclose(compiled([root])[0], rows * value, rtol=3e-5)


def test_bias_gradients_of_a_perceptron():
    x, w, v = random(96, 40), random(40, 70, seed=1), random(70, 10, seed=2)
    b, c_ = random(70, seed=3), random(10, seed=4)

    def loss(x, w, b, v, c_):
        return ((td.relu(x @ w + b) @ v + c_) ** 2).sum()

    found = td.compile(td.grad(loss, (1, 2, 3, 4)))(*map(td.tensor, (x, w, b, v, c_)))
    x, w, v, b, c_ = (t.astype(np.float64) for t in (x, w, v, b, c_))
    before = x @ w + b
    hidden = np.maximum(before, 0)
    out = 2 * (hidden @ v + c_)
    inner = np.where(before > 0, out @ v.T, 0)
    for gradient, right in zip(
        found, (x.T @ inner, inner.sum(0), hidden.T @ out, out.sum(0)), strict=True
    ):
        np.testing.assert_allclose(gradient.numpy(), right, atol=1e-6 * np.abs(right).max())


# ---- programs


def given(*shape, kind=np.float32):
    return node_of(random(*shape, kind=kind))


def steps_of(*roots):
    return compile_graph(roots, structure(roots)[1], {}).steps


JOINED = {
    "sum over rows": lambda p: [sum_(p, axis=0)],
    "few rows": lambda p: [sum_(p, axis=0), e.exp(p)],
    "sums of squares": lambda p: [sum_(p * p, axis=1)],
    "the mean, of a map that is kept": lambda p: [c.mean(e.tanh(p), axis=1), e.tanh(p)],
    "several": lambda p: [sum_(p, axis=1), max_(p, axis=1, keepdims=True), min_(p, axis=1)],
    "both ways": lambda p: [sum_(e.maximum(p, 0.0), axis=0), e.maximum(p, 0.0)],
}  # fmt: skip


@pytest.mark.parametrize("name", JOINED)
def test_reductions_join_the_product(name):
    rows = 20 if name == "few rows" else 100
    product = matrix_product(given(rows, 30), given(30, 80))
    (step,) = steps_of(*JOINED[name](product))
    assert isinstance(step, ProductStep)
    assert step.parts


APART = {
    "softmax": lambda p: [softmax(p)],
    "layer norm": lambda p: [layer_norm(p)],
    "a maximum over rows": lambda p: [max_(p, axis=0)],
    "rows of another width": lambda p: [sum_(p.reshape((100, 4, 20)), axis=2)],
}


@pytest.mark.parametrize("name", APART)
def test_rows_that_are_read_again_stay_a_kernel(name):
    product = matrix_product(given(100, 30), given(30, 80))
    steps = steps_of(*APART[name](product))
    assert len(steps) == 2
    assert not any(step.parts for step in steps if isinstance(step, ProductStep))


def test_stored_tiles_are_not_reduced():
    """Tiles that go to memory as they are need no epilogue: the row is read back from there."""
    product = matrix_product(given(100, 30), given(30, 80))
    first, second = steps_of(e.exp(max_(product, axis=0)), sum_(product, axis=1))[:2]
    assert isinstance(first, ProductStep)
    assert first.epilogue is None
    assert not isinstance(second, ProductStep)


def test_tiles_do_not_meet_many_arrays():
    """The update of a weight with two moments is a loop over the gradient, wherever that is large.

    One that reads the weight alone joins the product.
    """
    for rows, apart in ((512, True), (20, False)):
        a, b, w, first, second = (given(*s) for s in ((rows, 8), (8, 64), *[(rows, 64)] * 3))
        product = matrix_product(a, b)
        moved, size = first * 0.9 + product * 0.1, second * 0.9 + product * product * 0.1
        updates = [moved, size, w - moved / (e.sqrt(size) + 1.0)]
        assert len(steps_of(*updates)) == 1 + apart
        assert len(steps_of(w - product * 0.1)) == 1


def test_what_is_only_reduced_is_never_stored():
    a, b = given(512, 64), given(64, 512)
    (step,) = steps_of(sum_(matrix_product(a, b) * matrix_product(a, b), axis=1))
    assert [node.shape for node in step.writes] == [(512,)]


def test_parts_do_not_depend_on_threads():
    a, b = td.tensor(random(700, 90)), td.tensor(random(90, 300, seed=1))
    f = td.compile(lambda a, b: (td.relu(a @ b).sum(0), td.relu(a @ b).sum(1)))
    once = [x.numpy().tobytes() for x in f(a, b)]
    assert all([x.numpy().tobytes() for x in f(a, b)] == once for _ in range(5))


@pytest.mark.parametrize("seed", range(12))
def test_blocks_leave_their_parts_in_any_order(seed):
    a, b, bias = given(13, 5), given(5, 11), given(13, 11)
    x = e.maximum(matrix_product(a, b) + bias, 0.0)
    roots = [x, sum_(x, axis=0), c.mean(x * x, axis=1), max_(x, axis=1)]
    run = Simulation(roots, {0: bias}, seed)
    for found, right in zip(run.run(), by_reference(roots), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)
