"""Where the largest element of a window lies: its number in the plane of an image."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treadle import functions as f
from treadle.base.shapes import Shape, strides_of
from treadle.ops.regions import fractional_places
from treadle.ops.windows import per_axis, spans_of
from treadle.tensor.creation import arange
from treadle.tensor.tensor import Tensor

Sizes = int | Sequence[int]


def _first(seen: Tensor, top: Tensor, place: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The least place along axes where an element seen is the top one; NaN is at the top."""
    hit = seen == top
    if seen.dtype.is_float:
        hit = hit | (seen != seen)  # NaN
    return f.min(f.where(hit, place, 2**62), axes)


def windowed(
    what: str, x: Tensor, top: Tensor, kernel_size: Sizes, stride: Sizes | None, padding: Sizes,
    dilation: Sizes, count: int,
) -> Tensor:  # fmt: skip
    """Places of the tops of the windows that max_pool took."""
    sizes = per_axis(what, "kernel_size", kernel_size, count, 1)
    steps = per_axis(what, "stride", sizes if stride is None else stride, count, 1)
    starts = per_axis(what, "padding", padding, count, 0)
    dilations = per_axis(what, "dilation", dilation, count, 1)
    lead, spatial = x.shape[:-count], x.shape[-count:]
    outputs, spans = top.shape[-count:], spans_of(sizes, dilations)
    edges = []
    place: Tensor | None = None
    inside: Tensor | None = None
    for k, n in enumerate(spatial):
        end = (outputs[k] - 1) * steps[k] + spans[k] - starts[k] - n
        edges.append((starts[k], max(0, end)))
        within = arange(sizes[k], device=x.device) * dilations[k] - starts[k]
        at = within.unsqueeze(-1) + arange(outputs[k], device=x.device) * steps[k]
        shape = [1] * (2 * count)
        shape[k], shape[count + k] = at.shape
        at = at.reshape(shape)
        covered = (at >= 0) & (at < n)
        place = at if place is None else place * n + at
        inside = covered if inside is None else inside & covered
    if place is None or inside is None:  # there is no pool over no axes
        return top
    seen = f.windows(x, sizes, steps, dilations, edges)
    wide = top.reshape((*lead, *(1,) * count, *outputs))
    axes = tuple(range(x.ndim - count, x.ndim))
    return _first(seen, wide, f.where(inside, place, 2**62), axes)


def adaptive(x: Tensor, top: Tensor, count: int) -> Tensor:
    """Places of the tops of the regions that adaptive_max_pool took."""
    lead, spatial = x.ndim - count, x.shape[-count:]
    seen, places = x, []
    for k in reversed(range(count)):
        n, m = spatial[k], top.shape[lead + k]
        longest = max([-((-o - 1) * n // m) - o * n // m for o in range(m)], default=1)
        number = arange(m, device=x.device).unsqueeze(-1)
        at = number * n // m + arange(longest, device=x.device)
        covered = at < ((number + 1) * n + m - 1) // m
        seen = f.take(seen, f.minimum(at, n - 1), lead + k)
        shape = [1] * (2 * count)
        shape[2 * k], shape[2 * k + 1] = m, longest
        step = strides_of(spatial)[k]
        places.append(f.where(covered, at * step, 2**61).reshape(shape))
    total = places[0]
    for place in places[1:]:  # 2 ** 61 three times is still no overflow
        total = total + place
    pairs = [n for m in top.shape[lead:] for n in (m, 1)]
    axes = tuple(range(lead + 1, lead + 2 * count, 2))
    return _first(seen, top.reshape((*top.shape[:lead], *pairs)), total, axes)


def fractional(what: str, x: Tensor, top: Tensor, samples: Tensor, sizes: Shape) -> Tensor:
    """Places of the tops of the windows that fractional_max_pool took."""
    count = len(sizes)
    outputs = top.shape[-count:]
    place = fractional_places(what, x, samples, sizes, outputs)
    planes = place.shape[0]
    flat = x.reshape((planes, math.prod(x.shape[-count:])))
    index = place.reshape((planes, math.prod(place.shape[1:])))
    seen = f.gather(flat, index, 1).reshape(place.shape)
    wide = top.reshape((planes, *(1,) * count, *outputs))
    return _first(seen, wide, place, tuple(range(1, count + 1))).reshape(top.shape)
