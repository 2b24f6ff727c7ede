"""What a program shows of itself: facts for whoever listens, and the rungs of TREADLE_DEBUG."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Protocol

from treadle.backends import facts
from treadle.backends.cpu import jit
from treadle.backends.cpu.threads import Pool, traced_runner
from treadle.base import trace
from treadle.base.knobs import DEBUG

RECORD = 4  # words of a record: entry, start, end, nothing
LONG_MODULE = 50_000  # characters: the code shared by all products is not printed


class Entry(Protocol):
    """One line of a program."""

    # fmt: off
    @property
    def job(self) -> jit.Job | None: ...
    @property
    def blocks(self) -> int: ...
    @property
    def step(self) -> int: ...
    # fmt: on


class Program(facts.Program, Protocol):
    """What is looked at of a program."""

    # fmt: off
    @property
    def entries(self) -> Sequence[Entry]: ...
    @property
    def pool(self) -> Pool: ...
    # fmt: on

    def jobs(self) -> Sequence[jit.Job]:
        """All code that is called."""


def tell(program: Program) -> None:
    """Report what was compiled."""
    facts.tell(program)
    if DEBUG.value >= 4:
        _show_source(program)


def _show_source(program: Program) -> None:
    """Level 4: loop programs and LLVM IR. Level 6: assembly."""
    for number, step in enumerate(program.steps):
        for built in step.programs():
            trace.show(4, f"k{number} {built.loops}")
    for job in {job.key: job for job in program.jobs()}.values():
        text = job.make_text()
        if len(text) > LONG_MODULE:
            trace.show(4, f"{job.key}: {len(text.splitlines())} lines of IR, not shown")
            continue
        trace.show(4, text)
        if DEBUG.value >= 6:
            trace.show(6, jit.assembly(text, job.target, job.effort, job.passes))


def code_of(program: Program, step: int) -> tuple[str, str]:
    """LLVM IR and assembly of a kernel, made now; of what all products share, its size."""
    jobs = [entry.job for entry in program.entries if entry.step == step]
    texts, assembly = [], []
    for job in {job.key: job for job in jobs if job is not None}.values():
        text = job.make_text()
        if len(text) > LONG_MODULE:
            texts.append(f"; {job.key}: {len(text.splitlines())} lines of IR, not shown")
            continue
        texts.append(text)
        assembly.append(jit.assembly(text, job.target, job.effort, job.passes))
    return "\n\n".join(texts), "\n\n".join(assembly)


def run(program: Program, words: ctypes.Array[ctypes.c_int64]) -> None:
    """Run with a clock around every kernel; level 1 names them, level 2 adds times."""
    count = len(program.entries)
    records = (ctypes.c_int64 * (RECORD * max(1, count)))()
    _, table, _, bases = words[:4]
    traced_runner()(program.pool.address, table, count, bases, ctypes.addressof(records))
    spent = [0.0] * len(program.steps)
    for entry, start, end in zip(
        program.entries, records[1::RECORD], records[2::RECORD], strict=False
    ):
        if entry.step < len(spent):
            spent[entry.step] += end - start
    facts.show_run(program, spent)
