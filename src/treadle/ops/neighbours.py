"""Rows about elements and their neighbours: runs of equal ones, trapezoids between them, bins."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from treadle.base.dtypes import NUMBERS, int32, int64
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in, broadcast
from treadle.ops.composite import as_float, composite, take
from treadle.ops.contract import scatter_add
from treadle.ops.defs import AN_INDEX, JUMPS, Samples
from treadle.ops.elementwise import cast, eq, floor, minimum, ne, where
from treadle.ops.movement import concat, cut
from treadle.ops.ordering import diff, searchsorted
from treadle.ops.picking import places_of
from treadle.ops.reduce import max_, min_, sum_
from treadle.ops.rules import require
from treadle.ops.scan import cumsum
from treadle.ops.shaping import counting
from treadle.ops.totals import any_

# ---- runs of equal elements


def _runs(
    np: Any, x: Any, return_inverse: bool = False, return_counts: bool = False, axis: Any = None
) -> Any:
    lines = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    rows = lines.reshape(lines.shape[0], math.prod(lines.shape[1:]))
    starts = np.ones(len(rows), bool)
    starts[1:] = (rows[1:] != rows[:-1]).any(1)
    found = [lines[starts] if axis is None else np.moveaxis(lines[starts], 0, axis)]
    group = np.cumsum(starts) - 1
    found += [group.reshape(x.shape) if axis is None else group] if return_inverse else []
    found += [np.bincount(group)] if return_counts else []
    return found[0] if len(found) == 1 else found


def _in_runs(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Few values, equal ones side by side; in float64, whose slopes are checked, none twice."""
    size = math.prod(shapes[0])
    few = rng.permutation(size) if kind == "float64" else rng.integers(0, 4, size)
    few.sort()
    return [few.astype(kind).reshape(shapes[0])]


BOTH = {"return_inverse": True, "return_counts": True}


@composite(
    _runs, Samples(cases=(
        ((9,), {}), ((3, 5), BOTH), ((6, 1), {"axis": 0} | BOTH), ((2, 4), {"axis": 1}), ((1,), {}),
    ), draw=_in_runs), inline=True,
)  # fmt: skip
def unique_consecutive(
    x: Any, /, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None
) -> Any:
    """x with runs of equal elements, or of equal slices along an axis, as one of them.

    With what is asked for behind it: for each element the index of its run; how long runs are.
    Without an axis x is flattened. How many runs there are is read, so it is computed now.
    """
    at = 0 if axis is None else axis_in("unique_consecutive", axis, x.ndim)
    lines = x.reshape((math.prod(x.shape),)) if axis is None else x
    size = lines.shape[at]
    apart = ne(cut(lines, at, min(1, size), size), cut(lines, at, 0, max(0, size - 1)))
    others = tuple(k for k in range(lines.ndim) if k != at)
    apart = any_(apart, axis=others) if others else apart
    starts = concat([counting(x, min(1, size)) >= 0, apart], axis=0).realize()
    places = places_of(starts)
    group = cumsum(cast(starts, int64), axis=0) - 1
    found = [take(lines, places, axis=at)]
    if return_inverse:
        found.append(group.reshape(x.shape) if axis is None else group)
    if return_counts:
        found.append(scatter_add(counting(x, places.shape[0]) * 0, group, 1, axis=0))
    return found[0] if len(found) == 1 else tuple(found)


# ---- areas below lines


def _steps(name: str, y: Any, x: Any, dx: float, axis: int) -> tuple[Any, Any, int]:
    """Means of neighbours, how far they are apart, and the axis."""
    at = axis_in(name, axis, y.ndim)
    y, size = as_float(y), y.shape[at]
    late, early = cut(y, at, min(1, size), size), cut(y, at, 0, max(0, size - 1))
    if x is None:
        return late + early, dx * 0.5, at
    width = diff(as_float(x), axis=-1 if x.ndim == 1 else axis)
    if x.ndim == 1:
        width = width.reshape(tuple(width.shape[0] if k == at else 1 for k in range(y.ndim)))
    if x.shape[-1 if x.ndim == 1 else axis] != size:
        facts = {"y": y.shape, "x": x.shape, "axis": axis}
        raise ShapeError(explain(name, "one place for each element along the axis", **facts))
    broadcast(name, late.shape, width.shape)
    return late + early, width * 0.5, at


