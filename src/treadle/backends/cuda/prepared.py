"""The graph that a plan is made of, where a GPU wants another one than the host."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cuda.ordered import with_values
from treadle.backends.cuda.orders import ORDERS
from treadle.base.knobs import MEANING
from treadle.ir.graph import toposort
from treadle.ir.node import Node
from treadle.passes.branches import chosen
from treadle.passes.pipeline import simplify
from treadle.passes.regions import has_regions


def prepared(
    roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
) -> tuple[Sequence[Node], Sequence[Node], dict[Node, Node]]:
    """The graph with cheap branches all computed: to choose one, the host would have to wait.

    And with sorts of elements, unless somebody watches, who knows the ops of the table.
    """
    plain = simplify(chosen(roots), ORDERS) if has_regions(toposort(roots)) else roots
    plain = plain if MEANING.watched else with_values(plain)
    same = dict(zip(roots, plain, strict=True))
    return plain, leaves, {same[root]: leaf for root, leaf in replaces.items()}
