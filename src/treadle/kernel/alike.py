"""Groups of one structure, as those of equal layers: built once, and again with other buffers."""

from __future__ import annotations

from dataclasses import replace

from treadle.ir.graph import toposort
from treadle.ir.node import Node
from treadle.kernel.build import Buffer, Builder, Built, axes_of, build_cluster
from treadle.schedule.clusters import Cluster

Key = tuple[object, ...]


class Alike:
    """The loop groups of one graph that were built so far, by their structure.

    Groups that are alike share their `Loops`: nobody changes those of a finished kernel.
    """

    def __init__(self, stored: frozenset[Node]) -> None:
        self.stored = stored
        self.known: dict[Key, tuple[Cluster, list[Node], list[Built]]] = {}

    def build(self, cluster: Cluster) -> list[Built]:
        """The kernels of a group, as `build_cluster` makes them."""
        key, nodes = self._read(cluster)
        if key not in self.known:
            self.known[key] = cluster, nodes, build_cluster(cluster, self.stored)
            return self.known[key][2]
        other, theirs, known = self.known[key]
        ours: dict[Buffer, Buffer] = dict(zip(theirs, nodes, strict=True))
        names = {x for b in known for x in b.buffers if isinstance(x, str)}  # of parts, by number
        ours |= {x: x.removesuffix(f"-{other.number}") + f"-{cluster.number}" for x in names}
        rows, *joins = [Built(b.loops, [ours[x] for x in b.buffers]) for b in known]
        return [rows, *(replace(join, joins=rows) for join in joins)]

    def _read(self, cluster: Cluster) -> tuple[Key, list[Node]]:
        """All that a group's kernels depend on but for whose memory they read, and its nodes."""
        builder = Builder(self.stored, frozenset(cluster.members))
        found: list[object] = [cluster.size, cluster.folding]
        for axes in axes_of(cluster):
            found += [(axis.name, axis.extent) for axis in axes], None
        nodes = toposort(cluster.members, builder.reads)
        number = {node: k for k, node in enumerate(nodes)}
        for node in nodes:
            if builder.reads(node):
                found.append(node.type)
                continue
            found += node.call, cluster.members.get(node), node in self.stored
            found += [number[x] for x in node.operands]
        found += [number[node] for node in cluster.members]
        return tuple([tuple(x) if isinstance(x, list) else x for x in found]), nodes
