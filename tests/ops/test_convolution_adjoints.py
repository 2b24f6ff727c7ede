"""Convolutions backwards: gradients of a linear function are its adjoint, whatever its options."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import treadle as td
from treadle.ops.defs import TABLE


def options_of(draw, count):
    """Sizes and options of a convolution with at least one window."""
    groups = draw.choice((1, 1, 2, 3))
    channels, outputs = groups * draw.randint(1, 3), groups * draw.randint(1, 3)
    if draw.random() < 0.2:
        channels = outputs = groups = draw.randint(2, 5)
    sizes = [draw.randint(1, 4) for _ in range(count)]
    given = {
        "stride": [draw.randint(1, 3) for _ in range(count)],
        "dilation": [draw.randint(1, 3) for _ in range(count)],
        "padding": [draw.randint(0, 3) for _ in range(count)],
    }
    spans = [d * (n - 1) + 1 for n, d in zip(sizes, given["dilation"], strict=True)]
    spatial = [
        max(1, span - 2 * p) + draw.randint(0, 7)
        for span, p in zip(spans, given["padding"], strict=True)
    ]
    batch = draw.randint(1, 3)
    shapes = (batch, channels, *spatial), (outputs, channels // groups, *sizes)
    return shapes, given | {"groups": groups}


def random(rng, shape):
    return td.tensor(rng.standard_normal(shape))


def dotted(a, b):
    return float((a.numpy() * b.numpy()).sum())


def is_adjoint(f, x, weight, rng):
    """<f(u, w), g> = <u, dx> and <f(x, v), g> = <v, dw> for any u and v."""
    g = random(rng, f(x, weight).shape)
    back, kernels = td.grad(lambda x, w: (f(x, w) * g).sum(), (0, 1))(x, weight)
    u, v = random(rng, x.shape), random(rng, weight.shape)
    np.testing.assert_allclose(dotted(f(u, weight), g), dotted(u, back), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(dotted(f(x, v), g), dotted(v, kernels), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_gradients_of_convolutions_are_adjoints(count, seed):
    draw, rng = Random(100 * count + seed), np.random.default_rng(seed)
    (x, weight), options = options_of(draw, count)
    conv = getattr(td, f"conv{count}d")
    is_adjoint(lambda x, w: conv(x, w, **options), random(rng, x), random(rng, weight), rng)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_gradients_of_transposed_convolutions_are_adjoints(count, seed):
    draw, rng = Random(7 + 100 * count + seed), np.random.default_rng(seed)
    (x, weight), options = options_of(draw, count)
    conv = getattr(td, f"conv{count}d")
    turned = getattr(td, f"conv_transpose{count}d")
    small = conv(td.zeros(x, dtype=td.float64), td.zeros(weight, dtype=td.float64), **options).shape
    y, kernels = random(rng, small), random(rng, weight)
    try:
        turned(y, kernels, **options)
    except td.TreadleError:
        pytest.skip("the padding leaves nothing")
    is_adjoint(lambda y, w: turned(y, w, **options), y, kernels, rng)


def test_large_convolutions_read_windows_in_place():
    """The same numbers as the sum over taps, for shapes that go through tables."""
    rng = np.random.default_rng(3)
    for stride, padding, dilation in ((1, 1, 1), (2, 0, 1), (2, 3, 2), (3, 1, 1)):
        x = rng.standard_normal((2, 17, 31, 29)).astype(np.float32)
        weight = rng.standard_normal((21, 17, 3, 2)).astype(np.float32)
        options = {"stride": stride, "padding": padding, "dilation": dilation}
        reference = TABLE["conv2d"].reference(np, x.astype(float), weight.astype(float), **options)
        found = td.conv2d(td.tensor(x), td.tensor(weight), **options).numpy()
        np.testing.assert_allclose(found, reference, rtol=0, atol=1e-4)
