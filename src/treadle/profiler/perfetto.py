"""A recording as a Perfetto trace: protobuf by an encoder of our own, with interning.

Every lane is a sequence of packets of its own, so that names have short numbers there, times are
differences to the packet before, and the track is said once. A slice takes 28 bytes, a kernel
three more: its line and facts are a source location, which all events of it share.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from treadle.logs.records import block, varint, whole
from treadle.profiler.arrows import arrows_of
from treadle.profiler.facts import facts_line
from treadle.profiler.lanes import Lane, lanes_of
from treadle.profiler.messages import FIXED64, Messages
from treadle.profiler.recording import Counter, Detail, Kind, Recording
from treadle.profiler.tree import Place, Tree, tree_of

Ints = np.ndarray[Any, np.dtype[np.int64]]

# Numbers of fields, as the public schema has them.
PACKET = 1
TIMESTAMP, SEQUENCE, TRACK_EVENT, INTERNED, FLAGS = 8, 10, 11, 12, 13
CLOCKS, STATS, SYSTEM, DEFAULTS, DESCRIPTOR = 6, 35, 45, 59, 60
TYPE, NAME, TRACK, CATEGORY, ANNOTATION, SITE = 9, 10, 11, 3, 4, 34
COUNTER_VALUE, FLOW, FLOW_END = 44, 47, 48
CATEGORIES, NAMES, SITES = 1, 2, 4

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDED = 1, 2  # flags: the sequence starts anew; the packet needs what was said before
BOOT_TIME, OWN_CLOCK = 6, 64
BYTES = 3  # the unit of a counter
EXPLICIT = 3  # children are ordered by their rank
CHUNK = 1 << 16  # packets that are encoded at once


def perfetto_parts(recording: Recording) -> Iterator[bytes]:
    """The file, in parts."""
    tree = tree_of(recording)
    lanes = list(lanes_of(recording))
    places = tree.add_lanes(recording, lanes)
    counters = tree.add_counters(recording)
    yield b"".join(_described(place) for place in tree.places)
    began = min((int(lane.times[0]) for lane in lanes if len(lane.times)), default=0)
    yield _about(recording, tree, began)
    flows = _Flows(recording)
    for sequence, (lane, place) in enumerate(zip(lanes, places, strict=True), 2):
        yield from _lane_parts(recording, lane, place.number, sequence, flows)
    for sequence, (counter, place) in enumerate(counters, 2 + len(lanes)):
        if len(counter.times):
            yield _counter_part(counter, place.number, sequence)


# ---- what stands at the front


def _packet(content: bytes) -> bytes:
    return block(PACKET, content)


def _described(place: Place) -> bytes:
    """A track: where it hangs, what it is called."""
    found = whole(1, place.number) + block(2, place.name)
    if place.parent:
        found += whole(5, place.parent)
    if place.process is not None:
        found += block(3, whole(1, place.process) + block(6, place.name))
    if place.unit is not None:
        unit = whole(3, BYTES) if place.unit in {"B", "bytes"} else block(6, place.unit)
        found += block(8, unit)
    found += whole(11, EXPLICIT) + whole(12, place.number)
    return _packet(whole(SEQUENCE, 1) + block(DESCRIPTOR, found))


def _about(recording: Recording, tree: Tree, began: int) -> bytes:
    """Machine, versions, and how much was lost."""
    system = platform.uname()
    words = (system.system, system.version, system.release, system.machine)
    names = b"".join(block(k, word) for k, word in enumerate(words, 1))
    parts = [_packet(whole(SEQUENCE, 1) + block(SYSTEM, block(1, names)))]
    facts = recording.facts | {"events lost": str(recording.lost)}
    event = whole(TYPE, INSTANT) + whole(TRACK, tree.places[0].number) + block(23, "recording")
    for name, value in facts.items():
        event += block(ANNOTATION, block(10, name) + block(6, value))
    head = whole(TIMESTAMP, began) + whole(SEQUENCE, 1)
    parts.append(_packet(head + block(TRACK_EVENT, event)))
    if recording.lost:
        parts.append(
            _packet(whole(SEQUENCE, 1) + block(STATS, block(1, whole(19, recording.lost))))
        )
    return b"".join(parts)


def _start(sequence: int, track: int, began: int, interned: bytes) -> bytes:
    """The first packet of a sequence: its clock, its track, its names."""
    own = whole(1, OWN_CLOCK) + whole(2, began) + whole(3, 1)
    clocks = block(1, own) + block(1, whole(1, BOOT_TIME) + whole(2, began))
    defaults = whole(58, OWN_CLOCK) + block(11, whole(TRACK, track))
    return _packet(
        whole(SEQUENCE, sequence) + whole(FLAGS, CLEARED) + block(CLOCKS, clocks)
        + block(DEFAULTS, defaults) + block(INTERNED, interned)
    )  # fmt: skip


# ---- slices


class _Numbers:
    """Short numbers for what a lane uses of a table, the commonest first; 0 is for none."""

    def __init__(self, used: Ints) -> None:
        values, counts = np.unique(used[used >= 0], return_counts=True)
        self.values: list[int] = values[np.argsort(-counts, kind="stable")].tolist()
        self.of = np.zeros(max(self.values, default=-1) + 2, np.int64)  # [-1] is 0
        self.of[self.values] = np.arange(1, len(self.values) + 1)

    def texts(self, field: int, table: Sequence[str]) -> bytes:
        """The table as interned texts."""
        return b"".join(
            block(field, whole(1, k) + block(2, table[value]))
            for k, value in enumerate(self.values, 1)
        )


class _Flows:
    """Arrows by the row at either end, each end as the ten bytes of a field."""

    def __init__(self, recording: Recording) -> None:
        arrows = arrows_of(recording)
        ends = np.concatenate([arrows["source"], arrows["target"]])
        number = np.tile(np.arange(1, len(arrows) + 1), 2)
        fields = np.empty((len(ends), 10), np.uint8)
        half = len(ends) // 2
        for rows, field in ((slice(half), FLOW), (slice(half, None), FLOW_END)):
            fields[rows, :2] = np.frombuffer(varint(field << 3 | FIXED64), np.uint8)
        fields[:, 2:] = number.astype("<u8").view(np.uint8).reshape(-1, 8)
        order = np.argsort(ends, kind="stable")
        self.fields = fields[order]
        self.first = np.searchsorted(ends[order], np.arange(len(recording.events) + 1))

    def of(self, rows: Ints, opens: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[Any, Ints]:
        """The bytes for some packets one after the other, and how many for each."""
        first = self.first[rows]
        counts = np.where(opens, self.first[rows + 1] - first, 0)
        total = int(counts.sum())
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.fields[np.repeat(first, counts) + within].ravel(), counts * 10


def _lane_parts(
    recording: Recording, lane: Lane, track: int, sequence: int, flows: _Flows
) -> Iterator[bytes]:
    """The packets of a lane: what its numbers mean, then all that begins and ends."""
    rows = recording.events[lane.rows]
    names, kinds = _Numbers(rows["name"].astype(np.int64)), rows["kind"].astype(np.int64)
    details = _Numbers(rows["detail"].astype(np.int64))
    interned = names.texts(NAMES, recording.names) + b"".join(
        block(CATEGORIES, whole(1, kind + 1) + block(2, kind.name.lower())) for kind in Kind
    )
    for number, value in enumerate(details.values, 1):
        interned += block(SITES, whole(1, number) + _site(recording.details[value]))
    yield _start(sequence, track, int(lane.times[0]), interned)
    steps = np.diff(lane.times, prepend=lane.times[:1])
    for at in range(0, len(lane.rows), CHUNK):
        part = slice(at, at + CHUNK)
        opens, row = lane.opens[part], rows[part]
        detail = details.of[row["detail"]]
        event = Messages(len(opens)).whole(TYPE, np.where(opens, BEGIN, END))
        event.whole(CATEGORY, kinds[part] + 1, opens)
        event.whole(NAME, names.of[row["name"]], opens)
        event.whole(SITE, detail, opens & (detail > 0))
        tails, more = flows.of(lane.rows[part], opens)
        packet = Messages(len(opens)).whole(TIMESTAMP, steps[part])
        packet.whole(SEQUENCE, sequence).whole(FLAGS, NEEDED).block(TRACK_EVENT, event, more)
        yield packet.framed(PACKET, more).joined(tails, more)


def _site(detail: Detail) -> bytes:
    """The first line of a kernel, and in the place of a function's name what it is."""
    file, _, line = (detail.sites[0] if detail.sites else "").rpartition(":")
    place = block(2, file) + whole(4, int(line)) if line.isdecimal() else b""
    return place + block(3, facts_line(detail))


def _counter_part(counter: Counter, track: int, sequence: int) -> bytes:
    """A counter: its values at their times."""
    steps = np.diff(counter.times, prepend=counter.times[:1])
    event = Messages(len(steps)).whole(TYPE, COUNTER).double(COUNTER_VALUE, counter.values)
    packet = Messages(len(steps)).whole(TIMESTAMP, steps)
    packet.whole(SEQUENCE, sequence).whole(FLAGS, NEEDED).block(TRACK_EVENT, event)
    start = _start(sequence, track, int(counter.times[0]), b"")
    return start + packet.framed(PACKET).joined()
