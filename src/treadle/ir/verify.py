"""The spec: what a legal graph is at each stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treadle.base.errors import CompilerError, explain
from treadle.ir.graph import toposort
from treadle.ir.node import CONST, IOTA, LEAF, Node
from treadle.ir.region import BRANCH, LOOP, PROJECT, bodies_of, wrong_types
from treadle.ops.defs import Kind
from treadle.ops.elementwise import detach, rerouted

Spec = Callable[[Node], str]
"""What is wrong with a node; empty if nothing."""


def RECORDED(node: Node) -> str:  # noqa: N802
    """Any graph: known ops, operands of one device, types as the row says."""
    if node.op in (LEAF, CONST, IOTA):
        return "a source with operands" if node.operands else ""
    crosses = node.op.kind in (Kind.TRANSFER, Kind.REGION, Kind.RESULT)
    if any(x.device is not node.device for x in node.operands) and not crosses:
        return "operands on another device"
    if node.op is PROJECT:
        right = node.operands[0].arg.result(node.arg)
        return "" if node.type is right else f"{node.type} instead of {right}"
    if node.op.kind is Kind.REGION:
        return wrong_types(node.arg, node.operands)
    if node.op.kind is Kind.COMPOSITE or node.op.shape is None:
        return ""
    shape = node.op.shape(node.arg, [x.shape for x in node.operands])
    return "" if shape == node.shape else f"shape {node.shape} instead of {shape}"


def PRIMITIVES(node: Node) -> str:  # noqa: N802
    """After simplify: no composite is left, and nothing that simplify removes."""
    if node.op.kind is Kind.COMPOSITE:
        return "a composite is left"
    if node.op in (detach, rerouted):
        return f"a {node.op} is left"
    return RECORDED(node)


def verify(roots: Sequence[Node], spec: Spec, stage: str) -> None:
    """Raise if a node breaks the spec, showing the graph near it."""
    for node in toposort(roots):
        wrong = spec(node)
        for body in bodies_of(node.arg) if node.op in (LOOP, BRANCH) else ():
            verify(body.results, spec, stage)
            inner = [n for n in toposort(body.results) if n.op is LEAF]
            wrong = wrong or ("" if set(inner) <= set(body.params) else "a body reads from outside")
        if wrong:
            near = ", ".join(f"{x.op} {x.type}" for x in node.operands)
            raise CompilerError(explain(stage, f"illegal {node.op}: {wrong}", operands=near))
