"""Floats of 8 bits as Triton converts them: every byte, every tie, against ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

from narrow_cases import FLOAT8, every_byte, floats_around
from triton_host import INTERPRETED, node_of, plan_of, run_interpreted

from treadle.backends.cuda.compile import code_of
from treadle.base.dtypes import dtype, float32
from treadle.ops.elementwise import add, cast

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
