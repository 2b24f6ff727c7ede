"""Files of a recording: what other programs read in them is what was recorded."""

from __future__ import annotations

import json
from collections import Counter as Tally

import numpy as np
import plausible
import pytest
import wire

from treadle.base.errors import ArgumentError
from treadle.profiler import arrows, perfetto
from treadle.profiler.files import save
from treadle.profiler.perfetto import perfetto_parts
from treadle.profiler.rates import rates_of
from treadle.profiler.recording import Kind, Recording


def recorded(recording):
    """Events as (name, kind, start, end), however often."""
    return Tally(
        (recording.names[e["name"]], Kind(e["kind"]).name.lower(), int(e["start"]), int(e["end"]))
        for e in recording.events
    )


@pytest.fixture(params=[False, True], ids=["nested", "overlapping"])
def recording(request):
    return plausible.training(2, overlap=request.param)


@pytest.fixture
def shown(recording):
    return wire.replay(wire.packets_of(b"".join(perfetto_parts(recording))))


def test_perfetto_has_every_event_at_its_time(recording, shown):
    slices = Tally((s.name, s.category, s.start, s.end) for s in shown.slices)
    assert slices == recorded(recording)


def test_perfetto_has_a_tree_of_tracks(recording, shown):
    tracks = {s.track for s in shown.slices}
    lanes = {("process 4242", "cpu", "thread 1, lane 2")} if len(tracks) == 4 else set()
    assert tracks == lanes | {
        ("process 4242", "python", "main"),
        ("process 4242", "cpu", "thread 1"), ("process 4242", "cpu", "thread 2"),
    }  # fmt: skip


def test_perfetto_says_what_a_kernel_is(shown):
    kernel = next(s for s in shown.slices if s.category == "kernel" and "softmax" in s.facts)
    for words in ("exp sum div", plausible.site_of('"softmax":'), "blocks.0.softmax", "forward"):
        assert words in kernel.facts
    assert kernel.line == plausible.site_of('"softmax":')
    known = {s.name for s in shown.slices if s.facts and s.category == "kernel"}
    assert known == {"matmul_add_f32", "exp_sum_div_f32", "matmul_gelu_f32"}


def test_perfetto_says_where_an_op_was_called(shown):
    op = next(s for s in shown.slices if s.name == "div" and s.category == "op")
    line = plausible.site_of('"softmax":')
    assert (op.line, op.facts) == (line, f"{line} | blocks.0.softmax | forward")


def test_arrows_join_what_they_joined(recording, shown):
    ends = {n: s for s in shown.slices for n in s.ends_flows}
    found = Tally((s.start, ends.pop(n).start) for s in shown.slices for n in s.starts_flows)
    start = recording.events["start"]
    wanted = Tally((start[a], start[b]) for a, b in recording.flows.tolist())
    assert found == wanted
    assert not ends
    assert wanted


def test_an_arrow_that_goes_back_in_time_is_left_out():
    recording = plausible.training(1)
    recording.flows["source"], recording.flows["target"] = (
        recording.flows["target"].copy(), recording.flows["source"].copy(),
    )  # fmt: skip
    shown = wire.replay(wire.packets_of(b"".join(perfetto_parts(recording))))
    assert not [s for s in shown.slices if s.starts_flows or s.ends_flows]


def test_of_very_many_arrows_those_to_the_first_of_a_launch_on_each_track_are_kept(monkeypatch):
    recording = plausible.training(2)
    monkeypatch.setattr(arrows, "MOST", len(recording.flows))
    assert (arrows.arrows_of(recording) == recording.flows).all()
    monkeypatch.setattr(arrows, "MOST", 5)
    events = recording.events
    steps = np.flatnonzero(events["name"] == recording.names.index("train step"))
    recording.flows["source"] = steps[0]  # one launch of all there is
    recording.flows = recording.flows[::-1].copy()
    found = arrows.arrows_of(recording)
    wanted = {
        min(np.flatnonzero((events["track"] == t) & (events["kind"] == Kind.KERNEL)))
        for t in plausible.POOL
    }
    assert set(found["target"]) == wanted
    assert len(found) == len(plausible.POOL)


