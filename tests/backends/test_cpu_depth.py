"""Is a row times a matrix the same product when it is cut along its depth?"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import gemm_depth, jit
from treadle.backends.cpu.gemm_problem import Problem
from treadle.backends.cpu.host import AARCH64, AVX2, host_target
from treadle.base import dtypes

SHAPES = [(1500, 96), (1501, 97), (203, 4099), (70, 9000)]


@pytest.mark.parametrize("ends", [False, True], ids=["plain", "epilogue"])
@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "int8", "int32"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_row_times_a_matrix_stored_by_rows(shape, kind, ends):
    rng = np.random.default_rng(shape[0])
    w = rng.integers(-9, 9, shape)
    x = rng.integers(-9, 9, (shape[0], 2))
    wide = kind if kind in ("float64", "int32") else "float32"
    compiled = td.compile(
        lambda x, w: (
            x[:, 1:].T @ td.cast(w, wide) * 3 + 1 if ends else x[:, 1:].T @ td.cast(w, wide)
        )
    )
    given = td.cast(td.tensor(x), wide).realize(), td.cast(td.tensor(w), kind).realize()
    found = compiled(*given).numpy()
    expected = x[:, 1:].T @ w
    np.testing.assert_array_equal(found, expected * 3 + 1 if ends else expected)
    same = compiled(*given).numpy()
    assert found.tobytes() == same.tobytes()


def problem(n, k, kind=dtypes.float32, **others):
    return Problem(1, n, k, (k, 1), (n, 1), n, b_dtype=kind, **others)


def test_it_is_cut_along_its_depth_where_rows_are_long_to_read():
    target = host_target()
    (parts, joins) = gemm_depth.plan(problem(768, 3072), target).phases
    assert (parts.entry, joins.entry) == ("gemm_depth", "gemm_join")
    assert 2 <= parts.blocks <= 8
    assert gemm_depth.plan(problem(64, 64), target) is None  # little to read
    assert gemm_depth.plan(problem(1 << 20, 64), target) is None  # sums that no cache holds
    assert gemm_depth.plan(problem(768, 3072, batch=(4,)), target) is None


@pytest.mark.parametrize("target", [AVX2, AARCH64], ids=["avx2", "aarch64"])
@pytest.mark.parametrize("kind", [dtypes.float32, dtypes.int8, dtypes.bfloat16], ids=str)
def test_it_compiles_for_other_processors(target, kind):
    text = gemm_depth.text(dtypes.float32, kind, target)
    assert "gemm_depth" in jit.assembly(text, target, 1)
