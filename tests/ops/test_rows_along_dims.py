"""Every row along sizes that are not known: the numbers of the exact size, or a refusal."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import bool_, float32, int32, int64, uint32
from treadle.base.errors import TreadleError
from treadle.ops.defs import TABLE, Op
from treadle.ops.elementwise import threefry
from treadle.testing.samples import cases, public_rows, takes

T = td.Dim("t", min=3, max=64)
# Rows whose first sample says a size in its options, has results of any size, or needs the number.
REFUSED = frozenset((
    "reshape", "expand", "slice", "glu", "shear", "windows", "unfold", "unflatten",
    "as_strided", "conv1d", "conv3d", "conv_transpose3d", "pool",
    "max_pool1d", "max_pool2d", "max_pool3d",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d",
    "fractional_max_pool2d", "fractional_max_pool3d", "adaptive_avg_pool1d",
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "resample", "interpolate", "pixel_shuffle", "pixel_unshuffle", "split",
    "chunk", "unstack", "group_norm", "median", "quantile", "searchsorted", "masked_select",
    "nonzero", "argwhere", "unique", "unique_counts", "unique_inverse", "unique_all", "dft",
    "rdft", "irdft", "stft", "istft", "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn",
    "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fft2", "ifft2", "rfft2", "irfft2", "hfft2",
    "ihfft2", "fftshift", "ifftshift",
    # Algorithms on matrices, whose steps are as many as these have rows.
    "cholesky_factor", "cholesky", "cholesky_ex", "lu_pack", "lu_factor", "lu", "solve", "inv",
    "inv_ex", "det", "logabsdet", "slogdet", "tensorsolve", "tensorinv", "qr_pack", "qr",
    "eigh_pack", "eigvalsh", "svd_pack", "svd", "svdvals", "matrix_norm", "cond", "matrix_rank",
    "pinv", "lstsq", "matrix_power", "exp_series", "matrix_exp", "householder_product",
    "cross", "view_as", "block_diag", "combinations", "unique_consecutive", "bucketize", "narrow",
    "slice_scatter", "tensor_split", "hsplit", "nanquantile",
))  # fmt: skip


def resized(op: Op, case, old: int, new: int):
    """The operands of a case with another size in place of one."""
    rng = np.random.default_rng(0)
    found = []
    for x in case.operands:
        shape = tuple(new if n == old else n for n in x.shape)
        flat = np.resize(x, shape) if x.size else np.zeros(shape, x.dtype)
        found.append(rng.permutation(flat.reshape(-1)).reshape(shape).astype(x.dtype))
    return found


def marked(arrays, size):
    tensors = []
    for x in arrays:
        tensor = td.tensor(x)
        for axis, n in enumerate(x.shape):
            tensor = T.of(tensor, axis) if n == size else tensor
        tensors.append(tensor)
    return tensors


def called(case, tensors):
    result = case.record(list(tensors))
    return list(result) if isinstance(result, tuple | list) else [result]


def compare(op, case, old):
    """How many sizes of one sample were served by one program; 0 if that is refused."""
    compiled, served = td.compile(lambda *xs: called(case, xs)), 0
    for new in (old, old + 2, 64):
        arrays = resized(op, case, old, new)
        try:
            expected = [y.numpy() for y in called(case, [td.tensor(x) for x in arrays])]
        except TreadleError:
            continue  # another size does not fit the options
        try:
            results = compiled(*marked(arrays, new))
        except TreadleError:
            return served
        for result, wanted in zip(results, expected, strict=True):
            assert result.shape == wanted.shape, (op, case, old, new)
            scale = max(
                1.0, float(np.nanmax(np.abs(np.where(np.isfinite(wanted), wanted, 0)), initial=0))
            )
            np.testing.assert_allclose(
                result.numpy() / scale, wanted / scale, rtol=2e-5, atol=2e-5, err_msg=f"{op} {new}"
            )
        served += 1
    return served


@pytest.mark.parametrize("name", public_rows())
def test_a_row_along_a_dim_gives_the_numbers_of_the_exact_size(name):
    op = TABLE[name]
    kind = uint32 if op is threefry else next(
        (k for k in (float32, int32, int64, bool_) if takes(op, k)), None)  # fmt: skip
    if kind is None:
        pytest.skip("takes none of the usual dtypes")
    rng = np.random.default_rng(0)
    for case in cases(op, kind, rng):
        sizes = {n for x in case.operands for n in x.shape if 3 <= n <= 62}
        if sizes:
            assert bool(compare(op, case, max(sizes))) is (name not in REFUSED)
            return
