"""A recording as Chrome's trace events: JSON that chrome://tracing and most viewers read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from treadle.profiler.arrows import arrows_of
from treadle.profiler.facts import facts_table
from treadle.profiler.lanes import Lane, lanes_of
from treadle.profiler.recording import Counter, Kind, Recording
from treadle.profiler.tree import Place, Tree, tree_of

LINES = 1 << 14  # that are joined at once


def chrome_parts(recording: Recording) -> Iterator[bytes]:
    """The file, in parts: an object with one event a line."""
    tree = tree_of(recording)
    lanes = list(lanes_of(recording))
    places = tree.add_lanes(recording, lanes)
    counters = tree.add_counters(recording)
    about = recording.facts | {"events lost": recording.lost}
    head = {"displayTimeUnit": "ns", "otherData": about}
    yield (json.dumps(head)[:-1] + ', "traceEvents": [\n').encode()
    waiting = list(_names(tree))
    slices = _Slices(recording)
    for lane, place in zip(lanes, places, strict=True):
        waiting += slices.lines(lane, place)
        while len(waiting) > LINES:
            yield (",\n".join(waiting[:LINES]) + ",\n").encode()
            del waiting[:LINES]
    waiting += _arrows(recording, slices)
    for counter, place in counters:
        waiting += _values(counter, place)
    yield (",\n".join(waiting) + "\n]}\n").encode()


def _names(tree: Tree) -> Iterator[str]:
    """What processes and threads are called: Chrome has two levels, so a device is a process."""
    for place in tree.places:
        above = next((p for p in tree.places if p.number == place.parent), None)
        if above is not None and above.process is not None and place.unit is None:
            name = f"{above.name}: {place.name}"
            yield _meta("process_name", place.number, 0, {"name": name})
            yield _meta("process_sort_index", place.number, 0, {"sort_index": place.number})
        elif above is not None and place.unit is None:
            yield _meta("thread_name", above.number, place.number, {"name": place.name})
            yield _meta("thread_sort_index", above.number, place.number,
                        {"sort_index": place.number})  # fmt: skip


def _meta(name: str, process: int, thread: int, given: dict[str, Any]) -> str:
    return json.dumps({"ph": "M", "name": name, "pid": process, "tid": thread, "args": given})


class _Slices:
    """Slices as lines; texts that many share are written once. Remembers who lies where."""

    def __init__(self, recording: Recording) -> None:
        self.events = recording.events
        self.names = [json.dumps(name) for name in recording.names]
        self.kinds = [kind.name.lower() for kind in Kind]
        facts = [json.dumps(facts_table(detail)) for detail in recording.details]
        self.facts = [*(f',"args":{text}' for text in facts), ""]  # [-1] is of no detail
        self.places = np.zeros((len(recording.events), 2), np.int64)

    def lines(self, lane: Lane, place: Place) -> list[str]:
        """One for each slice of a lane."""
        rows = lane.rows[lane.opens]
        self.places[rows] = place.parent, place.number
        events = self.events[rows]
        ids = f'{{"ph":"X","pid":{place.parent},"tid":{place.number},"name":'
        columns = (
            events["name"].tolist(), events["kind"].tolist(), events["detail"].tolist(),
            events["start"].tolist(), np.maximum(events["end"] - events["start"], 0).tolist(),
        )  # fmt: skip
        return [
            f'{ids}{self.names[name]},"cat":"{self.kinds[kind]}","ts":{start / 1000:.3f},'
            f'"dur":{lasts / 1000:.3f}{self.facts[detail]}}}'
            for name, kind, detail, start, lasts in zip(*columns, strict=True)
        ]


def _arrows(recording: Recording, slices: _Slices) -> Iterator[str]:
    """An arrow is a pair of events, bound to the slices that they lie in."""
    start, kind = recording.events["start"], recording.events["kind"]
    for number, (source, target) in enumerate(arrows_of(recording).tolist(), 1):
        name = "op" if kind[source] == Kind.OP else "launch"
        yield _arrow_end('"s"', name, number, slices.places[source], start[source])
        yield _arrow_end('"f","bp":"e"', name, number, slices.places[target], start[target])


def _arrow_end(phase: str, name: str, number: int, place: Any, at: int) -> str:
    return (
        f'{{"ph":{phase},"id":{number},"pid":{place[0]},"tid":{place[1]},"name":"{name}",'
        f'"cat":"flow","ts":{at / 1000:.3f}}}'
    )


def _values(counter: Counter, place: Place) -> Iterator[str]:
    """The values of a counter; its unit stands in its name."""
    name = json.dumps(f"{counter.name} ({counter.unit})")
    for at, value in zip(counter.times.tolist(), counter.values.tolist(), strict=True):
        yield (
            f'{{"ph":"C","pid":{place.parent},"tid":0,"name":{name},"ts":{at / 1000:.3f},'
            f'"args":{{"value":{json.dumps(value)}}}}}'
        )
