"""How long each step of a program takes on the device, by its own clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuda.bindings import driver as cu

from treadle.backends.cuda.driver import Buffer, checked
from treadle.backends.cuda.execute import Program


def step_seconds(program: Program, inputs: Sequence[Buffer]) -> list[float]:
    """Run a program that nobody else runs meanwhile, with an event around every kernel."""
    events: list[Any] = []

    def start(bases: Sequence[int]) -> None:
        stream = program.gpu.stream
        for call in program.calls:
            call.aim(bases)
            events.append(_marked(stream))
            call.start()
        events.append(_marked(stream))

    program.clock = start
    try:
        program.run(inputs)
        program.gpu.wait()
    finally:
        program.clock = None
    spent = [0.0] * max(1, len(program.plan.steps))
    for launch, first, last in zip(program.plan.launches, events, events[1:], strict=False):
        spent[launch.step] += float(checked(cu.cuEventElapsedTime(first, last))) * 1e-3
    for event in events:
        checked(cu.cuEventDestroy(event))
    return spent


def _marked(stream: Any) -> Any:
    event = checked(cu.cuEventCreate(0))
    checked(cu.cuEventRecord(event, stream))
    return event
