"""From target and shape to the style of a kernel: unrolling, blocks of rows, streaming stores."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import isqrt

from treadle.base.sizes import most
from treadle.base.target import Target
from treadle.kernel.index import Axis
from treadle.kernel.loops import Loops

TINY = 1 << 12  # elements: below, compile time is all that matters
SMALL = 1 << 15  # below, compile time matters more than speed
BLOCK = 1 << 13  # fewest elements worth handing to another thread
MOST_BLOCKS = 64
ROWS = 1 << 10  # of a block that adds up columns: many more, added one by one, lose digits
LINE_BYTES = 64  # of a cache: what goes past it goes line by line
LONG = 40  # expressions: longer bodies are not unrolled


@dataclass(frozen=True)
class Style:
    """Choices that change the code of a kernel but not its meaning."""

    unroll: int = 1
    exact: bool = False  # the vectorised extent is a multiple of unroll * lanes: no tail
    effort: int = 2  # effort of the code generator

    def __str__(self) -> str:
        return f"unroll {self.unroll}{' exact' if self.exact else ''} effort {self.effort}"


@dataclass(frozen=True)
class Pace:
    """Vectors side by side, and rows of a block."""

    unroll: int
    rows: int


def choose(
    loops: Loops, target: Target, streams: Collection[int] = (),
    settle: Callable[[Pace], Pace] | None = None,
) -> tuple[Style, Loops]:  # fmt: skip
    """The style of a kernel, and its program cut into blocks of rows.

    streams: arguments that are better stored past the caches, if all that goes there is aligned.
    settle may take another pace than the one chosen here.
    """
    axes = loops.outer if loops.across else loops.inner
    extent = axes[-1].extent if axes else 1
    size = most(loops.size)
    if size < SMALL:
        style = Style(effort=0 if size < TINY else 1)
        rows = _grain(loops, style, target)
    else:
        pace = paced(loops, _unroll(loops, most(extent), target), target)
        pace = settle(pace) if settle else pace
        style, rows = _style(loops, pace.unroll, target), pace.rows
    if not style.exact or not axes:
        streams = ()
    past = {number for number in streams if _is_aligned(loops, number, axes[-1])}
    numbered = enumerate(loops.arguments)
    arguments = [replace(x, stream=True) if k in past else x for k, x in numbered]
    return style, replace(loops, rows_per_block=rows, arguments=arguments)


def _unroll(loops: Loops, extent: int, target: Target) -> int:
    body = len(loops.order())
    reduces = any(step.reduces for step in loops.passes)
    unroll = 1 if body > LONG else 4 if reduces and body <= 16 else 2
    while unroll > 1 and extent < 2 * unroll * target.lanes:
        unroll //= 2
    return unroll


def _style(loops: Loops, unroll: int, target: Target) -> Style:
    axes = loops.outer if loops.across else loops.inner
    extent = axes[-1].extent if axes else 1
    return Style(unroll, extent % (unroll * target.lanes) == 0, 2)


def paced(loops: Loops, unroll: int, target: Target) -> Pace:
    """The pace with so many vectors side by side."""
    return Pace(unroll, _grain(loops, _style(loops, unroll, target), target))


def _is_aligned(loops: Loops, number: int, vector: Axis) -> bool:
    """Does every vector stored to a buffer start at a whole cache line, in whatever row?

    A part of a join starts anywhere in the whole.
    """
    line = LINE_BYTES // loops.arguments[number].dtype.size
    axes = {*loops.outer, *loops.inner} - {vector}
    return all(
        store.position.is_affine()
        and store.position.coefficient(vector) == 1
        and not store.position.constant % line
        and not any(store.position.coefficient(axis) % line for axis in axes)
        for store in loops.stores()
        if store.buffer == number
    )


def units(loops: Loops, style: Style, target: Target) -> int:
    """What blocks are counted in: rows, groups of lanes across rows, or elements of a flat map."""
    if loops.across:
        width = style.unroll * target.lanes
        rows = 1
        for axis in loops.outer[:-1]:
            rows *= axis.extent
        last = loops.outer[-1].extent if loops.outer else 1
        return rows * -(-last // width)
    if not loops.outer and is_flat_map(loops):
        return loops.inner[0].extent
    return loops.rows


def is_flat_map(loops: Loops) -> bool:
    """One axis, no reduction: cut anywhere."""
    return (
        len(loops.inner) == 1
        and len(loops.passes) == 1
        and not loops.passes[0].reduces
        and not loops.row_stores
    )


def _grain(loops: Loops, style: Style, target: Target) -> int:
    total = most(units(loops, style, target))
    blocks = max(1, min(MOST_BLOCKS, most(loops.size) // BLOCK))
    grain = min(max(1, -(-total // blocks)), most_rows(loops, style.unroll, target))
    step = step_of(loops, target)
    return -(-grain // step) * step


def most_rows(loops: Loops, unroll: int, target: Target) -> int:
    """What a block may have at most: that of column sums, or all."""
    total = most(units(loops, Style(unroll), target))
    if any(store.mode == "partial" for store in loops.stores()):
        return max(ROWS, isqrt(total))
    step = step_of(loops, target)
    return max(1, -(-total // step)) * step


def step_of(loops: Loops, target: Target) -> int:
    """Blocks of flat maps are whole cache lines for every dtype, and whole groups of vectors."""
    return target.lanes * 8 if not loops.outer and is_flat_map(loops) else 1
