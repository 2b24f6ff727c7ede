"""When 3 x 3 correlations are computed by sixteen products for every four results, and cut how."""

from __future__ import annotations

from array import array
from math import prod

import numpy as np

from treadle.backends.cpu.gemm_plan import phase_of
from treadle.backends.cpu.gemm_problem import Correlation, Plan, Problem
from treadle.backends.cpu.gemm_tiles import Tile, tile_for
from treadle.backends.cpu.winograd import KERNEL, POINTS, apart
from treadle.backends.cpu.winograd_slopes import GROUP
from treadle.base.dtypes import float32
from treadle.base.knobs import WINOGRAD
from treadle.base.target import Target

CHANNELS = 24  # in or out: with fewer the maps cost more than the products spare
SQUARES, FEWEST = 48, 12  # of a task: fewer do not pay for reading all kernels
TAPS = KERNEL * KERNEL
BLOCK = 64  # channels and outputs of a task that sums over squares: its sums stay in L2
RUNS, SHORTEST = 16, 384  # tasks worth having, and squares that pay for sums of their own
FEW, SHORT = 4, 128  # tasks that threads need, and squares that pay for those
ONCE = 6  # squares in whose time the sums of all become taps


def correlation(rows: array[int], steps: array[int]) -> Correlation | None:
    """What the places of a product's operand say: 3 x 3 windows of planes, if they do."""
    found = _windows(rows, steps)
    if found is not None and found.items == 1:
        return Correlation(found.plane, found.line, found.high, found.wide)
    return _windows(steps, rows)


def _windows(places: array[int], taps: array[int]) -> Correlation | None:
    """Windows that begin at places and have elements at taps, from there on."""
    if len(taps) % TAPS or len(taps) < CHANNELS * TAPS or not len(places):
        return None
    line, plane = taps[KERNEL], taps[TAPS]
    at, seen = np.array(places), np.array(taps)
    wide = _length(at, 1)
    high = _length(at[::wide], line)
    size = high * wide
    if len(at) % size or line < wide + KERNEL - 1 or plane <= 0:
        return None
    item = int(at[size]) if len(at) > size else 0
    channels, items = len(taps) // TAPS, len(at) // size
    square = _outer(KERNEL, line, _outer(KERNEL, 1))
    if not np.array_equal(seen, _outer(channels, plane, square)):
        return None
    if not np.array_equal(at, _outer(items, item, _outer(high, line, _outer(wide, 1)))):
        return None
    return Correlation(plane, line, high, wide, items, item)


def _length(places: np.ndarray, step: int) -> int:
    """How many of the first ones lie step apart."""
    differs = places != np.arange(len(places)) * step
    return int(differs.argmax()) if differs.any() else len(places)


def _outer(count: int, step: int, inner: np.ndarray | int = 0) -> np.ndarray:
    return np.add.outer(np.arange(count) * step, inner).ravel()


