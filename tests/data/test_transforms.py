"""Do transforms give what plain loops, NumPy and Pillow give?"""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

import treadle as td
from treadle import data
from treadle.base.errors import ArgumentError, DtypeError, OperandError, ShapeError
from treadle.data import seeds
from treadle.data import transforms as T
from treadle.data.transforms import colour, resampling


@pytest.fixture(autouse=True)
def _one_sample():
    seeds.enter((1, 2, 3))
    yield
    seeds.enter(None)


def image(*shape, kind=np.float32, seed=0):
    values = np.random.default_rng(seed).random(shape)
    return (values * 255).astype(kind) if np.dtype(kind).kind == "u" else values.astype(kind)


# ---- sizes


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(5, 7), (20, 9), (31, 40), (1, 1), (11, 12)], ids=str)
def test_resize_gives_what_pillow_gives(mode, size):
    pillow = pytest.importorskip("PIL.Image")
    x = image(1, 11, 13)
    method = {"bilinear": pillow.Resampling.BILINEAR, "bicubic": pillow.Resampling.BICUBIC}[mode]
    wanted = np.asarray(pillow.fromarray(x[0]).resize(size[::-1], method))
    np.testing.assert_allclose(T.Resize(size, mode)(x)[0], wanted, atol=2e-6)


def slow_resize(x, size, mode):
    """Without antialias, one pixel after the other, in exact steps."""
    found = np.zeros(size)

    def at(i, j):
        return x[min(max(i, 0), x.shape[0] - 1), min(max(j, 0), x.shape[1] - 1)]

    def shares(t):
        if mode == "bilinear":
            return {0: 1 - t, 1: t}
        a = -0.75

        def near(d):
            return (a + 2) * d**3 - (a + 3) * d**2 + 1

        def far(d):
            return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a

        return {-1: far(1 + t), 0: near(t), 1: near(1 - t), 2: far(2 - t)}

    for i in range(size[0]):
        for j in range(size[1]):
            y, z = (i + 0.5) * x.shape[0] / size[0] - 0.5, (j + 0.5) * x.shape[1] / size[1] - 0.5
            top, left = int(np.floor(y)), int(np.floor(z))
            for k, p in shares(y - top).items():
                for m, q in shares(z - left).items():
                    found[i, j] += p * q * at(top + k, left + m)
    return found


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(3, 4), (6, 5), (11, 14)], ids=str)
def test_resize_without_antialias_gives_what_a_loop_gives(mode, size):
    x = image(2, 6, 7, kind=np.float64)
    found = T.Resize(size, mode, antialias=False)(x)
    np.testing.assert_allclose(found[1], slow_resize(x[1], size, mode), atol=1e-12)


def test_nearest_takes_pixels_and_whole_numbers_are_rounded():
    x = image(3, 4, 6, kind=np.uint8)
    np.testing.assert_array_equal(T.Resize((2, 3), "nearest")(x), x[:, ::2, ::2])
    np.testing.assert_array_equal(T.Resize((8, 6), "nearest")(x), np.repeat(x, 2, 1))
    half = T.Resize((2, 3), "bilinear", antialias=False)(x)
    exact = x.reshape(3, 2, 2, 3, 2).mean((2, 4))
    assert half.dtype == np.uint8
    assert np.abs(half - exact).max() <= 0.5


def test_one_number_is_the_shorter_side():
    assert T.Resize(5)(image(3, 10, 21)).shape == (3, 5, 10)
    assert T.Resize(5)(image(3, 21, 10)).shape == (3, 10, 5)
    x = image(2, 4, 4)
    assert T.Resize((4, 4))(x) is x
    assert T.Resize((2, 2))(image(5, 2, 4, 4)).shape == (5, 2, 2, 2)


# ---- crops, pads, flips


def test_center_crop_and_pad():
    x = np.arange(2 * 5 * 6).reshape(2, 5, 6)
    np.testing.assert_array_equal(T.CenterCrop((3, 2))(x), x[:, 1:4, 2:4])
    np.testing.assert_array_equal(T.CenterCrop(8)(x)[:, 1:6, 1:7], x)
    assert T.CenterCrop(8)(x).shape == (2, 8, 8)
    np.testing.assert_array_equal(
        T.Pad((1, 2, 3, 4), fill=9)(x), np.pad(x, [(0, 0), (2, 4), (1, 3)], constant_values=9)
    )
    for mode in ("edge", "reflect", "symmetric"):
        wanted = np.pad(x, [(0, 0), (2, 2), (1, 1)], mode=mode)
        np.testing.assert_array_equal(T.Pad((1, 2), padding_mode=mode)(x), wanted)
    np.testing.assert_array_equal(T.Pad(-1)(x), x[:, 1:-1, 1:-1])


