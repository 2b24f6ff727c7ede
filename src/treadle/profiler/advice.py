"""The few things most worth changing, each with what was seen of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from os.path import basename
from typing import Any, NamedTuple

import numpy as np

from treadle.base.watch import AGAIN, Kind
from treadle.profiler.events import Event, Events
from treadle.profiler.gaps import CAUSES, PYTHON, SHORTEST, merged, within
from treadle.profiler.groups import NOWHERE, Costs, Group
from treadle.profiler.recording import Detail

OFTEN = 3  # times: what is seen less often is no loop
LEAST = 0.01  # of the whole time: less is not worth a word
SLOW = 0.3  # of the limit
READERS = ("item", "numpy", "tolist", "__float__", "__int__", "__bool__", "__repr__", "__index__")
SIZES = re.compile(r": \([\d, ]*\) → \([\d, ]*\)")  # in reasons to trace again
WORKERS = re.compile(r", (\d+) workers")  # in names of waiting for a batch
APART = ("reduc", "more than one", "wait")  # in reasons for which a kernel stands alone

Rows = np.ndarray[Any, np.dtype[np.int64]]


class Advice(NamedTuple):
    """Something to change: what it may save, in nanoseconds at most, and the evidence."""

    saves: float
    what: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.what}\n    up to {self.saves / 1e6:.2f} ms: {self.evidence}"


class AdviceList(list[Advice]):
    """Print it to read it."""

    def __str__(self) -> str:
        if not self:
            return "nothing stands out"
        return "\n".join(f"{k}. {advice}" for k, advice in enumerate(self, 1))

    __repr__ = __str__


def advice(events: Events, duration: int, most: int = 3) -> AdviceList:
    """The largest first."""
    rules: tuple[Callable[[Events], Iterable[Advice]], ...] = (
        _reads, _compiles, _waits, _copies, _apart, _few, _slow,
    )  # fmt: skip
    found = [x for rule in rules for x in rule(events) if x.saves >= LEAST * duration]
    return AdviceList(sorted(found, key=lambda x: -x.saves)[:most])


def _reads(events: Events) -> Iterator[Advice]:
    """Values read again and again from a GPU: what could have been launched meanwhile was not.

    On the host a program runs while it is launched, so that to wait for its values costs nothing.
    """
    for group, idle in _starved(events):
        yield Advice(
            _time(events, idle), f"read values less often than at each step: {group.name}",
            f"{group.runs} times something was computed because it was asked for there, and "
            "the GPU had nothing to do until Python went on",
        )  # fmt: skip


def _starved(events: Events) -> Iterator[tuple[Group, Rows]]:
    """What reads values in a loop, with the rows of the gaps after it on a GPU: each gap once."""
    found, tracks = events.recording.events, events.recording.tracks
    away = [k for k, track in enumerate(tracks) if track.device.startswith("cuda")]
    ended = found["end"][(found["kind"] == Kind.KERNEL) & np.isin(found["track"], away)]
    launched = np.sort(found["start"][found["kind"] == Kind.CALL])
    left = _python_gaps(events)
    left = left[np.isin(found["start"][left], ended)]
    if not len(launched) or not len(left):
        return
    for group in events.group_by("realize"):
        if group.runs >= OFTEN and group.name.partition("(")[0] in READERS:
            named = events.filter(partial(_is_named, group.name), kind=Kind.REALIZE).array
            before = np.searchsorted(launched, found["start"][left], "right") - 1
            near = within(merged(named), launched[before])  # nothing was launched since
            yield group, left[near]
            left = left[~near]


def _is_named(name: str, event: Event) -> bool:
    return event.name == name


def _python_gaps(events: Events) -> Rows:
    """Rows of the gaps that are Python's, without the short ends of others."""
    idle = events.filter(partial(_is_named, PYTHON), kind=Kind.GAP)
    return idle.rows[idle.array["end"] - idle.array["start"] >= SHORTEST]


def _time(events: Events, rows: Rows) -> float:
    found = events.recording.events[rows]
    return float((found["end"] - found["start"]).sum())


def _compiles(events: Events) -> Iterator[Advice]:
    """Programs compiled while it ran."""
    stages = events.group_by("stage")
    spent = sum(group.own for group in stages)
    count = max((group.runs for group in stages if group.name == "simplify"), default=0)
    if count >= OFTEN:
        again = [group for group in stages if group.name.startswith(AGAIN)]
        named = [group for group in stages if group not in again][:4]
        names = ", ".join(f"{group.name} {group.own / 1e6:.0f} ms" for group in named)
        reasons = "".join(f"; {group.name}" for group in again[:3])
        yield Advice(
            spent, f"compile fewer programs: {_remedy(again)}",
            f"{count} programs were compiled ({names}){reasons}",
        )  # fmt: skip


