"""Which cut of a matrix product was found best by timing, and which may be tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from treadle.backends import choices
from treadle.backends.choices import Space
from treadle.backends.cpu import gemm_plan
from treadle.backends.cpu.gemm_matvec import COLUMNS_PER_TASK
from treadle.backends.cpu.gemm_problem import Cut, Plan, Problem
from treadle.backends.cpu.gemm_tiles import Tile
from treadle.base.target import Target

_DEPTH = 8  # runs of k are multiples of it


def plan(problem: Problem, target: Target) -> Plan:
    """How to compute a product on a target."""
    if not choices.is_open(target.machine):
        return gemm_plan.plan(problem, target)

    def settle(problem: Problem, cut: Cut, tile: Tile) -> Cut:
        return choices.take(target.machine, repr(problem), cuts(problem, cut, tile, target))

    return gemm_plan.plan(problem, target, settle)


def cuts(problem: Problem, default: Cut, tile: Tile, target: Target) -> Space[Cut]:
    """All that give the same result but for the order of sums along k."""

    def near(cut: Cut) -> Iterator[Cut]:
        if cut.matvec:
            for columns in (2 * cut.columns, cut.columns // 2):
                yield replace(cut, columns=_whole(columns, tile.lanes))
            return
        for rows in (cut.rows // 2, 2 * cut.rows, cut.rows // 4):
            yield replace(cut, rows=_whole(rows, tile.rows))
        for columns in (2 * cut.columns, cut.columns // 2, 4 * cut.columns):
            yield replace(cut, columns=_whole(columns, tile.columns))
        for depth in (cut.depth // 2, 2 * cut.depth):
            yield replace(cut, depth=_whole(min(depth, problem.k), _DEPTH))
        yield replace(cut, pack_left=not cut.pack_left)
        yield replace(cut, pack_right=not cut.pack_right, right_once=False)
        yield replace(cut, pack_right=True, right_once=not cut.right_once)

    def fits(cut: Cut) -> bool:
        if (cut.matvec, cut.swapped) != (default.matvec, default.swapped):
            return False
        if cut.matvec:
            whole = replace(default, columns=cut.columns)  # nothing else is free
            return cut == whole and _is_whole(cut.columns, tile.lanes, COLUMNS_PER_TASK)
        widest, highest = _whole(problem.n, tile.columns), _whole(problem.m, tile.rows)
        return (
            _is_whole(cut.rows, tile.rows, min(max(highest, default.rows), problem.most_rows))
            and _is_whole(cut.columns, tile.columns, max(widest, default.columns))
            and _is_whole(cut.depth, _DEPTH, max(_whole(problem.k, _DEPTH), default.depth))
            and _is_slice_small(cut, default, tile, target)
            and _packs_what_it_must(problem, cut, tile)
        )

    return Space(default, lambda cut: filter(fits, near(cut)), fits)


def _whole(value: int, multiple: int) -> int:
    return max(1, -(-value // multiple)) * multiple


def _is_whole(value: int, multiple: int, most: int) -> bool:
    return 0 < value <= most and value % multiple == 0


def _is_slice_small(cut: Cut, default: Cut, tile: Tile, target: Target) -> bool:
    """Every thread packs a slice of B: it should lie in the second cache."""
    most = max(target.l2_bytes // tile.dtype.size, default.depth * default.columns)
    return cut.depth * cut.columns <= most


def _packs_what_it_must(problem: Problem, cut: Cut, tile: Tile) -> bool:
    """Packing is what converts elements, and what brings columns of B side by side."""
    if problem.looked and cut.pack_left:
        return False
    if problem.a_dtype is not tile.dtype and not (cut.pack_left or problem.looked):
        return False
    if (problem.b_dtype is not tile.dtype or problem.b_strides[1] != 1) and not cut.pack_right:
        return False
    return not cut.right_once or (cut.pack_right and not any(problem.b_batch))
