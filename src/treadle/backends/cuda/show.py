"""The rungs of TREADLE_DEBUG that concern a program on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from treadle.backends import facts
from treadle.backends.cuda.driver import Gpu
from treadle.backends.cuda.program import Plan
from treadle.backends.cuda.walk import Started
from treadle.base import trace
from treadle.base.knobs import DEBUG


class Program(Protocol):
    """What is looked at of a program."""

    # fmt: off
    @property
    def plan(self) -> Plan: ...
    @property
    def gpu(self) -> Gpu: ...
    @property
    def calls(self) -> Sequence[Started]: ...
    # fmt: on


def tell(plan: Plan) -> None:
    """Report what was compiled; level 4: loop programs and Triton's text."""
    facts.tell(plan)
    if DEBUG.value < 4:
        return
    for number, step in enumerate(plan.steps):
        for built in step.programs():
            trace.show(4, f"k{number} {built.loops}")
    for text in dict.fromkeys(launch.source.text for launch in plan.launches):
        trace.show(4, text)


def start_shown(program: Program, bases: Sequence[int]) -> None:
    """Start kernels one by one and wait for them; level 1 names them, level 2 adds times."""
    gpu = program.gpu
    marks: list[Any] = [gpu.mark()]
    for call in program.calls:
        call.aim(bases)
        call.start()
        marks.append(gpu.mark())
    gpu.wait()
    spent = [0.0] * len(program.plan.steps)
    for call, first, last in zip(program.calls, marks, marks[1:], strict=False):
        spent[call.step] += gpu.between(first, last) * 1e6
    facts.show_run(program.plan, spent)
