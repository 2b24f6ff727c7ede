"""A recording as stacks of names: folded lines for flame graphs, and speedscope's JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from treadle.profiler.gaps import own_times
from treadle.profiler.lanes import lanes_of
from treadle.profiler.recording import Kind, Recording

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def folded_parts(recording: Recording) -> Iterator[bytes]:
    """`outer;inner nanoseconds` lines: time of each stack less the time of what lies in it.

    A kernel stands below what launched it, and threads that ran it together add up. Idle times
    are left out: what went on in them is here already.
    """
    stacks, of_event = _stacks(recording)
    own = np.where(recording.events["kind"] == Kind.GAP, 0, own_times(recording.events))
    times = np.bincount(of_event, own, len(stacks)).astype(np.int64)
    lines = [
        f"{text} {time}"
        for text, time in sorted(zip(stacks, times.tolist(), strict=True))
        if time > 0
    ]
    yield "".join(f"{line}\n" for line in lines).encode()


def _stacks(recording: Recording) -> tuple[list[str], list[int]]:
    """Every stack as text, and the number of each event's."""
    names = [" ".join(name.replace(";", ",").split()) or "?" for name in recording.names]
    numbers: dict[tuple[int, int], int] = {}
    texts: list[str] = []
    found = [-1] * len(recording.events)
    parents, own = recording.events["parent"].tolist(), recording.events["name"].tolist()
    for row in range(len(found)):
        above = row
        path = []
        while above >= 0 and found[above] < 0:  # as a rule a parent comes first
            path.append(above)
            above = parents[above]
        stack = found[above] if above >= 0 else -1
        for below in reversed(path):
            key = (stack, own[below])
            if key not in numbers:
                numbers[key] = len(texts)
                texts.append(f"{texts[stack]};{names[key[1]]}" if stack >= 0 else names[key[1]])
            stack = found[below] = numbers[key]
    return texts, found


def speedscope_parts(recording: Recording) -> Iterator[bytes]:
    """A profile for each lane, of what opens and closes."""
    frames = [{"name": name} for name in recording.names]
    head = {"$schema": SCHEMA, "exporter": "treadle", "name": "treadle",
            "shared": {"frames": frames}}  # fmt: skip
    yield (json.dumps(head)[:-1] + ', "profiles": [').encode()
    between = "\n"
    for lane in lanes_of(recording):
        track = recording.tracks[lane.track]
        name = f"{track.device}: {track.name}" + (f", lane {lane.number + 1}" * (lane.number > 0))
        began, ended = int(lane.times[0]), int(lane.times[-1])
        about = {"type": "evented", "name": name, "unit": "nanoseconds",
                 "startValue": began, "endValue": ended}  # fmt: skip
        brackets = zip(lane.opens.tolist(), recording.events["name"][lane.rows].tolist(),
                       lane.times.tolist(), strict=True)  # fmt: skip
        text = ",\n".join(
            f'{{"type":"{"O" if opens else "C"}","frame":{frame},"at":{at}}}'
            for opens, frame, at in brackets
        )
        yield f'{between}{json.dumps(about)[:-1]}, "events": [\n{text}]}}'.encode()
        between = ",\n"
    yield b"]}\n"
