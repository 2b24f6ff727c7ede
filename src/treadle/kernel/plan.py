"""A simplified graph as a list of tasks in order: loop programs, products, what they touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from treadle.base import trace
from treadle.base.dtypes import DType
from treadle.base.shapes import strides_of
from treadle.ir.graph import toposort
from treadle.ir.node import LEAF, Node
from treadle.kernel.build import (
    Built,
    build_cluster,
    build_copies,
    build_epilogue,
    build_product,
    build_scatter,
)  # fmt: skip
from treadle.kernel.chain import Chained, Strided, widened
from treadle.kernel.chain_build import build_chain, judged
from treadle.kernel.index import ZERO, Axis, Index
from treadle.kernel.lower import Lowering
from treadle.ops.defs import Kind
from treadle.schedule.chains import Ability, Chains
from treadle.schedule.clusters import FULL, Cluster, without_reshape
from treadle.schedule.fuse import Fusion
from treadle.schedule.keep import WRITTEN_OUT, below_views, keep
from treadle.schedule.order import Touched, order_clusters


@dataclass(eq=False)
class Product:
    """A matrix product with an optional epilogue."""

    dot: Node
    left: Strided
    right: Strided
    epilogue: Built | None


@dataclass(frozen=True)
class Scan:
    """A running total or an order along an axis; the operand's elements lie in source's memory."""

    node: Node
    source: Node


@dataclass(eq=False)
class Task:
    """One group of nodes as kernels to run in order."""

    cluster: Cluster
    kernels: list[Built] = field(default_factory=list)
    product: Product | None = None
    scan: Scan | None = None
    chain: Chained | None = None
    writes: list[Node] = field(default_factory=list)

    def reads(self) -> set[Node]:
        """Nodes whose memory is read."""
        parts = list(self.kernels)
        found: set[Node] = set()
        if self.product:
            found |= {self.product.left.base, self.product.right.base}
            parts += [self.product.epilogue] if self.product.epilogue else []
        if self.scan:
            found.add(self.scan.source)
        if self.chain:
            found |= self.chain.reads()
        for built in parts:
            for argument, buffer in zip(built.loops.arguments, built.buffers, strict=True):
                if isinstance(buffer, Node) and not argument.written:
                    found.add(buffer)
        return found


def as_stored(
    roots: Sequence[Node], replaces: dict[Node, Node]
) -> tuple[list[Node], dict[Node, Node]]:
    """Roots, and those that replace leaves, as they lie in memory: without reshapes."""
    found = {without_reshape(root): leaf for root, leaf in replaces.items()}
    return [without_reshape(root) for root in roots], found


def plan_tasks(
    roots: Sequence[Node], replaces: dict[Node, Node], templates: Sequence[DType],
    able: Ability | None = None,
) -> list[Task]:  # fmt: skip
    """Tasks that compute roots, in the order to run them.

    replaces maps a root to the leaf whose memory it takes over, if that turns out to be possible.
    templates are the dtypes that the backend multiplies by a template; others become loops.
    able says which products it can chain.
    """
    order = toposort(roots)
    in_place = {x: strided(x) for n in order if n.op.kind is Kind.CONTRACT for x in n.operands}
    narrow = {x: y for x in in_place if (y := widened(x)) is not x} if able else {}
    in_place |= {y: strided(y) for y in narrow.values()}
    in_chains = in_place | {x: in_place[y] or _plain(y) for x, y in narrow.items()}
    with trace.stage("fuse"):
        judge = partial(judged, order=order, in_place=in_chains)
        chains = Chains(order, roots, able or Ability(), judge)
        order = chains.order
        fusion = Fusion(order, templates, chains.of)
        fusion.run()
    trace.tell("refused", [*chains.refused, *fusion.refused])
    stored = keep(order, fusion.of, roots, lambda x: in_place.get(x) is not None, chains)
    tasks = {c: _task(c, stored, in_place, templates) for c in fusion.clusters
             if c.kind != "chain" and any(n in stored for n in c.level)}  # fmt: skip
    for chain, cluster in fusion.chains.items():
        writes = [node for node in cluster.level if node in stored]
        built = build_chain(chain, list(cluster.level), stored, in_chains)
        tasks[cluster] = Task(cluster, chain=built, writes=writes)
    for node in stored:
        if node not in fusion.of:
            cluster = Cluster(fusion.position[node], "copy", node.type.size)
            cluster.level[node] = FULL
            fusion.of[node] = cluster
            tasks[cluster] = Task(cluster, build_copies(node, stored), writes=[node])
    touched = {
        cluster: Touched(frozenset(task.reads()), frozenset(task.writes))
        for cluster, task in tasks.items()
    }
    writers = {leaf: fusion.of[root] for root, leaf in replaces.items() if root in fusion.of}
    outside = frozenset([*roots, *(node for node in order if node.op is LEAF)])
    ordered = order_clusters(touched, fusion.of, outside, writers)
    return [tasks[cluster] for cluster in ordered]


def _task(
    cluster: Cluster, stored: frozenset[Node], in_place: dict[Node, Strided | None],
    templates: Sequence[DType],
) -> Task:  # fmt: skip
    writes = [node for node in cluster.level if node in stored]
    if cluster.kind == "loop":
        return Task(cluster, build_cluster(cluster, stored), writes=writes)
    if cluster.kind == "scatter":
        (node,) = cluster.level
        return Task(cluster, build_scatter(node, stored), writes=writes)
    if cluster.kind == "scan":
        (node,) = cluster.level
        return Task(cluster, scan=Scan(node, without_reshape(node.operands[0])), writes=writes)
    dot = next(node for node in cluster.level if node.op.kind is Kind.CONTRACT)
    if dot.dtype not in templates:
        return Task(cluster, [build_product(dot, stored)], writes=writes)
    left, right = (in_place[x] or Strided(x, 0, strides_of(x.shape)) for x in dot.operands)
    plain = len(cluster.level) == 1 and dot.dtype.compute is dot.dtype
    epilogue = None if plain else build_epilogue(dot, cluster, stored)
    return Task(cluster, product=Product(dot, left, right, epilogue), writes=writes)


def strided(node: Node) -> Strided | None:
    """node's elements as strides into the memory below its views, if they lie so.

    The last two strides must include a 1 (an axis of one element has any stride).
    """
    if node.op.kind is not Kind.MOVEMENT:
        return None if node.op.kind is Kind.SOURCE and node.op is not LEAF else _plain(node)
    if node.op in WRITTEN_OUT:
        return _plain(node)
    base = below_views(node)
    if base.op.kind is Kind.SOURCE and base.op is not LEAF:
        return None
    if base.op in WRITTEN_OUT and base.type.size > node.type.size:
        return None  # what is read is less to write out than what it is read from
    axes = [Axis(f"a{k}", n) for k, n in enumerate(node.shape)]
    index = tuple(Index([(a, 1)]) if a.extent > 1 else ZERO for a in axes)
    lowering = Lowering(lambda n: 0 if n is base else None, ZERO, ZERO)
    position = lowering.at(node, index).data[1]
    if not position.is_affine():
        return None
    strides = tuple(position.coefficient(axis) for axis in axes)
    (rows, columns), (i, j) = node.shape[-2:], strides[-2:]
    if min(strides, default=0) < 0 or not (i == 1 or j == 1 or rows == 1 or columns == 1):
        return None
    return Strided(base, position.constant, strides)


def _plain(node: Node) -> Strided:
    return Strided(node, 0, strides_of(node.shape))
