"""What lies across the edges of a profile, or runs beside it, is shown as far as it is of it."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.backends.cpu import rings


def inside(prof):
    """Do all events lie in their profile?"""
    events = prof.events().array
    return bool((events["start"] >= prof._began).all() and (events["end"] <= prof._ended).all())


@pytest.fixture
def at_launch(monkeypatch):
    """Have a function called in the middle of the next launch."""
    real = rings.recorder

    def put(function):
        def recorder(short):
            def run(words, record):
                monkeypatch.setattr(rings, "recorder", real)
                function()
                return real(short)(words, record)

            return run

        monkeypatch.setattr(rings, "recorder", recorder)

    return put


def test_a_launch_across_two_profiles_is_in_both(at_launch):
    x = td.ones(8, 8).realize()
    first, second = td.profile(), td.profile()
    used = []

    def meanwhile():
        first.__exit__()
        used.extend(rings.RINGS.all)
        second.__enter__()
        assert rings.RINGS.all == used  # or native threads would write to memory given back

    at_launch(meanwhile)
    first.__enter__()
    (x + 1.0).numpy()
    second.__exit__()
    assert used
    for prof in (first, second):
        assert inside(prof)
        assert len(prof.events().filter(kind="call")) == 1
        assert prof.recording.lost == 0
    assert len(first.events().filter(kind="kernel")) == 0
    assert len(second.events().filter(kind="kernel")) == 1
    assert not rings.RINGS.given


def test_a_launch_that_nobody_sees_end_is_forgotten(at_launch):
    x = td.ones(8, 8).realize()
    prof = td.profile()
    at_launch(prof.__exit__)
    prof.__enter__()
    (x + 1.0).numpy()
    (call,) = prof.events().filter(kind="call")
    assert call.end <= prof._ended
    with td.profile() as later:
        pass
    assert len(later.events().filter(kind="call")) == 0
