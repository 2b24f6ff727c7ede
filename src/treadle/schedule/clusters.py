"""Groups of nodes that share a kernel, how they line up, and which group depends on which.

A group iterates over `size` elements, seen as segments (extent, reduced). A member is FULL (one
value per element), ROW (one per point of the segments that are not reduced) or COLUMN (a sum over
rows, kept per block of rows and joined by a kernel of its own).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal, NamedTuple

from treadle.base.shapes import Shape
from treadle.ir.node import Node
from treadle.ir.region import PROJECT
from treadle.ops import movement as m
from treadle.ops.defs import Kind
from treadle.ops.reduce import sum_

FULL, ROW, COLUMN = "full", "row", "column"
Folding = tuple[tuple[int, bool], ...]
APART = {
    Kind.CONTRACT: "product", Kind.SCATTER: "scatter", Kind.SCAN: "scan", Kind.ROUTINE: "routine",
    Kind.REGION: "region", Kind.RESULT: "region",
}  # fmt: skip
"""Kinds of ops that are kernels of their own, and what those kernels are called."""
ROUTINES = (Kind.SCAN, Kind.ROUTINE)
"""Those that are no loop programs: operands lie in memory, in order."""


@dataclass(eq=False)
class Cluster:
    """Nodes of one kernel."""

    number: int
    kind: str  # "loop", "copy" (a view written out), "chain", or one of APART
    size: int
    folding: Folding | None = None
    members: dict[Node, str] = field(default_factory=dict)
    before: dict[Cluster, bool] = field(default_factory=dict)  # read from: aligned everywhere?
    after: set[Cluster] = field(default_factory=set)  # the other direction
    reason: str = ""  # why it is not part of the kernel before it
    last: int = 0  # highest node number
    rank: int = 0  # above that of everything it reads from: an order in which all could run

    def __repr__(self) -> str:
        return f"k{self.number}"


def folding_of(shape: Shape, axes: Sequence[int]) -> Folding:
    """Segments of a shape whose axes are reduced: neighbours of a kind as one, none of size 1."""
    segments: list[tuple[int, bool]] = []
    for axis, size in enumerate(shape):
        flag = axis in axes
        if size == 1:
            continue
        if segments and segments[-1][1] == flag:
            segments[-1] = (segments[-1][0] * size, flag)
        else:
            segments.append((size, flag))
    return tuple(segments)


def along_tiles(node: Node, columns: int) -> str:
    """What tiles of a product leave of a reduction: a value per ROW, per COLUMN, or "" for none."""
    x, axes = node.operands[0], node.arg[0]
    if node.op.kind is not Kind.REDUCE or not node.dtype.compute.is_float:
        return ""
    if columns < 2 or x.shape[-1:] != (columns,):
        return ""
    if len(x.shape) - 1 in axes:
        return ROW
    whole = all(k in axes or size == 1 for k, size in enumerate(x.shape[:-1]))
    return COLUMN if whole and node.op is sum_ else ""


def is_virtual(node: Node) -> bool:
    """Never needs a kernel of its own: sources and views."""
    return node.op.kind in (Kind.SOURCE, Kind.MOVEMENT)


class Read(NamedTuple):
    """How a consumer reads a computed node through views.

    aligned: "same" position, "spread" along the folding's reduced segments, or "" otherwise.
    """

    base: Node
    aligned: str
    folding: Folding | None = None


def reads_of(node: Node) -> Iterator[Read]:
    """Every computed node that node reads, through any views."""
    if node.op is PROJECT:
        return  # what makes it is the same kernel
    for position, operand in enumerate(node.operands):
        if node.op.kind is Kind.GATHER and position == 0:
            yield from _through(operand, "", None)
        elif node.op.kind is Kind.ELEMENTWISE and operand.shape != node.shape:
            spread = _spread(operand.shape, node.shape)
            if not spread:  # only size-1 axes in front
                yield from _through(operand, "same", None)
            else:
                yield from _through(operand, "spread", folding_of(node.shape, spread))
        else:
            aligned = "" if node.op.kind in APART else "same"
            yield from _through(operand, aligned, None)


def _spread(shape: Shape, wide: Shape) -> list[int]:
    """The axes of wide along which shape repeats."""
    lead = len(wide) - len(shape)
    return [k for k, size in enumerate(wide) if k < lead or shape[k - lead] != size]


def without_reshape(node: Node) -> Node:
    """The node below reshapes: the same bytes."""
    while node.op is m.reshape:
        node = node.operands[0]
    return node


def bases_of(node: Node) -> list[Node]:
    """Computed nodes below a view."""
    return [read.base for read in _through(node, "", None)]


def _through(node: Node, aligned: str, folding: Folding | None) -> Iterator[Read]:
    while is_virtual(node):
        if not node.operands:
            return
        if node.op is m.expand:
            spread = _spread(node.operands[0].shape, node.shape)
            if spread:
                folding = folding_of(node.shape, spread) if aligned == "same" else None
                aligned = "spread" if aligned == "same" else ""
        elif node.op is m.concat:
            for part in node.operands:
                yield from _through(part, "", None)
            return
        elif node.op is not m.reshape:
            aligned, folding = "", None
        node = node.operands[0]
    yield Read(node, aligned, folding)


def depends(late: Cluster, early: Cluster, skip_direct: bool = False) -> bool:
    """Does late need early, directly or through others (skip_direct: through others only)?"""
    if early in late.before and not skip_direct:
        return True
    stack = [c for c in late.before if c.rank > early.rank]  # others are no way there
    seen = set(stack)
    while stack:
        cluster = stack.pop()
        if early in cluster.before:
            return True
        for other in cluster.before:
            if other.rank > early.rank and other not in seen:
                seen.add(other)
                stack.append(other)
    return False


def put_before(early: Cluster, late: Cluster) -> None:
    """Ranks for late to read early, which does not need late."""
    if early.rank > late.rank:
        low, high = late.rank, early.rank
        needed = _reached([early], "before", low, high + 1)
        waiting = _reached([late], "after", low - 1, high)
        _rank([*needed, *waiting])


def put_together(one: Cluster, two: Cluster) -> None:
    """The rank of one for both, where neither needs the other through a third."""
    low, high = sorted((one, two), key=_by_rank)
    needed = _reached(_others(high.before, low), "before", low.rank, high.rank)
    waiting = _reached(_others(low.after, high), "after", low.rank, high.rank)
    _rank([*needed, one, *waiting], [two.rank])


def _others(clusters: Iterable[Cluster], apart_from: Cluster) -> list[Cluster]:
    return [c for c in clusters if c is not apart_from]


_by_rank = attrgetter("rank")


def _reached(
    start: Iterable[Cluster], way: Literal["before", "after"], low: int, high: int
) -> list[Cluster]:
    """Start and all that lies that way, as far as ranks are between low and high; in order."""
    found = {c: None for c in start if low < c.rank < high}
    stack = list(found)
    while stack:
        for other in getattr(stack.pop(), way):
            if other not in found and low < other.rank < high:
                found[other] = None
                stack.append(other)
    return sorted(found, key=_by_rank)


def _rank(clusters: Sequence[Cluster], more: Sequence[int] = ()) -> None:
    """The clusters' own ranks, and more that are free, given out in the order they come in."""
    ranks = sorted([*(c.rank for c in clusters), *more])
    for cluster, rank in zip(clusters, ranks, strict=False):
        cluster.rank = rank
