"""`x[...]`: integers, slices, None, Ellipsis, and one tensor of integers."""

from __future__ import annotations

from typing import Any

from treadle.base.errors import IndexingError, explain
from treadle.ir.node import Node
from treadle.ops import movement as m
from treadle.ops.composite import take


def index_node(x: Node, key: Any) -> Node:
    """The part of x that key names; slices and integers are views."""
    parts = list(key) if isinstance(key, tuple) else [key]
    parts = _filled(parts, x)
    looked = [k for k, part in enumerate(parts) if isinstance(part, Node)]
    if len(looked) > 1:
        hint = "index with one tensor at a time"
        raise IndexingError(explain("index", "several index tensors", hint))
    ranges, flips, shape, axis, at = [], [], [], 0, -1
    for part in parts:
        if part is None:
            shape.append(1)
            continue
        size = x.shape[axis]
        if isinstance(part, slice):
            start, stop, step = part.indices(size)
            count = len(range(start, stop, step))
            if step < 0:
                flips.append(axis)
                start, step = start + (count - 1) * step, -step
            ranges.append((start, start + max(0, (count - 1) * step + 1) if count else start, step))
            shape.append(count)
        elif isinstance(part, Node):
            ranges.append((0, size, 1))
            at = len(shape)
            shape.append(size)
        else:
            position = _position(part, size, axis)
            ranges.append((position, position + 1, 1))
        axis += 1
    result = m.slice_(x, ranges)
    result = m.flip(result, flips) if flips else result
    result = result.reshape(tuple(shape))
    return take(result, parts[looked[0]], axis=at) if looked else result


def _filled(parts: list[Any], x: Node) -> list[Any]:
    """Ellipsis and missing parts written out as full slices."""
    named = sum(1 for part in parts if part is not None and part is not Ellipsis)
    if named > x.ndim:
        facts = {"indices": named, "shape": x.shape}
        raise IndexingError(explain("index", "too many indices", **facts))
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexingError(explain("index", "only one Ellipsis"))
    at = dots[0] if dots else len(parts)
    rest = parts[at + 1 :]
    return parts[:at] + [slice(None)] * (x.ndim - named) + rest


def _cannot(part: Any) -> IndexingError:
    hint = "integers, slices, None, Ellipsis or one integer tensor"
    return IndexingError(explain("index", "cannot", hint, got=type(part).__name__))


def _position(part: Any, size: int, axis: int) -> int:
    if isinstance(part, bool) or not hasattr(part, "__index__"):
        raise _cannot(part)
    try:
        index = part.__index__()
    except TypeError:  # a NumPy array of several elements
        raise _cannot(part) from None
    if not -size <= index < size:
        facts = {"index": index, "axis": axis, "size": size}
        raise IndexingError(explain("index", "out of range", **facts))
    return int(index) % size
