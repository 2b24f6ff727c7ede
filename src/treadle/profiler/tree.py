"""The tree of tracks in a trace: process, device, thread or stream; lanes and counters below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from treadle.profiler.lanes import Lane
from treadle.profiler.rates import all_counters
from treadle.profiler.recording import Counter, Recording


@dataclass
class Place:
    """A node of the tree; its number is its rank, and parents come before children."""

    number: int
    parent: int  # 0: none
    name: str
    process: int | None = None
    unit: str | None = None


@dataclass
class Tree:
    """All places; the first is a process."""

    places: list[Place] = field(default_factory=list)
    processes: dict[int, Place] = field(default_factory=dict)
    devices: dict[tuple[int, str], Place] = field(default_factory=dict)

    def add(
        self, parent: int, name: str, process: int | None = None, unit: str | None = None
    ) -> Place:
        """A new place below another."""
        self.places.append(Place(len(self.places) + 1, parent, name, process, unit))
        return self.places[-1]

    def add_lanes(self, recording: Recording, lanes: Sequence[Lane]) -> list[Place]:
        """A place for each lane, below its device."""
        found = []
        for lane in lanes:
            track = recording.tracks[lane.track]
            device = self.devices[track.process, track.device]
            name = f"{track.name}, lane {lane.number + 1}" if lane.number else track.name
            found.append(self.add(device.number, name))
        return found

    def add_counters(self, recording: Recording) -> list[tuple[Counter, Place]]:
        """A place for each counter, recorded or counted from kernels, below the first process."""
        first = self.places[0].number
        return [
            (counter, self.add(first, counter.name, unit=counter.unit))
            for counter in all_counters(recording)
        ]


def tree_of(recording: Recording) -> Tree:
    """Processes and their devices: Python before what computes."""
    tree = Tree()
    tracks = sorted(recording.tracks, key=lambda t: (t.process, t.device != "python", t.device))
    for track in tracks:
        if track.process not in tree.processes:
            name = f"process {track.process}"
            tree.processes[track.process] = tree.add(0, name, process=track.process)
        owner = tree.processes[track.process].number
        if (track.process, track.device) not in tree.devices:
            tree.devices[track.process, track.device] = tree.add(owner, track.device)
    if not tree.places:
        tree.add(0, "process", process=0)
    return tree
