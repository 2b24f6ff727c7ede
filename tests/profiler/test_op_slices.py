"""Ops that the user called as slices, and arrows from them to the kernels that computed them."""

from __future__ import annotations

import json
import threading
from collections import Counter as Tally
from pathlib import Path

import numpy as np
import pytest
import wire

import treadle as td
from treadle.ir.recording import RECORDING
from treadle.ops.defs import Elementwise, Inline, Op
from treadle.profiler.lanes import lanes_of
from treadle.profiler.recording import Kind
from treadle.tensor import calls
from treadle.tensor.tensor import Tensor


def plain():
    """The methods by which ops are called, as they are now."""
    names = [name for name in vars(Tensor) if name.startswith("__")]
    return [vars(kind)["__call__"] for kind in (Op, Elementwise, Inline)] + [
        vars(Tensor)[name] for name in ("_apply", *names)
    ]


@pytest.fixture(autouse=True)
def given_back():
    """Whatever a test does: nothing is left of the clocks when nobody profiles."""
    before = plain()
    yield
    assert plain() == before
    assert RECORDING.site is None


@pytest.fixture
def x():
    return td.tensor(np.linspace(0, 1, 24, dtype=np.float32).reshape(4, 6)).realize()


def ops(prof):
    return prof.events().filter(kind="op")


def names(prof):
    return [event.name for event in ops(prof)]


def arrows(prof):
    """From which op to which kernel, by name and in order."""
    events = prof.events()
    pairs = [(events[a], events[b]) for a, b in prof.recording.flows.tolist()]
    return sorted((a.name, b.name) for a, b in pairs if a.kind == Kind.OP)


def line_of(words):
    """The line of this file in which words stand first."""
    lines = Path(__file__).read_text("utf-8").splitlines()
    return f"{__file__}:{next(k for k, line in enumerate(lines, 1) if words in line)}"


# ---- slices


@pytest.mark.parametrize(("call", "wanted"), [
    (lambda x: td.softmax(x, axis=-1), "softmax(axis=-1)"),
    (lambda x: x.softmax(0), "softmax(axis=0)"),
    (lambda x: td.layer_norm(x, td.ones(6), eps=0.1), "layer_norm("),
    (lambda x: td.gelu(x), "gelu("),
    (lambda x: td.exp(x), "exp"),
    (lambda x: x + 1, "add"),
    (lambda x: 1 - x, "sub"),
    (lambda x: x + x.numpy(), "add"),
    (lambda x: -x, "neg"),
    (lambda x: x == x, "eq"),
    (lambda x: x @ x.T, "matmul"),
    (lambda x: x.sum(0), "sum"),
    (lambda x: x[1:, ::2], "getitem"),
    (lambda x: x.clone().__setitem__(0, 2.0), "setitem"),
    (lambda x: td.split(x, 2), "split"),
    (lambda x: td.zeros(3), "zeros"),
    (lambda x: td.add(np.ones(6, np.float32), x), "add"),
], ids=[
    "composite", "method", "layer_norm", "gelu", "primitive", "operator", "reflected", "array",
    "unary", "comparison", "product", "reduction", "index", "assignment", "several", "creation",
    "translated",
])  # fmt: skip
def test_a_call_is_one_slice_whatever_it_is_made_of(x, call, wanted):
    with td.profile() as prof:
        call(x)
    *_, last = ops(prof)  # some make an operand first
    assert last.name.startswith(wanted)
    assert last.track.device == "python"
    assert last.duration > 0
    assert names(prof).count(last.name) == 1
    assert len({(e.start, e.end) for e in ops(prof)}) == len(ops(prof)) <= 2


def test_what_the_package_records_for_itself_is_no_slice(x):
    with td.profile() as prof:
        x.zeros_like()  # an expand of a number, on nodes
    assert names(prof) == []


def test_slices_lie_in_spans_and_modules_and_know_their_line(x):
    class Scaled(td.nn.Module):
        def forward(self, x):
            return td.tanh(x) * 2.0

    with td.profile() as prof, td.span("outer"):
        y = Scaled()(x)
        td.relu(y)
    tanh, mul, relu = ops(prof)
    events = prof.events()
    assert [e.name for e in (tanh, mul, relu)] == ["tanh", "mul", "relu()"]
    assert {events[tanh.parent].kind, events[mul.parent].kind} == {Kind.MODULE}
    assert events[relu.parent].name == "outer"
    assert tanh.detail.sites == mul.detail.sites == (line_of("return td.tanh"),)
    assert tanh.detail.modules == ("Scaled",)
    assert relu.detail.sites == (line_of("td.relu(y)"),)
    assert {e.detail.phase for e in (tanh, mul, relu)} == {"forward"}


def test_own_times_of_a_span_are_without_those_of_ops(x):
    with td.profile() as prof, td.span("outer"):
        td.exp(x) + 1
    (span,) = prof.group_by("span")
    recorded = prof.group_by("recorded")
    assert {group.name for group in recorded} == {"exp", "add"}
    assert span.own == pytest.approx(span.time - sum(group.time for group in recorded))
    assert not prof.group_by("op")  # nothing was computed
    assert prof.events().filter(kind="kernel").total == 0


def test_what_an_op_computes_lies_in_it(x):
    y = x * 2.0
    with td.profile() as prof:
        y[y > 1.0]  # as many as there are
    events = prof.events()
    asked = events.filter(kind="realize")[0]
    assert events[asked.parent].kind == Kind.OP
    assert asked.name.startswith("__getitem__() at test_op_slices.py")


