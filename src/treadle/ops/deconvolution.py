"""Convolutions backwards, without a scatter: every element collects what windows sent to it.

Along an axis of stride s, an element is reached by every s-th tap of a kernel only, and by which
ones is told by its index modulo s. So its neighbours of the same kind are a convolution of stride 1
with these taps, and the kinds are woven together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import gcd, prod
from typing import Any, NamedTuple

from treadle.base.shapes import Shape
from treadle.ops.contract import matrix_product
from treadle.ops.elementwise import cast
from treadle.ops.movement import concat, flip, pad, slice_
from treadle.ops.reduce import sum_
from treadle.ops.windows import windows

CHANNELS_LAST = ("cuda",)  # backends whose products want channels side by side
LONG = 3  # axes of kernels along one line
MOST_TAPS = 32  # of a kernel for one channel: more are a reduction


class Taps(NamedTuple):
    """Elements first, first + s, ... along an axis, and the taps that reach them."""

    first: int
    tap: int  # the first tap, of every so many: step
    step: int
    reach: int  # how many there are
    apart: int  # elements between the operands of two taps
    before: int  # zeros before the operand


def _kinds(size: int, stride: int, dilation: int, start: int) -> list[Taps]:
    """Every kind of element along an axis, by its first one; size is that of the kernel."""
    step = stride // gcd(stride, dilation)
    apart = dilation * step // stride
    found = []
    for first in range(stride):
        taps = [t for t in range(size) if (first + start - dilation * t) % stride == 0]
        tap, count = (taps[0] if taps else 0), len(taps)
        before = (count - 1) * apart - (first + start - dilation * tap) // stride
        found.append(Taps(first, tap, step, count, apart, before))
    return found


def spread(
    convolve: Callable[..., Any], y: Any, weight: Any, sizes: Shape, options: dict[str, Any]
) -> Any:
    """y (batch, outputs, ...) times every kernel of weight (outputs, channels / groups, ...).

    sizes are those of the result's spatial axes; options are strides, dilations, starts (one for
    each of them) and groups of the convolution whose operand the result is a cotangent of.
    """
    count, groups = len(sizes), options["groups"]
    axes = zip(weight.shape[2:], options["strides"], options["dilations"], options["starts"],
               strict=True)  # fmt: skip
    kinds = [_kinds(*axis) for axis in axes]
    outputs, channels = weight.shape[:2]
    turned = weight.reshape((groups, outputs // groups, channels, *weight.shape[2:]))
    turned = turned.permute((0, 2, 1, *range(3, 3 + count)))
    turned = turned.reshape((groups * channels, outputs // groups, *weight.shape[2:]))
    lengths = tuple([-(-n // s) for n, s in zip(sizes, options["strides"], strict=True)])
    parts = {
        tuple(taps.first for taps in chosen): _of_kind(convolve, y, turned, chosen, lengths, groups)
        for chosen in product(*kinds)
    }
    return _woven(parts, options["strides"], sizes)


def _of_kind(
    convolve: Callable[..., Any], y: Any, weight: Any, chosen: tuple[Taps, ...], lengths: Shape,
    groups: int,
) -> Any:  # fmt: skip
    """All elements of one kind."""
    edges = [(0, 0), (0, 0)]
    for taps, length, size in zip(chosen, lengths, y.shape[2:], strict=True):
        needed = length + (taps.reach - 1) * taps.apart
        edges.append((taps.before, needed - size - taps.before))
    misses = any(-min(edge) >= n for edge, n in zip(edges[2:], y.shape[2:], strict=True))
    if misses or not all(taps.reach for taps in chosen):  # nothing is sent there
        zero = cast(y.iota_like(0, 1), y.dtype)
        return zero.expand((y.shape[0], weight.shape[0], *lengths))
    ranges = [(0, n, 1) for n in weight.shape[:2]]
    ranges += [(t.tap, t.tap + (t.reach - 1) * t.step + 1, t.step) for t in chosen]
    kernel = flip(slice_(weight, ranges), tuple(range(2, weight.ndim)))
    apart = tuple([max(1, taps.apart) for taps in chosen])
    return convolve(pad(y, edges), kernel, dilation=apart, groups=groups)


def _woven(parts: dict[tuple[int, ...], Any], strides: Shape, sizes: Shape) -> Any:
    """Kinds side by side along every axis, cut to sizes."""
    for k in reversed(range(len(strides))):
        fewer: dict[tuple[int, ...], Any] = {}
        for firsts in {key[:k] for key in parts}:
            lines = [parts[(*firsts, first)] for first in range(strides[k])]
            fewer[firsts] = lines[0] if len(lines) == 1 else _interleaved(lines, 2 + k)
        parts = fewer
    (whole,) = parts.values()
    if whole.shape[2:] == sizes:
        return whole
    return slice_(whole, [(0, n, 1) for n in (*whole.shape[:2], *sizes)])


def _interleaved(parts: list[Any], axis: int) -> Any:
    shape = parts[0].shape
    lines = [x.reshape((*shape[: axis + 1], 1, *shape[axis + 1 :])) for x in parts]
    joined = concat(lines, axis=axis + 1)
    return joined.reshape((*shape[:axis], shape[axis] * len(parts), *shape[axis + 1 :]))


def shifted(
    x: Any, sizes: Shape, strides: Shape, dilations: Shape
) -> Iterator[tuple[tuple[int, ...], Any]]:
    """For every tap of a kernel, its place and what it meets of x (..., *spatial)."""
    count = len(sizes)
    lead, spatial = x.shape[:-count], x.shape[-count:]
    axes = list(zip(spatial, sizes, strides, dilations, strict=True))
    lengths = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in axes]
    for at in product(*map(range, sizes)):
        ranges = [(0, n, 1) for n in lead]
        for k, length, (_, _, s, d) in zip(at, lengths, axes, strict=True):
            ranges.append((k * d, k * d + (length - 1) * s + 1, s))
        yield at, slice_(x, ranges)


def is_by_taps(weight: Any, groups: int) -> bool:
    """Has every channel a kernel of its own, of few taps?"""
    outputs, channels, *sizes = weight.shape
    return channels == 1 and outputs == groups > 1 and prod(sizes) <= MOST_TAPS


def is_by_lines(weight: Any, groups: int) -> bool:
    """Are channels side by side lines to read? One channel is, if its neighbours are taps."""
    return weight.shape[1] > (0 if groups == 1 or weight.ndim == LONG else 1)


def weight_gradient(y: Any, x: Any, weight: Any, strides: Shape, dilations: Shape) -> Any:
    """The sum over windows of x, each times the cotangent y (batch, outputs, ...) at its place."""
    outputs, channels, *sizes = weight.shape
    if not channels:
        return weight  # which has no elements
    groups, points, batch = x.shape[1] // channels, prod(y.shape[2:]), x.shape[0]
    depth = channels * prod(sizes)
    if is_by_taps(weight, groups):
        whole = [(0, n, 1) for n in y.shape]
        axes = (0, *range(2, y.ndim))
        sums = [
            sum_(y * slice_(seen, whole), axis=axes).reshape((outputs, 1))
            for _, seen in shifted(x, tuple(sizes), strides, dilations)
        ]
        return concat(sums, axis=1).reshape(weight.shape)
    if x.device.backend in CHANNELS_LAST and is_by_lines(weight, groups):
        return _by_lines(y, x, weight, strides, dilations)
    seen = windows(x, tuple(sizes), strides, dilations)
    ranges = [(0, n, 1) for n in seen.shape[: -len(sizes)]] + [(0, n, 1) for n in y.shape[2:]]
    seen = seen if seen.shape[-len(sizes) :] == y.shape[2:] else slice_(seen, ranges)
    seen = seen.reshape((batch, groups, depth, points))
    y = y.reshape((batch, groups, outputs // groups, points))
    y = y.permute((1, 2, 0, 3)).reshape((groups, outputs // groups, batch * points))
    seen = seen.permute((1, 0, 3, 2)).reshape((groups, batch * points, depth))
    if groups == 1:
        y, seen = y.reshape(y.shape[1:]), seen.reshape(seen.shape[1:])
    return matrix_product(y, seen).reshape(weight.shape)


def _by_lines(y: Any, x: Any, weight: Any, strides: Shape, dilations: Shape) -> Any:
    """The same where taps of a window are whole lines of channels, and sums are as deep as wide."""
    from treadle.ops.lines import lines_of

    outputs, channels, *sizes = weight.shape
    groups = x.shape[1] // channels
    lines, depth = lines_of(x, tuple(sizes), strides, dilations, y.shape[2:], groups)
    y = y.permute((0, *range(2, y.ndim), 1))
    if groups == 1:
        y = y.reshape((lines.shape[0], outputs))
    else:
        y = y.reshape((lines.shape[1], groups, outputs // groups)).permute((1, 0, 2))
    slopes = matrix_product(y.mT, lines).reshape((outputs, *depth))
    wanted = (outputs, *sizes, channels)
    slopes = slopes if slopes.shape == wanted else slice_(slopes, [(0, n, 1) for n in wanted])
    return slopes.permute((0, len(depth), *range(1, len(depth))))
