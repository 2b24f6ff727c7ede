"""Rows of systems of equations, inverses and determinants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from treadle.base.dtypes import float64, int32, int64
from treadle.base.errors import ShapeError, explain
from treadle.base.shapes import broadcast
from treadle.ops.composite import composite, matmul
from treadle.ops.defs import Samples
from treadle.ops.elementwise import abs_, cast, eq, log, maximum, ne, where
from treadle.ops.linalg.factors import (
    MATRICES,
    SQUARES,
    cholesky_factor,
    definite,
    eye_like,
    in_order,
    lu_pack,
    lu_parts,
    matrix_in,
    regular,
    row_order,
    square_in,
    triangular_solve,
)
from treadle.ops.movement import cut, summed_to
from treadle.ops.numeric import sign
from treadle.ops.predicates import isnan
from treadle.ops.reduce import max_, sum_
from treadle.ops.scan import argsort
from treadle.ops.shaping import diagonal, tril, triu
from treadle.ops.totals import prod_


def together(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Matrices for the same batch; raises unless their rows go together."""
    (left, rows, _), (right, more, _) = matrix_in(name, a), matrix_in(name, b)
    if rows != more:
        hint = "the right side has as many rows as the matrix"
        raise ShapeError(
            explain(name, "shapes do not fit", hint, shapes=f"{a.shape} and {b.shape}")
        )
    batch = broadcast(name, left, right)
    return a.expand((*batch, *a.shape[-2:])), b.expand((*batch, *b.shape[-2:]))


def _is_vector(a: Any, b: Any) -> bool:
    """Is the right side one vector for each matrix?"""
    return b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])


# ---- Cholesky


@composite(
    lambda np, x, upper=False: (
        np.swapaxes(np.linalg.cholesky(x), -1, -2) if upper else np.linalg.cholesky(x)),
    Samples(cases=(*SQUARES, ((4, 4), {"upper": True})), bench=((512, 512),), draw=definite,
            smooth=False),
)  # fmt: skip
def cholesky(x: Any, /, upper: bool = False) -> Any:
    """The lower triangular L with x = L Lᵀ, or its transpose if upper.

    Matrices lie in the last two axes; only their lower half is read. From the first row on at which
    one is not positive definite, the factor is NaN.

    >>> import treadle as td
    >>> td.linalg.cholesky(td.tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    square_in("cholesky", x)
    factor = cholesky_factor(x)
    return factor.mT if upper else factor


class Factor(NamedTuple):
    """A factor, and 0 or the first row at which there is none, counted from 1."""

    L: Any
    info: Any


def _info(diagonal_: Any) -> Any:
    """0, or the first NaN counted from 1."""
    wrong = isnan(diagonal_)
    place = where(wrong, -diagonal_.iota_like(diagonal_.ndim - 1), -diagonal_.shape[-1])
    first = -max_(place, axis=-1) if diagonal_.shape[-1] else sum_(place, axis=-1)
    return cast(where(eq(first, diagonal_.shape[-1]), 0, first + 1), int32)


def _cholesky_ex_reference(np: Any, x: Any, upper: bool = False) -> list[Any]:
    factor = np.linalg.cholesky(x)
    return [np.swapaxes(factor, -1, -2) if upper else factor, np.zeros(x.shape[:-2])]


@composite(_cholesky_ex_reference, Samples(cases=SQUARES, draw=definite, smooth=False), inline=True)
def cholesky_ex(x: Any, /, upper: bool = False) -> Factor:
    """`cholesky`, and where it failed: 0 if it did not."""
    factor = cholesky(x, upper=upper)
    return Factor(factor, _info(diagonal(factor, 0, -2, -1)))


@composite(
    lambda np, b, factor, upper=False: np.linalg.solve(
        np.swapaxes(np.triu(factor), -1, -2) @ np.triu(factor) if upper
        else np.tril(factor) @ np.swapaxes(np.tril(factor), -1, -2), b),
    Samples(cases=(((3, 2), (3, 3), {}), ((2, 5, 1), (2, 5, 5), {"upper": True}),
                   ((0, 2), (0, 0), {})), draw=regular),
)  # fmt: skip
def cholesky_solve(b: Any, factor: Any, /, upper: bool = False) -> Any:
    """x with a x = b, from the Cholesky factor of a."""
    square_in("cholesky_solve", factor)
    factor, b = together("cholesky_solve", factor, b)
    down = triangular_solve(factor, b, upper, upper, False)
    return triangular_solve(factor, down, upper, not upper, False)


@composite(
    lambda np, a, b, upper, left=True, unitriangular=False: _solve_triangular_reference(
        np, a, b, upper, left, unitriangular),
    Samples(cases=(
        ((3, 3), (3, 2), {"upper": False}), ((2, 5, 5), (5, 3), {"upper": True}),
        ((4, 4), (4, 1), {"upper": True, "unitriangular": True}),
        ((3, 3), (2, 3), {"upper": False, "left": False}), ((0, 0), (0, 2), {"upper": True}),
    ), draw=regular),
)  # fmt: skip
def solve_triangular(
    a: Any, b: Any, /, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """x with a x = b, or x a = b if not left, for a triangular a; the other half is not read.

    unitriangular: its diagonal is 1, whatever stands there.
    """
    square_in("solve_triangular", a)
    if left:
        a, b = together("solve_triangular", a, b)
        return triangular_solve(a, b, upper, False, unitriangular)
    a, b = together("solve_triangular", a, b.mT)
    return triangular_solve(a, b, upper, True, unitriangular).mT


def _solve_triangular_reference(
    np: Any, a: Any, b: Any, upper: bool, left: bool, unit: bool
) -> Any:
    a = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
    a = a + np.eye(a.shape[-1]) if unit else a
    if left:
        return np.linalg.solve(a, b)
    return np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


# ---- LU


def _substituted(pack: Any, n: int, b: Any, turned: bool) -> Any:
    """x with a x = b, or aᵀ x = b (turned), from what lu_pack gives of a."""
    lu, order, _ = lu_parts(pack, n, n)
    if not turned:
        down = triangular_solve(lu, in_order(b, order), False, False, True)
        return triangular_solve(lu, down, True, False, False)
    down = triangular_solve(lu, b, True, True, False)
    return in_order(triangular_solve(lu, down, False, True, True), argsort(order, axis=-1))


def _solve_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The same factors as the solution's: a node that is there already."""
    vector = _is_vector(a, b)
    wide, solution = (x.reshape((*x.shape, 1)) if vector else x for x in (g, y))
    n = a.shape[-1]
    whole = a.expand((*wide.shape[:-2], n, n))
    down = _substituted(lu_pack(whole), n, wide, turned=True)
    slope = -matmul(down, solution.mT)
    return summed_to(slope, a.shape), summed_to(down.reshape(g.shape), b.shape)


