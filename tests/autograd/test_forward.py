"""Every row's push forward against its pull back, which is checked against differences."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import float64
from treadle.testing.samples import REFERENCE, cases, public_rows, takes

ROWS = public_rows()
LATER = ["rerouted"]  # has a gradient once somebody gives it one
NAMES = [
    name for name, op in ROWS.items()
    if not isinstance(op.grad, str) and takes(op, float64) and name not in LATER
]  # fmt: skip
LARGEST = 4000


def leaves(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def moving(case, places):
    """The row as a function of its float operands, its float results as one vector."""

    def f(*xs):
        operands = [td.tensor(x, device=REFERENCE) for x in case.operands]
        for k, x in zip(places, xs, strict=True):
            operands[k] = x
        found = [y.reshape(-1) for y in leaves(case.record(operands)) if y.dtype.is_float]
        return td.concat(found)

    return f


@pytest.mark.parametrize("name", NAMES)
def test_pushing_forward_is_the_transpose_of_pulling_back(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for case in cases(ROWS[name], float64, rng):
        places = [k for k, x in enumerate(case.operands) if x.dtype == np.float64]
        if sum(x.size for x in case.operands) > LARGEST or not places:
            continue
        f = moving(case, places)
        xs = [td.tensor(case.operands[k], device=REFERENCE) for k in places]
        tangents = [td.tensor(rng.normal(size=x.shape), device=REFERENCE) for x in xs]
        y, change = td.jvp(f, xs, tangents)
        cotangent = td.tensor(rng.normal(size=y.shape), device=REFERENCE)
        _, pullback = td.vjp(f, *xs)
        pulled = pullback(cotangent)
        left = (cotangent * change).sum().item()
        right = sum((a * b).sum().item() for a, b in zip(pulled, tangents, strict=True))
        scale = float(abs(cotangent * change).sum().item()) + 1.0
        assert abs(left - right) <= 1e-10 * scale, case
        np.testing.assert_allclose(y.numpy(), f(*xs).numpy(), 1e-12)
        _, push = td.linearize(f, *xs)
        np.testing.assert_allclose(push(*tangents).numpy(), change.numpy(), 1e-10, 1e-12)
