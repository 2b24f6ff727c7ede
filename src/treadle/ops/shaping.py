"""Rows of the views that are other views put together: which element stands where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from treadle.base.errors import ArgumentError, OperandError, ShapeError, explain
from treadle.base.shapes import axes_in, axis_in, broadcast, fill_reshape, sizes_in
from treadle.ops.composite import composite, take
from treadle.ops.defs import Samples
from treadle.ops.elementwise import eq, where
from treadle.ops.movement import concat, cut, flip, pad, permute, sizes_of, slice_
from treadle.ops.reduce import sum_

Axes = int | Sequence[int] | None

# ---- axes merged, split, added and dropped


def _flat(np: Any, x: Any, start: int = 0, end: int = -1) -> Any:
    shape = x.shape or (1,)
    start, end = start % len(shape), end % len(shape)
    return x.reshape(*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


@composite(
    _flat, Samples(cases=(((2, 3, 4), {}), ((2, 3, 4), {"start": 1}), ((), {}), ((0, 3), {}))),
    inline=True, aliases=("ravel",),
)  # fmt: skip
def flatten(x: Any, /, start: int = 0, end: int = -1) -> Any:
    """The axes from start to end as one; a 0-d tensor gets one axis."""
    if not x.shape:
        return x.reshape((1,))
    first, last = axis_in("flatten", start, x.ndim), axis_in("flatten", end, x.ndim)
    if first > last:
        facts = {"start": start, "end": end, "shape": x.shape}
        raise ShapeError(explain("flatten", "start comes after end", **facts))
    merged = math.prod(x.shape[first : last + 1])
    return x.reshape((*x.shape[:first], merged, *x.shape[last + 1 :]))


@composite(
    lambda np, x, axis, sizes: x.reshape(
        *x.shape[: axis % x.ndim], *sizes, *x.shape[axis % x.ndim + 1 :]
    ),
    Samples(cases=(
        ((2, 6), {"axis": 1, "sizes": (2, 3)}), ((6, 2), {"axis": -2, "sizes": (3, -1)}),
    )), inline=True,
)  # fmt: skip
def unflatten(x: Any, /, axis: int, sizes: Sequence[int]) -> Any:
    """One axis as several; one of their sizes may be -1."""
    at = axis_in("unflatten", axis, x.ndim)
    parts = fill_reshape("unflatten", (x.shape[at],), sizes)
    return x.reshape((*x.shape[:at], *parts, *x.shape[at + 1 :]))


@composite(
    lambda np, x, axis=None: np.squeeze(x, axis),
    Samples(cases=(((1, 3, 1), {}), ((1, 3, 1), {"axis": -1}), ((2, 1, 1), {"axis": (1, 2)}))),
    inline=True,
)
def squeeze(x: Any, /, axis: Axes = None) -> Any:
    """Without axes of size 1: those named, or all."""
    axes = axes_in("squeeze", axis, x.ndim)
    if axis is not None and any(x.shape[k] != 1 for k in axes):
        facts = {"shape": x.shape, "axis": axis}
        raise ShapeError(explain("squeeze", "only an axis of size 1 can be dropped", **facts))
    return x.reshape(tuple(n for k, n in enumerate(x.shape) if k not in axes or n != 1))


@composite(
    lambda np, x, axis=0: np.expand_dims(x, axis),
    Samples(cases=(((2, 3), {}), ((2, 3), {"axis": -1}), ((4,), {"axis": (0, 2)}), ((), {}))),
    inline=True, aliases=("expand_dims",),
)  # fmt: skip
def unsqueeze(x: Any, /, axis: int | Sequence[int] = 0) -> Any:
    """New axes of size 1, at places of the result."""
    count = len(axis) if isinstance(axis, Sequence) else 1
    places, sizes = axes_in("unsqueeze", axis, x.ndim + count), iter(x.shape)
    return x.reshape(tuple(1 if k in places else next(sizes) for k in range(x.ndim + count)))


# ---- axes in another order


@composite(
    lambda np, x, axis0, axis1: np.swapaxes(x, axis0, axis1),
    Samples(cases=(((2, 3, 4), {"axis0": 0, "axis1": -1}), ((2, 3), {"axis0": 1, "axis1": 0}))),
    inline=True, aliases=("swapaxes", "swapdims"),
)  # fmt: skip
def transpose(x: Any, /, axis0: int, axis1: int) -> Any:
    """Two axes exchanged."""
    return x.transpose(axis0, axis1)


@composite(
    lambda np, x: np.swapaxes(x, -1, -2), Samples(cases=(((2, 3), {}), ((4, 2, 5), {}))),
    inline=True,
)  # fmt: skip
def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged."""
    if x.ndim < 2:
        raise ShapeError(explain("matrix_transpose", "needs two axes", shape=x.shape))
    return x.mT


