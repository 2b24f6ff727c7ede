"""Loops and branches made small: what nobody reads goes, equal ones are one, bodies are simplified.

A loop that a gradient has asked for more results is another loop over the same operands; both
become one here, so that a forward and a backward pass are two loops and not three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from treadle.ir.graph import rebuild, substitute, toposort
from treadle.ir.node import CONST, IOTA, LEAF, Node, full, new_node, placeholder
from treadle.ir.pattern import constant_value
from treadle.ir.region import (
    BRANCH,
    LOOP,
    PROJECT,
    Branch,
    Loop,
    Region,
    Spec,
    bodies_of,
    extended,
    project_call,
    region_call,
    region_of,
)
from treadle.ops import movement as m

Simplify = Callable[[Sequence[Node]], list[Node]]
VIEWS = (m.reshape, m.permute, m.expand, m.slice_, m.flip)
"""What a body reads through rather than having it written out before."""


def has_regions(nodes: Iterable[Node]) -> bool:
    """Is there a loop or a branch among nodes?"""
    return any(node.op is LOOP or node.op is BRANCH for node in nodes)


def with_small_regions(roots: Sequence[Node], simplify: Simplify) -> list[Node]:
    """The graph below roots, whose loops and branches compute what is read and nothing else."""
    roots = _merged(roots)
    before = -1
    order = toposort(roots)
    while before != (size := _size(order)):
        before = size
        roots = _rebuilt(roots, order, simplify)
        order = toposort(roots)
    return list(roots)


def _size(order: Sequence[Node]) -> int:
    return len(order) + sum(
        len(body.params) + len(body.results)
        for node in order if node.op in (LOOP, BRANCH) for body in bodies_of(node.arg)
    )  # fmt: skip


# ---- loops that differ in their results alone


def _merged(roots: Sequence[Node]) -> list[Node]:
    """Loops over the same operands whose bodies begin alike, as one with all their results."""
    order = toposort(roots)
    groups: dict[tuple[object, ...], dict[Node, None]] = {}
    for node in order:
        if node.op is LOOP:
            key = (node.arg.body.base, *node.arg[1:], *node.operands)
            groups.setdefault(key, {})[node] = None
    spec = {node: _as_one(list(group)) for group in groups.values() if len(group) > 1
            for node in group}  # fmt: skip
    if not spec:
        return list(roots)
    done: dict[Node, Node] = {}
    whole: dict[tuple[object, ...], Node] = {}
    for node in order:
        operands = tuple([done[x] for x in node.operands])
        if node in spec:
            key = (spec[node], *operands)
            if key not in whole:
                whole[key] = new_node(region_call(spec[node], operands), operands)
                whole[key].site = node.site
            done[node] = whole[key]
        elif node.op is PROJECT and node.operands[0] in spec:
            (loop,), (old,) = operands, node.operands
            wanted, known = old.arg.body.results[node.arg], len(old.arg.body.base.results)
            more = node.arg >= known
            k = loop.arg.body.results.index(wanted, known) if more else node.arg
            done[node] = _projected(loop, k)
        else:
            done[node] = rebuild(node, operands)
    return [done[root] for root in roots]


def _as_one(group: Sequence[Node]) -> Loop:
    """The loop that gives all results of several."""
    spec: Loop = group[0].arg
    base = spec.body.base
    more: dict[Node, None] = {}
    for node in group:
        more |= dict.fromkeys(node.arg.body.results[len(base.results) :])
    return spec._replace(body=extended(base, list(more)))


def _projected(node: Node, k: int) -> Node:
    return new_node(project_call(node, k), (node,))


# ---- what is read


class _Small(NamedTuple):
    """What a loop or branch becomes: its results by their numbers before."""

    spec: Spec
    operands: list[Node]
    numbers: dict[int, int]
    known: dict[int, Node]  # results that need no loop

    @property
    def loop(self) -> Loop:
        """The loop that it is."""
        return Loop(*self.spec)


def _rebuilt(roots: Sequence[Node], order: Sequence[Node], simplify: Simplify) -> list[Node]:
    read: dict[Node, set[int]] = {}
    for node in order:
        if node.op is PROJECT:
            read.setdefault(node.operands[0], set()).add(node.arg)
    done: dict[Node, Node] = {}
    small: dict[Node, tuple[Node | None, _Small]] = {}
    for node in order:
        operands = [done.get(x, x) for x in node.operands]
        if node.op in (LOOP, BRANCH):
            made = _made_small(node.arg, operands, read[node], simplify)
            new = None
            if made.numbers:
                new = new_node(region_call(made.spec, made.operands), tuple(made.operands))
                new.site = node.site
            small[node] = new, made
            done[node] = new or node
        elif node.op is PROJECT:
            new, made = small[node.operands[0]]
            known = made.known.get(node.arg)
            if known is None and new is not None:
                known = _projected(new, made.numbers[node.arg])
                known.site = node.site
            done[node] = node if known is None else known
        elif any(a is not b for a, b in zip(operands, node.operands, strict=True)):
            done[node] = new_node(node.call, tuple(operands))
            done[node].site = node.site
        else:
            done[node] = node
    return [done[root] for root in roots]


def _made_small(
    spec: Spec, operands: list[Node], read: set[int], simplify: Simplify
) -> _Small:  # fmt: skip
    if isinstance(spec, Branch):
        return _small_branch(spec, operands, read, simplify)
    if not spec.length:
        known = {k: operands[k] if k < spec.carries else full(0, spec.result(k)) for k in read}
        return _Small(spec, operands, {}, known)
    first = _trimmed(spec, operands, read)
    if not first.numbers:
        return first
    spec = first.loop
    params, results, operands = _views_inside(
        [spec.body], first.operands, spec.carries + spec.xs, spec.flagged
    )
    ends = simplify(results[0])
    spec = spec._replace(body=region_of(params, ends))
    second = _trimmed(spec, operands, set(first.numbers.values()))
    numbers = {k: second.numbers[n] for k, n in first.numbers.items() if n in second.numbers}
    known = {k: second.known[n] for k, n in first.numbers.items() if n in second.known}
    return second._replace(numbers=numbers, known=first.known | known)


def _trimmed(spec: Loop, operands: Sequence[Node], read: set[int]) -> _Small:
    """A loop without results that nobody reads, carries that stay as they are, and operands."""
    params, results = spec.body.params, spec.body.results
    same = [k for k in range(spec.carries) if results[k] is params[k]]
    flags = results[len(results) - spec.flagged :]
    still = _still(spec, operands, read, same)
    live = {k for k in read if k not in same and k not in still}
    while True:
        reached = set(toposort([*flags, *(results[k] for k in live)]))
        more = {k for k in range(spec.carries) if params[k] in reached and k not in same}
        if more <= live:
            break
        live |= more
    carries = [k for k in range(spec.carries) if k in live]
    xs = [k for k in range(spec.carries, spec.carries + spec.xs) if params[k] in reached]
    closed = [k for k in same if params[k] in reached]
    closed += [k for k in range(spec.carries + spec.xs, len(params)) if params[k] in reached]
    ys = [k for k in range(spec.carries, spec.carries + spec.ys) if k in live]
    kept, ends = [*carries, *xs, *closed], [*carries, *ys]
    body = region_of([params[k] for k in kept], [*(results[k] for k in ends), *flags])
    made = spec._replace(body=body, carries=len(carries), xs=len(xs))
    given = [operands[k] for k in kept] + list(operands[len(params) :])
    known = {k: operands[k] for k in read if k in same} | still
    return _Small(made, given, {k: n for n, k in enumerate(ends) if k in read}, known)


def _still(
    spec: Loop, operands: Sequence[Node], read: set[int], same: Sequence[int]
) -> dict[int, Node]:
    """Results that are stacked and the same at every step, by their numbers."""
    params, results = spec.body.params, spec.body.results
    first = spec.carries + spec.xs
    moving = {x for k, x in enumerate(params[:first]) if k not in same}
    for node in toposort(results):
        if not moving.isdisjoint(node.operands):
            moving.add(node)
    found = [k for k in read if k >= spec.carries and results[k] not in moving]
    values = substitute([results[k] for k in found], dict(zip(params, operands, strict=False)))
    return {
        k: x.reshape((1, *x.shape)).expand((spec.length, *x.shape))
        for k, x in zip(found, values, strict=True)
    }


def _views_inside(
    bodies: Sequence[Region], operands: Sequence[Node], first: int, last: int
) -> tuple[list[Node], list[list[Node]], list[Node]]:
    """Params, results of each body, and operands, with views and numbers read by the bodies.

    first: the first operand that may be read anywhere; so many at the end belong to no body.
    """
    places = [placeholder(x.type) for x in bodies[0].params]
    given = list(operands)
    inner = list(places)
    for k in range(first, len(places)):
        path = []
        x = given[k]
        while x.op in VIEWS and x.buffer is None:
            path.append(x)
            x = x.operands[0]
        if x.op in (CONST, IOTA):
            node = new_node(x.call, ())
        elif path:
            node = placeholder(x.type)
        else:
            continue
        given[k], places[k] = x, node
        for view in reversed(path):
            node = new_node(view.call, (node,))
        inner[k] = node
    results = [
        substitute(body.results, dict(zip(body.params, inner, strict=True))) for body in bodies
    ]
    kept = [k for k, node in enumerate(places) if node.op is LEAF]
    rest = given[len(given) - last :] if last else []
    return [places[k] for k in kept], results, [*(given[k] for k in kept), *rest]


def _small_branch(
    spec: Branch, operands: list[Node], read: set[int], simplify: Simplify
) -> _Small:  # fmt: skip
    """A branch without results and operands that nobody reads; one that is known is no branch."""
    index, *rest = operands
    ends = sorted(read)
    params, results, rest = _views_inside(spec.bodies, rest, 0, 0)
    results = [simplify([body[k] for k in ends]) for body in results]
    chosen = constant_value(index)
    if chosen is not None:
        body = results[min(max(int(chosen), 0), len(results) - 1)]
        found = substitute(body, dict(zip(params, rest, strict=True)))
        return _Small(spec, operands, {}, dict(zip(ends, found, strict=True)))
    reached = set(toposort([x for body in results for x in body]))
    kept = [k for k, x in enumerate(params) if x in reached]
    bodies = tuple(region_of([params[k] for k in kept], body) for body in results)
    given = [index, *(rest[k] for k in kept)]
    return _Small(Branch(bodies), given, {k: n for n, k in enumerate(ends)}, {})
