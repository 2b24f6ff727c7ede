"""What each kernel of a plan does and costs: its ops, lines, bytes, flops, and why it is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from treadle.base.sizes import most
from treadle.ir.graph import toposort
from treadle.ir.node import LEAF, Node
from treadle.ir.region import Loop, Spec, bodies_of
from treadle.ir.sites import NO_PLACE, Site, place_of, resolved
from treadle.kernel.steps import CopyStep, ScatterStep, Step
from treadle.ops.contract import SCATTERS
from treadle.ops.defs import Kind
from treadle.ops.elementwise import cast

QUIET = (Kind.SOURCE, Kind.MOVEMENT, Kind.RESULT)
Shares = tuple[tuple[Site, str, float], ...]


@dataclass(frozen=True)
class KernelRow:
    """One kernel: what it computes, where that was written, and what it costs at least."""

    number: int
    kind: str  # "loop", "product", "chain", "scatter", "scan", "routine", "region" or "copy"
    ops: tuple[str, ...]  # in the order they are computed, repeats counted: "mul×3"
    sites: tuple[str, ...]  # file:line of the user's code, most ops first
    calls: tuple[str, ...]  # composites with their options that it is a part of: "softmax(axis=-1)"
    outputs: tuple[str, ...]  # types of what it leaves in memory
    reason: str  # why it is a kernel of its own
    bytes_read: int
    bytes_written: int
    flops: float
    blocks: tuple[int, ...]  # pieces of each of its steps that threads share out
    shares: Shares = ()
    """Of its time, by flops: what each site and op is guessed to take. They sum to 1."""
    dtype: str = ""  # of what most of its flops are done with, as it lies in memory
    places: tuple[int, ...] = ()  # of its nodes, in the structure of the graph

    @property
    def nbytes(self) -> int:
        """Bytes that must move: each buffer once."""
        return self.bytes_read + self.bytes_written


def rows_of(
    steps: Sequence[Step],
    blocks: Sequence[Sequence[int]],
    refused: Iterable[tuple[Node, Node, str]] = (),
    caller: Sequence[str | None] = (),
) -> list[KernelRow]:
    """A row per step; refused holds (node, operand, why node did not join the operand's kernel).

    caller: the sites of the graph that is run; other graphs of its structure have others.
    """
    owner = {node: k for k, step in enumerate(steps) for node in step.cluster.members}
    why: list[dict[str, set[int]]] = [{} for _ in steps]
    for node, operand, reason in refused:
        late, early = owner.get(node), owner.get(operand)
        if late is not None and early is not None and late != early:
            why[late].setdefault(reason, set()).add(early)
    return [_row(k, step, blocks[k], why[k], caller) for k, step in enumerate(steps)]


def _row(
    number: int, step: Step, blocks: Sequence[int], why: dict[str, set[int]],
    caller: Sequence[str | None],
) -> KernelRow:  # fmt: skip
    nodes = _nodes_of(step)
    found = _sites_of(nodes, caller)
    sites = Counter(site.line for _, site in found)
    calls = dict.fromkeys(site.call for _, site in found)
    return KernelRow(
        number, step.cluster.kind, _counted(n.op.name for n, _ in found),
        tuple(site for site, _ in sites.most_common() if site), tuple(filter(None, calls)),
        tuple(str(n.type) for n in step.writes), _reason(step, why),
        _bytes_read(step, nodes), sum(_bytes_written(step, n) for n in step.writes),
        sum(flops_of(n) for n in nodes), tuple(map(most, blocks)), _shares(found),
        _dtype(nodes), tuple(sorted({place_of(n.site) for n in nodes} - {NO_PLACE})),
    )  # fmt: skip


def shares_of(step: Step, caller: Sequence[str | None]) -> Shares:
    """Of a step's time, what each site and op is guessed to take."""
    return _shares(_sites_of(_nodes_of(step), caller))


def _nodes_of(step: Step) -> list[Node]:
    memory = step.reads() - set(step.writes)
    return [n for n in toposort(step.writes, memory.__contains__) if n not in memory]


def _sites_of(nodes: Sequence[Node], caller: Sequence[str | None]) -> list[tuple[Node, Site]]:
    """What computes something, or all if nothing does, and where that was written."""
    loud = [n for n in nodes if n.op.kind not in QUIET] or nodes
    return [(n, resolved(n.site, caller)) for n in loud]


def _shares(found: Sequence[tuple[Node, Site]]) -> Shares:
    """What each site and op takes, if a flop takes as long as another."""
    work: dict[tuple[Site, str], float] = {}
    for node, site in found:
        name = site.call.partition("(")[0] or node.op.name
        weight = flops_of(node) or float(most(node.type.size))
        work[site, name] = work.get((site, name), 0.0) + max(weight, 1.0)
    total = sum(work.values())
    return tuple([(site, name, weight / total) for (site, name), weight in work.items()])


def _dtype(nodes: Sequence[Node]) -> str:
    heaviest = max(nodes, key=flops_of)
    operand = heaviest.operands[0] if heaviest.operands else heaviest
    while operand.op is cast and operand.operands[0].dtype.size < operand.dtype.size:
        operand = operand.operands[0]
    return operand.dtype.short


def _counted(names: Iterable[str]) -> tuple[str, ...]:
    count = Counter(names)
    return tuple(name if n == 1 else f"{name}×{n}" for name, n in count.items())


def _reason(step: Step, why: dict[str, set[int]]) -> str:
    parts = [f"{text} (k{', k'.join(map(str, sorted(early)))})" for text, early in why.items()]
    if isinstance(step, CopyStep):
        parts = ["a view that must lie in memory"]
    reason = "; ".join(parts) or step.cluster.reason
    members = list(step.cluster.members)
    products = [n for n in members if n.op.kind is Kind.CONTRACT]
    own = products[:1] if step.cluster.kind == "chain" else products
    if rest := _counted(n.op.name for n in members if own and n not in own):
        reason = f"{step.cluster.reason}; {' '.join(rest)} run on its tiles"
    return reason


def _bytes_read(step: Step, nodes: Sequence[Node]) -> int:
    """Buffers read, once each; of a table that is looked up, only the elements wanted."""
    partly: dict[Node, int] = {}
    for node in nodes:
        if node.op.kind is Kind.GATHER:
            base = node.operands[0]
            while base.op.kind is Kind.MOVEMENT:
                base = base.operands[0]
            partly[base] = partly.get(base, 0) + node.type.nbytes
    if isinstance(step, ScatterStep) and step.base and step.in_place:
        joins = SCATTERS.get(step.writes[0].op, "over") != "over"
        partly[step.base] = joins * _bytes_written(step, step.writes[0])
    sizes = ((most(n.type.nbytes), most(partly.get(n, n.type.nbytes))) for n in step.reads())
    return sum(min(pair) for pair in sizes)


def _bytes_written(step: Step, node: Node) -> int:
    """Where a result lies over what it was made from, what is new in it."""
    over = isinstance(step, ScatterStep) and step.in_place
    nbytes = most(node.type.nbytes)
    return min(nbytes, most(node.operands[-1].type.nbytes)) if over else nbytes


def flops_of(node: Node) -> float:
    """Operations on numbers that computing a node takes, views and look-ups being free."""
    if node.op is LEAF or node.op.kind in (*QUIET, Kind.GATHER):
        return 0.0
    if node.op.kind is Kind.REGION:
        return _flops_inside(node.arg)
    if node.op.kind is Kind.CONTRACT:
        return 2.0 * most(node.type.size * node.operands[0].shape[-1])
    if node.op.kind is Kind.REDUCE:
        return float(most(node.operands[0].type.size))
    if node.op.kind is Kind.SCATTER:
        return float(most(node.operands[-1].type.size))
    return node.op.flops * most(node.type.size)


def _flops_inside(spec: Spec) -> float:
    """Of all steps of a loop, or of the longest branch; one step where only a flag ends it."""
    bodies = [sum(map(flops_of, toposort(body.results))) for body in bodies_of(spec)]
    steps = most(spec.length) if isinstance(spec, Loop) and not spec.flagged else 1
    return float(max(bodies) * steps)
