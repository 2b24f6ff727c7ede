"""Boxes of elements put into a tensor: a comparison of indices, or written over a state."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce

from treadle.base.sizes import Size
from treadle.ir.graph import rebuild, toposort
from treadle.ir.node import Node
from treadle.ir.pattern import Rule
from treadle.ops import movement as m
from treadle.ops.contract import put
from treadle.ops.elementwise import bitwise_and, eq, where

LEAST = 4  # a box with more than one in so many elements is not worth a kernel of its own


def put_in_place(roots: Sequence[Node], replaced: Collection[Node]) -> list[Node]:
    """The graph in which small boxes that are put into a state stay what they are.

    replaced are the leaves whose memory roots may take over: what lies on the way from there, step
    by step another value of the same state, may be written over it.
    """
    lies = set(replaced)
    done: dict[Node, Node] = {}
    for node in toposort(roots):
        new = done[node] = rebuild(node, tuple([done[x] for x in node.operands]))
        if not node.operands or node.operands[0] not in lies:
            continue
        if node.type.size == node.operands[0].type.size:
            lies.add(node)
            if node.op is put and _is_small(node.operands[1].type.size, node.type.size):
                done[node] = put(*new.operands, node.arg[0], stays=True)
                done[node].site = node.site
    return [done[root] for root in roots]


def _is_small(box: int, whole: int) -> bool:
    """Worth a kernel of its own? One whose size is not known is, as it may be small."""
    return isinstance(box, Size) or LEAST * box <= whole


def _compared(node: Node) -> Node | None:
    """Values where every index is in its range: this fuses with what is around it."""
    (x, values), (ranges, stays) = node.operands, node.arg
    if stays:
        return None
    checks = [
        check
        for axis, (each, size) in enumerate(zip(ranges, x.shape, strict=True))
        for check in _inside(x.iota_like(axis), each, size)
    ]
    one = values
    while one.op in (m.expand, m.reshape):
        one = one.operands[0]
    if one.type.size == 1:
        wide = one.reshape(()).expand(x.shape)
    else:
        wide = m.placed(values, ranges, x.shape)
    return where(reduce(bitwise_and, checks), wide, x) if checks else wide


def _inside(index: Node, each: tuple[int, int, int], size: int) -> list[Node]:
    """Is an index in a range? No checks for a whole axis."""
    start, stop, step = each
    checks = [index >= start] if start else []
    checks += [index < stop] if stop < size and not (step > 1 and stop + step > size) else []
    checks += [eq((index - start) % step, 0)] if step > 1 else []
    return checks


BOXES = (Rule("compare-indices", put, _compared),)