def _area(np: Any, y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    return np.trapezoid(y, x, dx, axis)


LINES = Samples(cases=(
    ((5,), {}), ((3, 5), {"dx": 0.5, "axis": 0}), ((5,), (5,), {}), ((3, 4), (4,), {}),
    ((3, 4), (3, 4), {"axis": 0}), ((1, 3), {"axis": 0}),
), low=-2.0, high=2.0)  # fmt: skip


@composite(_area, LINES, aliases=("trapz",))
def trapezoid(y: Any, x: Any = None, /, dx: float = 1.0, axis: int = -1) -> Any:
    """The area below straight lines through y along an axis, at places x or dx apart."""
    heights, width, at = _steps("trapezoid", y, x, dx, axis)
    return sum_(heights * width, axis=at)


def _areas(np: Any, y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    y = np.moveaxis(y, axis, -1)
    width = dx if x is None else np.diff(x if x.ndim == 1 else np.moveaxis(x, axis, -1))
    return np.moveaxis(np.cumsum((y[..., 1:] + y[..., :-1]) * width / 2, -1), -1, axis)


@composite(_areas, LINES)
def cumulative_trapezoid(y: Any, x: Any = None, /, dx: float = 1.0, axis: int = -1) -> Any:
    """The areas so far below straight lines through y along an axis: one fewer than elements."""
    heights, width, at = _steps("cumulative_trapezoid", y, x, dx, axis)
    return cumsum(heights * width, axis=at)


# ---- bins


def _searched(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    drawn = [rng.integers(0, 9, shape).astype(kind) for shape in shapes]
    drawn[1].sort()
    return drawn


@composite(
    lambda np, x, edges, right=False, **_: np.searchsorted(edges, x, "right" if right else "left"),
    Samples(cases=(
        ((5,), (7,), {}), ((3, 4), (8,), {"right": True}), ((), (3,), {"out_int32": True}),
    ), draw=_searched), grad=AN_INDEX,
)  # fmt: skip
def bucketize(x: Any, boundaries: Any, /, right: bool = False, out_int32: bool = False) -> Any:
    """The bin of each element between boundaries in order: those below it; right: those up to it.

    out_int32: as int32, else int64.
    """
    found = searchsorted(boundaries, x, side="right" if right else "left")
    return cast(found, int32) if out_int32 else found


def _spread(x: Any, low: Any, high: Any, by: float) -> tuple[Any, Any]:
    """Ends of the range of bins; a range of no length is made longer on both sides."""
    if low is None:
        low, high = (min_(x), max_(x)) if math.prod(x.shape) else (sum_(x), sum_(x) + 1.0)
        same = eq(low, high)
        return where(same, low - by, low), where(same, high + by, high)
    return (low - by, high + by) if low == high else (float(low), float(high))


def _histc(np: Any, x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:  # noqa: A002
    ends = (x.min(), x.max()) if min == max == 0 else (min, max)
    ends = (ends[0] - 1, ends[1] + 1) if ends[0] == ends[1] else ends
    return np.histogram(x, bins, ends)[0].astype(x.dtype)


def _placed(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Elements away from the edges of bins: there rounding decides."""
    size = math.prod(shapes[0])
    x = (rng.integers(0, 16, size) + 0.25) / 4
    x[:2] = (0.0, 4.0)[:size]
    weights = [rng.integers(1, 5, shape).astype(kind) for shape in shapes[1:]]
    return [x.astype(kind).reshape(shapes[0]), *weights]


@composite(
    _histc, Samples(cases=(
        ((40,), {"bins": 8}), ((5, 6), {"bins": 4, "min": 1, "max": 3}), ((3,), {"bins": 2}),
    ), draw=_placed), grad=JUMPS,
)  # fmt: skip
def histc(x: Any, /, bins: int = 100, min: float = 0, max: float = 0) -> Any:  # noqa: A002
    """How many elements lie in each of so many equal bins from min to max; others are left out.

    Of min = max = 0, those of the least and the greatest element. The last bin has its end; counts
    are in the dtype of x.
    """
    require("histc", [x.dtype], NUMBERS)
    if bins < 1 or min > max:
        facts = {"bins": bins, "min": min, "max": max}
        raise ArgumentError(explain("histc", "at least one bin, min up to max", **facts))
    flat = as_float(x).reshape((math.prod(x.shape),))
    flat = flat if flat.dtype is flat.dtype.compute else cast(flat, flat.dtype.compute)
    low, high = _spread(flat, None if min == max == 0 else min, max, 1.0)
    inside = (flat >= low) & (flat <= high)
    place = cast(floor((where(inside, flat, low) - low) / (high - low) * bins), int64)
    counts = _counted(x, minimum(place, bins - 1), inside, cast(inside, int64), bins)
    return cast(counts, x.dtype)


def _counted(x: Any, place: Any, inside: Any, each: Any, bins: int) -> Any:
    """The sums of weights in each bin; what is outside goes to one more, which is dropped."""
    zeros = cast(counting(x, bins + 1) * 0, each.dtype)
    return cut(scatter_add(zeros, where(inside, place, bins), each, axis=0), 0, 0, bins)


class Histogram(NamedTuple):
    """How much lies in each bin, and the edges of the bins."""

    hist: Any
    bin_edges: Any


def _histogram(np: Any, x: Any, bins: Any = 100, **options: Any) -> Any:
    counts, edges = np.histogram(x, bins, **options)
    return [counts.astype(np.float64), edges]


@composite(
    _histogram, Samples(cases=(
        ((40,), {"bins": 8}), ((5, 6), {"bins": 4, "range": (1, 3)}),
        ((5, 6), {"bins": 4, "density": True}), ((1,), {"bins": 3}),
        ((9,), {"bins": (-0.5, 1.0, 1.5, 4.5)}),
    ), draw=_placed), inline=True,
)  # fmt: skip
def histogram(
    x: Any,
    /,
    bins: Any = 100,
    range: tuple[float, float] | None = None,  # noqa: A002 - as elsewhere
    density: bool = False,
    weight: Any = None,
) -> Histogram:
    """(hist, bin_edges): how many elements, or how much weight, lies in each bin.

    bins: how many equal ones, from the least element to the greatest or over a range; or the edges,
    as a tensor or a list. The last bin has its end, what lies outside is left out. density: the
    area of all bins together is 1.
    """
    flat = as_float(x).reshape((math.prod(x.shape),))
    edges = _edges(flat, bins, range)
    count = edges.shape[0] - 1
    if count < 1:
        raise ArgumentError(explain("histogram", "at least one bin", bins=bins))
    ends = cut(edges, 0, 0, 1), cut(edges, 0, count, count + 1)
    inside = (flat >= ends[0]) & (flat <= ends[1])
    place = minimum(searchsorted(edges, flat, side="right") - 1, count - 1)
    each = cast(inside, flat.dtype)
    if weight is not None:
        if weight.shape != x.shape:
            facts = {"shape": x.shape, "weight": weight.shape}
            raise ShapeError(explain("histogram", "one weight for each element", **facts))
        each = cast(weight, flat.dtype).reshape(flat.shape)
    hist = _counted(x, place, inside, each, count)
    if density:
        hist = hist / (sum_(hist) * diff(edges))
    return Histogram(hist, edges)


def _edges(x: Any, bins: Any, ends: Any) -> Any:
    if hasattr(bins, "_apply"):
        return cast(bins, x.dtype)
    if isinstance(bins, tuple | list):
        line = cast(counting(x, len(bins)), x.dtype)
        for k, edge in enumerate(bins):
            line = where(eq(counting(x, len(bins)), k), float(edge), line)
        return line
    least, greatest = ends or (None, None)
    low, high = _spread(x, least, greatest, by=0.5)
    line = cast(counting(x, max(0, bins) + 1), x.dtype)
    return where(eq(line, bins), high, low + line * ((high - low) / max(bins, 1)))
