"""How long each step of a program takes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from treadle.backends.cpu.buffers import Buffer
from treadle.backends.cpu.program import BASES, Program
from treadle.backends.cpu.show import RECORD
from treadle.backends.cpu.threads import traced_runner


def step_seconds(program: Program, inputs: Sequence[Buffer]) -> list[float]:
    """Run a program that nobody else runs meanwhile, with a clock around every kernel."""
    count = len(program.entries)
    records = (ctypes.c_int64 * (RECORD * max(1, count)))()

    def launch(address: int) -> None:
        words = (ctypes.c_int64 * BASES).from_address(address)
        pool, table, _, bases = words[:4]
        pool = program.pool.address
        traced_runner()(pool, table, count, bases, ctypes.addressof(records))

    usual = program.launch
    program.launch = launch
    try:
        program.run(inputs)
    finally:
        program.launch = usual
    spent = [0.0] * max(1, len(program.steps))
    for entry, start, end in zip(
        program.entries, records[1::RECORD], records[2::RECORD], strict=False
    ):
        spent[entry.step] += (end - start) * 1e-9
    return spent
