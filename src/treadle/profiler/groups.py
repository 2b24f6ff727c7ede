"""Sums over events: whose time a moment is when several kernels run, and what a line adds up to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from treadle.base.watch import Kind
from treadle.profiler.gaps import FEW, merged, own_times, unshared
from treadle.profiler.recording import Recording

Array = np.ndarray[Any, Any]
Kernel = tuple[int, int]
"""The program that it belongs to, and its number there: callers of a program share its kernels."""

GIGA = 1e9
NOWHERE = "(no line)"
NO_MODULE = "(no module)"
NO_SPAN = "(no span)"


class Group(NamedTuple):
    """What events of one name come to, in nanoseconds, bytes and flops."""

    name: str
    time: float  # of kernels: each its share of a moment; of others: when at least one ran
    own: float  # without what lies in other events
    runs: int
    kernels: tuple[str, ...]  # their names, each once
    flops: float
    nbytes: float
    ideal: float  # nanoseconds at the machine's limit
    distinct: int = 0  # kernels, of which several may have one name

    @property
    def roofline(self) -> float:
        """The part of the limit that was reached; 0 where no limit is known."""
        return self.ideal / self.time if self.time > 0 else 0.0


PARTS: dict[str, Callable[[Any], str]] = {
    "line": lambda part: part.line or NOWHERE,
    "op": lambda part: part.op,
    "module": lambda part: part.module or NO_MODULE,
    "phase": lambda part: part.phase,
    "scope": lambda part: part.scope or NO_SPAN,
}
KINDS = {
    "stage": Kind.STAGE, "span": Kind.SPAN, "recorded": Kind.OP, "realize": Kind.REALIZE,
    "gap": Kind.GAP,
}  # fmt: skip
KEYS = (*PARTS, "kernel", "thread", "program", *KINDS)


def exclusive(start: Array, end: Array) -> Array:
    """Nanoseconds of each event, of which several at one moment share that moment.

    They sum to the time in which at least one was under way.
    """
    if not len(start):
        return np.zeros(0)
    edges = np.concatenate([start, end])
    change = np.concatenate([np.ones(len(start)), -np.ones(len(end))])
    order = np.argsort(edges, kind="stable")
    edges, running = edges[order], np.cumsum(change[order])
    lengths = np.diff(edges) / np.maximum(running[:-1], 1.0)
    so_far = np.concatenate([[0.0], np.cumsum(lengths)])
    return so_far[np.searchsorted(edges, end)] - so_far[np.searchsorted(edges, start)]


class Costs:
    """Time, flops, bytes and the limit of each of some KERNEL events."""

    def __init__(self, recording: Recording, rows: Array) -> None:
        self.recording, events = recording, recording.events[rows]
        self.rows, self.detail = rows, events["detail"]
        self.time = np.zeros(len(rows))
        devices = np.array([track.device for track in recording.tracks])[events["track"]]
        for device in np.unique(devices):
            mine = devices == device
            self.time[mine] = exclusive(events["start"][mine], events["end"][mine])
        run = events["parent"].astype(np.int64) * (len(recording.details) + 1) + events["detail"]
        _, which, count = np.unique(run, return_inverse=True, return_counts=True)
        once = 1.0 / count[which]  # events of one run share its flops
        known = [(d.flops, d.bytes_read + d.bytes_written) for d in recording.details]
        table = np.array(known, np.float64).reshape(-1, 2)
        self.runs = once
        self.flops = table[self.detail, 0] * once
        self.nbytes = table[self.detail, 1] * once
        self.ideal = np.zeros(len(rows))
        for device in dict.fromkeys(devices):
            mine = devices == device
            if device in recording.ceilings:
                width, paces = recording.ceilings[device][0], _paces(recording, device)
                moving, computing = self.nbytes / width, self.flops / paces[self.detail]
                self.ideal[mine] = np.maximum(moving, computing)[mine] * GIGA

    def by_detail(self) -> dict[int, Array]:
        """Sums (time, runs, flops, bytes, ideal) of each detail."""
        size = len(self.recording.details)
        columns = (self.time, self.runs, self.flops, self.nbytes, self.ideal)
        sums = np.stack([np.bincount(self.detail, x, size) for x in columns], 1)
        return {int(k): sums[k] for k in np.unique(self.detail)}


def _paces(recording: Recording, device: str) -> Array:
    """Flops per second of a device in the dtype of each detail."""
    known, plain = recording.ceilings, recording.ceilings[device]
    return np.array([known.get(f"{device} {d.dtype}", plain)[1] for d in recording.details])


def grouped(found: Recording, rows: Array, key: str) -> list[Group]:
    """Groups of some rows, the largest first."""
    kinds = found.events["kind"][rows]
    if key in KINDS:
        groups = _by_name(found, rows[kinds == KINDS[key]])
        if key == "gap":
            groups += _idle_threads(found, rows)
    elif key == "thread":
        groups = _by_thread(found, rows[kinds == Kind.KERNEL])
    else:
        kernels = rows[kinds == Kind.KERNEL]
        costs = Costs(found, kernels[found.events["detail"][kernels] >= 0])
        groups = _by_kernel(costs) if key == "kernel" else _by_part(costs, key)
    return sorted(groups, key=lambda group: -group.time)


def _by_part(costs: Costs, key: str) -> list[Group]:
    """Kernels under the lines, ops, modules or spans they are made of."""
    sums: dict[str, Array] = {}
    kernels: dict[str, dict[Kernel, str]] = {}
    found, names = costs.recording, _names(costs)
    for number, total in costs.by_detail().items():
        detail = found.details[number]
        if key == "program":
            shares = {f"program {detail.program}": 1.0}
        else:
            shares = {}
            for part in detail.parts:
                text = PARTS[key](part)
                shares[text] = shares.get(text, 0.0) + part.share
        for text, share in shares.items():
            weights = np.array([share, 1.0, share, share, share])
            sums[text] = sums.get(text, np.zeros(5)) + total * weights
            kernels.setdefault(text, {})[detail.program, detail.entry] = names[number]
    return [_group(text, total, kernels[text]) for text, total in sums.items()]


def _names(costs: Costs) -> dict[int, str]:
    """The name of each detail's kernel."""
    events, texts = costs.recording.events[costs.rows], costs.recording.names
    return {int(d): texts[n] for d, n in zip(events["detail"], events["name"], strict=True)}


