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

TAKING = threading.Lock()
"""Held while memory is looked for that may be written over: two functions never take the same."""


class Kept:
    """Memory that is written over as soon as it is lent to nobody."""

    __slots__ = ("backend", "lent", "memory")

    def __init__(self, backend: Backend, memory: Any) -> None:
        self.backend, self.memory = backend, memory
        self.lent = 0

    def lend(self) -> Any:
        """What readers hold instead of the memory; it keeps this object alive."""
        self.lent += 1
        return self.backend.lend(self.memory, self)

    def append(self, _: int, /) -> None:
        """A loan comes back: nobody holds it any more."""
        self.lent -= 1


class Busy:
    """Stands for memory while it is written over: whoever wants to read it waits for the end."""

    __slots__ = ("_loan", "_writing")

    def __init__(self, writing: threading.RLock) -> None:
        self._writing, self._loan = writing, None

    def __getattr__(self, name: str) -> Any:
        self.wait()
        return getattr(self._loan, name)

    def wait(self) -> None:
        """Until the memory can be read."""
        with self._writing:
            pass

    def end(self, loan: Any) -> None:
        """From now on it is what a loan is."""
        self._loan = loan


def busy_among(buffers: Sequence[Any]) -> Busy | None:
    """Memory that another function is writing over just now, if there is some."""
    return next((buffer for buffer in buffers if buffer.__class__ is Busy), None)


def kept_behind(buffer: Any) -> Kept | None:
    """What a loan is of; None for memory whose readers nobody counts."""
    home = getattr(buffer, "home", None)
    return home if home.__class__ is Kept else None
