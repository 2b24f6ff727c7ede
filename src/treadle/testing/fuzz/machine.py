"""A machine with small limits: little work is cut, shared out, unrolled and streamed like much.

Limits decide from which size on work is done another way. Made small, they bring programs of a few
hundred elements to code that otherwise takes millions.
"""

from __future__ import annotations

from importlib import import_module

LIMITS: dict[str, dict[str, int]] = {
    "kernel.choose": {"SMALL": 1 << 9, "BLOCK": 32, "ROWS": 8},
    "kernel.operands": {"LEAST_WORK": 1 << 6},
    "backends.cpu.program": {"SHORT": 1 << 8},
    "backends.cpu.beside": {"SHARED": 1 << 6},
    "backends.cpu.scan": {"BLOCK": 64, "FEW": 4},
    "backends.cpu.sort": {"BLOCK": 64, "FEW": 4, "RANKED": 8, "WIDE_DIGITS": 64},
    "backends.cpu.gemm_plan": {"_SERIAL": 64, "_SHORTEST": 64, "_ENOUGH_PANELS": 1,
                               "COLUMNS_PER_TASK": 64},
    "backends.cpu.winograd_plan": {"CHANNELS": 2, "SQUARES": 4, "FEWEST": 2},
    "backends.cpu.chain_plan": {"STEP": 48},
    "kernel.chain": {"SHORTEST": 4},
    "schedule.chains": {"FEWEST_ITEMS": 2},
    "passes.tiles": {"FEWEST_ROWS": 4, "SMALL": 1 << 6, "LARGE": 1 << 8},
    "schedule.fuse": {"COLUMN_ROWS": 4},
    "schedule.keep": {"MOST_PARTS": 2},
    "passes.decompose": {"CHUNK": 16, "FEW_RESULTS": 4, "LONG": 64, "NARROW": 4, "WIDE": 8},
    "ops.largest": {"FEW": 2, "AT_HAND": 16},
    "ir.graph": {"FEW": 3},
    "runtime.realize": {"MOST_PROGRAMS": 32, "SMALLEST": 4, "LARGEST": 8, "LONG": 120},
    "runtime.families": {"BUILT_IN": 0},
    "runtime.growing": {"SEEN": 1},
    "transforms.compile": {"MOST_TRACES": 2},
}  # fmt: skip
"""Module to names and values."""
TARGET = {"l2_bytes": 16 << 10, "l3_bytes": 64 << 10}


SMALL: list[bool] = []
"""Not empty where limits are small: totals then take memory that they are not worth otherwise."""


def make_small() -> None:
    """Set the limits of this process, before anything is compiled."""
    SMALL.append(True)
    for where, limits in LIMITS.items():
        module = import_module(f"treadle.{where}")
        for name, value in limits.items():
            setattr(module, name, value)
    target = import_module("treadle.backends.cpu.host").host_target()
    for name, value in TARGET.items():
        object.__setattr__(target, name, value)
