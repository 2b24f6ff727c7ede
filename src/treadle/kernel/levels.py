"""Where a kernel computes each expression: once, per row, per element, or kept between passes."""

from __future__ import annotations

from math import prod

from treadle.kernel.loops import Ex, Loops, Pass, indices_of, looked_up
from treadle.ops.defs import TABLE

ENTRY, ROW, ELEMENT = 0, 1, 2
COSTLY = 4.0  # flops per element: less is computed again rather than kept


class Levels:
    """Placement of the expressions of one kernel."""

    def __init__(self, loops: Loops, order: list[Ex]) -> None:
        self.order = order
        self.inner, self.outer = set(loops.inner), set(loops.outer)
        self.level: dict[Ex, int] = {}
        for ex in order:
            below = [*ex.args, *(x for index in indices_of(ex) for x in looked_up(index))]
            self.level[ex] = max([self._level(ex), *(self.level[x] for x in below)])
        self.kept: dict[Ex, tuple[int, int]] = {}
        self.needs = [self._needed(step) for step in loops.passes]
        if len(loops.passes) > 1:
            self._keep()
            self.needs = [self._needed(step, k) for k, step in enumerate(loops.passes)]

    def _level(self, ex: Ex) -> int:
        if ex.op == "tile" or ex.axes & self.inner:
            return ELEMENT
        if ex.axes & self.outer or ex.stage or ex.op == "reduced":
            return ROW
        return ENTRY

    def _needed(self, step: Pass, number: int | None = None) -> list[Ex]:
        """Expressions of a pass that change along the inner axes, operands first."""
        found: set[Ex] = set()
        stack = [r.value for r in step.reduces]
        for s in step.stores:
            stack += s.inputs
        while stack:
            ex = stack.pop()
            if ex in found or self.level[ex] != ELEMENT:
                continue
            found.add(ex)
            if number is not None and self.kept.get(ex, (number, 0))[0] < number:
                continue  # read back from scratch
            stack += ex.args
            for index in indices_of(ex):
                stack += looked_up(index)
        return [ex for ex in self.order if ex in found]

    def _keep(self) -> None:
        """Costly values wanted by a later pass too: (first pass, place in the scratch row)."""
        first: dict[Ex, int] = {}
        for number, needed in enumerate(self.needs):
            for ex in needed:
                before = first.setdefault(ex, number)
                if before != number and _flops(ex) >= COSTLY and ex.dtype.compute.is_float:
                    self.kept.setdefault(ex, (before, len(self.kept)))

    def scratch_bytes(self, loops: Loops, width: int, lanes: int) -> int:
        """Scratch of one thread; width is the number of lanes computed side by side."""
        if not self.kept:
            return 0
        extents = [axis.extent for axis in loops.inner]
        if loops.across:
            room = prod(extents) * width
        else:
            room = prod(extents[:-1]) * -(-extents[-1] // lanes) * lanes
        return room * len(self.kept) * 8


def _flops(ex: Ex) -> float:
    op = TABLE.get(ex.op)
    return op.flops if op is not None else 0.0
