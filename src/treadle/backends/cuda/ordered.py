"""Sorted elements without their indices, where nobody else wants these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from treadle.backends.cuda.sort import VALUES
from treadle.ir.graph import rebuild, toposort
from treadle.ir.node import Call, Node, new_node
from treadle.ops.contract import gather
from treadle.ops.scan import argsort


def with_values(roots: Sequence[Node]) -> list[Node]:
    """The graph with elements taken in their order as one sort of elements."""
    order = toposort(roots)
    if not any(node.op is argsort for node in order):
        return list(roots)
    readers = Counter(x for node in order for x in node.operands) + Counter(roots)
    done: dict[Node, Node] = {}
    for node in order:
        operands = tuple([done[x] for x in node.operands])
        done[node] = _sorted(node, operands) if _is_sort(node, readers) else rebuild(node, operands)
    return [done[root] for root in roots]


def _is_sort(node: Node, readers: Counter[Node]) -> bool:
    if node.op is not gather:
        return False
    x, index = node.operands
    mine = index.op is argsort and index.operands[0] is x and index.arg[0] == node.arg
    return mine and readers[index] == 1


def _sorted(node: Node, operands: tuple[Node, ...]) -> Node:
    x, index = operands
    made = new_node(Call(argsort, (*index.arg, VALUES), node.type, ()), (x,))
    made.site = node.site
    return made
