"""Work that waits is bounded, and what is held can be seen."""

from __future__ import annotations

import gc
import math
import sys
import threading

import numpy as np
import pytest

import treadle as td
from treadle.ir import node
from treadle.ir.graph import is_realised, toposort
from treadle.ir.node import placeholder, type_of
from treadle.ir.recording import RECORDING
from treadle.runtime import pending, realize
from treadle.tensor.memory_report import memory_report
from treadle.tensor.tensor import Tensor


@pytest.fixture
def programs(monkeypatch):
    """The number of nodes of every graph that is compiled."""
    made = []
    real = realize.compile_graph

    def noted(roots, leaves, replaces):
        made.append(len(toposort(roots, is_realised)))
        return real(roots, leaves, replaces)

    monkeypatch.setattr(realize, "compile_graph", noted)
    return made


def waiting(x):
    return pending.count_pending(x._node, 10**9)


def test_a_chain_nobody_looks_at_computes_itself(programs):
    x, most = td.tensor([1.0, 2.0]), 0
    for k in range(15_000):
        x = x * 0.999 + 0.001
        if k % 1000 == 0:
            most = max(most, waiting(x))
    assert most < 2.5 * pending.MOST_PENDING
    assert waiting(x) < 2.5 * pending.MOST_PENDING
    expected = 1.0 + np.array([0.0, 1.0]) * 0.999**15_000
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-3)
    assert len(programs) <= 4  # pieces of a loop are equal


def test_a_chain_is_bounded_without_the_collector_too():
    gc.disable()
    try:
        x, most = td.tensor([0, 5]), 0
        for k in range(60_000):
            x = x + 1
            if k % 2000 == 0:
                most = max(most, waiting(x))
    finally:
        gc.enable()
    assert most <= pending.MOST_PENDING + sum(node.UNSEEN)
    assert x.tolist() == [60_000, 60_005]


