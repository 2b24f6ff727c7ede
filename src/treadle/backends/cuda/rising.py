"""Sums relative to a maximum, in the pass that finds it: rows that are too long for registers.

A thread keeps the greatest element it has met and sums relative to it. Where a greater one comes,
sums are multiplied by exp(before - now). Neighbours that a thread reads at once are joined first,
so that this is one more exp for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

from treadle.kernel.abstract import Ex, Pass, Reduce


class Rising(NamedTuple):
    """A maximum, and sums of exp(x - maximum): each times what does not depend on it, if any."""

    top: Reduce
    near: Ex  # exp(x - maximum)
    sums: list[tuple[Reduce, Ex | None]]
    beside: list[Reduce]  # what else the pass of the maximum finds


def rising(step: Pass, after: Pass) -> Rising | None:
    """Two passes as one, where they are a maximum of floats and such sums."""
    if step.stores or after.stores:
        return None
    for top in step.reduces:
        if top.kind != "max" or not top.dtype.is_float:
            continue
        sums = [(r, _split(r, top)) for r in after.reduces]
        near = {found[0] for _, found in sums if found}
        if len(near) == 1 and all(found for _, found in sums):
            beside = [r for r in step.reduces if r is not top]
            return Rising(top, near.pop(), [(r, found[1]) for r, found in sums if found], beside)
    return None


def _split(r: Reduce, top: Reduce) -> tuple[Ex, Ex | None] | None:
    """The exponential that a sum adds up, and its factor."""
    if r.kind != "sum":
        return None
    if _is_near(r.value, top):
        return r.value, None
    for near, factor in (r.value.args, r.value.args[::-1]) if r.value.op == "mul" else ():
        if _is_near(near, top) and factor.stage < near.stage and factor.dtype is near.dtype:
            return near, factor
    return None


def _is_near(x: Ex, top: Reduce) -> bool:
    """Is it exp(y - maximum), of the very y whose maximum it is?"""
    if x.op != "exp" or x.args[0].op != "sub":
        return False
    value, most = x.args[0].args
    return value is top.value and most.op == "reduced" and most.data is top
