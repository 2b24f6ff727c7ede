"""Which tile of a loop program one Triton program handles: its form."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from treadle.base.sizes import UnknownSizeError, least, most
from treadle.kernel.index import Axis, Index
from treadle.kernel.loops import Loops, indices_of

WHOLE = 16384  # elements of a row that stay in registers between passes
TILE = 1024
SMALL_TILE = 128  # one element per thread: long kernels have no registers for more
LONG = 100  # expressions
CHUNK = 4096
STRIP = 2048  # elements of a few rows that are added up by column
FEW_SUMS = 4  # by column: of more, strips are shorter, as threads have no registers for them
AHEAD = 64 << 10  # bytes that may be on their way to a program
PAIR = 8192  # elements of two long rows
PAIR_SUMS = 2  # by column: more leave too few registers for two rows
AHEAD_OF_PAIRS = 96 << 10
FEW_LANES = 8192  # rows side by side that leave most processors idle
SHORT = 1024  # rows that are summed up by column in one go
FOR_ROWS = 6  # expressions
SECOND = (1 << 16) - 1  # programs along the second axis of a grid
SCAN = 1024  # entries of a scatter whose indices are compared at once
INDEX_LIMIT = (1 << 31) - (1 << 20)


@dataclass(frozen=True)
class Form:
    """Choices that change the text of a kernel but not its meaning."""

    kind: str  # "map", "rows", "blocks": rows one after the other for column sums, or of scatters
    rows: int  # of a tile
    columns: int  # of a tile
    whole: bool  # a tile holds whole rows
    warps: int
    exact_rows: bool = False  # whole tiles only: no mask
    exact_columns: bool = False
    split: bool = False  # the first outer axis counts parts of the inner axes
    wide: bool = False  # indices need 64 bits
    in_memory: bool = False  # column sums too long for registers
    stages: int = 1  # blocks of rows, or chunks of one, that are on their way at once
    around: bool = False  # rows go round the programs; those of a tile are added up at once


def constants_of(form: Form) -> dict[str, int]:
    """The sizes that a kernel's text is compiled for."""
    sizes = {"ROWS": form.rows, "COLUMNS": form.columns}
    return sizes | {"SCAN": SCAN} if form.kind == "owners" else sizes


def power_of_two(n: int) -> int:
    """The smallest power of two that is not below n."""
    return 1 << max(0, n - 1).bit_length()


def size_of(axes: list[Axis]) -> int:
    """Points of axes together."""
    return prod(axis.extent for axis in axes)


def is_map(loops: Loops) -> bool:
    """Every element by itself: no reductions, nothing added up?"""
    if len(loops.passes) != 1 or loops.passes[0].reduces or loops.row_stores:
        return False
    return all(s.mode == "set" for s in loops.passes[0].stores)


def updates_apart(loops: Loops) -> bool:
    """Does every element change a place of its own, so that none waits for another?"""
    stores = loops.stores()
    if len(loops.passes) != 1 or loops.passes[0].reduces or len(stores) != 1:
        return False
    axes = [axis for axis in (*loops.outer, *loops.inner) if axis.extent > 1]
    try:
        return _is_apart(stores[0].position, axes)
    except UnknownSizeError:
        return False


def _is_apart(position: Index, axes: list[Axis]) -> bool:
    """Is each step along an axis longer than all shorter ones together reach?"""
    if not position.is_affine():
        return False
    reach = 0
    for step, extent in sorted((abs(position.coefficient(a)), a.extent) for a in axes):
        if step <= reach:
            return False
        reach += step * (extent - 1)
    return True


def is_wide(loops: Loops) -> bool:
    """Can an index leave 32 bits?"""
    indices = [index for ex in loops.order() for index in indices_of(ex)]
    indices += [s.position for s in loops.stores()]
    ends = [(least(low), most(high)) for low, high in (index.bounds for index in indices)]
    furthest = max((max(-low, high) for low, high in ends), default=0)
    sizes = most(size_of(loops.outer)), most(size_of(loops.inner))
    return max(furthest, *sizes) >= INDEX_LIMIT


