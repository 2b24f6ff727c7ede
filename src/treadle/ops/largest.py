"""Where the largest elements along an axis stand, without sorting all of them."""

from __future__ import annotations

from math import isqrt
from typing import Any

from treadle.base.dtypes import bool_, float32, float64, int32, int64
from treadle.ops.contract import gather
from treadle.ops.elementwise import bitcast, cast, eq, minimum, ne, where
from treadle.ops.movement import concat, cut, pad
from treadle.ops.predicates import bitwise_not
from treadle.ops.reduce import max_, min_
from treadle.ops.scan import argsort

FEW = 8  # of this many largest elements each is looked for by itself
AT_HAND = 1 << 14  # elements of a line that one kernel has at hand
WORTH = 4  # times fewer elements must be left where a line is looked at in cells


def best_indices(x: Any, k: int, axis: int, largest: bool) -> Any:
    """Of the k largest or smallest elements, in order; of equal ones the first come first."""
    size = cell_size(x.shape[axis], k)
    if size:
        return _in_cells(x, k, axis, largest, size)
    if 0 < k <= FEW:
        return _one_by_one(x, k, axis, largest)
    return cut(argsort(x, axis=axis, descending=largest), axis, 0, k)


def cell_size(n: Any, k: int) -> int:
    """Elements of a cell of a line of n; 0 where cells are of no use."""
    if not isinstance(n, int) or not 0 < k < n or n <= (AT_HAND if k <= FEW else AT_HAND // 4):
        return 0
    size = 1 << (isqrt(n // k).bit_length() - 1)
    return size if size > 1 and WORTH * k * size <= n else 0


def _in_cells(x: Any, k: int, axis: int, largest: bool, size: int) -> Any:
    """The k best are in those cells whose best elements are the k best of all cells'."""
    n = x.shape[axis]
    cells, before, after = -(-n // size), x.shape[:axis], x.shape[axis + 1 :]
    ranks = _rank(x, largest)
    if cells * size > n:
        edges = [(0, cells * size - n if at == axis else 0) for at in range(x.ndim)]
        ranks = pad(ranks, edges, ranks.dtype.least)
    peaks = max_(ranks.reshape((*before, cells, size, *after)), axis=axis + 1)
    taken = cast(best_indices(peaks, k, axis, True), int32 if cells < 1 << 31 else int64)
    taken = cast(gather(taken, argsort(taken, axis=axis), axis=axis), int64)
    start = (taken * size).reshape((*before, k, 1, *after))
    place = start + start.expand((*before, k, size, *after)).iota_like(axis + 1)
    place = place.reshape((*before, k * size, *after))
    found = _rank(gather(x, minimum(place, n - 1), axis=axis), largest)
    found = where(place < n, found, found.dtype.least)
    return gather(place, best_indices(found, k, axis, True), axis=axis)


def _one_by_one(x: Any, k: int, axis: int, largest: bool) -> Any:
    """One after the other: a few passes over what one kernel has at hand."""
    rank = _rank(x, largest)
    place = x.iota_like(axis)
    waiting, found = eq(place, place), []
    for _ in range(k):
        best = max_(where(waiting, rank, rank.dtype.least), axis=axis, keepdims=True)
        hit = waiting & eq(rank, best)
        found.append(min_(where(hit, place, x.shape[axis]), axis=axis, keepdims=True))
        waiting = waiting & ne(place, found[-1])
    return concat(found, axis=axis)


def _rank(x: Any, largest: bool) -> Any:
    """Integers in the order of the elements: NaN is the largest, both zeros are equal."""
    if not x.dtype.is_float:
        order = cast(x, int64) if x.dtype is bool_ else x
    else:
        x = x if x.dtype is float64 else cast(x, float32)
        bits = bitcast(x + 0.0, int64 if x.dtype is float64 else int32)
        order = where(bits < 0, bits ^ bits.dtype.greatest, bits)
        order = where(ne(x, x), order.dtype.greatest, order)
    return order if largest else bitwise_not(order)
