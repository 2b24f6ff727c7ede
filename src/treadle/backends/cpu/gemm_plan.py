"""Which kernels compute a given matrix product, cut how, with which parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from treadle.backends.cpu.gemm_matvec import COLUMNS_PER_TASK
from treadle.backends.cpu.gemm_pack import PANELS_PER_TASK
from treadle.backends.cpu.gemm_params import POSITION, SLOTS, WORDS
from treadle.backends.cpu.gemm_problem import NUMBERS, STRIDES, Cut, Phase, Plan, Problem
from treadle.backends.cpu.gemm_tiles import Tile, tile_for
from treadle.base.errors import CompilerError, explain
from treadle.base.sizes import Size, most
from treadle.base.target import Target
from treadle.passes.decompose import BATCH_AXES

_MOST_TASKS = 32  # worth cutting into: more would only be smaller
_SHORTEST = 1 << 16  # multiplications in one call: about a microsecond
_SERIAL = 40**3  # multiplications below which a second thread does not pay
_ENOUGH_PANELS = 16  # panels of A that make packing a slice of B worth while
_SHARED_PANELS, _FEW_PANELS = 6, 4  # the same where all share one packed B, or it is not packed
_PAD = 16  # elements after a packed row, so that rows do not share cache sets
_AT_ONCE = 4 << 20  # bytes of packed A: of a larger one some rows, and then the next


Settle = Callable[[Problem, Cut, Tile], Cut]


def plan(problem: Problem, target: Target, settle: Settle | None = None) -> Plan:
    """How to compute problem on target; settle may take another cut than the one chosen here."""
    if problem.m * problem.n * prod(problem.batch) == 0:
        return Plan((), "plain", 0, 0, 0)
    problem = _normalise(problem)
    tile = tile_for(problem.a_dtype, target, problem.b_dtype)
    cut = choose(_largest(problem), tile, target)
    return planned(problem, settle(problem, cut, tile) if settle else cut, tile)


def _largest(problem: Problem) -> Problem:
    """Sizes that are not known as large as they can be: it is cut for those."""
    sizes: dict[str, Any] = {name: most(getattr(problem, name)) for name in NUMBERS}
    sizes |= {name: tuple(map(most, getattr(problem, name))) for name in STRIDES}
    return replace(problem, **sizes)


def _normalise(problem: Problem) -> Problem:
    """Give axes of size 1 the stride that makes their partner's the fast direction, or unit."""
    (sam, sak), (sbk, sbn) = problem.a_strides, problem.b_strides
    if problem.m == 1 and sak != 1:
        sam = 1
    if problem.k <= 1:
        sak = sak if sam == 1 else 1
        sbk = sbk if sbn == 1 else 1
    if problem.n == 1 and sbk != 1:
        sbn = 1
    if 1 not in (sam, sak) or 1 not in (sbk, sbn):
        raise CompilerError(explain("gemm", "rows and columns both lie apart", problem=problem))
    return replace(problem, a_strides=(sam, sak), b_strides=(sbk, sbn))


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def choose(problem: Problem, tile: Tile, target: Target) -> Cut:
    """The cut for a problem. It depends on the shape alone, so results do not on threads."""
    (sam, sak), (sbk, sbn) = problem.a_strides, problem.b_strides
    if problem.looked:
        return _block_cut(problem, tile, target)
    if problem.m == 1 and (sbn == 1 or sak == 1):
        return _matvec_cut(problem.n, problem.k, tile, swapped=False)
    same = problem.a_dtype is problem.b_dtype  # the kernel reads A and B as what they are
    if problem.n == 1 and problem.c_row == 1 and same and (sam == 1 or sbk == 1):
        return _matvec_cut(problem.m, problem.k, tile, swapped=True)
    return _block_cut(problem, tile, target)


