"""Index arithmetic against plain integers, by trying every point."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.base.sizes import unknown
from treadle.base.target import Takes
from treadle.ir.node import iota
from treadle.kernel.index import (
    ZERO,
    Axis,
    Index,
    Looked,
    Quotient,
    Remainder,
    larger,
    of_axis,
    ravel,
    smaller,
    unravel,
)  # fmt: skip
from treadle.kernel.plan import plan_steps
from treadle.ops import elementwise as e
from treadle.ops.contract import gather
from treadle.ops.reduce import sum_
from treadle.passes.pipeline import simplify
from treadle.testing.arrays import by_reference, compiled, node_of


def value_of(index, point):
    """An index expression at a point: {axis: integer}."""
    return index.constant + sum(c * atom_at(atom, point) for atom, c in index.terms)


def atom_at(atom, point):
    if isinstance(atom, Axis):
        return point[atom]
    if isinstance(atom, Remainder):
        return value_of(atom.of, point) % atom.by
    assert isinstance(atom, Quotient)
    return value_of(atom.of, point) // atom.by


def atoms_in(index):
    for atom, _ in index.terms:
        yield atom
        if isinstance(atom, Quotient):
            yield from atoms_in(atom.of)


def points(axes):
    for values in itertools.product(*(range(axis.extent) for axis in axes)):
        yield dict(zip(axes, values, strict=True))


@st.composite
def expressions(draw):
    """(axes, index, the same as a function of a point)."""
    axes = [Axis(f"a{k}", draw(st.integers(1, 5))) for k in range(draw(st.integers(1, 3)))]
    pool = [(of_axis(a), lambda p, a=a: p[a] if a.extent > 1 else 0) for a in axes]
    for _ in range(draw(st.integers(1, 8))):
        (x, f), (y, g) = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
        n = draw(st.integers(-7, 7))
        by = draw(st.sampled_from((1, 2, 3, 4, 5, 6, 12)))
        mask = 2 ** draw(st.integers(0, 4)) - 1
        kind = draw(st.sampled_from("+.*/%&<>"))
        least, most = smaller(x, y), larger(x, y)
        if least is None and kind in "<>":
            continue  # which it is depends on the point
        pool.append({
            "&": (x & mask, lambda p, f=f, mask=mask: f(p) & mask),
            "<": (least, lambda p, f=f, g=g: min(f(p), g(p))),
            ">": (most, lambda p, f=f, g=g: max(f(p), g(p))),
            "+": (x + y, lambda p, f=f, g=g: f(p) + g(p)),
            ".": (x + n, lambda p, f=f, n=n: f(p) + n),
            "*": (x * n, lambda p, f=f, n=n: f(p) * n),
            "/": (x // by, lambda p, f=f, by=by: f(p) // by),
            "%": (x % by, lambda p, f=f, by=by: f(p) % by),
        }[kind])  # fmt: skip
    return axes, *pool[-1]


@settings(max_examples=400)
@given(expressions())
def test_simplified_expression_has_the_value_of_plain_integers(expression):
    axes, index, plain = expression
    for point in points(axes):
        assert value_of(index, point) == plain(point), (index, point)


@settings(max_examples=200)
@given(expressions())
def test_bounds_hold_every_value(expression):
    axes, index, plain = expression
    low, high = index.bounds
    assert all(low <= plain(point) <= high for point in points(axes)), index


@settings(max_examples=200)
@given(expressions())
def test_what_is_divided_is_never_negative(expression):
    _, index, _ = expression
    for atom in atoms_in(index):
        if isinstance(atom, Quotient):
            assert atom.of.bounds[0] >= 0, atom


@settings(max_examples=200)
@given(expressions())
def test_axes_are_those_the_value_depends_on(expression):
    axes, index, plain = expression
    for axis in set(axes) - index.axes():
        for point in points(axes):
            assert plain(point) == plain({**point, axis: 0}), (index, axis)


shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


@given(shapes)
def test_ravel_counts_in_row_major_order(shape):
    axes = [Axis(f"a{k}", n) for k, n in enumerate(shape)]
    position = ravel([of_axis(a) for a in axes], shape)
    for point in points(axes):
        expected = np.ravel_multi_index(tuple(point.values()), shape)
        assert value_of(position, point) == expected


@given(shapes)
def test_unravel_undoes_ravel(shape):
    axes = [Axis(f"a{k}", n) for k, n in enumerate(shape)]
    index = tuple(of_axis(a) for a in axes)
    assert unravel(ravel(index, shape), shape) == index


@settings(max_examples=100)
@given(shapes, st.randoms(use_true_random=False))
def test_a_reshape_and_back_is_the_index_itself(shape, random):
    total = math.prod(shape)
    divisors = [n for n in range(1, total + 1) if total % n == 0]
    rows = random.choice(divisors)
    axes = [Axis(f"a{k}", n) for k, n in enumerate(shape)]
    index = tuple(of_axis(a) for a in axes)
    other = unravel(ravel(index, shape), (rows, total // rows))
    back = unravel(ravel(other, (rows, total // rows)), shape)
    for point in points(axes):
        assert [value_of(i, point) for i in back] == list(point.values()), (shape, rows)


@given(st.integers(1, 40), shapes)
def test_unravel_of_one_axis_gives_numpys_index(extent, shape):
    axis = Axis("a", math.prod(shape))
    index = unravel(of_axis(axis), shape)
    for n in range(min(extent, axis.extent)):
        expected = np.unravel_index(n, shape)
        assert [value_of(i, {axis: n}) for i in index] == list(expected)


CANONICAL = {
    "x*4+y over 4": (lambda x, y: (x * 4 + y) // 4, "x"),
    "x*4+y mod 4": (lambda x, y: (x * 4 + y) % 4, "y"),
    "sum of parts": (lambda x, y: ((x * 4 + y) // 4) * 4 + (x * 4 + y) % 4, "x*4 + y"),
    "nested quotient": (lambda x, y: ((x * 16 + y) // 4) // 4, "x"),
    "common factor": (lambda x, y: (x * 8 + y * 2 + 1) // 2, "x*4 + y"),
    "mask of mask": (lambda x, y: ((x * 64 + y) & 63) & 63, "y"),
    "mask of a mask": (lambda x, y: ((x * 3 + y) & 15) & 7, "(x*3 + y) % 8"),
    "mask of more": (lambda x, y: (x * 3 + y) & 31, "x*3 + y"),
    "smaller": (lambda x, y: smaller(x * 4 + y, Index((), 23)), "x*4 + y"),
    "smaller by range": (lambda x, y: smaller(x + 3, y), "y"),
    "larger": (lambda x, y: larger(x * 4 + y, Index()), "x*4 + y"),
    "of the same": (lambda x, y: larger(x * 4 + y, x * 4), "x*4 + y"),
    "remainder of remainder": (lambda x, y: (x * 5 + y) % 12 % 4, "(x*5 + y) % 4"),
    "nothing": (lambda x, y: x + x * -1, "0"),
}


@pytest.mark.parametrize("name", CANONICAL)
def test_known_forms_simplify(name):
    x, y = Axis("x", 6), Axis("y", 4)
    make, expected = CANONICAL[name]
    assert str(make(of_axis(x), of_axis(y))) == expected


def test_equal_sums_are_equal_whatever_their_order():
    x, y = of_axis(Axis("x", 5)), of_axis(Axis("y", 7))
    assert x * 3 + y + 1 == y + 1 + x * 3
    assert hash(x + y) == hash(y + x)
    assert (x + y) // 3 == (y + x) // 3
    assert x + y != x + y * 2


def test_a_looked_up_index_is_an_atom_of_its_own():
    one, other = object(), object()
    index = Index([(Looked(one, 9), 2)], 1)
    assert index.bounds == (1, 17)
    assert not index.is_affine()
    assert Looked(one, 9) == Looked(one, 9) != Looked(other, 9)
    assert index // 2 == Index([(Looked(one, 9), 1)])


def test_an_axis_of_one_element_is_zero():
    assert of_axis(Axis("x", 1)) is ZERO


def test_what_ranges_do_not_tell_is_left_alone():
    x, y = of_axis(Axis("x", 5)), of_axis(Axis("y", 7))
    assert smaller(x, y) is None
    assert larger(x, y) is None
    assert x & 5 is None


WHOLE = {
    "every second": lambda i, n: i // 2,
    "in turn": lambda i, n: i % 3,
    "back to front": lambda i, n: n - 1 - i,
    "from the end": lambda i, n: i - n,
    "low bits": lambda i, n: i & 3,
    "kept in range": lambda i, n: e.minimum(e.maximum(i, 0), n - 1),
    "in another dtype": lambda i, n: e.cast(i, "int32") // 4,
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_gather_at_a_computed_index_is_a_view(name):
    data = np.random.default_rng(0).standard_normal((12, 3)).astype(np.float32)
    index = WHOLE[name](iota((12, 1), 0), 12)
    x = node_of(data)
    picked = gather(x, index.expand(12, 3), axis=0) * 2.0
    (expected,) = by_reference([picked])
    assert "[[" not in kernels_text([picked])
    (value,) = compiled([picked])
    np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("index", [
    lambda i: i + 3, lambda i: (i * 5) % 40, lambda i: e.cast(i * 30, "int8"), lambda i: i * i,
])  # fmt: skip
def test_an_index_that_may_lie_outside_is_looked_up(index):
    x = node_of(np.arange(12.0, dtype=np.float32))
    picked = gather(x, index(iota((12,), 0)), axis=0)
    assert "[[" in kernels_text([picked])
    (expected,) = by_reference([picked])
    np.testing.assert_array_equal(compiled([picked])[0], expected)


def test_nothing_is_looked_up_along_an_axis_of_one_element():
    """The element is the same, read with an index or without, and in any kernel."""
    x, index = node_of(np.array([[3.0]])), node_of(np.array([[0], [-1], [0]]))
    picked = gather(x.reshape(1, 1, 1), index.reshape(1, 3, 1), axis=1)
    total = sum_(picked) + x.reshape()
    assert "[[" not in kernels_text([picked])
    np.testing.assert_array_equal(compiled([total])[0], 12.0)


def kernels_text(roots):
    """The loop programs of a graph; a looked-up index prints in brackets of its own."""
    steps = plan_steps(simplify(roots), {}, Takes())
    return "\n".join(str(built.loops) for step in steps for built in step.programs())


def test_lines_of_a_sum_of_sizes_are_lines():
    t = unknown("t", 2, 9)
    row, column = Axis("row", 18), Axis("column", t + 2)
    place = Index([(row, t + 2), (column, 1)])
    assert place // (6 * t + 12) == Index([(row, 1)]) // 6
    assert place // (t + 2) % 6 == Index([(row, 1)]) % 6
