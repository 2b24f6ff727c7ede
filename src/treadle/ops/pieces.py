"""Rows that take parts of a tensor, or put another part in the place of one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in, sizes_in
from treadle.ops.composite import composite
from treadle.ops.contract import put
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast
from treadle.ops.movement import cut, inverse, permute
from treadle.ops.shaping import diagonal

Splits = int | Sequence[int]

# ---- one part


@composite(
    lambda np, x, axis, start, length: np.take(x, range(start, start + length), axis),
    Samples(cases=(
        ((5, 3), {"axis": 0, "start": 1, "length": 3}),
        ((2, 6), {"axis": -1, "start": -2, "length": 2}),
    )), inline=True,
)  # fmt: skip
def narrow(x: Any, /, axis: int, start: int, length: int) -> Any:
    """length elements along an axis, from start on; a negative start counts from the end."""
    at = axis_in("narrow", axis, x.ndim)
    size = x.shape[at]
    first = start + size if start < 0 else start
    if not 0 <= first <= first + length <= size:
        facts = {"start": start, "length": length, "size": size}
        raise ArgumentError(explain("narrow", "the part is not inside the axis", **facts))
    return cut(x, at, first, first + length)


def _place(name: str, x: Any, axis: int, index: int) -> tuple[int, int]:
    """An axis and a place along it, both counted from the start."""
    at = axis_in(name, axis, x.ndim)
    size = x.shape[at]
    if not -size <= index < size:
        facts = {"index": index, "size": size, "axis": axis}
        raise ArgumentError(explain(name, "there is no such place", **facts))
    return at, index % size


@composite(
    lambda np, x, axis, index: np.take(x, index, axis),
    Samples(cases=(
        ((5, 3), {"axis": 0, "index": 1}), ((2, 6), {"axis": -1, "index": -2}),
        ((4,), {"axis": 0, "index": 3}),
    )), inline=True,
)  # fmt: skip
def select(x: Any, /, axis: int, index: int) -> Any:
    """The slice at one place along an axis, without it."""
    at, place = _place("select", x, axis, index)
    return cut(x, at, place, place + 1).reshape((*x.shape[:at], *x.shape[at + 1 :]))


# ---- another part in its place


def _fitted(name: str, values: Any, shape: tuple[int, ...]) -> None:
    if values.shape != shape:
        facts = {"values": values.shape, "part": shape}
        raise ShapeError(explain(name, "values have another shape than the part", **facts))


def _sliced(
    np: Any, x: Any, values: Any, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    out = np.array(x)
    np.moveaxis(out, axis, 0)[slice(start, end, step)] = np.moveaxis(values, axis, 0)
    return out


@composite(
    _sliced, Samples(cases=(
        ((5, 3), (2, 3), {"start": 1, "end": 3}), ((2, 6), (2, 3), {"axis": 1, "step": 2}),
        ((4,), (4,), {}), ((3, 4), (3, 1), {"axis": -1, "start": -1}),
        ((4, 2), (0, 2), {"start": 4}),
    )), inline=True,
)  # fmt: skip
def slice_scatter(
    x: Any, values: Any, /, axis: int = 0, start: int | None = None, end: int | None = None,
    step: int = 1,
) -> Any:  # fmt: skip
    """x with values in the range from start to end along an axis, every step-th place of it."""
    at = axis_in("slice_scatter", axis, x.ndim)
    if step < 1:
        raise ArgumentError(explain("slice_scatter", "a step is at least 1", step=step))
    first, stop, _ = slice(start, end).indices(x.shape[at])
    count = len(range(first, stop, step))
    _fitted("slice_scatter", values, (*x.shape[:at], count, *x.shape[at + 1 :]))
    return _with_part(x, values, at, (first, stop, step)) if count else x.reshape(x.shape)


def _with_part(x: Any, values: Any, axis: int, range_: tuple[int, int, int]) -> Any:
    ranges = [(0, n, 1) for n in x.shape]
    ranges[axis] = range_
    return put(x, cast(values, x.dtype), ranges) if 0 not in values.shape else x


def _selected(np: Any, x: Any, values: Any, axis: int, index: int) -> Any:
    out = np.array(x)
    np.moveaxis(out, axis, 0)[index] = values
    return out


@composite(
    _selected, Samples(cases=(
        ((5, 3), (3,), {"axis": 0, "index": 1}), ((2, 6), (2,), {"axis": -1, "index": -2}),
        ((4,), (), {"axis": 0, "index": 3}),
    )), inline=True,
)  # fmt: skip
def select_scatter(x: Any, values: Any, /, axis: int, index: int) -> Any:
    """x with values as the slice at one place along an axis."""
    at, place = _place("select_scatter", x, axis, index)
    _fitted("select_scatter", values, (*x.shape[:at], *x.shape[at + 1 :]))
    wide = values.reshape((*x.shape[:at], 1, *x.shape[at + 1 :]))
    return _with_part(x, wide, at, (place, place + 1, 1))


def _on_diagonal(
    np: Any, x: Any, values: Any, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Any:
    out = np.array(x)
    turned = np.moveaxis(out, (axis1, axis2), (-2, -1))
    rows = np.arange(values.shape[-1]) + max(0, -offset)
    turned[..., rows, rows + offset] = values
    return out


@composite(
    _on_diagonal, Samples(cases=(
        ((3, 5), (3,), {}), ((5, 3), (2,), {"offset": 1}),
        ((2, 4, 3), (2, 2), {"offset": -2, "axis1": -2, "axis2": -1}),
        ((2, 3, 4), (3, 2), {"axis1": 2, "axis2": 0}), ((2, 2), (0,), {"offset": 5}),
    )), inline=True,
)  # fmt: skip
def diagonal_scatter(
    x: Any, values: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Any:
    """x with values on a diagonal of two axes, which is the last axis of values."""
    _fitted("diagonal_scatter", values, diagonal(x, offset, axis1, axis2).shape)
    rows, columns = (axis_in("diagonal_scatter", axis, x.ndim) for axis in (axis1, axis2))
    order = (*(k for k in range(x.ndim) if k not in (rows, columns)), rows, columns)
    turned = permute(x, order)
    lead, (height, width), count = turned.shape[:-2], turned.shape[-2:], values.shape[-1]
    start = max(0, -offset) * width + max(0, offset)
    along = (start, start + (count - 1) * (width + 1) + 1, width + 1)
    flat = turned.reshape((*lead, height * width))
    written = _with_part(flat, values, len(lead), along) if count else flat
    return permute(written.reshape(turned.shape), inverse(order))


# ---- several parts


def _split(np: Any, x: Any, sections: Any, axis: int = 0) -> Any:
    return np.array_split(x, sections, axis)


SECTIONS = Samples(cases=(
    ((7, 2), {"sections": 3}), ((2, 6), {"sections": (1, 4), "axis": 1}),
    ((4,), {"sections": (3, 2, 9)}), ((2, 3), {"sections": 5}),
))  # fmt: skip


@composite(_split, SECTIONS, inline=True)
def tensor_split(x: Any, /, sections: Splits, axis: int = 0) -> list[Any]:
    """Parts along an axis: so many, the first ones longer by one, or cut before the places listed.

    A tensor may hold the places, or the number.
    """
    at = axis_in("tensor_split", axis, x.ndim)
    size = x.shape[at]
    sections = sections.tolist() if hasattr(sections, "tolist") else sections
    if isinstance(sections, Sequence):
        places = sizes_in("tensor_split", sections)
        bounds = [0, *(slice(None, place).indices(size)[1] for place in places), size]
    else:
        if sections < 1:
            raise ArgumentError(explain("tensor_split", "at least one part", sections=sections))
        each, longer = divmod(size, sections)
        bounds = [k * each + min(k, longer) for k in range(sections + 1)]
    return [cut(x, at, start, max(start, stop)) for start, stop in pairwise(bounds)]


def _along(name: str, axis: int) -> Any:
    """The row of tensor_split along one axis that other libraries have a name for."""

    def split_along(x: Any, /, sections: Splits) -> list[Any]:
        at = 0 if name == "hsplit" and x.ndim == 1 else axis
        least = 1 if name == "hsplit" else axis + 1
        if x.ndim < least:
            raise ShapeError(explain(name, f"needs {least} axes", shape=x.shape))
        if isinstance(sections, int) and sections > 0 and x.shape[at] % sections:
            facts = {"sections": sections, "size": x.shape[at]}
            hint = "tensor_split makes parts that differ by one"
            raise ArgumentError(explain(name, "the parts would differ in size", hint, **facts))
        return list(tensor_split(x, sections, at))

    split_along.__name__ = name
    split_along.__doc__ = f"Equal parts along axis {axis}, so many or cut before the places listed."
    if name == "hsplit":
        split_along.__doc__ += "\n\n    Of a vector, along its only axis.\n    "

    def reference(np: Any, x: Any, sections: Splits) -> Any:
        return getattr(np, name)(x, sections)

    cases = tuple(((4, 6, 2), {"sections": k}) for k in (2, (1, 3)))
    return composite(reference, Samples(cases=cases), inline=True)(split_along)


vsplit, hsplit, dsplit = (_along(name, k) for k, name in enumerate(("vsplit", "hsplit", "dsplit")))
