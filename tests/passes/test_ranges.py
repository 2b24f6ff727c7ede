"""Integer arithmetic simplified by ranges, against the same graph computed plainly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.base.dtypes import dtype
from treadle.ir.graph import toposort
from treadle.ir.node import const, iota, placeholder, type_of
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.passes.pipeline import simplify
from treadle.passes.ranges import bounds
from treadle.testing.arrays import array_type, by_reference, node_of

i, j = iota((6, 1), 0), iota((1, 8), 1)
v = placeholder(type_of((6, 8), dtype("int64")))


@st.composite
def expressions(draw):
    """An integer node over indices, constants and values of any size."""
    kind = draw(st.sampled_from(("int8", "int32", "int64", "uint8")))
    limits = np.iinfo(array_type(kind))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    values = rng.integers(limits.min, limits.max, (6, 8), array_type(kind), endpoint=True)
    pool = [e.cast(i, kind), e.cast(j, kind), e.cast(i, kind) * 8 + e.cast(j, kind)]
    pool.append(node_of(values))
    pool.append(m.pad(m.slice_(pool[1], [(0, 1, 1), (2, 7, 1)]), [(0, 0), (1, 2)], 3))
    for _ in range(draw(st.integers(1, 7))):
        a, b = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
        n = const(draw(st.integers(max(-9, int(limits.min)), 64)), dtype(kind))
        by = const(draw(st.sampled_from((1, 2, 3, 4, 8, 12, 16, 63))), dtype(kind))
        pool.append(draw(st.sampled_from((
            lambda a, b, n, by: a + b, lambda a, b, n, by: a - b, lambda a, b, n, by: a * by,
            lambda a, b, n, by: a + n, lambda a, b, n, by: a // by, lambda a, b, n, by: a % by,
            lambda a, b, n, by: a & (by - 1), lambda a, b, n, by: a & n,
            lambda a, b, n, by: e.minimum(a, n), lambda a, b, n, by: e.maximum(a, b),
            lambda a, b, n, by: e.where(a < n, a, b), lambda a, b, n, by: e.where(e.eq(a, n), b, a),
            lambda a, b, n, by: e.where(a >= b, n, a), lambda a, b, n, by: a // by // by,
            lambda a, b, n, by: e.cast(e.cast(a, "int16"), a.dtype),
        )))(a, b, n, by))  # fmt: skip
    return pool[-1]


@settings(max_examples=300, deadline=None)
@given(expressions())
def test_simplified_integers_keep_their_values(node):
    (before,), (after,) = by_reference([node]), by_reference(simplify([node]))
    np.testing.assert_array_equal(after, before)


@settings(max_examples=200, deadline=None)
@given(expressions())
def test_bounds_hold_every_value(node):
    nodes = [n for n in toposort([node]) if not n.dtype.is_float]
    for part, value in zip(nodes, by_reference(nodes), strict=True):
        low, high = bounds(part)
        assert low <= value.min(initial=high)
        assert value.max(initial=low) <= high


CASES = {
    "(8 i + j) // 8": ((i * 8 + j) // 8, i.expand(6, 8)),
    "(8 i + j) % 8": ((i * 8 + j) % 8, j.expand(6, 8)),
    "(8 i + j) & 7": ((i * 8 + j) & 7, j.expand(6, 8)),
    "(16 i + j) // 4": ((i * 16 + j * 4) // 4, i * 4 + j),
    "(j + 16) % 8": ((j + 16) % 8, j),
    "v & 63 & 63": (v & 63 & 63, v & 63),
    "v // 4 // 3": (v // 4 // 3, v // 12),
    "v % 12 % 4": (v % 12 % 4, v % 4),
    "(v & 7) // 8": ((v & 7) // 8, v * 0),
    "(v % 6) % 7": ((v % 6) % 7, v % 6),
    "v // 1": (v // 1, v),
    "min(i, 5)": (e.minimum(i, 5), i),
    "max(i - 9, j)": (e.maximum(i - 9, j), j.expand(6, 8)),
    "i < 6": (e.where(i < 6, j, i), j.expand(6, 8)),
    "i < 0": (e.where(i < 0, i + 6, i), i),
}


@pytest.mark.parametrize("name", CASES)
def test_known_forms_simplify(name):
    long, short = CASES[name]
    (found,), (wanted,) = simplify([long]), simplify([short])
    assert described(found) == described(wanted)


def described(root):
    return [(n.op, n.arg, n.type) for n in toposort([root])]


def test_what_may_wrap_is_left_alone():
    big = node_of(np.array([120, -128, 7], np.int8))
    for graph in ((big * 8) // 8, (big + 100) % 16, (big * 16 + 3) // 16, (big - 100) // 99 + big):
        (before,), (after,) = by_reference([graph]), by_reference(simplify([graph]))
        np.testing.assert_array_equal(after, before)
    (root,) = simplify([(big * 8) // 8])
    assert root is not big
