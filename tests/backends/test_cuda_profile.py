"""Kernels on a device have names that say what they are, times, and the lines of their callers."""

from __future__ import annotations

import importlib
import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("triton")

from fake_driver import NEAR_THE_DRIVER, OK, install
from triton_host import INTERPRETED, node_of, plan_of

import treadle as td
from treadle.backends import registry
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.naming import PLACE, named
from treadle.base.device import device as device_of
from treadle.base.watch import WATCH
from treadle.ops.neural import softmax
from treadle.profiler import profile as module
from treadle.profiler.rates import all_counters
from treadle.runtime import realize

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")


@pytest.fixture
def cuda(monkeypatch):
    """A device whose clock goes on by a millisecond with every event, as the backend of td's."""
    sources = list(WATCH.sources), list(WATCH.begun)
    monkeypatch.setitem(registry.BACKENDS, "cuda", "treadle.backends.cuda.backend:Cuda")
    fake, _ = install(monkeypatch)
    ticks, handles, times = itertools.count(1), itertools.count(1), {}

    def record(event, _):
        times[event] = float(next(ticks))
        return (OK,)

    fake.cuEventCreate = lambda _: (OK, next(handles))
    fake.cuEventRecord = record
    fake.cuEventElapsedTime = lambda first, last: (OK, times[last] - times[first])
    monkeypatch.setattr(module, "ceilings", lambda *_: (1e12, 1e13))
    registry.backend_of.cache_clear()
    yield registry.backend_of(device_of("cuda"))
    realize.forget()
    registry.backend_of.cache_clear()
    registry.LOADED.pop(device_of("cuda"))
    WATCH.sources[:], WATCH.begun[:] = sources
    for name in NEAR_THE_DRIVER:
        sys.modules.pop(f"treadle.backends.cuda.{name}", None)


def array(*shape, dtype="float32"):
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    return td.tensor(values, device="cuda").cast(dtype).realize()


def two_kernels(x, w):
    y = td.gelu(x @ w)
    return td.softmax(y.sum(0))


@interpreted
def test_kernels_are_called_by_what_they_compute(cuda):
    x = array(16, 32, dtype="bfloat16")
    before = set(cuda.gpu.functions)
    td.softmax(array(8, 32) * 1.0).realize()
    td.gelu(td.linear(x, array(16, 32, dtype="bfloat16"))).realize()
    names = {name for _, name in set(cuda.gpu.functions) - before}
    assert "softmax_f32_rows" in names
    assert "linear_gelu_bf16" in names


@interpreted
def test_explain_says_the_same_as_on_the_host(cuda):
    host = [td.tensor(np.zeros(s, np.float32)) for s in ((16, 32), (32, 64))]
    found = td.explain(two_kernels, array(16, 32), array(32, 64))
    expected = td.explain(two_kernels, *host)
    assert [row.sites for row in found.rows] == [row.sites for row in expected.rows]
    assert sum(r.flops for r in found.rows) == sum(r.flops for r in expected.rows)
    assert found.rows[0].kind == "product"
    assert all(row.reason for row in found.rows)
    assert "arena" in str(found)


@interpreted
def test_watched_programs_are_recorded(cuda):
    x, w = array(16, 32), array(32, 64)
    with td.profile() as plain:
        td.realize(two_kernels(x, w))
    with td.detect_anomaly(), td.profile() as prof:
        td.realize(two_kernels(x, w))
    runs = [
        [(event.name, event.detail.sites) for event in found.events().filter(kind="kernel")]
        for found in (plain, prof)
    ]
    assert runs[0] == runs[1] != []


LADDER = {
    1: ("compiled program", "run program", "k0   product"),
    2: ("simplify", "us", "GB/s"),
    3: ("why", "arena"),
    4: ("@triton.jit",),
    5: ("rule define-softmax",),
}


@interpreted
def test_the_ladder_is_there(cuda, capfd):
    x, w = array(16, 32), array(32, 64)
    with td.override(debug=5):
        td.realize(two_kernels(x, w))
    err = capfd.readouterr().err
    for words in LADDER.values():
        assert all(word in err for word in words)


@interpreted
def test_a_profile_has_the_devices_times_and_the_callers_lines(cuda):
    x, w = array(16, 32), array(32, 64)
    plain = two_kernels(x, w).numpy().copy()
    with td.profile() as prof:
        watched = two_kernels(x, w).numpy()
    assert np.array_equal(plain, watched)
    kernels = prof.events().filter(kind="kernel")
    assert {e.track.device for e in kernels} == {"cuda:0"}
    assert {e.duration for e in kernels} == {1_000_000}  # a tick each
    starts = [e.start for e in kernels]
    assert starts == sorted(starts)
    first = two_kernels.__code__.co_firstlineno
    lines = {group.name for group in prof.group_by("line")}
    assert lines == {f"{__file__}:{first + 1}", f"{__file__}:{first + 2}"}
    assert prof.group_by("kernel")[0].ideal > 0
    again = two_kernels(x, w).numpy()  # as before: aimed anew
    assert np.array_equal(plain, again)


@compiled
def test_code_takes_a_name_without_being_compiled_again():
    plan, _ = plan_of([softmax(node_of(np.zeros((14, 1000), np.float32)))])
    code = code_of(plan.launches[0].source, 90)
    assert code.name == PLACE
    found = named(code.cubin, "softmax_f32_rows")
    assert len(found) == len(code.cubin)
    assert b".text.softmax_f32_rows\0" in found
    assert f".text.{PLACE}".encode() not in found
    assert named(code.cubin, PLACE) == code.cubin
    assert b".text." + b"x" * len(PLACE) in named(code.cubin, "x" * 200)


@interpreted
def test_a_report_has_the_text_and_the_memory_of_the_device(cuda):
    x, w = array(16, 32), array(32, 64)
    with td.profile() as prof:
        two_kernels(x, w).numpy()
    found = prof.recording
    (page,) = found.programs.values()
    assert all("@triton.jit" in page.code(step)[0] for step in range(len(page.kernels)))
    memory = {c.name: c for c in found.counters}["cuda:0 memory"]
    assert memory.values.max() >= 4 * (16 * 32 + 32 * 64)
    assert "cuda:0 GFLOP/s" in {c.name for c in all_counters(found)}


@interpreted
def test_modules_are_ranges_for_other_profilers(cuda, monkeypatch):
    said = []
    tool = SimpleNamespace(push_range=said.append, pop_range=lambda: said.append("end"))
    monkeypatch.setattr(
        importlib.import_module("treadle.backends.cuda.ranges"), "_tool", lambda: tool
    )
    model = td.nn.Sequential(td.nn.Linear(32, 16), td.nn.GELU(), td.nn.Linear(16, 8)).to("cuda")
    x = array(4, 32)
    model(x).numpy()
    assert said == []
    with td.profile():
        model(x).numpy()
    assert said == ["0", "end", "2", "end"]


@interpreted
def test_work_of_the_hosts_and_loops_have_times(cuda, monkeypatch):
    monkeypatch.setattr("treadle.backends.cuda.nest.MOST", 0)  # the host walks through the loop

    def run(x):
        y = td.fori_loop(0, 3, lambda i, x: x * 0.5 + i, x)
        return td.linalg.inv(y + 3 * td.eye(4, device="cuda"))

    x = array(4, 4)
    with td.profile() as found:
        run(x).realize()
    events = found.events().filter(kind="kernel")
    (program,) = {x.detail.program for x in events if x.detail.kind == "region"}
    own = {x.detail.kind for x in events if x.detail.program == program}
    assert "routine" in own  # besides that of the host's program
