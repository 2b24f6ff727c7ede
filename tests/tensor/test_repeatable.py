"""Whether sums may be taken in any order is set once, and programs are known by it."""

from __future__ import annotations

import numpy as np

import treadle as td
from treadle.base.knobs import MEANING


def test_it_is_what_was_set_and_programs_are_known_by_it():
    assert td.is_deterministic()
    before = MEANING.value
    try:
        td.set_deterministic(False)
        assert not td.is_deterministic()
        assert MEANING.names(MEANING.value ^ before) == ["deterministic"]
    finally:
        td.set_deterministic(True)
    assert MEANING.value == before
    assert td.is_deterministic()


def test_the_cpu_is_not_changed_by_it():
    rng = np.random.default_rng(0)
    table = td.tensor(rng.standard_normal((9, 5)).astype(np.float32))
    index = td.tensor(rng.integers(0, 9, 500))
    made = td.compile(td.grad(lambda table: (table[index] ** 2).sum()))
    found = [made(table).numpy()]
    with td.override(deterministic=0):
        found.append(made(table).numpy())
    np.testing.assert_array_equal(*found)
