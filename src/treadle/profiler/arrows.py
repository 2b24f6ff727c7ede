"""Which arrows between events a trace file has."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.profiler.recording import Recording

MOST = 100_000  # arrows take more bytes than slices


def arrows_of(recording: Recording) -> np.ndarray[Any, Any]:
    """Arrows along which time does not go back.

    Of more than some hundred thousand, those to the first event that a launch has on each track.
    """
    flows, events = recording.flows, recording.events
    forward = flows[events["start"][flows["source"]] <= events["start"][flows["target"]]]
    if len(forward) <= MOST:
        return forward
    tracks = events["track"][forward["target"]]
    order = np.lexsort((events["start"][forward["target"]], tracks, forward["source"]))
    sources, tracks = forward["source"][order], tracks[order]
    first = np.ones(len(order), bool)
    first[1:] = (sources[1:] != sources[:-1]) | (tracks[1:] != tracks[:-1])
    return forward[np.sort(order[first])]
