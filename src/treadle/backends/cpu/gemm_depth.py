"""How a row times a matrix stored by rows is cut along its depth: whole rows are read as they lie.

Cut by columns, tasks would read short pieces of rows, at half the speed of memory and less.
"""

from __future__ import annotations

from math import prod

from treadle.backends.cpu.gemm_matvec import COLUMNS_PER_TASK, add_rows, caches, deliver
from treadle.backends.cpu.gemm_params import ENTRY_PARAMS, Params
from treadle.backends.cpu.gemm_plan import phase_of
from treadle.backends.cpu.gemm_problem import Plan, Problem
from treadle.backends.cpu.gemm_tiles import Tile, merge, tile_for
from treadle.backends.cpu.writer import Writer, module
from treadle.base.dtypes import DType
from treadle.base.target import Target

SYMBOLS = ("gemm_depth", "gemm_join")
_PART_BYTES = 1 << 18  # of B that are worth a task of their own
_MOST_PARTS = 8
_LEAST_ROWS = 64  # of a part: its sums are written and read once more


def plan(problem: Problem, target: Target) -> Plan | None:
    """The phases, if this is the way to go."""
    sizes = (problem.m, problem.n, problem.k, *problem.batch)
    if not all(isinstance(n, int) for n in sizes) or problem.looked:
        return None
    if problem.m != 1 or prod(problem.batch) != 1:
        return None
    n, k, (step, column) = problem.n, problem.k, problem.b_strides
    tile = tile_for(problem.a_dtype, target, problem.b_dtype)
    nbytes, sums = n * k * problem.b_dtype.size, n * tile.dtype.size
    parts = min(_MOST_PARTS, nbytes // _PART_BYTES, k // _LEAST_ROWS)
    if parts < 2 or column != 1 or n < tile.columns or sums > target.l2_bytes // 4:
        return None
    depth = -(-k // parts // 8) * 8
    parts, pitch = -(-k // depth), -(-n // tile.lanes) * tile.lanes
    shared = {"n": n, "right_pitch": pitch, "depth": depth, "runs": parts, "group": 1}
    numbers = {"k": k, "left_step": problem.a_strides[1], "right_step": step, "tasks": parts}
    slots = {"left": "a", "right": "b", "out": "bpack"}
    first = phase_of("gemm_depth", shared | numbers, (), {}, slots)
    width = min(COLUMNS_PER_TASK, pitch)
    numbers = {"block_columns": width, "tasks": -(-n // width), "swapped": 0}
    slots = {"right": "bpack"}
    slots |= {"epilogue": "epilogue", "eparams": "eparams"} if problem.has_epilogue else {}
    slots |= {} if problem.has_epilogue else {"out": "c"}
    second = phase_of("gemm_join", shared | numbers, (), {}, slots)
    return Plan((first, second), "depth", 0, parts * pitch * tile.dtype.size, 0)


def text(dtype: DType, right: DType, target: Target) -> str:
    """The IR module of rows of dtype times matrices of right."""
    tile = tile_for(dtype, target, right)
    return module([merge(tile), _part(tile, dtype, right), _join(tile)])


def _part(tile: Tile, dtype: DType, right: DType) -> Writer:
    """The entry point that adds up some rows of B."""
    w = Writer("gemm_depth", ENTRY_PARAMS)
    p = Params(w, "n k left_step right_step right_pitch depth", "left right out", "")
    with p.tasks() as (_, task):
        low = w.mul(task, p["depth"])
        high = w.smaller(p["k"], w.add(low, p["depth"]))
        sums = w.gep(p.pointers["out"], w.mul(task, p["right_pitch"]), tile.scalar)
        at = (p.pointers["left"], p.pointers["right"], sums, p["n"])
        for locality, there in caches(w, p["n"], right):
            with w.when(there):
                add_rows(w, tile, (dtype, right), p, at, (low, high), locality)
    return w


def _join(tile: Tile) -> Writer:
    """The entry point that adds up some columns of what the parts left, in their order."""
    w = Writer("gemm_join", ENTRY_PARAMS)
    p = Params(w, "n right_pitch runs block_columns swapped", "right out", "")
    sums = w.alloca(f"[{COLUMNS_PER_TASK} x {tile.scalar}]")
    with p.tasks() as (item, task):
        column = w.mul(task, p["block_columns"])
        n = w.smaller(p["block_columns"], w.sub(p["n"], column))
        start = w.gep(p.pointers["right"], column, tile.scalar)
        with w.loop(0, n, tile.lanes) as (j, _, _):
            first = w.gep(start, j, tile.scalar)
            zero = [(tile.vector, "zeroinitializer")]
            with w.loop(0, p["runs"], 1, zero) as (part, now, later):
                place = w.gep(first, w.mul(part, p["right_pitch"]), tile.scalar)
                value = w.load(tile.vector, place, tile.dtype.size)
                later[0] = w.op(f"{tile.add} {tile.vector} {now[0]}, {value}")
            w.store(tile.vector, now[0], w.gep(sums, j, tile.scalar), tile.dtype.size)
        deliver(w, tile, p, item, 0, (sums, column, n))
    return w
