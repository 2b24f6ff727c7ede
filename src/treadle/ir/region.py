"""Nodes that run graphs of their own: loops over a body, one of several branches, their results.

A `Region` is a graph with parameters, and exists once for each structure. A loop or branch node
holds it in its arg and has no value itself; `project` nodes give its results. What a body reads
from outside is an operand like any other.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from treadle.base.dtypes import uint8
from treadle.base.errors import CompilerError, explain
from treadle.ir import node as nodes
from treadle.ir.graph import RESULTS, Structure, toposort
from treadle.ir.node import _CALLS, LEAF, Call, Node, Type, _one_of, record, type_of
from treadle.ir.recording import GRADIENTS, RECORDING
from treadle.ops.defs import Kind, Op

LOOP = Op("loop", Kind.REGION, "Runs a body again and again: arg is a Loop.", public=False)
BRANCH = Op("branch", Kind.REGION, "Runs one of several bodies: arg is a Branch.", public=False)
PROJECT = Op("project", Kind.RESULT, "One result of a loop or branch: arg is its number.",
             grad="its loop has one", public=False)  # fmt: skip


class Region:
    """Results computed from parameters, which are leaves without memory. Made by `region_of`."""

    __slots__ = ("__weakref__", "base", "key", "params", "results")

    def __init__(self, params: tuple[Node, ...], results: tuple[Node, ...], key: Structure) -> None:
        self.params, self.results, self.key = params, results, key
        self.base = self  # the region whose results these begin with: see `extended`

    def __repr__(self) -> str:
        types = ", ".join(str(x.type) for x in self.params)
        return f"({types}) -> ({', '.join(str(x.type) for x in self.results)})"


_REGIONS: weakref.WeakValueDictionary[Structure, Region] = weakref.WeakValueDictionary()


def region_of(
    params: Sequence[Node], results: Sequence[Node], marks: Iterable[tuple[object, ...]] = ()
) -> Region:
    """The one region of this structure; marks are nodes of whom there is more than ops say."""
    number = {node: k for k, node in enumerate(params)}
    parts: list[object] = [len(params), *(node.type for node in params)]
    for node in toposort(results, number.__contains__):
        if node not in number:
            if node.op is LEAF:
                raise CompilerError(explain("region", "a body reads from outside", type=node.type))
            parts += (node.call, *[number[x] for x in node.operands])
            number[node] = len(number)
    parts += ("results", *[number[node] for node in results])
    for mark in marks:
        parts += ("mark", *[number.get(x, -1) if isinstance(x, Node) else x for x in mark])
    key = tuple(parts)
    found = _REGIONS.get(key)
    if found is None:
        found = _REGIONS.setdefault(key, Region(tuple(params), tuple(results), key))
    return found


def extended(region: Region, more: Sequence[Node]) -> Region:
    """The region with more results of the same parameters."""
    if not more:
        return region
    key = (id(region.base), *region.key, "more", *(id(node) for node in more))
    found = _REGIONS.get(key)
    if found is None:
        found = Region(region.params, (*region.results, *more), key)
        found.base = region.base
        found = _REGIONS.setdefault(key, found)
    return found


class Loop(NamedTuple):
    """A body that is run step after step.

    Its parameters are carries, then one slice of each of xs, then what it closes over; its results
    are the next carries, then one slice of each of ys, then, if flagged, whether to go on. Operands
    are initial carries, xs, what is closed over, and, if flagged, whether to begin.
    """

    body: Region
    carries: int
    xs: int
    length: int  # steps, or with a flag the most of them
    reverse: bool = False
    flagged: bool = False

    @property
    def ys(self) -> int:
        """Results of a step that are stacked."""
        return len(self.body.results) - self.carries - self.flagged

    @property
    def closed(self) -> int:
        """Values of outside that every step reads."""
        return len(self.body.params) - self.carries - self.xs

    def result(self, k: int) -> Type:
        """The type of result k: the last carries, then stacks."""
        type_ = self.body.results[k].type
        if k < self.carries:
            return type_
        return type_of((self.length, *type_.shape), type_.dtype, type_.device)


class Branch(NamedTuple):
    """Bodies with the same parameters, of which one is run; the first operand says which."""

    bodies: tuple[Region, ...]

    def result(self, k: int) -> Type:
        """The type of result k."""
        return self.bodies[0].results[k].type


UNBOUNDED = (1 << 63) - 1
"""The length of a loop that only its flag ends."""
Spec = Loop | Branch


def bodies_of(spec: Spec) -> tuple[Region, ...]:
    """The regions of a loop or branch."""
    return (spec.body,) if isinstance(spec, Loop) else spec.bodies


def region_call(spec: Spec, operands: Sequence[Node]) -> Call:
    """The Call of a loop or branch on operands, whose types are checked."""
    device = operands[0].device
    op = LOOP if isinstance(spec, Loop) else BRANCH
    key = (op, spec, *[x.type for x in operands])
    call = _CALLS.get(key)
    if call is None:
        wrong = wrong_types(spec, operands)
        if wrong:
            raise CompilerError(explain(op.name, wrong, operands=[x.type for x in operands]))
        call = Call(op, spec, type_of((0,), uint8, device), ())
        call.smooth = call.costly = True
        call = _one_of(_CALLS, key, call, nodes.MOST_CALLS)
    return call


def are_alike(one: Sequence[Node], other: Sequence[Node]) -> bool:
    """Are nodes of the same types, whatever the names of their sizes?"""
    return len(one) == len(other) and all(
        a.type is b.type or (a.shape == b.shape and a.dtype is b.dtype and a.device is b.device)
        for a, b in zip(one, other, strict=True)
    )


def wrong_types(spec: Spec, operands: Sequence[Node]) -> str:
    """What does not fit between operands and bodies; empty if all does."""
    if isinstance(spec, Branch):
        if not all(are_alike(body.results, spec.bodies[0].results) for body in spec.bodies):
            return "branches give different types"
        fits = all(are_alike(operands[1:], body.params) for body in spec.bodies)
        return "" if fits else "operands are no parameters of the branches"
    body, first = spec.body, spec.carries + spec.xs
    if not are_alike(body.results[: spec.carries], operands[: spec.carries]):
        return "a carry changes its type"
    stacks, slices = operands[spec.carries : first], body.params[spec.carries : first]
    fits = are_alike(operands[: spec.carries], body.params[: spec.carries])
    fits = fits and are_alike(operands[first : len(operands) - spec.flagged], body.params[first:])
    fits = fits and len(stacks) == len(slices) and all(
        x.shape == (spec.length, *y.shape) and x.dtype is y.dtype
        for x, y in zip(stacks, slices, strict=True)
    )  # fmt: skip
    return "" if fits else "operands are no parameters of the body"


def apply_region(spec: Spec, operands: tuple[Node, ...]) -> Node:
    """Record a loop or a branch."""
    needs_grad = GRADIENTS.on and any(x.needs_grad for x in operands)
    node = record(region_call(spec, operands), operands, needs_grad)
    if RECORDING.watched:
        RECORDING.note(node)
    return node


def project(node: Node, k: int) -> Node:
    """Result k of a loop or branch."""
    known = RESULTS.setdefault(node, {})
    found = known[k]() if k in known else None
    if found is None:
        call = project_call(node, k)
        found = record(call, (node,), node.needs_grad and call.smooth)
        if RECORDING.watched:
            RECORDING.note(found)
        known[k] = weakref.ref(found)
    return found


def project_call(node: Node, k: int) -> Call:
    """The Call of result k."""
    key = (PROJECT, k, node.call)
    call = _CALLS.get(key)
    if call is None:
        call = Call(PROJECT, k, node.arg.result(k), ())
        call.costly = True
        call = _one_of(_CALLS, key, call, nodes.MOST_CALLS)
    return call
