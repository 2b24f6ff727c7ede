"""Windows, pools and places of images in nn.functional against loops in NumPy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, ShapeError
from treadle.nn import functional as F
from treadle.testing.gradcheck import gradcheck

rng = np.random.default_rng(5)


def distinct(*shape):
    return rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float64)


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


# ---- windows


@pytest.mark.parametrize("batch", [(2,), ()])
def test_unfold_gives_columns(batch):
    x = rng.standard_normal((*batch, 3, 5, 6))
    padded = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(1, 1), (0, 0)])
    columns = [
        padded[..., i : i + 4 : 2, j : j + 3].reshape(*batch, -1)
        for i, j in product(range(0, 5, 2), range(0, 4, 2))
    ]
    found = F.unfold(td.tensor(x), (2, 3), (2, 1), (1, 0), 2)
    close(found, np.stack(columns, -1))
    back = F.fold(found, (5, 6), (2, 3), (2, 1), (1, 0), 2)
    times = F.fold(F.unfold(td.ones(1, 5, 6, dtype="float64"), (2, 3), (2, 1), (1, 0), 2), (5, 6),
                   (2, 3), (2, 1), (1, 0), 2)  # fmt: skip
    close(back, x * times.numpy())
    with pytest.raises(ShapeError, match="windows"):
        F.fold(found, (5, 7), 2)
    with pytest.raises(ShapeError, match="larger"):
        F.unfold(td.tensor(x), 7)


def largest(x, regions):
    """(largest, where it lies in its plane) of every region: a list of elements for each axis."""
    spatial = x.shape[-len(regions) :]
    lead = x.shape[: -len(regions)]
    counts = [len(axis) for axis in regions]
    flat = x.reshape(*lead, -1)
    values, places = np.zeros((*lead, *counts)), np.zeros((*lead, *counts), int)
    for at in np.ndindex(*counts):
        grid = np.meshgrid(*[axis[k] for axis, k in zip(regions, at, strict=True)], indexing="ij")
        index = np.ravel_multi_index([g.ravel() for g in grid], spatial)
        values[(..., *at)] = flat[..., index].max(-1)
        places[(..., *at)] = index[flat[..., index].argmax(-1)]
    return values, places


DEFAULTS = (("stride", 3), ("padding", 0), ("dilation", 1))


@pytest.mark.parametrize(
    ("count", "options"),
    [
        (1, {"stride": 2, "padding": 1}), (2, {}),
        (2, {"stride": 2, "padding": 1, "ceil_mode": True}),
        (2, {"stride": 1, "dilation": 2}), (3, {"stride": 2, "ceil_mode": True}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("batch", [(2,), ()])
def test_max_pool_says_where(count, options, batch):
    x = distinct(*batch, 2, *(7, 6, 5)[:count])
    size, stride, edge, gap = 3, *(options.get(k, d) for k, d in DEFAULTS)
    regions = []
    for n in x.shape[-count:]:
        room = n + 2 * edge - gap * (size - 1) - 1
        steps = -(-room // stride) if options.get("ceil_mode") else room // stride
        starts = [k * stride - edge for k in range(steps + 1)]
        whole = [[s + gap * k for k in range(size)] for s in starts if s < n]
        regions.append([[p for p in window if 0 <= p < n] for window in whole])
    values, places = largest(x, regions)
    pool = getattr(F, f"max_pool{count}d")
    found, at = pool(td.tensor(x), size, return_indices=True, **options)
    close(found, values)
    np.testing.assert_array_equal(at.numpy(), places)
    assert at.dtype is td.int64
    close(pool(td.tensor(x), size, **options), values)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("outputs", [1, 2, 3, 5])
def test_adaptive_pools_say_where(count, outputs):
    x = distinct(2, *(7, 6, 5)[:count])
    regions = [
        [range(o * n // outputs, -(-(o + 1) * n // outputs)) for o in range(outputs)]
        for n in x.shape[1:]
    ]
    found, at = getattr(F, f"adaptive_max_pool{count}d")(td.tensor(x), outputs, return_indices=True)
    values, places = largest(x, regions)
    close(found, values)
    np.testing.assert_array_equal(at.numpy(), places)


def test_places_of_nan_and_of_nothing_but_minus_infinity():
    x = td.tensor([[-np.inf, -np.inf, 1.0, np.nan, 2.0, -np.inf]])
    found, at = F.max_pool1d(x, 2, padding=1, return_indices=True)
    np.testing.assert_array_equal(found.numpy(), [[-np.inf, 1.0, np.nan, -np.inf]])
    assert at.tolist() == [[0, 2, 3, 5]]
    whole = td.tensor([[3, 1, 3, 2]])
    assert F.max_pool1d(whole, 2, return_indices=True)[1].tolist() == [[0, 2]]


@pytest.mark.parametrize("count", [2, 3])
def test_fractional_pools_say_where(count):
    x, samples = distinct(2, 3, *(7, 8, 6)[:count]), rng.random((2, 3, count))
    pool = getattr(F, f"fractional_max_pool{count}d")
    options = {"output_size": 3, "_random_samples": td.tensor(samples)}
    found, at = pool(td.tensor(x), 2, return_indices=True, **options)
    flat = x.reshape(2, 3, -1)
    read = np.take_along_axis(flat, at.numpy().reshape(2, 3, -1), 2)
    np.testing.assert_array_equal(read.reshape(found.shape), found.numpy())
    np.testing.assert_array_equal(found.numpy(), pool(td.tensor(x), 2, **options).numpy())


@pytest.mark.parametrize("count", [1, 2, 3])
def test_unpooling_undoes_pooling(count):
    shape = (2, 3, *(7, 6, 8)[:count])
    x = distinct(*shape) + 1
    found, at = getattr(F, f"max_pool{count}d")(td.tensor(x), 2, return_indices=True)
    unpool = getattr(F, f"max_unpool{count}d")
    back = unpool(found, at, 2, output_size=shape).numpy()
    kept = np.isin(x, found.numpy())
    np.testing.assert_array_equal(back, np.where(kept, x, 0))
    with pytest.raises(ShapeError, match="output_size"):
        unpool(found, at, 2, output_size=[20] * count)
    with pytest.raises(ShapeError, match="indices"):
        unpool(found, at[:1], 2)


# ---- places between pixels


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_the_identity_reads_every_pixel(aligned, mode):
    x = rng.standard_normal((2, 3, 4, 5))
    theta = np.tile(np.eye(2, 3), (2, 1, 1))
    grid = F.affine_grid(td.tensor(theta), x.shape, aligned)
    for padding in ("zeros", "border", "reflection"):
        close(F.grid_sample(td.tensor(x), grid, mode, padding, aligned), x, 1e-9)
    deep = rng.standard_normal((1, 2, 3, 4, 5))
    grid = F.affine_grid(td.tensor(np.eye(3, 4)[None]), deep.shape, aligned)
    if mode != "bicubic":
        close(F.grid_sample(td.tensor(deep), grid, mode, align_corners=aligned), deep, 1e-9)


def test_what_lies_outside():
    x = td.tensor(np.arange(1.0, 6.0).reshape(1, 1, 1, 5))

    def read(places, padding):
        grid = np.stack([(np.array(places) * 2 + 1) / 5 - 1, np.zeros(len(places))], -1)
        found = F.grid_sample(x, td.tensor(grid[None, None]), padding_mode=padding)
        return found.numpy().ravel()

    places = [-2.0, -0.5, 0.5, 4.5, 6.0]
    np.testing.assert_allclose(read(places, "zeros"), [0, 0.5, 1.5, 2.5, 0], atol=1e-12)
    np.testing.assert_allclose(read(places, "border"), [1, 1, 1.5, 5, 5], atol=1e-12)
    np.testing.assert_allclose(read(places, "reflection"), [2, 1, 1.5, 5, 4], atol=1e-12)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "reflection"])
def test_gradients_of_images_and_places(mode, padding):
    x, grid = rng.standard_normal((1, 2, 3, 4)), rng.uniform(-1.3, 1.3, (1, 2, 3, 2))
    gradcheck(lambda x, g: F.grid_sample(x, g, mode, padding), [x, grid])


def test_grids_that_do_not_fit_are_refused():
    x, grid = td.zeros(2, 3, 4, 5), td.zeros(2, 3, 3, 2)
    with pytest.raises(ShapeError, match="grid does not fit"):
        F.grid_sample(x, td.zeros(1, 3, 3, 2))
    with pytest.raises(ArgumentError, match="bicubic"):
        F.grid_sample(x, grid, "cubic")
    with pytest.raises(ArgumentError, match="padding_mode"):
        F.grid_sample(x, grid, padding_mode="mirror")
    with pytest.raises(ShapeError, match="theta"):
        F.affine_grid(td.zeros(2, 3, 4), (2, 1, 4, 4))


# ---- resolution and channels


def test_antialiasing_averages_what_an_output_stands_for():
    x = rng.standard_normal((1, 2, 6, 8))
    found = F.interpolate(td.tensor(x), (3, 4), mode="bilinear", antialias=True)
    flat = F.interpolate(td.ones(1, 1, 6, 8), (3, 4), mode="bicubic", antialias=True)
    close(flat, np.ones((1, 1, 3, 4)), 1e-6)
    weights = np.array([1, 3, 3, 1]) / 8  # a triangle as wide as four pixels
    inner = x[..., 1:5, :] * weights[:, None]
    rows = np.array([3, 3, 1]) / 7
    expected = inner.sum(-2)
    across = [expected[..., :3] @ rows, *(expected[..., k : k + 4] @ weights for k in (1, 3)),
              expected[..., 5:] @ rows[::-1]]  # fmt: skip
    close(found[..., 1, :], np.stack(across, -1))
    grown = F.interpolate(td.tensor(x), (12, 8), mode="bilinear", antialias=True)
    close(grown, F.interpolate(td.tensor(x), (12, 8), mode="bilinear").numpy(), 1e-9)


def test_a_scale_that_is_computed_again():
    x = td.tensor(rng.standard_normal((1, 1, 5)))
    given = {"scale_factor": 1.5, "mode": "linear"}
    again = F.interpolate(x, **given, recompute_scale_factor=True)
    close(again, F.interpolate(x, 7, mode="linear").numpy())
    assert not np.allclose(again.numpy(), F.interpolate(x, **given).numpy())
    close(F.upsample(x, 7, mode="linear"), again.numpy())
    for wrong in ({"antialias": True}, {"align_corners": False}, {"recompute_scale_factor": True}):
        with pytest.raises(ArgumentError, match=r"goes with|does not go|give size"):
            F.interpolate(x, 3, **wrong)


def test_channels_are_shuffled_between_groups():
    x = td.arange(6).reshape(1, 6, 1)
    assert F.channel_shuffle(x, 2).reshape(-1).tolist() == [0, 3, 1, 4, 2, 5]
    with pytest.raises(ShapeError, match="divisible"):
        F.channel_shuffle(x, 4)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_local_response_norm_looks_at_channels_around(size):
    x = rng.standard_normal((2, 5, 3))
    padded = np.pad(x**2, ((0, 0), (size // 2, (size - 1) // 2), (0, 0)))
    near = np.stack([padded[:, c : c + size].mean(1) for c in range(5)], 1)
    close(F.local_response_norm(td.tensor(x), size, 0.5, 0.6, 2.0), x / (2 + 0.5 * near) ** 0.6)


def test_convolution_of_times_batches_and_channels():
    x, weight, bias = rng.standard_normal((6, 2, 3)), rng.standard_normal((3, 3, 4)), np.ones(4)
    padded = np.pad(x, ((1, 1), (0, 0), (0, 0)))
    expected = sum(padded[k : k + 6] @ weight[k] for k in range(3)) + bias
    close(F.conv_tbc(td.tensor(x), td.tensor(weight), td.tensor(bias), 1), expected)
