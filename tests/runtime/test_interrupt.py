"""Ctrl-C in the middle of something long: soon obeyed, and every value is right afterwards."""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import program, threads
from treadle.runtime import realize as runtime
from treadle.runtime.realize import COMPILING

PACKAGE = str(Path(td.__file__).parent)
SRC = Path(td.__file__).parent.parent

COMMON = """
import os, signal, threading, time
import numpy as np
import treadle as td

def interrupted(work, after):
    "Interrupt work after so many seconds; how long it went on then."
    sent = []
    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(after, interrupt)
    timer.start()
    try:
        work()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.join()
    raise SystemExit("it was never interrupted")

def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
"""

KERNELS = """
a = td.tensor(np.random.default_rng(0).standard_normal((400, 400)).astype(np.float32) / 20)

def chain(count):
    x, middle = a, []
    for k in range(count):
        x = td.sin(x @ a) + a
        if k % 10 == 0:
            middle.append(x)
    return x, middle

chain(20)[0].realize()
count = 20
while True:  # until it takes about a second
    chain(count)[0].realize()
    y, middle = chain(count)
    whole = seconds(y.realize)
    if whole > 0.5 or count > 2000:
        break
    count = int(count * max(1.5, 0.7 / whole))
expected, parts = y.numpy().copy(), [x.numpy().copy() for x in middle]

for share in (0.1, 0.4):
    y, middle = chain(count)
    went_on = interrupted(y.realize, whole * share)
    assert y._node.buffer is None
    assert went_on < 0.2 + 0.25 * whole, (went_on, whole)
    for x, part in zip(middle, parts):
        assert x._node.buffer is None
    np.testing.assert_array_equal(y.numpy(), expected)
    for x, part in zip(middle, parts):
        np.testing.assert_array_equal(x.numpy(), part)
print("well")
"""

PIECES = """
def chain():
    x = td.tensor([0, 7])
    for _ in range(15_000):
        x = x + 1
    return x

from treadle.ir.recording import RECORDING
RECORDING.look = lambda node: None
chain().realize()
whole = seconds(chain().realize)
for share in (0.2, 0.5):
    x = chain()
    interrupted(x.realize, whole * share)
    assert x._node.buffer is None
    assert x.tolist() == [15_000, 15_007]
print("well")
"""


@pytest.mark.parametrize("script", [KERNELS, PIECES], ids=["kernels", "pieces"])
def test_an_interrupt_is_obeyed_and_no_value_is_lost(script):
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    command = [sys.executable, "-c", COMMON + script]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.strip() == "well", done.stderr


@pytest.fixture
def always_long(monkeypatch):
    """Programs of more than one entry come back to Python after every entry."""
    monkeypatch.setattr(program, "LONG", 1)
    monkeypatch.setattr(program, "SHORT", 1)
    monkeypatch.setattr(runtime, "_PROGRAMS", {})
    real = threads.part_launcher()

    def one(address):
        words = program._word_type(program.BASES).from_address(address)
        left, words[2] = words[2], 1
        try:
            return real(address)
        finally:
            words[2] = left

    monkeypatch.setattr(program, "part_launcher", lambda: one)
    return one


def many(x):
    return [td.softmax(x @ x.T, axis=0).sum(1), td.sort(x @ x.T, axis=1), (x * 2.0).sum()]


