"""Which threads run a program and how Python calls it.

A program is a table of entries; its words and the way blocks are shared out are in workers.py.
"""

from __future__ import annotations

import atexit
import ctypes
import threading
from collections.abc import Callable
from functools import cache

from treadle.backends.cpu import jit
from treadle.backends.cpu.host import MAX_THREADS, host_target, usable_cores
from treadle.backends.cpu.link import Code
from treadle.backends.cpu.runners import LAYOUT, STATE_BYTES
from treadle.backends.cpu.workers import runtime_text
from treadle.base import forks


@cache
def _functions() -> Code:
    target = host_target()
    text = runtime_text(target)
    names = (
        "worker", "dismiss", "run", "run_traced", "launch", "launch_part", "launch_recorded",
        "native_clock",
    )  # fmt: skip
    return jit.load(text, lambda: text, names, target, 2)


def _native(name: str, arguments: int, hold_gil: bool = False) -> Callable[..., None]:
    # c_void_p is by far the cheapest way to pass a word, addresses and numbers alike.
    make = ctypes.PYFUNCTYPE if hold_gil else ctypes.CFUNCTYPE
    return make(None, *[ctypes.c_void_p] * arguments)(_functions()[name])


@cache
def runner() -> Callable[[int, int, int, int], None]:
    """run(pool, table, count, bases): run a program; other Python threads go on meanwhile."""
    return _native("run", 4)


@cache
def launcher() -> Callable[[int], None]:
    """launch(words): `run` whose four arguments lie in memory, at half the cost of the call."""
    return _native("launch", 1)


@cache
def launcher_holding_gil() -> Callable[[int], None]:
    """The same for programs so short that handing over the interpreter would cost more."""
    return _native("launch", 1, hold_gil=True)


@cache
def part_launcher() -> Callable[[int], int]:
    """launch_part(words): the entries that a long program has run when it comes up for air."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(_functions()["launch_part"])


@cache
def traced_runner() -> Callable[[int, int, int, int, int], None]:
    """run_traced(pool, table, count, bases, records): also write when each entry ran.

    A record is four words: the entry's number, its start and its end on the monotonic clock in
    nanoseconds, and zero.
    """
    return _native("run_traced", 5)


@cache
def recorder(hold_gil: bool) -> Callable[[int, int], int]:
    """launch_recorded(words, record): `launch_part` that writes records; see recorded.py."""
    make = ctypes.PYFUNCTYPE if hold_gil else ctypes.CFUNCTYPE
    kinds = (ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    return make(*kinds)(_functions()["launch_recorded"])


def native_clock() -> int:
    """The clock of records, in nanoseconds."""
    return int(ctypes.PYFUNCTYPE(ctypes.c_int64)(_functions()["native_clock"])())


class Pool:
    """Threads that wait for programs. One pool per number of threads, made on first use.

    A program whose caller finds the pool busy, or a process just forked, runs on its caller alone.
    """

    __slots__ = ("_memory", "_start", "_workers", "threads")

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._memory = (ctypes.c_char * (STATE_BYTES + 64))()
        self._start = -(-ctypes.addressof(self._memory) // 64) * 64
        self._workers: list[threading.Thread] = []
        self.reset()

    @staticmethod
    def get(threads: int | None = None) -> Pool:
        """The pool of so many threads, the caller included; None: one for each usable core."""
        count = min(usable_cores() if threads is None else max(1, threads), MAX_THREADS)
        pool = _pools.get(count)
        if pool is None:
            _install_hooks()
            pool = _pools.setdefault(count, Pool(count))
        return pool

    @property
    def address(self) -> int:
        """What the runners take; asking for it starts the workers if they are not there."""
        if len(self._workers) + 1 < self.threads:
            self._hire()
        return self._start

    def _hire(self) -> None:
        work = _native("worker", 2)
        with _hiring:
            for number in range(len(self._workers) + 1, self.threads):
                thread = threading.Thread(
                    target=work, args=(self._start, number), name=f"treadle-{number}", daemon=True
                )
                thread.start()
                self._workers.append(thread)

    def dismiss(self) -> None:
        """Send the workers home and wait until they have left native code."""
        if self._workers:
            _native("dismiss", 1)(self._start)
            for thread in self._workers:
                thread.join(timeout=1.0)

    def reset(self) -> None:
        """Forget workers and work."""
        ctypes.memset(self._start, 0, STATE_BYTES)
        ctypes.c_int64.from_address(self._start + LAYOUT["THREADS"]).value = self.threads
        self._workers = []


_pools: dict[int, Pool] = {}
_hiring = threading.RLock()


@cache
def _install_hooks() -> None:
    atexit.register(_dismiss_all)
    forks.share("workers", _hiring)
    forks.in_child(_start_afresh)


def _dismiss_all() -> None:
    for pool in _pools.values():
        pool.dismiss()


def _start_afresh() -> None:
    """In a forked child no worker exists, and a program may have been under way."""
    for pool in _pools.values():
        pool.reset()
