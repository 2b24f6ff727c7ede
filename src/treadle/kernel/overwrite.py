"""Whether a kernel may write its result over memory it reads."""

from __future__ import annotations

from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.index import Axis, Index
from treadle.kernel.loops import Ex, Loops, Store
from treadle.kernel.plan import Task


def writes_over(task: Task, result: Node, operand: Node, ordered: bool = True) -> bool:
    """Is every element of operand read before, or at, the moment result takes its place?

    ordered: a row is read and written by one thread, so what it reads first is safe.
    """
    if task.cluster.kind not in ("loop", "dot"):
        return False
    parts = list(task.kernels)
    if task.product:
        if operand is task.product.left.base or operand is task.product.right.base:
            return False
        parts += [task.product.epilogue] if task.product.epilogue else []
    return all(_is_safe(built, result, operand, ordered) for built in parts)


def _is_safe(built: Built, result: Node, operand: Node, ordered: bool) -> bool:
    slots = [k for k, buffer in enumerate(built.buffers) if buffer is operand]
    if not slots:
        return True
    loops = built.loops
    targets = [s for s in loops.stores() if built.buffers[s.buffer] is result]
    if len(targets) != 1 or targets[0] not in loops.passes[-1].stores or loops.across:
        return False
    loads = [ex for ex in loops.order() if ex.op == "load" and ex.data[0] in slots]
    return all(
        ex.data[1] == targets[0].position or (ordered and _in_own_row(ex, targets[0], loops))
        for ex in loads
    )


def _in_own_row(load: Ex, store: Store, loops: Loops) -> bool:
    """A value read once per row, before the row is written, from within the row?"""
    inner = set(loops.inner)
    if load.axes & inner or load.stage or not loops.outer:
        return False
    position: Index = load.data[1]
    for axis in loops.outer:
        if position.coefficient(axis) != store.position.coefficient(axis):
            return False
    inside = [t for t in position.terms if not isinstance(t[0], Axis)]  # merged axes count as 0
    rest = Index(inside, position.constant)
    extent = 1
    for axis in loops.inner:
        extent *= axis.extent
    return rest.bounds[0] >= 0 and rest.bounds[1] < extent
