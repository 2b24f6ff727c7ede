"""Do independent entries run at the same time, and only those?"""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu.beside import Touched, groups
from treadle.backends.cpu.program import Program
from treadle.backends.cpu.runners import BESIDE
from treadle.backends.cpu.threads import Pool
from treadle.testing.fuzz.watch import instead

LENGTH = 20_000  # of one line: a softmax of it is one block


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch):
    pool = Pool.get(2)
    monkeypatch.setattr(Pool, "get", staticmethod(lambda threads=None: pool))


def run(f, *arrays):
    """The results of a compiled function, and how many entries run beside each."""
    seen = []

    def look(program, inputs, results=None):
        rows = (ctypes.c_int64 * (4 * len(program.entries))).from_address(program.table)
        seen.append([flags >> BESIDE for flags in rows[3::4]])
        return usual(program, inputs, results)

    usual = Program.run
    with instead(lambda _: look):
        found = td.compile(f)(*(td.tensor(x) for x in arrays))
        values = [x.numpy() for x in found]
    return values, max(seen, key=len)


def lines(count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((1, LENGTH)).astype(np.float32) for _ in range(count)]


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max())
    return e / e.sum()


def test_branches_that_one_thread_can_do_each_run_side_by_side():
    x, y = lines(2)
    (a, b), beside = run(lambda x, y: (td.softmax(x, 1), td.softmax(y, 1)), x, y)
    assert beside == [1, 0]
    np.testing.assert_allclose(a, softmax(x), rtol=1e-5)
    np.testing.assert_allclose(b, softmax(y), rtol=1e-5)


def test_branches_of_several_kernels_run_side_by_side():
    arrays = lines(2, seed=1)
    values, beside = run(lambda *xs: [td.cumprod(x * 0.001 + 1, 1) for x in xs], *arrays)
    assert sum(beside) >= 2, beside
    for x, found in zip(arrays, values, strict=True):
        wide = np.cumprod((x * np.float32(0.001) + np.float32(1)).astype(np.float64), 1)
        np.testing.assert_allclose(found, wide, rtol=1e-4)


def test_what_needs_another_waits_for_it():
    (x,) = lines(1)
    (a, b), beside = run(lambda x: (s := td.softmax(x, 1), td.softmax(s * 3, 1)), x)
    assert not sum(beside)
    np.testing.assert_allclose(b, softmax(a * 3), rtol=1e-5)


def test_results_are_those_of_one_thread():
    arrays = lines(4, seed=3)

    def f(*xs):
        return [td.softmax(td.sort(x, 1), 1) for x in xs]

    values, beside = run(f, *arrays)
    assert sum(beside)
    for x, found in zip(arrays, values, strict=True):
        alone, _ = run(lambda x: [td.softmax(td.sort(x, 1), 1)], x)
        np.testing.assert_array_equal(found, alone[0])


class Line:
    def __init__(self, blocks, step, serial=False, scratch=0):
        self.blocks, self.step, self.serial, self.scratch = blocks, step, serial, scratch

    def __repr__(self):
        return f"{self.step}"


class Known:
    def __init__(self, *touched):
        self.touched = touched

    def of(self, number):
        return self.touched[number]


def test_memory_decides():
    a, b, c = (0, 0, 64), (0, 64, 128), (0, 32, 96)
    reads_a, reads_b, reads_c = (Touched([x], []) for x in (a, b, c))
    writes_a, writes_b = (Touched([], [x]) for x in (a, b))
    for one, two, apart in (
        (reads_a, reads_c, True), (writes_a, writes_b, True), (writes_a, reads_c, False),
        (reads_b, writes_b, False), (writes_a, writes_a, False), (writes_a, reads_b, True),
    ):  # fmt: skip
        entries = [Line(1, 0), Line(1, 1)]
        assert len(groups(entries, Known(one, two), 2)) == (1 if apart else 2)


def test_who_fills_the_threads_runs_alone():
    apart = Known(*(Touched([], [(0, 64 * k, 64 * k + 64)]) for k in range(4)))
    entries = [Line(4, 0), Line(1, 1), Line(1, 2), Line(8, 3)]
    assert str(groups(entries, apart, 2)) == "[[0], [1, 2, 3]]"
    assert str(groups(entries, apart, 1)) == "[[0], [1], [2], [3]]"
    assert str(groups([Line(1, 0), Line(1, 1, True), Line(1, 2)], apart, 2)) == "[[0, 2], [1]]"
    assert str(groups([Line(1, 0), Line(1, 0)], apart, 2)) == "[[0], [0]]"


def test_threads_do_not_meet_in_scratch():
    apart = Known(*(Touched([], [(0, 64 * k, 64 * k + 64)]) for k in range(4)))
    sizes = (64, 0, 128, 64)
    entries = [Line(1, k, scratch=scratch) for k, scratch in enumerate(sizes)]
    assert str(groups(entries, apart, 2)) == "[[0, 1, 3], [2]]"


@pytest.mark.parametrize("seed", range(40))
def test_nobody_goes_past_what_he_waits_for(seed):
    draw = random.Random(seed)

    def some():
        return [
            (0, at, at + draw.randint(1, 9)) for at in draw.sample(range(60), draw.randint(0, 2))
        ]

    steps = [Touched(some(), some()) for _ in range(12)]
    numbers = [k for k in range(12) for _ in range(draw.randint(1, 2))]
    entries = [Line(draw.randint(1, 5), k, draw.random() < 0.2) for k in numbers]
    found = groups(entries, Known(*steps), draw.randint(2, 4))
    rank = {id(e): k for k, group in enumerate(found) for e in group}
    flat = [e for group in found for e in group]
    assert sorted(map(id, flat)) == sorted(map(id, entries))
    for k, early in enumerate(entries):
        for late in entries[k + 1 :]:
            if early.step == late.step or steps[early.step].meets(steps[late.step]):
                assert rank[id(early)] < rank[id(late)]
