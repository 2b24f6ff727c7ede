"""Which nodes share a kernel, and why not when not.

Nodes are taken in order; each joins the group of an operand if it lines up with it and no cycle
arises, merging the groups of its other operands where that is possible too. Afterwards groups that
read the same values over the same rows join sideways, and maps join the product before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from treadle.base import trace
from treadle.base.sizes import Size, most
from treadle.base.target import Takes
from treadle.ir.node import CONST, IOTA, LEAF, Node
from treadle.ir.region import PROJECT
from treadle.ops.defs import Kind
from treadle.ops.reduce import sum_
from treadle.schedule.chains import Chain
from treadle.schedule.clusters import (
    APART,
    COLUMN,
    FULL,
    ROW,
    Cluster,
    Folding,
    Read,
    along_tiles,
    depends,
    folding_of,
    is_virtual,
    put_before,
    put_together,
    reads_of,
    without_reshape,
)  # fmt: skip

MOST_NODES = 150  # of a kernel: longer ones compile slowly and spill registers
LARGE = 1 << 20  # elements: a kernel of their own is worth while
FEW = 1 << 12  # elements: for fewer, one kernel more costs more than it saves
COLUMN_ROWS = 64  # fewer rows than this are summed lane by lane, without partial sums


class Fusion:
    """Grouping of one graph."""

    def __init__(
        self, order: Sequence[Node], takes: Takes, chained: Mapping[Node, Chain],
        reducible: AbstractSet[Node] = frozenset(),
    ) -> None:  # fmt: skip
        self.order = order
        self.takes = takes
        self.reducible = reducible  # products that only others here read, from tiles as they lie
        self.chained = chained  # nodes of chains, which are next to each other in the order
        self.chains: dict[Chain, Cluster] = {}
        self.of: dict[Node, Cluster] = {}
        self.clusters: dict[Cluster, None] = {}
        self.position = {node: k for k, node in enumerate(order)}
        self.reads: dict[Node, list[Read]] = {}  # of every node that computes something
        self.refused: list[tuple[Node, Node, str]] = []  # (node, operand, why they are apart)

    def run(self) -> list[Cluster]:
        """Group every node that computes something."""
        for node in self.order:
            if not is_virtual(node):
                self.reads[node] = list(reads_of(node))
            if node in self.chained:
                self._place_in_chain(node, self.chained[node])
            elif not is_virtual(node):
                self._place(node)
        self._join_sideways()
        self._join_products()
        return list(self.clusters)

    # ---- one node

    def _place_in_chain(self, node: Node, chain: Chain) -> None:
        if chain not in self.chains:
            reason = "tiles of a product are used where they are made"
            self._open(node, "chain", node.type.size, None, FULL, reason)
            self.chains[chain] = self.of[node]
        else:
            self._enter(node, self.chains[chain], FULL)
            self._depend(self.chains[chain], self.reads[node])

    def _place(self, node: Node) -> None:
        if node.op is PROJECT:  # written by what it is a result of
            self._enter(node, self.of[node.operands[0]], FULL)
            return
        if node.op.kind in APART:
            article = "an" if node.op.name[0] in "aeiou" else "a"
            reason = f"{article} {node.op} is a kernel of its own"
            self._open(node, APART[node.op.kind], node.type.size, None, FULL, reason)
            return
        reads = self.reads[node]
        reason = "reads only memory"
        near = sorted({self.of[r.base] for r in reads}, key=lambda c: (-most(c.size), -c.last))
        for cluster in near:
            span, folding, why = self._fit(node, reads, cluster)
            if span:
                self._join(node, reads, cluster, span, folding)
                return
            reason = why
            if trace.is_heard():
                self._refuse(node, reads, cluster, why)
        if node.op.kind is Kind.REDUCE:
            size, folding = node.operands[0].type.size, _folding_of(node)
            span = COLUMN if _is_column(node, folding) else ROW
            own = _turned(folding) if span == COLUMN else folding
            self._open(node, "loop", size, own, span, reason)
        else:
            self._open(node, "loop", node.type.size, None, FULL, reason)

    def _refuse(self, node: Node, reads: Sequence[Read], cluster: Cluster, why: str) -> None:
        self.refused += [(node, r.base, why) for r in reads if self.of[r.base] is cluster]

    def _open(
        self, node: Node, kind: str, size: int, folding: Folding | None, span: str, reason: str
    ) -> None:
        number = self.position[node]
        cluster = Cluster(number, kind, size, folding, reason=reason, rank=number)
        self.clusters[cluster] = None
        self._enter(node, cluster, span)
        self._depend(cluster, self.reads[node])

    def _enter(self, node: Node, cluster: Cluster, span: str) -> None:
        self.of[node] = cluster
        cluster.members[node] = span
        cluster.last = max(cluster.last, self.position[node])

    def _depend(self, cluster: Cluster, reads: Sequence[Read]) -> None:
        for read in reads:
            other = self.of[read.base]
            if other is not cluster:
                fine = _lines_up(read, other) and cluster.before.get(other, True)
                put_before(other, cluster)
                cluster.before[other] = fine
                other.after.add(cluster)

    def _fit(
        self, node: Node, reads: Sequence[Read], cluster: Cluster
    ) -> tuple[str, Folding | None, str]:
        """The span of node in cluster ("" if it does not fit), the folding then, and why not."""
        if cluster.kind != "loop":
            return "", None, f"{cluster.kind} results are read back"
        if len(cluster.members) >= MOST_NODES:
            return "", None, "the kernel is long enough"
        span, folding = "", cluster.folding
        for read in reads:
            if self.of[read.base] is not cluster:
                continue
            found, folding = _span_of(node, read, cluster.members[read.base], folding)
            if not found or (span and found != span):
                return "", None, "elements do not line up"
            span = found
        size = node.operands[0].type.size if span == COLUMN else node.type.size
        if span in (FULL, COLUMN) and size != cluster.size:
            return "", None, "another number of elements"
        for read in reads:
            other = self.of[read.base]
            if other is not cluster and depends(other, cluster):
                return "", None, "would wait for itself"
        return span, folding, ""

    def _join(
        self, node: Node, reads: Sequence[Read], cluster: Cluster, span: str,
        folding: Folding | None,
    ) -> None:  # fmt: skip
        cluster.folding = folding
        self._enter(node, cluster, span)
        self._depend(cluster, reads)
        for read in reads:
            other = self.of[read.base]
            same = other is not cluster and read.aligned == "same" and span == FULL
            if same and node.op.kind is Kind.ELEMENTWISE and other.members[read.base] == FULL:
                self._merge(cluster, other)

    def _merge(self, cluster: Cluster, other: Cluster) -> bool:
        """Put other's nodes into cluster, if both iterate alike and nothing lies between them."""
        if other is cluster or {cluster.kind, other.kind} != {"loop"} or other.size != cluster.size:
            return False
        foldings = {f for f in (cluster.folding, other.folding) if f is not None}
        if len(foldings) > 1 or not self._may_be_one(cluster, other):
            return False
        cluster.folding = next(iter(foldings), None)
        self._unite(cluster, other)
        return True

    def _may_be_one(self, cluster: Cluster, other: Cluster) -> bool:
        """Is there room, and does neither wait for the other through a third?"""
        if len(cluster.members) + len(other.members) > MOST_NODES:
            return False
        if not cluster.before.get(other, True) or not other.before.get(cluster, True):
            return False
        return not depends(cluster, other, True) and not depends(other, cluster, True)

    def _unite(self, cluster: Cluster, other: Cluster) -> None:
        put_together(cluster, other)
        for node, span in other.members.items():
            self._enter(node, cluster, span)
        for third, fine in other.before.items():
            third.after.discard(other)
            if third is not cluster:
                cluster.before[third] = fine and cluster.before.get(third, True)
                third.after.add(cluster)
        for third in other.after:
            fine = third.before.pop(other)
            if third is not cluster:
                third.before[cluster] = fine and third.before.get(cluster, True)
                cluster.after.add(third)
        cluster.after.discard(other)
        cluster.number = min(cluster.number, other.number)
        del self.clusters[other]

    # ---- afterwards

    def _join_sideways(self) -> None:
        """Groups over the same rows that read the same computed or stored values."""
        readers: dict[tuple[Node, int], dict[Cluster, None]] = {}
        for node in self.order:
            cluster = self.of.get(node)
            if cluster is None or cluster.kind != "loop":
                continue
            for source in self._read_sideways(node, cluster):
                if source.type.size == cluster.size and source.type.size > 1:
                    readers.setdefault((source, cluster.size), {})[cluster] = None
        for group in readers.values():
            alive = [c for c in group if c in self.clusters]
            for first, second in pairwise(alive):
                if first in self.clusters and second in self.clusters:
                    self._merge(second, first)

    def _read_sideways(self, node: Node, cluster: Cluster) -> list[Node]:
        """What node reads; of maps in other groups also what these read: they may be run again."""
        found = _sources(node)
        for x in [x for x in found if x.op.kind is Kind.ELEMENTWISE and self.of[x] is not cluster]:
            found += _sources(x)
        return found

    def _join_products(self) -> None:
        """Maps over the result of a product run on its tiles while they are in registers."""
        for node in self.order:
            cluster = self.of.get(node)
            if cluster is None or node.op.kind is not Kind.CONTRACT:
                continue
            if node.dtype not in self.takes.products:
                continue  # it becomes plain loops
            for other in self._readers(cluster):
                fits = self._is_map_of(other, node, cluster) and self._may_be_one(cluster, other)
                if fits and self._has_streams(other, node, cluster):
                    self._unite(cluster, other)

    def _readers(self, cluster: Cluster) -> list[Cluster]:
        """Maps first: reductions join tiles that are not just stored, or not at all."""
        return sorted(cluster.after, key=lambda c: (c.folding is not None, c.number))

    def _is_map_of(self, other: Cluster, node: Node, cluster: Cluster) -> bool:
        alike = other.kind == "loop" and other.size == node.type.size
        if not alike or not other.before[cluster] or depends(other, cluster, True):
            return False
        columns = node.shape[-1]
        if cluster.kind == "chain" and not self._reads_only(other, node, cluster):
            return False
        elements = [n for n, span in other.members.items() if span == FULL]
        if other.folding is not None and not self._is_reduced_by_tiles(other, node, cluster):
            return False
        return not self._waits(other, elements, cluster) and all(
            n.type.size == other.size and n.shape and n.shape[-1] == columns for n in elements
        )

    def _is_reduced_by_tiles(self, other: Cluster, product: Node, cluster: Cluster) -> bool:
        """Can tiles leave a part of every reduction?"""
        known = other.size and Size not in map(type, product.shape)
        if not known or product not in self.reducible or cluster.kind != "product":
            return False
        if len(cluster.members) == 1 and len(cluster.after) > 1:
            self.refused.append(
                (next(iter(other.members)), product, "tiles are stored as they are")
            )
            return False
        reduces = [n for n in other.members if n.op.kind is Kind.REDUCE]
        return all(along_tiles(n, product.shape[-1]) for n in reduces)

    def _waits(self, other: Cluster, elements: Sequence[Node], cluster: Cluster) -> bool:
        """Is a reduction wanted for elements? Then rows are read again once it is there."""
        spans = cluster.members | other.members
        for n in elements:
            for read in self.reads[n]:
                if spans.get(read.base, FULL) != FULL:
                    self.refused.append((n, read.base, "elements wait for a reduction of tiles"))
                    return True
        return False

    def _has_streams(self, other: Cluster, product: Node, cluster: Cluster) -> bool:
        """Few enough arrays for tiles to come by? A loop over whole rows goes through many."""
        size = most(other.size)
        if size < FEW or cluster.kind != "product":
            return True
        own = cluster.members | other.members
        maps = [n for n in own if n is not product]
        arrays = {array for n in maps for array in _arrays(n) if array not in own}
        large = [array for array in arrays if 2 * most(array.type.size) > size]
        touched, given = len(large), sum(array.op is LEAF for array in large)
        outside = {n: None for c in other.after | cluster.after for n in c.members if n not in own}
        wanted, used = ({read.base for n in x for read in self.reads[n]} for x in (outside, maps))
        touched += sum(own[n] == FULL and (n in wanted or n not in used) for n in own)
        flops = sum(n.op.flops for n, span in other.members.items() if span == FULL)
        slow = product.dtype.is_storage and size >= LARGE and flops > self.takes.after
        slow = slow and (bool(large) or not self.takes.beside(product, maps))
        deep = most(product.operands[0].shape[-1]) >= self.takes.depth
        few = touched <= self.takes.streams or deep or size < self.takes.many
        if few and given <= self.takes.given and not slow:
            return True
        why = "tiles would meet many arrays or take long"
        self.refused.append((next(iter(other.members)), product, why))
        return False

    def _reads_only(self, other: Cluster, node: Node, cluster: Cluster) -> bool:
        """Is a product all that a map reads of a chain?"""
        bases = {read.base for n in other.members for read in self.reads[n]}
        return {base for base in bases if self.of[base] is cluster} == {node}


