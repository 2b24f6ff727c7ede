"""Rows that give a tensor with other elements at indices or where a mask is true."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from treadle.base.dtypes import INTEGERS, bool_, int64
from treadle.base.errors import ArgumentError, OperandError, ShapeError, explain
from treadle.base.shapes import Shape, axis_in, broadcast
from treadle.ops.bounds import require_inside
from treadle.ops.composite import composite, take
from treadle.ops.contract import scatter, scatter_add
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast, minimum, where
from treadle.ops.picking import nonzero
from treadle.ops.rules import require
from treadle.ops.scan import cumsum


def _copied(np: Any, x: Any, index: Any, values: Any, axis: int = 0) -> Any:
    out = np.array(x)
    np.moveaxis(out, axis, 0)[index] = np.moveaxis(values, axis, 0)
    return out


def _distinct(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """An index that points nowhere twice: which of two values stays is not said."""
    x, values = (rng.integers(0, 9, shapes[k]).astype(kind) for k in (0, -1))
    count = shapes[1][0]
    return [x, rng.permutation(count), *([values] if len(shapes) > 2 else [])]


def _slices(name: str, x: Any, index: Any, axis: int) -> tuple[int, tuple[int, ...], Any]:
    """The axis, the shape of the slices that an index names, and the index in that shape."""
    at = axis_in(name, axis, x.ndim)
    if index.ndim != 1:
        raise ShapeError(explain(name, "the index has one axis", index=index.shape))
    shape = (*x.shape[:at], *index.shape, *x.shape[at + 1 :])
    line = index.reshape(tuple(index.shape[0] if k == at else 1 for k in range(x.ndim)))
    return at, shape, line.expand(shape)


@composite(
    _copied, Samples(cases=(
        ((5, 3), (4,), (4, 3), {}), ((2, 6), (3,), (2, 3), {"axis": 1}), ((9,), (9,), (9,), {}),
    ), roles=("", "index", ""), draw=_distinct), inline=True,
)  # fmt: skip
def index_copy(x: Any, index: Any, values: Any, /, axis: int = 0) -> Any:
    """x with slices of values in place of those at indices along an axis."""
    if isinstance(index, int):  # as PyTorch has it: (x, axis, index, values)
        axis, index, values = index, values, axis
    at, shape, wide = _slices("index_copy", x, index, axis)
    if values.shape != shape:
        facts = {"shape": x.shape, "index": index.shape, "values": values.shape}
        raise ShapeError(explain("index_copy", "one slice for each index", **facts))
    return scatter(x, wide, cast(values, x.dtype), axis=at)


def _filled(np: Any, x: Any, index: Any, value: Any, axis: int = 0) -> Any:
    out = np.array(x)
    np.moveaxis(out, axis, 0)[index] = value
    return out


@composite(
    _filled, Samples(cases=(
        ((5, 3), (4,), {"value": 2}), ((2, 6), (3,), {"value": 1, "axis": 1}),
        ((9,), (0,), {"value": 0}),
    ), roles=("", "index")), inline=True,
)  # fmt: skip
def index_fill(x: Any, index: Any, /, value: Any, axis: int = 0) -> Any:
    """x with a value, a number or a 0-d tensor, in the slices at indices along an axis."""
    if isinstance(index, int):  # as PyTorch has it: (x, axis, index, value)
        axis, index, value = index, value, axis
    at, shape, wide = _slices("index_fill", x, index, axis)
    if hasattr(value, "shape"):
        if value.shape != ():
            raise ShapeError(explain("index_fill", "one value", "index_copy takes several"))
        value = cast(value, x.dtype).expand(shape)
    elif not isinstance(value, bool | int | float | complex):
        raise OperandError(explain("index_fill", "value is a number or a tensor", got=repr(value)))
    elif x.dtype is bool_:
        value = bool(value)
    return scatter(x, wide, value, axis=at)


# ---- several indices at once


def _put(np: Any, x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    out = np.array(x)
    if accumulate:
        np.add.at(out, indices, values)
    else:
        out[indices] = values
    return out


def _index_list(x: Any, indices: Any) -> list[Any]:
    """One integer index for each of the first axes; a mask is as many as it has axes."""
    several = indices if isinstance(indices, tuple | list) else (indices,)
    found: list[Any] = []
    for index in several:
        if not hasattr(index, "_apply"):
            hint = "a tuple of tensors of integers, or of a mask"
            raise OperandError(explain("index_put", "not a tensor", hint, got=type(index).__name__))
        require("index_put", [index.dtype], (bool_, *INTEGERS))
        if index.dtype is bool_ and index.shape != x.shape[len(found) : len(found) + index.ndim]:
            facts = {"shape": x.shape, "mask": index.shape}
            raise ShapeError(explain("index_put", "the mask has another shape", **facts))
        found += nonzero(index) if index.dtype is bool_ else [index]
    if not found or len(found) > x.ndim:
        facts = {"shape": x.shape, "indices": len(found)}
        raise ArgumentError(explain("index_put", "one index for each of the first axes", **facts))
    return found


def _place(found: Sequence[Any], shape: Shape, chosen: Shape) -> Any:
    """Where indices of the first axes point when these axes are one."""
    place: Any = 0
    for index, size in zip(found, shape, strict=False):
        require_inside("index_put", index, size)
        wide = cast(index, int64).expand(chosen)
        place = where(wide < 0, wide + size, wide) + place * size
    return place


@composite(
    _put, Samples(cases=(
        ((5, 3), (4,), (4, 3), {}), ((5, 3), (4,), (4, 3), {"accumulate": True}),
        ((9,), (6,), (), {}),
    ), roles=("", "index", ""), draw=_distinct), inline=True,
)  # fmt: skip
def index_put(
    x: Any, indices: Any | Sequence[Any], values: Any, /, accumulate: bool = False
) -> Any:
    """x with values at indices: a tuple of tensors, one for each of the first axes, or a mask.

    accumulate: values are added to what is there, and to each other where indices meet.

    >>> import treadle as td
    >>> x, i, j = td.zeros(2, 3), td.tensor([0, 1, 1]), td.tensor([2, 0, 0])
    >>> td.index_put(x, (i, j), td.ones(3), accumulate=True).tolist()
    [[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]
    """
    found = _index_list(x, indices)
    chosen = broadcast("index_put", *(index.shape for index in found))
    rest, place = x.shape[len(found) :], _place(found, x.shape, chosen)
    count, inner = math.prod(chosen), math.prod(rest)
    if broadcast("index_put", values.shape, (*chosen, *rest)) != (*chosen, *rest):
        facts = {"values": values.shape, "places": (*chosen, *rest)}
        raise ShapeError(explain("index_put", "values do not fit", **facts))
    flat = x.reshape((math.prod(x.shape[: len(found)]), inner))
    if not count or not inner:
        return x.reshape(x.shape)
    wide = place.reshape((count, 1)).expand((count, inner))
    values = cast(values, x.dtype).expand((*chosen, *rest)).reshape((count, inner))
    written = (scatter_add if accumulate else scatter)(flat, wide, values, axis=0)
    return written.reshape(x.shape)


# ---- by a mask


def _masked(np: Any, x: Any, mask: Any, values: Any) -> Any:
    out = np.array(x)
    mask = np.broadcast_to(mask, x.shape)
    out[mask] = values.reshape(-1)[: mask.sum()]
    return out


@composite(
    _masked, Samples(cases=(
        ((3, 5), (3, 5), (15,), {}), ((2, 3, 4), (3, 1), (4, 6), {}), ((0,), (0,), (0,), {}),
    ), roles=("", "bool", "")), inline=True,
)  # fmt: skip
def masked_scatter(x: Any, mask: Any, values: Any, /) -> Any:
    """x with the elements of values, one after the other, where mask is true."""
    require("masked_scatter", [mask.dtype], (bool_,))
    if broadcast("masked_scatter", x.shape, mask.shape) != x.shape:
        facts = {"shape": x.shape, "mask": mask.shape}
        raise ShapeError(explain("masked_scatter", "the mask does not broadcast to x", **facts))
    size, flat = math.prod(x.shape), cast(values, x.dtype).reshape((math.prod(values.shape),))
    if not size:
        return x.reshape(x.shape)
    if not flat.shape[0]:
        facts = {"shape": x.shape, "values": values.shape}
        raise ShapeError(explain("masked_scatter", "there are no values", **facts))
    chosen = mask.expand(x.shape).reshape((size,))
    rank = minimum(cumsum(cast(chosen, int64), axis=0) - cast(chosen, int64), flat.shape[0] - 1)
    return where(chosen, take(flat, rank, axis=0), x.reshape((size,))).reshape(x.shape)
