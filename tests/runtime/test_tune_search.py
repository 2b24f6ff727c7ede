"""The search among ways by itself: where it climbs, what it drops, when it ends."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

import treadle as td
from treadle.backends import choices, tuning
from treadle.backends.choices import Question, Space
from treadle.kernel.choose import Pace

pytestmark = pytest.mark.usefixtures("own_cache")


class Model:
    """Programs of one step whose seconds a function of the way taken tells."""

    def __init__(self, default, near, fits=lambda way: True):
        self.space = Space(default, near, fits)

    def make(self):
        return choices.take(("test",), "kernel", self.space)

    def search(self, seconds_of, seconds=1e9, now=lambda: 0.0):
        search = tuning.Search(self.make, lambda way: [seconds_of(way)], seconds, now=now)
        with td.override(cache_dir="off"):
            best = search.run()
            choices.forget()
        return best, search


def by_one(way):
    return [replace(way, rows=way.rows + 1), replace(way, rows=max(1, way.rows - 1))]


def pace(rows):
    return Pace(2, rows)


def test_it_climbs_while_it_gains():
    best, _ = Model(pace(3), by_one).search(lambda way: 1.0 * 0.8**way.rows if way.rows < 9 else 9)
    assert best == pace(8)


def test_what_gains_alone_and_loses_together_is_dropped(monkeypatch):
    """The first program is faster as a whole, whatever steps said when their ways were tried."""
    monkeypatch.setattr(tuning, "ROUNDS", 1)
    timed = itertools.count()
    before_the_last_comparison = 3 * (tuning.TURNS + 1)

    def moody(way):
        other = 0.5 if next(timed) < before_the_last_comparison else 2.0
        return 1.0 if way == pace(3) else other

    best, search = Model(pace(3), by_one).search(moody)
    assert best == pace(3)
    assert list(search.best.values()) == [pace(3)]


def test_it_ends_when_time_is_up():
    ticks = itertools.count()
    best, search = Model(pace(1), by_one).search(
        lambda way: 0.5**way.rows, seconds=20, now=lambda: float(next(ticks))
    )
    assert 1 < best.rows < 12
    assert next(ticks) < 40
    assert len(search.tried) == 1


def test_it_ends_after_some_rounds():
    best, search = Model(pace(1), by_one).search(lambda way: 0.5**way.rows)
    assert len(next(iter(search.tried.values()))) == tuning.ROUNDS + 1
    assert best.rows == tuning.ROUNDS + 1


def test_what_time_was_too_short_for_stays_open():
    ticks = itertools.count()
    model = Model(pace(1), by_one)
    _, search = model.search(lambda way: 1.0, seconds=1, now=lambda: float(next(ticks)))
    assert not search._is_settled(next(iter(search.asked)))


def test_steps_that_take_no_time_are_left_alone():
    asked = {"busy": Question(Space(pace(1), by_one, lambda _: True), {0})}
    asked["idle"] = Question(Space(pace(1), by_one, lambda _: True), {1})

    def make():
        for number, name in enumerate(asked):
            choices.begin_step(number)
            choices.take(("test",), name, asked[name].space)
        return object()

    search = tuning.Search(make, lambda _: [1.0, 0.001], 1e9, now=lambda: 0.0)
    with td.override(cache_dir="off"):
        search.run()
        choices.forget()
    assert sorted(map(len, search.tried.values())) == [1, 2]


def test_a_way_that_is_refused_costs_the_others_nothing():
    spaces = {name: Space(pace(4), by_one, lambda _: True) for name in "abc"}

    def make():
        taken = {}
        for number, (name, space) in enumerate(spaces.items()):
            choices.begin_step(number)
            taken[name] = choices.take(("test",), name, space).rows
        if taken["b"] == 5:
            raise MemoryError("that tile is too large")
        return taken

    search = tuning.Search(
        make, lambda taken: [0.5 ** taken[name] for name in "abc"], 1e9, (MemoryError,), lambda: 0.0
    )
    with td.override(cache_dir="off"):
        best = search.run()
        choices.forget()
    assert best["b"] == 4
    assert best["a"] == best["c"] > 10
