"""What lies across the edges of a profile, or runs beside it, is shown as far as it is of it."""

from __future__ import annotations

import threading
import time

import pytest

import treadle as td
from treadle.backends.cpu import rings
from treadle.profiler.gaps import FEW


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


def test_a_span_across_two_profiles_is_clipped():
    outer = td.span("outer")
    with td.profile():
        outer.__enter__()
    with td.profile() as prof, td.span("inner"):
        outer.__exit__(None, None, None)
    (event,) = prof.events().filter(name="outer")
    assert event.start == prof._began
    assert inside(prof)


# ---- threads


def test_callers_are_not_cores():
    x = td.ones(611, 600).realize()  # of no other test: programs keep the pool they have
    turn, end = threading.Lock(), threading.Barrier(4)

    def work():
        with turn, td.override(threads=2):
            td.exp(x).numpy()
        end.wait()  # so that no two have one number

    with td.profile() as prof:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    calls, kernels = (prof.events().filter(kind=kind).array for kind in ("call", "kernel"))
    ran = (calls["end"] - calls["start"]).sum()
    busy = (kernels["end"] - kernels["start"]).sum()
    few = {group.name: group.time for group in prof.group_by("gap")}[FEW]
    assert few == pytest.approx(max(0, ran - busy / 2), rel=1e-6)


def test_workers_of_two_pools_write_apart():
    with td.profile() as prof:
        for threads in (2, 3, 2):
            with td.override(threads=threads):
                td.exp(td.ones(610 + threads, 600).realize()).numpy()
    workers = [ring for ring in rings.RINGS.all if ring.name]
    assert sorted(ring.name for ring in workers) == ["1 of 2", "1 of 3", "2 of 3"]
    names = {event.track.name for event in prof.events().filter(kind="kernel")}
    own = {f"cpu 0 ({threading.current_thread().name})"}
    assert own <= names <= own | {f"cpu {ring.name}" for ring in workers}


def test_threads_keep_their_names():
    x = td.ones(8, 8).realize()

    def work():
        with td.span("work"):
            (x + 1.0).numpy()

    with td.profile() as prof:
        for k in range(3):  # one after another: the system gives their numbers again
            thread = threading.Thread(target=work, name=f"mine {k}")
            thread.start()
            thread.join()
    del thread
    for kind, names in (
        ("span", ["mine 0", "mine 1", "mine 2"]),
        ("call", ["mine 0", "mine 1", "mine 2"]),
        ("kernel", ["cpu 0 (mine 0)", "cpu 0 (mine 1)", "cpu 0 (mine 2)"]),
    ):
        assert [event.track.name for event in prof.events().filter(kind=kind)] == names
    assert "idle" in [track.name for track in prof.recording.tracks]


# ---- nothing is left out


@pytest.mark.parametrize("compiled", [False, True], ids=["lazy", "compiled"])
def test_watched_programs_are_recorded(compiled):
    def step(x):
        return (td.exp(x) @ x).sum(axis=0)

    f, x = (td.compile(step) if compiled else step), td.ones(40, 40).realize()
    f(x).realize()
    with td.profile() as plain:
        f(x).realize()
    with td.detect_anomaly(), td.profile() as prof:
        f(x).realize()
    runs = [
        {(event.name, event.detail.sites) for event in found.events().filter(kind="kernel")}
        for found in (plain, prof)
    ]
    assert runs[0] == runs[1] != set()
    assert len(prof.events().filter(kind="call")) == 1
    assert prof.recording.lost == 0


def test_a_profile_without_programs_is_idle():
    with td.profile() as prof:
        time.sleep(0.002)
    (gap,) = prof.group_by("gap")
    assert gap.time == prof.duration
    assert "idle: Python" in prof.head()


def test_the_column_counts_kernels_of_one_name_too():
    xs = [td.ones(30 + k, 8).realize() for k in range(3)]
    with td.profile() as prof:
        for _ in range(2):
            for x in xs:
                td.exp(x).numpy()
        td.exp(xs[0]).numpy()  # another line, the same kernel
    (group,) = prof.group_by("kernel")
    assert (group.kernels, group.distinct, group.runs) == (("exp_f32",), 3, 7)
    assert [(row.distinct, row.runs) for row in sorted(prof.table().rows)] == [(3, 6), (1, 1)]
    assert f"{7:6} {3:7} " in str(prof.table("kernel"))
