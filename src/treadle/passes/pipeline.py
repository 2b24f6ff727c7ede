"""The stages of graph rewriting in order, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

from treadle.base import knobs, trace
from treadle.ir.graph import toposort
from treadle.ir.node import Node
from treadle.ir.pattern import Rule
from treadle.ir.rewrite import ByOp, Rewriter, by_op
from treadle.ir.verify import PRIMITIVES, verify
from treadle.ops.defs import TABLE
from treadle.passes.algebra import ALGEBRA, CONSTANTS
from treadle.passes.boxes import BOXES
from treadle.passes.chains import for_chains
from treadle.passes.decompose import SPLIT, WIDEN, definitions
from treadle.passes.movement import MOVEMENT
from treadle.passes.ranges import RANGES
from treadle.passes.regions import has_regions, with_small_regions
from treadle.passes.selects import SELECTS
from treadle.passes.sums import SUMS

RULES: tuple[Rule, ...] = (
    *CONSTANTS, *ALGEBRA, *RANGES, *MOVEMENT, *SUMS, *SELECTS, *SPLIT, *WIDEN, *BOXES
)  # fmt: skip
EXACT = tuple(r for r in RULES if r.exact)


@lru_cache(maxsize=4)
def _rules(rows: int, fast: bool, more: tuple[Rule, ...]) -> ByOp:
    """The rules to run, by op: definitions of all rows there are now, and inexact ones if asked."""
    del rows  # as many have definitions
    return by_op((*more, *definitions(), *(RULES if fast else EXACT)))


def simplify(roots: Sequence[Node], more: tuple[Rule, ...] = ()) -> list[Node]:
    """Composites defined, constants folded, views merged, equal ones shared; more: a device's."""
    rules = _rules(len(TABLE), bool(knobs.FAST_MATH.value), more)
    rewriter = Rewriter(rules)
    result = rewriter.run(roots)
    if has_regions(rewriter.interned.values()):
        result = Rewriter(rules).run(with_small_regions(result, partial(simplify, more=more)))
    result = for_chains(result)
    if trace.is_heard():
        trace.tell("rules", dict(rewriter.fired.most_common()))
        trace.tell("nodes", (len(toposort(roots)), len(toposort(result))))
    if knobs.VERIFY.value:
        verify(result, PRIMITIVES, "simplify")
    return result
