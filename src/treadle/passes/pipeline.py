"""The stages of graph rewriting in order, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

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

_INDEXED: dict[tuple[int, bool, tuple[Rule, ...]], ByOp] = {}


def _rules(more: tuple[Rule, ...]) -> ByOp:
    """The rules to run, by op: definitions of all rows there are now, and inexact ones if asked."""
    key = (len(TABLE), bool(knobs.FAST_MATH.value), more)
    found = _INDEXED.get(key)
    if found is None:
        _INDEXED.clear()
        found = _INDEXED[key] = by_op((*more, *definitions(), *(RULES if key[1] else EXACT)))
    return found


def simplify(roots: Sequence[Node], more: tuple[Rule, ...] = ()) -> list[Node]:
    """Composites defined, constants folded, views merged, equal nodes shared, dead ones dropped.

    more: rules of the device, which go before others.
    """
    rewriter = Rewriter(_rules(more))
    result = rewriter.run(roots)
    if has_regions(rewriter.interned.values()):
        inner = partial(simplify, more=more)
        result = Rewriter(_rules(more)).run(with_small_regions(result, inner))
    result = for_chains(result)
    if trace.is_heard():
        trace.tell("rules", dict(rewriter.fired.most_common()))
        trace.tell("nodes", (len(toposort(roots)), len(toposort(result))))
    if knobs.VERIFY.value:
        verify(result, PRIMITIVES, "simplify")
    return result
