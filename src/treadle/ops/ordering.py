"""Rows made of sorting and running totals: order statistics, searches, differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from treadle.base.dtypes import DType, bool_, int32, int64
from treadle.base.dtypes import dtype as dtype_of
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axes_in, axis_in, drop_axes
from treadle.ops.bounds import KNOWN
from treadle.ops.composite import Axes, as_float, composite, take
from treadle.ops.contract import gather
from treadle.ops.defs import AN_INDEX, Op, Samples
from treadle.ops.elementwise import cast, eq, floor, minimum, ne, round_, where
from treadle.ops.largest import best_indices
from treadle.ops.movement import concat, cut, pad
from treadle.ops.reduce import sum_
from treadle.ops.scan import CASES, Placed, argsort, cumprod, cumsum

ORDER_CASES: tuple[tuple[Any, ...], ...] = (
    ((5,), {}), ((3, 5), {}), ((3, 70), {"descending": True}), ((70, 3), {"axis": 0}),
    ((0, 3), {"axis": 0}), ((3, 0), {"axis": 0}),
)  # fmt: skip
STATISTIC_CASES: tuple[tuple[Any, ...], ...] = (
    ((5,), {}), ((3, 4), {}), ((3, 4), {"axis": 1}), ((3, 4, 5), {"axis": (0, 2)}),
    ((70, 3), {"axis": 0, "keepdims": True}),
)  # fmt: skip


# ---- sorting


def _sorted(np: Any, x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return np.flip(np.sort(x, axis), axis) if descending else np.sort(x, axis)


@composite(_sorted, Samples(cases=ORDER_CASES))
def sort(x: Any, /, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements in order along an axis, NaN counting as the largest; equal ones stay in order.

    >>> import treadle as td
    >>> td.sort(td.tensor([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    order = argsort(x, axis=axis, descending=descending)
    return gather(x, order, axis=axis) if x.ndim else x


def _largest(np: Any, x: Any, k: int, axis: int = -1, largest: bool = True) -> Any:
    index = argsort.reference(np, x, axis, largest)  # type: ignore[misc]
    index = np.take(index, np.arange(k), axis)
    return np.take_along_axis(x, index, axis), index


@composite(
    _largest,
    Samples(cases=(
        ((5,), {"k": 2}), ((3, 70), {"k": 5, "largest": False}), ((9, 3), {"k": 1, "axis": 0}),
        ((2, 40), {"k": 12}), ((3, 4), {"k": 4, "axis": 1}), ((3, 4), {"k": 0}),
    )),
    inline=True,
)  # fmt: skip
def topk(x: Any, /, k: int, axis: int = -1, largest: bool = True) -> tuple[Any, Any]:
    """(values, indices) of the k largest or smallest elements along an axis, in order."""
    if not x.ndim and k == 1:
        found, index = topk(x.reshape(1), 1, axis, largest)
        return found.reshape(()), index.reshape(())
    axis = axis_in("topk", axis, x.ndim)
    if not isinstance(k, int) or not 0 <= k <= x.shape[axis]:
        hint = f"a number from 0 to {x.shape[axis]}, the size of axis {axis}"
        raise ArgumentError(explain("topk", "there are not so many elements", hint, k=k))
    index = best_indices(x, k, axis, largest)
    return gather(x, index, axis=axis), index


# ---- order statistics


INTERPOLATIONS: dict[str, Any] = {
    "linear": lambda part, at: part, "lower": lambda part, at: 0.0, "higher": lambda part, at: 1.0,
    "nearest": lambda part, at: round(at) - math.floor(at), "midpoint": lambda part, at: 0.5,
}  # fmt: skip
"""Where between two elements, from 0 to 1, a quantile lies at a part of the way, or a place."""


def _lines(
    name: str, x: Any, axis: Axes, q: Sequence[float], interpolation: str = "linear"
) -> list[Any]:
    """For each q the elements at that fraction of the sorted lines, in shape (lines,)."""
    ordered, _ = _ordered(name, x, axis, False)
    lines, size = ordered.shape
    last = cut(ordered, 1, size - 1, size)
    found = []
    for fraction in q:
        at = fraction * (size - 1)
        low = min(math.floor(at), size - 1)
        first, part = cut(ordered, 1, low, low + 1), at - low
        part = INTERPOLATIONS[interpolation](part, at) if part else 0.0
        if part == 1.0:
            first = cut(ordered, 1, low + 1, low + 2)
        elif part:
            second = cut(ordered, 1, low + 1, low + 2)
            between = first + (second - first) * part
            first = where(eq(first, second), first, between)  # of two infinities, too
        found.append(where(ne(last, last), last, first).reshape((lines,)))  # NaN is last
    return found


def _median(
    np: Any, x: Any, axis: Any = None, keepdims: bool = False, return_indices: bool = False
) -> Any:
    if not return_indices:
        return np.median(x, axis, keepdims=keepdims)
    place = np.take(np.argsort(x, axis, kind="stable"), [(x.shape[axis] - 1) // 2], axis)
    found = [np.take_along_axis(x, place, axis), place]
    return found if keepdims else [np.squeeze(part, axis) for part in found]


@composite(
    _median,
    Samples(cases=(
        *STATISTIC_CASES, *(((6, 5), {"axis": k, "return_indices": True}) for k in (0, 1)),
        ((4, 3), {"axis": 0, "keepdims": True, "return_indices": True}),
    )), inline=True,
)  # fmt: skip
def median(
    x: Any, /, axis: Axes = None, keepdims: bool = False, return_indices: bool = False
) -> Any:
    """The middle element along axes, or the mean of the two in the middle; NaN if there is one.

    return_indices: (values, indices) along one axis. An index names one element: of two in the
    middle the lower is taken, of several NaN the first.
    """
    if return_indices:
        return _middle(x, axis, keepdims)
    shape = drop_axes(x.shape, axes_in("median", axis, x.ndim), keepdims)
    return _lines("median", x, axis, (0.5,))[0].reshape(shape)


def _middle(x: Any, axis: Axes, keepdims: bool) -> Placed:
    if axis is None or not x.ndim:
        found = _middle(x.reshape(-1), axis or 0, False)
        return Placed(*(y.reshape((1,) * x.ndim) if keepdims else y for y in found))
    at = axis_in("median", axis, x.ndim)  # type: ignore[arg-type]
    size = x.shape[at]
    if not size:
        raise ShapeError(explain("median", "no elements have no such value", shape=x.shape))
    odd = sum_(cast(ne(x, x), int64), axis=at, keepdims=True)
    place = where(eq(odd, 0), (size - 1) // 2, size - odd)
    index = gather(argsort(x, axis=at), place, axis=at)
    shape = drop_axes(x.shape, (at,), keepdims)
    return Placed(gather(x, index, axis=at).reshape(shape), index.reshape(shape))


@composite(
    lambda np, x, q, axis=None, keepdims=False, interpolation="linear": np.quantile(
        x, q, axis, keepdims=keepdims, method=interpolation
    ),
    Samples(cases=(
        *((shape, {"q": q} | options)
          for q in (0.3, (0.0, 0.25, 1.0)) for shape, options in STATISTIC_CASES),
        *(((7, 3), {"q": (0.1, 0.5, 0.55, 0.9, 1.0), "axis": 0, "interpolation": kind})
          for kind in INTERPOLATIONS),
    )), inline=True,
)  # fmt: skip
def quantile(
    x: Any, /, q: Any, axis: Axes = None, keepdims: bool = False, interpolation: str = "linear"
) -> Any:
    """The value below which a fraction q of the elements along axes lies; NaN if there is one.

    q is a number, several, or a tensor of them: several make a new first axis. Between two elements
    it is interpolated: linear, lower, higher, nearest (of two as near, the even one), midpoint.
    """
    if interpolation not in INTERPOLATIONS:
        hint = f"one of {', '.join(INTERPOLATIONS)}"
        raise ArgumentError(explain("quantile", "no such interpolation", hint, got=interpolation))
    if hasattr(q, "_apply"):
        return _at_fractions(x, q, axis, keepdims, interpolation)
    several = isinstance(q, Sequence)
    fractions = tuple(q) if isinstance(q, Sequence) else (q,)
    if not all(isinstance(f, int | float) and 0 <= f <= 1 for f in fractions):
        raise ArgumentError(explain("quantile", "fractions are numbers from 0 to 1", q=q))
    shape = drop_axes(x.shape, axes_in("quantile", axis, x.ndim), keepdims)
    if several and not fractions:
        raise ArgumentError(explain("quantile", "which fraction?", "q is empty"))
    lines = _lines("quantile", x, axis, fractions, interpolation)
    found = [line.reshape((1, *shape)) for line in lines]
    return concat(found, axis=0) if several else found[0].reshape(shape)


BETWEEN: dict[str, Any] = {
    "linear": lambda part, at: part,
    "lower": lambda part, at: part * 0,
    "higher": lambda part, at: cast(ne(part, 0), part.dtype),
    "nearest": lambda part, at: round_(at) - floor(at),
    "midpoint": lambda part, at: cast(ne(part, 0), part.dtype) * 0.5,
}
"""INTERPOLATIONS of tensors."""


def _at_fractions(x: Any, q: Any, axis: Axes, keepdims: bool, interpolation: str) -> Any:
    """Quantiles at fractions that are computed: in the precision of q."""
    known = KNOWN.values(q)
    if q.ndim > 1 or (
        known is not None and known.size and not 0 <= known.min() <= known.max() <= 1
    ):
        hint = "one fraction, or one axis of them, from 0 to 1"
        raise ArgumentError(explain("quantile", "cannot be that", hint, q=q.shape))
    ordered, shape = _ordered("quantile", x, axis, keepdims)
    size = ordered.shape[1]
    at = as_float(q).reshape(-1) * (size - 1)
    low = cast(floor(at), int64)
    first, second = (
        take(ordered, minimum(place, size - 1), axis=1) for place in (low, low + 1)
    )  # fmt: skip
    part = cast(BETWEEN[interpolation](at - floor(at), at), ordered.dtype)
    between = where(eq(first, second) | eq(part, 0), first, first + (second - first) * part)
    last = cut(ordered, 1, size - 1, size)
    found = where(ne(last, last), last, where(eq(part, 1), second, between))
    return found.permute(1, 0).reshape((*q.shape, *shape))


def _ordered(name: str, x: Any, axis: Axes, keepdims: bool) -> tuple[Any, Any]:
    """x as sorted lines of what lies along axes, and the shape of one number for each."""
    axes, x = axes_in(name, axis, x.ndim), as_float(x)
    kept = [k for k in range(x.ndim) if k not in axes]
    size, lines = (math.prod(x.shape[k] for k in part) for part in (axes, kept))
    if not size:
        raise ShapeError(explain(name, "no elements have no such value", shape=x.shape, axis=axis))
    ordered = sort(x.permute((*kept, *axes)).reshape((lines, size)), axis=1)
    return ordered, drop_axes(x.shape, axes, keepdims)


# ---- searching


def _searched(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    drawn = [rng.integers(0, 9, shape).astype(kind) for shape in shapes]
    drawn[0].sort()
    return drawn


def _search(np: Any, ordered: Any, values: Any, side: str = "left", **_: Any) -> Any:
    if ordered.ndim == 1:
        return np.searchsorted(ordered, values, side)
    found = np.zeros(values.shape, np.int64)
    for line in np.ndindex(values.shape[:-1]):
        found[line] = np.searchsorted(ordered[line], values[line], side)
    return found


@composite(
    _search,
    Samples(cases=(
        ((7,), (5,), {}), ((8,), (3, 4), {"side": "right"}), ((0,), (3,), {}), ((1,), (), {}),
        ((100,), (70,), {"out_int32": True}), ((3, 9), (3, 5), {}),
        ((2, 3, 4), (2, 3, 1), {"side": "right"}),
    ), draw=_searched),
    grad=AN_INDEX,
)  # fmt: skip
def searchsorted(
    sorted: Any,  # noqa: A002
    values: Any,
    sorter: Any = None,
    /,
    side: str = "left",
    out_int32: bool = False,
) -> Any:
    """Where values would stand in a sorted tensor: before equal elements or after.

    One line is searched for all values, several each for those of its place in the other axes.
    sorter: indices that sort the tensor, such as argsort(x), where it is not. out_int32: as int32.
    """
    if side not in ("left", "right"):
        raise ArgumentError(explain("searchsorted", "side is 'left' or 'right'", side=side))
    lines = sorted.shape[:-1]
    if not sorted.ndim or (lines and lines != values.shape[:-1]):
        hint = "one line in ascending order, or as many as there are lines of values"
        facts = {"shape": sorted.shape, "values": values.shape}
        raise ShapeError(explain("searchsorted", "the lines do not fit", hint, **facts))
    read = partial(gather, axis=-1) if lines else partial(take, axis=0)
    sorted = sorted if sorter is None else read(sorted, sorter)  # noqa: A001
    size = sorted.shape[-1]
    position = cast(values.zeros_like(), int64)
    step = 1 << size.bit_length() >> 1
    while step:
        further = position + step
        element = read(sorted, minimum(further, size) - 1)
        before = element < values if side == "left" else element <= values
        if values.dtype.is_float:  # NaN is the largest
            odd = ne(values, values)
            before = before | (odd & eq(element, element) if side == "left" else odd)
        position = where((further <= size) & before, further, position)
        step >>= 1
    return cast(position, int32) if out_int32 else position


# ---- running totals and differences


def _cumulative(
    scan: Op, x: Any, axis: int | None, dtype: DType | None, initial: int | None
) -> Any:
    x = x if dtype is None else cast(x, dtype_of(dtype))
    total = scan(x, axis=axis)
    if dtype is not None:
        total = cast(total, dtype_of(dtype))
    if initial is None:
        return total
    edges = [(0, 0)] * x.ndim
    edges[axis if axis is not None else 0] = (1, 0)
    return pad(total, edges, initial)


def _with_initial(scan: str, value: int) -> Any:
    def reference(
        np: Any, x: Any, axis: int = 0, dtype: Any = None, include_initial: bool = False
    ) -> Any:
        total = getattr(np, scan)(x, axis)
        return np.insert(total, 0, value, axis) if include_initial else total

    return reference


CUMULATIVE_CASES = (*CASES[:4], *((s, o | {"include_initial": True}) for s, o in CASES[:6]))


@composite(_with_initial("cumsum", 0), Samples(cases=CUMULATIVE_CASES))
def cumulative_sum(
    x: Any, /, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Sums of the elements so far along an axis; include_initial: with 0 before the first."""
    return _cumulative(cumsum, x, axis, dtype, 0 if include_initial else None)


