"""What the gradient of a composite records, kept for each kind of call and copied from then on.

A definition and the gradients of its parts depend on the call and on the types of its operands, so
what they record for one node fits every other of that kind: copying it runs no rule again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.ir.graph import toposort
from treadle.ir.node import Call, Node, new_node, placeholder, record
from treadle.ir.recording import GRADIENTS, RECORDING
from treadle.ops.movement import permute

Pull = Callable[[Node, Sequence[Node], Node], Sequence[Node | None]]
"""(node, operands, cotangent): the cotangents of the operands."""
MOST = 4096
_RECIPES: dict[tuple[Any, ...], Recipe] = {}


class Recipe:
    """Calls to record, each with the numbers of its operands; operands and cotangent come first."""

    __slots__ = ("results", "steps")

    def __init__(self, given: Sequence[Node], results: Sequence[Node | None]) -> None:
        number = {node: k for k, node in enumerate(given)}
        self.steps: list[tuple[Call, tuple[int, ...]]] = []
        for node in toposort([x for x in results if x is not None], number.__contains__):
            if node not in number:
                number[node] = len(number)
                self.steps.append((node.call, tuple([number[x] for x in node.operands])))
        self.results = [None if x is None else number[x] for x in results]

    def follow(self, made: list[Node]) -> list[Node | None]:
        """Record the steps after what is given; the results."""
        on, given = GRADIENTS.on, len(made)
        for call, numbers in self.steps:
            if numbers:
                operands = tuple([made[k] for k in numbers])
                needs = on and call.smooth and any([x.needs_grad for x in operands])  # noqa: C419
                made.append(record(call, operands, needs))
            else:
                made.append(new_node(call, ()))
        if RECORDING.watched and RECORDING.noted:
            for node in made[given:]:
                node.site = RECORDING.site
        return [None if k is None else made[k] for k in self.results]


def _alike(operand: Node) -> Node:
    """A node that stands for an operand."""
    below = operand.operands
    if operand.call.op is not permute or not below:
        return placeholder(operand.call.type)
    return new_node(operand.call, (placeholder(below[0].call.type),))


def pulled_through(node: Node, operands: Sequence[Node], g: Node, pull: Pull) -> list[Node | None]:
    """The cotangents of a composite's operands, which are different nodes, from its own."""
    order = [operands.index(x) for x in node.operands]
    # A rule may look whether an operand is transposed: the Call of a permutation has its type, too.
    kinds = [x.call if x.call.op is permute else x.call.type for x in operands]
    key = (node.call, g.call.type, *kinds, *order)
    recipe = _RECIPES.get(key)
    if recipe is None:
        places, cotangent = list(map(_alike, operands)), placeholder(g.call.type)
        stand_in = new_node(node.call, tuple([places[k] for k in order]))
        recipe = Recipe([*places, cotangent], pull(stand_in, places, cotangent))
        if len(_RECIPES) >= MOST:
            _RECIPES.clear()
        _RECIPES[key] = recipe
    return recipe.follow([*operands, g])
