"""Long reductions of few rows cut in two kernels: parts side by side, then a join."""

from __future__ import annotations

from treadle.kernel.axes import Swapped, linear
from treadle.kernel.build import Built
from treadle.kernel.index import Axis, of_axis
from treadle.kernel.loops import Argument, Ex, Loops, Pass, Reduce, Store


def with_parts(loops: Loops, parts: int) -> Loops:
    """The loops with an outermost axis that counts parts of the inner ones; no row is stored."""
    outer = [Axis("part", parts), *loops.outer]
    return Loops(
        loops.arguments, outer, loops.inner, loops.passes, [], loops.across, size=loops.size
    )


def split_reduction(built: Built, parts: int, name: str) -> tuple[Built, dict[str, int]]:
    """A kernel that leaves every part's reductions in memory; built becomes the one to join them.

    Returns the new kernel, and the names and bytes of the memory between the two.
    """
    loops = built.loops = Swapped({}).loops(built.loops)  # others may share it
    first = with_parts(loops, parts)
    part = first.outer[0]
    rows = loops.rows
    position = linear(loops.outer) + of_axis(part) * rows
    (step,) = loops.passes
    count = len(loops.arguments)
    between: dict[str, int] = {}
    copies = []
    for k, r in enumerate(step.reduces):
        d = r.dtype.compute
        copy = Reduce(r.name, r.kind, r.value, d)
        total = Ex("reduced", (), d, copy)
        total.axes, total.stage = frozenset(loops.outer), 1
        first.row_stores.append(Store(count + k, position, total))
        r.value = Ex("load", (), d, (count + k, position, ()))
        r.value.axes = frozenset(first.outer)
        copies.append(copy)
        between[f"{name}-{k}"] = parts * rows * d.size
    first.passes = [Pass(copies, step.stores)]
    first.arguments = [*loops.arguments, *(Argument(c.dtype, True) for c in copies)]
    loops.arguments = [*loops.arguments, *(Argument(c.dtype, False) for c in copies)]
    loops.inner, loops.passes, loops.across = [part], [Pass(step.reduces, [])], True
    buffers = [*built.buffers, *between]
    built.buffers = list(buffers)
    return Built(first, buffers), between
