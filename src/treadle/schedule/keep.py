"""Which values are kept in memory and which are computed again where they are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treadle.base.sizes import most
from treadle.ir.node import LEAF, Node
from treadle.ops import movement as m
from treadle.ops.contract import gather
from treadle.ops.defs import Kind
from treadle.ops.windows import shear
from treadle.schedule.clusters import (
    APART,
    COLUMN,
    Cluster,
    bases_of,
    is_virtual,
    reads_of,
    without_reshape,
)  # fmt: skip

MOST_FLOPS = 60.0  # per element: more is not computed twice
MOST_LOADS = 2  # arrays read to compute it again; keeping it costs a write and a read
FREE_FLOPS = 200.0  # what may be spent where nothing is read at all, as for random bits
MOST_PARTS = 64  # of a concat: whoever reads it where it stands looks for the part of each element
WRITTEN_OUT = (m.concat, m.pad, shear)  # views that have no strides
NEVER = (float("inf"), frozenset[Node]())


def keep(
    order: Sequence[Node],
    of: dict[Node, Cluster],
    roots: Sequence[Node],
    multiplied: Iterable[Node],
) -> frozenset[Node]:
    """Roots, what products multiply, and what others read and is not cheap to compute again."""
    forced = {*(root for root in roots if root.op is not LEAF), *multiplied}
    for node in order:
        if node.op.kind is Kind.SCATTER:
            forced |= {base for x in node.operands for base in bases_of(x)}
        elif node.op.kind is Kind.SCAN:
            forced.add(without_reshape(node.operands[0]))
        elif node.op is gather:
            forced |= set(bases_of(node.operands[0]))
        elif node.op is m.concat and len(node.operands) > MOST_PARTS:
            forced.add(node)
    crossing = _crossing(order, of)
    crossing |= {base for node in forced if is_virtual(node) for base in bases_of(node)}
    kept: set[Node] = set()
    again: dict[Node, tuple[float, frozenset[Node]]] = {}
    for node in order:
        cost, loads = again[node] = _again(node, again)
        size = max(1, most(node.type.size))
        large = sum(1 for x in loads if 2 * most(x.type.size) > size)
        fine = cost <= (FREE_FLOPS if not large else MOST_FLOPS) and large <= MOST_LOADS
        cluster = of.get(node)
        alone = cluster is not None and (cluster.level[node] == COLUMN or node.op.kind in APART)
        needed = node in forced or (node in crossing and (alone or not fine))
        if needed and node.op is not LEAF:
            kept.add(node)
            again[node] = (0.0, frozenset([node]))
    return frozenset(kept)


def _crossing(order: Sequence[Node], of: dict[Node, Cluster]) -> set[Node]:
    """Nodes read by another kernel than their own, or through views that do not line up."""
    found = set()
    for node in order:
        if is_virtual(node):
            continue
        for read in reads_of(node):
            if of[read.base] is not of[node] or not read.aligned:
                found.add(read.base)
    return found


def _again(
    node: Node, again: dict[Node, tuple[float, frozenset[Node]]]
) -> tuple[float, frozenset[Node]]:
    """(flops per element, arrays read) to compute node where it is read; NEVER: far too many."""
    if node.op is LEAF:
        return 0.0, frozenset([node])
    if node.op.kind is Kind.REDUCE or node.op.kind in APART:
        return NEVER
    if node.op is gather and node.shape[node.arg] != 1:
        return NEVER
    cost, loads = float(node.op.flops), frozenset[Node]()
    for operand in node.operands:
        flops, arrays = again[operand]
        cost += flops
        if cost > FREE_FLOPS:  # arrays of long chains would be collected at every step
            return NEVER
        loads |= arrays
    return cost, loads