def test_a_program_run_entry_by_entry_gives_the_same_bits(always_long):
    x = td.tensor(np.random.default_rng(1).standard_normal((30, 40)).astype(np.float32))
    roots = many(x)
    td.realize(*roots)
    ((variant,),) = [family.variants for family in runtime._PROGRAMS.values()]
    made = variant.program
    assert made.launch is program._launch_in_parts
    assert len(made.entries) > 2
    whole = td.compile(many)(x)
    for a, b in zip(roots, whole, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("after", range(4))
def test_an_interrupt_between_two_entries_leaves_nothing_behind(after, always_long, monkeypatch):
    x = td.tensor(np.random.default_rng(1).standard_normal((30, 40)).astype(np.float32))
    count = iter(range(100))

    def interrupted(address):
        ran = always_long(address)
        if next(count) == after:
            signal.raise_signal(signal.SIGINT)
        return ran

    expected = [y.numpy() for y in many(td.tensor(x.numpy(), device="reference"))]
    roots = many(x)
    with monkeypatch.context() as patch:
        patch.setattr(program, "part_launcher", lambda: interrupted)
        with pytest.raises(KeyboardInterrupt):
            td.realize(*roots)
    assert all(root._node.buffer is None for root in roots)
    for root, value in zip(roots, expected, strict=True):
        np.testing.assert_allclose(root.numpy(), value, rtol=1e-4)


def test_what_overwrites_its_inputs_is_one_call(always_long):
    w = td.tensor(np.ones((30, 30), np.float32)).realize()

    @td.compile
    def step(x):
        w.assign(td.tanh(x @ x) + w)
        return (w * 2.0).sum()

    x, before = td.tensor(np.full((30, 30), 0.01, np.float32)), runtime.programs()
    step(x)
    new = [p for p in runtime.programs() if p not in before]
    (made,) = [p for p in new if getattr(p, "overwrites", None)]
    assert len(made.entries) > 1
    assert made.launch is not program._launch_in_parts


# ---- an interrupt before any line of ours

POINTS = int(os.environ.get("TREADLE_INTERRUPTS", "40"))


class Interrupt:
    """Raises KeyboardInterrupt before line number `at` of ours that this thread comes to.

    Not at the line of a `with`: that is where it is left as well, and there Python lets no signal
    come between the block and the end of what it is in.
    """

    def __init__(self, at):
        self.at, self.lines = at, 0

    def __call__(self, frame, event, _):
        code = frame.f_code
        name = code.co_filename
        if not name.startswith(PACKAGE) or code.co_name in ("__del__", "append"):
            return None  # also what Python calls when memory goes, and lets nothing be raised from
        if name.endswith("cpu/buffers.py"):
            return None  # a block may be lost there, no more
        if event == "line" and not is_with(name, frame.f_lineno):
            self.lines += 1
            if self.lines == self.at:
                raise KeyboardInterrupt
        return self

    def during(self, work):
        before = sys.gettrace()
        sys.settrace(self)
        try:
            work()
        finally:
            sys.settrace(before)
        return self.lines


@functools.cache
def is_with(name, number):
    return linecache.getline(name, number).lstrip().startswith("with ")


def graph(k, x):
    """A graph to be planned anew, of kernels that are known."""
    runtime._PROGRAMS.clear()
    y = td.softmax(x * (1.0 + k)) @ x.T
    return [y + k, td.flip(y, 0).sum(1), (x - k).max()]


def in_another_thread(work):
    """What work gives there; it would wait for ever for a lock that was left behind."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(30)
    return found


@pytest.mark.parametrize("part", range(4))
def test_an_interrupt_at_any_line_leaves_all_in_order(part):
    array = np.random.default_rng(part).standard_normal((5, 6)).astype(np.float32)
    x, there = td.tensor(array), td.tensor(array, device="reference")
    td.realize(*graph(part + 0.25, x))
    count = Interrupt(0).during(lambda: td.realize(*graph(part + 0.5, x)))
    assert count > 1000
    obeyed = 0
    for k, at in enumerate(np.linspace(1, count - 10, POINTS).astype(int) + part):
        roots = graph(1.0 + part + k / POINTS, x)
        try:
            Interrupt(at).during(lambda roots=roots: td.realize(*roots))
        except KeyboardInterrupt:
            obeyed += 1
        assert not COMPILING.get()
        assert len(in_another_thread(lambda k=k: (x + k / POINTS).sum().item())) == 1
        expected = graph(1.0 + part + k / POINTS, there)
        for root, value in zip(roots, expected, strict=True):
            np.testing.assert_allclose(root.numpy(), value.numpy(), rtol=1e-4, atol=1e-5)
    assert obeyed > 0.75 * POINTS


def test_an_interrupt_while_elements_are_set_leaves_the_old_or_the_new_value():
    x = td.zeros(4).realize()

    def change():
        x[1:3] = 7.0

    change()
    count = Interrupt(0).during(change)
    for at in range(1, count + 1):
        x[1:3] = 1.0
        kept = x.numpy() if at % 2 else None
        with contextlib.suppress(KeyboardInterrupt):
            Interrupt(at).during(change)
        assert in_another_thread(x.tolist) in ([[0.0, 1.0, 1.0, 0.0]], [[0.0, 7.0, 7.0, 0.0]])
        assert kept is None or kept.tolist() == [0.0, 1.0, 1.0, 0.0]
        assert in_another_thread(lambda: x.__setitem__(3, 0.0)) == [None]
