"""What a program shows of itself: facts for whoever listens, and the rungs of TREADLE_DEBUG."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterable, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

from treadle.backends.cpu import jit
from treadle.backends.cpu.threads import Pool, traced_runner
from treadle.base import trace
from treadle.base.knobs import DEBUG
from treadle.ir.node import Node
from treadle.kernel.cost import KernelRow, rows_of
from treadle.kernel.steps import Step
from treadle.schedule.layout import Layout

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


class Program(Protocol):
    """What is looked at of a program."""

    # fmt: off
    @property
    def steps(self) -> Sequence[Step]: ...
    @property
    def entries(self) -> Sequence[Entry]: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def refused(self) -> Iterable[tuple[Node, Node, str]]: ...
    @property
    def pool(self) -> Pool: ...
    # fmt: on

    def jobs(self) -> Sequence[jit.Job]:
        """All code that is called."""


_count = itertools.count(1)
_numbers: WeakKeyDictionary[Program, int] = WeakKeyDictionary()
_shown: WeakKeyDictionary[Program, list[KernelRow]] = WeakKeyDictionary()


def number_of(program: Program) -> int:
    """The number by which people know a program."""
    found = _numbers.get(program)
    if found is None:
        found = _numbers[program] = next(_count)
    return found


def _rows(program: Program) -> list[KernelRow]:
    """The rows of its kernels, without lines."""
    found = _shown.get(program)
    if found is None:
        found = _shown[program] = rows_of(program.steps, _blocks(program))
    return found


def rows_for(program: Program, caller: Sequence[str | None]) -> list[KernelRow]:
    """The rows of a program's kernels with the lines of a caller."""
    return rows_of(program.steps, _blocks(program), program.refused, caller)


def _blocks(program: Program) -> list[list[int]]:
    """Blocks of every entry, step by step."""
    blocks: list[list[int]] = [[] for _ in program.steps]
    for entry in program.entries:
        if entry.step < len(blocks):
            blocks[entry.step].append(entry.blocks)
    return blocks


def tell(program: Program) -> None:
    """Report what was compiled."""
    trace.tell("program", number_of(program))
    caller = trace.recall("caller") or ()
    trace.tell("kernels", rows_of(program.steps, _blocks(program), program.refused, caller))
    trace.tell("memory", program.layout)
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
    number, rows = number_of(program), _rows(program)
    count = len(program.entries)
    records = (ctypes.c_int64 * (RECORD * max(1, count)))()
    _, table, _, bases = words[:4]
    traced_runner()(program.pool.address, table, count, bases, ctypes.addressof(records))
    spent = [0] * len(rows)
    for entry, start, end in zip(
        program.entries, records[1::RECORD], records[2::RECORD], strict=False
    ):
        if entry.step < len(spent):
            spent[entry.step] += end - start
    total = sum(spent)
    timed = f" in {total / 1e3:.1f} us" if DEBUG.value >= 2 else ""
    trace.show(1, f"run program {number}: {len(rows)} kernels{timed}")
    for row, nanoseconds in zip(rows, spent, strict=True):
        trace.show(1, _line(row, nanoseconds) if DEBUG.value >= 2 else _name(row))


def _name(row: KernelRow) -> str:
    return f"  k{row.number:<3} {row.kind:<7} {' '.join(row.ops)[:60]}"


def _line(row: KernelRow, nanoseconds: int) -> str:
    """A kernel with its time and what that means in bytes and flops; 1 B/ns is 1 GB/s."""
    spent = max(1, nanoseconds)
    moved = f"{row.nbytes / 1e6:9.3f} MB {row.nbytes / spent:7.1f} GB/s"
    work = f"{row.flops / 1e6:9.3f} Mflop {row.flops / spent:7.1f} GFLOP/s"
    return f"{_name(row):<75} {nanoseconds / 1e3:9.1f} us {moved} {work}"
