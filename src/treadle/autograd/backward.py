"""Reverse mode as graph construction: walk back, apply each row's gradient, sum cotangents.

What users see of a complex z is dL/dx + i dL/dy, the direction in which L grows, as PyTorch has it.
In the walk cotangents are the conjugates of that: with them L changes by the real part of g dz, and
so the gradient of a row of real numbers is right for complex ones as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from treadle.autograd.checkpoint import SEGMENTS, pulled_back
from treadle.autograd.recipes import pulled_through
from treadle.base.errors import GradientError, explain
from treadle.base.watch import OpSite, of_op
from treadle.ir.graph import toposort
from treadle.ir.node import COMPILED, Node, definition, full
from treadle.ir.recording import RECORDING, backward_site
from treadle.ops.defs import Kind
from treadle.ops.elementwise import cast, conj, real
from treadle.ops.movement import reshape, summed_to


def gradients(
    outputs: Sequence[Node],
    wrt: Sequence[Node],
    cotangents: Sequence[Node | None],
    stop: Callable[[Node], bool] | None = None,
    tap: Callable[[Node, Node], Node] | None = None,
    walked: list[Node] | None = None,
) -> list[Node | None]:
    """d(sum of outputs · cotangents) / d(wrt): a node each, or None where nothing depends on it.

    Nothing below the nodes for which stop holds is looked at. tap is given every node with its
    whole cotangent and says which one goes on. What was looked at is added to walked, in order.
    """
    pairs = zip(outputs, cotangents, strict=True)
    given = [turned(_one(y) if g is None else g) for y, g in pairs]
    found = pulled(outputs, wrt, given, stop, tap and _outside(tap), walked)
    return [None if g is None else turned(g) for g in found]


def turned(g: Node) -> Node:
    """From a cotangent as users know it to that of the walk, and back."""
    return conj(g) if g.call.type.dtype.is_complex else g


def _outside(tap: Callable[[Node, Node], Node]) -> Callable[[Node, Node], Node]:
    return lambda node, g: turned(tap(node, turned(g)))


def pulled(
    outputs: Sequence[Node],
    wrt: Sequence[Node],
    cotangents: Sequence[Node],
    stop: Callable[[Node], bool] | None = None,
    tap: Callable[[Node, Node], Node] | None = None,
    walked: list[Node] | None = None,
) -> list[Node | None]:
    """The walk: from cotangents of outputs to those of wrt, in the convention of rows."""
    order = toposort(outputs, stop)
    if walked is not None:
        walked += order
    needed, passing = _between(order, wrt)
    flowing: dict[Node, Node] = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        _accumulate(flowing, output, cotangent)
    wanted = set(wrt)
    watched, site = RECORDING.watched, RECORDING.site
    try:
        for node in reversed(order):
            g = flowing.get(node) if node in wanted else flowing.pop(node, None)
            if g is None or node not in needed:
                continue
            if tap is not None:
                g = tap(node, g)
                if node in wanted:
                    flowing[node] = g
            if node not in passing or (stop is not None and stop(node)):
                continue  # nobody wants more, or whoever asked goes on from there
            if watched:  # a gradient stems from the line of what it is the gradient of
                RECORDING.site = _site_of(node) if site is None else site
            for operand, part in _parts(node, g):
                if part is not None and operand in needed:
                    _accumulate(flowing, operand, fitted(part, operand))
    finally:
        if watched:
            RECORDING.site = site
    return [flowing.get(node) for node in wrt]


def _site_of(node: Node) -> str | None:
    """The site of a node's gradient, which is a part of the same composite."""
    if node.site is None or not RECORDING.noted:
        return node.site
    whole = node.op.called(node.arg) if node.op.kind is Kind.COMPOSITE else ""
    found = backward_site(node.site, whole)
    return of_op(found, node.site.op) if isinstance(node.site, OpSite) else found


def _parts(node: Node, g: Node) -> Iterable[tuple[Node, Node | None]]:
    """Whom a cotangent goes on to: the operands, or where a segment computed again starts."""
    if node.call.op is reshape and node in SEGMENTS:
        return pulled_back(node, g, lambda y, xs, g, stop: pulled([y], xs, [g], stop))
    return zip(node.operands, parts_of(node, g), strict=True)


def _between(order: Sequence[Node], wrt: Sequence[Node]) -> tuple[set[Node], set[Node]]:
    """Nodes that have a gradient on the way to wrt, and those that pass it on."""
    needed, passing = set(wrt), set()
    for node in order:
        cut = node.call.op is COMPILED and node.needs_grad  # what is above it is not known any more
        if cut or not needed.isdisjoint(node.operands):
            needed.add(node)
            passing.add(node)
    return needed, passing


def _one(output: Node) -> Node:
    if output.shape != ():
        hint = "reduce it first, e.g. y.sum(), or pass the upstream gradient"
        raise GradientError(explain("backward", "needs a scalar", hint, shape=output.shape))
    if output.dtype.is_complex:
        hint = "take abs(y), y.real or y.imag, or pass the upstream gradient"
        raise GradientError(explain("backward", "needs a real scalar", hint, got=output.type))
    return full(1, output.type)


def parts_of(node: Node, g: Node) -> tuple[Node | None, ...]:
    """Cotangents of the operands; a composite without a rule goes through its parts."""
    rule = node.call.op.grad
    if isinstance(rule, str):
        hint = "detach() it if no gradient should flow here"
        raise GradientError(explain(node.op.name, f"has no gradient: {rule}", hint))
    if rule is not None:
        parts = rule(g, node, *node.operands)
    elif node.op.kind is Kind.COMPOSITE:
        unique = list(dict.fromkeys(node.operands))
        # A trace wants to know of every node, and a policy casts what is recorded.
        every = RECORDING.made is not None or RECORDING.policy is not None
        found = (_through if every else _copied)(node, unique, g)
        once = dict(zip(unique, found, strict=True))
        parts = [once.pop(x, None) for x in node.operands]
    else:
        raise GradientError(explain(node.op.name, "has no gradient rule"))
    return tuple(parts)


def _through(node: Node, operands: Sequence[Node], g: Node) -> list[Node | None]:
    """Cotangents of a composite's operands by way of its definition."""
    return pulled([definition(node)], operands, [g], set(operands).__contains__)


def _copied(node: Node, operands: Sequence[Node], g: Node) -> list[Node | None]:
    return pulled_through(node, operands, g, _through)


def fitted(part: Node, operand: Node) -> Node:
    """A cotangent in the shape and dtype of the operand it belongs to."""
    if part.call.type is operand.call.type:
        return part
    part = summed_to(part, operand.shape)
    if part.dtype.is_complex and not operand.dtype.is_complex:
        part = real(part)  # of what is real only the real part changes
    return part if part.dtype is operand.dtype else cast(part, operand.dtype)


def _accumulate(flowing: dict[Node, Node], node: Node, part: Node) -> None:
    before = flowing.get(node)
    flowing[node] = part if before is None else before + part
