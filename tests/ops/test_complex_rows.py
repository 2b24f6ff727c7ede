"""Every row of the table on complex numbers: what NumPy gives, or a refusal that says why."""

from __future__ import annotations

import zlib
from itertools import islice

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import complex64, complex128, dtype, float64
from treadle.base.errors import DtypeError
from treadle.ops.defs import Kind
from treadle.passes.pairs import BY_PART, SPECIAL
from treadle.testing.arrays import by_reference, compiled, node_of
from treadle.testing.closeness import check_close
from treadle.testing.gradcheck import gradcheck
from treadle.testing.samples import cases, public_rows, takes

ROWS = {
    name: op for name, op in public_rows().items()
    if name != "threefry" and not op.reference.__module__.startswith("treadle.ops.linalg")
}  # fmt: skip
"""Linear algebra has tests of its own: factors are one of several, of positive matrices only."""
TAKEN = [name for name, op in ROWS.items() if takes(op, complex64)]
REFUSED = [name for name in ROWS if name not in TAKEN]
MAKERS = ["complex", "polar", "view_as_complex"]  # of real numbers
NO_NEED = (
    "detach", "round", "rerouted", "unique", "unique_all", "unique_consecutive", "unique_counts",
    "unique_inverse",
)  # fmt: skip
"""Flat where they have a slope, by a route of their own, or with as many results as values."""
SMOOTH = [
    name for name in (*TAKEN, *MAKERS)
    if not isinstance(ROWS[name].grad, str) and name not in NO_NEED
]  # fmt: skip
CASES = {complex64: 3, complex128: 1}


def random_for(*parts):
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


def listed(results):
    return list(results) if isinstance(results, list | tuple) else [results]


@pytest.mark.parametrize("kind", CASES, ids=lambda d: d.name)
@pytest.mark.parametrize("name", TAKEN)
def test_a_row_gives_what_numpy_gives(name, kind):
    drawn = cases(ROWS[name], kind, random_for(name, kind.name))
    for case in islice(drawn, CASES[kind]):
        nodes = listed(case.record([node_of(x) for x in case.operands]))
        expected = listed(case.expected(nodes[0].dtype))
        by_nodes = by_reference(nodes)
        for node, result, by_node, wanted in zip(
            nodes, compiled(nodes), by_nodes, expected, strict=True
        ):
            assert dtype(result.dtype) is node.dtype, case
            check_close(case, result, wanted, node.dtype)
            check_close(case, result, by_node, node.dtype)


@pytest.mark.parametrize("name", REFUSED)
def test_a_row_that_is_not_for_complex_numbers_says_so_by_name(name):
    (case,) = islice(cases(ROWS[name], complex64, random_for(name)), 1)
    with pytest.raises(DtypeError, match=rf"^{name}: .*") as caught:
        case.record([td.tensor(x) for x in case.operands])
    assert "int128" not in str(caught.value)


def test_most_rows_take_complex_numbers():
    assert len(TAKEN) > 160
    for name in ("matmul", "einsum", "conv2d", "where", "take", "prod", "cumprod", "std", "pow"):
        assert name in TAKEN
    for name in ("lt", "max", "sort", "floor", "relu", "softmax", "erf", "atan2", "clip"):
        assert name in REFUSED


def test_every_primitive_that_takes_them_has_parts():
    primitives = [ROWS[name] for name in TAKEN if ROWS[name].kind is not Kind.COMPOSITE]
    lost = [op for op in primitives if not (op in BY_PART or op in SPECIAL or op.pairs)]
    assert lost == [ROWS["logcumsumexp"]]  # which records sums of complex numbers as other ops


def joined(results):
    if not isinstance(results, list | tuple):
        return results
    return td.concat([x.reshape(-1) for x in results if x.dtype.is_inexact])


@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_is_the_slope_along_both_axes(name):
    kind = float64 if name in MAKERS else complex128
    drawn = cases(ROWS[name], kind, random_for(name))
    small = [case for case in drawn if 1 < sum(x.size for x in case.operands) < 100]
    for case in small[:2]:
        gradcheck(lambda *xs, case=case: joined(case.record(xs)), case.operands, directions=1)


TWICE = ["exp", "log", "sqrt", "sin", "tanh", "atan", "mul", "div", "pow", "abs", "angle", "conj",
         "matmul", "prod", "norm", "var", "acosh", "polar"]  # fmt: skip


@pytest.mark.parametrize("name", TWICE)
def test_the_gradient_has_a_slope_that_is_its_gradient(name):
    rng = random_for(name)
    kind = float64 if name in MAKERS else complex128
    case = next(
        case for case in cases(ROWS[name], kind, rng) if 3 < sum(x.size for x in case.operands) < 60
    )

    def slopes(*inputs):
        y = case.record(inputs)
        weights = np.random.default_rng(3).uniform(0.5, 1.5, y.shape)
        weights = weights * (1 - 0.5j) if y.dtype.is_complex else weights
        return td.concat([g.reshape(-1) for g in td.gradients(y, inputs, td.tensor(weights))])

    gradcheck(slopes, case.operands, directions=1)
