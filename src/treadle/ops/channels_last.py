"""Convolutions with channels innermost: taps of a window are then whole lines of memory.

Tensors keep their shape (batch, channels, *spatial). What a convolution reads and what it gives are
views of memory in the order (batch, *spatial, channels), where the device's products want that.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from treadle.base.shapes import Shape
from treadle.ops.contract import matrix_product
from treadle.ops.movement import pad, slice_
from treadle.ops.windows import windows

BACKENDS = ("cuda",)


def is_last(x: Any) -> bool:
    """Do products of its device read channels that lie side by side?"""
    return x.device.backend in BACKENDS


def last(x: Any) -> Any:
    """(batch, channels, *spatial) as (batch, *spatial, channels)."""
    return x.permute((0, *range(2, x.ndim), 1))


def first(x: Any) -> Any:
    """(batch, *spatial, channels) as (batch, channels, *spatial)."""
    return x.permute((0, x.ndim - 1, *range(1, x.ndim - 1)))


def padded(x: Any, edges: Sequence[tuple[int, int]]) -> Any:
    """x with zeros around its spatial axes: memory from which windows are read in place."""
    if not any(n for pair in edges for n in pair):
        return x
    if is_last(x):
        return first(pad(last(x), [(0, 0), *edges, (0, 0)]))
    return pad(x, [(0, 0), (0, 0), *edges])


def _lines(x: Any, sizes: Shape, strides: Shape, dilations: Shape, spatial: Shape | None) -> Any:
    """What windows see, (batch, *spatial, taps * channels)."""
    count = len(sizes)
    seen = windows(x, sizes, strides, dilations)
    if spatial is not None and seen.shape[-count:] != spatial:
        seen = slice_(seen, [(0, n, 1) for n in (*seen.shape[:-count], *spatial)])
    taps, places = range(2, 2 + count), range(2 + count, 2 + 2 * count)
    seen = seen.permute((0, *places, *taps, 1))
    return seen.reshape((*seen.shape[: count + 1], prod(sizes) * x.shape[1]))


def convolved(x: Any, weight: Any, bias: Any, strides: Shape, dilations: Shape) -> Any:
    """Windows of x (batch, channels, *spatial) times kernels, plus bias."""
    outputs, channels, *sizes = weight.shape
    depth = prod(sizes) * channels
    lines = _lines(x, tuple(sizes), strides, dilations, None)
    kernels = weight.permute((*range(2, weight.ndim), 1, 0)).reshape((depth, outputs))
    y = matrix_product(lines.reshape((prod(lines.shape[:-1]), depth)), kernels)
    y = y.reshape((*lines.shape[:-1], outputs))
    return first(y if bias is None else y + bias)


def kernel_slopes(y: Any, x: Any, weight: Any, strides: Shape, dilations: Shape) -> Any:
    """The sum over windows of x, each times the cotangent y (batch, outputs, ...) at its place."""
    outputs, channels, *sizes = weight.shape
    depth, count = prod(sizes) * channels, len(sizes)
    lines = _lines(x, tuple(sizes), strides, dilations, y.shape[2:])
    rows = prod(lines.shape[:-1])
    slopes = matrix_product(lines.reshape((rows, depth)).mT, last(y).reshape((rows, outputs)))
    slopes = slopes.reshape((*sizes, channels, outputs))
    return slopes.permute((count + 1, count, *range(count)))
