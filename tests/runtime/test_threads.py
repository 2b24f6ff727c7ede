"""Threads that record, compile and look at the same time."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import float32
from treadle.ir.graph import toposort
from treadle.ir.node import type_of
from treadle.ir.recording import RECORDING
from treadle.runtime import realize as runtime
from treadle.runtime.once import MAKING
from treadle.runtime.realize import COMPILING


def at_once(work, count=4):
    """Run work(k) in threads that start together; what it raises is raised here."""
    barrier, errors = threading.Barrier(count), []

    def body(k):
        barrier.wait()
        try:
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_threads_may_look_at_the_same_pending_tensors():
    for turn in range(100):
        x = td.tensor(np.arange(4.0)) + turn
        y = x * x
        z = td.exp(y - y) + x
        found = [None] * 4

        def look(k, y=y, z=z, found=found):
            found[k] = (z if k % 2 else y).tolist(), z.sum().item()

        at_once(look)
        base = np.arange(4.0) + turn
        for k in range(4):
            assert found[k][0] == list(1 + base if k % 2 else base * base)
            assert found[k][1] == (1 + base).sum()


def test_lines_are_still_noted_after_other_threads_compiled():
    at_once(lambda k: [td.softmax(td.ones(3, k + 2) * n).tolist() for n in range(1, 12)])
    assert RECORDING.site is None
    shown = td.explain(lambda x: td.softmax(x) + 1.0, td.ones(4, 5))
    assert any("test_threads.py" in site for row in shown.rows for site in row.sites)


def test_a_type_is_one_object_in_all_threads():
    for n in range(1000, 1200):
        found = [None] * 4

        def make(k, n=n, found=found):
            found[k] = type_of((n, 3), float32)

        at_once(make)
        assert all(type_ is found[0] for type_ in found)


def test_no_two_threads_draw_the_same_numbers():
    td.manual_seed(0)
    drawn = [[] for _ in range(4)]
    at_once(lambda k: drawn[k].extend(float(td.random.uniform(1)[0]) for _ in range(100)))
    numbers = [number for part in drawn for number in part]
    assert len(set(numbers)) == len(numbers)


# ---- compiling at the same time


@pytest.fixture
def fresh(monkeypatch):
    """A process that knows no programs yet."""
    monkeypatch.setattr(runtime, "_PROGRAMS", {})
    monkeypatch.setattr(runtime, "_SINGLE", {})


class Slow:
    """A compiler that stays at some graphs until it is let go, and knows what it was given."""

    def __init__(self, monkeypatch, stays):
        self.stays, self.real = stays, runtime.compile_graph
        self.there, self.go = threading.Event(), threading.Event()
        self.given = []
        monkeypatch.setattr(runtime, "compile_graph", self)

    def __call__(self, roots, leaves, replaces):
        names = {node.op.name for node in toposort(roots)}
        self.given.append(names)
        if self.stays in names:
            self.there.set()
            assert self.go.wait(60)
        return self.real(roots, leaves, replaces)

    def count(self, name):
        return sum(name in names for names in self.given)


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    return thread


STALLED = {
    "one op": lambda x: td.atan2(x, x + 0.0),
    "a graph": lambda x: td.atan2(x + 1.0, x * 2.0).sum(),
    "a long graph": lambda x: td.atan2(sum([x * k for k in range(1000)]), x),
}


@pytest.mark.parametrize("name", STALLED)
def test_a_graph_that_takes_long_to_compile_stalls_nobody_else(name, fresh, monkeypatch):
    slow = Slow(monkeypatch, "atan2")
    monkeypatch.setattr(runtime, "LONG", 500)
    x = (td.tensor([1.0, 2.0]) + 0.0).realize()
    y = STALLED[name](x)
    stalled = in_thread(y.realize)
    try:
        assert slow.there.wait(60)
        assert (td.exp(x - x) + 1.0).sum().item() == 4.0  # cold, one op after the other
        assert (x * 2.0).tolist() == [2.0, 4.0]
        assert td.compile(lambda x: td.cos(x - x) * 3.0)(x).tolist() == [3.0, 3.0]
        assert y._node.buffer is None
    finally:
        slow.go.set()
        stalled.join()
    np.testing.assert_allclose(y.numpy(), STALLED[name](td.tensor(x.numpy(), device="reference")))


@pytest.mark.parametrize("record", [lambda x: td.atan2(x, x), lambda x: td.atan2(x * 3.0, x) + 1.0])
def test_threads_that_want_the_same_graph_compile_it_once(record, fresh, monkeypatch):
    slow = Slow(monkeypatch, "atan2")
    inputs = [td.tensor([1.0 + k, 2.0]) for k in range(6)]
    results = [record(x) for x in inputs]
    threads = [in_thread(y.realize) for y in results]
    assert slow.there.wait(60)
    slow.go.set()
    for thread in threads:
        thread.join()
    assert slow.count("atan2") == 1
    assert not MAKING
    for x, y in zip(inputs, results, strict=True):
        there = td.tensor(x.numpy(), device="reference")
        np.testing.assert_allclose(y.numpy(), record(there).numpy(), rtol=1e-6)


def test_threads_that_call_the_same_function_trace_it_once():
    traced = []

    @td.compile
    def f(x):
        traced.append(1)
        return td.softmax(x) * 3.0

    x = td.tensor(np.arange(6.0).reshape(2, 3))
    found = [None] * 6
    at_once(lambda k: found.__setitem__(k, f(x).tolist()), 6)
    assert len(traced) == 1
    assert all(value == found[0] for value in found)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_where_compiling_fails_the_next_one_tries(error, fresh, monkeypatch):
    left, real = [error("no"), error("not yet")], runtime._stages

    def broken(*graph):
        if left:
            raise left.pop()
        return real(*graph)

    monkeypatch.setattr(runtime, "_stages", broken)
    y = td.tensor([1.0, 2.0]) * 5.0 + 1.0
    for message in ("not yet", "no"):
        with pytest.raises(error, match=message):
            y.realize()
        assert not MAKING
        assert not COMPILING.get()
        assert y._node.buffer is None
    assert y.tolist() == [6.0, 11.0]


def test_threads_that_wait_for_a_graph_that_fails_get_it_nevertheless(fresh, monkeypatch):
    slow = Slow(monkeypatch, "atan2")
    real, failed = slow.real, []

    def fails_once(roots, leaves, replaces):
        if not failed:
            failed.append(1)
            raise RuntimeError("the first one fails")
        return real(roots, leaves, replaces)

    slow.real = fails_once
    results = [td.atan2(td.tensor([1.0, k]) * 2.0, 3.0) for k in range(4)]
    errors = []

    def look(y):
        try:
            y.realize()
        except RuntimeError as error:
            errors.append(error)

    threads = [in_thread(lambda y=y: look(y)) for y in results]
    assert slow.there.wait(60)
    slow.go.set()
    for thread in threads:
        thread.join()
    assert len(errors) == 1
    assert sum(y._node.buffer is not None for y in results) == 3
    for k, y in enumerate(results):
        np.testing.assert_allclose(y.numpy(), np.arctan2([2.0, 2.0 * k], 3.0), rtol=1e-6)


def test_a_graph_is_compiled_as_it_was_read(fresh, monkeypatch):
    """Other threads compute its parts meanwhile, and take away what they were computed from."""
    slow = Slow(monkeypatch, "atan2")
    x = td.tensor([1.0, 2.0])
    part, whole = x * 3.0, td.arange(2) * 2.0
    y = td.atan2(td.exp(part) + whole, whole + 1.0)
    stalled = in_thread(y.realize)
    assert slow.there.wait(60)
    assert part.tolist() == [3.0, 6.0]
    assert whole.tolist() == [0.0, 2.0]
    assert not whole._node.operands
    slow.go.set()
    stalled.join()
    expected = np.arctan2(np.exp([3.0, 6.0]) + np.array([0.0, 2.0]), [1.0, 3.0])
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-6)


def test_what_is_explained_in_one_thread_is_not_heard_in_another():
    functions = [
        lambda x: td.softmax(x @ x.T),
        lambda x: x.sum(0) * 2.0,
        lambda x: td.sort(x, axis=1),
        lambda x: td.layer_norm(x) @ x.T @ x,
    ]
    x = td.tensor(np.arange(12.0).reshape(3, 4))
    alone = [[row.ops for row in td.explain(f, x).rows] for f in functions]
    for _ in range(5):
        found = [None] * len(functions)

        def look(k, found=found):
            found[k] = [row.ops for row in td.explain(functions[k], x).rows]

        at_once(look, len(functions))
        assert found == alone
