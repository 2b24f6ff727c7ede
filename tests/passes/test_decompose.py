"""Long totals in two steps: the same values over lines of any shape, also over none."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.passes.decompose import CHUNK, LONG

SHAPES = [
    ((0, LONG), (1,)), ((0, 3, LONG), (2,)), ((2, LONG + 5), (1,)), ((40, 60, 28, 28), None),
    ((9, 8000, 3), None), ((5 * CHUNK, 2, 5), None), ((70, 17, 31, 5), None), ((3, 70, 9000), None),
    ((0, 5 * CHUNK), (1,)), ((20_000, 0), (0,)), ((7, 3, 3, 700), (0, 2, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_totals_of_long_lines(shape, axes):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    got = td.sum(td.tensor(x), axis=axes).numpy()
    np.testing.assert_allclose(got, x.sum(axes, dtype=np.float64), rtol=1e-5, atol=2e-3)
    if x.size:
        np.testing.assert_array_equal(td.max(td.tensor(x), axis=axes).numpy(), x.max(axes))


def test_a_total_of_computed_images_stays_one_pass_over_their_lines():
    """Where a line is cut anywhere, every element of it is looked for on its own."""
    x, w = td.ones(4, 16, 28, 28), td.ones(16, 1, 3, 3)
    f = td.compile(lambda x, w: td.conv2d(x, w, padding=1, groups=16).square().sum())
    f(x, w)
    assert "f32[4, 16, 1, 1]" in str(td.explain(f, x, w))


def test_slopes_of_a_kernel_for_every_channel_are_one_pass():
    """Nine totals of products that nobody keeps read the same two images."""
    x, w = td.ones(4, 16, 28, 28), td.ones(16, 1, 3, 3)

    def loss(x, w):
        return td.conv2d(x, w, padding=1, groups=16).square().sum()

    both = td.compile(td.grad(loss, (0, 1)))
    both(x, w)
    totals = [k for k in str(td.explain(both, x, w)).split("\n") if "sum×9" in k]
    assert len(totals) == 1
