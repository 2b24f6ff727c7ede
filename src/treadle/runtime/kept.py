"""Memory that compiled functions write over: who can read it, and what others see meanwhile.

A value, once made, never changes. The state that a compiled function replaces lies in memory whose
readers are counted: nodes, arrays and other tensors hold a loan of it, never the memory itself, and
a loan that nobody holds any more is given back. What is lent to nobody may be written over. What
somebody can still read, and memory that came from outside, is copied first.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from treadle.backends.registry import Backend
from treadle.base import forks

TAKING = threading.Lock()
"""Held while memory is looked for that may be written over: two functions never take the same."""
WRITING: set[threading.RLock] = set()
"""Locks held by those who write over memory just now."""


class Kept:
    """Memory that is written over as soon as it is lent to nobody.

    While that goes on, it stands in the node itself, and whoever asks it for what memory has waits
    for the end. From then on it counts as lent for good: nobody knows when it is read.
    """

    __slots__ = ("backend", "lent", "memory", "writing")

    def __init__(self, backend: Backend, memory: Any) -> None:
        self.backend, self.memory = backend, memory
        self.lent = 0
        self.writing: threading.RLock | None = None

    def lend(self) -> Any:
        """What readers hold instead of the memory; it keeps this object alive."""
        self.lent += 1
        return self.backend.lend(self.memory, self)

    def append(self, _: int, /) -> None:
        """A loan comes back: nobody holds it any more."""
        self.lent -= 1

    def wait(self) -> None:
        """Until nobody writes here."""
        if self.writing is not None:
            with self.writing:
                pass

    def __getattr__(self, name: str) -> Any:
        self.wait()
        self.lent += 1
        return getattr(self.memory, name)


class _Written:
    """To a fork: nobody begins to write over memory, and whoever was at it has ended."""

    def acquire(self, *, timeout: float) -> bool:
        if not TAKING.acquire(timeout=timeout):
            return False
        for writing in list(WRITING):
            with writing:  # however long: a child must not find what is half written
                pass
        return True

    def release(self) -> None:
        TAKING.release()

    def _at_fork_reinit(self) -> None:
        TAKING._at_fork_reinit()  # type: ignore[attr-defined]


forks.share("taking", _Written())


def busy_among(buffers: Sequence[Any]) -> Kept | None:
    """Memory that another function is writing over just now, if there is some."""
    if Kept not in map(type, buffers):
        return None
    return next(buffer for buffer in buffers if buffer.__class__ is Kept)
