"""Chained products with what few programs have: numbers that are given at each run."""

from __future__ import annotations

import numpy as np

import treadle as td


def test_a_chain_with_numbers_that_change():
    rng = np.random.default_rng(0)
    left, right, other = (rng.integers(-2, 3, (400, 8)).astype(np.float32) for _ in range(3))
    x, y, z = (td.tensor(array) for array in (left, right, other))
    for scale in (0.5, 0.25, 2.0, 4.0):  # the first few are built in
        made = ((x @ y.mT) * scale).relu() @ z
        np.testing.assert_array_equal(
            made.numpy(), np.maximum(left @ right.T * scale, 0).astype(np.float32) @ other
        )
