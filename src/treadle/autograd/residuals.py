"""What a backward pass needs of a forward pass: which values are kept, and which are made again."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from treadle.ir.graph import toposort
from treadle.ir.node import CONST, IOTA, LEAF, Node
from treadle.ops import movement as m
from treadle.ops.defs import Kind

CHEAP = 4.0  # operations for an element that are made again rather than kept
VIEWS = (m.reshape, m.permute, m.expand, m.slice_, m.flip)


def reached(roots: Sequence[Node], starts: Iterable[Node]) -> set[Node]:
    """Nodes below roots that depend on starts."""
    found = set(starts)
    for node in toposort(roots):
        if not found.isdisjoint(node.operands):
            found.add(node)
    return found


def residuals(
    roots: Sequence[Node], late: Container[Node], early: Container[Node], there: Iterable[Node]
) -> list[Node]:
    """Values to keep, so that late nodes can be computed: few, and none that others give cheaply.

    there: values that are kept anyway. What is neither early nor late is the same at every step.
    """
    order = toposort(roots)
    read = {x for node in order if node in late for x in node.operands if x not in late}
    read |= {root for root in roots if root not in late}
    kept: dict[Node, None] = dict.fromkeys(there)
    chosen: dict[Node, None] = {}
    for node in order:
        if node in read:
            new = [x for x in _bases(node, kept) if x in early]
            if len(new) > 1 and _bytes(new) > _bytes([node]):
                new = [node]
            kept |= dict.fromkeys(new)
            chosen |= dict.fromkeys(new)
    return list(chosen)


def _bytes(nodes: Iterable[Node]) -> int:
    return sum(node.type.nbytes for node in nodes)


def _bases(node: Node, kept: Container[Node]) -> list[Node]:
    """What has to be kept for a node to be made again: leaves are there, dear ones are not."""
    found: dict[Node, None] = {}
    stack, seen = [node], {node}
    while stack:
        x = stack.pop()
        if x in kept or x.op in (LEAF, CONST, IOTA):
            continue
        if not _is_cheap(x):
            found[x] = None
            continue
        for y in x.operands:
            if y not in seen:
                seen.add(y)
                stack.append(y)
    return list(found)


def _is_cheap(node: Node) -> bool:
    if node.op.kind is Kind.ELEMENTWISE:
        return node.op.flops <= CHEAP
    return node.op in VIEWS
