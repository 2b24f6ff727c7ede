"""Rows made of sorting and running totals: order statistics, searches, counts, differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from treadle.base.dtypes import INTEGERS, DType, bool_, float32, float64, int32, int64
from treadle.base.dtypes import dtype as dtype_of
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axes_in, axis_in, drop_axes
from treadle.ops.composite import Axes, as_float, composite, take
from treadle.ops.contract import gather, scatter_add
from treadle.ops.defs import AN_INDEX, ON_INTEGERS, Op, Samples
from treadle.ops.elementwise import bitcast, cast, eq, minimum, ne, where
from treadle.ops.movement import concat, cut, pad
from treadle.ops.predicates import bitwise_not
from treadle.ops.reduce import max_, min_
from treadle.ops.rules import require
from treadle.ops.scan import CASES, argsort, cumprod, cumsum

FEW = 8  # of this many largest elements each is looked for by itself

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
    return gather(x, argsort(x, axis=axis, descending=descending), axis=axis)


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
    axis = axis_in("topk", axis, x.ndim)
    if not isinstance(k, int) or not 0 <= k <= x.shape[axis]:
        hint = f"a number from 0 to {x.shape[axis]}, the size of axis {axis}"
        raise ArgumentError(explain("topk", "there are not so many elements", hint, k=k))
    if 0 < k <= FEW:
        index = _best(x, k, axis, largest)
    else:
        index = cut(argsort(x, axis=axis, descending=largest), axis, 0, k)
    return gather(x, index, axis=axis), index


def _best(x: Any, k: int, axis: int, largest: bool) -> Any:
    """Indices of the k best, one after the other: a few passes over what one kernel has at hand."""
    rank = _rank(x) if largest else bitwise_not(_rank(x))
    place = x.iota_like(axis)
    waiting, found = eq(place, place), []
    for _ in range(k):
        best = max_(where(waiting, rank, rank.dtype.least), axis=axis, keepdims=True)
        hit = waiting & eq(rank, best)
        found.append(min_(where(hit, place, x.shape[axis]), axis=axis, keepdims=True))
        waiting = waiting & ne(place, found[-1])
    return concat(found, axis=axis)


def _rank(x: Any) -> Any:
    """Integers in the order of the elements: NaN is the largest, both zeros are equal."""
    if not x.dtype.is_float:
        return cast(x, int64) if x.dtype is bool_ else x
    x = x if x.dtype is float64 else cast(x, float32)
    bits = bitcast(x + 0.0, int64 if x.dtype is float64 else int32)
    order = where(bits < 0, bits ^ bits.dtype.greatest, bits)
    return where(ne(x, x), order.dtype.greatest, order)


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
    axes, x = axes_in(name, axis, x.ndim), as_float(x)
    kept = [k for k in range(x.ndim) if k not in axes]
    size = math.prod(x.shape[k] for k in axes)
    if not size:
        raise ShapeError(explain(name, "no elements have no such value", shape=x.shape, axis=axis))
    lines = math.prod(x.shape[k] for k in kept)
    ordered = sort(x.permute(*kept, *axes).reshape((lines, size)), axis=1)
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


@composite(
    lambda np, x, axis=None, keepdims=False: np.median(x, axis, keepdims=keepdims),
    Samples(cases=STATISTIC_CASES),
)
def median(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """The middle element along axes, or the mean of the two in the middle; NaN if there is one."""
    shape = drop_axes(x.shape, axes_in("median", axis, x.ndim), keepdims)
    return _lines("median", x, axis, (0.5,))[0].reshape(shape)


@composite(
    lambda np, x, q, axis=None, keepdims=False, interpolation="linear": np.quantile(
        x, q, axis, keepdims=keepdims, method=interpolation
    ),
    Samples(cases=(
        *((shape, {"q": q} | options)
          for q in (0.3, (0.0, 0.25, 1.0)) for shape, options in STATISTIC_CASES),
        *(((7, 3), {"q": (0.1, 0.5, 0.55, 0.9, 1.0), "axis": 0, "interpolation": kind})
          for kind in INTERPOLATIONS),
    )),
)  # fmt: skip
def quantile(
    x: Any, /, q: float | Sequence[float], axis: Axes = None, keepdims: bool = False,
    interpolation: str = "linear",
) -> Any:  # fmt: skip
    """The value below which a fraction q of the elements along axes lies; NaN if there is one.

    Several q make a new first axis. Between two elements it is interpolated: linear, lower, higher,
    nearest (of two as near, the even one), midpoint.
    """
    if interpolation not in INTERPOLATIONS:
        hint = f"one of {', '.join(INTERPOLATIONS)}"
        raise ArgumentError(explain("quantile", "no such interpolation", hint, got=interpolation))
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


# ---- searching and counting


def _searched(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    drawn = [rng.integers(0, 9, shape).astype(kind) for shape in shapes]
    drawn[0].sort()
    return drawn


@composite(
    lambda np, sorted_, values, side="left", sorter=None: np.searchsorted(
        sorted_, values, side, sorter
    ),
    Samples(cases=(
        ((7,), (5,), {}), ((8,), (3, 4), {"side": "right"}), ((0,), (3,), {}), ((1,), (), {}),
        ((100,), (70,), {}),
    ), draw=_searched),
    grad=AN_INDEX,
)  # fmt: skip
def searchsorted(
    sorted: Any,  # noqa: A002
    values: Any,
    sorter: Any = None,
    /,
    side: str = "left",
) -> Any:
    """Where values would stand in a sorted tensor of one axis: before equal elements or after.

    sorter: indices that sort the tensor, such as argsort(x), where it is not sorted.
    """
    sorted = sorted if sorter is None else take(sorted, sorter, axis=0)  # noqa: A001
    if side not in ("left", "right"):
        raise ArgumentError(explain("searchsorted", "side is 'left' or 'right'", side=side))
    if sorted.ndim != 1:
        hint = "its elements in ascending order, such as sort(x)"
        raise ShapeError(explain("searchsorted", "needs one axis", hint, shape=sorted.shape))
    size = sorted.shape[0]
    position = cast(values.zeros_like(), int64)
    step = 1 << size.bit_length() >> 1
    while step:
        further = position + step
        element = take(sorted, minimum(further, size) - 1)
        before = element < values if side == "left" else element <= values
        if values.dtype.is_float:  # NaN is the largest
            odd = ne(values, values)
            before = before | (odd & eq(element, element) if side == "left" else odd)
        position = where((further <= size) & before, further, position)
        step >>= 1
    return position


@composite(
    lambda np, x, weights=None, length=None: np.bincount(
        x.astype(np.int64), weights, minlength=length or 0
    ),
    Samples(cases=(
        ((9,), {"length": 6}), ((0,), {"length": 2}), ((500,), {"length": 5}),
        ((9,), (9,), {"length": 3}),
    ), draw=lambda rng, kind, shapes: [rng.integers(0, 2, s).astype(kind) for s in shapes]),
    grad=ON_INTEGERS, inline=True,
)  # fmt: skip
def bincount(x: Any, weights: Any = None, /, minlength: int = 0, length: int | None = None) -> Any:
    """How often 0, 1, 2, ... occur in a tensor of one axis, or the sums of their weights.

    There are as many counts as the largest element asks for, at least minlength. That number has to
    be read, so a compiled function gives the length; elements outside of it are not counted.
    """
    require("bincount", [x.dtype], (bool_, *INTEGERS))
    if x.ndim != 1:
        raise ShapeError(explain("bincount", "needs one axis", "x.reshape(-1)", shape=x.shape))
    x = cast(x, int64)
    if length is None:
        length = minlength
        if x.shape[0]:
            length = max(minlength, _count_length(x))
    if min(length, minlength) < 0:
        facts = {"length": length, "minlength": minlength}
        raise ArgumentError(explain("bincount", "a length is not negative", **facts))
    counted = (x >= 0) & (x < length)
    if weights is None:
        each, kind = cast(counted, int64), int64
    else:
        if weights.shape != x.shape:
            facts = {"shape": x.shape, "weights": weights.shape}
            raise ShapeError(explain("bincount", "one weight for each element", **facts))
        kind = weights.dtype if weights.dtype.is_float else float64
        each = where(counted, cast(weights, kind.compute), 0.0)
    empty = pad(cut(each.zeros_like(), 0, 0, 0), [(0, length)])
    total = scatter_add(empty, where(counted, x, 0), each, axis=0) if length else empty
    return total if total.dtype is kind else cast(total, kind)


def _count_length(x: Any) -> int:
    """One more than the largest element."""
    try:
        least, most = int(min_(x)), int(max_(x))
    except ArgumentError as error:
        hint = "say how many counts there are: length=..."
        raise ArgumentError(explain("bincount", "it cannot look at x here", hint)) from error
    if least < 0:
        raise ArgumentError(explain("bincount", "negative numbers have no place", least=least))
    return most + 1


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
        np.concatenate([y for y in (before, x, after) if y is not None], axis), n, axis
    ),
    Samples(cases=(
        ((5,), {}), ((3, 5), {"axis": 0}), ((3, 5), {"n": 2}), ((3, 5), {"n": 0}), ((1, 3), {}),
        ((2, 3), {"n": 4}), ((3, 5), (3, 1), (3, 2), {"n": 2}),
    )),
)  # fmt: skip
def diff(x: Any, prepend: Any = None, append: Any = None, /, axis: int = -1, n: int = 1) -> Any:
    """Each element less the one before it along an axis, n times; for bool whether they differ.

    prepend, append: tensors that are joined to x before.
    """
    axis = axis_in("diff", axis, x.ndim)
    if not isinstance(n, int) or n < 0:
        raise ArgumentError(explain("diff", "n is a number of times", n=n))
    parts = [part for part in (prepend, x, append) if part is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        size = x.shape[axis]
        late, early = cut(x, axis, min(1, size), size), cut(x, axis, 0, max(0, size - 1))
        x = ne(late, early) if x.dtype is bool_ else late - early
    return x
