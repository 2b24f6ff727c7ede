"""Functions along sizes that are not known, and rows of the table: cases for every backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import treadle as td
from treadle.base.dtypes import bool_, float32, int32, int64, uint32
from treadle.base.errors import TreadleError
from treadle.nn.functional import conv1d, conv2d, layer_norm, scaled_dot_product_attention
from treadle.ops.defs import TABLE, Op
from treadle.ops.elementwise import threefry
from treadle.testing.samples import Case as Sample
from treadle.testing.samples import cases, takes

T = td.Dim("t", max=600, min=3)
SIZES = (3, 4, 7, 64, 500, 599, 600)
SMALL = td.Dim("t", max=64, min=3)
Part = tuple[Any, int | None]
"""An array, and its axis that is the Dim."""
Make = Callable[[int], list[Part]]
Case = tuple[Callable[..., Any], Make]


def random(*shape: int, seed: int = 0) -> Any:
    """An array of normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def rows(*shape: int) -> Make:
    """Rows along the Dim."""
    return lambda n: [(random(n, *shape), 0)]


def both(n: int) -> list[Part]:
    """Two matrices that are multiplied along it."""
    return [(random(5, n), 1), (random(n, 40, seed=1), 0)]


def heads(n: int) -> list[Part]:
    """Queries, and keys and values along it."""
    return [(random(2, 6, 8), None), (random(2, n, 8, seed=1), 1), (random(2, n, 8, seed=2), 1)]


def weighed(n: int) -> list[Part]:
    """Rows along it, and weights."""
    return [(random(n, 40), 0), (random(40, 30, seed=1), None)]


