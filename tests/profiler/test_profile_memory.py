"""Memory in a profile: samples of what is in use, arenas of programs, their code and their page."""

from __future__ import annotations

import json
import time

import plausible
import pytest
from test_report_text import unpacked

import treadle as td
from treadle.backends import choices
from treadle.backends.cpu.rings import LONGEST_WAIT
from treadle.profiler.holders import holders_picture
from treadle.profiler.memory import arena_counters, memory_counters
from treadle.profiler.recording import Kind
from treadle.profiler.report import report_page
from treadle.runtime import realize

MEGABYTES = 24


@pytest.fixture(scope="module")
def recording():
    """A chain of products, each of which waits for the last: an arena with things in it."""

    @td.compile
    def layers(x):
        for _ in range(4):
            x = td.tanh(x @ x) + td.softmax(x, axis=-1).sum(axis=0)
        return x

    x = td.random.randn(96, 96).realize()
    with td.profile() as prof:
        layers(x).numpy()
        held = td.zeros(MEGABYTES << 18).realize()
        time.sleep(LONGEST_WAIT / 1e9)
        (held + 1).realize()
    return prof.recording


def test_what_is_in_use_is_counted_when_programs_start(recording):
    memory = {c.name: c for c in recording.counters}["cpu memory"]
    assert memory.values.max() >= MEGABYTES << 20
    assert (memory.times[1:] > memory.times[:-1]).all()
    assert memory.times[0] >= recording.events["start"].min()


def test_who_took_memory_is_written_down_where_somebody_asks():
    def taken():
        return td.ones(MEGABYTES << 17).realize()  # the line that takes it

    with td.profile(memory=True) as prof:
        held = taken()
    line = f"{__file__}:{taken.__code__.co_firstlineno + 1}"
    changes = [c for c in prof.recording.changes if c.line == line]
    assert [c.nbytes for c in changes] == [held.nbytes]
    assert prof.events().filter(kind="kernel")
    assert line in holders_picture(prof.recording.changes).svg


def test_nobody_keeps_account_unless_asked(recording):
    assert recording.changes == ()


def test_samples_of_devices_are_counters_of_their_own():
    first, second = memory_counters([(1, "cpu", 10), (2, "cuda:0", 5), (4, "cpu", 30)])
    assert (first.name, first.times.tolist(), first.values.tolist()) == (
        "cpu memory",
        [1, 4],
        [10, 30],
    )
    assert (second.name, second.values.tolist()) == ("cuda:0 memory", [5])
    assert memory_counters([]) == []


def test_arenas_are_held_while_their_program_runs():
    recording = plausible.training(2)
    (counter,) = arena_counters(recording)
    calls = recording.events[recording.events["kind"] == Kind.CALL]
    for when, held in zip(counter.times.tolist(), counter.values.tolist(), strict=True):
        running = (calls["start"] <= when) & (when < calls["end"])
        assert held == 12288 * running.sum()


def page_with_an_arena(recording):
    return max(recording.programs.values(), key=lambda page: len(page.layout))


def test_buffers_that_live_at_the_same_time_lie_apart(recording):
    layout = page_with_an_arena(recording).layout
    assert len(layout) > 3
    assert any(
        "matmul" in label or "contract" in label or "f32[96" in label for *_, label in layout
    )
    for k, (at, nbytes, first, last, _) in enumerate(layout):
        for at2, nbytes2, first2, last2, _ in layout[:k]:
            apart = at + nbytes <= at2 or at2 + nbytes2 <= at
            assert apart or last < first2 or last2 < first


def test_a_report_has_the_code_of_the_hottest_kernels_and_their_stages(recording):
    facts = json.loads(unpacked(report_page(recording), "facts"))
    number = page_with_an_arena(recording).number
    (program,) = [page for page in facts["programs"] if page["number"] == number]
    kernels = [k for k in program["kernels"] if k[3]]
    assert kernels
    for name, reason, _, text, _ in kernels:
        assert name
        assert reason
        assert "define" in text or "not shown" in text
    assert any(".text" in assembly for *_, assembly in kernels)
    assert "softmax" in program["graph"]
    assert program["picture"].startswith("<svg")


def test_what_tuning_found_is_on_the_page_of_a_program(monkeypatch):
    """As if a search had found ways for all kernels: the model's own, so that they are right."""
    monkeypatch.setattr(choices, "_read", lambda _, space: space.default)

    class Everything(dict):
        def get(self, key):
            return key

    monkeypatch.setattr(choices, "_found", lambda *_: Everything({"": 0}))
    realize.forget()
    x = td.random.randn(200, 300).realize()
    with td.profile() as prof:
        (x @ td.ones(300, 40)).numpy()
    assert any("where the model says" in page.tuning for page in prof.recording.programs.values())
