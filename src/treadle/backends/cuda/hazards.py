"""Which calls wait for which: those whose memory meets, where one of the two writes it.

Calls in the order of the program say which bytes they touch. What nobody knows about waits for all
before it, and all after it wait for that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from treadle.backends.cuda.launch import Launch, Places


class Span(NamedTuple):
    """Bytes that a call touches, counted from a base address."""

    base: int
    start: int
    end: int
    written: bool


def spans_of(launch: Launch, place: Places) -> list[Span] | None:
    """The memory that a launch touches; None: nobody knows."""
    if launch.touched is None:
        return None
    found = []
    for (_, memory), (nbytes, written) in zip(launch.memories(), launch.touched, strict=True):
        base, offset = place(memory.buffer)
        found.append(Span(base, offset, offset + nbytes, written))
    return found


class Region:
    """Bytes with one history: the last call that wrote them, and those that read them since."""

    __slots__ = ("readers", "writer")

    def __init__(self, writer: int | None, readers: Iterable[int]) -> None:
        self.writer, self.readers = writer, set(readers)


class Line:
    """The bytes after one base address, cut where histories differ."""

    def __init__(self) -> None:
        self.starts = [0]
        self.regions = [Region(None, ())]

    def cut(self, at: int) -> int:
        """The number of the region that begins at a byte."""
        k = bisect_right(self.starts, at) - 1
        if self.starts[k] == at:
            return k
        self.starts.insert(k + 1, at)
        self.regions.insert(k + 1, Region(self.regions[k].writer, self.regions[k].readers))
        return k + 1

    def touched(self, call: int, span: Span) -> set[int]:
        """Note a call; returns those it waits for."""
        first, last = self.cut(span.start), self.cut(span.end)
        found: set[int] = set()
        for region in self.regions[first:last]:
            if region.writer is not None:
                found.add(region.writer)
            if span.written:
                found |= region.readers
            else:
                region.readers.add(call)
        if span.written:
            self.starts[first:last] = [span.start]
            self.regions[first:last] = [Region(call, ())]
        return found - {call}


def waits(calls: Sequence[Sequence[Span] | None]) -> list[list[int]]:
    """For each call the earlier ones it waits for; those they wait for are left out."""
    lines: dict[int, Line] = {}
    wall: int | None = None  # the last call that nobody knows about
    found: list[list[int]] = []
    before: list[int] = []  # as bits: all calls that are done when a call starts
    for number, spans in enumerate(calls):
        met = {wall} - {None} if spans is not None else set(range(number))
        for span in spans or ():
            if span.end > span.start:
                met |= lines.setdefault(span.base, Line()).touched(number, span)
        done, direct = 0, []
        for other in sorted(x for x in met if x is not None)[::-1]:
            if not done >> other & 1:
                direct.append(other)
                done |= before[other] | 1 << other
        found.append(direct[::-1])
        before.append(done)
        if spans is None:
            wall, lines = number, {}
    return found
