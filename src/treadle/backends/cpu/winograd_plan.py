"""When 3 x 3 correlations are computed by sixteen products for every four results, and cut how."""

from __future__ import annotations

from array import array
from math import prod

from treadle.backends.cpu.gemm_plan import Correlation, Plan, Problem, phase_of
from treadle.backends.cpu.gemm_tiles import Tile, tile_for
from treadle.backends.cpu.winograd import KERNEL, POINTS
from treadle.base.dtypes import float32
from treadle.base.knobs import WINOGRAD
from treadle.base.target import Target

CHANNELS = 24  # in or out: with fewer the maps cost more than the products spare
SQUARES, FEWEST = 48, 12  # of a task: fewer do not pay for reading all kernels
TAPS = KERNEL * KERNEL


def correlation(rows: array[int], steps: array[int]) -> Correlation | None:
    """What the places of a product's operand say: 3 x 3 windows of planes, if they do."""
    if len(steps) % TAPS or len(steps) < CHANNELS * TAPS or not len(rows):
        return None
    line, plane = steps[KERNEL], steps[TAPS]
    wide = next((k for k, place in enumerate(rows) if place != k), len(rows))
    high = len(rows) // wide
    if high * wide != len(rows) or line < wide + KERNEL - 1:
        return None
    taps = [i * line + j for i in range(KERNEL) for j in range(KERNEL)]
    planes = range(0, plane * (len(steps) // TAPS), plane) if plane > 0 else ()
    if array("q", [c + t for c in planes for t in taps]) != steps:
        return None
    lines = range(0, line * high, line)
    if array("q", [r + k for r in lines for k in range(wide)]) != rows:
        return None
    return Correlation(plane, line, high, wide)


def plan(problem: Problem, target: Target) -> Plan | None:
    """The phases, if this is the way to go."""
    found, tile = problem.correlation, tile_for(problem.a_dtype, target)
    if found is None or not WINOGRAD.value or not problem.has_epilogue or any(problem.b_batch):
        return None
    if problem.b_dtype is not float32 or problem.a_dtype is not float32 or problem.n < CHANNELS:
        return None
    down, across = -(-found.high // 2), -(-found.wide // 2)
    band = min(down, -(-SQUARES // across))
    tasks = -(-down // band)
    if tasks * prod(problem.batch) < 2 or band * across < FEWEST:
        return None
    return _planned(problem, found, tile, band, tasks)


def _planned(problem: Problem, found: Correlation, tile: Tile, band: int, tasks: int) -> Plan:
    channels, size = problem.k // TAPS, tile.dtype.size
    pitch = -(-problem.n // tile.columns) * tile.columns
    squares = band * -(-found.wide // 2)
    scratch = POINTS * channels * (squares + tile.lanes) + POINTS * squares * pitch
    scratch = (scratch + 2 * band * found.wide * pitch) * size
    scratch = -(-scratch // 128) * 128 + 64
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
