"""Complex numbers as pairs: what reaches backends is real, and real programs are not looked at."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import treadle as td
from treadle.base.dtypes import complex64, float32
from treadle.ir.graph import toposort
from treadle.ir.node import Type, leaf, placeholder, type_of
from treadle.ops.composite import composite
from treadle.ops.defs import TABLE
from treadle.ops.elementwise import exp
from treadle.passes import pairs
from treadle.passes.pairs import in_pairs
from treadle.passes.pipeline import simplify

PLACE = type_of((3, 4), complex64)


def all_real(roots):
    return not any(node.dtype.is_complex for node in toposort(roots))


def test_a_leaf_and_a_root_have_a_last_axis_of_two():
    x = placeholder(PLACE)
    (root,), (place,) = in_pairs([exp(x)], [x])
    assert place.type is root.type is type_of((3, 4, 2), float32)
    assert all_real([root])
    assert all_real(simplify([root]))


def test_views_of_memory_stay_whole():
    x = placeholder(PLACE)
    view = x.permute(1, 0).reshape(2, 6)
    (root, same), (place,) = in_pairs([view, x], [x])
    assert same is place
    assert [node.op.name for node in toposort([root])] == ["leaf", "permute", "reshape"]


def test_programs_of_real_numbers_are_given_back():
    x = placeholder(type_of((3,), float32))
    roots, leaves = [x + 1.0], [x]
    found = in_pairs(roots, leaves)
    assert found[0] is roots
    assert found[1] is leaves


def test_nothing_is_looked_at_before_there_is_a_complex_type():
    code = """
import treadle as td
from treadle.ir.node import Type
from treadle.passes import pairs
looked = []
walk = pairs.toposort
pairs.toposort = lambda *args: looked.append(1) or walk(*args)
(td.ones(3) * 2).sum().item()
assert not Type.paired and not looked
(td.ones(3) * 2j).sum().item()
assert Type.paired and looked
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_a_definition_hides_is_found():
    @composite(lambda np, x: np.abs(np.exp(1j * x)))
    def hidden_phase(x, /):
        return abs(exp(x * 1j))

    try:
        x = td.tensor(np.linspace(-3, 3, 7))
        for _ in range(2):
            np.testing.assert_allclose(hidden_phase(x).numpy(), np.ones(7), rtol=1e-15)
            np.testing.assert_allclose(td.compile(hidden_phase)(x).numpy(), np.ones(7), rtol=1e-15)
    finally:
        del TABLE["hidden_phase"]


def test_a_small_part_of_a_state_is_written_alone():
    state = td.tensor(np.zeros((64, 32), np.complex64))

    def step(row):
        state[3] = row

    shown = str(td.explain(step, td.ones(32, dtype="complex64")))
    assert "scatter" in shown or "put" in shown
    assert "512 B written" in shown or "256 B written" in shown


def test_types_of_complex_numbers_mark_the_process():
    assert leaf(PLACE, None).dtype is complex64
    assert Type.paired
    assert pairs.BY_PART
