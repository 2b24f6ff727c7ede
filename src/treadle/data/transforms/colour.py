"""Transforms of colours: brightness, contrast, saturation, hue."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.data.seeds import generator
from treadle.data.transforms.general import Array, Transform, image_in

LUMA = np.array([0.299, 0.587, 0.114])  # what red, green and blue give to grey (ITU-R BT.601)


class Grayscale(Transform):
    """Grey, in 1 or 3 equal channels."""

    def __init__(self, num_output_channels: int = 1) -> None:
        self.num_output_channels = num_output_channels
        if num_output_channels not in (1, 3):
            facts = {"num_output_channels": num_output_channels}
            raise ArgumentError(explain("Grayscale", "channels are 1 or 3", **facts))

    def __call__(self, sample: Any) -> Array:
        image = image_in("Grayscale", sample)
        found = _stored(grey(image, "Grayscale"), image)
        return np.repeat(found, self.num_output_channels, axis=-3)


class ColorJitter(Transform):
    """Brightness, contrast, saturation and hue changed by random factors, in random order.

    A number b means factors from max(0, 1 - b) to 1 + b, of hue from -b to b turns of the wheel (at
    most 0.5); a pair is the range itself.
    """

    def __init__(
        self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0
    ) -> None:
        self.brightness = _range("brightness", brightness, 1, 0, np.inf)
        self.contrast = _range("contrast", contrast, 1, 0, np.inf)
        self.saturation = _range("saturation", saturation, 1, 0, np.inf)
        self.hue = _range("hue", hue, 0, -0.5, 0.5)

    def __call__(self, sample: Any) -> Array:
        image = image_in("ColorJitter", sample)
        drawn = generator()
        for which in drawn.permutation(4):
            name = ("brightness", "contrast", "saturation", "hue")[which]
            low_high = getattr(self, name)
            if low_high is not None:
                image = CHANGES[name](image, drawn.uniform(*low_high))
        return image


def brighter(image: Array, factor: float) -> Array:
    """Mixed with black."""
    return _mixed(image, np.zeros(1), factor)


def contrasted(image: Array, factor: float) -> Array:
    """Mixed with its mean grey."""
    shade = grey(image, "contrast")
    if image.dtype.kind in "iu":
        shade = np.floor(shade)
    return _mixed(image, shade.mean((-3, -2, -1), keepdims=True), factor)


def saturated(image: Array, factor: float) -> Array:
    """Mixed with its grey."""
    return image if image.shape[-3] == 1 else _mixed(image, grey(image, "saturation"), factor)


def hued(image: Array, turns: float) -> Array:
    """With the colour wheel turned."""
    if image.shape[-3] == 1:
        return image
    top = _top(image)
    red, green, blue = np.moveaxis(_three(image, "hue") / top, -3, 0)
    most = np.maximum(np.maximum(red, green), blue)
    spread = most - np.minimum(np.minimum(red, green), blue)
    safe = np.where(spread == 0, 1, spread)
    hue = np.where(
        most == red, (green - blue) / safe,
        np.where(most == green, 2 + (blue - red) / safe, 4 + (red - green) / safe),
    )  # fmt: skip
    hue = (hue / 6 + turns) % 1.0
    # Each channel falls from the most by a share of the spread that its place on the wheel decides.
    places = (np.array([5.0, 3.0, 1.0]).reshape(3, *[1] * hue.ndim) + hue * 6) % 6
    shares = np.clip(np.minimum(places, 4 - places), 0, 1)
    return _stored(np.moveaxis(most - spread * shares, 0, -3) * top, image)


CHANGES = {"brightness": brighter, "contrast": contrasted, "saturation": saturated, "hue": hued}


def grey(image: Array, what: str) -> Array:
    """Grey as floats, one channel."""
    if image.shape[-3] == 1:
        return image.astype(np.float64)
    return np.tensordot(_three(image, what), LUMA, (-3, 0))[..., None, :, :]


def _three(image: Array, what: str) -> Array:
    if image.shape[-3] != 3:
        facts = {"channels": image.shape[-3]}
        raise ShapeError(explain(what, "colours have 1 or 3 channels", **facts))
    return image.astype(np.float64)


def _mixed(image: Array, other: Array, share: float) -> Array:
    return _stored(np.clip(share * image + (1 - share) * other, 0, _top(image)), image)


def _top(image: Array) -> int:
    return int(np.iinfo(image.dtype).max) if image.dtype.kind in "iu" else 1


def _stored(values: Array, image: Array) -> Array:
    """In the image's dtype; whole numbers are cut, as torchvision does."""
    if image.dtype.kind in "iu":
        values = np.floor(values + 1e-6)  # a sum of exact parts must not fall below
    return values.astype(image.dtype)


def _range(name: str, given: Any, middle: float, low: float, high: float) -> Any:
    """The ends of a range, or None where nothing is to change."""
    if np.ndim(given) == 0:
        if given < 0:
            raise ArgumentError(explain("ColorJitter", f"{name} is not negative", got=given))
        ends = (middle - given, middle + given)
        ends = (max(low, ends[0]), ends[1]) if name != "hue" else ends
    else:
        ends = tuple(given)
    if len(ends) != 2 or not low <= ends[0] <= ends[1] <= high:
        wrong = f"{name} is a range within {low} ... {high}"
        raise ArgumentError(explain("ColorJitter", wrong, got=given))
    return None if ends == (middle, middle) else ends
