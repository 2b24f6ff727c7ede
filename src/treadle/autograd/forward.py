"""Forward mode as graph construction: how a graph changes along tangents, from the rows' gradients.

An elementwise op's gradient rule multiplies by its slope, whatever is put into it: a cotangent or a
tangent. A linear op is its own push forward. The few others are pulled back and transposed: pulling
back is linear, so its gradient by the cotangent is the push forward.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.autograd.backward import fitted, parts_of, pulled
from treadle.autograd.custom import route_of
from treadle.autograd.pointwise import is_pointwise
from treadle.autograd.push_regions import pushed
from treadle.base.errors import GradientError, explain
from treadle.ir.graph import toposort
from treadle.ir.node import Node, apply, definition, full
from treadle.ir.recording import RECORDING
from treadle.ops import movement as m
from treadle.ops.contract import gather, matrix_product, put, scatter, scatter_add
from treadle.ops.defs import Kind
from treadle.ops.elementwise import cast, rerouted
from treadle.ops.reduce import sum_
from treadle.ops.scan import cumsum
from treadle.ops.transfer import transfer
from treadle.ops.windows import shear

Changes = dict[Node, Node]
"""How nodes change: those that are not in there do not."""

LINEAR = frozenset((
    m.reshape, m.permute, m.expand, m.slice_, m.pad, m.flip, m.concat, shear, sum_,
    cumsum, gather, scatter_add, scatter, put, cast, transfer,
))  # fmt: skip
"""Ops that change by what they make of their operands' changes."""
FILLED = {m.pad: 1, shear: 5}
"""Ops that put a number where there is no element: its place in their arg."""


def push(order: Sequence[Node], changes: Changes) -> None:
    """Add to changes how the nodes of an order, operands first, change."""
    watched, site = RECORDING.watched, RECORDING.site
    try:
        for node in order:
            if node not in changes and any([x in changes for x in node.operands]):  # noqa: C419
                if watched:
                    RECORDING.site = node.site if site is None else site
                change = _change(node, [changes.get(x) for x in node.operands])
                if change is not None:
                    changes[node] = change
    finally:
        if watched:
            RECORDING.site = site


def _change(node: Node, tangents: Sequence[Node | None]) -> Node | None:
    """The change of one node; None if there is none."""
    op = node.op
    if op.kind in (Kind.REGION, Kind.RESULT):
        return pushed(node, tangents, push)
    if not node.dtype.is_inexact:
        return None
    if op in LINEAR:
        return _of_changes(node, tangents)
    if op is matrix_product:
        return _summed([_replaced(node, k, t) for k, t in enumerate(tangents) if t is not None])
    if op is rerouted and (known := route_of(node).push) is not None:
        return known(tangents[1:])
    if callable(op.grad) and op is not rerouted and _is_of_reals(node) and is_pointwise(node):
        return _by_slopes(node, tangents)
    if op.kind is Kind.COMPOSITE and op.grad is None:
        return _through(node, tangents)
    return _transposed(node, tangents)


def _is_of_reals(node: Node) -> bool:
    """Is a slope a number? Of complex numbers it may be another for each direction."""
    return not any(x.dtype.is_complex for x in (node, *node.operands))


def _of_changes(node: Node, tangents: Sequence[Node | None]) -> Node:
    """A linear op on the changes of its operands; its indices stay, and what it fills in is 0."""
    given = [
        t if t is not None else x.zeros_like() if x.dtype.is_inexact else x
        for x, t in zip(node.operands, tangents, strict=True)
    ]
    arg, place = node.arg, FILLED.get(node.op)
    if place is not None:
        arg = (*arg[:place], 0.0, *arg[place + 1 :])
    return apply(node.op, tuple(given), arg)


def _replaced(node: Node, k: int, t: Node) -> Node:
    """The op with another operand k."""
    return apply(node.op, (*node.operands[:k], t, *node.operands[k + 1 :]), node.arg)


def _by_slopes(node: Node, tangents: Sequence[Node | None]) -> Node | None:
    """What the gradient rule makes of each operand's change, as if that were a cotangent."""
    rule = node.op.grad
    if not callable(rule):
        raise GradientError(explain(node.op.name, "has no gradient rule"))
    parts = []
    for k, t in enumerate(tangents):
        if t is not None:
            wide = t if t.shape == node.shape else t.expand(node.shape)
            wide = wide if wide.dtype is node.dtype else cast(wide, node.dtype)
            parts.append(rule(wide, node, *node.operands)[k])
    total = _summed([part for part in parts if part is not None])
    return total if total is None or total.shape == node.shape else total.expand(node.shape)


def _through(node: Node, tangents: Sequence[Node | None]) -> Node | None:
    """The change of a composite's definition."""
    root = definition(node)
    pairs = zip(node.operands, tangents, strict=True)
    changes = {x: t for x, t in pairs if t is not None}
    ends = set(node.operands)
    push([x for x in toposort([root], ends.__contains__) if x not in ends], changes)
    return changes.get(root)


def _transposed(node: Node, tangents: Sequence[Node | None]) -> Node | None:
    """The gradient, by the cotangent, of what is pulled back.

    That cotangent may be anything; 1 is where rules that take logarithms of it have a slope.
    """
    cotangent = m.reshape(full(1, node.type), node.shape)
    outputs, seeds = [], []
    for x, part, t in zip(node.operands, parts_of(node, cotangent), tangents, strict=True):
        if part is not None and t is not None:
            outputs.append(fitted(part, x))
            seeds.append(t)
    ends = {node, cotangent, *node.operands}
    if not outputs:
        return None
    (found,) = pulled(outputs, [cotangent], seeds, ends.__contains__)
    return found


def _summed(parts: Sequence[Node]) -> Node | None:
    total = None
    for part in parts:
        total = part if total is None else total + part
    return total
