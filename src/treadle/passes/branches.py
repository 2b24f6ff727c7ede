"""Cheap branches as plain graphs, for devices that would have to ask the host which one to run."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.ir.graph import rebuild, substitute, toposort
from treadle.ir.node import Node, new_node
from treadle.ir.region import BRANCH, LOOP, PROJECT, Branch, Loop, Region, region_call, region_of
from treadle.ops.defs import Kind
from treadle.ops.elementwise import eq, where

CHEAP = (Kind.ELEMENTWISE, Kind.MOVEMENT, Kind.REDUCE, Kind.GATHER, Kind.SOURCE)
"""Ops that are fused into a few kernels, whose time hardly counts beside a question to the host."""


def chosen(roots: Sequence[Node]) -> list[Node]:
    """The graph below roots: of cheap branches all are computed, and one is taken."""
    done: dict[Node, Node] = {}
    results: dict[Node, list[Node]] = {}
    for node in toposort(roots):
        operands = tuple([done[x] for x in node.operands])
        if node.op is BRANCH and all(map(_is_cheap, node.arg.bodies)):
            results[node] = _taken(node.arg, operands)
            done[node] = node
        elif node.op in (LOOP, BRANCH):
            done[node] = new_node(region_call(_inside(node.arg), operands), operands)
            done[node].site = node.site
        elif node.op is PROJECT and node.operands[0] in results:
            done[node] = results[node.operands[0]][node.arg]
        else:
            done[node] = rebuild(node, operands)
    return [done[root] for root in roots]


def _is_cheap(body: Region) -> bool:
    return all(node.op.kind in CHEAP for node in toposort(body.results))


def _inside(spec: Loop | Branch) -> Loop | Branch:
    """The same of the bodies of a loop, or of a branch that is none of these."""
    if isinstance(spec, Loop):
        return spec._replace(body=_body(spec.body))
    return Branch(tuple(map(_body, spec.bodies)))


def _body(region: Region) -> Region:
    return region_of(region.params, chosen(region.results))


def _taken(spec: Branch, operands: Sequence[Node]) -> list[Node]:
    index, *given = operands
    bodies = [
        substitute(body.results, dict(zip(body.params, given, strict=True))) for body in spec.bodies
    ]
    found = bodies[-1]
    for k in reversed(range(len(bodies) - 1)):
        here = eq(index, k) if k else index <= 0
        found = [where(here, one, other) for one, other in zip(bodies[k], found, strict=True)]
    return found