def test_random_crops_are_parts_and_all_places_come_up():
    x = np.arange(6 * 7).reshape(1, 6, 7)
    corners = set()
    for place in range(300):
        seeds.enter((0, place))
        part = T.RandomCrop((4, 5))(x)
        top, left = divmod(int(part[0, 0, 0]), 7)
        np.testing.assert_array_equal(part, x[:, top : top + 4, left : left + 5])
        corners.add((top, left))
    assert corners == {(i, j) for i in range(3) for j in range(3)}
    assert T.RandomCrop(8, padding=1)(x).shape == (1, 8, 8)
    assert T.RandomCrop(9, pad_if_needed=True, padding_mode="edge")(x).shape == (1, 9, 9)


def test_flips_turn_with_their_chance():
    x = image(3, 4, 5)
    np.testing.assert_array_equal(T.RandomHorizontalFlip(1.0)(x), x[..., ::-1])
    np.testing.assert_array_equal(T.RandomVerticalFlip(1.0)(x), x[:, ::-1])
    assert T.RandomHorizontalFlip(0.0)(x) is x
    turned = 0
    for place in range(2000):
        seeds.enter((0, place))
        turned += T.RandomVerticalFlip(0.3)(x) is not x
    assert abs(turned / 2000 - 0.3) < 4 * np.sqrt(0.21 / 2000)


def test_random_resized_crops_keep_their_ranges():
    crop = T.RandomResizedCrop(4, scale=(0.2, 0.6), ratio=(0.5, 2.0))
    shares = []
    for place in range(500):
        seeds.enter((0, place))
        top, left, height, width = crop._box(60, 80)
        assert 0 <= top <= 60 - height
        assert 0 <= left <= 80 - width
        assert 0.47 < width / height < 2.1
        shares.append(height * width / 4800)
    assert 0.19 < min(shares) < 0.25
    assert 0.5 < max(shares) < 0.61
    x = image(3, 60, 80)
    assert crop(x).shape == (3, 4, 4)
    whole = T.RandomResizedCrop((30, 40), scale=(1.0, 1.0), ratio=(4 / 3, 4 / 3))
    np.testing.assert_array_equal(whole(x), T.Resize((30, 40))(x))
    assert T.RandomResizedCrop(4, scale=(0.9, 1.0), ratio=(1, 1))(image(1, 2, 50)).shape == (
        1,
        4,
        4,
    )


# ---- turns


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_quarter_turns_are_exact(mode, quarter):
    x = image(2, 5, 5, kind=np.float64)
    wanted = np.rot90(x, quarter, (1, 2))
    found = resampling.turned(x, 90 * quarter, mode, False, None, 0)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    wide = image(2, 4, 7, kind=np.float64)
    found = resampling.turned(wide, 90 * quarter, mode, True, None, 0)
    np.testing.assert_allclose(found, np.rot90(wide, quarter, (1, 2)), atol=1e-12)


@pytest.mark.parametrize("degrees", [17, -33, 120])
def test_turned_images_are_those_of_pillow(degrees):
    pillow = pytest.importorskip("PIL.Image")
    x = image(1, 31, 40, kind=np.uint8)
    wanted = np.asarray(pillow.fromarray(x[0]).rotate(degrees, pillow.Resampling.NEAREST))
    found = T.RandomRotation((degrees, degrees))(x)[0]
    assert (found != wanted).mean() < 0.01  # a place half way between two pixels
    smooth = np.add.outer(np.arange(31.0), np.arange(40.0)).astype(np.float32)[None]
    wanted = np.asarray(pillow.fromarray(smooth[0]).rotate(degrees, pillow.Resampling.BILINEAR))
    found = T.RandomRotation((degrees, degrees), "bilinear")(smooth)[0]
    np.testing.assert_allclose(found[12:19, 14:26], wanted[12:19, 14:26], atol=1e-3)


def test_angles_are_drawn_from_their_range():
    x = image(1, 9, 9)
    assert T.RandomRotation(0)(x) is not None
    np.testing.assert_array_equal(T.RandomRotation(0)(x), x)
    assert (T.RandomRotation((45, 45), fill=7)(x)[0, 0, 0]) == 7
    assert T.RandomRotation((45, 45), expand=True)(x).shape == (1, 13, 13)