def test_counters_facts_and_losses(recording, shown):
    (counter,) = recording.counters
    values = list(zip(counter.times.tolist(), counter.values.tolist(), strict=True))
    assert shown.counters["process 4242", "live bytes"] == values
    rates = {"cpu GFLOP/s": "GFLOP/s", "cpu GB/s": "GB/s"}
    assert shown.units == {"live bytes": 3, "cpu arena": 3, **rates}
    (about,) = shown.instants
    assert about["machine"] == "a machine"
    assert about["events lost"] == "7"
    assert shown.lost == 7


def test_rates_add_up_to_the_work_which_threads_share():
    recording = plausible.training(2)
    work = {"GFLOP/s": 0, "GB/s": 0}
    kernels = recording.events[recording.events["kind"] == Kind.KERNEL]
    for _, number in set(kernels[["parent", "detail"]].tolist()):
        detail = recording.details[number]
        work["GFLOP/s"] += detail.flops
        work["GB/s"] += detail.bytes_read + detail.bytes_written
    for counter in rates_of(recording):
        done = (counter.values[:-1] * np.diff(counter.times)).sum()
        assert done == pytest.approx(work[counter.unit], rel=1e-3)


def test_a_million_events_are_small():
    recording = plausible.many(1_000_000)
    assert sum(map(len, perfetto_parts(recording))) / len(recording.events) < 35


def test_what_is_encoded_in_parts_is_one_sequence(monkeypatch):
    monkeypatch.setattr(perfetto, "CHUNK", 1000)
    recording = plausible.many(12_000)
    shown = wire.replay(wire.packets_of(b"".join(perfetto_parts(recording))))
    slices = Tally((s.name, s.category, s.start, s.end) for s in shown.slices)
    assert slices == recorded(recording)


# ---- Chrome


@pytest.fixture
def chrome(recording, tmp_path):
    save(recording, tmp_path / "trace.json")
    return json.loads((tmp_path / "trace.json").read_text("utf-8"))


def test_chrome_has_every_event_at_its_time(recording, chrome):
    slices = [e for e in chrome["traceEvents"] if e["ph"] == "X"]
    assert recorded(recording) == Tally(
        (e["name"], e["cat"], round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000))
        for e in slices
    )
    flops = [e["args"]["flops"] for e in slices if e["cat"] == "kernel" and "args" in e]
    assert sum(flops) == sum(
        recording.details[k].flops for k in recording.events["detail"] if k >= 0
    )


def test_chrome_times_are_whole_nanoseconds(tmp_path):
    recording = plausible.many(400)
    save(recording, tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text("utf-8"))["traceEvents"]
    starts = sorted(round(e["ts"] * 1000) for e in events if e["ph"] == "X")
    assert starts == recording.events["start"].tolist()


def test_chrome_nests_within_a_thread(chrome):
    threads = {}
    for event in chrome["traceEvents"]:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    names = {
        (e["pid"], e["tid"]) for e in chrome["traceEvents"] if e["name"] == "thread_name"
    }  # fmt: skip
    assert set(threads) == names
    for events in threads.values():
        spans = sorted((round(e["ts"] * 1e3), -round(e["dur"] * 1e3)) for e in events)
        open_until = []
        for start, length in spans:
            while open_until and open_until[-1] <= start:
                open_until.pop()
            assert not open_until or start - length <= open_until[-1]
            open_until.append(start - length)


