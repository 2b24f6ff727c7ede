"""Whether a kernel may write its result over memory it reads.

Blocks run side by side and in any order: what a block reads, only it may write, and later. Two
reads are known to be like that: of the very element that is written next, and (where one thread
reads and writes a whole row) of an element that the same row writes, read before its first store.
A product's epilogue sees a row tile by tile, so only the first holds there. A scatter that writes
over its base leaves what it does not write where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.index import Axis, Index
from treadle.kernel.loops import Ex, Loops, Store
from treadle.kernel.steps import ChainStep, CopyStep, ScatterStep, Step


def writes_over(step: Step, result: Node, operand: Node, ordered: bool = True) -> bool:
    """Is every element of operand read before, or at, the moment result takes its place?

    ordered: a row is read and written by one thread, so what it reads first is safe.
    """
    if isinstance(step, ScatterStep):  # only the copy, which is not made then, may read the base
        rest = [buffer for built in step.kernels[1:] for buffer in built.buffers]
        return operand is step.base and all(operand is not buffer for buffer in rest)
    if any(operand is x for x in step.operands()):
        return False  # every tile of a product reads rows and columns of them
    whole = isinstance(step, ChainStep | CopyStep)
    if whole or result.dtype.size != operand.dtype.size:
        return False
    return all(_is_safe(built, result, operand, ordered) for built in step.programs())


def _is_safe(built: Built, result: Node, operand: Node, ordered: bool) -> bool:
    slots = [k for k, buffer in enumerate(built.buffers) if buffer is operand]
    if not slots:
        return True
    loops = built.loops
    targets = [s for s in loops.stores() if built.buffers[s.buffer] is result]
    if len(targets) != 1 or targets[0] not in loops.passes[-1].stores or loops.across:
        return False
    loads = [ex for ex in loops.order() if ex.op == "load" and ex.data[0] in slots]
    by_rows = ordered and not loops.epilogue
    return all(
        ex.data[1] == targets[0].position or (by_rows and _in_own_row(ex, targets[0], loops))
        for ex in loads
    )


def _in_own_row(load: Ex, store: Store, loops: Loops) -> bool:
    """A value read once per row, before the row is written, from where only this row writes?"""
    if load.axes & set(loops.inner) or load.stage or not loops.outer:
        return False
    position: Index = load.data[1]
    for axis in loops.outer:
        if position.coefficient(axis) != store.position.coefficient(axis):
            return False
    inside = [t for t in position.terms if not isinstance(t[0], Axis)]  # merged axes count as 0
    low, high = Index(inside, position.constant).bounds
    steps = [(store.position.coefficient(axis), axis.extent) for axis in loops.inner]
    return _holds(steps, low, high)


def _holds(steps: Sequence[tuple[int, int]], low: int, high: int) -> bool:
    """Is every number from low to high a sum of steps, each (size, below how many times)?

    The steps of a row need not touch: rows of a batch norm are cut by the other channels.
    """
    run, apart = 1, []
    for size, count in sorted(steps):
        if size == run:
            run *= max(count, 1)
        else:
            apart.append((size, count))
    start = low - low % run
    if low < 0 or high >= start + run:
        return False
    for size, count in reversed(apart):
        start -= min(start // size, count - 1) * size
    return start == 0
