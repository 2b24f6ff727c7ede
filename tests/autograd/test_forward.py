"""Every row's push forward against its pull back, which is checked against differences."""

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import complex128, dtype, float64
from treadle.base.errors import DtypeError, ShapeError
from treadle.ops.defs import Kind
from treadle.testing.samples import REFERENCE, cases, public_rows, takes

ROWS = public_rows()
LATER = ["rerouted"]  # has a gradient once somebody gives it one


def samples_fit(op, kind):
    try:
        return takes(op, kind)
    except ShapeError:  # its samples are for real numbers
        return False


NAMES = [
    pytest.param(name, kind.name, id=f"{name}-{kind.name}")
    for name, op in ROWS.items() for kind in (float64, complex128)
    if not isinstance(op.grad, str) and samples_fit(op, kind) and name not in LATER
    and (op.grad is not None or op.kind is not Kind.ROUTINE)
]  # fmt: skip
LARGEST = 4000


def leaves(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def moving(case, places):
    """The row as a function of its inexact operands, its inexact results as one vector."""

    def f(*xs):
        operands = [td.tensor(x, device=REFERENCE) for x in case.operands]
        for k, x in zip(places, xs, strict=True):
            operands[k] = x
        found = [y.reshape(-1) for y in leaves(case.record(operands)) if y.dtype.is_inexact]
        return td.concat(found)

    return f


def tensors(rng, xs):
    """Random directions."""
    found = [rng.normal(size=x.shape) + (1j * rng.normal(size=x.shape) if x.dtype.is_complex else 0)
             for x in xs]  # fmt: skip
    return [td.tensor(x, device=REFERENCE) for x in found]


def times(a, b):
    """How much a function with this gradient grows along b."""
    return np.sum(np.conj(a.numpy()) * b.numpy()).real


@pytest.mark.parametrize(("name", "kind"), NAMES)
def test_pushing_forward_is_the_transpose_of_pulling_back(name, kind):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    step = 1 if ROWS[name].samples.cases else 3  # elementwise: every third shape will do
    for case in itertools.islice(cases(ROWS[name], dtype(kind), rng), 0, None, step):
        places = [k for k, x in enumerate(case.operands) if x.dtype.kind in "fc"]
        if sum(x.size for x in case.operands) > LARGEST or not places:
            continue
        f = moving(case, places)
        xs = [td.tensor(case.operands[k], device=REFERENCE) for k in places]
        tangents = tensors(rng, xs)
        try:
            f(*xs)
        except DtypeError:  # an option that is not for complex numbers
            continue
        y, change = td.jvp(f, xs, tangents)
        (cotangent,) = tensors(rng, [y])
        _, pullback = td.vjp(f, *xs)
        right = sum(times(a, b) for a, b in zip(pullback(cotangent), tangents, strict=True))
        scale = np.abs(cotangent.numpy() * change.numpy()).sum() + 1.0
        assert abs(times(cotangent, change) - right) <= 1e-10 * scale, case
        np.testing.assert_allclose(y.numpy(), f(*xs).numpy(), 1e-12)
        _, push = td.linearize(f, *xs)
        np.testing.assert_allclose(push(*tangents).numpy(), change.numpy(), 1e-10, 1e-12)
