"""Products of a loop's body that need no step before them: made of all steps at once, outside."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from treadle.autograd.checkpoint import SEGMENTS
from treadle.ir.graph import is_realised, substitute, toposort
from treadle.ir.node import Node, apply, leaf
from treadle.ops.composite import linear, matmul
from treadle.ops.contract import matrix_product
from treadle.ops.elementwise import cast
from treadle.runtime.realize import TRACED

PRODUCTS = (matmul, matrix_product, linear)
MOST = 8  # elements that are written for each that was there


def lifted(
    params: list[Node], results: Sequence[Node], stacks: dict[Node, Node], length: int
) -> tuple[list[Node], dict[Node, Node]]:
    """Results that read more stacks, by their parameters; stacks are those of the slices.

    A product of a slice with what the body closes over is a slice of one large product.
    """
    order = toposort(results, is_realised)
    if any(node in SEGMENTS for node in order):
        return list(results), {}
    inside, whole = set(params), dict(stacks)
    change: dict[Node, Node] = {}
    found: dict[Node, Node] = {}
    for node in order:
        if node in inside or inside.isdisjoint(node.operands):
            continue
        inside.add(node)
        first = whole.get(node.operands[0])
        if first is None or not node.needs_grad:
            continue
        if node.op is cast:
            whole[node] = apply(cast, (first,), node.arg)
        elif node.op in PRODUCTS and inside.isdisjoint(node.operands[1:]) and _pays(node):
            change[node] = place = leaf(node.type, TRACED)
            place.needs_grad = True
            found[place] = _of_all(node, first, length)
    return (substitute(results, change) if change else list(results)), found


def _pays(node: Node) -> bool:
    """Do all steps share a matrix, and is a result not far larger than what it is made of?"""
    x, w = node.operands[:2]
    return w.ndim == 2 and x.ndim > 0 and node.type.size <= MOST * x.type.size


def _of_all(node: Node, stack: Node, length: int) -> Node:
    """A product on the values of all steps, as rows of one matrix."""
    shape = node.operands[0].shape
    rows = stack.reshape((length * prod(shape[:-1]), shape[-1]))
    made = apply(node.op, (rows, *node.operands[1:]), node.arg)
    result: Node = made.reshape((length, *node.shape))
    return result
