"""Which slices share a lane, and the order in which they open and close there like brackets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from treadle.profiler.recording import Recording

Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass
class Lane:
    """Slices that lie within each other or apart, as a word of brackets.

    Number 0 of a track is the track itself; others hold what overlapped there.
    """

    track: int
    number: int
    rows: Ints  # the event of each bracket
    opens: Bools  # or else it closes
    times: Ints


def lanes_of(recording: Recording) -> Iterator[Lane]:
    """Every lane that has a slice, by track."""
    events = recording.events
    tracks = events["track"]
    for track in np.unique(tracks).tolist():
        rows = np.flatnonzero(tracks == track)
        start = events["start"][rows].astype(np.int64)
        end = np.maximum(events["end"][rows], start)
        order = np.lexsort((-end, start))
        rows, start, end = rows[order], start[order], end[order]
        brackets = _brackets(start, end)
        if _matched(brackets):
            yield _lane(track, 0, rows, start, end, brackets)
            continue
        numbers = _spread(start, end)
        for number in range(int(numbers.max()) + 1):
            chosen = numbers == number
            own = start[chosen], end[chosen]
            yield _lane(track, number, rows[chosen], *own, _brackets(*own))


def _lane(track: int, number: int, rows: Ints, start: Ints, end: Ints, brackets: Ints) -> Lane:
    count = len(rows)
    slices = brackets % count
    times = np.concatenate([start, end])[brackets]
    return Lane(track, number, rows[slices], brackets < count, times)


def _brackets(start: Ints, end: Ints) -> Ints:
    """Openings (k) and closings (count + k) of sorted slices, in order of time.

    What closes goes before what opens at the same time, the inner before the outer, and a slice
    of no length opens and closes after all that opened there.
    """
    count = len(start)
    number = np.arange(count)
    empty = start == end
    opening = 2 * count + np.where(empty, 2 * number, number)
    closing = np.where(empty, 2 * count + 2 * number + 1, count - number)
    return np.lexsort((np.concatenate([opening, closing]), np.concatenate([start, end])))


def _matched(brackets: Ints) -> bool:
    """Does every closing bracket belong to the slice that opened last?"""
    count = len(brackets) // 2
    opens = brackets < count
    depth = np.cumsum(np.where(opens, 1, -1))
    level = np.where(opens, depth, depth + 1)
    slices = (brackets % count)[np.argsort(level, kind="stable")]  # level by level: open, close
    return bool((slices[0::2] == slices[1::2]).all())


def _spread(start: Ints, end: Ints) -> Ints:
    """The first lane of each slice in which it lies within another or apart from all."""
    open_until: list[list[int]] = []
    found = np.empty(len(start), np.int64)
    for k, (begins, ends) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        number = 0
        while number < len(open_until):
            until = open_until[number]
            while until and until[-1] <= begins:
                until.pop()
            if not until or ends <= until[-1]:
                break
            number += 1
        else:
            open_until.append([])
        open_until[number].append(ends)
        found[k] = number
    return found
