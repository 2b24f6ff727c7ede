"""From what was written down to a Recording: events in order, who lies in whom, whose line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from treadle.base.watch import FIELDS, Caller, Kind, Records
from treadle.kernel.cost import KernelRow
from treadle.kernel.names import name_of
from treadle.profiler.gaps import gaps
from treadle.profiler.machine import facts
from treadle.profiler.ops import FORWARD, Ops
from treadle.profiler.pages import page_of
from treadle.profiler.recording import EVENT, FLOW, Detail, Part, ProgramPage, Recording, Track

WORDS = 5  # of a record: launch, entry, start, end, blocks


class Launch(NamedTuple):
    """One run of a program."""

    row: int  # of its event
    program: Any
    caller: Caller


class Names:
    """Texts by number, each once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self.number: dict[str, int] = {}

    def of(self, text: str) -> int:
        """The number of a text."""
        if text not in self.number:
            self.number[text] = len(self.all)
            self.all.append(text)
        return self.number[text]


class Builder:
    """A Recording under construction."""

    def __init__(
        self, flat: Sequence[Any], records: Sequence[Records], began: int, ended: int
    ) -> None:
        self.began, self.ended = began, ended
        self.names, self.tracks = Names(), list[Track]()
        self.track_of: dict[tuple[str, Thread | int, str], int] = {}
        self.details: list[Detail] = []
        self.programs: dict[int, Any] = {}
        self.program_names: dict[int, int] = {}
        self.lost = sum(source.lost for source in records)
        self.launches: dict[int, Launch] = {}
        self.ops = Ops()
        self.tables: list[tuple[Any, Any]] = []
        self.table_of: dict[tuple[int, int, str] | tuple[int, Caller], int] = {}
        python = self._python(flat)
        kernels = [self._kernels(source) for source in records if source.size]
        self.events = np.concatenate([python, *kernels])

    # ---- tracks

    def track(self, device: str, thread: Thread | int, name: str = "") -> int:
        """The number of a thread's track; a worker has a name."""
        key = (device, thread, name)
        if key not in self.track_of:
            self.track_of[key] = len(self.tracks)
            shown = f"{device} {name}" if name else _track_name(device, thread)
            ident = thread if isinstance(thread, int) else thread.ident or 0
            self.tracks.append(Track(shown, device, os.getpid(), ident))
        return self.track_of[key]

    # ---- Python

    def _python(self, flat: Sequence[Any]) -> np.ndarray[Any, Any]:
        """Spans, modules, ops, phases, stages and launches."""
        count = len(flat) // FIELDS
        events = np.zeros(count, EVENT)
        events["kind"] = flat[0::FIELDS]
        events["start"], events["end"] = flat[2::FIELDS], flat[3::FIELDS]
        self._clip(events)
        events["track"] = [self.track("python", thread) for thread in flat[4::FIELDS]]
        events["parent"] = events["detail"] = -1
        columns = zip(flat[0::FIELDS], flat[1::FIELDS], flat[5::FIELDS], strict=True)
        call, op = Kind.CALL, Kind.OP
        events["name"] = [
            self._launched(k, what, *more) if kind == call
            else self.names.of(self.ops.add(k, what, more) if kind == op else str(what))
            for k, (kind, what, more) in enumerate(columns)
        ]  # fmt: skip
        events["detail"][self.ops.rows] = self.ops.numbers
        self.details += self.ops.details
        _nest(events)
        return events

    def _launched(self, row: int, program: Any, number: int, caller: Caller) -> int:
        """Remember a launch; the number of its name."""
        self.launches[number] = Launch(row, program, caller)
        if id(program) not in self.program_names:
            self.programs[program.number] = program
            self.program_names[id(program)] = self.names.of(f"program {program.number}")
        return self.program_names[id(program)]

    # ---- kernels

    def _kernels(self, source: Records) -> np.ndarray[Any, Any]:
        """What a thread of a device ran; a run that nobody waited for is lost.

        The host's launches are waited for, so what they run in another profile is not of this
        one. A GPU may run later what was started here.
        """
        words = np.frombuffer(source.words, np.int64)[source.first :]
        found = words[: WORDS * source.size].reshape(source.size, WORDS)
        known = np.isin(found[:, 0], list(self.launches))
        starts, ends = (found[:, k] + source.offset for k in (2, 3))
        inside = (starts < self.ended) & (ends > self.began)
        self.lost += int((inside & ~known).sum())
        here = source.device == "cpu"
        found = found[known & inside] if here else found[known]
        events = np.zeros(len(found), EVENT)
        events["kind"] = Kind.KERNEL
        events["track"] = self.track(source.device, source.thread, source.name)
        events["start"], events["end"] = found[:, 2], found[:, 3]
        events["start"] += source.offset
        events["end"] += source.offset
        if here:
            self._clip(events)
        numbers, which = np.unique(found[:, 0], return_inverse=True)
        launches = [self.launches[number] for number in numbers.tolist()]
        events["parent"] = np.array([launch.row for launch in launches], np.int64)[which]
        tables = np.array([self._table(launch) for launch in launches], np.int64)[which]
        for table in np.unique(tables).tolist():
            rows = np.flatnonzero(tables == table)
            names, details = self.tables[table]
            events["name"][rows] = names[found[rows, 1]]
            events["detail"][rows] = details[found[rows, 1]]
        return events

    def _clip(self, events: np.ndarray[Any, Any]) -> None:
        """What began earlier or went on later is of this profile as far as it lies in it."""
        for edge in ("start", "end"):
            events[edge] = np.clip(events[edge], self.began, self.ended)

    def _table(self, launch: Launch) -> int:
        """The number of what is known of a program's entries, for one caller.

        Most sites are the same object again and again: that is looked at first.
        """
        same = (id(launch.program), id(launch.caller.sites), launch.caller.scope)
        if same not in self.table_of:
            equal = (id(launch.program), launch.caller)
            if equal not in self.table_of:
                self.table_of[equal] = len(self.tables)
                self.tables.append(self._named(launch))
            self.table_of[same] = self.table_of[equal]
        return self.table_of[same]

    def _named(self, launch: Launch) -> tuple[Any, Any]:
        """For each entry of a program, the number of its name and of its detail."""
        rows = launch.program.rows(launch.caller.sites)
        first, names = len(self.details), []
        for row in rows:
            names.append(self.names.of(name_of(row)))
            self.ops.places[len(self.details)] = row.places
            self.details.append(detail_of(row, launch.program.number, launch.caller.scope))
        steps = np.array(launch.program.steps_run(), np.int64)
        return np.array(names, np.int64)[steps], steps + first

    def _busy(self) -> np.ndarray[Any, Any]:
        """Which events show that a device is at work: a launch on the host waits for its end."""
        busy = np.zeros(len(self.events), bool)
        own = [launch.row for launch in self.launches.values() if launch.program.device == "cpu"]
        busy[own] = True
        away = [k for k, track in enumerate(self.tracks) if track.device.startswith("cuda")]
        return busy | np.isin(self.events["track"], away)

    def _threads(self) -> int:
        """Threads of the largest pool that was used."""
        own = [x.program for x in self.launches.values() if x.program.device == "cpu"]
        return max((program.pool.threads for program in own), default=1)

    def pages(self) -> dict[int, ProgramPage]:
        """What there is to see of each program, for the first who called it."""
        found: dict[int, ProgramPage] = {}
        for launch in self.launches.values():
            if launch.program.number not in found:
                rows = launch.program.rows(launch.caller.sites)
                page = page_of(launch.program, launch.caller.sites, [name_of(row) for row in rows])
                found[launch.program.number] = page
        return found

    # ---- all of it

    def recording(self) -> Recording:
        """Events by time."""
        whole = self.began, self.ended
        idle = gaps(self.events, self._busy(), whole, self.names.of, self.track)
        events = np.concatenate([self.events, idle])
        order = np.lexsort((-events["end"], events["start"]))
        place = np.empty(len(order) + 1, np.int32)
        place[order] = np.arange(len(order))
        place[-1] = -1
        events = events[order]
        events["parent"] = place[events["parent"]]
        callers = {int(place[x.row]): x.caller.sites for x in self.launches.values()}
        flows = np.concatenate([_flows(events), self.ops.flows(events, place, callers)])
        return Recording(
            events, self.tracks, self.names.all, self.details, lost=self.lost, facts=facts(),
            flows=flows, threads=self._threads(),
        )  # fmt: skip


