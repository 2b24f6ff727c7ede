"""Who is told of new nodes: the threads that ask, for as long as they do, and nobody else."""

from __future__ import annotations

import gc
import random
import threading

import treadle as td
from treadle.ir.recording import RECORDING


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_thread_that_only_collects_garbage_slows_nobody_down():
    def collect():
        for _ in range(60):
            gc.collect(0)

    in_thread(collect)
    assert not RECORDING.watched


def test_a_thread_that_ends_while_it_watches_is_forgotten():
    made = set()

    def leave():
        RECORDING.watch(True, made)
        td.ones(3) + 1.0

    in_thread(leave)
    assert len(made) >= 1
    assert not RECORDING.watched
    before = len(made)
    td.ones(3) + 1.0  # a thread with the same number, perhaps
    in_thread(lambda: td.ones(3) + 1.0)
    assert len(made) == before


def test_each_thread_is_told_of_its_own_nodes_and_nothing_is_left_on():
    errors = []

    def work(seed):
        rng = random.Random(seed)
        try:
            for _ in range(300):
                made = set()
                RECORDING.watch(False, made)
                assert RECORDING.watched
                x = td.tensor(float(seed)) + 1.0
                RECORDING.watch(False, None)
                assert x._node in made
                assert len(made) < 5
                if rng.random() < 0.1:
                    gc.collect(0)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert not RECORDING.watched
