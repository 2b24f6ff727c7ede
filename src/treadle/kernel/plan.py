"""A simplified graph as steps in the order to run them."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.base import trace
from treadle.base.dtypes import DType
from treadle.base.shapes import strides_of
from treadle.ir.graph import toposort
from treadle.ir.node import LEAF, Node
from treadle.kernel.build import (
    build_cluster,
    build_copies,
    build_epilogue,
    build_product,
    build_scatter,
)  # fmt: skip
from treadle.kernel.index import ZERO, Axis, Index
from treadle.kernel.lower import Lowering
from treadle.kernel.steps import (
    CopyStep,
    LoopStep,
    ProductStep,
    ScanStep,
    ScatterStep,
    Step,
    Strided,
)  # fmt: skip
from treadle.ops.defs import Kind
from treadle.schedule.clusters import FULL, Cluster, without_reshape
from treadle.schedule.fuse import Fusion
from treadle.schedule.keep import WRITTEN_OUT, below_views, keep
from treadle.schedule.order import Touched, order_clusters


def as_stored(
    roots: Sequence[Node], replaces: dict[Node, Node]
) -> tuple[list[Node], dict[Node, Node]]:
    """Roots, and those that replace leaves, as they lie in memory: without reshapes."""
    found = {without_reshape(root): leaf for root, leaf in replaces.items()}
    return [without_reshape(root) for root in roots], found


def plan_steps(
    roots: Sequence[Node], replaces: dict[Node, Node], templates: Sequence[DType]
) -> list[Step]:
    """Steps that compute roots, in the order to run them.

    replaces maps a root to the leaf whose memory it takes over, if that turns out to be possible.
    templates are the dtypes that the backend multiplies by a template; others become loops.
    """
    order = toposort(roots)
    fusion = Fusion(order, templates)
    with trace.stage("fuse"):
        fusion.run()
    trace.tell("refused", fusion.refused)
    in_place = {x: strided(x) for n in order if n.op.kind is Kind.CONTRACT for x in n.operands}
    stored = keep(order, fusion.of, roots, lambda x: in_place.get(x) is not None)
    steps = {c: _step(c, stored, in_place, templates) for c in fusion.clusters
             if any(n in stored for n in c.level)}  # fmt: skip
    for node in stored:
        if node not in fusion.of:
            cluster = Cluster(fusion.position[node], "copy", node.type.size)
            cluster.level[node] = FULL
            fusion.of[node] = cluster
            steps[cluster] = CopyStep(cluster, [node], build_copies(node, stored))
    touched = {
        cluster: Touched(frozenset(step.reads()), frozenset(step.writes))
        for cluster, step in steps.items()
    }
    writers = {leaf: fusion.of[root] for root, leaf in replaces.items() if root in fusion.of}
    outside = frozenset([*roots, *(node for node in order if node.op is LEAF)])
    ordered = order_clusters(touched, fusion.of, outside, writers)
    return [steps[cluster] for cluster in ordered]


def _step(
    cluster: Cluster, stored: frozenset[Node], in_place: dict[Node, Strided | None],
    templates: Sequence[DType],
) -> Step:  # fmt: skip
    writes = [node for node in cluster.level if node in stored]
    if cluster.kind == "loop":
        return LoopStep(cluster, writes, build_cluster(cluster, stored))
    if cluster.kind == "scatter":
        (node,) = cluster.level
        return ScatterStep(cluster, writes, build_scatter(node, stored))
    if cluster.kind == "scan":
        (node,) = cluster.level
        return ScanStep(cluster, writes, node, without_reshape(node.operands[0]))
    dot = next(node for node in cluster.level if node.op.kind is Kind.CONTRACT)
    if dot.dtype not in templates:
        return LoopStep(cluster, writes, [build_product(dot, stored)])
    left, right = (in_place[x] or Strided(x, 0, strides_of(x.shape)) for x in dot.operands)
    plain = len(cluster.level) == 1 and dot.dtype.compute is dot.dtype
    epilogue = None if plain else build_epilogue(dot, cluster, stored)
    return ProductStep(cluster, writes, dot, left, right, epilogue)


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
