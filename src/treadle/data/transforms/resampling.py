"""Values of an image between its pixels: for other sizes, and for turned images."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.data.transforms.general import Array

MODES = ("nearest", "bilinear", "bicubic")


def mode_in(what: str, mode: str, modes: tuple[str, ...] = MODES) -> str:
    """The name of an interpolation."""
    if mode not in modes:
        hint = ", ".join(modes)
        raise ArgumentError(explain(what, "unknown interpolation", hint, got=repr(mode)))
    return mode


def resized(image: Array, size: tuple[int, ...], mode: str, antialias: bool) -> Array:
    """An image (..., H, W) in another size."""
    height, width = size
    if image.shape[-2:] == (height, width):
        return image
    if mode == "nearest":
        rows = np.arange(height) * image.shape[-2] // height
        columns = np.arange(width) * image.shape[-1] // width
        return image[..., rows[:, None], columns]
    kind = np.float64 if image.dtype == np.float64 else np.float32
    down: Array = _weights(image.shape[-2], height, mode, antialias).astype(kind)
    across: Array = _weights(image.shape[-1], width, mode, antialias).astype(kind)
    return stored(down @ (image.astype(kind, copy=False) @ across.T), image.dtype)


@functools.lru_cache(maxsize=64)
def _weights(before: int, after: int, mode: str, antialias: bool) -> Array:
    """What every old place of an axis gives to every new one; rows sum to 1."""
    step = before / after
    wide = max(step, 1.0) if antialias else 1.0
    centres = (np.arange(after) + 0.5) * step - 0.5
    reach = wide * (2 if mode == "bicubic" else 1)
    first = np.ceil(centres - reach).astype(int)
    places = first[:, None] + np.arange(int(2 * reach) + 2)
    apart = np.abs(places - centres[:, None]) / wide
    shares = _cubic(apart, -0.5 if antialias else -0.75) if mode == "bicubic" else 1 - apart
    shares = np.where(apart < reach / wide, shares, 0.0)
    if antialias:  # what would lie outside does not count
        shares[(places < 0) | (places >= before)] = 0.0
    shares /= shares.sum(1, keepdims=True)
    weights = np.zeros((after, before))
    rows = np.broadcast_to(np.arange(after)[:, None], places.shape)
    np.add.at(weights, (rows, np.clip(places, 0, before - 1)), shares)  # else the edge is repeated
    weights.flags.writeable = False
    return weights


def _cubic(x: Array, a: float) -> Array:
    """Keys' convolution kernel."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, far)


def turned(
    image: Array, degrees: float, mode: str, expand: bool, centre: Any, fill: float
) -> Array:
    """An image (..., H, W) turned counter-clockwise about a point (x, y), its middle if None."""
    height, width = image.shape[-2:]
    angle = np.deg2rad(degrees)
    cos, sin = np.cos(angle), np.sin(angle)
    about_x, about_y = (width / 2, height / 2) if centre is None else centre
    new_height, new_width = height, width
    if expand:
        about_x, about_y = width / 2, height / 2
        # 1e-6: a right angle's cosine is not quite zero
        new_width = int(np.ceil(abs(width * cos) + abs(height * sin) - 1e-6))
        new_height = int(np.ceil(abs(width * sin) + abs(height * cos) - 1e-6))
    x = np.arange(new_width) + 0.5 - about_x - (new_width - width) / 2
    y = (np.arange(new_height) + 0.5 - about_y - (new_height - height) / 2)[:, None]
    from_x = cos * x - sin * y + about_x - 0.5
    from_y = sin * x + cos * y + about_y - 0.5
    return _looked_up(image, from_y, from_x, mode, fill)


def _looked_up(image: Array, y: Array, x: Array, mode: str, fill: float) -> Array:
    """The image at places between pixels; outside of it fill."""
    if mode == "nearest":
        return _filled(image, np.floor(y + 0.5).astype(int), np.floor(x + 0.5).astype(int), fill)
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    kind = np.float64 if image.dtype == np.float64 else np.float32
    below, right = (y - top).astype(kind), (x - left).astype(kind)
    rows = [
        _filled(image, top + k, left, fill) * (1 - right)
        + _filled(image, top + k, left + 1, fill) * right
        for k in (0, 1)
    ]
    return stored(rows[0] * (1 - below) + rows[1] * below, image.dtype)


def _filled(image: Array, rows: Array, columns: Array, fill: float) -> Array:
    height, width = image.shape[-2:]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    found = image[..., np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
    return np.where(inside, found, np.asarray(fill, image.dtype))


def stored(values: Array, kind: Any) -> Array:
    """Floats in the dtype of an image: whole numbers are rounded and stay in its range."""
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        values = np.clip(np.rint(values), limits.min, limits.max)
    return values.astype(kind, copy=False)