def test_time_of_ops_is_that_of_their_kernels(x):
    with td.profile() as prof:
        (td.softmax(x, axis=-1) @ x.T).numpy()
    kernels = prof.events().filter(kind="kernel")
    spent = {group.name: group.time for group in prof.group_by("op")}
    assert set(spent) == {"softmax", "matmul"}
    assert sum(spent.values()) == pytest.approx(kernels.total)


# ---- arrows


def test_arrows_lead_to_the_kernel_that_computed_an_op(x, tmp_path):
    with td.profile() as prof:
        y = td.softmax(x + 1, axis=-1)
        (y @ y.T).numpy()
    assert arrows(prof) == [
        ("add", "add_softmax_f32"), ("matmul()", "matmul_f32"), ("permute", "matmul_f32"),
        ("softmax(axis=-1)", "add_softmax_f32"),
    ]  # fmt: skip
    prof.save(tmp_path / "t.pftrace")
    shown = wire.replay(wire.packets_of((tmp_path / "t.pftrace").read_bytes()))
    ends = {n: s for s in shown.slices for n in s.ends_flows}
    starts = [(s, ends[n]) for s in shown.slices for n in s.starts_flows]
    assert sorted((a.name, b.name) for a, b in starts if a.category == "op") == arrows(prof)
    assert {b.category for _, b in starts} == {"kernel"}
    softmax = next(s for s in shown.slices if s.name == "softmax(axis=-1)")
    assert softmax.line == line_of("y = td.softmax(x + 1")
    prof.save(tmp_path / "t.json")
    found = json.loads((tmp_path / "t.json").read_text("utf-8"))["traceEvents"]
    named = Tally(e["name"] for e in found if e["ph"] == "s")
    assert named == {"op": len(arrows(prof)), "launch": len(prof.recording.flows) - named["op"]}


def test_callers_of_one_program_have_their_own_arrows(x):
    with td.profile() as prof:
        first = td.cos(x)
        second = td.cos(x)
        second.numpy()
        first.numpy()
    events = prof.events()
    found = [(a, b) for a, b in prof.recording.flows.tolist() if events[a].kind == Kind.OP]
    (one, ran_later), (two, ran_first) = sorted(found)
    assert events[one].detail.sites == (line_of("first = td.cos"),)
    assert events[two].detail.sites == (line_of("second = td.cos"),)
    assert events[ran_first].end <= events[ran_later].start


def test_kernels_of_a_gradient_have_an_arrow_from_what_it_is_of(x):
    x.requires_grad_()
    with td.profile() as prof:
        loss = (x @ x.T).sum()
        loss.backward()
        x.grad.numpy()
    assert not [e for e in ops(prof) if prof.events()[e.parent].kind == Kind.PHASE]
    events = prof.events()
    backward = [
        events[a].name for a, b in prof.recording.flows.tolist()
        if events[a].kind == Kind.OP and events[b].detail.phase == "backward"
    ]  # fmt: skip
    assert "matmul()" in backward


def test_a_compiled_function_has_slices_where_it_is_traced_and_no_arrows(x):
    step = td.compile(lambda x: td.softmax(td.exp(x), axis=-1))
    with td.profile() as prof:
        step(x).numpy()
    assert names(prof) == ["exp", "softmax(axis=-1)"]
    (stage,) = prof.events().filter(name="record")
    assert {e.parent for e in ops(prof)} == {stage.row}
    assert arrows(prof) == []
    with td.profile() as again:
        step(x).numpy()
    assert names(again) == []
    assert arrows(again) == []
    assert again.events().filter(kind="kernel")


def test_an_inner_profile_has_the_ops_and_arrows_of_its_time(x):
    with td.profile() as outer:
        y = td.exp(x)
        with td.profile() as inner:
            (y + 1).numpy()
        td.sin(x)
    assert names(outer) == ["exp", "add", "sin"]
    assert names(inner) == ["add"]
    assert [source for source, _ in arrows(inner)] == ["add"]
    assert [source for source, _ in arrows(outer)] == ["add", "exp"]


# ---- whatever happens


def test_a_call_that_is_refused_leaves_nothing(x):
    with td.profile() as prof:
        with pytest.raises(td.TreadleError, match="axis"):
            td.softmax(x, axis=7)
        with pytest.raises(td.TreadleError):
            x + td.ones(5)
        td.exp(x)
    assert names(prof) == ["ones", "exp"]


class Stopping:
    @property
    def __array_interface__(self):
        raise KeyboardInterrupt


def test_an_interrupt_leaves_nothing_on(x):
    with td.profile() as prof:
        with pytest.raises(KeyboardInterrupt):
            x + Stopping()
        assert RECORDING.site is None
        td.sin(x)
    assert names(prof) == ["sin"]


def test_a_method_that_somebody_replaced_stays(x):
    before = Tensor.__add__
    try:
        with td.profile():
            Tensor.__add__ = lambda self, other: "mine"
        assert x + 1 == "mine"
    finally:
        Tensor.__add__ = before


def test_profiles_begin_and_end_while_other_threads_call_ops(x):
    over, wrong = threading.Event(), []

    def work():
        try:
            while not over.is_set():
                td.softmax(x + 1, axis=-1)[1:]
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    found = []
    for _ in range(30):
        with td.profile() as outer, td.profile():
            td.exp(x).numpy()
        found.append(outer)
    over.set()
    for thread in threads:
        thread.join()
    assert not wrong
    for prof in found:
        assert "exp" in names(prof)
        assert {lane.number for lane in lanes_of(prof.recording)} == {0}  # none overlaps in part
    assert not calls._exchanged
