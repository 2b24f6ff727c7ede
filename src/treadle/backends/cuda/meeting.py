"""The array that finished tiles meet: it comes through the room of their result, and before it.

Results of a tile leave while the next one is multiplied. When they have left, what that tile will
meet is brought into their room, and the result is put in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treadle.backends.cuda.gluon import GROUPS
from treadle.backends.cuda.launch import Tensor
from treadle.base.dtypes import DType
from treadle.kernel.axes import linear
from treadle.kernel.build import Built

SOON = 2  # steps of a tile, after which results of the one before have left


def met_by(epilogue: Built, result: Tensor, dtype: DType) -> tuple[int, Tensor] | None:
    """The one array that lies as a result does, by number of the argument, and how it is brought.

    It is read nowhere else: all that is read of it comes through the room.
    """
    loops = epilogue.loops
    places = linear([*loops.outer, *loops.inner])
    loads = [ex.data for ex in loops.order() if ex.op == "load"]
    there = {number for number, position, guards in loads if position == places and not guards}
    there -= {number for number, position, guards in loads if position != places or guards}
    if len(there) != 1:
        return None
    (number,) = there
    if loops.arguments[number].dtype is not dtype:
        return None
    return number, replace(result, buffer=epilogue.buffers[number])


def asked(doors: Sequence[str], width: int, nbytes: int) -> list[str]:
    """Within a step: soon after a tile has begun, slices of what it meets are on their way."""
    lines = [f"if step == tl.minimum(low + {SOON}, last - 1):", "    tma.store_wait(0)"]
    lines.append("    meet()")
    for k, door in enumerate(doors):
        at = f"[(pair * {GROUPS} + PART) * BM, wide * BN + {k * width}]"
        lines.append(f"    mbarrier.expect(came.index({door}), {nbytes})")
        given = f"met, {at}, came.index({door}), room.index({door})"
        lines.append(f"    tma.async_copy_global_to_shared({given})")
    return lines


def come(door: str, k: int, width: int) -> list[str]:
    """A slice of it is there, as the group holds its own."""
    return [
        f"mbarrier.wait(came.index({door}), come & 1)",
        f"met{k} = room.index({door}).load(GRID{width})",
    ]
