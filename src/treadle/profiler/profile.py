"""`profile`: what ran within a with block, where it was written, how long it took."""

from __future__ import annotations

from functools import cached_property
from time import perf_counter_ns
from typing import Any, Self

from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.base.files import PathLike
from treadle.base.watch import WATCH, Kind, Place, Records
from treadle.profiler.advice import AdviceList, advice
from treadle.profiler.build import Builder
from treadle.profiler.difference import Difference
from treadle.profiler.events import Events
from treadle.profiler.files import save
from treadle.profiler.gaps import FEW
from treadle.profiler.groups import Group
from treadle.profiler.machine import DTYPES, ceilings
from treadle.profiler.memory import memory_counters
from treadle.profiler.recording import Recording
from treadle.profiler.report import inline_page, write_report
from treadle.profiler.slices import own_records
from treadle.profiler.table import Table
from treadle.runtime.ledger import Ledger
from treadle.tensor import calls
from treadle.tensor.memory_record import record_memory

DEVICES = ("cpu", "cuda")
WATCH.begun.append(calls.begin)
WATCH.ended.append(calls.end)


class Profile:
    """What happened while it was entered; read it afterwards.

    >>> import treadle as td
    >>> with td.profile() as prof:
    ...     _ = td.softmax(td.ones(8, 8)).numpy()
    >>> [event.name for event in prof.events().filter(kind="kernel")]
    ['softmax_f32']
    """

    def __init__(self, memory: bool = False) -> None:
        self._accounts = record_memory() if memory else None
        self._ledger: Ledger | None = None
        self._flat: list[Any] = []
        self._memory: list[tuple[int, str, int]] = []
        self._records: list[Records] = []
        self._place = Place()
        self._began = self._ended = 0

    def __enter__(self) -> Self:
        if self._began:
            wrong = "it is over" if self._ended else "it is entered already"
            raise ArgumentError(explain("profile", wrong, "td.profile() makes another"))
        if self._accounts is not None:
            self._ledger = self._accounts.__enter__()
        self._place = WATCH.begin()
        self._began = perf_counter_ns()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = perf_counter_ns()
        self._flat, self._memory, self._records = WATCH.end(self._place)
        if self._accounts is not None:
            self._accounts.__exit__(None, None, None)

    # ---- what was recorded

    @cached_property
    def recording(self) -> Recording:
        """All of it, as plain data."""
        if not self._ended:
            hint = "read it after its with block"
            raise ArgumentError(explain("profile", "it is not over yet", hint))
        records = own_records(self._records, self._flat, self._place)
        builder = Builder(self._flat, records, self._began, self._ended)
        found = builder.recording()
        found.ceilings = _ceilings(found)
        found.programs = builder.pages()
        found.counters = memory_counters(self._memory)
        found.changes = self._ledger.changes() if self._ledger is not None else ()
        self._flat, self._records = [], []
        return found

    def events(self) -> Events:
        """Every event, in order of time."""
        return Events(self.recording)

    @property
    def duration(self) -> int:
        """Nanoseconds from entering it to leaving it."""
        return self._ended - self._began

    # ---- reading it

    def group_by(self, key: str) -> list[Group]:
        """Sums of all events by a key; see `Events.group_by`."""
        return self.events().group_by(key)

    def table(self, by: str = "line", rows: int = 20) -> Table:
        """A table to print, the largest first: by line, op, module, phase, scope, kernel...

        `limit` is how close to the machine's limit a row came: the time that its bytes or flops
        take at the speed measured for them, over the time it took.
        """
        return Table(by, self.group_by(by), self.head(), rows)

    def advice(self, most: int = 3) -> AdviceList:
        """The things most worth changing, each with what was seen of it; print it to read it."""
        return advice(self.events(), self.duration, most)

    def diff(self, other: Profile, by: str = "line") -> Difference:
        """What changed from this profile to another; print it to read it."""
        if not isinstance(other, Profile):
            raise OperandError(explain("diff", "not a profile", got=type(other).__name__))
        return Difference(by, self.group_by(by), other.group_by(by))

    # ---- handing it on

    def save(self, path: PathLike) -> None:
        """Write a file: .pftrace for Perfetto, .json for Chrome, .folded, .speedscope.json."""
        save(self.recording, path)

    def report(self, path: PathLike) -> None:
        """Write a page to read in a browser, with everything in it."""
        write_report(self.recording, path)

    def _repr_html_(self) -> str:
        """The same page within a notebook."""
        return inline_page(self.recording)

    def head(self) -> str:
        """The whole in one line."""
        # a launch on a GPU is over before its kernels are
        busy = max(self.events().filter(kind=kind).total for kind in (Kind.CALL, Kind.KERNEL))
        idle = {group.name: group.time for group in self.group_by("gap")}
        few = idle.pop(FEW, 0.0)
        parts = ", ".join(f"{name} {spent / 1e6:.1f}" for name, spent in idle.items())
        lost = f"; {self.recording.lost} records lost" if self.recording.lost else ""
        text = f"{self.duration / 1e6:.1f} ms, of which programs ran {busy / 1e6:.1f}"
        text += f" (few blocks to share: {few / 1e6:.1f})" if few > 0.01 * busy else ""
        return f"{text}; idle: {f'{parts} ms' if parts else 'none'}{lost}"

    def __str__(self) -> str:
        return str(self.table())


def _ceilings(found: Recording) -> dict[str, tuple[float, float]]:
    """What the devices reach, in the dtypes that products were in."""
    devices = dict.fromkeys(track.device for track in found.tracks)
    dtypes = {detail.dtype for detail in found.details if detail.kind in ("product", "chain")}
    limits: dict[str, tuple[float, float]] = {}
    for device in devices:
        if device.startswith(DEVICES):
            limits[device] = ceilings(device)
            others = sorted(dtypes & set(DTYPES) - {"f32"})
            limits |= {f"{device} {dtype}": ceilings(device, dtype) for dtype in others}
    return limits


def profile(memory: bool = False) -> Profile:
    """Record what runs within a with block, in all threads: lines, kernels, times.

    A part of a run that is profiled as a whole can be, too: both have what ran in it.

    With memory, who takes it and gives it back, too, line by line: compiled functions are traced
    once more for that.

    >>> import treadle as td
    >>> with profile() as prof:
    ...     _ = (td.ones(4) + 1).numpy()
    >>> prof.recording.lost
    0
    """
    return Profile(memory)
