"""How long each step of a program takes on the device, by its own clock."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cuda.buffers import Buffer
from treadle.backends.cuda.driver import Mark
from treadle.backends.cuda.execute import Program


def step_seconds(program: Program, inputs: Sequence[Buffer]) -> list[float]:
    """Run a program that nobody else runs meanwhile, with an event around every kernel."""
    events: list[Mark] = []

    def start(bases: Sequence[int]) -> None:
        for call in program.calls:
            call.aim(bases)
            events.append(program.gpu.mark())
            call.start()
        events.append(program.gpu.mark())

    program.clock = start
    try:
        program.run(inputs)
        program.gpu.wait()
    finally:
        program.clock = None
    spent = [0.0] * max(1, len(program.plan.steps))
    for call, first, last in zip(program.calls, events, events[1:], strict=False):
        spent[call.step] += program.gpu.between(first, last) * 1e-3
    return spent
