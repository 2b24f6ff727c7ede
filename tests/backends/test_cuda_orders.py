"""Views as images on their way through a graph: what is computed stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.backends.cuda.orders import ORDERS
from treadle.backends.reference.eval import evaluate
from treadle.base.dtypes import float32
from treadle.ir.graph import toposort
from treadle.ir.node import leaf, type_of
from treadle.ops.activations import relu
from treadle.ops.convolution import conv2d
from treadle.ops.defs import Kind
from treadle.ops.elementwise import maximum, where
from treadle.ops.movement import concat, flip, pad, permute, slice_
from treadle.ops.pooling import avg_pool2d, max_pool2d
from treadle.ops.reduce import max_, sum_
from treadle.passes.pipeline import simplify
from treadle.testing.arrays import by_reference
from treadle.testing.growth import EVERY
from treadle.testing.strategies import graph_of

CHANNELS = 6


def n(rng, *shape):
    return leaf(type_of(shape, float32), rng.standard_normal(shape, np.float32))


def image(rng, height=6, width=4):
    return n(rng, 2, height, width, CHANNELS).permute((0, 3, 1, 2))


def biased(x, rng):
    return x + n(rng, CHANNELS, 1, 1)


def beside(x, rng):
    return concat([x, relu(x)], axis=int(rng.integers(1, 4)))


def joined_by_a_number(x, rng):
    return concat([x, (n(rng, 1).reshape((1, 1, 1, 1))).expand(x.shape)], axis=2)


def met(x, rng):
    return x * n(rng, *x.shape)


def cut(x, rng):
    return slice_(x, [(0, 2, 1), (1, x.shape[1], 2), (0, x.shape[2], 1), (1, x.shape[3], 1)])


def bordered(x, rng):
    return pad(x, [(0, 0), (0, 1), (1, 0), (1, 2)], 0.5)


def totalled(x, rng):
    axes = tuple(sorted(rng.choice(4, int(rng.integers(1, 4)), replace=False).tolist()))
    op = (sum_, max_)[int(rng.integers(2))]
    return x - op(x, axis=axes, keepdims=True)


def flat(x, rng):
    return maximum(x.reshape((*x.shape[:2], -1)), 0.25).reshape(x.shape)


def chosen(x, rng):
    return where(x > 0, x, n(rng, *x.shape[1:]))


def flipped(x, rng):
    return flip(x, (2,)) + x


def pooled(x, rng):
    return (max_pool2d, avg_pool2d)[int(rng.integers(2))](x, 2, 1)


STEPS = (beside, joined_by_a_number, met, bordered, totalled, flat, chosen, flipped, pooled, cut)


def same(roots):
    simple = simplify(roots, ORDERS)
    found, wanted = (evaluate(x, lambda node: node.buffer) for x in (simple, roots))
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    return simple


@pytest.mark.parametrize("seed", range(40))
def test_random_steps_mean_the_same(seed):
    rng = np.random.default_rng(seed)
    x = biased(image(rng), rng)
    for step in rng.choice(len(STEPS), 5):
        if min(x.shape[1:]) < 3:
            break
        x = STEPS[step](x, rng)
    same([x, sum_(x, axis=(0, 2, 3)), max_(x, axis=1)])


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_what_is_computed_is_computed_of_lines(step):
    rng = np.random.default_rng(7)
    lines, root = image(rng), step(image(rng), rng)
    assert lines.op is permute
    (simple,) = same([root])
    for node in toposort([simple]):
        if node.op.kind in (Kind.ELEMENTWISE, Kind.REDUCE):
            orders = [x.arg[:2] for x in node.operands if x.op is permute]
            assert (0, 3) not in orders, node


def test_matrices_are_left_as_they_are():
    rng = np.random.default_rng(0)
    x = n(rng, 2, 5, 3).permute((0, 2, 1))
    (simple,) = same([relu(x)])
    assert simple.op is not permute


@pytest.mark.parametrize("channels", [1, 3, 5, 16, 20])
@pytest.mark.parametrize("stride", [1, 2])
def test_convolutions_mean_the_same(channels, stride):
    rng = np.random.default_rng(channels)
    x, w, b = n(rng, 2, channels, 9, 8), n(rng, 4, channels, 3, 2), n(rng, 4)
    same([conv2d(x, w, b, stride=stride, padding=1), conv2d(x, w, padding=(1, 0))])


def test_graphs_without_images_keep_their_values():
    for seed in range(240):
        roots = [root.node for root in graph_of(seed, 12, EVERY).roots]
        expected, found = by_reference(roots), by_reference(simplify(roots, ORDERS))
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(
                b.astype(float), a.astype(float), rtol=1e-2, atol=1e-2, err_msg=f"seed {seed}"
            )
