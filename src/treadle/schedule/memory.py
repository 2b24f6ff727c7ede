"""Lifetimes and arena offsets."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

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


def lay_out(intervals: Sequence[Interval], shared: int = 0) -> Layout:
    """Offsets such that buffers alive at the same time never overlap.

    The largest first, each at the lowest gap between those it meets: close to the lower bound in
    practice, and n log n but for the neighbours it looks at. shared is the size of buffers that
    took over another's place already.
    """
    placed: list[tuple[int, int, Interval]] = []
    offsets: dict[object, int] = {}
    total = 0
    for interval in sorted(intervals, key=lambda i: (-i.nbytes, i.first)):
        size = _rounded(interval.nbytes)
        at = 0
        for start, end, other in placed:  # in order of start
            if other.last < interval.first or interval.last < other.first:
                continue
            if start - at >= size:
                break
            at = max(at, end)
        offsets[interval.name] = at
        insort(placed, (at, at + size, interval), key=itemgetter(0))
        total = max(total, at + size)
    whole = sum(_rounded(i.nbytes) for i in intervals) + shared
    return Layout(offsets, total, _peak(intervals), whole)


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
