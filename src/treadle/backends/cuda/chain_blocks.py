"""Chains made of whole blocks that a copy engine moves, and which of them are for Gluon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod
from typing import NamedTuple

from treadle.backends.cuda.chain_cuts import Cut, programs_of
from treadle.backends.cuda.copies import tensor_of
from treadle.backends.cuda.gluon import GROUPS, LANES, is_known
from treadle.backends.cuda.launch import Tensor
from treadle.base.dtypes import bool_, float32
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.chain import ONES, Chained, Frame, Operand
from treadle.kernel.loops import Ex

WIDTHS = {64, 128}
FULL = 0.9  # of all rounds of programs that stay: else blocks one by one find room more evenly


class Line(NamedTuple):
    """Values along the stream that the program of a tile reads."""

    operand: Operand
    block: Tensor


class Result(NamedTuple):
    """A tile that is left in memory: by which argument, and the number of the room it goes through.

    Rooms are those of what the lanes bring, which is used up by then.
    """

    argument: int
    operand: Operand
    block: Tensor
    room: int


@dataclass(frozen=True)
class Blocks:
    """A chain whose operands come by blocks, and whose tiles leave so.

    - **held**: what the lanes bring to each product; **streamed**: what streams by
    - **results**: of each program that runs at the end, unless it stores rows
    - **residents**: programs of a processor
    - **programs**: those that stay, and take blocks of lanes in turn; None: each block has its own
    - **lines**: what else comes along the stream, as a tile's program reads it
    """

    cut: Cut
    held: list[Tensor]
    streamed: dict[Operand, Tensor]
    results: list[Result | None]
    residents: int
    programs: int | None
    lines: dict[Ex, Line]


def in_blocks(chain: Chained, processors: int) -> Blocks | None:
    """A chain for Gluon, if it can be, and gains by it.

    On an H200, attention of width 128 does by a fifth, and its slopes along queries by a seventh;
    of width 64 both do by a seventh if programs stay, else by a few hundredths. Slopes along keys,
    which are fed to two products, do by a quarter at width 64, and not at 128.
    """
    columns = [c.columns for sweep in chain.sweeps for c in sweep.consumers]
    sides = [*columns, *(p.depth for p in chain.producers)]
    fits = set(sides) <= WIDTHS
    if len(chain.sweeps) != 1 or chain.end or not columns or chain.dtype.size != 2 or not fits:
        return None
    if len(columns) > 1 and (max(sides) == max(WIDTHS) or not _is_map(chain.sweeps[0].program)):
        return None
    cut, residents = _cut(len(chain.producers), max(sides))
    whole = not (chain.frame.lane.extent % cut.lanes or chain.frame.stream.extent % cut.stream)
    at_once = processors * residents
    blocks = programs_of(chain, cut)
    if not whole or blocks < at_once or not _is_known(chain):
        return None
    rounds = blocks / (2 * at_once)  # a program that stays takes blocks by pairs
    stay = len(columns) == 1 and residents > 1 and rounds >= FULL * ceil(rounds)
    return _blocks(chain, cut, residents, at_once if stay else None)


def _cut(producers: int, widest: int) -> tuple[Cut, int]:
    """The tile of a program, and how many programs a processor has at once."""
    if widest == max(WIDTHS):
        return Cut(GROUPS * LANES, 128, 4, 3 if producers == 1 else 2), 1
    return (Cut(GROUPS * LANES, 64, 4, 3), 2) if producers == 1 else (Cut(LANES, 64, 4, 2), 3)


def _is_known(chain: Chained) -> bool:
    """Is it one product fed to another, or two that are added up as they are, of known ops?

    Two read a stream each, and what they are fed to, one or two, reads these: for a third there is
    neither room, nor does anybody wait for it.
    """
    (consumers,) = (sweep.consumers for sweep in chain.sweeps)
    streams = [p.stream for p in chain.producers]
    known = len(consumers) <= len(streams) <= 2 and not any(c.across for c in consumers)
    if len(streams) == 2:
        alone = all(c.operand in streams and c.factor == ONES for c in consumers)
        known = known and alone and streams[0] != streams[1]
    return known and all(_is_plain(x, chain.frame) for x in chain.programs())


def _is_map(built: Built) -> bool:
    """Does a program add nothing up? Totals are registers, too."""
    loops = built.loops
    return not loops.row_stores and not any(step.reduces for step in loops.passes)


def _is_plain(built: Built, frame: Frame) -> bool:
    """Does a program read lines of memory alone, besides tiles that are there?"""
    loops, own = built.loops, {frame.lane, *built.loops.inner}

    def fits(ex: Ex) -> bool:
        if ex.op == "load" and not loops.arguments[ex.data[0]].local:
            return len(ex.axes & own) == 1 and ex.data[1].is_affine()
        if ex.op in ("eq", "ne") and any(arg.op == "index" for arg in ex.args):
            return False  # written for tiles, as vectors are not
        return ex.op != "const" or ex.dtype is not bool_

    reduces = [r for step in loops.passes for r in step.reduces]
    whole = all(r.value.axes & {*loops.inner} for r in reduces)
    return whole and is_known(loops) and all(map(fits, loops.order()))


# ---- blocks


def _blocks(chain: Chained, cut: Cut, residents: int, programs: int | None) -> Blocks | None:
    (sweep,), frame = chain.sweeps, chain.frame
    held = [_block(frame, p.lane, p.depth, LANES, lanes=True) for p in chain.producers]
    streams = [(p.stream, p.depth) for p in chain.producers]
    streams += [(c.operand, c.columns) for c in sweep.consumers]
    brought = {x: _block(frame, x, n, cut.stream, lanes=False) for x, n in streams}
    mine = [block for block in held if block is not None]
    others = {x: block for x, block in brought.items() if block is not None}
    results = list(_results(chain, mine))
    whole = all(x in others and others[x].block[-1] == n for x, n in streams)
    whole = whole and len(mine) == len(held) and len(results) == len(chain.last)
    lines = dict(_lines(chain, cut)) if len(sweep.consumers) > 1 else {}
    return Blocks(cut, mine, others, results, residents, programs, lines) if whole else None


def _block(frame: Frame, x: Operand, columns: int, rows: int, lanes: bool) -> Tensor | None:
    """An operand by blocks of rows, along the lanes or the stream; None: it lies otherwise."""
    own = frame.lane if lanes else frame.stream
    batch = zip(frame.batch, x.batch, strict=True)
    axes = [(axis.extent, step, 1) for axis, step in batch if step]
    axes += [(own.extent, x.along, rows), (columns, x.depth, columns)]
    return tensor_of(x.base, x.base.dtype, x.offset, axes)


def _lines(chain: Chained, cut: Cut) -> Iterator[tuple[Ex, Line]]:
    """Of the lines that a tile's program reads along the stream, those that can be brought."""
    (sweep,), frame = chain.sweeps, chain.frame
    loops, buffers = sweep.program.loops, sweep.program.buffers
    (column,) = loops.inner
    for ex in loops.order():
        if ex.op != "load" or loops.arguments[ex.data[0]].local or column not in ex.axes:
            continue
        base, at = buffers[ex.data[0]], ex.data[1]
        if isinstance(base, Node) and base.dtype is float32:
            batch = tuple(at.coefficient(a) for a in frame.batch)
            line = Operand(base, at.constant, batch, at.coefficient(column), 0)
            axes = [(a.extent, n, 1) for a, n in zip(frame.batch, batch, strict=True) if n]
            axes.append((column.extent, line.along, cut.stream))
            block = tensor_of(base, base.dtype, line.offset, axes)
            if block is not None:
                yield ex, Line(line, block)


