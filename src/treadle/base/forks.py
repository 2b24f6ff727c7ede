"""What a forked child finds: every lock free and nothing half done.

A child has one thread, the one that forked. A lock that another thread held would stay locked in it
for ever, and what that thread was in the middle of would never end. So a fork first takes all our
locks and waits until nobody compiles; then parent and child let go.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from treadle.base.errors import DeviceError, explain

ORDER = (
    "forking", "tracing", "spans", "taking", "reading", "searching", "compiling", "workers",
    "draws", "kernels", "code", "llvm",
)  # fmt: skip
"""The order in which a fork takes locks. Who holds one may take later ones, never earlier ones."""
PATIENCE = 60.0  # seconds that a fork waits for one lock


class PerThread:
    """A lock for each thread, which waits for nobody but a fork: that takes all of them.

    So threads work side by side, and again inside what they are at. Python takes and leaves such a
    lock in one step: an interrupt never leaves it taken.
    """

    def __init__(self) -> None:
        self._lost = False  # has somebody who is not there any more been in the middle of it?
        self._begin()

    def _begin(self) -> None:
        self._new = threading.RLock()  # a finalizer may come in between
        self._local = threading.local()
        self._all: WeakSet[threading.RLock] = WeakSet()
        self._held: list[threading.RLock] = []

    def mine(self) -> threading.RLock:
        """The lock of the thread that asks."""
        found: threading.RLock | None = getattr(self._local, "lock", None)
        if found is None:
            found = self._made()
        return found

    def _made(self) -> threading.RLock:
        if self._lost:
            hint = "fork before another thread compiles, or start processes by spawn"
            wrong = "this process was forked in the middle of a long compilation and cannot compile"
            raise DeviceError(explain("fork", wrong, hint))
        found = threading.RLock()
        with self._new:
            self._all.add(found)
        self._local.lock = found
        return found

    def acquire(self, *, timeout: float) -> bool:
        """Wait until every thread has left; what the forking thread is inside of, it stays in."""
        end = time.monotonic() + timeout
        if not self._new.acquire(timeout=timeout):
            return False
        for lock in list(self._all):
            if not lock.acquire(timeout=max(0.0, end - time.monotonic())):
                self.release()
                return False
            self._held.append(lock)
        return True

    def release(self) -> None:
        """Let threads in again."""
        while self._held:
            self._held.pop().release()
        self._new.release()

    def _at_fork_reinit(self) -> None:
        """In a child of a fork that was not patient enough: somebody is lost who compiled."""
        self._lost = True
        self._begin()


COMPILING = PerThread()
"""Held by whoever compiles or loads code: LLVM and imports have locks that we cannot take."""
Lock = Any  # of threading: what it does in a child is not part of its public type
_locks: dict[str, list[Lock]] = {name: [] for name in ORDER}
_in_child: list[Callable[[], None]] = []
_held: list[Lock] = []


def share(name: str, lock: Lock) -> None:
    """Have forks take a lock, in its place of ORDER."""
    _locks[name].append(lock)


def in_child(action: Callable[[], None]) -> None:
    """Have every forked child do something before it goes on."""
    _in_child.append(action)


def _before() -> None:
    for name in ORDER:
        for lock in _locks[name]:
            if not lock.acquire(timeout=PATIENCE):
                continue
            _held.append(lock)


def _after() -> None:
    while _held:
        _held.pop().release()


def _start_afresh() -> None:
    for locks in _locks.values():
        for lock in locks:
            if lock not in _held:  # the fork was not patient enough
                lock._at_fork_reinit()
    for action in _in_child:
        action()
    _after()


share("forking", threading.RLock())
share("compiling", COMPILING)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_start_afresh)
