"""Sizes that are not known: what they say must be true of every number they stand for."""

from __future__ import annotations

import operator

import pytest

from treadle.base.sizes import Size, UnknownSizeError, evaluator, most, unknown
from treadle.testing.choice import Choice

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
T, U = unknown("t", 2, 9), unknown("u", 3, 7)
VALUES = [{"t": t, "u": u} for t in range(2, 10) for u in range(3, 8)]


def numbers(x):
    """What a size is for all values of its unknowns."""
    if not isinstance(x, Size):
        return [x] * len(VALUES)
    return [evaluator([x])(values)[0] for values in VALUES]


def grown(seed):
    """Expressions over two unknowns, and what they should be."""
    draw = Choice(seed)
    known = [(T, [v["t"] for v in VALUES]), (U, [v["u"] for v in VALUES])]
    known += [(n, [n] * len(VALUES)) for n in (draw.number(1, 9), draw.number(1, 64))]
    for _ in range(8):
        op = draw.one(ARITHMETIC)
        (x, xs), (y, ys) = draw.one(known), draw.one(known)
        if op in (operator.floordiv, operator.mod) and min(ys) <= 0:
            continue
        try:
            found = op(x, y)
        except UnknownSizeError:
            continue
        known.append((found, [op(a, b) for a, b in zip(xs, ys, strict=True)]))
    return known


@pytest.mark.parametrize("part", range(4))
def test_arithmetic_holds_for_every_value(part):
    for seed in range(part, 300, 4):
        for found, expected in grown(seed):
            assert numbers(found) == expected, (seed, found)
            if isinstance(found, Size):
                low, high = found.bounds
                assert low <= min(expected) <= max(expected) <= high == most(found), (seed, found)


@pytest.mark.parametrize("part", range(4))
def test_what_is_said_to_hold_holds_for_every_value(part):
    decided = 0
    for seed in range(part, 200, 4):
        known = grown(seed)
        for x, xs in known:
            for y, ys in known:
                for op in COMPARISONS:
                    try:
                        answer = op(x, y)
                    except UnknownSizeError:
                        continue
                    if isinstance(x, Size) or isinstance(y, Size):
                        decided += 1
                    assert all(op(a, b) == answer for a, b in zip(xs, ys, strict=True)), (x, op, y)
    assert decided > 1000


def test_equal_sizes_are_equal_however_they_were_made():
    assert (T + 1) * (T - 1) == T * T - 1
    assert hash((T + 1) * 2) == hash(2 * T + 2)
    assert (T * 64) // T == 64
    assert (T * 64 - 1) // 64 == T - 1
    assert (T * 6) % 3 == 0
    assert (T - 1) // T == 0
    assert isinstance(T - T, int)


@pytest.mark.parametrize("ask", [
    int, float, bool, range, lambda n: [0] * n, lambda n: n / 2, lambda n: 0.5 * n,
    lambda n: [1, 2, 3][n], lambda n: n == 3, lambda n: n < 3, lambda n: n != 3,
])  # fmt: skip
def test_the_number_itself_is_refused(ask):
    with pytest.raises(UnknownSizeError, match="from 2 to 9"):
        ask(T - 2 if ask is bool else T)


def test_two_ranges_of_one_name_are_different():
    assert unknown("t", 2, 9) is T
    with pytest.raises(UnknownSizeError):
        assert unknown("t", 2, 8) == T


def test_sums_divide_what_they_are_a_factor_of():
    for found, expected in (
        ((6 * T + 12) // (T + 2), 6), ((T * T + 2 * T) // (T + 2), T),
        ((6 * T + 12) % (T + 2), 0), ((T * U + 3 * T) // (U + 3), T),
        (((T + 3) * (U + 2) - 1) // (U + 2), T + 2),
    ):  # fmt: skip
        assert isinstance(found, type(expected))
        assert found == expected
    assert (6 * T + 13) % (T + 2) == 1


def test_whatever_else_one_asks_of_an_int_is_refused():
    asked = {name for name in dir(int) if callable(getattr(int, name))}
    known = {"__getnewargs__", "__int__", "__pos__", "from_bytes"}  # by way of others, or never
    assert asked - known <= set(dir(Size))
    for ask in (Size.bit_length, lambda size: size >> 1, abs, int, float, round):
        with pytest.raises(UnknownSizeError):
            ask(T)
