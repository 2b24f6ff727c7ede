"""In which order kernels run."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from treadle.ir.node import Node
from treadle.schedule.clusters import Cluster


def order_clusters(
    clusters: Sequence[Cluster],
    reads: Callable[[Cluster], set[Node]],
    of: dict[Node, Cluster],
    last_writers: dict[Node, Cluster],
) -> list[Cluster]:
    """Operands first, otherwise as the user wrote it.

    last_writers maps a leaf to the kernel that replaces its value: it goes after the other readers
    of the leaf where that is possible, so that the new value can be written in place.
    """
    before: dict[Cluster, set[Cluster]] = {}
    for cluster in clusters:
        needed = {of[node] for node in reads(cluster) if node in of}
        before[cluster] = {c for c in needed if c is not cluster and c in clusters}
    for leaf, writer in last_writers.items():
        for cluster in clusters:
            if cluster is not writer and leaf in reads(cluster) and writer in before:
                if not _needs(cluster, writer, before):
                    before[writer].add(cluster)
    return _sorted(before)


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


def _sorted(before: dict[Cluster, set[Cluster]]) -> list[Cluster]:
    after: dict[Cluster, list[Cluster]] = {cluster: [] for cluster in before}
    waiting = {cluster: len(needed) for cluster, needed in before.items()}
    for cluster, needed in before.items():
        for other in needed:
            after[other].append(cluster)
    ready = [(c.number, k, c) for k, c in enumerate(before) if not waiting[c]]
    heapq.heapify(ready)
    result = []
    tie = len(before)
    while ready:
        _, _, cluster = heapq.heappop(ready)
        result.append(cluster)
        for other in after[cluster]:
            waiting[other] -= 1
            if not waiting[other]:
                tie += 1
                heapq.heappush(ready, (other.number, tie, other))
    assert len(result) == len(before), "kernels wait for each other"
    return result
