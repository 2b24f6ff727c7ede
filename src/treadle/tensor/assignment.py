"""`x[key] = value`: the tensor is bound to a value that differs where the key points.

Nothing is overwritten: what was computed from x before keeps its value, and a view taken of x does
not change with it. Inside a compiled function a tensor that is closed over is updated in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from treadle.base.errors import DeviceError, GradientError, ShapeError, explain
from treadle.base.shapes import Shape
from treadle.ir.node import Node, const, iota
from treadle.ir.recording import GRADIENTS
from treadle.ops import movement as m
from treadle.ops.contract import put, scatter
from treadle.ops.elementwise import where
from treadle.tensor.gradients import Differentiable, own_node, owned
from treadle.tensor.indexing import Box, picked
from treadle.tensor.keys import Part, array_of, as_node, is_mask, understood
from treadle.tensor.tracing import TRACE


def assign_item(tensor: Differentiable, key: Any, value: Any) -> None:
    """Bind a tensor to its value with other elements where the key points."""
    before = tensor._node
    if before.needs_grad and before.owner is not None and GRADIENTS.on:
        hint = "assign inside td.no_grad(), or to a copy: y = x.clone()"
        raise GradientError(explain("index", "assigning to a leaf that requires a gradient", hint))
    fitted = _value(before, value)
    after = assigned(before, key, fitted)
    if TRACE and before not in TRACE.top.made:
        TRACE.top.assigned.setdefault(tensor, before)
    if before.needs_grad and before.owner is not None:  # it stays a leaf
        tensor._node = own_node(after, tensor, True)
        return
    tensor._node = m.reshape(after, after.shape) if after in (before, fitted) else after
    if not after.needs_grad:
        owned(tensor)


def _value(x: Node, value: Any) -> Node:
    """What is assigned, in x's dtype."""
    if isinstance(value, bool | int | float):
        return const(value, x.dtype, x.device)
    if not isinstance(value, Node):
        value = as_node(array_of(value), x.device)
    if value.device is not x.device:
        hint = f"move the value: value.to({str(x.device)!r})"
        both = f"{x.device} and {value.device}"
        raise DeviceError(explain("index", "a value on another device", hint, devices=both))
    return value if value.dtype is x.dtype else value.cast(x.dtype)


def assigned(x: Node, key: Any, value: Node) -> Node:
    """x with value where the key points."""
    chosen = _where_true(x, key, value)
    if chosen is not None:
        return chosen
    seen, parts = understood(x, key)
    if not any(isinstance(part, Node) for part in parts):
        return _in_box(seen, Box(seen, parts), value).reshape(x.shape)
    lines = _along(seen, parts)
    if lines is not None:
        return _of_slices(seen, *lines, value).reshape(x.shape)
    numbers = iota((x.type.size,), 0, x.device).reshape(seen.shape)
    places = picked(numbers, parts)
    values = _fitted(value, places.shape).reshape(-1)
    result: Node = scatter(x.reshape(-1), places.reshape(-1), values, axis=0)
    return result.reshape(x.shape)


def _along(x: Node, parts: Sequence[Part]) -> tuple[int, Node] | None:
    """(axis, indices) if one index tensor goes along an axis and all others are whole."""
    named = [part for part in parts if part is not Ellipsis]
    indices = [(axis, part) for axis, part in enumerate(named) if isinstance(part, Node)]
    box = Box(x, parts)
    whole = [(0, size, 1) for size in x.shape]
    if len(indices) > 1 or len(named) != x.ndim or box.ranges != whole or box.flips:
        return None
    return indices[0] if len(box.shape) == x.ndim else None


def _of_slices(x: Node, axis: int, index: Node, value: Node) -> Node:
    """x with slices along an axis replaced: those of different lines are independent."""
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    shape = (prod(before), index.type.size, prod(after))
    values = _fitted(value, (*before, *index.shape, *after)).reshape(shape)
    wide = index.reshape((1, index.type.size, 1)).expand(shape)
    lines = x.reshape((shape[0], x.shape[axis], shape[2]))
    result: Node = scatter(lines, wide, values, axis=1)
    return result


def _where_true(x: Node, key: Any, value: Node) -> Node | None:
    """A mask and a value that does not tell its places apart: no place needs to be known."""
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if not isinstance(mask, Node) or not is_mask(mask) or mask.shape != x.shape[: mask.ndim]:
        return None
    rest = x.shape[mask.ndim :]
    lead = value.ndim - len(rest)
    if any(size != 1 for size in value.shape[: max(0, lead)]):
        return None
    wide = mask.reshape((*mask.shape, *(1,) * len(rest)))
    result: Node = where(wide, _fitted(value, rest), x)
    return result


def _fitted(value: Node, shape: Shape) -> Node:
    """value broadcast to a shape; axes of size 1 in front of it are dropped."""
    lead = max(0, value.ndim - len(shape))
    facts = {"value": value.shape, "key": shape}
    if any(size != 1 for size in value.shape[:lead]):
        raise ShapeError(explain("index", "the value has too many axes", **facts))
    trimmed = value.reshape(value.shape[lead:])
    sizes = zip(reversed(trimmed.shape), reversed(shape), strict=False)
    if any(own not in (1, wanted) for own, wanted in sizes):
        hint = "sizes must be equal or 1, counted from the last axis"
        raise ShapeError(explain("index", "the value does not fit", hint, **facts))
    return trimmed.expand(shape)


def _in_box(x: Node, box: Box, value: Node) -> Node:
    """x with value in the range of every axis."""
    full = _fitted(value, box.shape)
    sizes = box.sizes
    if 0 in sizes:
        return x
    inside = full.reshape(sizes)
    inside = m.flip(inside, box.flips) if box.flips else inside
    result: Node = inside if sizes == x.shape else put(x, inside, box.ranges)
    return result
