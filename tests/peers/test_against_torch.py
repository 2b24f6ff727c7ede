"""Every op that PyTorch has too: the same values and gradients on the samples of its row.

Run by `make test-torch`, in an environment of its own; skipped where PyTorch is not installed.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from torch_rows import ROWS, listed, theirs_of, torch

import treadle as td
from treadle.base.dtypes import bool_, float32, float64, int64
from treadle.ops.defs import TABLE
from treadle.testing.arrays import unit_roundoff
from treadle.testing.samples import cases, takes

pytestmark = [
    pytest.mark.filterwarnings("ignore:Using padding='same'"),
    pytest.mark.filterwarnings("ignore:reduction. 'mean' divides"),
]
OTHER_VALUES = {
    # (ours, dtype): what PyTorch does with it
    ("avg_pool1d", int64): "cuts off the fraction",
    ("avg_pool2d", int64): "cuts off the fraction",
    ("avg_pool3d", int64): "cuts off the fraction",
    ("hardtanh", int64): "cuts off the fraction of its bounds",
    ("topk", int64): "takes equal elements in any order",
}
OTHER_GRADIENTS = {
    # ours: what PyTorch does
    "celu": "rounds 1 / alpha to float32", "hardsigmoid": "rounds 1 / 6 to float32",
    "digamma": "is right to 10 digits only", "unique": "has none",
}  # fmt: skip


def assert_close(ours, theirs, case, factor=1.0):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, case
    if ours.dtype.kind != "f":
        np.testing.assert_array_equal(ours, theirs.astype(ours.dtype), err_msg=repr(case))
        return
    largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=1.0)
    terms = max([1, *(x.size for x in case.operands)])
    unit = unit_roundoff(ours.dtype) * np.sqrt(terms) * factor
    np.testing.assert_allclose(ours, theirs, rtol=8 * unit, atol=8 * unit * largest,
                               err_msg=repr(case))  # fmt: skip


PAIRS = [
    (name, kind)
    for name, op in ROWS.items()
    for kind in (float32, float64, int64, bool_)
    if takes(op, kind) and (name, kind) not in OTHER_VALUES
]


@pytest.mark.parametrize(("name", "kind"), PAIRS, ids=lambda p: p if isinstance(p, str) else p.name)
def test_values_are_those_of_torch(name, kind):
    rng = np.random.default_rng(zlib.crc32(f"{name}{kind.name}".encode()))
    compared = 0
    for case in cases(ROWS[name], kind, rng):
        ours = listed(case.record([td.tensor(x) for x in case.operands]))
        try:
            theirs = theirs_of(case, [torch.tensor(x) for x in case.operands])
        except (RuntimeError, TypeError, IndexError, NotImplementedError, ValueError):
            continue  # PyTorch has no such form: some dtypes, empty reductions, several axes
        compared += 1
        for mine, yours in zip(ours, theirs, strict=True):
            assert_close(mine.numpy(), yours.detach().numpy(), case)
    if not compared:
        pytest.skip("PyTorch does not take this dtype")


SMOOTH = [
    name
    for name, op in ROWS.items()
    if takes(op, float64) and not isinstance(op.grad, str) and name not in OTHER_GRADIENTS
]


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_are_those_of_torch(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    compared = 0
    for case in cases(ROWS[name], float64, rng):
        leaves = [torch.tensor(x, requires_grad=x.dtype == np.float64) for x in case.operands]
        try:
            theirs = [y for y in theirs_of(case, leaves) if y.requires_grad]
        except (RuntimeError, TypeError, IndexError, NotImplementedError, ValueError):
            continue
        inputs = [td.tensor(x) for x in case.operands]
        ours = [y for y in listed(case.record(inputs)) if y.dtype is float64]
        if not theirs or not ours:
            continue
        weights = [rng.uniform(0.5, 1.5, y.shape) for y in ours]
        wrt = [k for k, x in enumerate(leaves) if x.requires_grad]
        total = sum((y * torch.tensor(w)).sum() for y, w in zip(theirs, weights, strict=True))
        expected = torch.autograd.grad(total, [leaves[k] for k in wrt], allow_unused=True)
        seeds = [td.tensor(w) for w in weights]
        found = td.gradients(ours, [inputs[k] for k in wrt], seeds)
        for mine, yours, k in zip(found, expected, wrt, strict=True):
            wanted = np.zeros(leaves[k].shape) if yours is None else yours.detach().numpy()
            assert_close(mine.numpy(), wanted, case, factor=16.0)
        compared += 1
    if not compared:
        pytest.skip("PyTorch has no gradient here")


def test_most_rows_are_compared():
    assert len(ROWS) >= 150, sorted(set(TABLE) - set(ROWS))
