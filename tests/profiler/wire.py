"""What a Perfetto file says, read as slowly and plainly as can be.

A message is a dict from the number of a field to the list of its values. The bytes are read here
by the wire format alone; tests/peers reads them by the public schema into the same dicts.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

MESSAGES = {  # numbers of fields that hold messages, by what they are in
    "packet": {6: "clocks", 11: "event", 12: "interned", 35: "stats", 45: "system",
               59: "defaults", 60: "track"},
    "clocks": {1: "clock"}, "defaults": {11: "event"}, "event": {4: "note"},
    "interned": {1: "text", 2: "text", 4: "site"},
    "track": {3: "process", 8: "counter"}, "stats": {1: "buffer"}, "system": {1: "names"},
}  # fmt: skip


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data: bytes, what: str) -> dict[int, list]:
    """A message from its bytes."""
    found: dict[int, list] = {}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, form = tag >> 3, tag & 7
        if form == 0:
            value, at = varint(data, at)
        elif form == 1:
            raw = data[at : at + 8]
            value, at = (struct.unpack("<d" if number == 44 else "<Q", raw)[0]), at + 8
        else:
            assert form == 2, (what, number, form)
            size, at = varint(data, at)
            inner = MESSAGES.get(what, {}).get(number)
            raw = data[at : at + size]
            assert len(raw) == size
            value, at = (fields(raw, inner) if inner else raw.decode()), at + size
        found.setdefault(number, []).append(value)
    return found


def packets_of(data: bytes) -> list[dict[int, list]]:
    """The packets of a file."""
    at, found = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        assert tag == 0x0A
        size, at = varint(data, at)
        found.append(fields(data[at : at + size], "packet"))
        at += size
    return found


@dataclass
class Slice:
    """One slice as a viewer shows it."""

    track: tuple[str, ...]
    name: str
    category: str
    start: int
    end: int = -1
    depth: int = 0
    facts: str = ""
    line: str = ""
    starts_flows: list[int] = field(default_factory=list)
    ends_flows: list[int] = field(default_factory=list)


@dataclass
class Shown:
    """All that a viewer shows."""

    slices: list[Slice] = field(default_factory=list)
    counters: dict[tuple[str, ...], list[tuple[int, float]]] = field(default_factory=dict)
    instants: list[dict] = field(default_factory=list)
    units: dict[str, object] = field(default_factory=dict)
    lost: int = 0


def replay(packets: list[dict[int, list]]) -> Shown:
    """Go through packets as the format's documentation says: clocks, interning, brackets."""
    shown, tracks, states = Shown(), {}, {}
    for packet in packets:
        if 60 in packet:
            track = packet[60][0]
            above = tracks[track[5][0]] if 5 in track else ()
            tracks[track[1][0]] = (*above, track[2][0])
            if 8 in track:
                shown.units[track[2][0]] = track[8][0].get(6, track[8][0].get(3))[0]
        elif 35 in packet:
            shown.lost = packet[35][0][1][0][19][0]
        elif 6 in packet:
            assert packet[13] == [1]  # it starts anew
            state = states[packet[10][0]] = {"open": [], "tables": {}}
            own, boot = packet[6][0][1]
            assert own[3] == [1]  # each time is a difference
            assert own[2] == boot[2]
            assert own[1] == packet[59][0][58]  # the clock that is named is the one in use
            state["now"], state["track"] = own[2][0], packet[59][0][11][0][11][0]
            for number, entries in packet.get(12, [{}])[0].items():
                state["tables"][number] = {entry[1][0]: entry for entry in entries}
        elif 11 in packet:
            _event(packet, tracks, states, shown)
    assert not [state for state in states.values() if state["open"]]
    return shown


def _event(packet: dict, tracks: dict, states: dict, shown: Shown) -> None:
    event = packet[11][0]
    kind = event[9][0]
    if kind == 3:
        notes = {note[10][0]: note[6][0] for note in event[4]}
        shown.instants.append({"at": packet[8][0], "track": tracks[event[11][0]], **notes})
        return
    assert packet[13] == [2]  # needs what was said before
    state = states[packet[10][0]]
    state["now"] += packet[8][0]
    track, tables = tracks[state["track"]], state["tables"]
    if kind == 4:
        shown.counters.setdefault(track, []).append((state["now"], event[44][0]))
    elif kind == 1:
        name, category = tables[2][event[10][0]][2][0], tables[1][event[3][0]][2][0]
        site = tables[4][event[34][0]] if 34 in event else {2: [""], 3: [""], 4: [0]}
        found = Slice(track, name, category, state["now"], depth=len(state["open"]))
        found.facts, found.line = site[3][0], f"{site[2][0]}:{site[4][0]}"
        found.starts_flows, found.ends_flows = event.get(47, []), event.get(48, [])
        state["open"].append(found)
        shown.slices.append(found)
    else:
        assert kind == 2
        state["open"].pop().end = state["now"]
