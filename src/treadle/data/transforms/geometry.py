"""Transforms that move pixels: crop, pad, flip, turn, resize."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.data.seeds import generator
from treadle.data.transforms.general import Array, Transform, chance, image_in, pixels_in
from treadle.data.transforms.resampling import mode_in, resized, turned

PAD_MODES = ("constant", "edge", "reflect", "symmetric")
Size = int | Sequence[int]


class Resize(Transform):
    """Another size: (height, width), or a number for the shorter side, which keeps the shape.

    interpolation is "nearest", "bilinear" or "bicubic". antialias averages over what a new pixel
    covers, as Pillow does.
    """

    def __init__(self, size: Size, interpolation: str = "bilinear", antialias: bool = True) -> None:
        self.size = sizes_in("Resize", size, (1, 2))
        self.interpolation, self.antialias = mode_in("Resize", interpolation), antialias

    def __call__(self, sample: Any) -> Array:
        image = pixels_in("Resize", sample)
        height, width = image.shape[-2:]
        if len(self.size) == 2:
            new = self.size
        else:
            (short,) = self.size
            long = int(short * max(height, width) / min(height, width))
            new = (short, long) if height <= width else (long, short)
        return resized(image, new, self.interpolation, self.antialias)


class CenterCrop(Transform):
    """The middle, (height, width) or a square; what is missing is padded with zeros."""

    def __init__(self, size: Size) -> None:
        self.size = sizes_in("CenterCrop", size)

    def __call__(self, sample: Any) -> Array:
        image = image_in("CenterCrop", sample)
        height, width = self.size
        lack_y, lack_x = (
            max(0, new - old) for new, old in zip(self.size, image.shape[-2:], strict=True)
        )
        if lack_y or lack_x:
            sides = (lack_x // 2, lack_y // 2, (lack_x + 1) // 2, (lack_y + 1) // 2)
            image = padded(image, sides, 0, "constant")
        top = round((image.shape[-2] - height) / 2)
        left = round((image.shape[-1] - width) / 2)
        return image[..., top : top + height, left : left + width]


class Pad(Transform):
    """More on all sides, on (left and right, top and bottom), or on (left, top, right, bottom)."""

    def __init__(self, padding: Size, fill: float = 0, padding_mode: str = "constant") -> None:
        self.padding = sides_in("Pad", padding)
        self.fill, self.padding_mode = fill, pad_mode_in("Pad", padding_mode)

    def __call__(self, sample: Any) -> Array:
        return padded(image_in("Pad", sample), self.padding, self.fill, self.padding_mode)


class RandomCrop(Transform):
    """A part of a size at a random place, of an image that may be padded first."""

    def __init__(
        self, size: Size, padding: Size | None = None, pad_if_needed: bool = False,
        fill: float = 0, padding_mode: str = "constant",
    ) -> None:  # fmt: skip
        self.size = sizes_in("RandomCrop", size)
        self.padding = None if padding is None else sides_in("RandomCrop", padding)
        self.pad_if_needed, self.fill = pad_if_needed, fill
        self.padding_mode = pad_mode_in("RandomCrop", padding_mode)

    def __call__(self, sample: Any) -> Array:
        image = image_in("RandomCrop", sample)
        if self.padding is not None:
            image = padded(image, self.padding, self.fill, self.padding_mode)
        height, width = self.size
        if self.pad_if_needed:
            lack_y, lack_x = max(0, height - image.shape[-2]), max(0, width - image.shape[-1])
            sides = (lack_x, lack_y, lack_x, lack_y)
            image = padded(image, sides, self.fill, self.padding_mode)
        free_y, free_x = image.shape[-2] - height, image.shape[-1] - width
        if free_y < 0 or free_x < 0:
            facts = {"size": self.size, "image": image.shape[-2:]}
            hint = "a smaller size, padding, or pad_if_needed=True"
            raise ShapeError(explain("RandomCrop", "larger than the image", hint, **facts))
        drawn = generator()
        top, left = int(drawn.integers(free_y + 1)), int(drawn.integers(free_x + 1))
        return image[..., top : top + height, left : left + width]


class RandomResizedCrop(Transform):
    """A part of random area and proportion (width / height), resized: the usual crop to train on.

    scale is the range of its share of the area. Where ten tries find no such part, the middle.
    """

    def __init__(
        self, size: Size, scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3), interpolation: str = "bilinear",
        antialias: bool = True,
    ) -> None:  # fmt: skip
        what = "RandomResizedCrop"
        self.size, self.scale, self.ratio = sizes_in(what, size), tuple(scale), tuple(ratio)
        self.interpolation, self.antialias = mode_in(what, interpolation), antialias
        for name, (low, high) in (("scale", self.scale), ("ratio", self.ratio)):
            if not 0 < low <= high:
                wrong = f"{name} is a range of numbers above zero"
                raise ArgumentError(explain(what, wrong, got=(low, high)))

    def __call__(self, sample: Any) -> Array:
        image = pixels_in("RandomResizedCrop", sample)
        top, left, height, width = self._box(*image.shape[-2:])
        part = image[..., top : top + height, left : left + width]
        return resized(part, self.size, self.interpolation, self.antialias)

    def _box(self, height: int, width: int) -> tuple[int, int, int, int]:
        drawn = generator()
        for _ in range(10):
            area = height * width * drawn.uniform(self.scale[0], self.scale[1])
            ratio = math.exp(drawn.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                return int(drawn.integers(height - h + 1)), int(drawn.integers(width - w + 1)), h, w
        low, high = self.ratio
        w = min(width, round(height * min(max(width / height, low), high)))
        h = min(height, round(w / min(max(w / height, low), high)))
        return (height - h) // 2, (width - w) // 2, max(h, 1), max(w, 1)


class RandomHorizontalFlip(Transform):
    """Left and right change places with chance p."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = chance("RandomHorizontalFlip", p)

    def __call__(self, sample: Any) -> Array:
        image = image_in("RandomHorizontalFlip", sample)
        return image[..., ::-1] if generator().random() < self.p else image


