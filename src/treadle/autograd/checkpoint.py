"""Segments whose inner values are computed again for the gradient instead of being kept.

A segment is known by its result and the nodes it starts from. When the backward walk reaches the
result, the segment is recorded once more on the same starting points, but `after` the cotangent has
arrived: so nothing of the second run is shared with the first, and nothing of the first is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from treadle.autograd.custom import ROUTES
from treadle.ir.graph import rebuild, toposort
from treadle.ir.node import Node
from treadle.ir.recording import RECORDING
from treadle.ops import movement as m
from treadle.ops.elementwise import after
from treadle.ops.transfer import transfer


class Segment(NamedTuple):
    """The nodes a segment starts from."""

    arguments: tuple[Node, ...]
    others: tuple[Node, ...]  # that need a gradient: parameters, mostly


SEGMENTS: WeakKeyDictionary[Node, Segment] = WeakKeyDictionary()
"""By the node of the result, whose one operand is the result itself."""


def segment_of(result: Node, arguments: Sequence[Node]) -> Segment | None:
    """The segment between arguments and result; None if the result depends on none of them."""
    inside: set[Node] = set(arguments)
    others: dict[Node, None] = {}
    for node in toposort([result], inside.__contains__):
        if any(x in inside for x in node.operands):
            inside.add(node)
            others |= {x: None for x in node.operands if x not in inside and x.needs_grad}
    return Segment(tuple(arguments), tuple(others)) if result in inside else None


def pulled_back(
    result: Node,
    g: Node,
    pull: Callable[[Node, Sequence[Node], Node, Callable[[Node], bool]], Sequence[Node | None]],
) -> list[tuple[Node, Node | None]]:
    """Every start of a segment with its part of the cotangent g, by pull on a second recording."""
    segment = SEGMENTS[result]
    starts = segment.arguments + segment.others
    (inner,) = result.operands
    known = {x: _late(x, g) for x in segment.arguments} | {x: x for x in segment.others}
    late = list(known.values())
    for node in toposort([inner], known.__contains__):
        if node not in known:
            copy = known[node] = rebuild(node, tuple([known[x] for x in node.operands]))
            if RECORDING.watched and copy is not node:
                RECORDING.note(copy)
            if node in SEGMENTS:
                parts = [tuple(known.get(x, x) for x in part) for part in SEGMENTS[node]]
                SEGMENTS[copy] = Segment(*parts)
            if node in ROUTES:
                ROUTES[copy] = ROUTES[node]
    found = pull(known[inner], late, g, set(late).__contains__)
    return list(zip(starts, found, strict=True))


def _late(x: Node, g: Node) -> Node:
    """x, but only when g is there."""
    if not g.type.size:
        return x
    first = m.slice_(g.reshape(-1), [(0, 1, 1)]).reshape(())
    node = after(x, first if g.device is x.device else transfer(first, x.device))
    node.needs_grad = x.needs_grad
    return node
