"""Names of compiled kernels for Linux perf, where it looks for those of code made at run time."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from treadle.backends.cpu.beside import Entry
from treadle.backends.cpu.link import Code
from treadle.kernel.cost import KernelRow
from treadle.kernel.names import name_of

_written: set[int] = set()  # addresses that have a name
_lock = threading.Lock()


class Program(Protocol):
    """What is needed of a program."""

    # fmt: off
    @property
    def entries(self) -> Sequence[Entry]: ...
    @property
    def code(self) -> Sequence[Code | None]: ...
    # fmt: on

    def rows(self, caller: Sequence[str | None]) -> list[KernelRow]:
        """Its kernels."""


def path() -> Path:
    """Where perf looks, for this process."""
    return Path(tempfile.gettempdir()) / f"perf-{os.getpid()}.map"


def write(program: Program) -> None:
    """Name the code of a program; what several programs share keeps its first name."""
    rows = program.rows(())
    lines = []
    with _lock:
        for entry, code in zip(program.entries, program.code, strict=True):
            if code is None or code[entry.symbol] in _written:
                continue
            address = code[entry.symbol]
            _written.add(address)
            part = "" if entry.symbol == "kernel" else f" ({entry.symbol})"
            lines.append(
                f"{address:x} {code.room(entry.symbol):x} {name_of(rows[entry.step])}{part}\n"
            )
        with open(path(), "a", encoding="utf-8") as file:  # perf reads it while we write
            file.writelines(lines)
