"""Times when no program ran, and why: Python, waiting for data, or the compiler.

And times of threads that had nothing to run while another had: too few blocks to share.
"""

from __future__ import annotations

from collections.abc import Callable
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


def covered(spans: Spans, starts: Spans, ends: Spans) -> Spans:
    """How much of each of some times spans cover."""
    if not len(spans):
        return np.zeros(len(starts), np.int64)
    edges = spans.reshape(spans.size)
    so_far = np.concatenate([[0], np.cumsum(np.diff(edges) * (np.arange(len(edges) - 1) % 2 == 0))])

    def until(times: Spans) -> Spans:
        return np.interp(times - edges[0], edges - edges[0], so_far).astype(np.int64)

    return until(ends) - until(starts)


def gaps(
    events: np.ndarray[Any, Any], at_work: np.ndarray[Any, Any], whole: tuple[int, int],
    name: Callable[[str], int], track: Callable[[str, int], int],
) -> np.ndarray[Any, Any]:  # fmt: skip
    """Events of their own for the times in which none of those at work was under way."""
    busy, (began, ended) = merged(events[at_work]), whole
    starts = np.concatenate([[began], busy[:, 1]])
    ends = np.concatenate([busy[:, 0], [ended]])
    long = np.flatnonzero(ends - starts >= SHORTEST)
    reasons = {text: merged(events[events["kind"] == kind]) for kind, text in CAUSES.items()}
    found = np.zeros(len(long), EVENT)
    found["kind"], found["start"], found["end"] = Kind.GAP, starts[long], ends[long]
    found["parent"] = found["detail"] = -1
    found["track"] = track("idle", 0) if len(long) else 0
    spent = [covered(spans, found["start"], found["end"]) for spans in reasons.values()]
    spent.append(found["end"] - found["start"] - sum(spent))
    causes = np.array([name(text) for text in (*reasons, PYTHON)])
    found["name"] = causes[np.argmax(np.stack(spent), 0)]
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
