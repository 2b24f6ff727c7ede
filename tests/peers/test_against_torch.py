"""Every op, option and dtype that PyTorch has too: the same values, dtypes and gradients.

Run by `make test-torch`, in an environment of its own; skipped where PyTorch is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest
from torch_cases import CASES, REFUSED, tensors_of
from torch_rows import ROWS, listed, theirs_of, torch

import treadle as td
from treadle.base.dtypes import float32, float64
from treadle.ops.defs import TABLE
from treadle.testing.arrays import unit_roundoff

pytestmark = [
    pytest.mark.filterwarnings("ignore:Using padding='same'"),
    pytest.mark.filterwarnings("ignore:reduction. 'mean' divides"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
CUTS = "cuts off the fraction"
OTHER_VALUES = {
    # (ours, kind of dtype, or none for all): what PyTorch does with it
    ("avg_pool1d", "int"): CUTS, ("avg_pool2d", "int"): CUTS, ("avg_pool3d", "int"): CUTS,
    ("hardtanh", "int"): "cuts off the fraction of its bounds",
    ("topk", "int"): "takes equal elements in any order",
    ("mvlgamma", "int"): "rounds steps of a half to integers",
    ("addr", "bool"): "keeps bool", ("l1_loss", "int"): "wraps around",
    ("margin_ranking_loss", "int"): "wraps around",
    ("complex", "float"): "pairs float16", ("view_as_complex", "float"): "the same",
}  # fmt: skip
NARROW = "sums products of narrow integers in their own type, where they wrap around"
PRODUCTS = (
    "matmul", "matrix_product", "linear", "bmm", "mm", "mv", "dot", "inner", "vecdot", "vdot",
    "einsum", "tensordot", "addmm", "addmv", "addbmm", "baddbmm", "chain_matmul", "multi_dot",
    "conv1d",
    "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
)  # fmt: skip
TOTALS = (
    "sum", "prod", "cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "nansum", "vander",
    "trace",
)  # fmt: skip
FRACTIONS = (
    "float_power", "softmax", "log_softmax", "hinge_embedding_loss", "threshold", "l1_loss",
)  # fmt: skip
OTHER_DTYPES = {
    # ours: what PyTorch does with integers and bool
    **dict.fromkeys(PRODUCTS, NARROW),
    **dict.fromkeys(TOTALS, "adds up unsigned integers in int64"),
    **dict.fromkeys(FRACTIONS, "gives integers"),
    **dict.fromkeys(("any", "all"), "gives uint8 for uint8"),
    "square": "gives integers for bool",
}
OTHER_GRADIENTS = {
    # ours: what PyTorch does
    "celu": "rounds 1 / alpha to float32", "hardsigmoid": "rounds 1 / 6 to float32",
    "digamma": "is right to 10 digits only", "unique": "has none",
    "scatter": "is given to values that others have overwritten", "put_along_axis": "the same",
    "polygamma": "is right to 10 digits only, of n = 0",
    "mode": "goes to another one of equal elements", "nanmean": "is NaN where all elements are",
}  # fmt: skip


def array_of(x):
    x = x.detach().resolve_conj()
    return x.float().numpy() if x.dtype is torch.bfloat16 else x.numpy()


def kind_of(dtype):
    return dtype.kind.removeprefix("u")


def assert_close(ours, theirs, case, factor=1.0):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, case
    if ours.dtype.kind not in "fVc":
        np.testing.assert_array_equal(ours, theirs.astype(ours.dtype), err_msg=repr(case))
        return
    parts, wide = ours.dtype.kind == "c", np.complex128 if ours.dtype.kind == "c" else np.float64
    unit = unit_roundoff(ours.real.dtype if parts else ours.dtype) * factor
    unit *= np.sqrt(max([1, *(x.size for x in case.operands)]))
    ours, theirs = ours.astype(wide), theirs.astype(wide)
    largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=1.0)
    np.testing.assert_allclose(ours, theirs, rtol=8 * unit, atol=8 * unit * largest,
                               err_msg=repr(case))  # fmt: skip


@pytest.mark.parametrize(("kind", "case"), [x[1:] for x in CASES], ids=[x[0] for x in CASES])
def test_values_and_gradients_are_those_of_torch(kind, case):
    name, smooth = case.op.name, kind in (float32, float64) and not isinstance(case.op.grad, str)
    leaves, theirs, slopes = computed_by_torch(case, smooth and case.op.name not in OTHER_GRADIENTS)
    wrt = [k for k, x in enumerate(leaves) if x.requires_grad]
    inputs = [td.tensor(x, requires_grad=k in wrt) for k, x in enumerate(case.operands)]
    ours = listed(case.record(inputs))[: len(theirs)]
    found = []
    if slopes is not None:
        kept = [(x, td.tensor(weights(x.shape, kind))) for x, y in paired(ours, theirs)]
        found = td.gradients([x for x, _ in kept], [inputs[k] for k in wrt], [w for _, w in kept])
    if (name, kind_of(kind)) not in OTHER_VALUES:
        for mine, yours in zip(ours, theirs, strict=True):
            same = mine.dtype.name == str(yours.dtype).removeprefix("torch.")
            known = same or (name in OTHER_DTYPES and not kind.is_float)
            assert known, f"{case}: {mine.dtype} and {yours.dtype}"
            assert_close(mine.numpy(), array_of(yours), case)
    for mine, yours, k in zip(found, slopes or (), wrt, strict=True) if found else ():
        wanted = np.zeros(leaves[k].shape) if yours is None else array_of(yours)
        assert_close(mine.numpy(), wanted, case, factor=16.0)


def paired(ours, theirs):
    """Results through which gradients flow."""
    return [(x, y) for x, y in zip(ours, theirs, strict=True) if y.requires_grad]


def weights(shape, kind):
    """How much each element of a result counts."""
    return np.random.default_rng(len(shape)).uniform(0.5, 1.5, shape).astype(kind.name)


def computed_by_torch(case, smooth):
    """(operands, results, gradients), these None where it has none."""
    leaves = tensors_of(case)
    if not smooth:
        return leaves, theirs_of(case, leaves), None
    for x in leaves:
        x.requires_grad_(x.is_floating_point())
    try:
        theirs = theirs_of(case, leaves)
        kept = [y for y in theirs if y.requires_grad]
        if not kept:
            return tensors_of(case), theirs, None
        kind = td.float64 if kept[0].dtype is torch.float64 else td.float32
        total = sum((y * torch.tensor(weights(tuple(y.shape), kind))).sum() for y in kept)
        wrt = [x for x in leaves if x.requires_grad]
        return leaves, theirs, torch.autograd.grad(total, wrt, allow_unused=True)
    except REFUSED:  # it has the value alone
        leaves = tensors_of(case)
        return leaves, theirs_of(case, leaves), None


def test_most_rows_are_compared():
    compared = {case.op.name for _, _, case in CASES}
    assert set(ROWS) - compared <= {"lu_solve"}  # which takes what lu_factor has made
    assert len(ROWS) >= 150, sorted(set(TABLE) - set(ROWS))


def test_there_are_enough_calls():
    assert len(CASES) >= 6000
