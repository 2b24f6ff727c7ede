"""Lanes: what shares one lies within each other or apart, and opens and closes like brackets."""

from __future__ import annotations

import numpy as np
import plausible
import pytest

from treadle.profiler.lanes import lanes_of
from treadle.profiler.recording import EVENT, Recording, Track


def recording_of(spans):
    events = np.zeros(len(spans), EVENT)
    for row, (start, end) in enumerate(sorted(spans, key=lambda s: (s[0], -s[1]))):
        events[row] = (7, 0, 0, start, end, -1, -1)
    return Recording(events, [Track("t", "cpu", 1, 1)], ["k"])


def partly(a, b):
    """Do two spans overlap without one lying in the other?"""
    (a0, a1), (b0, b1) = sorted([a, b])
    return a0 < b0 < a1 < b1


def check(recording):
    """Every slice is opened and closed once, by a stack, at its own times."""
    seen = []
    lanes = list(lanes_of(recording))
    for lane in lanes:
        stack = []
        for row, opens, at in zip(lane.rows, lane.opens, lane.times, strict=True):
            event = recording.events[row]
            if opens:
                assert at == event["start"]
                stack.append(row)
                seen.append(int(row))
            else:
                assert stack.pop() == row
                assert at == event["end"]
        assert not stack
        assert (np.diff(lane.times) >= 0).all()
    assert sorted(seen) == list(range(len(recording.events)))
    return lanes


@pytest.mark.parametrize(
    ("spans", "count"),
    [
        ([(0, 10), (1, 4), (4, 9), (5, 6)], 1),
        ([(0, 10), (0, 10), (0, 10)], 1),
        ([(0, 5), (5, 9), (5, 5), (5, 5), (9, 9)], 1),
        ([(0, 5), (3, 8)], 2),
        ([(0, 5), (3, 8), (4, 9), (6, 7)], 3),
        ([(0, 5), (3, 8), (5, 9)], 2),
        ([(3, 3)], 1),
    ],
    ids=["nested", "equal", "empty", "overlap", "three", "touching", "one"],
)
def test_lanes_are_as_many_as_needed(spans, count):
    assert len(check(recording_of(spans))) == count


@pytest.mark.parametrize("seed", range(20))
def test_any_slices_are_spread_without_overlap(seed):
    random = np.random.default_rng(seed)
    start = random.integers(0, 40, 60)
    spans = list(zip(start.tolist(), (start + random.integers(0, 12, 60)).tolist(), strict=True))
    lanes = check(recording_of(spans))
    overlap = any(partly(a, b) for k, a in enumerate(spans) for b in spans[:k])
    assert (len(lanes) > 1) == overlap


def test_tracks_are_kept_apart():
    lanes = check(plausible.training(2, overlap=True))
    assert [(lane.track, lane.number) for lane in lanes] == [(0, 0), (1, 0), (1, 1), (2, 0)]


def test_nothing_has_no_lanes():
    assert not list(lanes_of(Recording()))
