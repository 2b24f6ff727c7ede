"""How loops and branches change along tangents: by others that carry the changes too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from treadle.ir.graph import toposort
from treadle.ir.node import Node, full, placeholder
from treadle.ir.region import Branch, Loop, Region, apply_region, project, region_of

Push = Callable[[Sequence[Node], dict[Node, Node]], None]
"""Adds to changes how the nodes of an order change."""
Tangents = Sequence[Node | None]

CHANGES: WeakKeyDictionary[Node, dict[int, int]] = WeakKeyDictionary()
"""Of a loop or branch that gives changes: which of its results is the change of which."""


def change_of_result(whole: Node, k: int) -> Node | None:
    """The change of result k, from the loop or branch that gives changes."""
    number = CHANGES[whole].get(k)
    return None if number is None else project(whole, number)


def changing(node: Node, tangents: Tangents, push: Push) -> Node:
    """A loop or branch that gives how the results of another change."""
    if isinstance(node.arg, Loop):
        return _loop(node, node.arg, tangents, push)
    return _branch(node, node.arg, tangents[1:], push)


def _pushed(
    body: Region, moving: Sequence[bool], push: Push
) -> tuple[dict[int, Node], dict[int, Node]]:
    """Places for the changes of some parameters, and the changes of results, by their numbers."""
    places = {k: placeholder(x.type) for k, x in enumerate(body.params) if moving[k]}
    changes = {body.params[k]: place for k, place in places.items()}
    ends = set(body.params)
    push([x for x in toposort(body.results, ends.__contains__) if x not in ends], changes)
    found = {k: changes[y] for k, y in enumerate(body.results) if y in changes}
    return places, found


def _loop(node: Node, spec: Loop, tangents: Tangents, push: Push) -> Node:
    """A carry that changes after some step changes from the first one, by nothing at first."""
    body, count, stop = spec.body, spec.carries, spec.carries + spec.xs
    moving = [t is not None for t in tangents[: len(body.params)]]
    while True:
        places, found = _pushed(body, moving, push)
        carried = [own or k in found for k, own in enumerate(moving[:count])]
        if carried == moving[:count]:
            break
        moving[:count] = carried
    given = {k: tangents[k] or full(0, node.operands[k].type) for k in places}
    parts = range(count), range(count, stop), range(stop, len(body.params))
    params: list[Node] = []
    operands: list[Node] = []
    for part in parts:
        params += [*(body.params[k] for k in part), *(places[k] for k in part if k in places)]
        operands += [*(node.operands[k] for k in part), *(given[k] for k in part if k in places)]
    operands += node.operands[len(body.params) :]
    carries = [k for k in range(count) if moving[k]]
    stacks = [k for k in range(count, count + spec.ys) if k in found]
    results = [*body.results[:count]]
    results += [found[k] if k in found else full(0, body.results[k].type) for k in carries]
    results += [*body.results[count : count + spec.ys], *(found[k] for k in stacks)]
    results += body.results[count + spec.ys :]
    new = Loop(
        region_of(params, results), count + len(carries),
        spec.xs + sum(moving[count:stop]), spec.length, spec.reverse, spec.flagged,
    )  # fmt: skip
    whole = apply_region(new, tuple(operands))
    CHANGES[whole] = {k: n for n, k in enumerate(carries, count)}
    CHANGES[whole] |= {k: n for n, k in enumerate(stacks, new.carries + spec.ys)}
    return whole


def _branch(node: Node, spec: Branch, tangents: Tangents, push: Push) -> Node:
    moving = [t is not None for t in tangents]
    made = [_pushed(body, moving, push) for body in spec.bodies]
    numbers = sorted({k for _, found in made for k in found})
    regions = []
    for body, (places, found) in zip(spec.bodies, made, strict=True):
        results = [found[k] if k in found else full(0, body.results[k].type) for k in numbers]
        regions.append(region_of([*body.params, *places.values()], results))
    given = [t for t in tangents if t is not None]
    whole = apply_region(Branch(tuple(regions)), (*node.operands, *given))
    CHANGES[whole] = {k: n for n, k in enumerate(numbers)}
    return whole
