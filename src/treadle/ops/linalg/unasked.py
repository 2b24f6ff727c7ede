"""Has anybody asked for the gradient of some rows or columns? By how a cotangent was made.

What is used of a result comes back with a border of zeros. Where only that is used of a matrix,
the vectors beside it need no gradient: the free ones of a factorisation have none.
"""

from __future__ import annotations

from typing import Any

from treadle.ops.elementwise import add, cast, conj, mul, neg, sub
from treadle.ops.movement import pad, permute, reshape, slice_

Range = tuple[int, int]


def unasked(g: Any, place: Range, axis: int, first: int, count: int) -> bool:
    """Are the vectors from first to count of a matrix in a pack known to have the cotangent 0?

    The matrix lies flat at a place along the last axis of g; axis is its own, -1 or -2.
    """
    for part in _added(g, place):
        if part.op is not reshape or part.operands[0].ndim != g.ndim + 1:
            return False
        if not _is_nothing(part.operands[0], axis, first, count):
            return False
    return True


def _added(g: Any, place: Range) -> list[Any]:
    """What is added up at a place of the last axis; g itself where that is not known."""
    start, stop = place
    if g.op is add:
        return [part for x in g.operands for part in _added(x, place)]
    if g.op is conj:
        return _added(g.operands[0], place)
    if g.op is slice_ and g.shape == g.operands[0].shape:
        return _added(g.operands[0], place)
    if g.op is pad and g.arg[1] == 0:
        (x,), before = g.operands, g.arg[0][-1][0]
        if stop <= before or start >= before + x.shape[-1]:
            return []
        if start == before and stop == before + x.shape[-1]:
            return _added(x, (0, stop - start))
    return [g]


def _is_nothing(g: Any, axis: int, start: int, stop: int) -> bool:
    """Is g known to be 0 from start to stop along an axis?"""
    if start >= stop:
        return True
    inside = [x for x in g.operands if x.shape[axis:] == g.shape[axis:]]
    if g.op in (add, sub):
        return len(inside) == 2 and all(_is_nothing(x, axis, start, stop) for x in inside)
    if g.op in (mul, neg, conj, cast):
        return any(_is_nothing(x, axis, start, stop) for x in inside)
    if g.op is pad and g.arg[1] == 0:
        (x,), before = g.operands, g.arg[0][axis][0]
        return _is_nothing(x, axis, max(start - before, 0), min(stop - before, x.shape[axis]))
    if g.op is permute:
        return _is_nothing(g.operands[0], g.arg[axis] - g.ndim, start, stop)
    if g.op is slice_ and g.arg[axis][2] == 1:
        first = g.arg[axis][0]
        return _is_nothing(g.operands[0], axis, start + first, stop + first)
    return False