def _by_kernel(costs: Costs) -> list[Group]:
    sums: dict[str, Array] = {}
    kernels: dict[str, dict[Kernel, str]] = {}
    names = _names(costs)
    for number, total in costs.by_detail().items():
        name, detail = names[number], costs.recording.details[number]
        sums[name] = sums.get(name, np.zeros(5)) + total
        kernels.setdefault(name, {})[detail.program, detail.entry] = name
    return [_group(name, total, kernels[name]) for name, total in sums.items()]


def _group(name: str, total: Array, kernels: dict[Kernel, str]) -> Group:
    time, runs, flops, nbytes, ideal = total.tolist()
    names = tuple(dict.fromkeys(kernels.values()))
    return Group(name, time, time, round(runs), names, flops, nbytes, ideal, len(kernels))


def self_times(recording: Recording) -> Array:
    """Nanoseconds of each event in which no other one lay; kernels lie in none."""
    return own_times(recording.events, (Kind.KERNEL, Kind.GAP))


def _by_name(found: Recording, rows: Array) -> list[Group]:
    """Spans of a name: time in at least one of them, and time in them alone."""
    own = self_times(found)
    names = found.events["name"][rows]
    groups = []
    for number in np.unique(names).tolist():
        mine = rows[names == number]
        total = float(covering(found.events[mine]))
        alone = min(total, float(own[mine].sum()))  # those of a name may run side by side
        groups.append(Group(found.names[number], total, alone, len(mine), (), 0.0, 0.0, 0.0))
    return groups


def _idle_threads(found: Recording, rows: Array) -> list[Group]:
    """What the host's threads lost for want of blocks, as one group."""
    own = [k for k, track in enumerate(found.tracks) if track.device == "cpu"]
    if not own or found.threads < 2:
        return []
    kernels = found.events[rows[np.isin(found.events["track"][rows], own)]]
    calls = found.events[np.unique(kernels["parent"])]
    lost = unshared(calls, kernels, found.threads)
    return [Group(FEW, lost, lost, len(calls), (), 0.0, 0.0, 0.0)]


def _by_thread(found: Recording, rows: Array) -> list[Group]:
    """How long each thread ran kernels."""
    groups = []
    for number in np.unique(found.events["track"][rows]).tolist():
        mine = found.events[rows[found.events["track"][rows] == number]]
        spent = covering(mine)
        name = found.tracks[number].name
        groups.append(Group(name, spent, spent, len(mine), (), 0.0, 0.0, 0.0))
    return groups


def covering(events: Array) -> int:
    """Nanoseconds in which at least one of some events was under way."""
    spans = merged(events)
    return int((spans[:, 1] - spans[:, 0]).sum())
