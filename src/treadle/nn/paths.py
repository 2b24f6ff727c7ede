"""Under which name a module is called: its path below the outermost module of the call."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any
from weakref import WeakKeyDictionary

from treadle.base.watch import WATCH, Kind
from treadle.ir.recording import RECORDING
from treadle.tensor.tracing import Followed


class Paths(threading.local):
    """The modules that a thread is in the middle of calling."""

    def __init__(self) -> None:
        self.names: dict[Any, str] | None = None  # of all modules below the outermost one
        self.known: WeakKeyDictionary[Any, tuple[int, dict[Any, str]]] = WeakKeyDictionary()

    @contextmanager
    def inside(self, module: Any) -> Iterator[None]:
        """What is recorded within belongs to a module."""
        outermost = self.names is None
        if outermost:
            self.names = self._below(module)
        names: dict[Any, str] = self.names or {}
        path = names.get(module) or type(module).__name__
        before, start = RECORDING.inside(module=path), perf_counter_ns()
        try:
            yield
        finally:
            RECORDING.outside(before)
            if outermost:
                self.names = None
            if WATCH.on:
                WATCH.add(Kind.MODULE, path, start)

    def _below(self, module: Any) -> dict[Any, str]:
        changes, names = self.known.get(module, (-1, {}))
        if changes != Followed.changes:
            names = {part: name for name, part in module.named_modules()}
            del names[module]  # it would keep itself
            self.known[module] = Followed.changes, names
        return names


PATHS = Paths()
