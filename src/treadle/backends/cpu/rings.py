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
from treadle.base.watch import WATCH, Records

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
    @property
    def walked(self) -> bool: ...
    @property
    def launch(self) -> Any: ...
    # fmt: on


class Ring:
    """Records of one thread; `words` is what NumPy maps."""

    __slots__ = ("address", "name", "thread", "words")

    def __init__(self, thread: threading.Thread | int, name: str = "") -> None:
        self.thread = thread  # of the caller; of a worker, less than 0
        self.name = name  # of a worker
        words = ctypes.c_int64 * (HEAD + RECORD * ROOM)
        memory = mmap.mmap(-1, ctypes.sizeof(words))  # of the system, which gives what is touched
        self.words = words.from_buffer(memory)
        self.words[1] = ROOM
        self.address = ctypes.addressof(self.words)

    @property
    def is_nearly_full(self) -> bool:
        """Should the thread go on in another?"""
        return bool(self.words[0] > ROOM // 2)


class Given:
    """Where each thread of a pool writes, the caller first; a launch keeps it until its end."""

    __slots__ = ("pointers", "rings")

    def __init__(self, rings: list[Ring]) -> None:
        self.rings = rings
        self.pointers = (ctypes.c_int64 * len(rings))(*(ring.address for ring in rings))


class _Own(threading.local):
    """The ring of the thread that launches programs, and what it gave others last."""

    def __init__(self) -> None:
        self.session = -1
        self.ring: Ring | None = None
        self.given: Given | None = None


class Rings:
    """All rings of a profile."""

    def __init__(self) -> None:
        self.all: list[Ring] = []
        self.session = 0
        self.workers: dict[tuple[int, int], Ring] = {}  # by the size of their pool and number
        self.given: dict[int, Given] = {}  # to launches that are under way, by their number
        self.own = _Own()
        self.lock = threading.Lock()

    def begin(self) -> None:
        """Forget the rings of an earlier profile, but for those that are still written to."""
        with self.lock:
            used = [ring for given in list(self.given.values()) for ring in given.rings]
            self.all, self.workers = list(dict.fromkeys(used)), {}
            self.session += 1

    def give(self, launch: int, threads: int) -> Given:
        """Where so many threads write what they do for a launch, until `take` is called."""
        own = self.own
        with self.lock:
            if own.session != self.session:
                own.session, own.ring = self.session, None
            if own.ring is None or own.ring.is_nearly_full:
                own.ring = self._new(threading.current_thread())
            rings = [own.ring, *(self._worker(threads, k) for k in range(1, threads))]
            if own.given is None or own.given.rings != rings:
                own.given = Given(rings)
            self.given[launch] = own.given
            return own.given

    def take(self, launch: int) -> None:
        """A launch has ended: nobody writes to its rings any more."""
        del self.given[launch]

    def _worker(self, threads: int, number: int) -> Ring:
        ring = self.workers.get((threads, number))
        if ring is None or ring.is_nearly_full:
            ring = self._new(-number, f"{number} of {threads}")
            self.workers[threads, number] = ring
        return ring

    def _new(self, thread: threading.Thread | int, name: str = "") -> Ring:
        ring = Ring(thread, name)
        self.all.append(ring)
        return ring

    def records(self) -> list[Records]:
        """What was written so far."""
        offset = clock_offset()
        return [
            Records(
                "cpu", ring.thread, ring.words, HEAD, ring.words[0], ring.words[2], offset,
                ring.name,
            )
            for ring in self.all
        ]  # fmt: skip


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
    rings = RINGS.give(number, program.pool.threads)  # kept here: native code writes to them
    record = (ctypes.c_int64 * 5)(ctypes.addressof(rings.pointers), number, 0, NEVER, 0)
    if program.in_parts:
        record[3] = PART_NANOSECONDS
    SAMPLES.take()
    run, at = recorder(program.short), ctypes.addressof(record)
    given = words if not program.in_parts else (ctypes.c_int64 * 5)(*words[:5])
    WATCH.launch(number, program)
    try:
        if program.walked:
            program.launch(ctypes.addressof(words), record)
            return
        while given[2]:
            ran = run(ctypes.addressof(given), at)
            if not program.in_parts:
                break
            given[1] += ran * ENTRY_BYTES
            given[2] -= ran
            record[2] += ran
    finally:
        WATCH.launched(number)
        RINGS.take(number)


def clock_offset() -> int:
    """What to add to times of records to have those of `time.perf_counter_ns`."""
    found = []
    for _ in range(9):
        before, native, after = perf_counter_ns(), native_clock(), perf_counter_ns()
        found.append((after - before, (before + after) // 2 - native))
    offset = min(found)[1]
    return offset if abs(offset) > 100_000 else 0  # on Linux it is one clock