EXACT: dict[str, Case] = {
    "a map": (lambda x: td.exp(x) * 2 + 1, rows(7)),
    "a transpose": (lambda x: x.T * 2, rows(30)),
    "a flip": (lambda x: x.flip(0), rows(7)),
    "a slice": (lambda x: x[1:] - x[:-1], rows(7)),
    "one row": (lambda x: x[-1] * x[0], rows(7)),
    "a reshape": (lambda x: x.reshape(-1, 4).max(1), rows(8)),
    "a reshape by its size": (lambda x: x.reshape(x.shape[0], 2, 4).sum(1), rows(8)),
    "a join": (
        lambda x: td.concat([x, x.flip(0), td.zeros(3, 7, device=x.device)], axis=0), rows(7)),
    "a join of columns": (lambda x: td.concat([x, x * 2], axis=1), rows(7)),
    "rolled rows": (lambda x: td.roll(x, 1, 0), rows(7)),
    "its size as a number": (lambda x: x * x.shape[0] + (2 - x.shape[0]), rows(7)),
    "its indices": (lambda x: x * td.arange(x.shape[0], device=x.device)[:, None], rows(7)),
    "rows by index": (lambda x: x[td.arange(x.shape[0], device=x.device) // 2], rows(7)),
    "rows of its own": (lambda x: td.zeros(x.shape[0], 3, device=x.device) + x[:, :3], rows(7)),
    "the largest": (lambda x: x.max(0), rows(30)),
    "where it is": (lambda x: x.argmax(0), rows(30)),
    "a softmax of rows": (td.softmax, rows(30)),
    "a norm of rows": (lambda x: layer_norm(x, (30,)), rows(30)),
    "running totals of rows": (lambda x: x.cumsum(1), rows(30)),
    "sorted rows": (lambda x: x.sort(1), rows(30)),
    "half precision": (lambda x: (x.cast(td.float16) * 2).cast(td.float32), rows(30)),
    "a convolution of a batch": (
        lambda x: conv2d(x, td.ones(4, 2, 3, 3, device=x.device)),
        lambda n: [(random(n, 2, 6, 6)[:70], 0)]),
    "edges": (lambda x: td.pad(x, ((1, 2), (0, 3)), value=2.0), rows(7)),
    "edges up to the largest": (
        lambda x: td.pad(x, ((0, 600 - x.shape[0]), (0, 0)), value=2.0) * 2, rows(7)),
    "slopes of what is filled": (
        lambda x: td.grad(lambda y: (y[: x.shape[0]] * x).sum())(
            td.ones(600, 7, device=x.device)), rows(7)),
    "slopes of slices": (
        td.grad(lambda x: (x[1:] * x[:-1] + x[0]).sum()), rows(7)),
}  # fmt: skip
"""No sum goes along the Dim: on the CPU the bits are those of a program for that size alone."""
CLOSE: dict[str, Case] = {
    "short rows": (lambda x: x.reshape(-1, 4).sum(1), rows(8)),
    "a sum of rows": (lambda x: x.sum(0), rows(70)),
    "a sum of all": (lambda x: x.sum(), rows(70)),
    "a mean": (lambda x: x.mean(0), rows(30)),
    "a deviation": (lambda x: x.std(0), rows(30)),
    "a softmax of columns": (lambda x: td.softmax(x, axis=0), rows(30)),
    "a product of rows": (lambda x, w: x @ w, weighed),
    "a product with an epilogue": (lambda x, w: td.relu(x @ w) + 1, weighed),
    "a product of columns": (lambda x, w: w.T @ x.T, weighed),
    "a product along it": (lambda x, w: x @ w, both),
    "a product along it with an epilogue": (lambda x, w: td.tanh(x @ w) - 1, both),
    "a gram matrix": (lambda x: td.tril(x @ x.T), lambda n: [(random(n, 8)[:90], 0)]),
    "attention": (lambda q, k, v: td.softmax(q @ k.mT) @ v, heads),
    "attention of one": (lambda q, k, v: td.softmax(q[:, :1] @ k.mT) @ v, heads),
    "causal attention": (
        lambda x: scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
        lambda n: [(random(n, 8)[:90], 0)]),
    "a slope": (lambda x, w: td.grad(lambda w: ((x @ w) ** 2).mean())(w), weighed),
    "a slope of rows": (lambda x, w: td.grad(lambda x: ((x @ w) ** 2).mean())(x), weighed),
}  # fmt: skip
"""Sums along it may go in another order."""


def check(name: str, device: str) -> None:
    """One program of a case serves every size, with the numbers of the exact one."""
    function, make = (EXACT | CLOSE)[name]
    compiled = td.compile(function)
    for n in SIZES:
        parts = make(n)
        given = [td.tensor(x, device=device) for x, _ in parts]
        wanted = td.compile(function)(*given).numpy()
        axes = [axis for _, axis in parts]
        marked = [x if k is None else T.of(x, k) for x, k in zip(given, axes, strict=True)]
        found = compiled(*marked).numpy()
        if name in EXACT and device == "cpu":  # a GPU's tiles, and so its sums, may be others
            np.testing.assert_array_equal(found, wanted, err_msg=str(n))
        else:
            scale = max(1e-6, float(np.abs(wanted).max()))
            np.testing.assert_allclose(found / scale, wanted / scale, atol=2e-5, err_msg=str(n))
    count = sum(map(len, compiled.entries.values()))
    if count != 1:
        raise ValueError(f"{name}: {count} programs instead of one")


# ---- sizes that nobody announced


def _slopes(x: Any) -> Any:
    x = x.detach().requires_grad_()
    factors = td.arange(x.shape[0], device=x.device)[:, None]
    (layer_norm(x, (x.shape[-1],)) * factors * 0.1).tanh().sum().backward()
    return x.grad


def _run(x: Any) -> Any:
    return td.scan(lambda c, row: (c * 0.5 + row, c), x[0] * 0.0, x)


GROWING: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: td.softmax(x, 0) * 3.0,
    "mean": lambda x: x.mean(0) - x.max(0),
    "product": lambda x: x.T @ x,
    "last row": lambda x: x[-1] * 2.0 + x[0],
    "doubled": lambda x: td.concat([x, x * 2.0], 0).sum(1),
    "padded": lambda x: td.pad(x, ((1, 2), (0, 0)))[2:] + 1.0,
    "running": lambda x: x.cumsum(0) * 0.5,
    "sorted": lambda x: td.sort(x * 1.5, 0),
    "indices": lambda x: td.arange(x.shape[0], device=x.device)[:, None] * x + x.shape[0],
    "picked": lambda x: x[td.arange(x.shape[0], device=x.device) // 2] * 2.0,
    "transposed": lambda x: (x.T.reshape(2, -1) + 1.0).sum(1),
    "windows": lambda x: (
        conv1d(x.T[None], td.ones(3, x.shape[1], 3, device=x.device), padding=1) + 1.0),
    "upper": lambda x: (x @ x.T).triu(1).sum(0),
    "squared": lambda x: (x @ x.T).reshape(-1) * 2.0,  # no line
    "gradient": _slopes,
    "a loop beside": lambda x: x * _run(td.ones(3, 2, device=x.device))[1].sum(),
    "a loop along it": lambda x: _run(x)[1] + x,
}  # fmt: skip
GROWN = (2, 3, 5, 9, 4, 7, 1, 17, 31, 40, 6, 100)


def grown(name: str, device: str, lazy: bool = True) -> list[Any]:
    """What a graph gives at one size after the other."""
    function = GROWING[name] if lazy else td.compile(GROWING[name])
    given = [td.tensor(random(n, 6, seed=n), device=device) for n in GROWN]
    return [function(x).numpy() for x in given]


# ---- rows of the table

# Rows whose first sample says a size in its options, has results of any size, or needs the number.
REFUSED = frozenset((
    "reshape", "expand", "slice", "glu", "windows", "unfold", "unflatten",
    "as_strided", "conv1d", "conv_transpose3d", "pool",
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
    "cross", "view_as", "combinations", "unique_consecutive", "bucketize", "narrow",
    "slice_scatter", "tensor_split", "hsplit", "nanquantile",
))  # fmt: skip


def served(name: str, device: str) -> int | None:
    """How many sizes of a row's first sample one program serves; None: it has no size to vary."""
    op = TABLE[name]
    kinds = (uint32,) if op is threefry else (float32, int32, int64, bool_)
    kind = next((kind for kind in kinds if takes(op, kind)), None)
    for case in cases(op, kind, np.random.default_rng(0)) if kind is not None else ():
        sizes = {n for x in case.operands for n in x.shape if 3 <= n <= 62}
        if sizes:
            return _compared(op, case, max(sizes), device)
    return None


def _compared(op: Op, case: Sample, old: int, device: str) -> int:
    compiled, count = td.compile(lambda *xs: _called(case, xs)), 0
    for new in (old, old + 2, 64):
        arrays = _resized(case, old, new)
        try:
            wanted = [y.numpy() for y in _called(case, [td.tensor(x) for x in arrays])]
        except TreadleError:
            continue  # another size does not fit the options
        try:
            results = compiled(*[_marked(td.tensor(x, device=device), new) for x in arrays])
        except TreadleError:
            return count
        for result, exact in zip(results, wanted, strict=True):
            finite = np.where(np.isfinite(exact), exact, 0)
            scale = max(1.0, float(np.max(np.abs(finite), initial=0)))
            pair, words = (result.numpy() / scale, exact / scale), f"{op.name} {new}"
            np.testing.assert_allclose(*pair, rtol=2e-5, atol=2e-5, err_msg=words)
        count += 1
    return count


def _resized(case: Sample, old: int, new: int) -> list[Any]:
    """The operands of a case with another size in place of one."""
    rng = np.random.default_rng(0)
    found = []
    for x in case.operands:
        shape = tuple(new if n == old else n for n in x.shape)
        flat = np.resize(x, shape) if x.size else np.zeros(shape, x.dtype)
        found.append(rng.permutation(flat.reshape(-1)).reshape(shape).astype(x.dtype))
    return found


def _marked(x: td.Tensor, size: int) -> td.Tensor:
    for axis, n in enumerate(x.shape):
        x = SMALL.of(x, axis) if n == size else x
    return x


def _called(case: Sample, tensors: Sequence[Any]) -> list[Any]:
    result = case.record(list(tensors))
    return list(result) if isinstance(result, tuple | list) else [result]
