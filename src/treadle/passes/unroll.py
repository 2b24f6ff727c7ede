"""Loops and branches as plain graphs, for backends that run nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.base.errors import NotSupported, explain
from treadle.ir.graph import substitute, toposort
from treadle.ir.node import Node, full, new_node
from treadle.ir.region import BRANCH, LOOP, PROJECT, Branch, Loop, Region
from treadle.ops.elementwise import eq, where
from treadle.ops.movement import concat, cut

MOST = 4096  # steps that are worth writing out


def unrolled(roots: Sequence[Node]) -> list[Node]:
    """Every step of every loop one after the other, and all branches, of which one is chosen."""
    done: dict[Node, Node] = {}
    results: dict[Node, list[Node]] = {}
    for node in toposort(roots):
        operands = [done.get(x, x) for x in node.operands]
        if node.op is LOOP:
            results[node] = _steps(node.arg, operands)
            done[node] = node
        elif node.op is BRANCH:
            results[node] = _chosen(node.arg, operands)
            done[node] = node
        elif node.op is PROJECT:
            done[node] = results[node.operands[0]][node.arg]
        else:
            done[node] = new_node(node.call, tuple(operands)) if operands else node
            done[node].site = node.site
    return [done[root] for root in roots]


def _run(body: Region, given: Sequence[Node]) -> list[Node]:
    inner = unrolled(body.results)
    return substitute(inner, dict(zip(body.params, given, strict=True)))


def _steps(spec: Loop, operands: Sequence[Node]) -> list[Node]:
    device = operands[0].device
    if spec.length > MOST:
        hint = "run it on the host: x.to('cpu')"
        wrong = f"a loop of {'any number of' if spec.flagged else spec.length} steps"
        raise NotSupported(explain("loop", f"{device} has no code for {wrong}", hint))
    carries, xs = list(operands[: spec.carries]), operands[spec.carries :][: spec.xs]
    closed = operands[spec.carries + spec.xs :][: spec.closed]
    going = operands[-1] if spec.flagged else None
    stacks: list[list[Node]] = [[] for _ in range(spec.ys)]
    for step in range(spec.length):
        at = spec.length - 1 - step if spec.reverse else step
        slices = [cut(x, 0, at, at + 1).reshape(x.shape[1:]) for x in xs]
        found = _run(spec.body, [*carries, *slices, *closed])
        after = found[: spec.carries]
        if going is not None:
            after = [where(going, new, old) for new, old in zip(after, carries, strict=True)]
            going = going & found[-1]
        carries = after
        for stack, y in zip(stacks, found[spec.carries :], strict=False):
            stack.append(y.reshape((1, *y.shape)))
    types = [spec.result(spec.carries + k) for k in range(spec.ys)]
    return carries + [
        concat(stack[::-1] if spec.reverse else stack, axis=0) if stack else full(0, type_)
        for stack, type_ in zip(stacks, types, strict=True)
    ]


def _chosen(spec: Branch, operands: Sequence[Node]) -> list[Node]:
    index, *given = operands
    found = _run(spec.bodies[-1], given)
    for k in reversed(range(len(spec.bodies) - 1)):
        here = eq(index, k) if k else index <= 0
        others = _run(spec.bodies[k], given)
        found = [where(here, one, other) for one, other in zip(others, found, strict=True)]
    return found
