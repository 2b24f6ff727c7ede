"""Memory that threads write their records to while somebody profiles, and launches that do so.

A ring belongs to one thread. One that is nearly full is put aside as it is, and the thread goes on
in another; what a single launch has too much for it counts as lost.
"""

from __future__ import annotations

import ctypes
import mmap
import threading
from time import perf_counter_ns
from typing import Any, Protocol

from treadle.backends.cpu.buffers import bytes_in_use
from treadle.backends.cpu.recorded import HEAD, RECORD
from treadle.backends.cpu.threads import Pool, native_clock, recorder
from treadle.backends.cpu.workers import PART_NANOSECONDS
from treadle.base.watch import WATCH, Kind, Records

ROOM = 1 << 16  # records of a ring
SAMPLE_NANOSECONDS, LONGEST_WAIT = 500_000, 50_000_000  # between two looks at memory
NEVER = 1 << 61  # nanoseconds
ENTRY_BYTES = 32


class Program(Protocol):
    """What is needed of a program."""

    # fmt: off
    @property
    def pool(self) -> Pool: ...
    @property
    def short(self) -> bool: ...
    @property
    def in_parts(self) -> bool: ...
    # fmt: on


class Ring:
    """Records of one thread; `words` is what NumPy maps."""

    __slots__ = ("address", "thread", "words")

    def __init__(self, thread: int) -> None:
        self.thread = thread  # of the caller, what Python calls it; of a worker, less than 0
        words = ctypes.c_int64 * (HEAD + RECORD * ROOM)
        memory = mmap.mmap(-1, ctypes.sizeof(words))  # of the system, which gives what is touched
        self.words = words.from_buffer(memory)
        self.words[1] = ROOM
        self.address = ctypes.addressof(self.words)

    @property
    def is_nearly_full(self) -> bool:
        """Should the thread go on in another?"""
        return bool(self.words[0] > ROOM // 2)


class _Own(threading.local):
    """The ring of the thread that launches programs, and how it tells others where to write."""

    def __init__(self) -> None:
        self.session = -1
        self.ring: Ring | None = None
        self.pointers: Any = None


class Rings:
    """All rings of a profile."""

    def __init__(self) -> None:
        self.all: list[Ring] = []
        self.session = 0
        self.workers: dict[int, Ring] = {}
        self.own = _Own()
        self.lock = threading.Lock()

    def begin(self) -> None:
        """Forget the rings of an earlier profile."""
        self.all, self.workers = [], {}
        self.session += 1

    def pointers(self, threads: int) -> Any:
        """Where each of so many threads writes, the caller first."""
        own = self.own
        if own.session != self.session:
            own.session, own.ring, own.pointers = self.session, None, None
        with self.lock:
            if own.ring is None or own.ring.is_nearly_full:
                own.ring, own.pointers = self._new(threading.get_ident()), None
            for number in range(1, threads):
                ring = self.workers.get(number)
                if ring is None or ring.is_nearly_full:
                    self.workers[number] = self._new(-number)
                    own.pointers = None
            if own.pointers is None or len(own.pointers) < threads:
                rings = [own.ring, *(self.workers[k] for k in range(1, threads))]
                own.pointers = (ctypes.c_int64 * threads)(*(ring.address for ring in rings))
        return own.pointers

    def _new(self, thread: int) -> Ring:
        ring = Ring(thread)
        self.all.append(ring)
        return ring

    def records(self) -> list[Records]:
        """What was written so far."""
        offset = clock_offset()
        return [
            Records("cpu", ring.thread, ring.words, HEAD, ring.words[0], ring.words[2], offset)
            for ring in self.all
        ]


RINGS = Rings()
WATCH.begun.append(RINGS.begin)
WATCH.sources.append(RINGS.records)


class Samples:
    """How much memory is in use, now and then: when a program starts, and has what it works in."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """The first program of a profile has one."""
        self.next = 0  # time of the next one

    def take(self) -> None:
        """Look, if the last look is long enough ago for nobody to notice."""
        now = perf_counter_ns()
        if now >= self.next:
            WATCH.memory.append((now, "cpu", bytes_in_use()))
            took = perf_counter_ns() - now
            self.next = now + min(max(SAMPLE_NANOSECONDS, 100 * took), LONGEST_WAIT)


SAMPLES = Samples()
WATCH.begun.append(SAMPLES.begin)


def launch(program: Program, words: Any) -> None:
    """Run a program as it is run otherwise, and have every thread write down what it does."""
    number = next(WATCH.launches)
    pointers = RINGS.pointers(program.pool.threads)
    record = (ctypes.c_int64 * 5)(ctypes.addressof(pointers), number, 0, NEVER, 0)
    if program.in_parts:
        record[3] = PART_NANOSECONDS
    SAMPLES.take()
    run, at = recorder(program.short), ctypes.addressof(record)
    given = words if not program.in_parts else (ctypes.c_int64 * 5)(*words[:5])
    start = perf_counter_ns()
    try:
        while given[2]:
            ran = run(ctypes.addressof(given), at)
            if not program.in_parts:
                break
            given[1] += ran * ENTRY_BYTES
            given[2] -= ran
            record[2] += ran
    finally:
        WATCH.add(Kind.CALL, program, start, (number, WATCH.thread.caller))


def clock_offset() -> int:
    """What to add to times of records to have those of `time.perf_counter_ns`."""
    found = []
    for _ in range(9):
        before, native, after = perf_counter_ns(), native_clock(), perf_counter_ns()
        found.append((after - before, (before + after) // 2 - native))
    offset = min(found)[1]
    return offset if abs(offset) > 100_000 else 0  # on Linux it is one clock
