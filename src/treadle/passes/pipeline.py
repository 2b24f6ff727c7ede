"""The stages of graph rewriting in order, on one page."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.base import knobs
from treadle.ir.node import Node
from treadle.ir.rewrite import Rewriter
from treadle.ir.verify import PRIMITIVES, verify
from treadle.passes.algebra import ALGEBRA, CONSTANTS
from treadle.passes.decompose import DECOMPOSE, SPLIT
from treadle.passes.movement import MOVEMENT

EXACT = tuple(r for r in (*DECOMPOSE, *CONSTANTS, *ALGEBRA, *MOVEMENT, *SPLIT) if r.exact)


def simplify(roots: Sequence[Node]) -> list[Node]:
    """Composites defined, constants folded, views merged, equal nodes shared, dead ones dropped."""
    rewriter = Rewriter(EXACT)
    result = rewriter.run(roots)
    if knobs.VERIFY.value:
        verify(result, PRIMITIVES, "simplify")
    return result
