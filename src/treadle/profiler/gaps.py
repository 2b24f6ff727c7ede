"""Times when no program ran, and why: Python, waiting for data, or the compiler.

And times of threads that had nothing to run while another had: too few blocks to share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treadle.base.watch import Kind
from treadle.profiler.recording import EVENT

SHORTEST = 10_000  # nanoseconds: what is shorter is the cost of a call
CAUSES = {Kind.DATA: "waiting for data", Kind.STAGE: "compiling"}
PYTHON, FEW = "Python", "few blocks"

Spans = np.ndarray[Any, np.dtype[np.int64]]
"""Starts and ends, in order and apart: two columns."""


def merged(events: np.ndarray[Any, Any]) -> Spans:
    """The times that events cover."""
    if not len(events):
        return np.empty((0, 2), np.int64)
    order = np.argsort(events["start"], kind="stable")
    starts, ends = events["start"][order], np.maximum.accumulate(events["end"][order])
    begins = np.concatenate([[True], starts[1:] > ends[:-1]])
    last = np.concatenate([np.flatnonzero(begins)[1:] - 1, [len(starts) - 1]])
    return np.stack([starts[begins], ends[last]], 1)


def within(spans: Spans, times: Spans) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Does each of some times lie in one of the spans?"""
    if not len(spans):
        return np.zeros(len(times), bool)
    last = np.searchsorted(spans[:, 0], times, "right") - 1
    return (last >= 0) & (times < spans[last, 1])


def split(idle: Spans, reasons: Sequence[Spans]) -> tuple[Spans, Spans]:
    """Idle times cut where their reason changes, and the number of each one's reason.

    The first reason that holds counts; where none does, the number is that of one more.
    """
    edges = np.unique(np.concatenate([spans.reshape(spans.size) for spans in (idle, *reasons)]))
    starts, ends = edges[:-1], edges[1:]
    held = np.stack([*(within(spans, starts) for spans in reasons), np.ones(len(starts), bool)])
    mine = within(idle, starts)
    starts, ends, which = starts[mine], ends[mine], np.argmax(held, 0)[mine]
    begins = np.ones(len(starts), bool)
    begins[1:] = (starts[1:] != ends[:-1]) | (which[1:] != which[:-1])
    last = np.concatenate([np.flatnonzero(begins)[1:], [len(starts)]]) - 1
    return np.stack([starts[begins], ends[last]], 1), which[begins]


def own_times(events: np.ndarray[Any, Any], apart: tuple[Kind, ...] = (Kind.GAP,)) -> Spans:
    """Nanoseconds of each event in which nothing lay that it is the parent of.

    Events of the kinds that stand apart lie in none.
    """
    own = np.maximum(events["end"] - events["start"], 0)
    inner = events[(events["parent"] >= 0) & ~np.isin(events["kind"], apart)]
    if not len(inner):
        return own
    inner = inner[np.lexsort((inner["start"], inner["parent"]))]
    above = inner["parent"]
    began = np.maximum(inner["start"], events["start"][above]) - events["start"].min()
    ended = np.minimum(inner["end"], events["end"][above]) - events["start"].min()
    # a stretch of time for each parent, so that one running maximum serves them all
    shift = np.cumsum(np.diff(above, prepend=above[0]) != 0) * (int(ended.max()) + 1)
    until = np.maximum.accumulate(np.maximum(ended, began) + shift) - shift
    before = np.concatenate([[0], until[:-1]])
    before[1:][np.diff(above) != 0] = 0
    np.subtract.at(own, above, np.maximum(ended - np.maximum(began, before), 0))
    return own


def gaps(
    events: np.ndarray[Any, Any], at_work: np.ndarray[Any, Any], whole: tuple[int, int],
    name: Callable[[str], int], track: Callable[[str, int], int],
) -> np.ndarray[Any, Any]:  # fmt: skip
    """Events of their own for the times in which none of those at work was under way.

    A gap with several causes is as many events: each cause has its own time.
    """
    busy, (began, ended) = merged(events[at_work]), whole
    starts = np.concatenate([[began], busy[:, 1]])
    ends = np.concatenate([busy[:, 0], [ended]])
    long = np.flatnonzero(ends - starts >= SHORTEST)
    if not len(long):
        return np.empty(0, EVENT)
    reasons = [merged(events[events["kind"] == kind]) for kind in CAUSES]
    spans, which = split(np.stack([starts[long], ends[long]], 1), reasons)
    found = np.zeros(len(spans), EVENT)
    found["kind"], found["start"], found["end"] = Kind.GAP, spans[:, 0], spans[:, 1]
    found["parent"] = found["detail"] = -1
    found["track"] = track("idle", 0)
    found["name"] = np.array([name(text) for text in (*CAUSES.values(), PYTHON)])[which]
    return found


def unshared(calls: np.ndarray[Any, Any], kernels: np.ndarray[Any, Any], threads: int) -> float:
    """Nanoseconds that threads were idle while a program ran, in times of all threads together."""
    ran = merged(calls)
    whole = float((ran[:, 1] - ran[:, 0]).sum())
    busy = 0.0
    for track in np.unique(kernels["track"]):
        mine = merged(kernels[kernels["track"] == track])
        busy += float((mine[:, 1] - mine[:, 0]).sum())
    return max(0.0, whole - busy / threads)
