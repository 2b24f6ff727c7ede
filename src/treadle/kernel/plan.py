"""A simplified graph as steps in the order to run them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from treadle.base import trace
from treadle.base.target import Takes
from treadle.ir.graph import toposort
from treadle.ir.node import LEAF, Node
from treadle.kernel.alike import Alike
from treadle.kernel.build import build_copies, build_product, build_scatter
from treadle.kernel.chain import widened
from treadle.kernel.chain_build import build_chain, judged
from treadle.kernel.epilogue import build_after, build_epilogue
from treadle.kernel.operands import Operand, Separable, Strided, located, operands_of, plain
from treadle.kernel.steps import (
    ChainStep,
    CopyStep,
    LoopStep,
    ProductStep,
    RegionStep,
    RoutineStep,
    ScatterStep,
    Step,
)  # fmt: skip
from treadle.ops.defs import Kind
from treadle.schedule.chains import Chains
from treadle.schedule.clusters import FULL, Cluster, bases_of, without_reshape
from treadle.schedule.fuse import Fusion
from treadle.schedule.keep import keep
from treadle.schedule.order import Touched, order_clusters


def as_stored(
    roots: Sequence[Node], replaces: dict[Node, Node]
) -> tuple[list[Node], dict[Node, Node]]:
    """Roots, and those that replace leaves, as they lie in memory: without reshapes."""
    found = {without_reshape(root): leaf for root, leaf in replaces.items()}
    return [without_reshape(root) for root in roots], found


def plan_steps(roots: Sequence[Node], replaces: dict[Node, Node], takes: Takes) -> list[Step]:
    """Steps that compute roots, in the order to run them.

    replaces maps a root to the leaf whose memory it takes over, if that turns out to be possible.
    takes says what the backend can do.
    """
    order = toposort(roots)
    products = [node for node in order if node.op.kind is Kind.CONTRACT]
    operands = {product: operands_of(product, takes) for product in products}
    in_chains = _in_chains(products) if takes.chains.dtypes else {}
    with trace.stage("fuse"):
        whole, fewest = frozenset(order), takes.chains.fewest
        judge = partial(judged, stored=whole, in_place=in_chains, fewest=fewest)
        chains = Chains(order, roots, takes.chains, judge)
        order = chains.order
        inner = set(products).difference(roots)
        reducible = {p for p in inner if not isinstance(operands[p][1], Separable)}
        fusion = Fusion(order, takes, chains.of, reducible)
        fusion.run()
    trace.tell("refused", [*chains.refused, *fusion.refused])
    forced = {*chains.kept}
    for product in products:
        if product in chains.of:
            shown = [x for x in product.operands if chains.hidden.isdisjoint(bases_of(x))]
            forced |= {in_chains[x].base for x in shown}
        else:
            forced |= {x.base for x in operands[product]}
            forced |= {n for n in fusion.of[product].members if n.op.kind is Kind.REDUCE}
    stored = keep(order, fusion.of, fusion.reads, roots, forced, chains.hidden)
    alike = Alike(stored)
    steps = {c: _step(c, stored, operands, takes, alike) for c in fusion.clusters
             if c.kind != "chain" and any(n in stored for n in c.members)}  # fmt: skip
    for chain, cluster in fusion.chains.items():
        writes = [node for node in cluster.members if node in stored]
        built = build_chain(chain, [*cluster.members], stored, in_chains, takes.chains.fewest)
        steps[cluster] = ChainStep(cluster, writes, built)
    for node in stored:
        if node not in fusion.of:
            cluster = Cluster(fusion.position[node], "copy", node.type.size)
            cluster.members[node] = FULL
            fusion.of[node] = cluster
            steps[cluster] = CopyStep(cluster, [node], build_copies(node, stored))
    touched = {
        cluster: Touched(frozenset(step.reads()), frozenset(step.writes))
        for cluster, step in steps.items()
    }
    writers = [(leaf, fusion.of[root]) for root, leaf in replaces.items() if root in fusion.of]
    outside = frozenset([*roots, *(node for node in order if node.op is LEAF)])
    ours = outside.difference(replaces.values())
    writers += [
        (step.base, cluster) for cluster, step in steps.items()
        if isinstance(step, ScatterStep) and step.base and step.base not in ours
    ]  # fmt: skip
    ordered = order_clusters(touched, fusion.of, outside, writers)
    return [steps[cluster] for cluster in ordered]


def _in_chains(products: Sequence[Node]) -> dict[Node, Strided]:
    """Where chains read operands: as strides, and below casts that only widen."""
    found: dict[Node, Strided] = {}
    for product in products:
        for x in product.operands:
            narrow = widened(x)
            place = located(narrow, ())
            found[x] = place if isinstance(place, Strided) else plain(narrow)
    return found


def _step(
    cluster: Cluster, stored: frozenset[Node], operands: dict[Node, tuple[Operand, Operand]],
    takes: Takes, alike: Alike,
) -> Step:  # fmt: skip
    writes = [node for node in cluster.members if node in stored]
    if cluster.kind == "loop":
        return LoopStep(cluster, writes, alike.build(cluster))
    if cluster.kind == "scatter":
        (node,) = cluster.members
        base = without_reshape(node.operands[0])
        lies = base.op is LEAF or base in stored
        kernels = build_scatter(node, stored)
        return ScatterStep(cluster, writes, kernels, base if lies else None)
    if cluster.kind in ("scan", "routine"):
        (node,) = cluster.members
        return RoutineStep(cluster, writes, node, [without_reshape(x) for x in node.operands])
    if cluster.kind == "region":
        return RegionStep(cluster, writes, next(iter(cluster.members)))
    product = next(node for node in cluster.members if node.op.kind is Kind.CONTRACT)
    if product.dtype not in takes.products:
        return LoopStep(cluster, writes, [build_product(product, stored)])
    left, right = operands[product]
    turned = isinstance(right, Separable)
    plain = len(cluster.members) == 1 and product.dtype.compute is product.dtype and not turned
    if plain:
        return ProductStep(cluster, writes, product, left, right)
    epilogue, parts = build_epilogue(product, cluster, stored, turned)
    after = build_after(cluster, stored)
    return ProductStep(cluster, writes, product, left, right, epilogue, turned, parts, after)
