"""Elements set outside of any function: whoever read the value before keeps it."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from held_values import MAKERS, READERS

import treadle as td
from treadle.backends.cpu.backend import Cpu
from treadle.runtime import realize as runtime

KEYS = {
    "an element": 1,
    "a slice": slice(1, 3),
    "all": Ellipsis,
    "every second": slice(None, None, 2),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("maker", MAKERS)
def test_whoever_reads_a_value_keeps_it_when_elements_are_set(maker, key):
    for name, reader in READERS.items():
        x = MAKERS[maker]()
        held = []
        for k in range(4):
            expected = x.numpy().copy()
            held.append((reader(x), expected))
            with td.no_grad():
                x[KEYS[key]] = 10.0 * k
            changed = expected.copy()
            changed[KEYS[key]] = 10.0 * k
            np.testing.assert_array_equal(x.numpy(), changed, err_msg=name)
            for found, before in held:
                np.testing.assert_array_equal(np.asarray(found), before, err_msg=name)


def test_setting_elements_in_a_loop_copies_once_and_plans_nothing(monkeypatch):
    x, row = td.zeros(5, 6).realize(), td.arange(6).cast("float32").realize()
    x[0, 0] = 1.0
    copies, plans, real, plan = [], [], Cpu.copy, runtime.compile_graph
    monkeypatch.setattr(Cpu, "copy", lambda *args: copies.append(1) or real(*args))
    monkeypatch.setattr(runtime, "compile_graph", lambda *args: plans.append(1) or plan(*args))
    expected = x.numpy().copy()
    for i in range(5):
        x[i] = row
        expected[i] = np.arange(6)
        for j in range(6):
            x[i, -j] = i + 0.5 * j
            expected[i, -j] = i + 0.5 * j
    assert not copies
    assert not plans
    np.testing.assert_array_equal(x.numpy(), expected)
    x[1:3, ::2] = 7
    assert len(copies) <= 1


def test_setting_elements_takes_turns_with_compiled_functions():
    x = td.zeros(4)
    step = td.compile(lambda: x.assign(x + 1.0))
    for k in range(3):
        x[k] = 10.0
        step()
    assert x.tolist() == [13.0, 12.0, 11.0, 3.0]


def test_threads_that_read_what_another_sets_find_whole_values():
    x = td.zeros(64).realize()
    wrong, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            y = x + 0.0
            first = y.numpy().copy()
            wrong.extend(
                [1] * bool((first != first[0]).any()) + [1] * bool((y.numpy() != first).any())
            )

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for k in range(300):
        x[:] = float(k)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
