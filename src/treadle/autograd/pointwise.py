"""Which composites are elementwise: made of nothing but elementwise ops."""

from __future__ import annotations

from typing import Any

from treadle.base.errors import ShapeError
from treadle.base.shapes import broadcast
from treadle.ir.graph import toposort
from treadle.ir.node import CONST, Call, Node, definition, new_node, placeholder
from treadle.ops.defs import Kind

MOST = 10_000
_KNOWN: dict[tuple[Any, ...], tuple[Any, ...]] = {}


def is_pointwise(node: Node) -> bool:
    """Is every element of a node made of those of its operands at the same index?"""
    return bool(steps_of(node))


def steps_of(node: Node) -> tuple[Any, ...]:
    """The elementwise ops that a node is made of, equal for equal functions; else nothing."""
    if node.op.kind is Kind.ELEMENTWISE:
        return (node.op, node.arg)
    if node.op.kind is not Kind.COMPOSITE:
        return ()
    key = (node.call, *(x.type for x in node.operands))
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= MOST:
            _KNOWN.clear()
        found = _KNOWN[key] = _looked_at(node.call, [placeholder(x.type) for x in node.operands])
    return found


def _looked_at(call: Call, operands: list[Node]) -> tuple[Any, ...]:
    try:
        shape = broadcast(call.op.name, *(x.shape for x in operands))
    except ShapeError:
        return ()
    if call.type.shape != shape:
        return ()
    root = definition(new_node(call, tuple(operands)))
    number = {node: k for k, node in enumerate(operands)}
    steps: list[Any] = []
    for node in toposort([root], number.__contains__):
        if node not in number:
            number[node] = len(number)
            own = (CONST, node.arg, node.dtype) if node.op is CONST else steps_of(node)
            if not own:
                return ()
            steps.append((own, *(number[x] for x in node.operands)))
    return (*steps, number[root])
