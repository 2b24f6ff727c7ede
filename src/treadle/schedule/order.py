"""In which order kernels run: operands first, memory freed early, otherwise as written."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from treadle.base.errors import CompilerError, explain
from treadle.base.sizes import most
from treadle.ir.node import Node
from treadle.schedule.clusters import Cluster

LOOKED_AT = 64  # ready kernels compared at each step: keeps the pass linear


@dataclass(frozen=True)
class Touched:
    """What a kernel reads, and the nodes with memory of their own that it writes."""

    reads: frozenset[Node]
    writes: frozenset[Node]


def order_clusters(
    touched: dict[Cluster, Touched],
    of: dict[Node, Cluster],
    outside: frozenset[Node],
    last_writers: Sequence[tuple[Node, Cluster]],
) -> list[Cluster]:
    """The clusters in the order to run them.

    outside are nodes whose memory is not ours to free. last_writers are nodes, each with the kernel
    that may write over it: that goes after the node's other readers where this is possible.
    """
    before: dict[Cluster, set[Cluster]] = {}
    readers: dict[Node, list[Cluster]] = {}
    for cluster, mine in touched.items():
        needed = {of[node] for node in mine.reads if node in of}
        before[cluster] = {c for c in needed if c is not cluster and c in touched}
        for node in mine.reads:
            readers.setdefault(node, []).append(cluster)
    for node, writer in last_writers:
        for cluster in readers.get(node, ()):
            if cluster is not writer and writer in before and not _needs(cluster, writer, before):
                before[writer].add(cluster)
    return _sorted(before, touched, outside)


def _needs(late: Cluster, early: Cluster, before: dict[Cluster, set[Cluster]]) -> bool:
    stack, seen = [late], {late}
    while stack:
        for other in before[stack.pop()]:
            if other is early:
                return True
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return False


def _sorted(
    before: dict[Cluster, set[Cluster]], touched: dict[Cluster, Touched], outside: frozenset[Node]
) -> list[Cluster]:
    after: dict[Cluster, list[Cluster]] = {cluster: [] for cluster in before}
    waiting = {cluster: len(needed) for cluster, needed in before.items()}
    for cluster, needed in before.items():
        for other in needed:
            after[other].append(cluster)
    left = Counter(node for mine in touched.values() for node in mine.reads)
    ready = sorted((c for c in before if not waiting[c]), key=lambda c: c.number)
    result: list[Cluster] = []
    while ready:
        cluster = _next(ready, touched, left, outside)
        ready.remove(cluster)
        result.append(cluster)
        left.subtract(touched[cluster].reads)
        for other in after[cluster]:
            waiting[other] -= 1
            if not waiting[other]:
                insort(ready, other, key=attrgetter("number"))
    if len(result) != len(before):
        stuck = [cluster for cluster in before if waiting[cluster]]
        raise CompilerError(explain("order", "kernels wait for each other", kernels=stuck))
    return result


def _next(
    ready: Sequence[Cluster], touched: dict[Cluster, Touched], left: Counter[Node],
    outside: frozenset[Node],
) -> Cluster:  # fmt: skip
    """The kernel that frees most memory, if one does; else the first in program order."""
    best, least = ready[0], 0
    for cluster in ready[:LOOKED_AT]:
        mine = touched[cluster]
        change = sum(most(node.type.nbytes) for node in mine.writes - outside)
        change -= sum(most(n.type.nbytes) for n in mine.reads - outside if left[n] == 1)
        if change < least:
            best, least = cluster, change
    return best