@composite(_with_initial("cumprod", 1), Samples(cases=CUMULATIVE_CASES))
def cumulative_prod(
    x: Any, /, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Products of the elements so far along an axis; include_initial: with 1 before the first."""
    return _cumulative(cumprod, x, axis, dtype, 1 if include_initial else None)


@composite(
    lambda np, x, before=None, after=None, axis=-1, n=1: np.diff(
        x if n == 0 else np.concatenate([y for y in (before, x, after) if y is not None], axis),
        n, axis,
    ),
    Samples(cases=(
        ((5,), {}), ((3, 5), {"axis": 0}), ((3, 5), {"n": 2}), ((3, 5), {"n": 0}), ((1, 3), {}),
        ((2, 3), {"n": 4}), ((3, 5), (3, 1), (3, 2), {"n": 2}), ((3, 5), (3, 1), (3, 2), {"n": 0}),
    )),
)  # fmt: skip
def diff(x: Any, prepend: Any = None, append: Any = None, /, axis: int = -1, n: int = 1) -> Any:
    """Each element less the one before it along an axis, n times; for bool whether they differ.

    prepend, append: tensors that are joined to x before. 0 times is x itself, without them.
    """
    axis = axis_in("diff", axis, x.ndim)
    if not isinstance(n, int) or n < 0:
        raise ArgumentError(explain("diff", "n is a number of times", n=n))
    parts = [part for part in (prepend, x, append) if n and part is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        size = x.shape[axis]
        late, early = cut(x, axis, min(1, size), size), cut(x, axis, 0, max(0, size - 1))
        x = ne(late, early) if x.dtype is bool_ else late - early
    return x
