"""The few things most worth changing, each with what was seen of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from os.path import basename
from typing import NamedTuple

import numpy as np

from treadle.base.watch import AGAIN, Kind
from treadle.profiler.events import Event, Events
from treadle.profiler.gaps import CAUSES, PYTHON
from treadle.profiler.groups import NOWHERE, Costs, Group, self_times
from treadle.profiler.recording import Detail

OFTEN = 3  # times: what is seen less often is no loop
LEAST = 0.01  # of the whole time: less is not worth a word
SLOW = 0.3  # of the limit
READERS = ("item", "numpy", "tolist", "__float__", "__int__", "__bool__", "__repr__", "__index__")
APART = ("reduc", "more than one", "wait")  # in reasons for which a kernel stands alone


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
    """Values read again and again: each time everything waits for them."""
    own = self_times(events.recording)
    for group in events.group_by("realize"):
        if group.runs >= OFTEN and group.name.partition("(")[0] in READERS:
            named = events.filter(partial(_is_named, group.name), kind=Kind.REALIZE)
            idle = _idle_after(named) + float(own[named.rows].sum())
            yield Advice(
                idle, f"read values less often than at each step: {group.name}",
                f"{group.runs} times something was computed because it was asked for there, and "
                "nothing ran while Python went on to the next",
            )  # fmt: skip


def _is_named(name: str, event: Event) -> bool:
    return event.name == name


def _idle_after(events: Events) -> float:
    """Nanoseconds of gaps that begin while or right after these events."""
    found = events.recording.events
    python = [k for k, name in enumerate(events.recording.names) if name == PYTHON]
    idle = found[(found["kind"] == Kind.GAP) & np.isin(found["name"], python)]
    ends = np.sort(events.array["end"])
    if not len(idle) or not len(ends):
        return 0.0
    before = ends[np.minimum(np.searchsorted(ends, idle["start"]), len(ends) - 1)]
    near = (before >= idle["start"]) & (before <= idle["end"])
    return float((idle["end"] - idle["start"])[near].sum())


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
            spent, "compile fewer programs: pad to a few sizes, or name a size with td.Dim",
            f"{count} programs were compiled ({names}){reasons}",
        )  # fmt: skip


def _waits(events: Events) -> Iterator[Advice]:
    """Times in which nothing ran."""
    for group in events.group_by("gap"):
        if group.name == CAUSES[Kind.DATA]:
            yield Advice(group.time, "read data beside the program: DataLoader(num_workers=...)",
                         f"{group.runs} times nothing ran while a batch was awaited")  # fmt: skip
        elif group.name == PYTHON and group.runs >= OFTEN:
            idle = events.filter(partial(_is_named, PYTHON), kind=Kind.GAP).array
            usual = float(np.median(idle["end"] - idle["start"]))  # not what is done once
            yield Advice(usual * group.runs, "put what a step does into one td.compile",
                         f"in {group.runs} gaps nothing ran but Python, "
                         f"{usual / 1e6:.2f} ms in most")  # fmt: skip


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
