"""Gradients of loops and branches: a loop backwards over what the loop forwards has kept.

The body is differentiated once, as a graph. What its backward part needs of the forward part is
one more result of the loop, stacked; the two loops over the same operands become one when they are
simplified. The gradient of what a body closes over is a sum over all steps: where it is a product,
its factors are stacked instead, and multiplied at once after the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from treadle.autograd.backward import pulled
from treadle.autograd.residuals import reached, residuals
from treadle.autograd.steps import Outside, Sum, along, total
from treadle.base.errors import CompilerError, GradientError, explain
from treadle.ir.graph import substitute, toposort
from treadle.ir.node import LEAF, Call, Node, full, new_node, placeholder
from treadle.ir.recording import GRADIENTS
from treadle.ir.region import (
    BRANCH,
    LOOP,
    PROJECT,
    Branch,
    Loop,
    Region,
    apply_region,
    extended,
    project,
    region_of,
)
from treadle.ops.defs import Kind, Op
from treadle.ops.elementwise import add

COTANGENT = Op("cotangent", Kind.REGION, "The gradient of one result: arg is its number.",
               grad="it is one itself", public=False)  # fmt: skip
Simplify = Callable[[Sequence[Node]], list[Node]]
MOST = 1024  # derivatives of bodies that are kept


def differentiate_regions(simplify: Simplify) -> None:
    """Give loops and branches their gradients; bodies are simplified by whoever can do that."""
    PROJECT.grad = _of_result
    LOOP.grad = partial(_of_loop, simplify)
    BRANCH.grad = _of_branch


def _of_result(g: Node, node: Node, whole: Node) -> tuple[Node]:
    """The gradient of one result, as a part of those of all."""
    return (new_node(Call(COTANGENT, node.arg, whole.type, ()), (g,)),)


def _by_result(g: Node) -> dict[int, Node]:
    """The gradients of the results, by number, out of a sum of parts."""
    found: dict[int, Node] = {}
    stack = [g]
    while stack:
        node = stack.pop()
        if node.op is add:
            stack += node.operands
        elif node.op is COTANGENT:
            known = found.get(node.arg)
            found[node.arg] = node.operands[0] if known is None else known + node.operands[0]
        else:
            raise CompilerError(explain("gradient", f"{node.op} is no part of a loop's gradient"))
    return found


# ---- loops


class Derivative(NamedTuple):
    """How the gradient of a loop is made: bodies of two loops, and what their operands are.

    - **forward**: the body with more results; **kept**: values of a step, and as which result
    - **body**: of the loop backwards; it carries gradients of `carries`, then sums for `totals`,
      which are numbers of operands, goes along the stacks of `stacks` and closes over `closed`,
      which are values of a step, and gives `ends`, which are too
    - **slopes**: gradients of other operands, by number, out of stacks
    - **given**: stand for the gradients of results that are stacked, by their numbers
    """

    forward: Region
    kept: dict[Node, int]
    body: Region
    carries: list[int]
    totals: list[int]
    stacks: list[Node]
    closed: list[Node]
    ends: list[Node]
    slopes: dict[int, Sum]
    given: dict[int, Node]


_KNOWN: dict[tuple[object, ...], Derivative] = {}


def _of_loop(simplify: Simplify, g: Node, node: Node, *operands: Node) -> tuple[Node | None, ...]:
    spec: Loop = node.arg
    if spec.flagged:
        hint = "td.while_loop(..., max_steps=n), or td.scan and td.fori_loop between ints"
        wrong = "a loop of any number of steps has no gradient"
        raise GradientError(explain("while_loop", wrong, hint))
    given = _by_result(g)
    key = (spec.body, spec.carries, spec.xs, *sorted(given))
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= MOST:
            _KNOWN.clear()
        on, GRADIENTS.on = GRADIENTS.on, False
        try:
            found = _KNOWN[key] = _derivative(spec, sorted(given), simplify)
        finally:
            GRADIENTS.on = on
    return _followed(spec, found, given, operands)


def _derivative(spec: Loop, given: Sequence[int], simplify: Simplify) -> Derivative:
    """Differentiate a body, and decide what is kept, what is stacked and what is summed."""
    region = spec.body
    params, results, first = region.params, region.results, spec.carries + spec.xs
    smooth = [k for k, x in enumerate(params) if x.dtype.is_inexact]
    carries = [k for k in smooth if k < spec.carries]
    cots = {k: placeholder(results[k].type) for k in carries}
    along_ys = {k: placeholder(results[k].type) for k in given if k >= spec.carries}
    cots |= along_ys
    found = pulled([results[k] for k in cots], [params[k] for k in smooth], list(cots.values()))
    there = [k for k, x in zip(smooth, found, strict=True) if x is not None]
    simple = simplify([*results, *(x for x in found if x is not None)])
    slope = dict(zip(there, simple[len(results) :], strict=True))
    late = reached(simple, cots.values())
    early = reached(simple, params[:first])
    kept = dict.fromkeys(x for x in simple[spec.carries : len(results)] if x in early)
    ends: dict[Node, None] = {}

    def known(x: Node) -> bool:
        return x in kept or x in ends or x in params[spec.carries : first]

    def need(made: Sum) -> Sum:
        for x in made.needs:
            if not known(x) and (x in late or x in early):
                (ends if x in late else kept)[x] = None
        return made

    slopes: dict[int, Sum] = {}
    for _ in range(2):  # what is stacked for one is there for another
        for k in there:
            if k >= first and k not in slopes and (made := total(slope[k], known)):
                slopes[k] = need(made)
    for k in there:
        if spec.carries <= k < first:
            slopes[k] = need(along(slope[k], known, lambda x: x not in late and x not in early))
    totals = [k for k in there if k >= first and k not in slopes]
    sums = [placeholder(params[k].type) for k in totals]
    roots = [slope[k] if k in slope else full(0, params[k].type) for k in carries]
    roots += [x + slope[k] for k, x in zip(totals, sums, strict=True)]
    roots += ends
    late = reached(roots, [*cots.values(), *sums])
    kept |= dict.fromkeys(residuals(roots, late, early, kept))
    carried = [cots[k] for k in carries] + sums
    body, stacks, closed = _backwards(roots, carried, kept, set(early) | set(along_ys.values()))
    kept |= dict.fromkeys(x for x in stacks if x in params[: spec.carries])
    number = {simple[k]: k for k in range(spec.carries, len(results))}
    more = [x for x in kept if x not in number]
    number |= {x: k for k, x in enumerate(more, len(results))}
    return Derivative(
        extended(region, more), number, body, carries, totals, stacks, closed, list(ends), slopes,
        along_ys,
    )  # fmt: skip


def _backwards(
    roots: Sequence[Node], carried: Sequence[Node], kept: dict[Node, None], moving: set[Node]
) -> tuple[Region, list[Node], list[Node]]:
    """The body of a loop backwards; the step values it goes along, and those it closes over.

    moving: values that are others at every step.
    """
    given: dict[Node, Node] = {x: x for x in carried}
    stacks: dict[Node, None] = {}
    closed: dict[Node, None] = {}
    for node in toposort(roots, lambda x: x in kept or x in given):
        if node in given:
            continue
        if node in kept or (node.op is LEAF and node in moving):
            stacks[node] = None
        elif node.op is LEAF:
            closed[node] = None
    change = {x: placeholder(x.type) for x in (*stacks, *closed)}
    places = [*carried, *change.values()]
    return region_of(places, substitute(roots, change)), list(stacks), list(closed)


def _followed(
    spec: Loop, how: Derivative, given: dict[int, Node], operands: Sequence[Node]
) -> tuple[Node | None, ...]:
    """The loop backwards, and the gradients of operands that follow from it."""
    params, first = spec.body.params, spec.carries + spec.xs
    outside = Outside(spec.length, dict(zip(params[first:], operands[first:], strict=True)))
    forward = apply_region(spec._replace(body=how.forward), tuple(operands))
    for node, k in how.kept.items():
        outside.stacks[node] = partial(project, forward, k)
    for node, x in zip(params[spec.carries : first], operands[spec.carries :], strict=False):
        outside.stacks[node] = partial(_itself, x)
    for k, node in how.given.items():
        outside.stacks[node] = partial(_itself, given[k])
    initial = [given[k] if k in given else full(0, operands[k].type) for k in how.carries]
    initial += [full(0, operands[k].type) for k in how.totals]
    everything = [*initial, *map(outside.stack, how.stacks), *map(outside.value, how.closed)]
    found: list[Node | None] = [None] * len(operands)
    if everything:
        back = Loop(how.body, len(initial), len(how.stacks), spec.length, not spec.reverse)
        node = apply_region(back, tuple(everything))
        for k, end in enumerate(how.ends, len(initial)):
            outside.stacks[end] = partial(project, node, k)
        for n, k in enumerate([*how.carries, *how.totals]):
            found[k] = project(node, n)
    for k, made in how.slopes.items():
        found[k] = made.made(outside)
    return tuple(found)


def _itself(x: Node) -> Node:
    return x


# ---- branches


def _of_branch(g: Node, node: Node, index: Node, *operands: Node) -> tuple[Node | None, ...]:
    """The gradient of the branch that was taken, which computes again what it needs of it."""
    spec: Branch = node.arg
    given = _by_result(g)
    smooth = [k for k, x in enumerate(operands) if x.dtype.is_inexact]
    types = [operands[k].type for k in smooth]
    bodies = []
    on, GRADIENTS.on = GRADIENTS.on, False
    try:
        for body in spec.bodies:
            cots = [placeholder(x.type) for x in given.values()]
            ends = [body.results[k] for k in given]
            found = pulled(ends, [body.params[k] for k in smooth], cots)
            slopes = [full(0, t) if x is None else x for x, t in zip(found, types, strict=True)]
            bodies.append(region_of([*body.params, *cots], slopes))
    finally:
        GRADIENTS.on = on
    back = apply_region(Branch(tuple(bodies)), (index, *operands, *given.values()))
    parts: list[Node | None] = [None] * (len(operands) + 1)
    for n, k in enumerate(smooth):
        parts[k + 1] = project(back, n)
    return tuple(parts)