def test_a_chain_that_is_one_op_of_a_long_loop_is_bounded(monkeypatch):
    monkeypatch.setattr(pending, "MOST_PENDING", 100)
    monkeypatch.setattr(realize, "SMALLEST", 16)
    monkeypatch.setattr(realize, "LARGEST", 64)
    monkeypatch.setattr(node, "UNSEEN", (64, 64))
    monkeypatch.setattr(node, "_EMPTY", node._empty_nodes())
    x, other, most = td.tensor([0, 5]), td.tensor([1.0]), 0
    for _ in range(2000):
        x = x + 1
        for _ in range(64 + 64 // 2 - 1):  # as many as are recorded between two looks, on average
            other * 2.0
        most = max(most, waiting(x))
    assert most < 1000
    assert x.tolist() == [2000, 2005]


def test_a_long_chain_is_cut_when_looked_at(programs, monkeypatch):
    monkeypatch.setattr(RECORDING, "look", lambda node: None)
    x = td.tensor([1.0, 2.0])
    for _ in range(10_000):
        x = x * 0.999 + 0.001
    assert waiting(x) == 20_000
    np.testing.assert_allclose(x.numpy(), 1.0 + np.array([0.0, 0.999**10_000]), rtol=1e-3)
    assert len(programs) <= 3
    assert max(programs) < 2 * realize.LARGEST


def test_gradients_flow_through_pieces():
    w = x = td.tensor(np.array([1.0, 0.5])).requires_grad_()
    for _ in range(4000):
        x = x * 0.9999 + td.sin(x) * 1e-4
    x.sum().backward()
    for value, found in zip((1.0, 0.5), w.grad.tolist(), strict=True):
        slope = 1.0
        for _ in range(4000):
            slope *= 0.9999 + 1e-4 * math.cos(value)
            value = value * 0.9999 + 1e-4 * math.sin(value)
        assert found == pytest.approx(slope, rel=1e-9)


def test_pieces_of_a_graph_with_many_roots_give_every_root(monkeypatch):
    monkeypatch.setattr(realize, "SMALLEST", 4)
    monkeypatch.setattr(realize, "LARGEST", 16)
    monkeypatch.setattr(realize, "LONG", 10)
    x, roots, expected = td.tensor([1.0, 2.0]), [], []
    value = np.array([1.0, 2.0])
    for k in range(60):
        x, value = x * 0.5 + td.flip(x, 0), value * 0.5 + value[::-1]
        if k % 7 == 0:
            roots.append(x.reshape(2, 1).expand(2, 3))
            expected.append(np.broadcast_to(value.reshape(2, 1), (2, 3)))
    td.realize(*roots, x)
    for root, array in zip(roots, expected, strict=True):
        np.testing.assert_allclose(root.numpy(), array, rtol=1e-5)
    np.testing.assert_allclose(x.numpy(), value, rtol=1e-5)


def test_what_is_traced_or_compiled_is_not_computed(monkeypatch):
    monkeypatch.setattr(pending, "MOST_PENDING", 2)
    seen = []
    monkeypatch.setattr(RECORDING, "look", lambda node: seen.append(node) or pending.look(node))
    monkeypatch.setattr(node, "UNSEEN", (0, 1))  # every node is looked at
    monkeypatch.setattr(node, "_EMPTY", node._empty_nodes())

    @td.compile
    def f(x):
        for _ in range(10):
            x = td.softmax(x * 2.0)
        return x

    expected = f.function(td.tensor([1.0, 2.0], device="reference")).tolist()
    seen.clear()
    np.testing.assert_allclose(f(td.tensor([1.0, 2.0])).tolist(), expected, rtol=1e-6)
    assert len(seen) > 20
    assert all(node.buffer is None for node in seen)
    x = placeholder(type_of((2,), td.float32))
    pending.look(td.sin(td.sin(td.sin(x))))  # nothing is known of x


def test_the_report_counts_what_is_held():
    gc.collect()
    before = memory_report()
    x = td.ones(1 << 20).realize()
    y = x + 1.0
    view = x.reshape(1 << 10, 1 << 10).realize()
    held = memory_report()
    assert held.tensors - before.tensors == 3
    assert held.realised - before.realised == 2
    assert held.pending - before.pending == 1
    assert 1 << 22 <= held.tensor_bytes - before.tensor_bytes <= 2 << 22
    y.realize()
    computed = memory_report()
    assert computed.pending == before.pending
    assert computed.tensor_bytes - held.tensor_bytes == 1 << 22
    assert computed.programs >= 1
    assert computed.kernels >= 1
    assert computed.mapped_bytes >= computed.tensor_bytes - computed.borrowed_bytes
    del x, y, view
    assert memory_report().tensor_bytes == before.tensor_bytes
    for word in ("tensors", "pending", "pool", "programs", "kernels", "cache"):
        assert word in repr(computed)


def test_the_report_counts_values_that_only_gradients_hold():
    gc.collect()
    before = memory_report().tensor_bytes
    w = td.ones(1 << 18).requires_grad_()
    y = td.exp(w).realize()
    z = (y * 2.0).realize()
    del y
    assert memory_report().tensor_bytes - before == 2 << 20  # w is a constant nobody looked at
    assert z.requires_grad


def test_the_report_asks_nothing_of_objects_that_are_not_ours():
    class Lazy:
        @property
        def __class__(self):
            raise AssertionError("an import that nobody asked for")

    kept = [Lazy()]
    assert memory_report().tensors >= 0
    del kept


def test_what_lies_below_a_computed_value_does_not_wait():
    w = td.tensor([1.0]).requires_grad_()
    before = memory_report().pending
    y = td.exp(w * 3.0)
    assert memory_report().pending == before + 2
    y.realize()
    assert memory_report().pending == before


def test_the_report_breaks_nothing_that_other_threads_are_making():
    errors, stop = [], threading.Event()

    def build():
        try:
            while not stop.is_set():
                tuple(k for k in range(30))  # filled while the generator runs
        except SystemError as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=build) for _ in range(2)]
    try:
        for thread in threads:
            thread.start()
        for _ in range(5):
            memory_report()
    finally:
        stop.set()
        sys.setswitchinterval(before)
        for thread in threads:
            thread.join()
    assert not errors


def test_the_report_leaves_out_a_tensor_that_is_just_being_made():
    unfinished = Tensor.__new__(Tensor)
    assert memory_report().tensors >= 0
    del unfinished
