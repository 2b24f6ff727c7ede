"""Profiles within a profile: each has what ran in it, in whatever order they begin and end."""

from __future__ import annotations

import numpy as np

import treadle as td
from treadle.base.knobs import MEANING
from treadle.base.watch import WATCH


@td.span("named")
def work(op, x):
    return op(x).numpy()


def ran(prof):
    """Kernels by name, in order of time, and how many calls and spans there were."""
    events = prof.events()
    kernels = [e.name.split("_")[0] for e in events.filter(kind="kernel")]
    return kernels, len(events.filter(kind="call")), len(events.filter(kind="span"))


def test_the_inner_one_has_a_slice_and_the_outer_one_all():
    x = td.ones(3).realize()
    with td.profile() as before:
        work(td.exp, x)
    assert before.recording.ceilings  # measured by now: that runs kernels, too
    with td.profile() as outer:
        work(td.exp, x)
        with td.profile() as first:
            work(td.log, x)
            work(td.sin, x)
        assert ran(first) == (["log", "sin"], 2, 2)  # read while the other goes on
        with td.profile(memory=True) as second:
            work(td.cos, x)
        work(td.tanh, x)
    assert ran(outer) == (["exp", "log", "sin", "cos", "tanh"], 5, 5)
    assert ran(second) == (["cos"], 1, 1)
    assert [prof.recording.lost for prof in (outer, first, second)] == [0, 0, 0]
    assert second.recording.changes
    assert not WATCH.on
    assert MEANING.plain


def test_the_first_one_may_end_first():
    x = td.ones(3).realize()
    first, second = td.profile(), td.profile()
    first.__enter__()
    work(td.exp, x)
    second.__enter__()
    work(td.log, x)
    first.__exit__()
    work(td.sin, x)
    second.__exit__()
    work(td.cos, x)
    assert ran(first) == (["exp", "log"], 2, 2)
    assert ran(second) == (["log", "sin"], 2, 2)
    assert not WATCH.on


def test_what_an_outer_one_has_lost_is_not_counted_again():
    x = td.tensor(np.ones(3, np.float32)).realize()
    with td.profile() as outer:
        work(td.exp, x)
        record = WATCH.sources[0]()[0]
        record.words[2] += 7  # as if there had been no room
        with td.profile() as inner:
            work(td.exp, x)
    assert (outer.recording.lost, inner.recording.lost) == (7, 0)
