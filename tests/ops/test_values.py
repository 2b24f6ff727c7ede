"""Every row of the op table on every dtype it takes: compiled, against NumPy in float64."""

from __future__ import annotations

import zlib
from itertools import islice

import numpy as np
import pytest

from treadle.base.dtypes import (
    ALL,
    bfloat16,
    dtype,
    float32,
    float64,
)  # fmt: skip
from treadle.ops.defs import Kind
from treadle.testing.arrays import by_reference, compiled, node_of
from treadle.testing.closeness import check_close
from treadle.testing.samples import FEWER, USUAL, cases, odd_cases, public_rows, takes

ROWS = public_rows()
PAIRS = [(name, d) for name, op in ROWS.items() for d in ALL if takes(op, d)]
FUNCTIONS = [
    name for name, op in ROWS.items()
    if (op.kind is Kind.ELEMENTWISE or (op.kind is Kind.COMPOSITE and not op.samples.cases))
    and takes(op, float32) and name != "threefry"
]  # fmt: skip


def names(pair):
    return pair.name if not isinstance(pair, str) else pair


def random_for(*parts):
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


def listed(results):
    return list(results) if isinstance(results, list | tuple) else [results]


@pytest.mark.parametrize(("name", "kind"), PAIRS, ids=names)
def test_compiled_row_gives_what_numpy_gives(name, kind):
    drawn = cases(ROWS[name], kind, random_for(name, kind.name))
    for case in islice(drawn, 0, None, 1 if kind in USUAL else FEWER):
        nodes = listed(case.record([node_of(x) for x in case.operands]))
        expected = listed(case.expected(nodes[0].dtype))
        by_nodes = by_reference(nodes)  # before a node in memory counts as known
        for node, result, by_node, wanted in zip(
            nodes, compiled(nodes), by_nodes, expected, strict=True
        ):
            assert dtype(result.dtype) is node.dtype, case
            check_close(case, result, wanted, node.dtype)
            check_close(case, result, by_node, node.dtype)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", [float32, float64, bfloat16], ids=names)
def test_elementwise_row_treats_nan_infinity_and_zero_as_numpy_does(name, kind):
    for case in odd_cases(ROWS[name], kind):
        node = case.record([node_of(x) for x in case.operands])
        (result,) = compiled([node])
        expected = case.expected(node.dtype)
        check_close(case, result, expected, node.dtype)
        if node.dtype.is_float:
            zero = (result == 0) & (expected == 0)
            signs = np.signbit(result[zero].astype(np.float64)), np.signbit(expected[zero])
            np.testing.assert_array_equal(*signs, err_msg=repr(case))


def test_every_row_is_tested_and_none_left_out():
    assert {name for name, _ in PAIRS} == ROWS.keys()