class RandomVerticalFlip(Transform):
    """Top and bottom change places with chance p."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = chance("RandomVerticalFlip", p)

    def __call__(self, sample: Any) -> Array:
        image = image_in("RandomVerticalFlip", sample)
        return image[..., ::-1, :] if generator().random() < self.p else image


class RandomRotation(Transform):
    """Turned counter-clockwise by an angle between two, or between -degrees and degrees.

    expand makes the result large enough for all of it; center is (x, y), the middle if None.
    """

    def __init__(
        self, degrees: Any, interpolation: str = "nearest", expand: bool = False,
        center: tuple[float, float] | None = None, fill: float = 0,
    ) -> None:  # fmt: skip
        what = "RandomRotation"
        self.degrees = (-degrees, degrees) if np.ndim(degrees) == 0 else tuple(degrees)
        self.interpolation = mode_in(what, interpolation, ("nearest", "bilinear"))
        self.expand, self.center, self.fill = expand, center, fill
        if len(self.degrees) != 2 or not self.degrees[0] <= self.degrees[1]:
            hint = "a number that is not negative, or (low, high)"
            raise ArgumentError(explain(what, "not a range of angles", hint, degrees=degrees))

    def __call__(self, sample: Any) -> Array:
        image = image_in("RandomRotation", sample)
        angle = generator().uniform(*self.degrees)
        return turned(image, angle, self.interpolation, self.expand, self.center, self.fill)


# ---- what they share


def padded(image: Array, sides: Sequence[int], fill: float, mode: str) -> Array:
    """An image with more on its sides (left, top, right, bottom); less, where that is negative."""
    left, top, right, bottom = sides
    height, width = image.shape[-2:]
    image = image[
        ..., max(0, -top) : height - max(0, -bottom), max(0, -left) : width - max(0, -right)
    ]
    outer = [(0, 0)] * (image.ndim - 2)
    grown = [(max(0, top), max(0, bottom)), (max(0, left), max(0, right))]
    if mode == "constant":
        return np.pad(image, [*outer, *grown], constant_values=fill)
    if not all(image.shape[-2:]):
        raise ShapeError(explain("pad", "an empty image has no edge", shape=image.shape))
    return np.pad(image, [*outer, *grown], mode=mode)  # type: ignore[call-overload]


def sizes_in(what: str, size: Size, lengths: tuple[int, ...] = (2,)) -> tuple[int, ...]:
    """(height, width), or fewer numbers where that is allowed."""
    given = tuple(size) if isinstance(size, Sequence | np.ndarray) else (size,)
    if len(given) == 1 and 1 not in lengths:
        given *= 2
    whole = all(hasattr(n, "__index__") and not isinstance(n, bool) and n > 0 for n in given)
    if len(given) not in lengths or not whole:
        hint = "a whole number above zero, or (height, width)"
        raise ArgumentError(explain(what, "not a size", hint, size=size))
    return tuple(int(n) for n in given)


def sides_in(what: str, padding: Size) -> tuple[int, ...]:
    """(left, top, right, bottom)."""
    given = tuple(padding) if isinstance(padding, Sequence | np.ndarray) else (padding,)
    if len(given) not in (1, 2, 4) or not all(hasattr(n, "__index__") for n in given):
        hint = "n, (sides, top and bottom), or (left, top, right, bottom)"
        raise ArgumentError(explain(what, "not a padding", hint, padding=padding))
    return tuple(int(n) for n in given) * (4 // len(given))


def pad_mode_in(what: str, mode: str) -> str:
    """The name of a way to pad."""
    if mode not in PAD_MODES:
        hint = ", ".join(PAD_MODES)
        raise ArgumentError(explain(what, "unknown padding_mode", hint, got=repr(mode)))
    return mode