def _solve_reference(np: Any, a: Any, b: Any) -> Any:
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    x = np.linalg.solve(a, b[..., None] if vector else b)
    return x[..., 0] if vector else x


@composite(
    _solve_reference,
    Samples(cases=(((3, 3), (3, 2), {}), ((2, 5, 5), (5, 3), {}), ((4, 4), (4,), {}),
                   ((2, 3, 3), (2, 3), {}), ((0, 0), (0, 2), {}), ((3, 3), (3, 0), {})),
            bench=(((512, 512), (512, 512), {}),), draw=regular),
    grad=_solve_grad,
)  # fmt: skip
def solve(a: Any, b: Any, /) -> Any:
    """x with a x = b: by LU with partial pivoting.

    b holds columns, or one vector for each matrix: where it has one axis, or the axes of a without
    the last. A singular a gives infinities or NaN.

    >>> import treadle as td
    >>> td.linalg.solve(td.tensor([[2.0, 0.0], [1.0, 1.0]]), td.tensor([2.0, 3.0])).tolist()
    [1.0, 2.0]
    """
    n = square_in("solve", a)
    if _is_vector(a, b):
        whole, wide = together("solve", a, b.reshape((*b.shape, 1)))
        x = _substituted(lu_pack(whole), n, wide, turned=False)
        return x.reshape(x.shape[:-1])
    whole, wide = together("solve", a, b)
    return _substituted(lu_pack(whole), n, wide, turned=False)


@composite(lambda np, x: np.linalg.inv(x), MATRICES)
def inv(x: Any, /) -> Any:
    """The inverse of square matrices; of singular ones infinities or NaN."""
    square_in("inv", x)
    return solve(x, eye_like(x))


class Inverted(NamedTuple):
    """An inverse, and 0 or the first pivot that is 0, counted from 1."""

    inverse: Any
    info: Any


@composite(
    lambda np, x: [np.linalg.inv(x), np.zeros(x.shape[:-2])],
    Samples(cases=SQUARES, draw=regular, smooth=False), inline=True,
)  # fmt: skip
def inv_ex(x: Any, /) -> Inverted:
    """`inv`, and whether there is none: 0 if there is."""
    n = square_in("inv_ex", x)
    pivots = diagonal(lu_parts(lu_pack(x), n, n)[0], 0, -2, -1)
    return Inverted(inv(x), _info(where(eq(pivots, 0), math.nan, pivots)))


class Factored(NamedTuple):
    """L and U in one matrix, and what each row was exchanged with, counted from 1."""

    LU: Any
    pivots: Any