# ---- colours


@pytest.mark.parametrize("turns", [0.0, 0.1, -0.3, 0.5])
def test_hue_is_that_of_colorsys(turns):
    x = image(3, 4, 5, kind=np.float64)
    x[:, 0, 0] = 0.5  # grey has none
    found = colour.hued(x, turns)
    for i in range(4):
        for j in range(5):
            h, s, v = colorsys.rgb_to_hsv(*x[:, i, j])
            np.testing.assert_allclose(
                found[:, i, j], colorsys.hsv_to_rgb((h + turns) % 1, s, v), atol=1e-12
            )


def test_mixing_colours():
    x = image(3, 4, 5, kind=np.float64)
    grey = 0.299 * x[0] + 0.587 * x[1] + 0.114 * x[2]
    np.testing.assert_allclose(colour.brighter(x, 1.7), np.minimum(1.7 * x, 1))
    wanted = np.clip(0.4 * x + 0.6 * grey.mean(), 0, 1)
    np.testing.assert_allclose(colour.contrasted(x, 0.4), wanted)
    np.testing.assert_allclose(colour.saturated(x, 1.6), np.clip(1.6 * x - 0.6 * grey, 0, 1))
    np.testing.assert_allclose(T.Grayscale(3)(x), np.stack([grey] * 3))


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_no_change_is_no_change(kind):
    x = image(3, 4, 5, kind=kind)
    for change in colour.CHANGES.values():
        factor = 0.0 if change is colour.hued else 1.0
        np.testing.assert_allclose(change(x, factor), x, atol=1e-6)
    assert T.ColorJitter()(x) is x
    for place in range(20):
        seeds.enter((0, place))
        found = T.ColorJitter(0.5, 0.5, 0.5, 0.5)(x)
        assert found.dtype == kind
        assert found.shape == x.shape
    assert T.ColorJitter(0.2, 0.2, 0.2, 0.2)(image(1, 3, 3)).shape == (1, 3, 3)


def test_whole_numbers_stay_in_their_range():
    x = image(3, 9, 9, kind=np.uint8)
    bright = colour.brighter(x, 3.0)
    np.testing.assert_array_equal(bright, np.minimum(x.astype(int) * 3, 255))


# ---- others


def test_to_tensor_and_to_dtype():
    x = image(6, 5, 3, kind=np.uint8)
    found = T.ToTensor()(x)
    np.testing.assert_array_equal(T.ToTensor()(x.transpose(2, 0, 1)), found)
    np.testing.assert_array_equal(T.ToImage()(x), x.transpose(2, 0, 1))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, x.transpose(2, 0, 1) / 255, rtol=1e-6)
    assert T.ToTensor()(x[:, :, 0]).shape == (1, 6, 5)
    assert T.ToTensor()(x.astype(np.int16)).dtype == np.int16
    back = T.ToDtype(np.uint8, scale=True)(found)
    np.testing.assert_array_equal(back, x.transpose(2, 0, 1))
    assert T.ToDtype(td.float32)(x).max() == x.max()
    pillow = pytest.importorskip("PIL.Image")
    np.testing.assert_array_equal(T.ToTensor()(pillow.fromarray(x)), found)


def test_normalize():
    x = image(3, 4, 5)
    mean, std = [0.1, 0.2, 0.3], [0.5, 0.6, 0.7]
    found = T.Normalize(mean, std)(x)
    for channel in range(3):
        np.testing.assert_allclose(
            found[channel], (x[channel] - mean[channel]) / std[channel], rtol=1e-5
        )
    assert found.dtype == np.float32
    y = x.copy()
    assert T.Normalize(mean, std, inplace=True)(y) is y
    np.testing.assert_allclose(y, found, rtol=1e-6)


def test_one_hot():
    np.testing.assert_array_equal(T.OneHot(3)(2), [0, 0, 1])
    np.testing.assert_array_equal(
        T.OneHot(3, np.int64)(np.array([[0], [2]])), [[[1, 0, 0]], [[0, 0, 1]]]
    )
    assert T.OneHot(3)(np.array([], np.int64)).shape == (0, 3)


def test_putting_together():
    chain = T.Compose([T.ToTensor(), T.Resize(4), T.Lambda(lambda x: x * 2)])
    assert chain(image(8, 8, 3, kind=np.uint8)).shape == (3, 4, 4)
    assert (
        repr(T.Compose([T.RandomHorizontalFlip(0.25)])) == "Compose([RandomHorizontalFlip(p=0.25)])"
    )
    twice = T.RandomApply([T.Lambda(lambda x: x + 1)] * 2, p=1.0)
    assert twice(0) == 2
    assert T.RandomApply([T.Lambda(lambda x: x + 1)], p=0.0)(0) == 0


