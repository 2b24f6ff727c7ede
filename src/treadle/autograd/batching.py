"""From what a graph makes of one sample to what it makes of a whole batch at once.

A sample is a source without a value that stands for every part of a node along its first axis.
Whatever is recorded from samples is rewritten, operands first, with that axis in front; what does
not depend on any stays as it is and is shared. `batch_rules.py` has a rule for each kind of op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treadle.autograd.backward import fitted
from treadle.autograd.batch_rules import RULES, repeated
from treadle.autograd.checkpoint import SEGMENTS, Segment
from treadle.autograd.custom import Route, reroute, route_of
from treadle.autograd.sample import SAMPLE
from treadle.base.errors import NotSupported, explain
from treadle.ir.graph import toposort
from treadle.ir.node import Node, definition, placeholder, type_of
from treadle.ir.recording import GRADIENTS, RECORDING
from treadle.ops.defs import Kind
from treadle.ops.elementwise import rerouted
from treadle.ops.movement import reshape
from treadle.ops.reduce import sum_


class Batch:
    """Samples of one size of batch, and what was made of them so far."""

    def __init__(self, size: int, inside: bool = False) -> None:
        self.size = size
        self.inside = inside  # a loop's body, where no node says whether it needs a gradient
        self.whole: dict[Node, Node] = {}
        """What depends on samples, and the same for all of them: the batch's axis comes first."""

    def sample(self, whole: Node) -> Node:
        """A node that stands for every part of a whole."""
        node = placeholder(type_of(whole.shape[1:], whole.dtype, whole.device), SAMPLE)
        node.needs_grad = whole.needs_grad
        self.whole[node] = whole
        return node

    def find(self, roots: Sequence[Node]) -> list[Node | None]:
        """The roots for all samples; None where a root is the same for all of them."""
        whole = self.whole
        for node in toposort(roots, lambda n: n in whole or n.buffer is not None):
            if node not in whole and any([x in whole for x in node.operands]):  # noqa: C419
                whole[node] = self._recorded(node)
        return [whole.get(root) for root in roots]

    def expanded(self, root: Node) -> Node:
        """A root for all samples, also if it is the same for all of them."""
        (found,) = self.find([root])
        return repeated(root, self.size) if found is None else found

    def _recorded(self, node: Node) -> Node:
        """A node for all samples, with gradients recorded if they were for one."""
        watched, site, on = RECORDING.watched, RECORDING.site, GRADIENTS.on
        GRADIENTS.on = node.needs_grad
        if watched:
            RECORDING.site = node.site if site is None else site
        try:
            made = self._made(node)
        finally:
            GRADIENTS.on = on
            if watched:
                RECORDING.site = site
        if node.op is reshape and node in SEGMENTS:
            parts = [tuple([self.whole.get(x, x) for x in part]) for part in SEGMENTS[node]]
            SEGMENTS[made] = Segment(*parts)
        return made

    def _made(self, node: Node) -> Node:
        op = node.op
        if op is rerouted:
            y, *xs = node.operands
            route = route_of(node)
            return self._rerouted(self.expanded(y), xs, route.pull, route.told)
        rule = RULES.get(op) or RULES.get(op.kind)
        if rule is not None:
            batched = [x in self.whole for x in node.operands]
            operands = [self.whole.get(x, x) for x in node.operands]
            made = rule(self.size, node, operands, batched)
            if made is not None:
                return made
        if op.kind is not Kind.COMPOSITE:
            hint = "compute it outside of the function, or sample by sample in a loop"
            raise NotSupported(explain("vmap", f"{op} has no rule for a batch", hint))
        made = self.expanded(definition(node))
        pull = op.grad
        if not callable(pull) or not (node.needs_grad or self.inside):
            return made
        return self._rerouted(made, node.operands, lambda g: pull(g, node, *node.operands))

    def _rerouted(
        self,
        y: Node,
        xs: Sequence[Node],
        pull: Callable[[Node], Sequence[Node | None]],
        told: object = None,
    ) -> Node:
        """y for all samples, whose gradient by xs is that of one sample, for all of them."""

        def pulled(g: Node) -> list[Node | None]:
            parts = pull(self.sample(g))
            return [
                None if part is None else self._cotangent(x, part)
                for x, part in zip(xs, parts, strict=True)
            ]

        return reroute(y, [self.whole.get(x, x) for x in xs], Route(pulled, None, told))

    def _cotangent(self, x: Node, part: Node) -> Node:
        """The cotangent of x for all samples; of what they share, the sum of theirs."""
        whole = self.expanded(fitted(part, x))
        if x in self.whole:
            return whole
        result: Node = sum_(whole, axis=0)
        return result
