"""Questions about graphs: order, users, substitution, structure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from sys import getrefcount
from typing import Any
from weakref import WeakKeyDictionary, ref

from treadle.base.dtypes import float32
from treadle.base.errors import CompilerError, explain
from treadle.ir.node import Call, Node, new_node, placeholder, type_of
from treadle.ops.defs import Kind


def toposort(roots: Iterable[Node], stop: Callable[[Node], bool] | None = None) -> list[Node]:
    """Every node reachable from roots, operands first; where stop holds, no further."""
    order: list[Node] = []
    done: set[Node] = set()
    stack: list[Node] = list(roots)[::-1]
    while stack:
        node = stack.pop()
        if node in done:
            continue
        operands = node.operands
        if operands and (stop is None or not stop(node)):
            waiting = [x for x in operands if x not in done]
            if waiting:
                stack.append(node)
                stack += waiting[::-1]
                continue
        done.add(node)
        order.append(node)
    return order


def rebuild(node: Node, operands: tuple[Node, ...]) -> Node:
    """The same op on other operands of the same types."""
    if all(a is b for a, b in zip(operands, node.operands, strict=True)):
        return node
    copy = new_node(node.call, operands, node.needs_grad)
    copy.site = node.site
    return copy


def substitute(roots: Sequence[Node], change: dict[Node, Node]) -> list[Node]:
    """Roots with nodes replaced, sharing whatever does not change.

    What stands for a node may be made of nodes that are replaced, too: it is made of their
    replacements then. It must not be made of the node itself.
    """
    done: dict[Node, Node] = {}
    stack = list(roots)[::-1]
    while stack:
        node = stack[-1]
        other = change.get(node)
        below = node.operands if other is None else (other,)
        waiting = [x for x in below if x not in done]
        if waiting:
            stack += waiting[::-1]
            continue
        stack.pop()
        if other is not None:
            done[node] = done[other]
        elif node not in done:
            done[node] = rebuild(node, tuple([done[x] for x in node.operands]))
    return [done[root] for root in roots]


def copied(roots: Sequence[Node], leaves: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """What lies between leaves and roots in nodes of its own, with placeholders for the leaves."""
    places = [placeholder(leaf.type) for leaf in leaves]
    for leaf, place in zip(leaves, places, strict=True):
        place.site = leaf.site
    done = dict(zip(leaves, places, strict=True))
    for node in toposort(roots, done.__contains__):
        if node not in done:
            if node.buffer is not None and not node.operands and node.op.kind is not Kind.SOURCE:
                wrong = "another thread has computed a part of what is compiled"
                raise CompilerError(explain(node.op.name, wrong))
            operands = tuple([done[x] for x in node.operands])
            done[node] = copy = new_node(node.call, operands, node.needs_grad)
            copy.site = node.site
    return [done[root] for root in roots], places


def is_realised(node: Node) -> bool:
    """Is the value in memory?"""
    return node.buffer is not None


Structure = tuple[Any, ...]


def structure(
    roots: Sequence[Node], held: list[Node] | None = None, values: list[Any] | None = None
) -> tuple[Structure, list[Node]]:
    """A key equal for graphs of the same shape, and the leaves in the order the key numbers them.

    Each node adds its Call and the numbers of its operands; the numbers of the roots come last,
    and then those of pending nodes that somebody else holds, which are added to held. A constant
    stands where it is read, and its value in values; without these it is part of the key.
    """
    number: dict[Node, int] = {}
    key: list[Any] = []
    leaves: list[Node] = []
    costly: list[Call] = []
    found: list[Any] = [] if values is None else values
    for root in roots:
        if root.call.slot is not None and root.buffer is None:
            number.setdefault(root, len(number))
            key.append(root.call)
    try:
        for root in roots:
            if root not in number:
                if root.buffer is None:
                    _visit(root, number, key, leaves, costly, found)
                else:
                    number[root] = len(number)
                    key.append(root.call.type)
                    leaves.append(root)
    except RecursionError:
        key.clear()
    if not key:  # out here, where the error holds no frames any more, and they no nodes
        del found[:]
        number, leaves = _visit_deep(roots, key, found)
    if values is None:
        key += found
    key += [number[root] for root in roots]
    if held is not None and (costly or len(number) > FEW):
        ends = set(roots)
        held += _worth_keeping(_held(number, ends), ends)
        key += [number[n] if n in number else (number[n.operands[0]], n.call) for n in held]
    return tuple(key), leaves


def _visit(
    node: Node, number: dict[Node, int], key: list[Any], leaves: list[Node], costly: list[Call],
    values: list[Any],
) -> None:  # fmt: skip
    """Number a pending node after its operands."""
    operands = node.operands
    for x in operands:
        if x not in number:
            if x.buffer is not None:  # written out here: half of all nodes are leaves
                number[x] = len(number)
                key.append(x.call.type)
                leaves.append(x)
            elif x.call.slot is None:
                _visit(x, number, key, leaves, costly, values)
    call = node.call
    if call.costly:
        costly.append(call)
    key.append(call)
    for x in operands:
        if x in number:
            key.append(number[x])
        else:  # a constant
            key.append(x.call.slot)
            values.append(x.call.arg)
    number[node] = len(number)


def _visit_deep(
    roots: Sequence[Node], key: list[Any], values: list[Any]
) -> tuple[dict[Node, int], list[Node]]:
    """The same without recursion, for graphs of any depth."""
    leaves: list[Node] = []
    ends = set(roots)
    order = [n for n in toposort(roots, is_realised) if not is_given(n, ends)]
    number = {node: k for k, node in enumerate(order)}
    for node in order:
        if node.buffer is not None:
            key.append(node.call.type)
            leaves.append(node)
        else:
            key.append(node.call)
            key += [number.get(x, x.call.slot) for x in node.operands]
            values += [x.call.arg for x in node.operands if x not in number]
    return number, leaves


def is_given(node: Node, roots: set[Node]) -> bool:
    """Does a node count as a number where it is read, and not as a node of the structure?"""
    return node.call.slot is not None and node.buffer is None and node not in roots


def with_numbers(roots: Sequence[Node], given: Callable[[int, Node], Node]) -> list[Node]:
    """Roots with other nodes for their numbers, which are counted as the structure counts them."""
    done: dict[Node, Node] = {}
    ends, count = set(roots), 0
    for node in toposort(roots, is_realised):
        done[node] = node
        if node.buffer is None:
            operands = []
            for x in node.operands:
                known = is_given(x, ends)
                operands.append(given(count, x) if known else done[x])
                count += known
            done[node] = rebuild(node, tuple(operands))
    return [done[root] for root in roots]


FEW = 24  # nodes that are computed again sooner than it is found out who holds them


def _held(number: dict[Node, int], roots: set[Node]) -> list[Node]:
    """Pending nodes below the roots to which there are references from outside the graph.

    A mistake would cost memory, or time to compute a value again; it could not change a value.
    """
    nodes, references = _counted(number)
    once = _OWN + 1  # by us, and by the one node of the graph that reads it
    several = [
        (n, k) for n, k in zip(nodes, references, strict=True) if k > once and n not in roots
    ]
    if not several:
        return []
    inside = {node: _OWN for node, _ in several}
    tuples = {id(node.operands): node.operands for node in nodes}  # nodes may share one
    for x in chain.from_iterable(tuples.values()):
        if x in inside:
            inside[x] += 1
    return [node for node, count in several if count > inside[node]]


def _counted(number: dict[Node, int]) -> tuple[list[Node], list[int]]:
    """Pending nodes, and how many references there are to each while nothing here has a name."""
    nodes = [node for node in number if node.buffer is None and node.operands]
    return nodes, list(map(getrefcount, nodes))


def _references_of_ours() -> int:
    """What is counted for a node that nobody holds but the dictionary it is counted in."""
    leaf = placeholder(type_of((), float32))
    return _counted({new_node(leaf.call, (leaf,)): 0})[1][0]


_OWN = _references_of_ours()


def _worth_keeping(outside: list[Node], roots: set[Node]) -> list[Node]:
    """Of nodes to which there are references from outside the graph, those to keep.

    A tensor is such a reference: it will want the value, so it had better be computed only once.
    Of a view it is what the view shows.
    """
    found: dict[Node, None] = {}
    for node in outside:
        # Read once: another thread may take them away.
        while node.buffer is None and node.op.flops == 0.0 and len(below := node.operands) == 1:
            node = below[0]  # noqa: PLW2901
        for kept in results_held(node) if node.op.kind is Kind.REGION else (node,):
            if kept.buffer is None and kept.operands and kept not in roots:
                found[kept] = None
    return list(found)


RESULTS: WeakKeyDictionary[Node, dict[int, ref[Node]]] = WeakKeyDictionary()
"""Of nodes with several results: those that somebody holds, by number."""


def results_held(node: Node) -> list[Node]:
    """Results of a node that are held by somebody, whoever looks at one of them."""
    known = RESULTS.get(node, {})
    return [x for reference in known.values() if (x := reference()) is not None]