def _matvec_cut(columns: int, k: int, tile: Tile, swapped: bool) -> Cut:
    width = min(COLUMNS_PER_TASK, max(_round_up(-(-columns // 4), tile.lanes), tile.columns))
    return Cut(1, width, max(k, 1), pack_right=False, matvec=True, swapped=swapped)


def _block_cut(problem: Problem, tile: Tile, target: Target) -> Cut:
    m, n, k = problem.m, problem.n, max(problem.k, 1)
    items, size = prod(problem.batch), tile.dtype.size
    wanted = min(_MOST_TASKS, max(2, _work(problem) >> 19)) if _work(problem) > _SERIAL else 1
    columns = tile.columns
    if m * k * size > target.l3_bytes // 2:
        columns *= 2  # A comes from memory: read it half as often
    elif items * max(1, m // (_ENOUGH_PANELS * tile.rows)) >= wanted:
        # Two threads that write neighbouring columns slow each other down by a quarter.
        widest = target.l2_bytes // 4 // (min(k, 2048) * size * tile.columns)
        columns *= max(1, min(-(-n // tile.columns), widest))
    # The slice of B that a task packs takes at most half of L2.
    deepest = max(256, min(2048, target.l2_bytes // 2 // (columns * size)))
    depth = _round_up(-(-k // -(-k // deepest)), 8)
    steady = problem.steady and not any(problem.b_batch)
    pack_right = steady or _packs_right(problem, tile)
    parts = -(-wanted // (items * -(-n // columns)))
    shared = steady or (problem.looked and not any(problem.b_batch))
    # A task that packs its own slice of B should have enough rows to use it on.
    panels = (_SHARED_PANELS if shared else _ENOUGH_PANELS) if pack_right else _FEW_PANELS
    parts = min(parts, max(1, m // (panels * tile.rows)))
    rows = min(_round_up(-(-m // parts), tile.rows), problem.most_rows // tile.rows * tile.rows)
    once = shared and (steady or items * -(-m // rows) > 1)
    packs_left = not problem.looked and _packs_left(problem, tile, target)
    left_rows = _left_rows(problem, tile) if packs_left else 0
    rows = min(rows, left_rows or rows)
    return Cut(rows, columns, depth, packs_left, left_rows, pack_right, pack_right and once)


def _left_rows(problem: Problem, tile: Tile) -> int:
    """How many rows of A are packed before they are used; 0: all of them."""
    row = max(problem.k, 1) * tile.dtype.size
    if any(problem.a_batch) or problem.m * row <= _AT_ONCE:
        return 0
    return max(_ENOUGH_PANELS, _AT_ONCE // (row * tile.rows)) * tile.rows


def _packs_left(problem: Problem, tile: Tile, target: Target) -> bool:
    """A by rows is read in place at no loss; by columns only while it stays in L2."""
    if problem.a_dtype is not tile.dtype:
        return True
    by_rows = problem.a_strides[1] == 1
    small = problem.m * problem.k * tile.dtype.size <= target.l2_bytes // 4
    return not (by_rows or small or problem.n <= 2 * tile.columns)


def _packs_right(problem: Problem, tile: Tile) -> bool:
    """B by rows is read in place if it is read few times, or lies as it would when packed."""
    step, column = problem.b_strides
    if problem.b_dtype is not tile.dtype or column != 1:
        return True
    m, k = problem.m, problem.k
    few = m <= 2 * tile.rows or (m <= 64 and k <= 256)
    return not (few or (step <= tile.columns and m <= 256))


def planned(problem: Problem, cut: Cut, tile: Tile) -> Plan:
    """The phases that carry out a cut."""
    if cut.swapped:
        problem = _transposed(problem)
    slots = {"left": "b" if cut.swapped else "a", "right": "a" if cut.swapped else "b"}
    slots |= {"left": "apack"} if cut.pack_left else {}
    slots |= {"right": "bpack"} if cut.right_once else {}
    slots |= {"rows": "rows", "steps": "steps"} if problem.looked else {}
    slots |= (
        {"epilogue": "epilogue", "eparams": "eparams"} if problem.has_epilogue else {"out": "c"}
    )
    scratch, _ = _scratch(problem, cut, tile)
    slots |= {"scratch": "scratch"} if scratch else {}
    strides = {"left": problem.a_batch, "right": problem.b_batch, "out": problem.c_batch}
    entry = "gemm_matvec" if cut.matvec else "gemm_block"
    phases = [_pack_right(problem, cut, tile)] if cut.right_once else []
    apack = 0
    for part in _parts(problem, cut):
        left = _left_in_place(problem, cut)
        if cut.pack_left:
            packing, left, apack = _pack_left(problem, cut, tile, part)
            phases.append(packing)
        numbers = _block_numbers(problem, cut, tile, part) | left.numbers
        phases.append(phase_of(entry, numbers, problem.batch, strides | left.strides, slots))
    bpack = _pitch(problem, tile) * problem.k * tile.dtype.size if cut.right_once else 0
    code = "looked" if problem.looked else "plain"
    return Plan(tuple(phases), code, apack, bpack, scratch, (cut.rows, cut.columns))


Part = tuple[int, int]
"""(first row, row after the last) of C that the same packed rows of A are for."""


def _parts(problem: Problem, cut: Cut) -> list[Part]:
    if not (cut.pack_left and cut.left_rows) or isinstance(problem.m, Size):
        return [(0, problem.m)]
    rows = _round_up(cut.left_rows, cut.rows)
    return [(first, min(problem.m, first + rows)) for first in range(0, problem.m, rows)]


def _runs(problem: Problem, cut: Cut) -> int:
    """Visits of a tile."""
    return -(-problem.k // cut.depth) if problem.k else 1


def _pitch(problem: Problem, tile: Tile) -> int:
    """Columns of B in whole panels."""
    return _round_up(problem.n, tile.columns)


def _transposed(problem: Problem) -> Problem:
    """C^T = B^T A^T, for an n of 1: the column of C becomes its only row."""
    return replace(
        problem,
        m=problem.n,
        n=problem.m,
        a_strides=problem.b_strides[::-1],
        b_strides=problem.a_strides[::-1],
        a_batch=problem.b_batch,
        b_batch=problem.a_batch,
        a_dtype=problem.b_dtype,
        b_dtype=problem.a_dtype,
    )


def _scratch(problem: Problem, cut: Cut, tile: Tile) -> tuple[int, int]:
    """Bytes that a thread needs, and where in them running sums lie, after a slice of B."""
    packs = cut.pack_right or problem.n % tile.lanes
    packs = packs and not cut.matvec and not cut.right_once
    slice_ = cut.depth * _round_up(cut.columns, tile.columns) if packs else 0
    several = most(_runs(problem, cut)) > 1
    sums = cut.rows * cut.columns if several and problem.has_epilogue else 0
    # An odd number of lines, so that the buffers of two threads do not share cache sets.
    scratch = (_round_up((slice_ + sums) * tile.dtype.size, 128) + 64) if slice_ + sums else 0
    return scratch, slice_ * tile.dtype.size


def _block_numbers(problem: Problem, cut: Cut, tile: Tile, part: Part) -> dict[str, int]:
    first, end = part
    row_blocks, column_blocks = -(-(end - first) // cut.rows), -(-problem.n // cut.columns)
    scratch, sums = _scratch(problem, cut, tile)
    return {
        "m": end,
        "n": problem.n,
        "k": problem.k,
        "right_step": problem.b_strides[0],
        "right_column": problem.b_strides[1],
        "right_packed": 2 if cut.right_once else int(cut.pack_right),
        "right_pitch": _pitch(problem, tile),
        "out_row": problem.c_row,
        "depth": cut.depth,
        "runs": _runs(problem, cut),
        "first_row": first,
        "block_rows": cut.rows,
        "block_columns": cut.columns,
        "row_blocks": row_blocks,
        "tasks": row_blocks * column_blocks,
        "group": _group(problem, cut, row_blocks * column_blocks),
        "scratch_stride": scratch,
        "sums": sums,
        "swapped": int(cut.swapped),
    }


def _group(problem: Problem, cut: Cut, tasks: int) -> int:
    """Tasks for one call: tiny batch items would cost more to hand out than to compute."""
    total, problem = most(tasks * prod(problem.batch)), _largest(problem)
    if _work(problem) <= _SERIAL:
        return total
    task = min(cut.rows, problem.m) * min(cut.columns, problem.n) * max(problem.k, 1)
    return max(1, min(_SHORTEST // task, total // _MOST_TASKS))


def _work(problem: Problem) -> int:
    return problem.m * problem.n * max(problem.k, 1) * prod(problem.batch)


@dataclass(frozen=True)
class _Left:
    """How the block kernel reaches A."""

    numbers: dict[str, int]
    strides: dict[str, tuple[int, ...]]


def _left_in_place(problem: Problem, cut: Cut) -> _Left:
    row, step = (0, 0) if problem.looked else problem.a_strides
    numbers = {
        "left_row": row, "left_step": step, "left_panel": row, "left_run": step * cut.depth
    }  # fmt: skip
    return _Left(numbers, {})


def _pack_left(problem: Problem, cut: Cut, tile: Tile, part: Part) -> tuple[Phase, _Left, int]:
    """The phase that packs rows of A, how the copy is reached, and its bytes."""
    row, step = problem.a_strides
    first, end = part
    runs = _runs(problem, cut)
    pitch = cut.depth + _PAD
    run = _round_up(_parts(problem, cut)[0][1], tile.rows) * pitch
    strides, item = [], runs * run
    for extent, stride in zip(reversed(problem.batch), reversed(problem.a_batch), strict=True):
        strides.append(item if stride else 0)
        item *= extent if stride else 1
    copied = tuple(reversed(strides))
    distinct = tuple(
        extent if stride else 1
        for extent, stride in zip(problem.batch, problem.a_batch, strict=True)
    )
    groups = -(-(end - first) // (tile.rows * PANELS_PER_TASK))
    numbers = {"m": end, "k": problem.k, "left_row": row, "left_step": step, "first_row": first}
    numbers |= {"left_panel": pitch, "left_run": run, "depth": cut.depth}
    numbers |= {"row_blocks": groups, "tasks": groups * runs, "group": 1}
    phase = phase_of(
        "gemm_pack_a",
        numbers,
        distinct,
        {"left": problem.a_batch, "out": copied},
        {"left": "a", "out": "apack"},
    )
    reached = (
        {"left_row": pitch, "left_step": 1}
        if step == 1
        else {"left_row": 1, "left_step": tile.rows}
    )
    left = _Left({"left_panel": pitch, "left_run": run} | reached, {"left": copied})
    return phase, left, item * tile.dtype.size


def _pack_right(problem: Problem, cut: Cut, tile: Tile) -> Phase:
    """The phase that packs B for all tasks."""
    runs, blocks = _runs(problem, cut), -(-problem.n // tile.columns)
    step, column = problem.b_strides
    numbers = {"n": problem.n, "k": problem.k, "right_step": step, "right_column": column}
    numbers |= {"right_pitch": _pitch(problem, tile), "depth": cut.depth}
    numbers |= {"block_columns": tile.columns, "row_blocks": blocks}
    numbers |= {"tasks": runs * blocks, "group": 1}
    return phase_of("gemm_pack_right", numbers, (), {}, {"right": "b", "out": "bpack"})


def phase_of(
    entry: str,
    numbers: dict[str, int],
    extents: tuple[int, ...],
    strides: dict[str, tuple[int, ...]],
    slots: dict[str, str],
) -> Phase:
    if len(extents) > BATCH_AXES:
        raise CompilerError(explain("gemm", "too many batch axes", extents=extents))
    words = [0] * WORDS
    total = numbers["tasks"] * prod(extents)
    for name, value in {**numbers, "total": total}.items():
        words[POSITION[name]] = value
    ahead = BATCH_AXES - len(extents)
    for group, values in {"extent": (1,) * ahead + extents, **strides}.items():
        padded = (0,) * (BATCH_AXES - len(values)) + tuple(values)
        for axis, value in enumerate(padded):
            words[POSITION[f"{group}_{axis}"]] = value
    named = tuple((name, SLOTS[slot]) for slot, name in slots.items())
    return Phase(entry, -(-total // numbers["group"]), tuple(words), named)
