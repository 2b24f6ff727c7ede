"""`x[key]`: which elements a key of any NumPy form gives, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

from treadle.base.errors import IndexingError, ShapeError, explain
from treadle.base.shapes import Shape, broadcast, strides_of
from treadle.base.sizes import Size, UnknownSizeError
from treadle.ir.node import Node
from treadle.ops import movement as m
from treadle.ops.composite import take
from treadle.tensor.keys import Part, understood

Range = tuple[int, int, int]


def index_node(x: Node, key: Any) -> Node:
    """The part of x that key names; slices and integers are views."""
    return picked(*understood(x, key))


class Box:
    """The range of every axis that integers and slices name, and how it is seen."""

    def __init__(self, x: Node, parts: Sequence[Part]) -> None:
        self.ranges: list[Range] = []
        self.flips: list[int] = []
        self.shape: tuple[int, ...] = ()  # as seen: without integers, with new axes
        self.looked: list[int] = []  # axes of the shape that index tensors go along
        for part in parts:
            if part is None:
                self.shape += (1,)
            elif isinstance(part, int | Size):
                start: Any = part
                self.ranges.append((start, start + 1, 1))
            elif part is not Ellipsis:
                self._enter(part, x.shape[len(self.ranges)])

    def _enter(self, part: slice | Node, size: int) -> None:
        start, stop, step = 0, size, 1
        if isinstance(part, Node):
            self.looked.append(len(self.shape))
        else:
            start, stop, step = _range(part, size)
        count = _count(start, stop, step)
        if step < 0:
            self.flips.append(len(self.ranges))
            start, step = start + (count - 1) * step, -step
        stop = start + (count - 1) * step + 1
        self.ranges.append((start, stop, step) if count else (0, 0, 1))
        self.shape += (count,)

    @property
    def sizes(self) -> Shape:
        """How many elements of every axis."""
        return tuple([_count(*each) for each in self.ranges])

    def read(self, x: Node) -> Node:
        """The box of x."""
        result = m.slice_(x, self.ranges)
        result = m.flip(result, self.flips) if self.flips else result
        found: Node = result.reshape(self.shape)
        return found


def _count(start: int, stop: int, step: int) -> int:
    """How many elements a range has."""
    if isinstance(stop - start, Size) and step > 0:
        return max(0, -((start - stop) // step))
    return len(range(start, stop, step))


def _range(part: slice, size: int) -> Range:
    try:
        if any(isinstance(x, Size) for x in (size, part.start, part.stop)):
            return _sized_range(part, size)
        return part.indices(size)
    except UnknownSizeError:
        raise
    except (TypeError, ValueError) as error:
        hint = "start, stop and step are integers or None; step is not 0"
        raise IndexingError(explain("index", str(error), hint, slice=part)) from None


def _sized_range(part: slice, size: int) -> Range:
    """The same where sizes are not known: where a bound lies must hold for all of them."""
    step = 1 if part.step is None else part.step.__index__()
    bounds = [0 if part.start is None else part.start, size if part.stop is None else part.stop]
    if step < 1 or any(not isinstance(x, int | Size) for x in bounds):
        raise TypeError("along a size that is not known, a step is positive")
    start, stop = (x + size if x < 0 else x for x in bounds)
    start, stop = (min(x, size) for x in (start, stop))
    return start, max(stop, start), step


def picked(x: Node, parts: Sequence[Part]) -> Node:
    """The elements that the parts name, one part for each axis.

    Index tensors broadcast together; their axes stand where they stood, or first if other parts
    stand between them. An integer beside them counts as one of them.
    """
    box = Box(x, parts)
    result = box.read(x)
    indices = [part for part in parts if isinstance(part, Node)]
    if not indices:
        return result
    advanced = [k for k, part in enumerate(parts) if isinstance(part, Node | int)]
    together = all(b - a == 1 for a, b in pairwise(advanced))
    rest = [axis for axis in range(len(box.shape)) if axis not in box.looked]
    at = box.looked[0] if together else 0
    order = (*rest[:at], *box.looked, *rest[at:])
    result = m.permute(result, order)
    sizes = result.shape[at : at + len(indices)]
    flat = result.reshape((*result.shape[:at], prod(sizes), *result.shape[at + len(indices) :]))
    found: Node = take(flat, _joined(indices, sizes), axis=at)
    return found


def _joined(indices: Sequence[Node], sizes: Shape) -> Node:
    """Several indices as one into the axes they go along taken together."""
    try:
        shape = broadcast("index", *(index.shape for index in indices))
    except ShapeError:
        shown = " and ".join(str(index.shape) for index in indices)
        hint = "sizes must be equal or 1, counted from the last axis"
        raise IndexingError(
            explain("index", "the index tensors do not broadcast", hint, shapes=shown)
        ) from None
    total = indices[0] * strides_of(sizes)[0] if len(indices) > 1 else indices[0]
    for index, step in zip(indices[1:], strides_of(sizes)[1:], strict=True):
        total = total + index * step
    return total.expand(shape)
