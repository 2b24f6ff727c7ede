"""Memory over time, as counters: what a device has in use, and the arenas that programs work in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treadle.profiler.recording import Counter, Kind, ProgramPage, Recording


def memory_counters(samples: Sequence[tuple[int, str, int]]) -> list[Counter]:
    """Bytes in use of each device, from samples of time, device and bytes."""
    found = []
    for device in dict.fromkeys(device for _, device, _ in samples):
        mine = [(when, nbytes) for when, name, nbytes in samples if name == device]
        times, values = np.array(mine, np.int64).T
        found.append(Counter(f"{device} memory", "B", times, values.astype(np.float64)))
    return found


def arena_counters(recording: Recording) -> list[Counter]:
    """Bytes of the arenas of programs under way on each device."""
    events = recording.events
    kernels = np.flatnonzero((events["kind"] == Kind.KERNEL) & (events["detail"] >= 0))
    parents = events["parent"][kernels]
    calls, first = np.unique(parents[parents >= 0], return_index=True)
    kernels = kernels[parents >= 0][first]  # one of each call says which program it was
    sizes = {number: arena_bytes(page) for number, page in recording.programs.items()}
    numbers = [recording.details[k].program for k in events["detail"][kernels].tolist()]
    taken = np.array([sizes.get(number, 0) for number in numbers], np.float64)
    devices = np.array([track.device for track in recording.tracks], object)
    found = []
    for device in dict.fromkeys(devices[events["track"][kernels]].tolist()):
        mine = (devices[events["track"][kernels]] == device) & (taken > 0)
        if mine.any():
            rows = events[calls[mine]]
            times = np.concatenate([rows["start"], rows["end"]])
            order = np.argsort(times, kind="stable")
            held = np.cumsum(np.concatenate([taken[mine], -taken[mine]])[order])
            found.append(Counter(f"{device} arena", "B", times[order], held))
    return found


def arena_bytes(page: ProgramPage) -> int:
    """What the arena of a program takes."""
    extent = max((offset + nbytes for offset, nbytes, _, _, _ in page.layout), default=0)
    return max(extent, page.lower_bound)  # bytes that align buffers count there