def plan(problem: Problem, target: Target) -> Plan | None:
    """The phases, if this is the way to go."""
    found, tile = problem.correlation, tile_for(problem.a_dtype, target)
    if found is None or not WINOGRAD.value or not problem.has_epilogue or any(problem.b_batch):
        return None
    if problem.b_dtype is not float32 or problem.a_dtype is not float32 or problem.n < CHANNELS:
        return None
    if found.items:
        return _of_slopes(problem, found, tile)
    down, across = -(-found.high // 2), -(-found.wide // 2)
    band = min(down, -(-SQUARES // across))
    if band == down and prod(problem.batch) == 1:
        band = -(-down // 2)  # a second thread has something to do
    tasks = -(-down // band)
    if tasks * prod(problem.batch) < 2 or band * across < FEWEST:
        return None
    return _planned(problem, found, tile, band, tasks)


def _planned(problem: Problem, found: Correlation, tile: Tile, band: int, tasks: int) -> Plan:
    channels, size = problem.k // TAPS, tile.dtype.size
    pitch = -(-problem.n // tile.columns) * tile.columns
    squares = band * -(-found.wide // 2)
    scratch = POINTS * (apart(channels * (squares + tile.lanes)) + apart(squares * pitch))
    scratch = _odd((scratch + 2 * band * found.wide * pitch) * size)
    step, column = problem.b_strides
    shared = {"n": problem.n, "k": channels, "right_pitch": pitch, "group": 1}
    packing = phase_of(
        "winograd_weights",
        shared | {"right_step": step, "right_column": column, "tasks": pitch // tile.lanes},
        (), {}, {"right": "b", "out": "bpack"},
    )  # fmt: skip
    numbers = shared | {"plane": found.plane, "line": found.line, "high": found.high}
    numbers |= {"wide": found.wide, "band": band, "scratch_stride": scratch, "tasks": tasks}
    slots = {"left": "a", "right": "bpack", "scratch": "scratch"}
    slots |= {"epilogue": "epilogue", "eparams": "eparams"}
    work = phase_of("winograd_block", numbers, problem.batch, {"left": problem.a_batch}, slots)
    return Plan((packing, work), "winograd", 0, POINTS * channels * pitch * size, scratch)


def _odd(nbytes: int) -> int:
    """An odd number of cache lines: the buffers of two threads do not share sets."""
    return -(-nbytes // 128) * 128 + 64


# ---- the gradient of kernels


def _of_slopes(problem: Problem, found: Correlation, tile: Tile) -> Plan | None:
    down, across = -(-found.high // 2), -(-found.wide // 2)
    squares = found.items * down * across
    if problem.batch or problem.b_strides[0] != 1 or POINTS * (squares + ONCE) > TAPS * problem.k:
        return None
    segment = -(-across // -(-across // SQUARES))
    band = min(down, -(-SQUARES // segment))
    units = found.items * -(-down // band) * -(-across // segment)
    channels, outputs = problem.m // TAPS, problem.n
    rows, columns = min(BLOCK, channels), -(-min(BLOCK, outputs) // tile.columns) * tile.columns
    row_blocks, blocks = -(-channels // rows), -(-outputs // columns)
    areas = row_blocks * blocks
    needed = min(-(-FEW // areas), squares // SHORT)
    runs = max(1, min(max(needed, min(RUNS // areas, squares // SHORTEST)), units))
    depth = -(-units // runs)
    runs = -(-units // depth)
    panels, size = -(-outputs // tile.columns), tile.dtype.size
    most = band * segment
    scratch = POINTS * (
        apart(rows * (most + tile.lanes))
        + columns // tile.columns * apart((most + tile.lanes // 4) * tile.columns)
    )
    scratch = _odd(max(scratch, TAPS * GROUP * tile.columns) * size)
    shared = {"m": channels, "n": outputs, "scratch_stride": scratch, "group": 1}
    numbers = shared | {
        "k": found.items, "left_run": found.item, "right_column": problem.b_strides[1],
        "depth": depth, "block_rows": rows, "block_columns": columns, "row_blocks": row_blocks,
        "plane": found.plane, "line": found.line, "high": found.high, "wide": found.wide,
        "band": band, "segment": segment, "tasks": runs * blocks * row_blocks,
    }  # fmt: skip
    slots = {"left": "a", "right": "b", "out": "apack", "scratch": "scratch"}
    sums = phase_of("winograd_sums", numbers, (), {}, slots)
    groups = -(-channels // GROUP)
    numbers = shared | {"runs": runs, "row_blocks": groups, "tasks": groups * panels}
    slots = {"left": "apack", "scratch": "scratch"}
    slots |= {"epilogue": "epilogue", "eparams": "eparams"}
    taps = phase_of("winograd_taps", numbers, (), {}, slots)
    nbytes = runs * panels * POINTS * channels * tile.columns * size
    return Plan((sums, taps), "winograd_slopes", nbytes, 0, scratch)
