"""Floats of 8 bits as Triton converts them: every byte, every tie, against ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

from narrow_cases import FLOAT8, every_byte, floats_around
from triton.tools.disasm import get_sass
from triton_host import INTERPRETED, node_of, plan_of, run_interpreted

from treadle.backends.cuda.compile import code_of
from treadle.base.dtypes import dtype, float32
from treadle.ops.elementwise import add, cast
from treadle.ops.movement import permute

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
kinds = pytest.mark.parametrize("kind", FLOAT8)


def interpreted_value(root):
    plan, leaves = plan_of([root])
    (result,) = run_interpreted(plan, [x.buffer.copy() for x in leaves])
    return result


@interpreted
@kinds
def test_every_byte_widens_to_the_float_it_stands_for(kind):
    given = every_byte(kind)
    result = interpreted_value(cast(node_of(given), float32))
    np.testing.assert_array_equal(result, given.astype(np.float32))


@interpreted
@kinds
def test_floats_round_to_the_nearest_even_byte(kind):
    given = floats_around(kind)
    result = interpreted_value(cast(node_of(given), dtype(kind)))
    expected = given.astype(getattr(ml_dtypes, kind))
    np.testing.assert_array_equal(result.view(np.uint8), expected.view(np.uint8))


@compiled
@kinds
def test_narrow_kernels_compile_for_hopper(kind):
    x = node_of(every_byte(kind))
    plan, _ = plan_of([add(x, x), cast(x, float32), add(x, 1.0).sum()])
    for launch in plan.launches:
        assert code_of(launch.source, 90).cubin


# ---- products


def multiplied(kind, turned):
    """(the product of two matrices of bytes, its value in float64, rounded once)."""
    rng = np.random.default_rng(3)
    narrow = getattr(ml_dtypes, kind)
    x, y = (
        rng.standard_normal(s).astype(np.float32).astype(narrow) for s in ((35, 150), (150, 70))
    )
    left = permute(node_of(np.ascontiguousarray(x.T)), (1, 0)) if turned else node_of(x)
    return left @ node_of(y), (x.astype(float) @ y.astype(float)).astype(narrow)


@interpreted
@kinds
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("architecture", [80, 90])
def test_products_of_bytes_are_rounded_once(kind, turned, architecture):
    root, expected = multiplied(kind, turned)
    plan, leaves = plan_of([root], architecture=architecture)
    (result,) = run_interpreted(plan, [x.buffer.copy() for x in leaves])
    found = np.ascontiguousarray(result).view(expected.dtype).reshape(expected.shape)
    off = found.view(np.int8).astype(int) - expected.view(np.int8).astype(int)
    assert np.abs(off).max() <= 1  # where float32 rounds a sum onto another side of a tie
    assert np.count_nonzero(off) <= 2


@compiled
@kinds
@pytest.mark.parametrize(("architecture", "instruction"), [(80, "HMMA"), (90, "QGMMA")])
def test_products_of_bytes_take_tensor_cores(kind, architecture, instruction):
    x = np.ones((2048, 2048), getattr(ml_dtypes, kind))
    plan, _ = plan_of([node_of(x) @ node_of(x)], architecture=architecture)
    (launch,) = plan.launches
    assert instruction in get_sass(code_of(launch.source, architecture).cubin)
