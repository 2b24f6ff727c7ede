"""What a profile consists of, as plain data: events in one array, and what their numbers mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treadle.base.watch import Kind

__all__ = [
    "EVENT", "FLOW", "OF_AN_OP", "Counter", "Detail", "Kind", "Part", "ProgramPage", "Recording",
    "Track",
]  # fmt: skip

EVENT = np.dtype(
    [
        ("kind", "u1"),  # a Kind
        ("track", "u2"),  # number in tracks
        ("name", "u4"),  # number in names
        ("start", "i8"),  # nanoseconds of time.perf_counter_ns()
        ("end", "i8"),
        ("parent", "i4"),  # row of the event that this one lies in or was launched by; -1: none
        ("detail", "i4"),  # number in details; -1: none
    ]
)
FLOW = np.dtype([("source", "i4"), ("target", "i4")])  # two rows
OF_AN_OP = "op"  # as the kind of a detail


@dataclass
class Track:
    """Where events lie side by side in time: a thread, or a stream of a device."""

    name: str
    device: str  # "cpu", "cuda:0" or "python"
    process: int
    thread: int


@dataclass(frozen=True)
class Part:
    """A share of a kernel: ops of one line, module, phase and scope."""

    line: str
    module: str
    phase: str
    op: str  # the composite it is a part of, or its own name
    share: float  # of the kernel's time, by flops and elements; those of a kernel sum to 1
    scope: str = ""  # spans that it was recorded in: "epoch/model"


@dataclass(frozen=True)
class Detail:
    """Facts of a kernel, shared by all its events; sites and modules are those of one caller.

    Of an op that the user called there are its line, module and phase; the rest is empty.
    """

    program: int
    entry: int
    kind: str  # of step; OF_AN_OP
    ops: tuple[str, ...]
    sites: tuple[str, ...]  # "file:line" of the user's code, most ops first
    modules: tuple[str, ...]
    phase: str
    flops: int
    bytes_read: int
    bytes_written: int
    blocks: int
    reason: str
    parts: tuple[Part, ...] = ()
    dtype: str = ""  # of what most of its flops are done with: "f32"

    @property
    def scopes(self) -> tuple[str, ...]:
        """Spans that its ops were recorded in, each path once."""
        return tuple(dict.fromkeys(part.scope for part in self.parts if part.scope))


@dataclass
class Counter:
    """A number that changed over time."""

    name: str
    unit: str
    times: np.ndarray[Any, np.dtype[np.int64]]
    values: np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class ProgramPage:
    """One program as its stages show it."""

    number: int
    graph: str = ""
    simplified: str = ""
    rules: dict[str, int] = field(default_factory=dict)
    explanation: str = ""
    kernels: list[tuple[str, str, str, str, str]] = field(default_factory=list)
    """Name, reason, loop program, LLVM or Triton text, assembly."""
    layout: list[tuple[int, int, int, int, str]] = field(default_factory=list)
    """Offset, bytes, first step, last step, label."""
    lower_bound: int = 0
    without_reuse: int = 0
    tuning: str = ""
    code: Callable[[int], tuple[str, str]] | None = None
    """LLVM or Triton text and assembly of a kernel by its number, made when somebody asks."""


@dataclass
class Recording:
    """Everything that was recorded; events are sorted by start, longer ones first."""

    events: np.ndarray[Any, np.dtype[np.void]] = field(default_factory=lambda: np.empty(0, EVENT))
    tracks: list[Track] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    details: list[Detail] = field(default_factory=list)
    counters: list[Counter] = field(default_factory=list)
    programs: dict[int, ProgramPage] = field(default_factory=dict)
    lost: int = 0  # events that found their ring full
    facts: dict[str, str] = field(default_factory=dict)  # machine and versions
    ceilings: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Of a device: bytes and flops per second, measured in float32; `cuda:0 bf16`: in another."""
    flows: np.ndarray[Any, np.dtype[np.void]] = field(default_factory=lambda: np.empty(0, FLOW))
    threads: int = 1  # that share the blocks of a program on the host, the caller included
    changes: Sequence[Any] = ()  # memory taken and given back, with its lines, where somebody asked
