"""A tensor that is an argument twice, or closed over too, is one tensor to compiled functions."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

import treadle as td

STATEMENTS = {
    "assign a": lambda a, b, c: a.assign(a + 1),
    "assign b": lambda a, b, c: b.assign(b * 3 + a),
    "assign c": lambda a, b, c: c.assign(c * 2 + b),
    "row of a": lambda a, b, c: a.__setitem__(0, c[1]),
    "read": lambda a, b, c: None,
}


def made(statements):
    def f(a, b, c):
        seen = [a + b * 10 + c * 100]
        for name in statements:
            STATEMENTS[name](a, b, c)
            seen.append(a + b * 10 + c * 100)
        return seen

    return f


def states():
    return [td.tensor(np.arange(3.0) + 10 * k) for k in range(3)]


@pytest.mark.parametrize(
    "statements", [*permutations(STATEMENTS, 2), *((name,) for name in STATEMENTS)], ids=", ".join
)
def test_every_way_to_give_the_same_tensor_twice(statements):
    """One function, called with other pairs of tensors each time; c is closed over."""
    f = made(statements)
    ours, theirs = states(), states()
    compiled = td.compile(lambda a, b: f(a, b, ours[2]))
    for first, second in (*product(range(3), repeat=2), (0, 1), (2, 1), (0, 2)):
        got = compiled(ours[first], ours[second])
        want = f(theirs[first], theirs[second], theirs[2])
        for x, y in zip([*got, *ours], [*want, *theirs], strict=True):
            np.testing.assert_array_equal(x.numpy(), y.numpy())