def _results(chain: Chained, held: list[Tensor]) -> Iterator[Result | None]:
    """Tiles that programs store, each through a room of its own; it ends where one cannot."""
    rooms = dict(enumerate(held))
    for built in chain.last:
        if not built.loops.inner:
            yield None
            continue
        found = _stored(built, chain.frame)
        if found is None or found[1].base.dtype is not chain.dtype:
            return
        block = _block(chain.frame, found[1], built.loops.inner[0].extent, LANES, lanes=True)
        free = [k for k, room in rooms.items() if block and room.block == block.block]
        if block is None or not free:
            return
        del rooms[free[0]]
        yield Result(*found, block, free[0])


def _stored(built: Built, frame: Frame) -> tuple[int, Operand] | None:
    """The tile that a program stores, if that is all it does: its argument, and where it lies."""
    stores, inner = built.loops.stores(), built.loops.inner
    if len(stores) != 1 or len(inner) != 1:
        return None
    (s,), (column,) = stores, inner
    base, at = built.buffers[s.buffer], s.position
    plain = s.mode == "set" and s.only is None and at.is_affine()
    plain = plain and at.axes() <= {*frame.batch, frame.lane, column}
    if not plain or not isinstance(base, Node):
        return None
    batch = tuple(at.coefficient(a) for a in frame.batch)
    steps = at.coefficient(frame.lane), at.coefficient(column)
    return s.buffer, Operand(base, at.constant, batch, *steps)


# ---- as text


def places(operand: Operand, *place: str) -> str:
    """Where a block of an item begins."""
    return ", ".join([*(f"d{k}" for k, step in enumerate(operand.batch) if step), *place])


def bytes_of(block: Tensor, size: int = 2) -> int:
    """Of a block, whose elements have 16 bits, or another number of bytes."""
    return size * prod(block.block)
