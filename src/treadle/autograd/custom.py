"""Gradients that somebody gives instead of those of what a value is computed by.

`rerouted(y, *xs)` is y, and for gradients a function of xs alone. Which function is not part of the
node, so that programs that differ in it alone are one program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from treadle.base.errors import GradientError, explain
from treadle.ir.node import Node, apply
from treadle.ops.elementwise import rerouted


class Route(NamedTuple):
    """How changes go through a node.

    - **pull**: from its cotangent to those of xs
    - **push**: from the tangents of xs to its own, where somebody has said so; None is no change
    - **told**: what tells it apart from routes of nodes that are equal otherwise
    """

    pull: Callable[[Node], Sequence[Node | None]]
    push: Callable[[Sequence[Node | None]], Node | None] | None = None
    told: object = None


ROUTES: WeakKeyDictionary[Node, Route] = WeakKeyDictionary()
"""By the node of op rerouted."""


def reroute(y: Node, xs: Sequence[Node], route: Route) -> Node:
    """y, whose gradient by xs is the route's."""
    node = apply(rerouted, (y, *xs))
    ROUTES[node] = route
    return node


def marks_of(nodes: Iterable[Node]) -> list[tuple[Any, ...]]:
    """What tells nodes of this op apart besides their operands."""
    found = [(node, ROUTES[node].told) for node in nodes if node in ROUTES]
    return [(node, id(told)) for node, told in found if told is not None]


def route_of(node: Node) -> Route:
    """Where the gradient of a node goes."""
    route = ROUTES.get(node)
    if route is None:
        wrong = "a gradient of its own was given, and is not known any more"
        raise GradientError(explain("custom_gradient", wrong))
    return route


def _pulled(g: Any, y: Any, *_: Any) -> tuple[Any, ...]:
    return (None, *route_of(y).pull(g))


rerouted.grad = _pulled
