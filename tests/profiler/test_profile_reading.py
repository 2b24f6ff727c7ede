"""Events as a sequence, as arrays and frames; gaps, differences and advice."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

import treadle as td
from treadle.base.watch import Kind
from treadle.profiler.advice import advice
from treadle.profiler.difference import Difference
from treadle.profiler.events import Events
from treadle.profiler.gaps import gaps, unshared
from treadle.profiler.groups import exclusive, self_times
from treadle.profiler.recording import EVENT, Detail, Recording, Track
from treadle.profiler.table import Table


def array(*shape):
    return td.tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


@pytest.fixture(scope="module")
def prof():
    x = array(96, 96)
    with td.profile() as found:
        with td.span("outer"):
            for _ in range(4):
                with td.span("inner"):
                    value = (x @ x).sum().item()
        assert np.isfinite(value)
    return found


def test_events_are_a_sequence_in_order_of_time(prof):
    events = prof.events()
    assert [e.start for e in events] == sorted(e.start for e in events)
    assert len(events[2:5]) == 3
    assert events[0].name in prof.recording.names
    assert len(events.array) == len(events)
    assert events.array.dtype == EVENT


def test_filter_and_sort(prof):
    kernels = prof.events().filter(kind=Kind.KERNEL)
    assert {e.kind for e in kernels} == {Kind.KERNEL}
    longest = kernels.sort("duration")
    assert [e.duration for e in longest] == sorted((e.duration for e in kernels), reverse=True)
    assert len(prof.events().filter(lambda e: e.name == "inner")) == 4
    assert len(prof.events().filter(kind="span", name="out")) == 1
    by_end = prof.events().sort(lambda e: e.end)
    assert [e.end for e in by_end] == sorted(e.end for e in by_end)


@pytest.mark.parametrize(("call", "words"), [
    (lambda p: p.events().filter(kind="kernal"), "no such kind of event"),
    (lambda p: p.events().sort("size"), "no such order"),
    (lambda p: p.group_by("file"), "no such key"),
    (lambda p: p.table(by="file"), "no such key"),
    (lambda p: p.diff(3), "not a profile"),
], ids=["kind", "order", "group", "table", "diff"])  # fmt: skip
def test_wrong_words_are_refused_by_name(prof, call, words):
    with pytest.raises(td.TreadleError, match=words):
        call(prof)


def test_spans_nest_and_have_time_of_their_own(prof):
    events = prof.events()
    (outer,) = events.filter(name="outer")
    for inner in events.filter(name="inner"):
        assert inner.parent == outer.row
    groups = {group.name: group for group in prof.group_by("span")}
    inner = groups["inner"]
    assert inner.runs == 4
    assert groups["outer"].own == pytest.approx(groups["outer"].time - inner.time)
    own = self_times(prof.recording)
    assert own[outer.row] == groups["outer"].own
    assert (own >= 0).all()


def recorded(*events):
    """A recording of spans: name, start, end and the row of the one around it."""
    names = sorted({name for name, *_ in events})
    found = np.zeros(len(events), EVENT)
    found["kind"], found["detail"] = Kind.SPAN, -1
    found["name"] = [names.index(name) for name, *_ in events]
    for k, column in enumerate(("start", "end", "parent"), 1):
        found[column] = [event[k] for event in events]
    return Recording(found, [Track("main", "python", 1, 1)], names)


@pytest.mark.parametrize(("events", "wanted"), [
    ([("all", 0, 100, -1), ("task", 10, 60, 0), ("task", 20, 90, 0)],
     {"all": (100, 20, 1), "task": (80, 80, 2)}),
    ([("fib", 0, 100, -1), ("fib", 10, 90, 0), ("fib", 20, 30, 1)], {"fib": (100, 100, 3)}),
    ([("plan", 0, 100, -1), ("fuse", 10, 60, 0), ("plan", 200, 210, -1)],
     {"plan": (110, 60, 2), "fuse": (50, 50, 1)}),
], ids=["overlapping", "recursive", "nested"])  # fmt: skip
def test_moments_count_once_whatever_lies_in_what(events, wanted):
    groups = Events(recorded(*events)).group_by("span")
    assert {g.name: (g.time, g.own, g.runs) for g in groups} == wanted
    table = Table("span", groups, "", 20)
    assert table.total == sum(own for _, own, _ in wanted.values())
    assert f"{table.rows[-1].own / table.total:.1%}" in str(table).splitlines()[-1]
    assert "GB/s" not in str(table)  # spans have no kernels of their own
    assert Difference("span", groups, groups).before == table.total


@pytest.mark.parametrize("key", ["span", "thread", "realize", "stage", "gap"])
def test_tables_of_what_has_no_kernels_do_not_count_them(prof, key):
    text = str(prof.table(key))
    assert prof.group_by(key)
    assert "own" in text
    assert not any(word in text for word in ("kernels", "bytes", "GB/s", "limit"))


def test_what_asked_for_a_value_is_named_with_its_line(prof):
    (group,) = prof.group_by("realize")
    line = test_what_asked_for_a_value_is_named_with_its_line.__code__.co_firstlineno
    assert group.runs == 4
    name, _, number = group.name.rpartition(":")
    assert name == "item() at test_profile_reading.py"
    assert int(number) < line


def test_frame_has_a_row_for_each_event(prof):
    pandas = pytest.importorskip("pandas")
    frame = prof.events().frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(prof.events())
    assert (frame.duration == frame.end - frame.start).all()


def test_moments_are_shared_by_what_runs_in_them():
    start, end = np.array([0, 10, 10, 50]), np.array([20, 20, 30, 60])
    spent = exclusive(start, end)
    np.testing.assert_allclose(spent, [10 + 10 / 3, 10 / 3, 10 / 3 + 10, 10])
    assert spent.sum() == pytest.approx(30 + 10)


def test_gaps_are_split_where_their_cause_changes():
    events = np.zeros(6, EVENT)
    data, stage = Kind.DATA, Kind.STAGE
    events["kind"] = [Kind.CALL, Kind.CALL, data, stage, stage, stage]
    events["start"] = [100_000, 400_000, 210_000, 380_000, 520_000, 600_000]
    events["end"] = [200_000, 500_000, 390_000, 450_000, 550_000, 600_000]  # the last has no length
    names = []
    at_work = events["kind"] == Kind.CALL
    found = gaps(events, at_work, (0, 900_000), lambda text: names.append(text) or len(names) - 1,
                 lambda device, thread: 0)  # fmt: skip
    pieces = [(names[e["name"]], int(e["start"]) // 1000, int(e["end"]) // 1000) for e in found]
    assert pieces == [
        ("Python", 0, 100),
        ("Python", 200, 210), ("waiting for data", 210, 390), ("compiling", 390, 400),
        ("Python", 500, 520), ("compiling", 520, 550), ("Python", 550, 900),
    ]  # fmt: skip


class Slow(td.data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, k):
        time.sleep(0.01)
        return np.full(4, float(k), np.float32)


def test_waiting_for_data_is_told_apart():
    with td.profile() as prof:
        for batch in td.data.DataLoader(Slow(), batch_size=1):
            (batch * 2.0).numpy()
    waits = prof.events().filter(kind="data")
    assert len(waits) == 4  # the last one finds the end
    gaps = {group.name: group.time for group in prof.group_by("gap")}
    assert gaps["waiting for data"] >= 2 * 10e6
    assert any("num_workers" in x.what for x in prof.advice())


def test_threads_without_a_block_are_idle():
    events = np.zeros(4, EVENT)
    events["kind"] = [Kind.CALL, Kind.KERNEL, Kind.KERNEL, Kind.CALL]
    events["track"] = [0, 1, 2, 0]
    events["start"], events["end"] = [0, 0, 0, 50], [40, 40, 10, 60]
    calls, kernels = events[[0, 3]], events[[1, 2]]
    assert unshared(calls, kernels, 2) == 50 - (40 + 10) / 2


def test_differences_put_the_largest_first_and_know_what_is_new(prof):
    x = array(96, 96)
    with td.profile() as other:
        td.exp(x).numpy()
    changes = prof.diff(other, by="op")
    assert changes.rows[0].name == "matmul"
    assert changes.rows[0].after == 0
    assert "exp" in str(changes)
    assert "new" in str(changes)


def steps(device):
    """Five steps that read a value; after each nothing runs for longer than the step took."""
    kinds = {"item() at train.py:7": Kind.REALIZE, "program 1": Kind.CALL, "f": Kind.KERNEL,
             "Python": Kind.GAP}  # fmt: skip
    rows = []
    for at in range(0, 5_000_000, 1_000_000):
        spans = ((0, 300_000), (100_000, 290_000), (110_000, 300_000), (300_000, 1_000_000))
        for k, (start, end) in enumerate(spans):
            track, detail = (1, 0) if k == 2 else (0, -1)
            rows.append((list(kinds.values())[k], track, k, at + start, at + end, -1, detail))
    known = Detail(1, 0, "loops", ("f",), (), (), "forward", 1, 1, 1, 8, "")
    tracks = [Track("main", "python", 1, 1), Track("0", device, 1, 0)]
    return Events(Recording(np.array(rows, EVENT), tracks, list(kinds), [known]))


@pytest.mark.parametrize(("device", "words"), [
    ("cpu", "put what a step does into one td.compile"),
    ("cuda:0", "read values less often than at each step: item() at train.py:7"),
], ids=["host", "gpu"])  # fmt: skip
def test_a_gap_is_claimed_once_and_a_read_costs_only_on_a_gpu(device, words):
    (found,) = advice(steps(device), 5_000_000)
    assert found.what == words
    assert found.saves == 5 * 700_000


def test_a_harmless_read_on_the_host_is_no_advice():
    x = array(8, 8)
    with td.profile() as prof:
        for _ in range(5):
            (x * 2.0).sum().item()
    assert not any("read values" in found.what for found in prof.advice(10))


class Slower(Slow):
    def __getitem__(self, k):
        time.sleep(0.1)
        return super().__getitem__(k)


def test_advice_knows_that_a_loader_has_workers():
    with td.profile() as prof:
        for batch in td.data.DataLoader(Slower(), batch_size=1, num_workers=2):
            (batch * 2.0).numpy()
    (found,) = [x for x in prof.advice(10) if "data" in x.what]
    assert "2 workers do not keep up" in found.what


def test_advice_names_programs_compiled_again_and_again():
    with td.profile() as prof:
        for n in range(5):
            (array(30 + n, 7) * 2.0 + float(n)).sum(0).numpy()
    assert "compile fewer programs" in prof.advice()[0].what


def test_advice_says_why_functions_are_traced_again():
    double = td.compile(lambda x: x * 2.0)
    with td.profile() as prof:
        for size in range(2, 9):
            double(td.ones(size)).realize()
    (found,) = [x for x in prof.advice(10) if "compile fewer" in x.what]
    assert re.search(r"traced again: <lambda>: argument 0: \(\d,\) → \(\d,\)", found.evidence)
    assert "td.Dim" in found.what


def test_advice_about_sizes_is_for_sizes():
    named = td.compile(lambda x, name: getattr(td, name)(x) * 1.75)
    with td.profile() as prof:
        for name in ("sinh", "cosh", "asinh", "erf", "expm1", "log1p"):
            named(td.ones(4), name).realize()
    (found,) = [x for x in prof.advice(10) if "compile fewer" in x.what]
    assert "td.Dim" not in found.what
