"""Windows as rows of a matrix, channels side by side: a row is taps times channels."""

from __future__ import annotations

from math import prod
from typing import Any

from treadle.base.shapes import Shape
from treadle.ops.movement import pad, slice_
from treadle.ops.windows import windows

LINE, GRAIN = 16, 8  # elements of the shortest line, and those between which lines begin


def lines_of(
    x: Any, sizes: Shape, strides: Shape, dilations: Shape, places: Shape, groups: int
) -> tuple[Any, Shape]:
    """Windows at places of x (batch, channels, *spatial) as rows, and how deep each row is.

    Of several groups of channels each is a matrix. Channels that are no whole lines are filled up
    with zeros; where they are few, all taps of a line of the image are one, filled up likewise.
    """
    batch, channels, *spatial = x.shape
    wide, count, last = channels // groups, len(sizes), sizes[-1]
    image = x.reshape((batch, groups, wide, *spatial)).permute((0, 1, *range(3, 3 + count), 2))
    if wide < LINE and dilations[-1] == 1:
        image, last = _long_lines(image, last, strides[-1], places[-1])
        *spatial, wide = image.shape[2:]
        x = image.reshape((batch, groups, *spatial[:-1], spatial[-1] * wide))
        taps, steps = (*sizes[:-1], last * wide), (*strides[:-1], strides[-1] * wide)
    else:
        if prod(sizes) > 1:
            image = _filled(image, spatial[-1], -(-wide // LINE) * LINE)
        wide, (taps, steps) = image.shape[-1], (sizes, strides)
        x = image.permute((0, 1, 2 + count, *range(2, 2 + count)))
        x = x.reshape((batch, groups * wide, *spatial))
    seen = windows(x, taps, steps, dilations)
    if seen.shape[-count:] != places:
        seen = slice_(seen, [(0, n, 1) for n in (*seen.shape[:-count], *places)])
    seen = seen.reshape((batch, groups, seen.shape[1] // groups, *seen.shape[2:]))
    seen = seen.permute((1, 0, *range(3 + count, seen.ndim), *range(3, 3 + count), 2))
    if last > sizes[-1]:
        seen = _without(seen, (last - sizes[-1]) * wide)
    depth = (*sizes[:-1], last, wide)
    rows = batch * prod(places), prod(depth)
    return seen.reshape(rows if groups == 1 else (groups, *rows)), depth


def _without(seen: Any, more: int) -> Any:
    """Windows whose lines end in zeros: what is there, times zero, would be NaN if infinite."""
    *outer, line, last = seen.shape
    kept = slice_(seen, [(0, n, 1) for n in (*outer, line - more, last)])
    return pad(kept, [*[(0, 0)] * len(outer), (0, more), (0, 0)])


def _long_lines(image: Any, taps: int, step: int, places: int) -> tuple[Any, int]:
    """Images of few channels, whose taps along a line are one long one, and how many these are."""
    long, wide = image.shape[-2:]
    wide += next(n for n in range(LINE) if step * (wide + n) % GRAIN == 0)
    taps += next(n for n in range(LINE) if (taps + n) * wide % LINE == 0)
    long = max(long, (places - 1) * step + taps)
    long += next(n for n in range(LINE) if (long + n) * wide % GRAIN == 0)
    return _filled(image, long, wide), taps


def _filled(image: Any, long: int, wide: int) -> Any:
    """Images (..., length, channels) of such lines: what there was not is 0."""
    if image.shape[-2:] == (long, wide):
        return image
    more = [(0, long - image.shape[-2]), (0, wide - image.shape[-1])]
    return pad(image, [(0, 0)] * (image.ndim - 2) + more)
