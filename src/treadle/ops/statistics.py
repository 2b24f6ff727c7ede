"""Rows of statistics along axes that look past NaN, give two at once, or say where one stands."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from treadle.base.dtypes import int64
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axes_in, axis_in, drop_axes
from treadle.ops.bounds import KNOWN
from treadle.ops.composite import Axes, as_float, composite, mean, precisely, var
from treadle.ops.contract import gather
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import cast, ceil, eq, floor, maximum, minimum, ne, round_, where
from treadle.ops.largest import best_indices
from treadle.ops.movement import concat, cut, pad
from treadle.ops.ordering import INTERPOLATIONS, STATISTIC_CASES, sort
from treadle.ops.predicates import isnan
from treadle.ops.reduce import CASES, max_, min_, sum_
from treadle.ops.scan import argsort, cummax
from treadle.ops.totals import std

# ---- past NaN


def _holed(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Floats of which some are NaN, none twice."""
    size = math.prod(shapes[0])
    x = (rng.permutation(size) / max(size, 1) * 8 - 4).astype(kind)
    if x.dtype.kind not in "biu" and size > 3 and kind != "float64":
        x[:: max(3, size // 3)] = math.nan
    return [x.reshape(shapes[0])]


def _numbers(x: Any, other: float) -> Any:
    """x with a number in place of NaN."""
    return where(isnan(x), other, x) if x.dtype.is_inexact else x


@composite(
    lambda np, x, axis=None, keepdims=False: np.nansum(x, axis, keepdims=keepdims),
    Samples(cases=(*CASES, ((0, 3), {"axis": 0})), draw=_holed),
)
def nansum(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """Sum of the elements along axes that are not NaN."""
    return sum_(_numbers(x, 0.0), axis=axis, keepdims=keepdims)


def _mean_of_numbers(np: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """NumPy's own warns where there are none."""
    with np.errstate(all="ignore"):
        total = np.nansum(x, axis, keepdims=keepdims)
        return total / np.sum(~np.isnan(x), axis, keepdims=keepdims)


@composite(_mean_of_numbers, Samples(cases=CASES, draw=_holed))
def nanmean(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """Mean of the elements along axes that are not NaN; NaN if there are none."""

    def define(x: Any) -> Any:
        count = sum_(cast(eq(x, x), x.dtype), axis=axis, keepdims=keepdims)
        return nansum(x, axis=axis, keepdims=keepdims) / count

    return precisely(define, x)


def _between(part: Any, at: Any, interpolation: str) -> Any:
    """Where between two elements, from 0 to 1, a quantile lies."""
    if interpolation == "nearest":
        return round_(at) - floor(at)
    if interpolation == "midpoint":
        return where(eq(part, 0.0), 0.0, 0.5)
    return {"linear": part, "lower": floor(part), "higher": ceil(part)}[interpolation]


def _quantiles(
    name: str, x: Any, axis: Axes, q: tuple[Any, ...], interpolation: str = "linear"
) -> list[Any]:
    """For each q the value at that fraction of what is not NaN in the lines, in shape (lines,)."""
    axes, x = axes_in(name, axis, x.ndim), as_float(x)
    kept = [k for k in range(x.ndim) if k not in axes]
    size, lines = (math.prod(x.shape[k] for k in part) for part in (axes, kept))
    if not size:
        raise ShapeError(explain(name, "no elements have no such value", shape=x.shape, axis=axis))
    ordered = sort(x.permute(*kept, *axes).reshape((lines, size)), axis=1)
    known = sum_(cast(eq(ordered, ordered), int64), axis=1, keepdims=True)
    last, found = maximum(known - 1, 0), []
    for fraction in q:
        at = cast(last, "float64") * fraction
        low = cast(floor(at), int64)
        first = gather(ordered, low, axis=1)
        second = gather(ordered, minimum(low + 1, last), axis=1)
        part = cast(_between(at - floor(at), at, interpolation), x.dtype)
        between = first + (second - first) * part
        exact = where(eq(part, 1.0), second, between)
        found.append(where(eq(part, 0.0) | eq(first, second), first, exact).reshape((lines,)))
    return found


@composite(
    lambda np, x, axis=None, keepdims=False: np.nanmedian(x, axis, keepdims=keepdims),
    Samples(cases=STATISTIC_CASES, draw=_holed),
)
def nanmedian(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """The middle of the elements along axes that are not NaN, or the mean of the two there."""
    shape = drop_axes(x.shape, axes_in("nanmedian", axis, x.ndim), keepdims)
    return _quantiles("nanmedian", x, axis, (0.5,))[0].reshape(shape)


def _nanquantile(np: Any, x: Any, q: Any, axis: Any = None, keepdims: bool = False,
                 interpolation: str = "linear") -> Any:  # fmt: skip
    return np.nanquantile(x, q, axis, keepdims=keepdims, method=interpolation)


@composite(
    _nanquantile, Samples(cases=(
        *((shape, {"q": q} | options)
          for q in (0.3, (0.0, 0.25, 1.0)) for shape, options in STATISTIC_CASES[1:4]),
        *(((7, 3), {"q": (0.1, 0.5, 0.9), "axis": 0, "interpolation": kind})
          for kind in INTERPOLATIONS),
    ), draw=_holed), inline=True,
)  # fmt: skip
def nanquantile(
    x: Any, /, q: Any, axis: Axes = None, keepdims: bool = False, interpolation: str = "linear"
) -> Any:
    """quantile of the elements along axes that are not NaN; NaN if there are none."""
    if interpolation not in INTERPOLATIONS:
        hint = f"one of {', '.join(INTERPOLATIONS)}"
        wrong = explain("nanquantile", "no such interpolation", hint, got=interpolation)
        raise ArgumentError(wrong)
    shape = drop_axes(x.shape, axes_in("nanquantile", axis, x.ndim), keepdims)
    fractions, outer = _fractions(q)
    lines = _quantiles("nanquantile", x, axis, fractions, interpolation)
    found = [line.reshape((1, *shape)) for line in lines]
    return concat(found, axis=0).reshape((*outer, *shape))


def _fractions(q: Any) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Fractions one by one, numbers or parts of a tensor of them, and the shape of all."""
    if not hasattr(q, "_apply"):
        several = isinstance(q, tuple | list)
        found = tuple(q) if several else (q,)
        if found and all(isinstance(f, int | float) and 0 <= f <= 1 for f in found):
            return found, (len(found),) if several else ()
    elif q.ndim < 2 and q.shape != (0,):
        known, line = KNOWN.values(q), cast(q, "float64").reshape((-1,))
        if known is None or 0 <= known.min() <= known.max() <= 1:
            return tuple(cut(line, 0, k, k + 1) for k in range(line.shape[0])), q.shape
    raise ArgumentError(explain("nanquantile", "fractions are numbers from 0 to 1", q=q))


# ---- two at once


class Extremes(NamedTuple):
    """The smallest and the largest element."""

    min: Any
    max: Any


@composite(
    lambda np, x, axis=None, keepdims=False: [
        extreme(x, axis, keepdims=keepdims) for extreme in (np.min, np.max)
    ],
    Samples(cases=CASES[:6], smooth=False), inline=True,
)  # fmt: skip
def aminmax(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Extremes:
    """(smallest, largest) element along axes; NaN if there is one."""
    low, high = (op(x, axis=axis, keepdims=keepdims) for op in (min_, max_))
    return Extremes(low, high)


def _and_mean(spread: Op, name: str, word: str) -> Op:
    def both(x: Any, /, axis: Axes = None, keepdims: bool = False, correction: float = 1) -> Any:
        wide = spread(x, axis=axis, keepdims=keepdims, correction=correction)
        return wide, mean(x, axis=axis, keepdims=keepdims)

    def reference(
        np: Any, x: Any, axis: Any = None, keepdims: bool = False, correction: float = 1
    ) -> Any:
        apart = getattr(np, spread.name)(x, axis, ddof=correction, keepdims=keepdims)
        return [apart, np.mean(x, axis, keepdims=keepdims)]

    both.__name__ = name
    both.__doc__ = f"""({word}, mean) along axes; squares are divided by (count - correction).

    The correction is 1, as in PyTorch, which alone has this function; that of {spread.name} is 0.
    """
    both.__annotations__["return"] = "tuple[Any, Any]"
    samples = Samples(cases=(
        ((3, 5), {}), ((3, 5), {"axis": 1, "correction": 0}),
        ((2, 3, 4), {"axis": (0, 2), "keepdims": True}),
    ))  # fmt: skip
    return composite(reference, samples, inline=True)(both)


var_mean = _and_mean(var, "var_mean", "variance")
std_mean = _and_mean(std, "std_mean", "standard deviation")


# ---- with the place


class Found(NamedTuple):
    """Elements along an axis, and where they stand."""

    values: Any
    indices: Any


def _taken(x: Any, place: Any, axis: int, keepdims: bool) -> Found:
    values = gather(x, place, axis=axis)
    if keepdims:
        return Found(values, place)
    shape = drop_axes(x.shape, (axis,), False)
    return Found(values.reshape(shape), place.reshape(shape))


def _kth(np: Any, x: Any, k: int, axis: int = -1, keepdims: bool = False) -> Any:
    place = np.take(np.argsort(x, axis, kind="stable"), [k - 1], axis)
    found = [np.take_along_axis(x, place, axis), place]
    return found if keepdims else [np.squeeze(y, axis) for y in found]


@composite(
    _kth, Samples(cases=(
        ((5,), {"k": 2}), ((3, 70), {"k": 70}), ((9, 3), {"k": 1, "axis": 0, "keepdims": True}),
    )), inline=True,
)  # fmt: skip
def kthvalue(x: Any, /, k: int, axis: int = -1, keepdims: bool = False) -> Found:
    """(values, indices) of the k-th smallest element along an axis, counted from 1."""
    if not x.ndim:
        return Found(*(y.reshape(()) for y in kthvalue(x.reshape((1,)), k, axis)))
    at = axis_in("kthvalue", axis, x.ndim)
    if not 1 <= k <= x.shape[at]:
        facts = {"k": k, "size": x.shape[at]}
        raise ArgumentError(explain("kthvalue", "there is no such element", **facts))
    return _taken(x, cut(best_indices(x, k, at, False), at, k - 1, k), at, keepdims)


def _modes(np: Any, x: Any, axis: int = -1, keepdims: bool = False) -> Any:
    lines = np.moveaxis(x, axis, -1)
    place = np.zeros((*lines.shape[:-1], 1), np.int64)
    for line in np.ndindex(lines.shape[:-1]):
        values, counts = np.unique(lines[line], return_counts=True)
        place[line] = np.nonzero(lines[line] == values[np.argmax(counts)])[0][-1]
    found = [np.moveaxis(y, -1, axis) for y in (np.take_along_axis(lines, place, -1), place)]
    return found if keepdims else [np.squeeze(y, axis) for y in found]


def _repeated(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Few values often; in float64, whose slopes are checked, none twice: ties are jumps."""
    size = math.prod(shapes[0])
    few = rng.permutation(size) if kind == "float64" else rng.integers(0, 3, size)
    return [few.astype(kind).reshape(shapes[0])]


@composite(
    _modes, Samples(cases=(
        ((7,), {}), ((3, 40), {}), ((9, 3), {"axis": 0, "keepdims": True}), ((2, 1), {}),
    ), draw=_repeated), inline=True,
)  # fmt: skip
def mode(x: Any, /, axis: int = -1, keepdims: bool = False) -> Found:
    """(values, indices) of the most frequent element along an axis: the least, where it last is."""
    if not x.ndim:
        return Found(*(y.reshape(()) for y in mode(x.reshape((1,)), axis)))
    at = axis_in("mode", axis, x.ndim)
    size = x.shape[at]
    if not size:
        raise ShapeError(explain("mode", "no elements have no such value", shape=x.shape))
    order = argsort(x, axis=at)
    ordered = gather(x, order, axis=at)
    place = x.iota_like(at)
    late, early = cut(ordered, at, 1, size), cut(ordered, at, 0, size - 1)
    starts = where(ne(late, early), cut(place, at, 1, size), 0)
    edges = [(1, 0) if k == at else (0, 0) for k in range(x.ndim)]
    length = place - cummax(pad(starts, edges), axis=at)  # of the run so far, less 1
    most = max_(length, axis=at, keepdims=True)
    last = min_(where(eq(length, most), place, size), axis=at, keepdims=True)
    return _taken(x, gather(order, last, axis=at), at, keepdims)


@composite(
    lambda np, x: np.sort(x, 0),
    Samples(cases=(((5,), {}), ((4, 3), {}), ((2, 3, 2), {}))),
    inline=True,
)
def msort(x: Any, /) -> Any:
    """The elements in order along the first axis."""
    return sort(x, 0)
