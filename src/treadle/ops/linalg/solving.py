"""Rows of systems of equations, inverses and determinants."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from treadle.base.dtypes import float64, int32, int64
from treadle.base.errors import ShapeError, explain
from treadle.base.shapes import broadcast
from treadle.ops.bounds import require_inside
from treadle.ops.composite import composite, matmul
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast, eq, where
from treadle.ops.linalg.factors import (
    MATRICES,
    SQUARES,
    adjoint,
    cholesky_factor,
    conjugate,
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
from treadle.ops.predicates import isnan
from treadle.ops.reduce import max_, sum_
from treadle.ops.scan import argsort
from treadle.ops.shaping import diagonal, tril, triu


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


def is_vector(a: Any, b: Any) -> bool:
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
    return adjoint(factor) if upper else factor


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
    turned = conjugate(factor)
    down = triangular_solve(turned if upper else factor, b, upper, upper, False)
    return triangular_solve(factor if upper else turned, down, upper, not upper, False)


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
    if dict(y.arg[1])["left"]:
        return _slopes(g, y, a, b)
    of_a, of_b = _slopes(g.mT, y.mT, a.mT, b.mT)
    return of_a.mT, of_b.mT


def _slopes(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The same factors as the solution's: a node that is there already."""
    vector = is_vector(a, b)
    wide, solution = (x.reshape((*x.shape, 1)) if vector else x for x in (g, y))
    n = a.shape[-1]
    whole = a.expand((*wide.shape[:-2], n, n))
    down = _substituted(lu_pack(whole), n, wide, turned=True)
    slope = -matmul(down, solution.mT)
    return summed_to(slope, a.shape), summed_to(down.reshape(g.shape), b.shape)


def _solve_reference(np: Any, a: Any, b: Any, left: bool = True) -> Any:
    if not left:
        return _solve_reference(np, a.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    x = np.linalg.solve(a, b[..., None] if vector else b)
    return x[..., 0] if vector else x


@composite(
    _solve_reference,
    Samples(cases=(((3, 3), (3, 2), {}), ((2, 5, 5), (5, 3), {}), ((4, 4), (4,), {}),
                   ((2, 3, 3), (2, 3), {}), ((0, 0), (0, 2), {}), ((3, 3), (3, 0), {}),
                   ((2, 3, 3), (4, 3), {"left": False})),
            bench=(((512, 512), (512, 512), {}),), draw=regular),
    grad=_solve_grad,
)  # fmt: skip
def solve(a: Any, b: Any, /, left: bool = True) -> Any:
    """x with a x = b, or x a = b if not left: by LU with partial pivoting.

    b holds columns, or one vector for each matrix: where it has one axis, or the axes of a without
    the last. If not left it holds rows. A singular a gives infinities or NaN.

    >>> import treadle as td
    >>> td.linalg.solve(td.tensor([[2.0, 0.0], [1.0, 1.0]]), td.tensor([2.0, 3.0])).tolist()
    [1.0, 2.0]
    """
    n = square_in("solve", a)
    if not left:
        if b.ndim < 2 or b.shape[-1] != n:
            hint = "the right side has as many columns as the matrix"
            facts = {"shapes": f"{a.shape} and {b.shape}"}
            raise ShapeError(explain("solve", "shapes do not fit", hint, **facts))
        whole, wide = together("solve", a.mT, b.mT)
        return _substituted(lu_pack(whole), n, wide, turned=False).mT
    if is_vector(a, b):
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
    """x with a x = b, from `lu_factor` of a; x a = b if not left.

    adjoint: with the transpose of a, conjugated.
    """
    n = square_in("lu_solve", lu)
    if not left:
        return conjugate(lu_solve(lu, pivots, conjugate(b).mT, adjoint=not adjoint)).mT
    require_inside("lu_solve", pivots, n + 1, lowest=1)
    lu, b = together("lu_solve", lu, b)
    order = row_order(cast(pivots, float64) - 1.0).expand((*lu.shape[:-2], n))
    if not adjoint:
        down = triangular_solve(lu, in_order(b, order), False, False, True)
        return triangular_solve(lu, down, True, False, False)
    lu = conjugate(lu)
    down = triangular_solve(lu, b, True, True, False)
    return in_order(triangular_solve(lu, down, False, True, True), argsort(order, axis=-1))