def test_chrome_arrows_lie_in_slices(recording, chrome):
    events = chrome["traceEvents"]
    ends = {kind: {e["id"]: e for e in events if e["ph"] == kind} for kind in "sf"}
    assert len(ends["s"]) == len(recording.flows)
    assert ends["s"].keys() == ends["f"].keys()
    assert all(end["bp"] == "e" for end in ends["f"].values())  # the slice around it, not the next
    starts = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    for end in (*ends["s"].values(), *ends["f"].values()):
        assert (end["pid"], end["tid"], end["ts"]) in starts
    kinds = recording.events["kind"][recording.flows["source"]]
    wanted = Tally("op" if kind == Kind.OP else "launch" for kind in kinds)
    assert Tally(end["name"] for end in ends["s"].values()) == wanted
    assert len(wanted) == 2


def test_chrome_has_counters_and_facts(recording, chrome):
    values = [e for e in chrome["traceEvents"] if e["ph"] == "C"]
    assert len([e for e in values if e["name"] == "live bytes (B)"]) == 60
    assert chrome["otherData"] == {"machine": "a machine", "treadle": "0.1.0", "events lost": 7}


# ---- stacks


def test_folded_stacks_have_the_time_of_each_less_what_lies_in_it(recording, tmp_path):
    save(recording, tmp_path / "stacks.folded")
    found = {}
    for line in (tmp_path / "stacks.folded").read_text("utf-8").splitlines():
        stack, _, time = line.rpartition(" ")
        found[stack] = int(time)
    assert found == slow_stacks(recording)


def slow_stacks(recording):
    """Nanosecond by nanosecond would be: times as sets of whole microseconds, without idle ones."""
    events, names = recording.events, recording.names
    found = Tally()
    works = events["kind"] != Kind.GAP
    for row in np.flatnonzero(works).tolist():
        event = events[row]
        own = set(range(int(event["start"]), int(event["end"]), 1000))
        for child in events[works & (events["parent"] == row)]:
            own -= set(range(int(child["start"]), int(child["end"]), 1000))
        path, above = [], row
        while above >= 0:
            path.append(names[events[above]["name"]])
            above = int(events[above]["parent"])
        found[";".join(reversed(path))] += 1000 * len(own)
    return {stack: time for stack, time in found.items() if time}


def test_names_cannot_break_folded_lines(tmp_path):
    recording = plausible.training(1)
    recording.names = [f"{name};x\n{k} 7" for k, name in enumerate(recording.names)]
    save(recording, tmp_path / "stacks.folded")
    for line in (tmp_path / "stacks.folded").read_text("utf-8").splitlines():
        assert all(part.count(",x") == 1 for part in line.split(";"))


def test_speedscope_opens_and_closes_every_event(recording, tmp_path):
    save(recording, tmp_path / "p.speedscope.json")
    page = json.loads((tmp_path / "p.speedscope.json").read_text("utf-8"))
    frames = [frame["name"] for frame in page["shared"]["frames"]]
    found = Tally()
    for profile in page["profiles"]:
        stack, last = [], profile["startValue"]
        assert profile["unit"] == "nanoseconds"
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                stack.append(event)
            else:
                opened = stack.pop()
                assert opened["frame"] == event["frame"]
                found[frames[event["frame"]], opened["at"], last] += 1
        assert not stack
    assert found == Tally(
        (name, start, end) for name, _, start, end in recorded(recording).elements()
    )


# ---- any file


@pytest.mark.parametrize("name", ["p.pftrace", "p.json", "p.folded", "p.speedscope.json", "p.html"])
def test_nothing_recorded_is_a_file_too(name, tmp_path):
    save(Recording(), tmp_path / name)
    assert (tmp_path / name).exists()
    if name.endswith("json"):
        json.loads((tmp_path / name).read_text("utf-8"))


def test_an_unknown_ending_is_refused_with_those_that_are_known(tmp_path):
    with pytest.raises(ArgumentError, match=r"trace\.txt") as caught:
        save(Recording(), tmp_path / "trace.txt")
    assert ".pftrace (Perfetto)" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "p.json"
    path.write_text("old", "utf-8")
    broken = plausible.training(1)
    broken.names = broken.names[:2]
    with pytest.raises(IndexError):
        save(broken, path)
    assert path.read_text("utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["p.json"]
