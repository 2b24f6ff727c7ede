"""Rows that put tensors together and take them apart: several operands or several results."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from treadle.base.errors import ArgumentError, DtypeError, ShapeError, explain
from treadle.base.shapes import axis_in, sizes_in
from treadle.ops.composite import composite, take
from treadle.ops.contract import scatter_add
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast
from treadle.ops.movement import concat, cut
from treadle.ops.reduce import min_
from treadle.ops.scan import cumsum
from treadle.ops.shaping import counting, tensors_in, unsqueeze

PAIRS: tuple[tuple[Any, ...], ...] = (
    ((2, 3), (2, 3), {}),
    ((3,), (3,), {}),
    ((2, 0, 2), (2, 0, 2), {}),
)


@composite(
    lambda np, xs, axis=0: np.stack(xs, axis),
    Samples(cases=(*PAIRS, ((2, 3), (2, 3), (2, 3), {"axis": -1}), ((), (), {})), listed=True),
    inline=True,
)
def stack(tensors: Sequence[Any], /, axis: int = 0) -> Any:
    """Tensors of one shape along a new axis."""
    found = tensors_in("stack", [tensors])
    if not found:
        raise ArgumentError(explain("stack", "needs at least one tensor"))
    if len({x.shape for x in found}) > 1:
        shown = " and ".join(str(x.shape) for x in found)
        raise ShapeError(explain("stack", "shapes differ", "concat joins them", shapes=shown))
    at = axis_in("stack", axis, found[0].ndim + 1)
    return concat([unsqueeze(x, at) for x in found], axis=at)


def with_axes(x: Any, rank: int) -> Any:
    """At least so many axes: a vector is a row, a matrix gets a last axis."""
    shape = x.shape if len(x.shape) != 0 else (1,)
    if rank >= 2 and len(shape) == 1:
        shape = (1, *shape)
    return x.reshape((*shape, *(1,) * (rank - len(shape))))


@composite(
    lambda np, xs: np.vstack(xs), Samples(cases=(*PAIRS, ((), (), {})), listed=True), inline=True,
    aliases=("row_stack",),
)  # fmt: skip
def vstack(tensors: Sequence[Any], /) -> Any:
    """Tensors below each other: along the first axis, a vector being a row."""
    return concat([with_axes(x, 2) for x in tensors_in("vstack", [tensors])], axis=0)


@composite(
    lambda np, xs: np.hstack(xs), Samples(cases=(*PAIRS, ((), (), {})), listed=True), inline=True
)
def hstack(tensors: Sequence[Any], /) -> Any:
    """Tensors beside each other: along the second axis, vectors along their only one."""
    found = [with_axes(x, 1) for x in tensors_in("hstack", [tensors])]
    return concat(found, axis=0 if found and found[0].ndim == 1 else 1)


@composite(
    lambda np, xs: np.dstack(xs), Samples(cases=(*PAIRS, ((), (), {})), listed=True), inline=True
)
def dstack(tensors: Sequence[Any], /) -> Any:
    """Tensors behind each other: along the third axis."""
    return concat([with_axes(x, 3) for x in tensors_in("dstack", [tensors])], axis=2)


# ---- taken apart


def _split(np: Any, x: Any, size: Any, axis: int = 0) -> Any:
    if isinstance(size, int):
        return np.split(x, range(size, x.shape[axis], size), axis)
    return np.split(x, list(accumulate(size))[:-1], axis)


@composite(
    _split, Samples(cases=(
        ((7, 2), {"size": 3}), ((2, 6), {"size": 2, "axis": 1}),
        ((6,), {"size": (1, 0, 5)}), ((0, 2), {"size": 3}),
    )), inline=True,
)  # fmt: skip
def split(x: Any, /, size: int | Sequence[int], axis: int = 0) -> tuple[Any, ...]:
    """Parts along an axis: of one size (the last may be smaller), or of the sizes listed."""
    at = axis_in("split", axis, x.ndim)
    length = x.shape[at]
    facts = {"size": size, "length": length}
    if isinstance(size, Sequence):
        sizes = list(sizes_in("split", size))
        if sum(sizes) != length or any(n < 0 for n in sizes):
            raise ArgumentError(explain("split", "the sizes must add up to the axis", **facts))
    else:
        if not isinstance(size, int) or size < 1:
            raise ArgumentError(explain("split", "a part has at least one element", **facts))
        sizes = [min(size, length - start) for start in range(0, length, size)] or [0]
    ends = accumulate(sizes)
    return tuple([cut(x, at, end - n, end) for end, n in zip(ends, sizes, strict=True)])


@composite(
    lambda np, x, chunks, axis=0: _split(np, x, -(-x.shape[axis] // chunks), axis),
    Samples(cases=(((7, 2), {"chunks": 3}), ((2, 6), {"chunks": 4, "axis": -1}))),
    inline=True,
)
def chunk(x: Any, /, chunks: int, axis: int = 0) -> tuple[Any, ...]:
    """At most so many parts of equal size along an axis; the last may be smaller."""
    if chunks < 1:
        raise ArgumentError(explain("chunk", "at least one part", chunks=chunks))
    found: tuple[Any, ...] = split(
        x, max(1, -(-x.shape[axis_in("chunk", axis, x.ndim)] // chunks)), axis
    )
    return found


@composite(
    lambda np, x, axis=0: [np.take(x, k, axis) for k in range(x.shape[axis])],
    Samples(cases=(((3, 2), {}), ((2, 3), {"axis": -1}), ((4,), {}))),
    inline=True, aliases=("unbind",),
)  # fmt: skip
def unstack(x: Any, /, axis: int = 0) -> tuple[Any, ...]:
    """The slices along an axis, without it."""
    at = axis_in("unstack", axis, x.ndim)
    rest = (*x.shape[:at], *x.shape[at + 1 :])
    return tuple([cut(x, at, k, k + 1).reshape(rest) for k in range(x.shape[at])])


# ---- elements one after the other several times


@composite(
    lambda np, x, repeats, axis=None: np.repeat(x, repeats, axis),
    Samples(cases=(
        ((2, 3), {"repeats": 2}), ((2, 3), {"repeats": 3, "axis": 1}),
        ((3, 2), {"repeats": (2, 0, 3), "axis": 0}), ((3,), {"repeats": 0}),
        ((2, 2), {"repeats": (1,), "axis": -1}), ((0, 2), {"repeats": (), "axis": 0}),
    )), inline=True, aliases=("repeat_interleave",),
)  # fmt: skip
def repeat(x: Any, /, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times in a row: one number for all, or one for each along the axis."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    at = axis_in("repeat", axis, x.ndim)
    size = x.shape[at]
    if hasattr(repeats, "_apply"):
        if repeats.shape not in ((), (1,), (size,)):
            facts = {"repeats": repeats.shape, "length": size}
            raise ShapeError(explain("repeat", "one number for each element", **facts))
        return take(x, _owners(repeats.reshape(-1).expand((size,))), axis=at)
    repeats = repeats.tolist() if hasattr(repeats, "tolist") else repeats  # NumPy's
    counts = list(sizes_in("repeat", repeats if isinstance(repeats, Sequence) else (repeats,)))
    if len(counts) not in (1, size) or any(n < 0 for n in counts):
        facts = {"repeats": repeats, "length": size}
        raise ArgumentError(explain("repeat", "one number for each, none negative", **facts))
    if len(counts) == 1:
        wide = unsqueeze(x, at + 1).expand((*x.shape[: at + 1], counts[0], *x.shape[at + 1 :]))
        return wide.reshape((*x.shape[:at], size * counts[0], *x.shape[at + 1 :]))
    parts = [
        cut(x, at, k, k + 1).expand((*x.shape[:at], n, *x.shape[at + 1 :]))
        for k, n in enumerate(counts)
    ]
    return concat(parts, axis=at) if parts else x


def _owners(counts: Any) -> Any:
    """0 counts[0] times, 1 counts[1] times, ...: how many have ended at each place."""
    if counts.dtype.is_inexact:
        facts = {"dtype": counts.dtype.name}
        raise DtypeError(explain("repeat", "repeats are integers", "cast them first", **facts))
    lowest = min_(counts).item() if counts.shape[0] else 0
    if lowest < 0:
        raise ArgumentError(explain("repeat", "a number is negative", lowest=lowest))
    ends = cumsum(cast(counts, "int64"), axis=0).realize()
    total = (
        cut(ends, 0, ends.shape[0] - 1, ends.shape[0]).reshape(()).item() if ends.shape[0] else 0
    )
    ended = scatter_add(counting(counts, total + 1) * 0, ends, 1, axis=0)
    return cut(cumsum(ended, axis=0), 0, 0, total)
