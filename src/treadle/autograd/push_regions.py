"""How loops and branches change along tangents: bodies that carry changes beside values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from treadle.ir.graph import toposort
from treadle.ir.node import Node, full, placeholder
from treadle.ir.region import PROJECT, Branch, Loop, Region, apply_region, project, region_of

Changes = dict[Node, Node]
Push = Callable[[Sequence[Node], Changes], None]
"""Adds to changes how the nodes of an order change."""
NUMBERS: WeakKeyDictionary[Node, dict[int, int]] = WeakKeyDictionary()
"""Of loops and branches that compute changes: as which result, by the number of what changes."""


def pushed(node: Node, tangents: Sequence[Node | None], push: Push) -> Node | None:
    """The change of a loop, of a branch, or of one of its results."""
    if node.op is PROJECT:
        (whole,) = tangents
        k = None if whole is None else NUMBERS[whole].get(node.arg)
        return None if whole is None or k is None else project(whole, k)
    if isinstance(node.arg, Loop):
        return _pushed_loop(node.arg, node.operands, tangents, push)
    return _pushed_branch(node.arg, node.operands, tangents, push)


def _inside(region: Region, moving: Sequence[int], push: Push) -> tuple[list[Node], Changes]:
    """Tangents of parameters of a body, and how its nodes change with them."""
    dots = {region.params[k]: placeholder(region.params[k].type) for k in moving}
    changes: Changes = dict(dots)
    params = set(region.params)
    push([x for x in toposort(region.results, params.__contains__) if x not in params], changes)
    return list(dots.values()), changes


def _change(changes: Changes, x: Node) -> Node:
    return changes[x] if x in changes else full(0, x.type)


def _moving(operands: Sequence[Node], tangents: Sequence[Node | None]) -> list[int]:
    pairs = enumerate(zip(operands, tangents, strict=True))
    return [k for k, (x, t) in pairs if t is not None and x.dtype.is_inexact]


def _pushed_loop(
    spec: Loop, operands: Sequence[Node], tangents: Sequence[Node | None], push: Push
) -> Node:
    """A loop that carries, goes along and closes over changes as well, and stacks them alone."""
    region, first, last = spec.body, spec.carries + spec.xs, spec.carries + spec.ys
    moving = _moving(operands, tangents)
    while True:
        dots, changes = _inside(region, moving, push)
        more = [k for k in range(spec.carries) if k not in moving and region.results[k] in changes]
        if not more:
            break
        moving = sorted(moving + more)
    of = dict(zip(moving, dots, strict=True))
    given = {k: t if (t := tangents[k]) is not None else full(0, operands[k].type) for k in of}
    parts = range(spec.carries), range(spec.carries, first), range(first, len(region.params))
    params = [x for part in parts for x in (*[region.params[k] for k in part],
                                            *[of[k] for k in part if k in of])]  # fmt: skip
    inputs = [x for part in parts for x in (*[operands[k] for k in part],
                                            *[given[k] for k in part if k in of])]  # fmt: skip
    carried = [k for k in parts[0] if k in of]
    stacked = [k for k in range(spec.carries, last) if region.results[k] in changes]
    results = [*region.results[: spec.carries]]
    results += [_change(changes, region.results[k]) for k in (*carried, *stacked)]
    results += region.results[last:]
    count = spec.carries + len(carried)
    xs = spec.xs + sum(k in of for k in parts[1])
    made = spec._replace(body=region_of(params, results), carries=count, xs=xs)
    node = apply_region(made, (*inputs, *operands[len(region.params) :]))
    NUMBERS[node] = {k: n for n, k in enumerate((*carried, *stacked), spec.carries)}
    return node


def _pushed_branch(
    spec: Branch, operands: Sequence[Node], tangents: Sequence[Node | None], push: Push
) -> Node | None:
    """The branch that gives the changes of the results."""
    moving = _moving(operands[1:], tangents[1:])
    found = [_inside(body, moving, push) for body in spec.bodies]
    pairs = list(zip(spec.bodies, found, strict=True))
    count = range(len(spec.bodies[0].results))
    changed = [k for k in count if any(body.results[k] in changes for body, (_, changes) in pairs)]
    if not changed:
        return None
    regions = [
        region_of([*body.params, *dots], [_change(changes, body.results[k]) for k in changed])
        for body, (dots, changes) in pairs
    ]
    given = [t for k in moving if (t := tangents[k + 1]) is not None]
    node = apply_region(Branch(tuple(regions)), (*operands, *given))
    NUMBERS[node] = {k: n for n, k in enumerate(changed)}
    return node
