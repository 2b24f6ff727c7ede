"""3 x 3 correlations by sixteen products for four results, against plain sums of products."""

from __future__ import annotations

import re
from array import array

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import host, winograd, winograd_plan
from treadle.backends.cpu.winograd_plan import correlation
from treadle.base.dtypes import float32
from treadle.base.knobs import override
from treadle.ops.defs import TABLE


def random(*shape, seed=0):
    return np.random.default_rng(sum(shape) + seed).standard_normal(shape)


def convolved(x, weight, **options):
    return TABLE["conv2d"].reference(np, x, weight, **options)


SHAPES = [
    (2, 32, 24, 24, 32), (1, 24, 33, 17, 40), (3, 25, 7, 9, 27), (2, 64, 3, 3, 24),
    (2, 24, 1, 40, 24), (2, 24, 40, 1, 24), (1, 30, 64, 5, 130), (4, 24, 2, 2, 24),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("padding", [0, 1, 2])
def test_results_are_those_of_plain_sums(shape, padding):
    batch, channels, high, wide, outputs = shape
    if min(high, wide) + 2 * padding < 3:
        pytest.skip("no window")
    x, weight = random(batch, channels, high, wide), random(outputs, channels, 3, 3)
    expected = convolved(x, weight, padding=padding)
    found = td.conv2d(td.tensor(x, dtype=td.float32), td.tensor(weight, dtype=td.float32),
                      padding=padding).numpy()  # fmt: skip
    size = np.abs(convolved(np.abs(x), np.abs(weight), padding=padding)).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * size)


def test_maps_run_on_finished_rows():
    x, weight, bias = random(2, 32, 20, 20), random(40, 32, 3, 3), random(40)
    more = random(2, 40, 20, 20)

    def layer(x, weight, bias, more):
        return td.relu(td.conv2d(x, weight, bias, padding=1) + more) * 2

    given = [td.tensor(a, dtype=td.float32) for a in (x, weight, bias, more)]
    expected = np.maximum(convolved(x, weight, padding=1) + bias[:, None, None] + more, 0) * 2
    np.testing.assert_allclose(td.compile(layer)(*given).numpy(), expected, rtol=0, atol=2e-4)


def test_threads_do_not_change_a_bit():
    x, weight = random(3, 32, 30, 30), random(32, 32, 3, 3)
    given = [td.tensor(a, dtype=td.float32) for a in (x, weight)]
    found = []
    for threads in (1, 2, 3):
        with override(threads=threads):
            found.append(td.conv2d(*given, padding=1).numpy())
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_the_knob_keeps_inf_inf():
    x, weight = random(1, 32, 24, 24), random(32, 32, 3, 3)
    x[0, 0, 5, 5] = np.inf
    given = [td.tensor(a, dtype=td.float32) for a in (x, weight)]
    with override(winograd=0):
        plain = td.conv2d(*given, padding=1).numpy()
    assert np.isinf(plain).sum() == 32 * 9
    mapped = td.conv2d(*given, padding=1).numpy()
    np.testing.assert_array_equal(np.isfinite(mapped), np.isfinite(plain))
    assert np.isnan(mapped).any()


def places(*axes):
    """Primitive-major places along (extent, stride) axes."""
    found = np.zeros(1, int)
    for extent, stride in axes:
        found = (found[:, None] + np.arange(extent) * stride).ravel()
    return array("q", found.tolist())


def test_places_tell_what_is_a_correlation():
    taps = places((32, 100), (3, 10), (3, 1))
    seen = correlation(places((8, 10), (8, 1)), taps)
    assert (seen.plane, seen.line, seen.high, seen.wide) == (100, 10, 8, 8)
    assert correlation(places((8, 20), (8, 1)), taps) is None  # every other line
    assert correlation(places((8, 10), (8, 2)), taps) is None
    assert correlation(places((8, 10), (8, 1)), places((32, 100), (3, 20), (3, 2))) is None
    assert correlation(places((8, 10), (8, 1)), places((32, 100), (3, 1), (3, 10))) is None
    assert correlation(places((8, 10), (8, 1)), places((72, 100), (2, 10), (2, 1))) is None


def test_the_module_is_the_same_for_every_shape():
    text = winograd.text(float32, float32, host.host_target())
    assert text == winograd.text(float32, float32, host.host_target())
    assert all(f"@{symbol}(" in text for symbol in winograd.SYMBOLS)


