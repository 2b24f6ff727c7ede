"""The stages of graph rewriting in order, on one page."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.base import knobs, trace
from treadle.ir.graph import toposort
from treadle.ir.node import Node
from treadle.ir.rewrite import Rewriter
from treadle.ir.verify import PRIMITIVES, verify
from treadle.passes.algebra import ALGEBRA, CONSTANTS
from treadle.passes.decompose import SPLIT, definitions
from treadle.passes.movement import MOVEMENT

EXACT = tuple(r for r in (*CONSTANTS, *ALGEBRA, *MOVEMENT, *SPLIT) if r.exact)


def simplify(roots: Sequence[Node]) -> list[Node]:
    """Composites defined, constants folded, views merged, equal nodes shared, dead ones dropped."""
    rewriter = Rewriter((*definitions(), *EXACT))
    result = rewriter.run(roots)
    if trace.is_heard():
        trace.tell("rules", dict(rewriter.fired.most_common()))
        trace.tell("nodes", (len(toposort(roots)), len(toposort(result))))
    if knobs.VERIFY.value:
        verify(result, PRIMITIVES, "simplify")
    return result
