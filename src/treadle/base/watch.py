"""Where a profile finds what happened: spans in Python, and launches of programs.

Nobody profiles as a rule, and then nothing is written down. What is costly to ask for at each op or
launch is no part of this: whoever begins to watch has the longer ways taken (`MEANING.plain`).
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import IntEnum
from threading import Thread, current_thread
from time import perf_counter_ns
from typing import Any, NamedTuple

from treadle.base.knobs import MEANING

FIELDS = 6  # of an event; they lie in one list, as tuples would keep the collector busy
RECORD = 5  # words of a record


class Kind(IntEnum):
    """What an event is."""

    SPAN = 0  # a td.span
    MODULE = 1  # a call of an nn.Module, named by its path
    OP = 2  # an op that the user called, while it was recorded
    PHASE = 3  # forward, backward, optimizer
    STAGE = 4  # of the compiler
    REALIZE = 5  # lazy values computed, named by what asked for them
    CALL = 6  # one launch of a program
    KERNEL = 7
    DATA = 8  # waiting for a batch
    GAP = 9  # nothing ran, with the cause


Sites = tuple[str | None, ...]
"""Of a graph's nodes, in the order of its structure."""


class Caller(NamedTuple):
    """Whom a program runs for."""

    sites: Sites = ()
    scope: str = ""  # spans around the call of a compiled function; its sites have those within


class OpSite(str):
    """A site with the number of an OP event: equal to any other of its text."""

    __slots__ = ("op",)
    op: int


def of_op(site: str, number: int) -> OpSite:
    """A site of what an op has recorded."""
    found = OpSite(site)
    found.op = number
    return found


class Records:
    """What one thread or stream of a device has run: records of five words.

    A record is the number of a launch, of an entry of its program, start, end, and blocks.

    - **thread**: that of Python; -k: a worker; of a device, a stream
    - **name**: of a worker, which of which pool it is
    - **words**: memory of 64-bit integers, in which `size` records begin at word `first`
    - **lost**: records for which there was no room
    - **offset**: to be added to times to have those of time.perf_counter_ns
    """

    __slots__ = ("device", "first", "lost", "name", "offset", "size", "thread", "words")

    def __init__(
        self, device: str, thread: Thread | int, words: Any, first: int, size: int, lost: int,
        offset: int, name: str = "",
    ) -> None:  # fmt: skip
        self.device, self.thread, self.words, self.first = device, thread, words, first
        self.size, self.lost, self.offset, self.name = size, lost, offset, name


class _Thread(threading.local):
    """What a thread is in the middle of."""

    def __init__(self) -> None:
        self.caller = Caller()  # of the program that is launched next
        self.asked = ""  # what made somebody compute, while that is under way


class Place(NamedTuple):
    """How much had been seen when one of those who profile began."""

    events: int = 0  # fields of them
    memory: int = 0
    launch: int = 0  # those that begin later have a higher number; 0: it is the first one
    lost: int = 0


class Seen(NamedTuple):
    """What was written down; records since the first one of all began."""

    events: list[Any]
    memory: list[tuple[int, str, int]]
    records: list[Records]


class Watch:
    """Is somebody profiling, and what was seen since.

    Several may at a time, as a part of a run that is profiled as a whole: things are written down
    once, from when the first one begins until the last one ends, and each takes a slice.

    - **memory**: time, device and bytes in use, of one sample after another
    - **events**: kind, name, start, end, thread, and what else there is to say, one after another;
      the thread itself: it may be over, and another have its number, when somebody reads it
    """

    __slots__ = (
        "begun", "ended", "events", "launches", "lock", "memory", "on", "open", "sources", "thread",
        "under_way",
    )  # fmt: skip

    def __init__(self) -> None:
        self.on = False
        self.open = 0  # how many profile
        self.lock = threading.Lock()
        self.events: list[Any] = []
        self.memory: list[tuple[int, str, int]] = []
        self.launches = itertools.count(1)
        self.under_way: dict[int, tuple[Any, ...]] = {}  # launches that wait for their end
        self.thread = _Thread()
        self.sources: list[Callable[[], list[Records]]] = []  # of backends that were loaded
        self.begun: list[Callable[[], None]] = []  # called when somebody begins to watch
        self.ended: list[Callable[[], None]] = []

    def begin(self) -> Place:
        """Write down what happens from now on."""
        with self.lock:
            self.open += 1
            if self.open == 1:
                self._start()
                return Place()
            lost = sum(found.lost for found in self._records())
            return Place(len(self.events), len(self.memory), next(self.launches), lost)

    def _start(self) -> None:
        self.events, self.memory, self.on = [], [], True
        MEANING.profiled = True
        MEANING.follow()
        for call in self.begun:
            call()

    def end(self, since: Place) -> Seen:
        """What was written down since one began."""
        with self.lock:
            self.open -= 1
            if not self.open:
                self._stop()
            events, memory = self.events[since.events :], self.memory[since.memory :]
            events += self.unfinished()
            if not self.open:
                self.events = []
            return Seen(events, memory, self._records())

    def _stop(self) -> None:
        for call in self.ended:
            call()
        self.on = MEANING.profiled = False
        MEANING.follow()

    def _records(self) -> list[Records]:
        return [found for source in self.sources for found in source()]

    def add(self, kind: Kind, name: Any, start: int, more: Any = None) -> None:
        """Something has ended now."""
        self.events.extend((kind, name, start, perf_counter_ns(), current_thread(), more))

    def launch(self, number: int, program: Any) -> None:
        """A program starts that is waited for; `launched` says that it has ended."""
        caller = self.thread.caller
        self.under_way[number] = (program, perf_counter_ns(), current_thread(), (number, caller))

    def launched(self, number: int) -> None:
        """A launch has ended now, maybe in a later profile than it began in, or in none."""
        program, start, thread, more = self.under_way.pop(number)
        if self.on:
            self.events.extend((Kind.CALL, program, start, perf_counter_ns(), thread, more))

    def unfinished(self) -> list[Any]:
        """Launches that are under way, as events that end now."""
        now, found = perf_counter_ns(), list[Any]()
        for program, start, thread, more in list(self.under_way.values()):
            found += (Kind.CALL, program, start, now, thread, more)
        return found


WATCH = Watch()
AGAIN = "traced again:"  # begins the name of an event of no length
_nothing = nullcontext()


class _During:
    """A with block as an event."""

    __slots__ = ("kind", "name", "start")

    def __init__(self, kind: Kind, name: str) -> None:
        self.kind, self.name = kind, name

    def __enter__(self) -> None:
        self.start = perf_counter_ns()

    def __exit__(self, *_: object) -> None:
        if WATCH.on:
            WATCH.add(self.kind, self.name, self.start)


def during(kind: Kind, name: str) -> AbstractContextManager[None]:
    """Have a with block written down, if somebody profiles."""
    return _During(kind, name) if WATCH.on else _nothing
