"""The events of a profile as a sequence: to filter, sort, group and hand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, overload

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.base.watch import Kind
from treadle.profiler.groups import KEYS, Group, covering, grouped
from treadle.profiler.recording import Detail, Recording, Track

Array = np.ndarray[Any, Any]


class Event(NamedTuple):
    """One event; times are nanoseconds."""

    row: int
    kind: Kind
    name: str
    track: Track
    start: int
    end: int
    parent: int  # row of the event around it, or of the launch of a kernel; -1: none
    detail: Detail | None

    @property
    def duration(self) -> int:
        """Nanoseconds from start to end."""
        return self.end - self.start


SORTS: dict[str, Callable[[Array], Array]] = {
    "start": lambda events: events["start"],
    "duration": lambda events: events["start"] - events["end"],
    "name": lambda events: events["name"],
    "kind": lambda events: events["kind"],
}


class Events(Sequence[Event]):
    """Events of a recording, in some order."""

    def __init__(self, recording: Recording, rows: Array | None = None) -> None:
        self.recording = recording
        self.rows = np.arange(len(recording.events)) if rows is None else rows

    # ---- a sequence

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, key: int) -> Event: ...
    @overload
    def __getitem__(self, key: slice) -> Events: ...
    def __getitem__(self, key: int | slice) -> Event | Events:
        if isinstance(key, slice):
            return Events(self.recording, self.rows[key])
        found, row = self.recording, int(self.rows[key])
        kind, track, name, start, end, parent, detail = found.events[row].tolist()
        facts = found.details[detail] if detail >= 0 else None
        return Event(
            row, Kind(kind), found.names[name], found.tracks[track], start, end, parent, facts
        )

    def __iter__(self) -> Iterator[Event]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} events>"

    @property
    def array(self) -> Array:
        """A NumPy record array: names, tracks and details by number."""
        return self.recording.events[self.rows]

    def frame(self) -> Any:
        """A pandas data frame, where pandas is installed."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            hint = "pip install pandas; events().array needs only NumPy"
            raise ImportError(explain("frame", "pandas is not installed", hint)) from error
        events, found = self.array, self.recording
        lines = [d.sites[0] if d.sites else "" for d in found.details]
        return pandas.DataFrame({
            "kind": [Kind(k).name.lower() for k in events["kind"].tolist()],
            "name": [found.names[k] for k in events["name"].tolist()],
            "track": [found.tracks[k].name for k in events["track"].tolist()],
            "start": events["start"], "end": events["end"],
            "duration": events["end"] - events["start"], "parent": events["parent"],
            "line": [lines[k] if k >= 0 else "" for k in events["detail"].tolist()],
        }, index=self.rows)  # fmt: skip

    # ---- some of them

    def filter(
        self, test: Callable[[Event], object] | None = None, *, kind: Kind | str | None = None,
        name: str | None = None, track: str | None = None,
    ) -> Events:  # fmt: skip
        """Those for which a test holds, of a kind, of which the name or the track has a text."""
        events, found = self.array, self.recording
        keep = np.ones(len(events), bool)
        if kind is not None:
            keep &= events["kind"] == _kind(kind)
        for text, column, texts in (
            (name, "name", found.names),
            (track, "track", [x.name for x in found.tracks]),
        ):
            if text is not None:
                keep &= np.isin(events[column], [k for k, t in enumerate(texts) if text in t])
        kept = Events(found, self.rows[keep])
        if test is None:
            return kept
        return Events(found, kept.rows[[bool(test(event)) for event in kept]])

    def sort(self, by: str | Callable[[Event], Any] = "duration") -> Events:
        """In order: by start, duration (longest first), name or kind, or by a function."""
        if callable(by):
            keys = [by(event) for event in self]
            order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
        elif by in SORTS:
            order = np.argsort(SORTS[by](self.array), kind="stable")
        else:
            hint = f"one of {', '.join(SORTS)}, or a function of an event"
            raise ArgumentError(explain("sort", "no such order", hint, got=by))
        return Events(self.recording, self.rows[order])

    # ---- sums

    @cached_property
    def total(self) -> int:
        """Nanoseconds in which at least one of these events was under way."""
        return covering(self.array)

    def group_by(self, key: str) -> list[Group]:
        """Sums by line, op, module, phase, scope, kernel, thread, program, and Python's keys.

        A scope is the spans that ops were recorded in, as `epoch/model`. Python's are stage, span,
        recorded (ops that were called), realize and gap.

        A kernel of several lines is under each of them, with a part of its time; parts sum to the
        whole. The largest group comes first.
        """
        if key not in KEYS:
            hint = f"one of {', '.join(KEYS)}"
            raise ArgumentError(explain("group_by", "no such key", hint, got=key))
        return grouped(self.recording, self.rows, key)


def _kind(kind: Kind | str) -> Kind:
    if isinstance(kind, Kind):
        return kind
    names = [k.name.lower() for k in Kind]
    if kind not in names:
        hint = f"one of {', '.join(names)}"
        raise ArgumentError(explain("filter", "no such kind of event", hint, got=kind))
    return Kind[kind.upper()]
