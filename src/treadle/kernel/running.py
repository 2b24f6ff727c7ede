"""In how many runs over its stream a chain is computed, and what is kept up to date meanwhile.

A value per row that tiles need is complete after a run. A maximum m need not be: where terms of a
sum are g * exp(x - m), of the very x it is the maximum of, sums so far are scaled by
exp(m before - m now) as tiles come. Factors that are the same all along a row are taken out of
sums and products first: that of a softmax is a sum itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from treadle.base.errors import needed
from treadle.ir.node import Node
from treadle.ir.pattern import constant_value
from treadle.ops import elementwise as e
from treadle.ops.defs import Kind
from treadle.ops.reduce import max_, sum_
from treadle.passes.tiles import Sink
from treadle.schedule.chains import Chain

Layer = tuple[Node, int]
"""A map that may run on a sum instead of on its terms, and which of its operands is the sum."""


@dataclass(eq=False)
class Total:
    """What tiles add up to: a reduction, or what a sink is fed."""

    source: Node | Sink
    core: Node  # what is added up
    layers: list[Layer]  # what is done with the total, last first
    run: int = 0
    ready: int = 0  # the run after which its value is known
    scaled: Total | None = None  # by the maximum that the terms are relative to

    @property
    def kind(self) -> str:
        """How two parts are joined."""
        return self.source.op.name if isinstance(self.source, Node) else "sum"


@dataclass(eq=False)
class Runs:
    """The totals of a chain, each in its run over the stream."""

    chain: Chain
    is_fixed: Callable[[Node, Node, bool], bool]
    """Is an operand of a tile the same along the stream, or along the lanes?"""
    totals: dict[Node, Total] = field(default_factory=dict)  # by reduction
    fed: list[Total] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.needs: dict[Node, set[Node]] = {}
        for node in self._ordered():
            if node.op.kind is Kind.REDUCE:
                self.totals[node] = self._total(node, node.operands[0], node.op is sum_)
                self.needs[node] = {node}
            else:
                self.needs[node] = self._needed(node)
        self.fed = [self._total(sink, sink.tile, True) for sink in self.chain.sinks]

    def is_across(self, source: Node | Sink) -> bool:
        """Does a sink add up lanes, where the others add up what streams by?"""
        return isinstance(source, Sink) and source.turned is not self.chain.turned

    @property
    def count(self) -> int:
        """Runs over the stream."""
        return 1 + max(t.run for t in [*self.totals.values(), *self.fed])

    def _ordered(self) -> list[Node]:
        """Members and stats, operands first."""
        space, wanted = self.chain.space, {**self.chain.members, **self.chain.stats}
        found: dict[Node, None] = {}
        stack = list(reversed(wanted))
        while stack:
            node = stack[-1]
            below = [y for x in node.operands if (y := space.operand(x)) in wanted]
            waiting = [y for y in below if y not in found]
            if waiting and node not in found:
                stack += [y for y in waiting if y is not None]
                continue
            stack.pop()
            found[node] = None
        return list(found)

    def _needed(self, node: Node) -> set[Node]:
        below = [self.chain.space.operand(x) for x in node.operands]
        return set().union(*(self.needs[y] for y in below if y in self.needs))

    def _total(self, source: Node | Sink, value: Node, linear: bool) -> Total:
        core = self._below(value)
        layers: list[Layer] = []
        across = self.is_across(source)
        while linear and (found := self._peeled(core, across)) is not None:
            layers.append((core, found))
            core = self._below(core.operands[found])
        total = Total(source, core, layers)
        bounds: list[tuple[int, Total]] = []
        for node in self.needs[core]:
            m = self.totals[node]
            if linear and not across and node.op is max_ and self._is_scaled(core, node):
                bounds.append((m.run, m))
            else:
                total.run = max(total.run, m.ready + 1)
        total.run = max([total.run, *(run for run, _ in bounds)])
        running = [m for run, m in bounds if run == total.run]
        if len(running) > 1:
            total.run += 1
        elif running:
            total.scaled = running[0]
        known = [self.totals[n].ready for layer, k in layers for n in self._beside(layer, k)]
        total.ready = max([total.run, *known])
        return total

    def _below(self, node: Node) -> Node:
        return needed("chain", self.chain.space.operand(node), "tile")

    def _beside(self, layer: Node, k: int) -> set[Node]:
        others = [self.chain.space.operand(x) for j, x in enumerate(layer.operands) if j != k]
        return set().union(*(self.needs[y] for y in others if y in self.needs))

    def _peeled(self, node: Node, across: bool) -> int | None:
        """The operand that a map is linear in, the others being the same along what is added."""
        members = self.chain.members
        inside = [k for k, x in enumerate(node.operands) if self.chain.space.operand(x) in members]
        if node.op.kind is not Kind.ELEMENTWISE or len(inside) != 1:
            return None
        k = inside[0]
        others = [x for j, x in enumerate(node.operands) if j != k]
        if not all(self.is_fixed(x, node, across) for x in others):
            return None
        if node.op in (e.mul, e.neg) or (node.op is e.div and k == 0):
            return k
        if node.op is e.where and k and constant_value(node.operands[3 - k]) == 0:
            return k
        wide = node.op is e.cast and node.dtype.is_float and node.operands[0].dtype.is_float
        return k if wide and node.dtype.bits >= node.operands[0].dtype.bits else None

    def _is_scaled(self, node: Node, top: Node) -> bool:
        """Is every element something without top, times exp(x - top)?"""
        space = self.chain.space
        parts = [space.operand(x) for x in node.operands]
        free = [y not in self.needs or top not in self.needs[y] for y in parts]
        if node.op is e.exp:
            shifted = parts[0]
            if shifted is None or shifted.op is not e.sub:
                return False
            x, y = (space.operand(o) for o in shifted.operands)
            return y is top and x is space.operand(top.operands[0])
        within = [y is not None and not f and self._is_scaled(y, top)
                  for y, f in zip(parts, free, strict=True)]  # fmt: skip
        if node.op is e.mul:
            return any(w and f for w, f in zip(within, reversed(free), strict=True))
        if node.op is e.div:
            return within[0] and free[1]
        if node.op is e.where:
            zero = [constant_value(x) == 0 for x in node.operands]
            return free[0] and all(within[k] or zero[k] for k in (1, 2))
        return node.op in (e.neg, e.add, e.sub) and all(within)