def _lines_up(read: Read, other: Cluster) -> bool:
    """Would the read stay within an element, or within a row, if its reader were in other too?"""
    span = other.members[read.base]
    if read.aligned != "spread":
        return read.aligned == "same" and span != COLUMN
    return span == ROW and read.folding == other.folding


def _sources(node: Node) -> list[Node]:
    """What node reads through reshapes: values in memory or computed elsewhere."""
    below = [without_reshape(operand) for operand in node.operands]
    return [x for x in below if x.op not in (CONST, IOTA)]


def _arrays(node: Node) -> list[Node]:
    """What node reads through any views: values in memory or computed elsewhere."""
    found = []
    for x in _sources(node):
        while x.op.kind is Kind.MOVEMENT and len(x.operands) == 1:
            x = x.operands[0]  # noqa: PLW2901
        found += [x] if x.op not in (CONST, IOTA) else []
    return found


def _folding_of(node: Node) -> Folding:
    return folding_of(node.operands[0].shape, node.arg[0])


def _turned(folding: Folding) -> Folding:
    return tuple((extent, not flag) for extent, flag in folding)


def _is_column(node: Node, folding: Folding) -> bool:
    """A sum over many rows, done in blocks of rows?"""
    flags = tuple(flag for _, flag in folding)
    return node.op is sum_ and flags == (True, False) and most(folding[0][0]) >= COLUMN_ROWS


def _span_of(
    node: Node, read: Read, span: str, folding: Folding | None
) -> tuple[str, Folding | None]:
    """(span of node, folding of the group) if node reads a member of that span so."""
    if span == COLUMN or not read.aligned:
        return "", folding
    if node.op.kind is Kind.REDUCE:
        if read.aligned != "same" or span != FULL:
            return "", folding
        mine = _folding_of(node)
        if folding in (None, mine) and not (folding is None and _is_column(node, mine)):
            return ROW, mine
        if _is_column(node, mine) and folding in (None, _turned(mine)):
            return COLUMN, _turned(mine)
        return "", folding
    if read.aligned == "same":
        return span, folding
    if span == ROW and read.folding == folding:
        return FULL, folding
    return "", folding