def _lu_factor_reference(np: Any, x: Any) -> list[Any]:
    m, n = x.shape[-2:]
    pack = lu_pack.reference(np, x)  # type: ignore[misc]
    return [pack[..., : m * n].reshape(x.shape), pack[..., m * n + m :] + 1]


@composite(
    _lu_factor_reference,
    Samples(cases=(*SQUARES, ((3, 5), {}), ((2, 5, 3), {})), draw=regular, smooth=False),
    inline=True,
)
def lu_factor(x: Any, /) -> Factored:
    """L, below the diagonal, and U in one matrix, and the exchanges of rows, counted from 1."""
    _, m, n = matrix_in("lu_factor", x)
    lu, _, exchanged = lu_parts(lu_pack(x), m, n)
    return Factored(lu, cast(exchanged, int32) + 1)


class Triangles(NamedTuple):
    """A permutation, a lower and an upper triangle whose product is the matrix."""

    P: Any
    L: Any
    U: Any


def _lu_parts_reference(np: Any, x: Any) -> Any:
    m, n = x.shape[-2:]
    pack = lu_pack.reference(np, x)  # type: ignore[misc]
    lu, order = pack[..., : m * n].reshape(x.shape), pack[..., m * n : m * n + m]
    k = min(m, n)
    rows = np.swapaxes(np.eye(m)[order.astype(int)], -1, -2)
    return [rows, np.tril(lu, -1)[..., :k] + np.eye(m, k), np.triu(lu)[..., :k, :]]


@composite(
    _lu_parts_reference,
    Samples(cases=(*SQUARES, ((3, 5), {}), ((2, 5, 3), {})), draw=regular, smooth=False),
    inline=True,
)
def lu(x: Any, /) -> Triangles:
    """x = P L U: an order of rows, a lower triangle with ones on its diagonal, an upper one."""
    _, m, n = matrix_in("lu", x)
    k = min(m, n)
    both, order, _ = lu_parts(lu_pack(x), m, n)
    rows, columns = x.ndim - 2, x.ndim - 1
    lower = cut(tril(both, -1), columns, 0, k)
    lower = lower + cast(eq(lower.iota_like(rows), lower.iota_like(columns)), x.dtype)
    place = cast(order, int64).reshape((*x.shape[:-2], 1, m))
    permutation = cast(eq(place, place.expand((*x.shape[:-2], m, m)).iota_like(rows)), x.dtype)
    return Triangles(permutation.expand((*x.shape[:-2], m, m)), lower, cut(triu(both), rows, 0, k))


def _lu_solve_reference(
    np: Any, lu: Any, pivots: Any, b: Any, left: bool = True, adjoint: bool = False
) -> Any:
    n = lu.shape[-1]
    order = row_order.reference(np, pivots - 1).astype(int)  # type: ignore[misc]
    a = (np.tril(lu, -1) + np.eye(n)) @ np.triu(lu)
    a = np.take_along_axis(a, np.argsort(order, -1)[..., None], -2)
    a = np.swapaxes(a, -1, -2) if adjoint == left else a
    b = b if left else np.swapaxes(b, -1, -2)
    x = np.linalg.solve(a, b)
    return x if left else np.swapaxes(x, -1, -2)


def _factored(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """L and U, exchanges that are possible, and a right side."""
    lu, _, b = regular(rng, kind, (shapes[0], (), shapes[2]))
    n = shapes[0][-1]
    later = [int(rng.integers(k, n)) + 1 for k in range(n)]
    pivots = rng.integers(0, 1, shapes[1]) + later
    return [lu, pivots.astype("int64"), b]


@composite(
    _lu_solve_reference,
    Samples(cases=(((3, 3), (3,), (3, 2), {}), ((2, 5, 5), (2, 5), (5, 3), {"adjoint": True}),
                   ((4, 4), (4,), (2, 4), {"left": False})),
            draw=_factored, roles=("", "index", "")),
    inline=True,
)  # fmt: skip
def lu_solve(lu: Any, pivots: Any, b: Any, /, left: bool = True, adjoint: bool = False) -> Any:
    """x with a x = b, from `lu_factor` of a; aᵀ x = b if adjoint; x a = b if not left."""
    n = square_in("lu_solve", lu)
    if not left:
        return lu_solve(lu, pivots, b.mT, adjoint=not adjoint).mT
    lu, b = together("lu_solve", lu, b)
    order = row_order(cast(pivots, float64) - 1.0).expand((*lu.shape[:-2], n))
    if not adjoint:
        down = triangular_solve(lu, in_order(b, order), False, False, True)
        return triangular_solve(lu, down, True, False, False)
    down = triangular_solve(lu, b, True, True, False)
    return in_order(triangular_solve(lu, down, False, True, True), argsort(order, axis=-1))


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