def choose(loops: Loops, split: bool = False) -> Form:
    """The form of a kernel; sizes that are not known count as the largest they can be."""
    rows, columns = size_of(loops.outer[split:]), size_of(loops.inner)
    largest = most(rows), most(columns)
    wide = is_wide(loops)
    if is_map(loops) or updates_apart(loops):
        r, c = _map_tile(loops, *largest)
        return Form("map", r, c, False, 4, rows % r == 0, columns % c == 0, wide=wide)
    stores = [s for step in loops.passes for s in step.stores]
    if any(s.updates for s in stores):
        lanes = min(128, power_of_two(largest[0]))
        return Form("rows", lanes, 1, False, 4, rows % lanes == 0, True, wide=wide)
    if any(s.mode == "partial" for s in stores):
        return _blocks(loops, rows, columns, wide)
    r, c, whole = _row_tile(loops, *largest)
    if split:
        whole, c = False, min(c, CHUNK // r)
    exact = columns % c == 0 and (not whole or columns == c)
    stages = 1 if whole or loops.across else _stages(loops, r * c, 3)
    return Form(
        "rows", r, c, whole, _warps(r * c), rows % r == 0, exact, split, wide, stages=stages
    )


def _row_tile(loops: Loops, rows: int, columns: int) -> tuple[int, int, bool]:
    full = power_of_two(max(1, columns))
    if loops.across:
        few = rows < FEW_LANES and columns < SHORT  # sums of parts: all that counts is to be done
        r = min(16 if few else max(64, TILE // full), power_of_two(rows))
        whole = full * r <= WHOLE // 2
        return r, full if whole else CHUNK // r, whole
    if full > WHOLE:
        return 1, CHUNK, False
    return min(power_of_two(rows), max(1, TILE // full)), full, True


def _map_tile(loops: Loops, rows: int, columns: int) -> tuple[int, int]:
    long = len(loops.order()) > LONG
    last = loops.outer[-1] if loops.outer else None
    if last is not None and any(_runs_along(i, last, loops.inner) for i in _positions(loops)):
        side = 8 if long else 64  # a transposition: square tiles
        return min(power_of_two(rows), side), min(power_of_two(columns), side)
    by_rows = _is_by_rows(loops)
    more = by_rows or 0 < bytes_read(loops) <= 2
    tile = SMALL_TILE if long else 2 * TILE if more else TILE
    c = min(power_of_two(max(1, columns)), tile if by_rows or columns % tile == 0 else TILE, tile)
    return min(power_of_two(max(1, rows)), tile // c), c


def _is_by_rows(loops: Loops) -> bool:
    """Is much of it the same for a whole row, and better computed for many columns at once?"""
    inner = set(loops.inner)
    return sum(bool(ex.axes) and not ex.axes & inner for ex in loops.order()) >= FOR_ROWS


def _positions(loops: Loops) -> list[Index]:
    found = [ex.data[1] for ex in loops.order() if ex.op == "load"]
    return found + [s.position for s in loops.stores()]


def _runs_along(index: Index, axis: Axis, inner: list[Axis]) -> bool:
    """Neighbours in memory are neighbours along the last outer axis, not along the inner ones?"""
    return index.coefficient(axis) == 1 and all(index.coefficient(a) > 1 for a in inner)


def _blocks(loops: Loops, rows: int, columns: int, wide: bool) -> Form:
    """Small blocks of rows, four programs a processor; of long rows one program has it all."""
    reduces = any(step.reduces for step in loops.passes)
    full = power_of_two(max(1, most(columns)))
    whole = reduces and full <= WHOLE // 2
    in_memory = reduces and not whole
    around = whole and full > STRIP  # what all programs read together is one piece of memory
    narrow = bytes_read(loops) <= 4
    sums = sum(s.mode == "partial" for s in loops.stores())
    pairs = around and narrow and 2 * full <= PAIR and sums <= PAIR_SUMS
    strip = max(SMALL_TILE, STRIP * FEW_SUMS // power_of_two(max(sums, FEW_SUMS)))
    c = full if whole else CHUNK if reduces else _even(most(columns), strip)
    r = 1 if in_memory else 2 if pairs else max(1, (STRIP if reduces else strip) // c)
    r = min(power_of_two(max(1, most(rows))), r)
    exact = columns % c == 0 and (not whole or columns == c)
    warps = 4 if r * c <= STRIP else 8 if in_memory or (narrow and not pairs) else 16
    ahead = AHEAD_OF_PAIRS if pairs else AHEAD
    stages = 1 if in_memory else _stages(loops, r * c, 3 if warps == 4 else 4, ahead)
    return Form(
        "blocks", r, c, whole, warps, rows % r == 0, exact, wide=wide, in_memory=in_memory,
        stages=stages, around=around,
    )  # fmt: skip


def _even(columns: int, limit: int) -> int:
    """Columns of a tile that leaves no rest, if there is one that is not one of too many."""
    even = columns & -columns
    tile = min(TILE, limit, even if even >= SMALL_TILE else power_of_two(max(1, columns)))
    return max(tile, power_of_two(-(-columns // SECOND)))


def _stages(loops: Loops, elements: int, limit: int, ahead: int = AHEAD) -> int:
    """Blocks on their way at once: what is read for them has to fit into shared memory."""
    return max(1, min(limit, 1 + ahead // max(1, bytes_read(loops) * elements)))


def bytes_read(loops: Loops) -> int:
    """For every element; what is the same for all rows, or all columns, does not count."""
    outer, inner = set(loops.outer), set(loops.inner)
    return sum(
        loops.arguments[ex.data[0]].dtype.size for ex in loops.order()
        if ex.op == "load" and ex.axes & inner and (not outer or ex.axes & outer)
    )  # fmt: skip


def block_rows(loops: Loops, form: Form, processors: int) -> int:
    """How many rows make a block of column sums: as many blocks as keep all processors busy."""
    rows, columns = most(size_of(loops.outer)), most(size_of(loops.inner))
    alone = form.whole or any(step.reduces for step in loops.passes)  # for all columns
    programs = (4 if form.warps == 4 else 2 if form.in_memory else 1) * processors
    if not alone:
        only_sums = all(s.mode == "partial" for s in loops.stores())
        programs = (6 if only_sums else 4) * processors * form.columns // columns
    each = -(-rows // max(1, min(-(-rows // form.rows), programs)))
    return each if form.around else -(-each // form.rows) * form.rows


def _warps(elements: int) -> int:
    return 4 if elements <= 2048 else 8 if elements <= 8192 else 16


def splits(loops: Loops, processors: int) -> int:
    """In how many parts to cut the inner axes so that all processors have work; 1: leave them."""
    if is_map(loops) or len(loops.passes) != 1 or not loops.passes[0].reduces:
        return 1
    if any(s.mode != "set" for s in loops.stores()):
        return 1
    rows, columns = most(size_of(loops.outer)), most(size_of(loops.inner))
    r, c, whole = _row_tile(loops, rows, columns)
    programs = -(-rows // r) if rows else 0
    few = loops.across and columns < SHORT  # a second kernel would take as long
    if not programs or few or programs >= 2 * processors or columns * r < 4 * CHUNK:
        return 1
    chunk = min(c, CHUNK // r) if whole else c
    return max(1, min(4 * processors // programs, -(-columns // (2 * chunk))))
