"""Rows that lie side by side in memory: vectors run across them."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.T.sum(1),
        lambda x: td.softmax(x.T, axis=1),
        lambda x: (td.exp(x.T) * x.T).sum(1),
        lambda x: td.layer_norm(x.T + 1.0),
    ],
)
def test_rows_that_lie_side_by_side_are_computed_side_by_side(function):
    x = np.random.default_rng(0).standard_normal((257, 130)).astype(np.float32)
    compiled_function = td.compile(function)
    given = td.tensor(x)
    found = compiled_function(given).numpy()
    np.testing.assert_allclose(
        found, function(given.T.contiguous().realize().T).numpy(), 2e-5, 1e-5
    )
    expected = function(td.tensor(x.astype(np.float64))).numpy()
    np.testing.assert_allclose(found, expected, 2e-5, 2e-5)
    (traced,) = [t for known in compiled_function.entries.values() for t in known]
    rows = [built.loops for step in traced.program.steps for built in step.programs()]
    assert rows[0].across


def test_a_vector_with_an_element_for_each_row_does_not_turn_them():
    x, v = td.ones(300, 200), td.ones(300, 1)
    function = td.compile(lambda x, v, w: ((x + v) * w).sum(1))
    function(x, v, v * 2.0)
    (traced,) = [t for known in function.entries.values() for t in known]
    (built,) = [built for step in traced.program.steps for built in step.programs()]
    assert not built.loops.across


def test_vectors_run_along_a_short_axis_if_the_long_one_leads_far_away():
    x = np.random.default_rng(0).standard_normal((64, 32, 7, 2, 7, 2)).astype(np.float32)
    scale = np.random.default_rng(1).standard_normal((64, 32, 7, 1, 7, 1)).astype(np.float32)
    function = td.compile(lambda x, scale: (x * scale).sum((0, 2, 3, 4, 5)))
    found = function(td.tensor(x), td.tensor(scale)).numpy()
    expected = (x.astype(np.float64) * scale).sum((0, 2, 3, 4, 5))
    np.testing.assert_allclose(found, expected, 1e-4, 1e-3)
    (traced,) = [t for known in function.entries.values() for t in known]
    loops = next(built.loops for step in traced.program.steps for built in step.programs())
    assert not loops.across
    assert loops.inner[-1].extent == 7


@pytest.mark.parametrize("columns", [1, 5, 9, 16, 23, 40])
def test_lines_are_read_backwards_to_their_first_element(columns):
    x = np.random.default_rng(0).standard_normal((70, 60, columns)).astype(np.float32)
    flipped = td.compile(lambda x: td.flip(x.permute((1, 0, 2)), (2,)) * 2.0)
    np.testing.assert_array_equal(
        flipped(td.tensor(x)).numpy(), np.flip(x.transpose(1, 0, 2), 2) * 2
    )
