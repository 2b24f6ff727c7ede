"""Drives rules over a graph bottom-up, sharing equal nodes, and reports each firing.

Every node is interned by (call, operands) and simplified once; a replacement is simplified in turn
until no rule fits, so nothing is ever rescanned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from treadle.base import knobs, trace
from treadle.base.errors import CompilerError, explain
from treadle.base.sizes import UnknownSizeError
from treadle.ir.graph import toposort
from treadle.ir.node import LEAF, Node, new_node
from treadle.ir.pattern import Rule
from treadle.ir.recording import RECORDING
from treadle.ops.defs import Op
from treadle.ops.elementwise import cast

LIMIT = 50  # firings in a row on one node: more is a loop between rules


ByOp = dict[Op, list[Rule]]


def by_op(rules: Iterable[Rule]) -> ByOp:
    """Rules found by the op they rewrite, in their order."""
    found: ByOp = {}
    for rule in rules:
        found.setdefault(rule.op, []).append(rule)
    return found


class Rewriter:
    """One run over one or more graphs."""

    def __init__(self, rules: ByOp) -> None:
        self.rules = rules
        self.interned: dict[tuple[object, ...], Node] = {}
        self.final: dict[Node, Node] = {}
        self.fired: Counter[str] = Counter()

    def run(self, roots: Sequence[Node]) -> list[Node]:
        """The roots simplified."""
        before = RECORDING.site
        try:
            for root in roots:
                self.simplify(root)
        finally:
            RECORDING.site = before
        return [self.final[root] for root in roots]

    def simplify(self, root: Node) -> Node:
        """root simplified, operands first."""
        final = self.final
        if root not in final:
            for node in toposort([root], final.__contains__):
                if node not in final:
                    final[node] = self._settle(node)
        return final[root]

    def _settle(self, node: Node) -> Node:
        """A node whose operands are final: interned, then rewritten until no rule fits."""
        current = self._intern(node)
        for _ in range(LIMIT):
            if current in self.final:
                return self.final[current]
            replaced = self._fire(current)
            if replaced is None:
                self.final[current] = current
                return current
            if replaced.site is None:
                replaced.site = node.site
            if replaced.operands and replaced not in self.final:
                for part in replaced.operands:
                    self.simplify(part)
            current = self._intern(replaced)
        fired = self.fired.most_common(5)
        raise CompilerError(explain("rewrite", "rules do not end", node=node, fired=fired))

    def _intern(self, node: Node) -> Node:
        if node.op is LEAF:
            return node
        operands = tuple([self.final.get(x, x) for x in node.operands])
        key = (node.call, *map(id, operands))
        found = self.interned.get(key)
        if found is None:
            found = new_node(node.call, operands)
            found.site = node.site
            self.interned[key] = found
        return found

    def _fire(self, node: Node) -> Node | None:
        RECORDING.site = node.site or ""  # the line of what is replaced
        for rule in self.rules.get(node.call.op, ()):
            try:
                result = rule.apply(node)
            except UnknownSizeError:  # it depends on a number that is not known
                continue
            if result is not None and result is not node:
                self.fired[rule.name] += 1
                if knobs.DEBUG.value >= 5:
                    trace.show(5, f"rule {rule.name}: {node} -> {result}")
                return _same_type(result, node)
        return None


def _same_type(result: Node, node: Node) -> Node:
    """A replacement brought to the type of what it replaces."""
    if result.dtype is not node.dtype:
        result = cast(result, node.dtype)
    return result if result.shape == node.shape else result.expand(node.shape)
