"""Transfers in the body of a loop or branch that can as well be made outside.

What a body only reads on another device is moved there before, and what it moves at its end is
moved after. A body without transfers is on one device, which runs the loop by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from treadle.autograd.checkpoint import SEGMENTS
from treadle.autograd.custom import ROUTES
from treadle.base.device import Device
from treadle.ir.graph import substitute, toposort
from treadle.ir.node import LEAF, Node, placeholder, type_of
from treadle.ir.region import Branch, Region, Spec, bodies_of, region_of
from treadle.ops.transfer import transfer

MOST = 1 << 30  # bytes of a stack that are moved at once; of larger ones each step moves its own


class Settled(NamedTuple):
    """A loop or branch: what it runs, on which operands, and where its results go after."""

    spec: Spec
    operands: list[Node]
    back: dict[int, Device]


def settled(spec: Spec, operands: Sequence[Node]) -> Settled:
    """A loop or branch with transfers outside, where they can be."""
    orders = [toposort(body.results) for body in bodies_of(spec)]
    found = Settled(spec, list(operands), {})
    nodes = [node for order in orders for node in order]
    marked = any(node in SEGMENTS or node in ROUTES for node in nodes)  # these are no others
    if any(node.op is transfer for node in nodes) and not marked:
        found = _outside(spec, operands, orders)
    if isinstance(found.spec, Branch):
        found.operands[0] = _index_of(found)
    return found


def _outside(spec: Spec, operands: Sequence[Node], orders: Sequence[Sequence[Node]]) -> Settled:
    bodies = bodies_of(spec)
    homes = _homes(spec, bodies, orders)
    changed = [_moved(*given, homes) for given in zip(bodies, orders, strict=True)]
    results = [list(body.results) for body in changed]
    back: dict[int, Device] = {}
    for k in range(len(results[0])):
        sources = {body[k].operands[0].device if body[k].op is transfer else None
                   for body in results}  # fmt: skip
        if len(sources) == 1 and None not in sources and _leaves(spec, k, homes):
            back[k] = results[0][k].device
            for body in results:
                body[k] = body[k].operands[0]
    regions = [region_of(x.params, ends) for x, ends in zip(changed, results, strict=True)]
    given, before = list(operands), isinstance(spec, Branch)
    for k, home in homes.items():
        given[k + before] = transfer(given[k + before], home)
    if isinstance(spec, Branch):
        return Settled(Branch(tuple(regions)), given, back)
    if spec.flagged and back.pop(len(results[0]) - 1, None) is not None:
        given[-1] = transfer(given[-1], results[0][-1].device)
    return Settled(spec._replace(body=regions[0]), given, back)


def _homes(
    spec: Spec, bodies: Sequence[Region], orders: Sequence[Sequence[Node]]
) -> dict[int, Device]:
    """The devices of parameters that all bodies read on one other device alone."""
    found: dict[int, Device] = {}
    read: list[set[Device | None]] = [set() for _ in bodies[0].params]
    for body, order in zip(bodies, orders, strict=True):
        number = {x: k for k, x in enumerate(body.params)}
        for node in order:
            for k in [number[x] for x in node.operands if x in number]:
                read[k].add(node.device if node.op is transfer else None)
        for x in body.results:
            if x in number:
                read[number[x]].add(None)
    for k, devices in enumerate(read):
        home = devices.pop() if len(devices) == 1 else None
        if home is not None and _enters(spec, k, home):
            found[k] = home
    return found


def _enters(spec: Spec, k: int, home: Device) -> bool:
    """May a parameter be somewhere else? A carry has to come back from there after every step."""
    if isinstance(spec, Branch):
        return True
    if k >= spec.carries:
        is_stack = k < spec.carries + spec.xs
        return not is_stack or spec.body.params[k].type.nbytes * spec.length <= MOST
    end = spec.body.results[k]
    if end.op is not transfer:
        return False
    return end.operands[0].device is home and end.operands[0].op is not LEAF


def _leaves(spec: Spec, k: int, homes: dict[int, Device]) -> bool:
    """May a result be moved after the loop?"""
    if isinstance(spec, Branch):
        return True
    if k < spec.carries:
        return k in homes
    is_flag = k == len(spec.body.results) - 1 and spec.flagged
    return is_flag or spec.result(k).nbytes <= MOST


def _moved(body: Region, order: Sequence[Node], homes: dict[int, Device]) -> Region:
    """A body whose parameters are where they are read."""
    params = list(body.params)
    change: dict[Node, Node] = {}
    for k, home in homes.items():
        old = params[k]
        params[k] = placeholder(type_of(old.shape, old.dtype, home))
        change |= {x: params[k] for x in order if x.op is transfer and x.operands[0] is old}
    return region_of(params, substitute(body.results, change))


def _index_of(found: Settled) -> Node:
    """Which branch to take, where they are if that is one device: nobody has to ask the host."""
    bodies = bodies_of(found.spec)
    nodes = [x for body in bodies for x in (*body.params, *toposort(body.results))]
    devices, index = {x.device for x in nodes}, found.operands[0]
    if len(devices) != 1 or index.device in devices:
        return index
    moved: Node = transfer(index, devices.pop())
    return moved