@composite(
    lambda np, x, source, destination: np.moveaxis(x, source, destination),
    Samples(cases=(
        ((2, 3, 4), {"source": 0, "destination": -1}),
        ((2, 3, 4), {"source": (0, 1), "destination": (2, 0)}),
    )), inline=True, aliases=("moveaxis",),
)  # fmt: skip
def movedim(x: Any, /, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    """Axes at other places; those not named keep their order."""
    places = [list(s) if isinstance(s, Sequence) else [s] for s in (source, destination)]
    start, end = ([axis_in("movedim", axis, x.ndim) for axis in part] for part in places)
    if len(start) != len(end) or len(set(start)) < len(start) or len(set(end)) < len(end):
        hint = "as many destinations as sources, none twice"
        facts = {"source": source, "destination": destination}
        raise ShapeError(explain("movedim", "axes do not pair up", hint, **facts))
    order = [axis for axis in range(x.ndim) if axis not in start]
    for to, axis in sorted(zip(end, start, strict=True)):
        order.insert(to, axis)
    return permute(x, tuple(order))


# ---- elements repeated and turned


def tensors_in(name: str, tensors: Sequence[Any]) -> list[Any]:
    """Operands passed one by one or as one list."""
    one = len(tensors) == 1 and isinstance(tensors[0], list | tuple)
    found = list(tensors[0] if one else tensors)
    for x in found:
        if not hasattr(x, "_apply"):
            hint = "wrap it with td.tensor(...)"
            raise OperandError(explain(name, "not a tensor", hint, got=type(x).__name__))
    return found


@composite(
    lambda np, xs: np.broadcast_arrays(*xs),
    Samples(cases=(((3, 1), (4,), {}), ((2, 1), (1, 5), (), {}), ((4,), {})), listed=True),
    inline=True, aliases=("broadcast_tensors",),
)  # fmt: skip
def broadcast_arrays(*tensors: Any) -> list[Any]:
    """All tensors in the shape they broadcast to together."""
    found = tensors_in("broadcast_arrays", tensors)
    shape = broadcast("broadcast_arrays", *(x.shape for x in found)) if found else ()
    return [x.expand(shape) for x in found]


def _grid(np: Any, xs: Any, indexing: str = "xy") -> Any:
    return list(np.meshgrid(*xs, indexing=indexing))


@composite(
    _grid, Samples(cases=(((3,), (4,), {}), ((3,), (2,), (4,), {"indexing": "ij"}), ((3,), {})),
                   listed=True), inline=True,
)  # fmt: skip
def meshgrid(*tensors: Any, indexing: str = "xy") -> list[Any]:
    """Coordinates of a grid from those of its axes; "xy" exchanges the first two axes."""
    found = [x.reshape(-1) for x in tensors_in("meshgrid", tensors)]
    if indexing not in ("xy", "ij"):
        raise ArgumentError(explain("meshgrid", "indexing is 'xy' or 'ij'", got=repr(indexing)))
    order = list(range(len(found)))
    if indexing == "xy" and len(found) > 1:
        order[:2] = 1, 0
    shape = tuple(found[k].shape[0] for k in order)
    grid = [x.reshape(tuple(-1 if axis == k else 1 for axis in order)) for k, x in enumerate(found)]
    return [x.expand(shape) for x in grid]


@composite(
    lambda np, x, repetitions: np.tile(x, repetitions),
    Samples(cases=tuple(
        (shape, {"repetitions": times})
        for shape, times in (((2, 3), (2, 2)), ((3,), (2, 1, 3)), ((2, 3), 2), ((2,), 0))
    )), inline=True,
)  # fmt: skip
def tile(x: Any, /, repetitions: int | Sequence[int], *more: int) -> Any:
    """x laid out several times along each axis; the numbers as one tuple or one by one."""
    times = sizes_in("tile", sizes_of(repetitions, *more))
    if any(n < 0 for n in times):
        raise ArgumentError(explain("tile", "a number is negative", repetitions=times))
    rank = max(len(times), x.ndim)
    times = (*(1,) * (rank - len(times)), *times)
    shape = (*(1,) * (rank - x.ndim), *x.shape)
    wide = x.reshape(tuple(k for n in shape for k in (1, n)))
    wide = wide.expand(tuple(k for pair in zip(times, shape, strict=True) for k in pair))
    return wide.reshape(tuple(t * n for t, n in zip(times, shape, strict=True)))


@composite(
    lambda np, x, shift, axis=None: np.roll(x, shift, axis),
    Samples(cases=(((3, 5), {"shift": 2}), ((3, 5), {"shift": -7, "axis": 1}),
                   ((3, 5), {"shift": (1, 2), "axis": (0, 1)}), ((0, 2), {"shift": 1, "axis": 0}))),
    inline=True,
)  # fmt: skip
def roll(x: Any, /, shift: int | Sequence[int], axis: Axes = None) -> Any:
    """Elements moved along axes; what leaves at the end enters at the start."""
    if axis is None:
        return roll(x.reshape(-1), shift, 0).reshape(x.shape)
    axes = list(axis) if isinstance(axis, Sequence) else [axis]
    shifts = list(shift) if isinstance(shift, Sequence) else [shift] * len(axes)
    if len(shifts) != len(axes) or not all(hasattr(by, "__index__") for by in shifts):
        facts = {"shift": shift, "axis": axis}
        raise ArgumentError(explain("roll", "one integer for each axis", **facts))
    for by, along in zip(shifts, axes, strict=True):
        k = axis_in("roll", along, x.ndim or 1)
        size = x.shape[k] if x.ndim else 1
        at = -by % size if size else 0
        if at:
            x = concat([cut(x, k, at, size), cut(x, k, 0, at)], axis=k)
    return x


@composite(
    lambda np, x, k=1, axes=(0, 1): np.rot90(x, k, axes),
    Samples(cases=(((2, 3), {}), ((2, 3), {"k": 2}), ((2, 3, 4), {"k": -1, "axes": (2, 0)}))),
    inline=True,
)
def rot90(x: Any, /, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    """Turned by k quarters in the plane of two axes, from the first towards the second."""
    if len(axes_in("rot90", tuple(axes), x.ndim)) != 2:
        raise ShapeError(explain("rot90", "a plane has two axes", axes=tuple(axes)))
    first, second = axes
    if k % 4 == 0:
        return x
    if k % 4 == 2:
        return flip(x, (first, second))
    turned = flip(x, second) if k % 4 == 1 else x
    turned = turned.transpose(first, second)
    return turned if k % 4 == 1 else flip(turned, second)


def counting(x: Any, size: int) -> Any:
    """0, 1, ... up to a size, where x is."""
    return x.reshape(-1).iota_like(0, size)


def _strided(np: Any, x: Any, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    flat = np.ascontiguousarray(x).reshape(-1)[storage_offset:]
    steps = [n * flat.itemsize for n in stride]
    return np.lib.stride_tricks.as_strided(flat, size, steps).copy()


@composite(
    _strided, Samples(cases=(
        ((12,), {"size": (3, 4), "stride": (2, 1)}),
        ((3, 4), {"size": (2, 2, 2), "stride": (4, 1, 0), "storage_offset": 2}),
    )), inline=True,
)  # fmt: skip
def as_strided(
    x: Any, /, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0
) -> Any:
    """Elements of flattened x: index times stride, plus an offset, says which one stands there."""
    offset = storage_offset
    sizes, steps = sizes_in("as_strided", size), sizes_in("as_strided", stride)
    facts = {"size": sizes, "stride": steps, "offset": offset, "elements": math.prod(x.shape)}
    if len(sizes) != len(steps) or any(n < 0 for n in sizes):
        raise ShapeError(explain("as_strided", "one stride for each axis", **facts))
    spans = [(n - 1) * s for n, s in zip(sizes, steps, strict=True)]
    low, high = (offset + sum(pick(0, span) for span in spans) for pick in (min, max))
    if math.prod(sizes) and (low < 0 or high >= math.prod(x.shape)):
        raise ShapeError(explain("as_strided", f"reads elements {low} to {high}", **facts))
    place = counting(x, 1).reshape((1,) * len(sizes)) + offset
    for axis, (n, step) in enumerate(zip(sizes, steps, strict=True)):
        along = counting(x, n).reshape(tuple(n if k == axis else 1 for k in range(len(sizes))))
        place = place + along * step
    return take(x.reshape(-1), place.expand(sizes), axis=0)


# ---- triangles and diagonals


def _compared(x: Any, name: str, k: int) -> Any:
    """Columns less rows of the last two axes, less k."""
    if x.ndim < 2:
        raise ShapeError(explain(name, "needs two axes", "unsqueeze a vector", shape=x.shape))
    return x.iota_like(-1) - x.iota_like(-2) - k


TRIANGLES = Samples(cases=(((3, 5), {}), ((3, 5), {"k": 1}), ((2, 4, 3), {"k": -2}), ((0, 3), {})))


@composite(lambda np, x, k=0: np.tril(x, k), TRIANGLES)
def tril(x: Any, /, k: int = 0) -> Any:
    """The last two axes' elements up to the k-th diagonal, 0 above it."""
    return where(_compared(x, "tril", k) <= 0, x, x.zeros_like())


@composite(lambda np, x, k=0: np.triu(x, k), TRIANGLES)
def triu(x: Any, /, k: int = 0) -> Any:
    """The last two axes' elements from the k-th diagonal on, 0 below it."""
    return where(_compared(x, "triu", k) >= 0, x, x.zeros_like())


DIAGONALS = Samples(cases=(
    ((3, 5), {}), ((5, 3), {"offset": 1}), ((2, 4, 3), {"offset": -2, "axis1": -2, "axis2": -1}),
    ((3, 2), {"offset": 4}), ((2, 3, 4), {"axis1": 2, "axis2": 0}),
))  # fmt: skip


@composite(
    lambda np, x, offset=0, axis1=0, axis2=1: np.diagonal(x, offset, axis1, axis2), DIAGONALS,
    inline=True,
)  # fmt: skip
def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The elements of a diagonal of two axes, as a last axis."""
    rows, columns = (axis_in("diagonal", axis, x.ndim) for axis in (axis1, axis2))
    if rows == columns:
        raise ShapeError(explain("diagonal", "needs two axes", axis1=axis1, axis2=axis2))
    rest = tuple(axis for axis in range(x.ndim) if axis not in (rows, columns))
    x = permute(x, (*rest, rows, columns))
    lead, (height, width) = x.shape[:-2], x.shape[-2:]
    skip = (max(0, -offset), max(0, offset))
    count = max(0, min(height - skip[0], width - skip[1]))
    start = skip[0] * width + skip[1] if count else 0
    along = (start, start + (count - 1) * (width + 1) + 1 if count else 0, width + 1)
    ranges = [*((0, n, 1) for n in lead), along]
    return slice_(x.reshape((*lead, height * width)), ranges)


@composite(
    lambda np, x, offset=0, axis1=0, axis2=1: np.trace(x, offset, axis1, axis2), DIAGONALS,
    inline=True,
)  # fmt: skip
def trace(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal of two axes."""
    return sum_(diagonal(x, offset, axis1, axis2), axis=-1)


@composite(
    lambda np, x, k=0: np.diag(x, k),
    Samples(cases=(
        ((4,), {}), ((3,), {"k": -2}), ((3, 5), {"k": 1}), ((2,), {"k": 1}), ((0,), {}),
    )), inline=True,
)  # fmt: skip
def diag(x: Any, /, k: int = 0) -> Any:
    """The k-th diagonal of a matrix, or the matrix with a vector there."""
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ShapeError(explain("diag", "needs one or two axes", shape=x.shape))
    line = counting(x, x.shape[0] + abs(k))
    hit = eq(line.reshape((1, -1)) - line.reshape((-1, 1)), k)
    values = pad(x, [(max(0, -k), max(0, k))]).reshape((-1, 1))
    return where(hit, values, values.zeros_like())
