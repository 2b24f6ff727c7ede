"""Every row's gradient against finite differences in float64."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import treadle as td
from treadle.autograd.backward import gradients
from treadle.base.dtypes import float64, int64
from treadle.base.errors import GradientError
from treadle.ops.defs import Inline, Kind
from treadle.testing.gradcheck import gradcheck
from treadle.testing.samples import cases, public_rows, takes

ROWS = public_rows()
INDICES = [n for n, op in ROWS.items() if isinstance(op.grad, str) and isinstance(op, Inline)]
NO_GRADIENT = [n for n, op in ROWS.items() if isinstance(op.grad, str) and n not in INDICES]
STOPS = ["detach", "sign", "floor", "ceil", "round", "trunc"]  # constant where differentiable
PICKS = ["masked_select", "unique", "unique_counts", "unique_inverse", "unique_all"]
"""Rows that are linear in what they pick, and look at values to find out where that is."""
HALVES = ["cholesky_factor", "cholesky", "cholesky_ex", "eigh_pack", "eigh", "eigvalsh", "eig"]
"""Rows that read one half of a symmetric matrix, or leave an angle open: `test_linalg_*.py`."""
ELSEWHERE = [*HALVES, "rerouted"]  # the last has a gradient once somebody gives it one
WITH_GRADIENT = [n for n in ROWS if n not in (*INDICES, *NO_GRADIENT, *STOPS, *ELSEWHERE)]


def apart(case, rng):
    """Operands whose elements all differ by more than a step: no row is near a tie or a kink."""
    low, high = case.op.samples.low, case.op.samples.high
    count = sum(x.size for x in case.operands)
    values = rng.permutation(low + (high - low) * (np.arange(count) + 0.37) / count)
    ends = np.cumsum([x.size for x in case.operands])[:-1]
    return [
        part.reshape(x.shape) if x.dtype == np.float64 else x
        for x, part in zip(case.operands, np.split(values, ends), strict=True)
    ]


def away_from_jumps(case, operands):
    """Does a remainder stay on one branch under the steps of the check?"""
    if case.op.name not in ("remainder", "fmod"):
        return True
    quotient = operands[0] / operands[1]
    return bool(np.all(np.abs(quotient - np.round(quotient)) > 1e-3))


def joined(results):
    """All results that have gradients as one tensor."""
    if not isinstance(results, list | tuple):
        return results
    return td.concat([x.reshape(-1) for x in results if x.dtype.is_float])


@pytest.mark.parametrize("name", WITH_GRADIENT)
def test_gradient_is_the_slope_of_the_value(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    checked = 0
    for case in cases(ROWS[name], float64, rng):
        operands = case.operands if case.op.samples.smooth else apart(case, rng)
        if away_from_jumps(case, operands):
            gradcheck(lambda *xs, case=case: joined(case.record(xs)), operands)
            checked += 1
    assert checked > 1


SMOOTH = [n for n in WITH_GRADIENT if ROWS[n].samples.smooth and n not in PICKS]


def small_cases(op, rng):
    """The two smallest calls of a row that have several elements."""
    found = [case for case in cases(op, float64, rng) if all(x.size for x in case.operands)]
    found.sort(key=lambda case: sum(x.size for x in case.operands))
    large = [case for case in found if sum(x.size for x in case.operands) > 3]
    return (large or found)[:2]


def slopes(case, weights, inputs):
    """The gradients of one call, as one tensor."""
    wrt = [x for x in inputs if x.dtype.is_float]
    result = joined(case.record(inputs))
    found = td.gradients(result, wrt, td.tensor(weights(result.shape)))
    return td.concat([g.reshape(-1) for g in found])


@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_of_a_smooth_row_has_a_slope_that_is_its_gradient(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for case in small_cases(ROWS[name], rng):
        operands = case.operands if case.op.samples.draw else apart(case, rng)

        def weights(shape):
            return np.random.default_rng(7).uniform(0.5, 1.5, shape)

        if away_from_jumps(case, operands):
            gradcheck(lambda *xs, case=case: slopes(case, weights, xs), operands, directions=2)


@pytest.mark.parametrize("name", STOPS)
def test_gradient_stops_where_the_value_is_constant(name):
    x = td.tensor(np.array([-1.3, 0.4]), dtype="float64")
    (g,) = td.gradients(ROWS[name](x).sum(), [x])
    assert g.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", INDICES)
def test_inline_row_without_gradient_gives_integers_only(name):
    case = next(cases(ROWS[name], int64, np.random.default_rng(0)))
    results = case.record([td.tensor(x) for x in case.operands])
    found = results if isinstance(results, list | tuple) else [results]
    assert not any(x.dtype.is_float for x in found)  # nothing records a gradient through them


@pytest.mark.parametrize("name", NO_GRADIENT)
def test_row_without_gradient_says_so_by_name(name):
    op = ROWS[name]
    kind = float64 if takes(op, float64) else int64 if takes(op, int64) else td.uint32
    case = next(
        c for c in cases(op, kind, np.random.default_rng(0)) if 0 not in c.operands[0].shape
    )
    leaves = [td.tensor(x)._node for x in case.operands]
    node = case.record(leaves)
    seed = td.ones(node.shape, dtype=node.dtype)._node
    with pytest.raises(GradientError, match=name) as caught:
        gradients([node], leaves[:1], [seed])
    assert "hint" in str(caught.value)


def test_every_row_has_a_gradient_or_a_reason():
    assert {*INDICES, *NO_GRADIENT, *STOPS, *ELSEWHERE, *WITH_GRADIENT} == ROWS.keys()
    for name in WITH_GRADIENT:
        assert callable(ROWS[name].grad) or ROWS[name].kind is Kind.COMPOSITE, name


def test_gradients_of_shared_values_add_up():
    gradcheck(lambda x: x * x + (x * x).sum() * x, [np.array([0.3, -1.2, 2.0])])


def test_gradient_of_a_gradient_is_the_second_derivative():
    x = td.tensor(np.array([0.5, -1.0]), dtype="float64")
    (first,) = td.gradients((x * x * x).sum(), [x])
    (second,) = td.gradients(first.sum(), [x])
    np.testing.assert_allclose(second.numpy(), 6 * x.numpy(), rtol=1e-12)


def test_gradcheck_notices_a_wrong_gradient():
    with pytest.raises(AssertionError, match="slope"):
        gradcheck(lambda x: x * x + td.detach(x), [np.array([1.0, 2.0])])
