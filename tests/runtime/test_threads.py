"""Threads that record, compile and look at the same time."""

from __future__ import annotations

import threading

import numpy as np

import treadle as td
from treadle.base.dtypes import float32
from treadle.ir.node import type_of
from treadle.ir.recording import RECORDING


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
