"""Sorts on GPUs: interpreted against the reference, compiled for sm_90."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

from triton_host import INTERPRETED, check, node_of, plan_of

from treadle.backends.cuda import sort
from treadle.backends.cuda.compile import code_of
from treadle.ops.scan import argsort

interpreted = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
compiled = pytest.mark.skipif(INTERPRETED, reason="needs TRITON_INTERPRET=0")
KINDS = [
    np.float32, np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.int8,
    np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64, np.bool_,
]  # fmt: skip
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: np.dtype(kind).name)


def values(kind, *shape):
    """Numbers of which some are equal, and for floats all that are special."""
    rng = np.random.default_rng(len(shape))
    found = rng.integers(-40, 40, shape).astype(np.float64)
    if np.dtype(kind).kind in "ui":
        info = np.iinfo(kind)
        found = rng.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
        found[rng.random(shape) < 0.3] = 7
    elif kind is not np.bool_:
        special = [np.nan, -np.nan, 0.0, -0.0, 1e-3, *([] if found.size < 9 else [np.inf, -np.inf])]
        found = np.where(rng.random(shape) < 0.2, rng.choice(special, shape), found * 0.37)
    return node_of(found.astype(kind))


def roots(kind):
    """Each way, along each axis."""
    return [
        argsort(values(kind, 3, 37), axis=1), argsort(values(kind, 37, 3), axis=0),
        argsort(values(kind, 2, 9, 5), axis=1, descending=True), argsort(values(kind, 1), axis=0),
        argsort(values(kind, 40), axis=0, descending=True), argsort(values(kind, 0, 3), axis=0),
    ]  # fmt: skip


@interpreted
@kinds
def test_interpreted(kind):
    check(roots(kind), 0.0)


@interpreted
@pytest.mark.parametrize("shape", [(1, 200), (3, 70), (64, 2)], ids=str)
def test_blocks_interpreted(shape, monkeypatch):
    monkeypatch.setattr(sort, "BLOCK", 16)
    axis = int(shape[0] < shape[1])
    check([argsort(values(np.float32, *shape), axis=axis)], 0.0)


@compiled
@kinds
def test_compiled(kind):
    plan, _ = plan_of(roots(kind)[:1])
    for launch in plan.launches:
        assert code_of(launch.source, 90).cubin
