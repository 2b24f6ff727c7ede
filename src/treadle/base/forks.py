"""What a forked child finds: every lock free and nothing half done.

A child has one thread, the one that forked. A lock that another thread held would stay locked in it
for ever, and what that thread was in the middle of would never end. So a fork first takes all our
locks and waits until nobody compiles; then parent and child let go.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Protocol

ORDER = (
    "forking", "tracing", "taking", "reading", "compiling", "workers", "draws", "kernels", "code",
    "llvm",
)  # fmt: skip
"""The order in which a fork takes locks. Who holds one may take later ones, never earlier ones."""


class Lock(Protocol):
    """What is taken before a fork and let go after it."""

    def acquire(self) -> object: ...
    def release(self) -> object: ...


class Gate:
    """Threads go in side by side, and again while they are in; a fork waits until all are out.

    To a fork it is a lock: nobody comes in between `acquire` and `release`.
    """

    def __init__(self) -> None:
        self.start_afresh()
        self._inside: dict[int, int] = {}  # thread to how often it went in
        self._closing: int | None = None  # the thread that forks

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._lock:
            while self._closing not in (None, me) and me not in self._inside:
                self._changed.wait()
            self._inside[me] = self._inside.get(me, 0) + 1

    def __exit__(self, *_: object) -> None:
        me = threading.get_ident()
        with self._lock:
            self._inside[me] -= 1
            if not self._inside[me]:
                del self._inside[me]
                self._changed.notify_all()

    def acquire(self) -> None:
        """Let nobody in and wait for those who are; the thread that forks may be one of them."""
        me = threading.get_ident()
        with self._lock:
            while self._closing is not None:
                self._changed.wait()
            self._closing = me
            try:
                while self._inside.keys() - {me}:
                    self._changed.wait()
            except BaseException:
                self._closing = None
                self._changed.notify_all()
                raise

    def release(self) -> None:
        """Let threads in again."""
        with self._lock:
            self._closing = None
            self._changed.notify_all()

    def start_afresh(self) -> None:
        """In the child: who waited outside is not there, and may have held the inner lock."""
        self._lock = threading.Lock()  # taken itself: an interrupt in the middle leaves it free
        self._changed = threading.Condition(self._lock)


COMPILING = Gate()
"""Entered by whoever compiles or loads code: LLVM and imports have locks that we cannot take."""
_locks: dict[str, list[Lock]] = {name: [] for name in ORDER}
_in_child: list[Callable[[], None]] = [COMPILING.start_afresh]
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
            lock.acquire()
            _held.append(lock)


def _after() -> None:
    while _held:
        _held.pop().release()


def _start_afresh() -> None:
    for action in _in_child:
        action()
    _after()


share("forking", threading.RLock())
share("compiling", COMPILING)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_start_afresh)
