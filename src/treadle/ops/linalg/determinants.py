"""Rows of determinants, and of tensors whose elements are those of square matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from treadle.base.dtypes import int64
from treadle.base.errors import ShapeError, explain
from treadle.ops.composite import composite
from treadle.ops.defs import Samples
from treadle.ops.elementwise import abs_, cast, eq, log, maximum, ne, where
from treadle.ops.linalg.factors import (
    MATRICES,
    eye_like,
    in_order,
    lu_pack,
    lu_parts,
    regular,
    square_in,
    triangular_solve,
)
from treadle.ops.linalg.solving import inv, solve
from treadle.ops.numeric import sign
from treadle.ops.reduce import max_, sum_
from treadle.ops.scan import argsort
from treadle.ops.shaping import diagonal
from treadle.ops.totals import prod_

# ---- determinants


def _sign(exchanged: Any, pivots: Any) -> Any:
    """The sign of a determinant: of the exchanges, and of the pivots."""
    moved = cast(ne(exchanged, exchanged.iota_like(exchanged.ndim - 1)), int64)
    if pivots.dtype.is_complex:
        turned = 1.0 - 2.0 * cast(sum_(moved, axis=-1) % 2, pivots.dtype.part)
        return prod_(sign(pivots), axis=-1) * turned
    minus = sum_(moved + cast(pivots < 0, int64), axis=-1) % 2
    return 1.0 - 2.0 * cast(minus, pivots.dtype)


def _det_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """The adjugate, transposed: of a singular matrix by pivots that are a little more than 0."""
    n = square_in("det", x)
    if not n:
        return (x.zeros_like(),)
    lu, order, exchanged = lu_parts(lu_pack(x), n, n)
    pivots = diagonal(lu, 0, -2, -1)
    least = max_(abs_(lu), axis=(-2, -1)).reshape((*x.shape[:-2], 1))
    least = maximum(least, 1e-30) * 2.0**-x.dtype.part.mantissa
    small = abs_(pivots) < least
    more = where(small, least, pivots)
    regular_ = where(ne(eye_like(lu), 0), more.reshape((*more.shape, 1)), lu)
    size = prod_(more, axis=-1) * _sign(exchanged, where(small, 1.0, pivots) * 0 + 1.0)
    weight = (g * size).reshape((*x.shape[:-2], 1, 1)) * eye_like(x)
    down = triangular_solve(regular_, weight, True, True, False)
    return (in_order(triangular_solve(regular_, down, False, True, True), argsort(order, axis=-1)),)


@composite(lambda np, x: np.linalg.det(x), MATRICES, grad=_det_grad)
def det(x: Any, /) -> Any:
    """The determinant of square matrices."""
    n = square_in("det", x)
    lu, _, exchanged = lu_parts(lu_pack(x), n, n)
    pivots = diagonal(lu, 0, -2, -1)
    return prod_(pivots, axis=-1) * _sign(exchanged, pivots * 0 + 1.0)


class SignedLog(NamedTuple):
    """The sign of a determinant, and the logarithm of its magnitude."""

    sign: Any
    logabsdet: Any


def _log_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    return (g.reshape((*g.shape, 1, 1)) * inv(x).mT,)


@composite(lambda np, x: np.linalg.slogdet(x)[1], MATRICES, grad=_log_grad)
def logabsdet(x: Any, /) -> Any:
    """The logarithm of the magnitude of the determinant; -inf of singular matrices."""
    n = square_in("logabsdet", x)
    return sum_(log(abs_(diagonal(lu_parts(lu_pack(x), n, n)[0], 0, -2, -1))), axis=-1)


@composite(
    lambda np, x: list(np.linalg.slogdet(x)), MATRICES, inline=True,
)  # fmt: skip
def slogdet(x: Any, /) -> SignedLog:
    """The sign of the determinant, 0 of singular matrices, and the logarithm of its magnitude."""
    n = square_in("slogdet", x)
    lu, _, exchanged = lu_parts(lu_pack(x), n, n)
    pivots = diagonal(lu, 0, -2, -1)
    zero = sum_(cast(eq(pivots, 0), int64), axis=-1)
    return SignedLog(where(ne(zero, 0), 0.0, _sign(exchanged, pivots)), logabsdet(x))


# ---- tensors as matrices


def _regular_tensors(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Regular where they are square as matrices, and whatever stands beside them."""
    sizes = [math.isqrt(math.prod(shape)) for shape in shapes]
    flat = [(n, n) if n * n == math.prod(shape) and len(shape) > 2 else shape
            for n, shape in zip(sizes, shapes, strict=True)]  # fmt: skip
    found = regular(rng, kind, flat)
    return [x.reshape(shape) for x, shape in zip(found, shapes, strict=True)]


@composite(
    lambda np, a, b, axes=None: np.linalg.tensorsolve(a, b, axes),
    Samples(cases=(((2, 3, 6), (2, 3), {}), ((4, 2, 2), (4,), {})),
            draw=_regular_tensors),
)  # fmt: skip
def tensorsolve(a: Any, b: Any, /, axes: Sequence[int] | None = None) -> Any:
    """x with tensordot(a, x, x.ndim) = b; axes of a named in axes go to its end first."""
    if axes is not None:
        chosen = [axis % a.ndim for axis in axes]
        a = a.permute(tuple([k for k in range(a.ndim) if k not in chosen] + chosen))
    shape = a.shape[b.ndim :]
    size = math.prod(shape)
    if math.prod(a.shape[: b.ndim]) != size:
        facts = {"shapes": f"{a.shape} and {b.shape}"}
        raise ShapeError(explain("tensorsolve", "a is no square matrix of elements", **facts))
    return solve(a.reshape((size, size)), b.reshape((size,))).reshape(shape)


@composite(
    lambda np, a, ind=2: np.linalg.tensorinv(a, ind),
    Samples(cases=(((4, 2, 2), {"ind": 1}), ((2, 3, 6), {})),
            draw=_regular_tensors),
)  # fmt: skip
def tensorinv(a: Any, /, ind: int = 2) -> Any:
    """The inverse of a as a matrix from its last axes to the first `ind`."""
    rows, columns = a.shape[:ind], a.shape[ind:]
    size = math.prod(rows)
    if ind <= 0 or size != math.prod(columns):
        raise ShapeError(explain("tensorinv", "a is no square matrix of elements", shape=a.shape))
    return inv(a.reshape((size, size))).reshape((*columns, *rows))
