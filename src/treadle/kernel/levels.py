"""Where a kernel computes each expression: once, per row, per element, or kept between passes."""

from __future__ import annotations

from functools import lru_cache
from math import prod

from treadle.base.sizes import most
from treadle.kernel.abstract import Ex, Kernel, Pass
from treadle.kernel.loops import Loops
from treadle.kernel.parser import parse
from treadle.ops.defs import TABLE

ENTRY, ROW, ELEMENT = 0, 1, 2
COSTLY = 4.0  # flops per element: less is computed again rather than kept


class Levels:
    """Placement of the expressions of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.order = kernel.order
        self.inner, self.outer = set(kernel.inner), set(kernel.outer)
        self.level: dict[Ex, int] = {}
        for ex in self.order:
            self.level[ex] = max([self._level(ex), *(self.level[x] for x in ex.operands)])
        self.kept: dict[Ex, tuple[int, int]] = {}
        self.needs = [self._needed(step) for step in kernel.passes]
        if len(kernel.passes) > 1:
            self._keep()
            self.needs = [self._needed(step, k) for k, step in enumerate(kernel.passes)]

    def _level(self, ex: Ex) -> int:
        if ex.op == "tile" or ex.axes & self.inner:
            return ELEMENT
        if ex.axes & self.outer or ex.stage or ex.op == "reduced":
            return ROW
        return ENTRY

    def _needed(self, step: Pass, number: int | None = None) -> list[Ex]:
        """Expressions of a pass that change along the inner axes, operands first."""
        found: set[Ex] = set()
        stack = step.inputs
        while stack:
            ex = stack.pop()
            if ex in found or self.level[ex] != ELEMENT:
                continue
            found.add(ex)
            if number is not None and self.kept.get(ex, (number, 0))[0] < number:
                continue  # read back from scratch
            stack += ex.operands
        return [ex for ex in self.order if ex in found]

    def _keep(self) -> None:
        """Costly values wanted by a later pass too: (first pass, place in the scratch row)."""
        first: dict[Ex, int] = {}
        for number, needed in enumerate(self.needs):
            for ex in needed:
                before = first.setdefault(ex, number)
                if before != number and _flops(ex) >= COSTLY and ex.dtype.compute.is_float:
                    self.kept.setdefault(ex, (before, len(self.kept)))


@lru_cache(maxsize=1024)
def kept_count(text: str) -> int:
    """Values of an element that a kernel keeps from one pass to the next."""
    ops = filter(None, map(TABLE.get, set(text.split())))
    return len(Levels(parse(text)).kept) if any(op.flops >= COSTLY for op in ops) else 0


def scratch_bytes(loops: Loops, text: str, width: int, lanes: int) -> int:
    """Scratch of one thread; width is the number of lanes computed side by side."""
    kept = kept_count(text) if len(loops.passes) > 1 else 0
    if not kept:
        return 0
    extents = [most(axis.extent) for axis in loops.inner]
    if loops.across:
        room = prod(extents) * width
    else:
        room = prod(extents[:-1]) * -(-extents[-1] // lanes) * lanes
    return room * kept * 8


def _flops(ex: Ex) -> float:
    op = TABLE.get(ex.op)
    return op.flops if op is not None else 0.0
