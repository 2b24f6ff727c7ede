"""Profiles within a profile: each has what ran in it, in whatever order they begin and end."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.knobs import MEANING
from treadle.base.watch import WATCH
from treadle.profiler import environment


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


# ---- of the environment


@pytest.mark.parametrize("name", ["t.foo", "no/t.json"], ids=["ending", "folder"])
def test_a_trace_that_cannot_be_written_is_refused_at_once(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with td.override(trace=name), pytest.raises(td.TreadleError, match=name.split("/", 1)[0]):
        environment.begin()
    assert not WATCH.on


def test_a_trace_of_a_run_with_profiles_in_it_lies_where_the_run_began(tmp_path, monkeypatch):
    at_end = []
    monkeypatch.setattr(environment.atexit, "register", lambda *call: at_end.append(call))
    monkeypatch.chdir(tmp_path)
    with td.override(trace="t.folded"):
        environment.begin()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    with td.profile() as inner:
        work(td.exp, td.ones(3))
    ((call, *arguments),) = at_end
    call(*arguments)
    assert ran(inner)[0] == ["exp"]
    assert "exp_f32" in (tmp_path / "t.folded").read_text("utf-8")
    assert not WATCH.on


def test_a_report_is_a_page(tmp_path):
    with td.profile() as prof:
        work(td.exp, td.ones(3))
    with pytest.raises(td.TreadleError, match=r"x\.txt(.|\n)*\.html"):
        prof.report(tmp_path / "x.txt")
    assert not list(tmp_path.iterdir())
