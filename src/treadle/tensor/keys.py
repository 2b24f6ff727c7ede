"""What a key in `x[key]` names: its parts checked, completed, and arrays made of lists."""

from __future__ import annotations

from math import prod
from types import EllipsisType
from typing import Any

from treadle.backends.registry import backend_of
from treadle.base.device import Device
from treadle.base.dtypes import dtype, int64
from treadle.base.errors import ArgumentError, DtypeError, IndexingError, explain
from treadle.base.sizes import Size
from treadle.ir.node import Node, iota, leaf, type_of
from treadle.ops.elementwise import maximum, minimum, where
from treadle.ops.picking import places_of
from treadle.runtime.indices import known_values
from treadle.tensor.tracing import TRACE

Part = int | Size | slice | Node | EllipsisType | None
HINT = "integers, slices, None, Ellipsis, masks, and lists, arrays or tensors of integers"


def understood(x: Node, key: Any) -> tuple[Node, list[Part]]:
    """x and one part for each of its axes (and None for new ones): no masks are left.

    A mask becomes the places where it is true along the axes it covers, which become one. Ellipsis
    stands for no axis any more; it still keeps what is left of it apart from what is right of it.
    """
    parts = _completed(x, [_plain(part) for part in (key if isinstance(key, tuple) else (key,))])
    shape: list[int] = []
    found: list[Part] = []
    given: list[tuple[Any, int, int]] = []  # (part, axis, size) as the user wrote it
    axis = 0
    for part in parts:
        if isinstance(part, bool):  # a mask of no axes: chooses along a new one
            shape.append(1)
            found.append(iota((int(part),), 0, x.device))
            continue
        covers = axes_of(part)
        size = prod(x.shape[axis : axis + covers])
        if covers:
            shape.append(size)
            given.append((part, axis, size))
            part = _placed(part, x, axis, size)  # noqa: PLW2901
        found.append(part)
        axis += covers
    if all(part.type.size for part in found if isinstance(part, Node)):  # else nothing is read
        for each in given:
            _require(*each)
    return x.reshape(tuple(shape)), found


def axes_of(part: Any) -> int:
    """How many axes a part of a key is about."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return len(part.shape) if is_mask(part) else 1


def is_mask(part: Any) -> bool:
    """A tensor or array of bool?"""
    return hasattr(part, "shape") and dtype(part.dtype).kind == "bool"


def _cannot(part: Any) -> IndexingError:
    return IndexingError(explain("index", "cannot", HINT, got=type(part).__name__))


def _plain(part: Any) -> Any:
    """A part as None, Ellipsis, bool, int, slice, Node or NumPy array."""
    if part is None or part is Ellipsis or isinstance(part, bool | slice | Size):
        return part
    if isinstance(part, Node):
        if part.dtype.is_inexact:
            hint = "cast it to int64, or compare it to get a mask"
            facts = {"dtype": part.dtype.name}
            raise IndexingError(explain("index", "a tensor of no integers", hint, **facts))
        return part.item() if not part.shape and is_mask(part) else part
    if isinstance(part, list | tuple) or hasattr(part, "__array__"):
        return _array(part)
    if hasattr(part, "__index__"):
        return part.__index__()
    raise _cannot(part)


def array_of(value: Any) -> Any:
    """A NumPy array of lists or of anything that gives one; one of objects if it does not."""
    import numpy as np

    try:
        return np.asarray(value)
    except ValueError:  # lists of different lengths
        return np.asarray(None)


def _array(part: Any) -> Any:
    array = array_of(part)
    if array.dtype == object:
        raise _cannot(part)
    if not array.size and isinstance(part, list | tuple):
        array = array.astype("int64")
    if array.dtype.kind not in "biu":
        hint = f"{HINT}; a part of its own is separated by a comma outside any list"
        raise IndexingError(explain("index", "an array of other elements", hint, dtype=array.dtype))
    return array if array.ndim else array.item()


def _completed(x: Node, parts: list[Any]) -> list[Any]:
    """Ellipsis and missing parts written out as whole axes."""
    named = sum(map(axes_of, parts))
    if named > x.ndim:
        facts = {"indices": named, "shape": x.shape}
        raise IndexingError(explain("index", "too many indices", **facts))
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexingError(explain("index", "only one Ellipsis", "use : for the others"))
    at = dots[0] if dots else len(parts)
    return parts[: at + 1] + [slice(None)] * (x.ndim - named) + parts[at + 1 :]


def _placed(part: Any, x: Node, axis: int, size: int) -> Part:
    """A part for an axis (those of a mask as one) of a size, counted from its start."""
    if isinstance(part, slice):
        return part
    if isinstance(part, int | Size):
        if not -size <= part < size:
            facts = {"index": part, "axis": axis, "size": size}
            raise IndexingError(explain("index", "out of range", **facts))
        return part % size
    if is_mask(part):
        covered = x.shape[axis : axis + len(part.shape)]
        if tuple(part.shape) != covered:
            hint = "a mask has the sizes of the axes it chooses from"
            shapes = {"mask": tuple(part.shape), "axes": covered}
            raise IndexingError(explain("index", "the mask does not fit", hint, **shapes))
        return _places(part, x.device)
    if not isinstance(part, Node):
        return as_node(part.astype("int64") % max(1, size), x.device)  # size may not fit its dtype
    index = part.cast(int64)
    wrapped = where(index < 0, index + size, index)
    inside: Node = minimum(maximum(wrapped, 0), max(0, size - 1))
    return inside


def _places(mask: Any, where_to: Device) -> Node:
    if not isinstance(mask, Node):
        return as_node(mask.reshape(-1).nonzero()[0], where_to)
    if TRACE:
        hint = "td.where(mask, x, y) has a shape that is known; x[mask] = number works too"
        facts = {"mask": mask.shape}
        raise ArgumentError(explain("index", "how many are true is not known yet", hint, **facts))
    found: Node = places_of(mask)
    return found


def _require(part: Any, axis: int, size: int) -> None:
    """Indices out of range are refused where they are known: a pending tensor's are not."""
    if not hasattr(part, "shape") or is_mask(part):
        return
    if isinstance(part, Node):
        part = known_values(part)
        if part is None:
            if not size:
                facts = {"axis": axis, "size": size}
                raise IndexingError(explain("index", "an empty axis has no elements", **facts))
            return
    low, high = int(part.min()), int(part.max())
    if low < -size or high >= size:
        facts = {"index": low if low < -size else high, "axis": axis, "size": size}
        raise IndexingError(explain("index", "out of range", **facts))


def as_node(array: Any, where_to: Device) -> Node:
    """A NumPy array as a value in memory."""
    try:
        type_ = type_of(tuple(array.shape), dtype(array.dtype), where_to)
    except DtypeError:
        hint = "numbers, or nested lists of equal lengths"
        raise ArgumentError(explain("index", "not an array of numbers", hint)) from None
    return leaf(type_, backend_of(where_to).upload(array, type_, True))
