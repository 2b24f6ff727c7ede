"""What programs of every backend show of themselves: numbers, rows of kernels, lines to print."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

from treadle.base import trace
from treadle.base.knobs import DEBUG
from treadle.ir.node import Node
from treadle.kernel.cost import KernelRow, rows_of
from treadle.kernel.steps import Step
from treadle.schedule.layout import Layout


class Program(Protocol):
    """What is looked at of a program."""

    # fmt: off
    @property
    def steps(self) -> Sequence[Step]: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def refused(self) -> Iterable[tuple[Node, Node, str]]: ...
    # fmt: on

    def pieces(self) -> Sequence[Sequence[int]]:
        """For each step, the blocks of each of its kernels."""


_count = itertools.count(1)
_numbers: WeakKeyDictionary[Program, int] = WeakKeyDictionary()
_shown: WeakKeyDictionary[Program, list[KernelRow]] = WeakKeyDictionary()


def number_of(program: Program) -> int:
    """The number by which people know a program."""
    found = _numbers.get(program)
    if found is None:
        found = _numbers[program] = next(_count)
    return found


def rows_for(program: Program, caller: Sequence[str | None]) -> list[KernelRow]:
    """The rows of a program's kernels with the lines of a caller."""
    return rows_of(program.steps, program.pieces(), program.refused, caller)


def tell(program: Program) -> None:
    """Report what was compiled."""
    trace.tell("program", number_of(program))
    trace.tell("kernels", rows_for(program, trace.recall("caller") or ()))
    trace.tell("memory", program.layout)


def show_run(program: Program, spent: Sequence[float]) -> None:
    """Levels 1 and 2 of TREADLE_DEBUG: the kernels of a run, and the nanoseconds of each."""
    rows = _shown.get(program)
    if rows is None:
        rows = _shown[program] = rows_for(program, ())
    timed = f" in {sum(spent) / 1e3:.1f} us" if DEBUG.value >= 2 else ""
    trace.show(1, f"run program {number_of(program)}: {len(rows)} kernels{timed}")
    for row, nanoseconds in zip(rows, spent, strict=True):
        trace.show(1, _line(row, nanoseconds) if DEBUG.value >= 2 else _name(row))


def _name(row: KernelRow) -> str:
    return f"  k{row.number:<3} {row.kind:<7} {' '.join(row.ops)[:60]}"


def _line(row: KernelRow, nanoseconds: float) -> str:
    """A kernel with its time and what that means in bytes and flops; 1 B/ns is 1 GB/s."""
    spent = max(1.0, nanoseconds)
    moved = f"{row.nbytes / 1e6:9.3f} MB {row.nbytes / spent:7.1f} GB/s"
    work = f"{row.flops / 1e6:9.3f} Mflop {row.flops / spent:7.1f} GFLOP/s"
    return f"{_name(row):<75} {nanoseconds / 1e3:9.1f} us {moved} {work}"
