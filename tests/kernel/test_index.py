"""Index arithmetic against plain integers, by trying every point."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.kernel.index import (
    ZERO,
    Axis,
    Index,
    Looked,
    Quotient,
    Remainder,
    of_axis,
    ravel,
    unravel,
)  # fmt: skip


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
        kind = draw(st.sampled_from("+.*/%"))
        pool.append({
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