def _track_name(device: str, thread: Thread | int) -> str:
    if isinstance(thread, int):  # the one stream of a device, or idle times
        return device
    return thread.name if device == "python" else f"{device} 0 ({thread.name})"


def _nest(events: np.ndarray[Any, Any]) -> None:
    """Find the event that each one lies in; events of a thread lie in each other or apart."""
    order = np.lexsort((-events["end"], events["start"], events["track"]))
    open_: list[int] = []
    track = -1
    tracks, ends = events["track"].tolist(), events["end"].tolist()
    parents = [-1] * len(ends)
    for k in order.tolist():
        if tracks[k] != track:
            track, open_ = tracks[k], []
        while open_ and ends[open_[-1]] < ends[k]:
            open_.pop()
        if open_:
            parents[k] = open_[-1]
        open_.append(k)
    events["parent"] = parents


def _flows(events: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """From a launch to the first event of each kernel on each track."""
    rows = np.flatnonzero((events["kind"] == Kind.KERNEL) & (events["parent"] >= 0))
    flows = np.empty(len(rows), FLOW)
    flows["source"], flows["target"] = events["parent"][rows], rows
    return flows


def detail_of(row: KernelRow, program: int, scope: str = "") -> Detail:
    """The facts of a kernel; scope: spans around those that its ops were recorded in."""
    parts = _parts(row, scope)
    return Detail(
        program, row.number, row.kind, (*row.calls, *row.ops), row.sites,
        _largest((part.module, part.share) for part in parts if part.module),
        next(iter(_largest((part.phase, part.share) for part in parts)), FORWARD),
        int(row.flops), row.bytes_read, row.bytes_written, sum(row.blocks), row.reason, parts,
        row.dtype,
    )  # fmt: skip


def _parts(row: KernelRow, scope: str) -> tuple[Part, ...]:
    return tuple([
        Part(
            site.line, site.module, site.phase or FORWARD, op, share,
            "/".join(filter(None, (scope, site.scope))),
        )
        for site, op, share in row.shares
    ])  # fmt: skip


def _largest(pairs: Iterable[tuple[str, float]]) -> tuple[str, ...]:
    """Texts by the sum of their shares."""
    total: dict[str, float] = {}
    for text, share in pairs:
        total[text] = total.get(text, 0.0) + share
    return tuple(sorted(total, key=lambda text: -total[text]))