class Pictures(data.Dataset):
    """Pictures that go through everything random."""

    def __init__(self):
        self.change = T.Compose([
            T.RandomResizedCrop(6), T.RandomHorizontalFlip(), T.RandomVerticalFlip(),
            T.RandomRotation(30), T.ColorJitter(0.3, 0.3, 0.3, 0.1), T.RandomCrop(4, padding=1),
        ])  # fmt: skip

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.change(image(3, 12, 12, seed=index))


def test_random_transforms_do_not_depend_on_workers():
    found = [
        [b.tolist() for b in data.DataLoader(Pictures(), 4, True, generator=0, num_workers=n)]
        for n in (0, 1, 2)
    ]
    assert found[0] == found[1] == found[2]
    again = [b.tolist() for b in data.DataLoader(Pictures(), 4, True, generator=1)]
    assert again != found[0]


def test_outside_of_a_loader_the_global_seed_decides():
    seeds.enter(None)
    x = image(1, 30, 30)
    td.manual_seed(4)
    first, second = T.RandomCrop(3)(x), T.RandomCrop(3)(x)
    td.manual_seed(4)
    np.testing.assert_array_equal(T.RandomCrop(3)(x), first)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: T.Resize(0), ArgumentError, "size"),
        (lambda: T.Resize((1, 2, 3)), ArgumentError, "size"),
        (lambda: T.Resize(4, "cubic"), ArgumentError, "bicubic"),
        (lambda: T.Pad((1, 2, 3)), ArgumentError, "padding"),
        (lambda: T.Pad(1, padding_mode="wrap"), ArgumentError, "padding_mode"),
        (lambda: T.RandomHorizontalFlip(1.5), ArgumentError, "p is from 0 to 1"),
        (lambda: T.RandomRotation((3, 1)), ArgumentError, "range of angles"),
        (lambda: T.RandomRotation(-3), ArgumentError, "range of angles"),
        (lambda: T.ColorJitter(hue=0.6), ArgumentError, "hue"),
        (lambda: T.ColorJitter(brightness=-1), ArgumentError, "brightness"),
        (lambda: T.RandomResizedCrop(3, scale=(0, 1)), ArgumentError, "scale"),
        (lambda: T.Normalize(0, 0), ArgumentError, "std above zero"),
        (lambda: T.OneHot(0), ArgumentError, "num_classes"),
        (lambda: T.OneHot(3)(3), ArgumentError, "to=3"),
        (lambda: T.OneHot(3)(1.5), DtypeError, "whole"),
        (lambda: T.RandomCrop(5)(image(1, 4, 9)), ShapeError, "larger than the image"),
        (lambda: T.Resize(4)(image(4, 4)), ShapeError, "not an image"),
        (lambda: T.Normalize([0, 0], 1)(image(3, 4, 4)), ShapeError, "channels=3"),
        (lambda: T.Normalize(0, 1)(image(3, 4, 4, kind=np.uint8)), DtypeError, "ToTensor"),
        (lambda: T.ColorJitter(0, 0.5)(image(2, 4, 4)), ShapeError, "channels=2"),
        (lambda: T.ToTensor()(image(2, 3, 4, 4)), ShapeError, "picture"),
        (lambda: T.ToTensor()(image(5, 6, 7)), ShapeError, "channels"),
        (lambda: T.Compose([3]), TypeError, "function"),
        (lambda: T.Grayscale(2), ArgumentError, "1 or 3"),
    ],
)  # fmt: skip
def test_what_cannot_be_right_is_refused(make, error, said):
    with pytest.raises(error, match=said):
        make()


@pytest.mark.parametrize("change", [T.Resize(4), T.Resize((4, 5)), T.RandomResizedCrop(4)])
@pytest.mark.parametrize("shape", [(3, 0, 4), (3, 4, 0), (2, 3, 0, 0)])
def test_an_image_without_pixels_is_refused(change, shape):
    with pytest.raises(ShapeError, match="an image without pixels"):
        change(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("kind", [T.Compose, T.RandomApply])
def test_transforms_are_functions(kind):
    with pytest.raises(OperandError, match=f"{kind.__name__}: not a function"):
        kind([4, 5])
