"""Values of all steps of a loop at once: stacks, sums over steps, and products made of them.

A value of a step is a node of the body; its stack is a node outside, with one axis more in front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from treadle.autograd.residuals import VIEWS
from treadle.base.errors import CompilerError, explain
from treadle.ir.graph import toposort
from treadle.ir.node import LEAF, Node, apply, new_node, record
from treadle.ir.recording import GRADIENTS, RECORDING
from treadle.ops import movement as m
from treadle.ops.contract import matrix_product
from treadle.ops.elementwise import add
from treadle.ops.reduce import sum_

DEAR = 4  # elements of factors that are stacked for each element of a sum that is not made


def replayed(roots: Sequence[Node], change: dict[Node, Node]) -> list[Node]:
    """Roots recorded again on other nodes, through which gradients may go."""
    done = dict(change)
    for node in toposort(roots, done.__contains__):
        if node not in done:
            operands = tuple([done[x] for x in node.operands])
            if operands:
                needs = GRADIENTS.on and node.call.smooth and any(x.needs_grad for x in operands)
                done[node] = record(node.call, operands, needs)
                if RECORDING.watched:
                    RECORDING.note(done[node])
            else:
                done[node] = new_node(node.call, ())
    return [done[root] for root in roots]


class Outside:
    """The stacks of step values while gradients are made of them.

    closed: what the body closes over, by its parameters; stacks: how each is made.
    """

    def __init__(self, length: int, closed: dict[Node, Node]) -> None:
        self.length, self.closed = length, closed
        self.stacks: dict[Node, Callable[[], Node]] = {}

    def value(self, node: Node) -> Node:
        """What is the same at every step."""
        return replayed([node], self.closed)[0]

    def stack(self, node: Node) -> Node:
        """The values of all steps."""
        if node in self.stacks:
            return self.stacks[node]()
        if node.op in VIEWS:
            return self.view(node, self.stack(node.operands[0]))
        leaves = [x for x in toposort([node]) if x.op is LEAF]
        if any(x not in self.closed for x in leaves):
            raise CompilerError(explain("gradient", f"{node.op} of a loop's body is not stacked"))
        same = self.value(node)
        return same.reshape((1, *same.shape)).expand((self.length, *same.shape))

    def view(self, node: Node, stack: Node) -> Node:
        """A view of the values of all steps."""
        if node.op is m.permute:
            return apply(m.permute, (stack,), (0, *(axis + 1 for axis in node.arg)))
        if node.op is m.slice_:
            return apply(m.slice_, (stack,), ((0, self.length, 1), *node.arg))
        if node.op is m.flip:
            return apply(m.flip, (stack,), tuple(axis + 1 for axis in node.arg))
        if node.op is m.expand:
            lead = len(node.shape) - len(stack.shape) + 1
            stack = stack.reshape((self.length, *(1,) * lead, *stack.shape[1:]))
            return stack.expand((self.length, *node.shape))
        return stack.reshape((self.length, *node.shape))


class Sum(NamedTuple):
    """What follows from stacks after a loop, and the step values that have to be stacked."""

    made: Callable[[Outside], Node]
    needs: tuple[Node, ...]


def base_of(node: Node) -> Node:
    """The node below views."""
    while node.op in VIEWS:
        node = node.operands[0]
    return node


def total(node: Node, known: Callable[[Node], bool]) -> Sum | None:
    """The sum of a value over all steps, if stacks of others give it; known: is it stacked?"""
    if node.op in (m.reshape, m.permute):
        inner = total(node.operands[0], known)
        if inner is None:
            return None
        made = inner.made
        return Sum(lambda outside: apply(node.op, (made(outside),), node.arg), inner.needs)
    if node.op is add and node.operands[0].shape == node.operands[1].shape:
        one, other = (total(x, known) for x in node.operands)
        if one is None or other is None:
            return None
        first, second = one.made, other.made
        return Sum(lambda o: first(o) + second(o), (*one.needs, *other.needs))
    if node.op is matrix_product and len(node.shape) == 2 and _pays(node, known):
        return Sum(lambda outside: _product(node, outside), tuple(map(base_of, node.operands)))
    if node.op is sum_ and known(base_of(node.operands[0])):
        (x,), (axes, keep) = node.operands, node.arg

        def made(outside: Outside) -> Node:
            along = tuple(axis + 1 for axis in axes)
            found: Node = sum_(outside.stack(x), axis=(0, *along), keepdims=keep)
            return found.reshape(node.shape)

        return Sum(made, (base_of(x),))
    return None


def _pays(node: Node, known: Callable[[Node], bool]) -> bool:
    """Are the factors of a product less to write than the product is to add up?"""
    new = [x for x in map(base_of, node.operands) if not known(x)]
    return sum(x.type.size for x in new) <= DEAR * node.type.size


def _product(node: Node, outside: Outside) -> Node:
    """The sum of products over all steps: a product of what stands side by side."""
    a, b = (outside.stack(x) for x in node.operands)
    (rows, depth), columns = node.operands[0].shape, node.shape[1]
    long = outside.length * depth
    left = apply(m.permute, (a,), (1, 0, 2)).reshape((rows, long))
    found: Node = matrix_product(left, b.reshape((long, columns)))
    return found


def along(node: Node, known: Callable[[Node], bool], same: Callable[[Node], bool]) -> Sum:
    """The stack of a value; a product with what is the same at every step is made after the loop.

    known: is a value stacked? same: is it the same at every step?
    """
    if node.op in VIEWS and not known(node):
        inner = along(node.operands[0], known, same).made
        needs = along(node.operands[0], known, same).needs
        return Sum(lambda outside: outside.view(node, inner(outside)), needs)
    if node.op is matrix_product and len(node.shape) == 2:
        a, b = node.operands
        if known(base_of(a)) and same(b):

            def made(outside: Outside) -> Node:
                rows = outside.stack(a).reshape((outside.length * a.shape[0], a.shape[1]))
                found: Node = matrix_product(rows, outside.value(b))
                return found.reshape((outside.length, *node.shape))

            return Sum(made, (base_of(a),))
    return Sum(lambda outside: outside.stack(node), (node,))
