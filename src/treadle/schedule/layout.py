"""Lifetimes and arena offsets."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from math import isqrt

ALIGN = 64


@dataclass(frozen=True)
class Interval:
    """A buffer of nbytes, alive from the step that writes it to the last that reads it."""

    name: object
    nbytes: int
    first: int
    last: int


@dataclass(frozen=True)
class Layout:
    """Where every interval lies in one arena."""

    offsets: dict[object, int]
    nbytes: int
    lower_bound: int  # most bytes alive at once: no layout is smaller
    without_reuse: int
    intervals: Sequence[Interval] = ()


def lay_out(intervals: Sequence[Interval], shared: int = 0) -> Layout:
    """Offsets such that buffers alive at the same time never overlap.

    The largest first, each at the lowest gap between those it meets: close to the lower bound in
    practice, and n log n but for the neighbours it looks at. shared is the size of buffers that
    took over another's place already.
    """
    placed = _Placed(1 + max((i.last for i in intervals), default=0))
    offsets: dict[object, int] = {}
    total = 0
    for interval in sorted(intervals, key=lambda i: (-i.nbytes, i.first)):
        size = _rounded(interval.nbytes)
        at = 0
        for start, end, first, last in placed.near(interval):
            if last < interval.first or interval.last < first:
                continue
            if start - at >= size:
                break
            at = max(at, end)
        offsets[interval.name] = at
        placed.add(interval, at, size)
        total = max(total, at + size)
    whole = sum(_rounded(i.nbytes) for i in intervals) + shared
    return Layout(offsets, total, _peak(intervals), whole, intervals)


Span = tuple[int, int, int, int]
"""(start, end) in the arena, (first, last) step."""


class _Placed:
    """Spans in order of start: all of them, and those alive in each window of steps."""

    def __init__(self, steps: int) -> None:
        self.width = isqrt(steps) + 1
        self.all: list[Span] = []
        self.windows: list[list[Span]] = [[] for _ in range(steps // self.width + 1)]

    def near(self, interval: Interval) -> Iterable[Span]:
        """All that may be alive together with an interval, some twice, and others."""
        windows = self._windows(interval)
        if len(windows) == 1:
            return windows[0]
        return self.all if sum(map(len, windows)) > len(self.all) // 2 else merge(*windows)

    def add(self, interval: Interval, at: int, size: int) -> None:
        """An interval has its place."""
        span = (at, at + size, interval.first, interval.last)
        for spans in (self.all, *self._windows(interval)):
            insort(spans, span)

    def _windows(self, interval: Interval) -> list[list[Span]]:
        return self.windows[interval.first // self.width : interval.last // self.width + 1]


def _rounded(nbytes: int) -> int:
    return -(-max(nbytes, 1) // ALIGN) * ALIGN


def _peak(intervals: Sequence[Interval]) -> int:
    changes: dict[int, int] = {}
    for i in intervals:
        changes[i.first] = changes.get(i.first, 0) + _rounded(i.nbytes)
        changes[i.last + 1] = changes.get(i.last + 1, 0) - _rounded(i.nbytes)
    alive = peak = 0
    for step in sorted(changes):
        alive += changes[step]
        peak = max(peak, alive)
    return peak
