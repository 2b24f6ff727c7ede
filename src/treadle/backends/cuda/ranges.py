"""Modules as NVIDIA's own profilers show them: NVTX ranges, where the package `nvtx` is there.

A range lies around the starting of kernels, not around the Python of a module: what a module
records may run much later, and together with what others record.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from treadle.base.watch import Sites
from treadle.kernel.cost import KernelRow


class Program(Protocol):
    """What is needed of a program."""

    def rows(self, caller: Sites) -> Sequence[KernelRow]:
        """Its kernels."""

    def steps_run(self) -> Sequence[int]:
        """For each launch, the number of its kernel."""


_KNOWN: WeakKeyDictionary[Program, dict[Sites, list[str]]] = WeakKeyDictionary()


@cache
def _tool() -> Any:
    try:
        return importlib.import_module("nvtx")
    except ImportError:
        return None


class Ranges:
    """Those of one run of a program; kernels of a module that follow each other share one."""

    def __init__(self, program: Program, caller: Sites) -> None:
        self.tool, self.open = _tool(), ""
        self.modules = _modules(program, caller) if self.tool is not None else []

    def reach(self, launch: int) -> None:
        """A kernel is about to be started."""
        if self.tool is not None and self.modules[launch] != self.open:
            self.close()
            self.open = self.modules[launch]
            if self.open:
                self.tool.push_range(self.open)

    def close(self) -> None:
        """Nothing follows."""
        if self.open:
            self.tool.pop_range()
        self.open = ""


def _modules(program: Program, caller: Sites) -> list[str]:
    """The module of each launch."""
    known = _KNOWN.setdefault(program, {})
    if caller not in known:
        rows = program.rows(caller)
        known[caller] = [_module(rows[step]) for step in program.steps_run()]
    return known[caller]


def _module(row: KernelRow) -> str:
    """The module that most of a kernel belongs to."""
    found: Counter[str] = Counter()
    for site, _, share in row.shares:
        found[site.module] += share  # type: ignore[assignment]
    return max(found, key=found.__getitem__, default="")
