"""Bytes and flops per second over time, as counters made from the kernels of a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.profiler.groups import Costs
from treadle.profiler.memory import arena_counters
from treadle.profiler.recording import Counter, Kind, Recording

STEPS = 1000  # means over a thousandth of the time
Floats = np.ndarray[Any, np.dtype[np.float64]]


def all_counters(recording: Recording) -> list[Counter]:
    """What was counted, and what follows from programs and kernels."""
    return [*recording.counters, *arena_counters(recording), *rates_of(recording)]


def rates_of(recording: Recording) -> list[Counter]:
    """GFLOP/s and GB/s of each device that ran a kernel with known work."""
    events = recording.events
    kernels = np.flatnonzero((events["kind"] == Kind.KERNEL) & (events["detail"] >= 0))
    if not len(kernels):
        return []
    devices = np.array([track.device for track in recording.tracks])
    found = []
    for device in np.unique(devices[events["track"][kernels]]).tolist():
        chosen = kernels[devices[events["track"][kernels]] == device]
        costs, rows = Costs(recording, chosen), events[chosen]
        for work, unit in ((costs.flops, "GFLOP/s"), (costs.nbytes, "GB/s")):
            found.append(
                Counter(f"{device} {unit}", unit, *_means(rows["start"], rows["end"], work))
            )
    return found


def _means(start: Any, end: Any, work: Floats) -> tuple[Any, Floats]:
    """Mean work per nanosecond in steps of time; work is spread evenly over its event."""
    start, end = start.astype(np.int64), np.maximum(end, start + 1).astype(np.int64)
    rate = work / (end - start)
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    now = np.cumsum(np.concatenate([rate, -rate])[order])
    times = times[order]
    done = np.concatenate([[0.0], np.cumsum(now[:-1] * np.diff(times))])
    steps = min(STEPS, max(1, int(times[-1] - times[0])))
    edges = np.linspace(times[0], times[-1], steps + 1).astype(np.int64)
    means = np.diff(np.interp(edges, times, done)) / np.diff(edges)
    return edges, np.append(np.maximum(means, 0.0), 0.0)
