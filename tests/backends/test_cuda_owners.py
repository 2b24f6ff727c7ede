"""Sums at looked-up indices: each index has one program, whatever order programs run in."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_cases import integers, normal
from triton_host import INTERPRETED, check, node_of, plan_of

from treadle.backends.cuda import owners
from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.program import Plan
from treadle.base.dtypes import float32, int64
from treadle.ir.node import placeholder, type_of
from treadle.ops.composite import take
from treadle.ops.contract import scatter_add, scatter_max
from treadle.ops.scan import argsort
from treadle.passes.pipeline import simplify

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")


def rows(count, size, width, high):
    """Rows added at indices that are the same along a row."""
    index = integers(high, count, 1).expand(count, width)
    return [scatter_add(normal(size, width), index, normal(count, width), axis=0)]


def outside():
    index = node_of(np.array([-9, -1, 0, 5, 99, 4, -5] * 12)).reshape((84, 1)).expand(84, 6)
    return [scatter_add(normal(5, 6), index, normal(84, 6), axis=0)]


def said_otherwise():
    """The same places from the front and from the back: still one owner each."""
    index = np.random.default_rng(4).integers(-9, 9, (90, 1))
    return [scatter_add(normal(9, 6), node_of(index).expand(90, 6), normal(90, 6), axis=0)]


def lines():
    """One number for an index, and no other axis."""
    return [scatter_add(normal(40), integers(40, 300), normal(300), axis=0)]


CASES = {
    "few indices": lambda: rows(200, 7, 24, 7),
    "many": lambda: rows(130, 400, 40, 400),
    "more than are compared at once": lambda: rows(2100, 30, 4, 30),
    "one": lambda: rows(100, 3, 5, 1),
    "out of range": outside,
    "said otherwise": said_otherwise,
    "lines": lines,
}
names = pytest.mark.parametrize("name", CASES)


@interpreted
@names
def test_interpreted(name):
    check(CASES[name](), 2e-6)


@compiled
@names
def test_compiled(name):
    plan, _ = plan_of(CASES[name]())
    for launch in plan.launches:
        assert code_of(launch.source, 90).cubin


@pytest.fixture
def soon(monkeypatch):
    """Few entries are sorted already."""
    monkeypatch.setattr(owners, "MOST", owners.FEWEST)


@names
def test_sorted(soon, name):
    roots = CASES[name]()
    plan, _ = plan_of(roots)
    assert any("more = 1" in launch.source.text for launch in plan.launches)
    if INTERPRETED:
        check(roots, 2e-6)
    else:
        for launch in plan.launches:
            assert code_of(launch.source, 90).cubin


@interpreted
def test_a_sort_beside_it():
    """Each has memory of its own."""
    added = scatter_add(normal(7), integers(7, 6000), normal(6000), axis=0)
    check([added, argsort(normal(5200), axis=0)], 1e-5)


@pytest.mark.parametrize(
    ("entries", "places", "wanted"),
    [
        (200, 7, False),
        (4000, 7, True),
        (4000, 3000, False),
        (40000, 30000, True),
        (1 << 21, 9, True),
    ],
)
def test_many_entries_are_sorted(entries, places, wanted):
    x = placeholder(type_of((places, 8), float32))
    index = placeholder(type_of((entries, 1), int64))
    added = placeholder(type_of((entries, 8), float32))
    root = scatter_add(x, index.expand(entries, 8), added, axis=0)
    plan = Plan(simplify([root]), [x, index, added], {}, 132)
    assert any("more = 1" in launch.source.text for launch in plan.launches) is wanted


def forms_of(roots):
    plan, _ = plan_of(roots)
    return ["SCAN" in dict(launch.source.constants) for launch in plan.launches]


def test_every_entry_has_a_program():
    plan, _ = plan_of(rows(200, 7, 24, 7))
    assert plan.launches[-1].grid == (200, 1)
    assert any(forms_of(lines()))


def test_others_go_over_entries_in_order():
    index, x = integers(5, 200, 24), normal(5, 24)
    assert not any(forms_of([scatter_add(x, index, normal(200, 24), axis=0)]))  # each its own
    one = integers(5, 200, 1).expand(200, 24)
    assert not any(forms_of([scatter_max(x, one, normal(200, 24), axis=0)]))
    assert not any(forms_of(rows(20, 7, 24, 7)))
    assert not any(forms_of([take(normal(5, 24), integers(5, 200), axis=0)]))
