"""Where each layer reports what it did: how long stages took and facts about the result.

Nobody listens as a rule, and then a report costs one look at an empty list. A thread is heard by
those who listen in it, or in the thread that it works for.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from treadle.base.knobs import DEBUG
from treadle.base.watch import WATCH, Kind


class Report:
    """What was reported while it listened."""

    __slots__ = ("facts", "stages")

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}  # seconds, in order of first end
        self.facts: list[tuple[str, Any]] = []

    def fact(self, name: str) -> Any:
        """The last fact of that name, or None."""
        return next((value for key, value in reversed(self.facts) if key == name), None)


class _Ears(threading.local):
    """Who listens to a thread."""

    def __init__(self) -> None:
        self.reports: list[Report] = []


_ears = _Ears()
_nothing = nullcontext()


def listeners() -> list[Report]:
    """Who listens to this thread, for threads that will work for it."""
    return _ears.reports


def work_for(reports: list[Report]) -> None:
    """Let those who listen to another thread hear this one."""
    _ears.reports = reports


@contextmanager
def listen() -> Iterator[Report]:
    """A Report of everything within a with block.

    >>> with listen() as report:
    ...     tell("kernels", 3)
    >>> report.fact("kernels")
    3
    """
    report = Report()
    heard = listeners()
    heard.append(report)
    try:
        yield report
    finally:
        heard.remove(report)


def is_heard() -> bool:
    """Does anybody listen? Ask before working out a costly fact."""
    return bool(_ears.reports)


def tell(name: str, value: Any) -> None:
    """Report a fact."""
    for report in _ears.reports:
        report.facts.append((name, value))


def recall(name: str) -> Any:
    """What was told under a name before, if somebody listened."""
    return _ears.reports[-1].fact(name) if _ears.reports else None


def stage(name: str) -> AbstractContextManager[None]:
    """Time a with block as a stage of the compiler."""
    return _timed(name) if _ears.reports or WATCH.on else _nothing


@contextmanager
def _timed(name: str) -> Iterator[None]:
    start = time.perf_counter_ns()
    try:
        yield
    finally:
        took = (time.perf_counter_ns() - start) * 1e-9
        if WATCH.on:
            WATCH.add(Kind.STAGE, name, start)
        for report in _ears.reports:
            report.stages[name] = report.stages.get(name, 0.0) + took


def show(level: int, text: str) -> None:
    """Print to stderr from a level of TREADLE_DEBUG on."""
    if DEBUG.value >= level:
        print(text, file=sys.stderr)  # noqa: T201