# ---- the gradient of kernels

SLOPES = [
    (2, 32, 24, 24, 32, 1), (1, 24, 33, 17, 40, 1), (3, 25, 7, 9, 27, 0), (1, 30, 20, 5, 56, 2),
    (2, 24, 3, 110, 24, 1), (9, 70, 6, 5, 59, 1), (5, 24, 41, 3, 48, 1), (2, 130, 9, 10, 64, 1),
]  # fmt: skip


def of_kernels(x, slope, padding):
    """The gradient in float64: a product of all windows for every tap."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    high, wide = slope.shape[2:]
    taps = [
        np.tensordot(slope, x[:, :, i : i + high, j : j + wide], ((0, 2, 3), (0, 2, 3)))
        for i in range(3) for j in range(3)
    ]  # fmt: skip
    return np.stack(taps, -1).reshape(*taps[0].shape, 3, 3)


def gradient(x, weight, slope, padding):
    given = [td.tensor(a, dtype=td.float32) for a in (x, weight, slope)]

    def loss(x, weight, slope):
        return (td.conv2d(x, weight, padding=padding) * slope).sum()

    return td.compile(td.grad(loss, 1))(*given).numpy()


def operands_of(batch, channels, high, wide, outputs, padding):
    slope = random(batch, outputs, high + 2 * padding - 2, wide + 2 * padding - 2, seed=1)
    return random(batch, channels, high, wide), random(outputs, channels, 3, 3), slope


@pytest.mark.parametrize("shape", SLOPES)
def test_gradients_of_kernels_are_those_of_plain_sums(shape, monkeypatch):
    taken = []
    monkeypatch.setattr(winograd_plan, "_of_slopes", spy(winograd_plan._of_slopes, taken))
    x, weight, slope = operands_of(*shape)
    found = gradient(x, weight, slope, shape[-1])
    assert any(plan is not None for plan in taken)
    size = of_kernels(np.abs(x), np.abs(slope), shape[-1]).max()
    expected = of_kernels(x, slope, shape[-1])
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-7 * size)


def spy(function, results):
    def called(*args):
        results.append(function(*args))
        return results[-1]

    return called


def test_gradients_of_kernels_are_as_exact_as_plain_ones():
    x, weight, slope = operands_of(4, 64, 28, 28, 64, 1)
    x, slope = np.float32(x).astype(float), np.float32(slope).astype(float)
    expected = of_kernels(x, slope, 1)
    mapped = gradient(x, weight, slope, 1)
    with override(winograd=0):
        plain = gradient(x, weight, slope, 1)
    assert (mapped != plain).any()
    assert np.square(mapped - expected).mean() <= np.square(plain - expected).mean()


def test_threads_do_not_change_a_bit_of_gradients_of_kernels():
    x, weight, slope = operands_of(3, 70, 30, 26, 72, 1)
    found = []
    for threads in (1, 2, 3):
        with override(threads=threads):
            found.append(gradient(x, weight, slope, 1))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_places_tell_what_is_a_gradient_of_kernels():
    taps, seen = places((32, 100), (3, 10), (3, 1)), places((4, 3200), (8, 10), (8, 1))
    found = correlation(taps, seen)
    assert (found.plane, found.line, found.high, found.wide) == (100, 10, 8, 8)
    assert (found.items, found.item) == (4, 3200)
    assert correlation(taps, places((4, 3200), (8, 20), (8, 1))) is None
    assert correlation(taps, places((4, 3200), (8, 10), (8, 2))) is None
    assert correlation(places((32, 100), (3, 20), (3, 2)), seen) is None
    assert correlation(seen, taps) is None  # items are batches of the product


@pytest.mark.parametrize(("image", "kernel", "stride"), [
    ((8, 64, 16, 16), (64, 64, 3, 3), 1), ((8, 3, 64, 64), (64, 3, 7, 7), 2),
], ids=("mapped", "plain"))  # fmt: skip
def test_gradients_of_kernels_have_work_for_threads(image, kernel, stride):
    def total(weight, x):
        return (td.conv2d(x, weight, stride=stride, padding=kernel[-1] // 2) ** 2).sum()

    text = str(td.explain(td.grad(total), td.ones(*kernel), td.ones(*image)))
    blocks = re.findall(r"flop, (\d+)\+(\d+) blocks", text)  # of a product: two phases
    assert min(map(int, blocks[-1])) > 1, text
