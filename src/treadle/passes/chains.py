"""What is said in other words where products will be chained: the same sums by another way."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.ir.graph import substitute, toposort
from treadle.ir.node import Node
from treadle.ops.contract import dot
from treadle.ops.elementwise import mul
from treadle.ops.reduce import sum_
from treadle.passes.tiles import Space, find_spaces, is_swap


def for_chains(roots: Sequence[Node]) -> list[Node]:
    """The graph with sums over rows of tiles taken from finished products where there are some."""
    order = toposort(roots)
    known = {node.operands: node for node in order if node.op is dot}
    if len(known) < 2:
        return list(roots)
    change: dict[Node, Node] = {}
    for space in find_spaces(order, roots):
        change |= _from_products(space, known)
    return substitute(roots, change) if change else list(roots)


def _from_products(space: Space, known: dict[tuple[Node, ...], Node]) -> dict[Node, Node]:
    """Row sums of (a bᵀ) * p are those of a * (p b), and p b is there already."""
    found = {}
    for node in space.stats:
        x = node.operands[0]
        if node.op is not sum_ or x.op is not mul:
            continue
        for product, p in (x.operands, x.operands[::-1]):
            if product.op is not dot or not is_swap(product.operands[1]):
                continue
            a, b = product.operands[0], product.operands[1].operands[0]
            finished = known.get((p, b))
            if finished is not None and finished.shape == a.shape:
                found[node] = sum_(a * finished, axis=-1, keepdims=node.arg[1])
                break
    return found