def _remedy(again: list[Group]) -> str:
    """What helps against the reasons for which functions were traced again, if there are any."""
    sized = [bool(SIZES.search(group.name)) for group in again]
    if not again:
        return "keep sizes, options and numbers the same from step to step"
    if sum(sized) > len(sized) / 2:
        return "pad to a few sizes, or name a size with td.Dim"
    return "give what changes as a tensor, or keep it the same"


def _waits(events: Events) -> Iterator[Advice]:
    """Times in which nothing ran."""
    for group in events.group_by("gap"):
        if group.name == CAUSES[Kind.DATA]:
            yield Advice(group.time, _reading(events),
                         f"{group.runs} times nothing ran while a batch was awaited")  # fmt: skip
    claimed = [row for _, rows in _starved(events) for row in rows]
    idle = np.setdiff1d(_python_gaps(events), claimed)
    if len(idle) >= OFTEN:
        found = events.recording.events[idle]
        usual = float(np.median(found["end"] - found["start"]))  # not what is done once
        yield Advice(usual * len(idle), "put what a step does into one td.compile",
                     f"in {len(idle)} gaps nothing ran but Python, "
                     f"{usual / 1e6:.2f} ms in most")  # fmt: skip


def _reading(events: Events) -> str:
    """How to wait less for data, by the workers of the loader that was waited for most."""
    found, names = events.filter(kind=Kind.DATA).array, events.recording.names
    spent = np.bincount(found["name"], found["end"] - found["start"], len(names))
    workers = WORKERS.search(names[int(np.argmax(spent))])
    if workers is None:
        return "read data beside the program: DataLoader(num_workers=...)"
    return f"read data faster: {workers[1]} workers do not keep up; use more, or do less per sample"


def _details(events: Events) -> Iterator[tuple[Detail, float, float, int]]:
    """Each kernel with its time, what it would take at the limit, and its runs."""
    rows = events.rows[events.array["kind"] == Kind.KERNEL]
    costs = Costs(events.recording, rows)
    for number, (time, runs, _, _, ideal) in costs.by_detail().items():
        yield events.recording.details[number], float(time), float(ideal), round(float(runs))


def _at(detail: Detail) -> str:
    return basename(detail.sites[0]) if detail.sites else NOWHERE


def _copies(events: Events) -> Iterator[Advice]:
    """Kernels that only move what is there already."""
    for detail, time, _, runs in _details(events):
        if detail.kind == "copy":
            moved = (detail.bytes_read + detail.bytes_written) / 1e6
            yield Advice(time, f"spare the copy at {_at(detail)}",
                         f"{runs} times {moved:.1f} MB were moved: {detail.reason}")  # fmt: skip


def _apart(events: Events) -> Iterator[Advice]:
    """Kernels that a reduction kept from joining others, and that move a lot for little work."""
    for detail, time, ideal, runs in _details(events):
        kept = any(word in detail.reason for word in APART) and "product" not in detail.kind
        if kept and detail.flops < 4 * (detail.bytes_read + detail.bytes_written) and ideal:
            yield Advice(
                time / 2, f"a kernel stands alone at {_at(detail)}: {' '.join(detail.ops[:4])}",
                f"{runs} runs; why: {detail.reason}",
            )  # fmt: skip


def _few(events: Events) -> Iterator[Advice]:
    """Kernels that most threads have no block of."""
    threads = events.recording.threads
    for detail, time, _, runs in _details(events):
        if detail.blocks < threads:
            idle = time * (1 - detail.blocks / threads)
            yield Advice(
                idle, f"give threads more to share at {_at(detail)}: larger batches, longer rows",
                f"{runs} runs of {' '.join(detail.ops[:4])} had {detail.blocks} blocks for "
                f"{threads} threads",
            )  # fmt: skip


def _slow(events: Events) -> Iterator[Advice]:
    """Lines far from the limit of the machine."""
    for line in _lines(events):
        if line.ideal and line.roofline < SLOW:
            yield Advice(
                line.time - line.ideal,
                f"look at {basename(line.name)}, at {line.roofline:.0%} of the machine's limit",
                f"{line.time / 1e6:.2f} ms in {', '.join(line.kernels[:3])}; TREADLE_TUNE=1 or "
                "td.tune may find faster ones, larger batches often help",
            )  # fmt: skip


def _lines(events: Events) -> list[Group]:
    return [group for group in events.group_by("line") if group.name != NOWHERE]
