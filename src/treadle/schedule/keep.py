"""Which values are kept in memory and which are computed again where they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from treadle.base.sizes import Size, most
from treadle.ir.node import LEAF, Node
from treadle.ops import movement as m
from treadle.ops.contract import gather
from treadle.ops.defs import Kind
from treadle.ops.windows import shear
from treadle.schedule.clusters import (
    APART,
    COLUMN,
    ROUTINES,
    Cluster,
    Read,
    bases_of,
    is_virtual,
    without_reshape,
)  # fmt: skip

MOST_FLOPS = 60.0  # per element: more is not computed twice
MOST_LOADS = 2  # elements read to compute one again; keeping it costs a write and a read
ONE_FLOPS = 30.0  # the same for a single number, which every block of a reader would compute
FREE_FLOPS = 200.0  # what may be spent where nothing is read at all, as for random bits
FEW = 8  # elements side by side: more are a vector
MOST_PARTS = 8  # of a concat: whoever reads it where it stands looks for the part of each element
WRITTEN_OUT = (m.concat, m.pad, shear)  # views that have no strides
HUGE = 1 << 28  # bytes: what memory is spared then counts
MANY = 64  # elements for each one of a row
MOST_READS = 32  # elements: of those who read more, nobody asks how many
Reads = frozenset[tuple[Node, object]]
"""Arrays in memory, and the views through which an element of each is read."""
NEVER: tuple[float, Reads] = (float("inf"), frozenset())


def keep(
    order: Sequence[Node],
    of: dict[Node, Cluster],
    reads: Mapping[Node, Sequence[Read]],
    roots: Sequence[Node],
    forced_by: Iterable[Node],
    hidden: AbstractSet[Node] = frozenset(),
) -> frozenset[Node]:
    """Roots, what products multiply, and what others read and is not cheap to compute again.

    hidden nodes live and die in tiles of chained products.
    """
    forced = {*(root for root in roots if root.op is not LEAF), *forced_by, *_read_as_arrays(order)}
    crossing = _crossing(order, of, reads)
    for node in forced:
        if is_virtual(node):
            crossing |= {base: 1 for base in bases_of(node) if base not in crossing}
    if not crossing:  # nothing to choose from
        return frozenset(x for x in order if x in forced and x not in hidden and x.op is not LEAF)
    kept: set[Node] = set()
    again: dict[Node, tuple[float, Reads]] = {}
    by_rows: dict[Node, tuple[float, Reads]] = {}  # the same if all reductions were kept
    for node in order:
        if node in hidden:
            again[node] = by_rows[node] = NEVER
            continue
        again[node] = _again(node, again)
        reduces = node.op.kind is Kind.REDUCE and node not in forced
        if reduces:
            by_rows[node] = (0.0, frozenset([(node, None)]))
        elif all([by_rows[x] is again[x] for x in node.operands]):  # noqa: C419 - faster
            by_rows[node] = again[node]
        else:
            by_rows[node] = _again(node, by_rows)
        cluster = of.get(node)
        alone = cluster is not None and (cluster.members[node] == COLUMN or node.op.kind in APART)
        times = crossing.get(node, 0)
        needed = node in forced or (times and (alone or not _is_cheap(node, times, *again[node])))
        if needed and node not in forced and not alone and _is_better_by_rows(node, times, by_rows):
            kept |= {x for x, _ in by_rows[node][1] if x.op is not LEAF}
            again[node] = by_rows[node]
        elif needed and node.op is not LEAF:
            kept.add(node)
            again[node] = by_rows[node] = (0.0, frozenset([(node, None)]))
    return frozenset(kept)


def _read_as_arrays(order: Sequence[Node]) -> set[Node]:
    """What somebody reads in memory, whatever it costs to compute."""
    found: set[Node] = set()
    for node in order:
        if node.op.kind is Kind.SCATTER:
            found |= {base for x in node.operands for base in bases_of(x)}
        elif node.op.kind in ROUTINES or node.op.kind is Kind.REGION:
            found |= {without_reshape(x) for x in node.operands}
        elif node.op is gather:
            found |= set(bases_of(node.operands[0]))
        elif node.op is m.concat and len(node.operands) > MOST_PARTS:
            found.add(node)
    return found


def _is_better_by_rows(node: Node, times: int, by_rows: dict[Node, tuple[float, Reads]]) -> bool:
    """Is it so large that its reductions, a number for each row, are rather kept instead of it?"""
    cost, reads = by_rows[node]
    rows = [x for x, _ in reads if x.op.kind is Kind.REDUCE]
    small = all(MANY * most(x.type.size) <= most(node.type.size) for x in rows)
    return most(node.type.nbytes) >= HUGE and small and _is_cheap(node, times, cost, reads)


def _is_cheap(node: Node, times: int, cost: float, reads: Reads) -> bool:
    """Is computing node again, so many times for each element of a reader, no more than a read?"""
    size = max(1, most(node.type.size))
    large = sum(1 for x, path in reads if 2 * most(x.type.size) > size or _is_woven(path))
    if not large:
        return cost * times <= FREE_FLOPS
    more = (large - 1) * times
    enough = ONE_FLOPS if size == 1 else MOST_FLOPS
    return cost * times <= enough and large <= MOST_LOADS and more <= MOST_LOADS


def _weaves(node: Node) -> bool:
    """Does a view put elements that lie apart, or one of them again and again, side by side?

    Whoever reads through it divides an index for every element.
    """
    x = node.operands[0]
    if node.op is not m.reshape or x.op not in (m.permute, m.expand) or not node.shape:
        return False
    few = x.shape[-1]
    return not isinstance(few, Size) and 1 < few <= FEW and most(node.shape[-1]) > few


def _is_woven(path: Any) -> bool:
    while path is not None:
        node, path = path
        if node.op is m.reshape:
            return True
    return False


def _crossing(
    order: Sequence[Node], of: dict[Node, Cluster], reads: Mapping[Node, Sequence[Read]]
) -> dict[Node, int]:
    """Nodes read by another kernel than their own, or through views that do not line up.

    And at how many places a kernel reads each, at most.
    """
    found: dict[Node, int] = {}
    places: dict[tuple[Cluster, Node], set[tuple[Node, int]]] = {}
    for node in order:
        if is_virtual(node):
            continue
        cluster, views = of[node], False
        for read in reads[node]:
            if of[read.base] is not cluster or not read.aligned:
                found.setdefault(read.base, 1)
            views = views or not read.aligned
        for operand in node.operands if views else ():
            for k, base in enumerate(bases_of(operand)):
                places.setdefault((cluster, base), set()).add((operand, k))
    for (_, base), where in places.items():
        if base in found:
            found[base] = max(found[base], len(where))
    return found


def _again(node: Node, again: dict[Node, tuple[float, Reads]]) -> tuple[float, Reads]:
    """(flops per element, elements read) to compute node where it is read; NEVER: far too many."""
    if node.op is LEAF:
        return 0.0, frozenset([(node, None)])
    if node.op.kind is Kind.REDUCE or node.op.kind in APART:
        return NEVER
    if node.op is gather and node.shape[node.arg] != 1:
        return NEVER
    cost, found = float(node.op.flops), frozenset[tuple[Node, object]]()
    for operand in node.operands:
        flops, reads = again[operand]
        cost += flops
        if (
            cost > FREE_FLOPS or len(found) > MOST_READS
        ):  # long chains would collect them at every step
            return NEVER
        found |= reads
    if node.op.kind is Kind.MOVEMENT and (node.op not in (m.reshape, m.expand) or _weaves(node)):
        found = frozenset([(array, (node, path)) for array, path in found])
    return cost, found
