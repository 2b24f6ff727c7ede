"""Rows of the factorisations into orthogonal matrices: QR, eigenvalues, singular values."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from treadle.base.errors import ArgumentError, GradientError, explain
from treadle.base.shapes import Shape
from treadle.ops.composite import composite, matmul
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import eq, ne, where
from treadle.ops.linalg.factors import (
    SQUARES,
    adjoint,
    by_gradients,
    definite,
    eye_like,
    matrix_in,
    parts_of,
    real_of,
    regular,
    routine,
    square_in,
    triangular_solve,
)
from treadle.ops.linalg.unasked import unasked
from treadle.ops.movement import concat, cut
from treadle.ops.shaping import triu

RECTANGLES: tuple[Any, ...] = (*SQUARES, ((3, 5), {}), ((2, 5, 3), {}), ((4, 0), {}), ((0, 3), {}))


# ---- QR


def _qr_sizes(a: Shape, complete: bool) -> tuple[Shape, Shape]:
    m, n = a[-2:]
    k = m if complete else min(m, n)
    return (m, k), (k, n)


def _qr_shape(arg: Any, shapes: Any) -> Shape:
    (m, k), (_, n) = _qr_sizes(shapes[0], arg[0])
    return (*shapes[0][:-2], k * (m + n))


def _qr_grad(g: Any, y: Any, a: Any) -> tuple[Any]:
    """By the triangle of R; of a wide matrix, what lies beside the first square goes through Q."""
    _, m, n = matrix_in("qr", a)
    shapes = _qr_sizes(a.shape, y.arg[0])
    if shapes[0][1] > min(m, n):
        hint = 'use mode="reduced"'
        raise GradientError(explain("qr", "the columns that are free have no gradient", hint))
    (q, r), (gq, gr) = parts_of(y, *shapes), parts_of(g, *shapes)
    last = a.ndim - 1
    if m >= n:
        return (_square_qr(gq, gr, q, r),)
    side, g_side = cut(a, last, m, n), cut(gr, last, m, n)
    square = _square_qr(
        gq + matmul(side, adjoint(g_side)), cut(gr, last, 0, m), q, cut(r, last, 0, m)
    )
    return (concat([square, matmul(q, g_side)], axis=last),)


def _square_qr(gq: Any, gr: Any, q: Any, r: Any) -> Any:
    inner = matmul(gr, adjoint(r)) - matmul(adjoint(q), gq)
    upper = triu(inner, 1)
    middle = where(ne(eye_like(real_of(inner)), 0), real_of(inner), 0.0)
    whole = gq + matmul(q, upper + adjoint(upper) + middle)
    return adjoint(triangular_solve(r, adjoint(whole), True, False, False))


def _qr_reference(np: Any, a: Any, complete: bool) -> Any:
    q, r = np.linalg.qr(a, "complete" if complete else "reduced")
    flat = [x.reshape((*a.shape[:-2], x.shape[-2] * x.shape[-1])) for x in (q, r)]
    return np.concatenate(flat, -1)


qr_pack: Op = routine(
    "qr_pack", "Q, of which the columns are orthonormal, and behind it the upper triangle R; flat.",
    _qr_shape, lambda a, complete: ((a,), (bool(complete),)), by_gradients(_qr_grad),
    _qr_reference,
    Samples(cases=tuple((shape, {"complete": False}) for shape, _ in RECTANGLES), draw=regular),
)  # fmt: skip


class QR(NamedTuple):
    """A matrix with orthonormal columns, and an upper triangle."""

    Q: Any
    R: Any


@composite(
    lambda np, x, mode="reduced": list(np.linalg.qr(x, mode)),
    Samples(cases=(*RECTANGLES, ((3, 5), {"mode": "complete"})), bench=((256, 256),), draw=regular),
    inline=True,
)
def qr(x: Any, /, mode: str = "reduced") -> QR:
    """x = Q R: a matrix with orthonormal columns and an upper triangle.

    - **mode**: "reduced", as many columns of Q as x has rows or columns; "complete", a square Q;
      "r", an empty Q
    """
    if mode not in ("reduced", "complete", "r"):
        hint = 'one of "reduced", "complete", "r"'
        raise ArgumentError(explain("qr", "no such mode", hint, mode=repr(mode)))
    matrix_in("qr", x)
    q, r = parts_of(qr_pack(x, mode == "complete"), *_qr_sizes(x.shape, mode == "complete"))
    return QR(cut(q, q.ndim - 1, 0, 0) if mode == "r" else q, r)


# ---- symmetric matrices


def _over(x: Any, y: Any) -> Any:
    """x / y, and 0 where both are: vectors that nobody asked for are free to turn."""
    none = eq(x, 0) & eq(y, 0)
    return where(none, 0.0, x / where(none, 1.0, y))


def apart(x: Any, w: Any) -> Any:
    """Elements over the difference of the values of their column and row, 0 on the diagonal."""
    rows, columns = w.reshape((*w.shape, 1)), w.reshape((*w.shape[:-1], 1, w.shape[-1]))
    same = ne(eye_like(columns - rows), 0)
    return _over(where(same, 0.0, x), where(same, 1.0, columns - rows))


def diagonal_matrix(x: Any) -> Any:
    """Matrices with a vector on the diagonal."""
    wide = x.reshape((*x.shape, 1)).expand((*x.shape, x.shape[-1]))
    return wide * eye_like(wide)


def _eigh_grad(g: Any, y: Any, a: Any) -> tuple[Any]:
    """Vectors turn towards each other, the more the nearer their values; symmetric, as a is."""
    n = a.shape[-1]
    if not y.arg[0]:
        pack = eigh_pack(a, True)
        _, v = parts_of(pack, (n,), (n, n))
        return (matmul(v * real_of(g).reshape((*g.shape[:-1], 1, n)), adjoint(v)),)
    (w, v), (gw, gv) = parts_of(y, (n,), (n, n)), parts_of(g, (n,), (n, n))
    inner = diagonal_matrix(real_of(gw)) + apart(matmul(adjoint(v), gv), real_of(w))
    whole = matmul(matmul(v, inner), adjoint(v))
    return ((whole + adjoint(whole)) * 0.5,)


def _eigh_reference(np: Any, a: Any, vectors: bool) -> Any:
    w, v = np.linalg.eigh(a, "L")
    if not vectors:
        return w.astype(a.dtype)
    return np.concatenate([w, v.reshape((*a.shape[:-2], a.shape[-1] ** 2))], -1)


def _eigh_shape(arg: Any, shapes: Any) -> Shape:
    n = shapes[0][-1]
    return (*shapes[0][:-2], n + n * n if arg[0] else n)


eigh_pack: Op = routine(
    "eigh_pack",
    """Eigenvalues of symmetric matrices, ascending, and behind them the matrix of eigenvectors;
    flat. The lower half is read.
    """,
    _eigh_shape, lambda a, vectors: ((a,), (bool(vectors),)), by_gradients(_eigh_grad),
    _eigh_reference,
    Samples(cases=tuple((shape, {"vectors": False}) for shape, _ in SQUARES), draw=definite,
            smooth=False),
)  # fmt: skip


class Eigen(NamedTuple):
    """Eigenvalues, and the matrix whose columns are their eigenvectors."""

    eigenvalues: Any
    eigenvectors: Any


def _lower(name: str, x: Any, uplo: str) -> Any:
    """The matrix, or its transpose, so that the lower half is what is to be read."""
    square_in(name, x)
    if uplo not in ("L", "U", "l", "u"):
        raise ArgumentError(explain(name, "UPLO is 'L' or 'U'", UPLO=repr(uplo)))
    return adjoint(x) if uplo in ("U", "u") else x


ONES = Samples(cases=(((1, 1), {}), ((2, 1, 1), {}), ((0, 0), {})), bench=((256, 256),),
               low=1.0, smooth=False)  # fmt: skip
"""Where vectors have no choice but a sign; `test_linalg_spectral.py` has others."""


@composite(
    lambda np, x, UPLO="L": list(np.linalg.eigh(x, UPLO)), ONES, inline=True,
)  # fmt: skip
def eigh(x: Any, /, UPLO: str = "L") -> Eigen:
    """Eigenvalues of symmetric matrices, ascending, and eigenvectors, the columns of a matrix.

    - **UPLO**: which half is read, "L" or "U"

    Vectors are determined up to their sign; their gradient is infinite where two values are equal,
    that of the values is not.

    >>> import treadle as td
    >>> td.linalg.eigh(td.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.tolist()
    [1.0, 2.0]
    """
    x = _lower("eigh", x, UPLO)
    n = x.shape[-1]
    values, vectors = parts_of(eigh_pack(x, True), (n,), (n, n))
    return Eigen(real_of(values), vectors)


@composite(
    lambda np, x, UPLO="L": np.linalg.eigvalsh(x, UPLO),
    Samples(cases=(*SQUARES, ((4, 4), {"UPLO": "U"})), draw=definite, smooth=False),
)
def eigvalsh(x: Any, /, UPLO: str = "L") -> Any:
    """Eigenvalues of symmetric matrices, ascending; UPLO as `eigh` has it."""
    return real_of(eigh_pack(_lower("eigvalsh", x, UPLO), False))


# ---- singular values


def _svd_sizes(a: Shape, full: bool) -> tuple[Shape, Shape, Shape]:
    m, n = a[-2:]
    k = min(m, n)
    return (k,), (m, m if full else k), (n if full else k, n)


def _svd_shape(arg: Any, shapes: Any) -> Shape:
    sizes = _svd_sizes(shapes[0], arg[0])
    count = sum(map(math.prod, sizes)) if arg[1] else sizes[0][0]
    return (*shapes[0][:-2], count)


def _leading(x: Any, a: Shape, full: bool) -> tuple[Any, Any, Any]:
    """Values, and the vectors that belong to one each."""
    s, u, vh = parts_of(x, *_svd_sizes(a, full))
    k = s.shape[-1]
    return s, cut(u, u.ndim - 1, 0, k), cut(vh, vh.ndim - 2, 0, k)


def _free_unasked(g: Any, m: int, n: int) -> bool:
    k, behind = min(m, n), min(m, n) + m * m
    return unasked(g, (k, behind), -1, k, m) and unasked(g, (behind, behind + n * n), -2, k, n)


def _svd_grad(g: Any, y: Any, a: Any) -> tuple[Any]:
    """Vectors turn towards each other, the more the nearer the squares of their values."""
    full, vectors = y.arg
    _, m, n = matrix_in("svd", a)
    k = min(m, n)
    sizes = _svd_sizes(a.shape, False)
    if not vectors:
        _, u, vh = parts_of(svd_pack(a, False, True), *sizes)
        return (matmul(u * real_of(g).reshape((*g.shape[:-1], 1, k)), vh),)
    (s, u, vh), (gs, gu, gvh) = _leading(y, a.shape, full), _leading(g, a.shape, full)
    if full and m != n and not _free_unasked(g, m, n):
        hint = "use full_matrices=False, or as many vectors as there are values"
        raise GradientError(explain("svd", "the vectors that are free have no gradient", hint))
    s, gs = real_of(s), real_of(gs)
    row = s.reshape((*s.shape[:-1], 1, k))
    left, right = matmul(adjoint(u), gu), matmul(vh, adjoint(gvh))
    skew, other = left - adjoint(left), right - adjoint(right)
    inner = apart(skew, s * s) * row + row.mT * apart(other, s * s) + diagonal_matrix(gs)
    if a.dtype.is_complex:  # what turns both vectors of a value by the same angle
        inner = inner + _over(where(ne(eye_like(skew), 0), skew, 0.0), row) * 0.5
    found = matmul(matmul(u, inner), vh)
    if m > k:
        found = found + matmul(_over(gu - matmul(u, left), row), vh)
    if n > k:
        found = found + matmul(u, _over(gvh - matmul(adjoint(right), vh), row.mT))
    return (found,)


def _svd_reference(np: Any, a: Any, full: bool, vectors: bool) -> Any:
    if not vectors:
        return np.linalg.svd(a, compute_uv=False).astype(a.dtype)
    u, s, vh = np.linalg.svd(a, full_matrices=full)
    flat = [x.reshape((*a.shape[:-2], x.shape[-2] * x.shape[-1])) for x in (u, vh)]
    return np.concatenate([s, *flat], -1)


svd_pack: Op = routine(
    "svd_pack", "Singular values, descending, and behind them U and Vᵀ; flat.",
    _svd_shape, lambda a, full, vectors: ((a,), (bool(full), bool(vectors))),
    by_gradients(_svd_grad),
    _svd_reference,
    Samples(cases=tuple((shape, {"full": False, "vectors": False}) for shape, _ in RECTANGLES),
            draw=regular),
)  # fmt: skip


class SVD(NamedTuple):
    """Orthonormal columns, singular values, orthonormal rows."""

    U: Any
    S: Any
    Vh: Any


@composite(
    lambda np, x, full_matrices=True: list(np.linalg.svd(x, full_matrices)),
    Samples(cases=(*ONES.cases, ((3, 0), {"full_matrices": False})), bench=((256, 256),), low=1.0,
            smooth=False),
    inline=True,
)  # fmt: skip
def svd(x: Any, /, full_matrices: bool = True) -> SVD:
    """x = U diag(S) Vh: orthonormal columns, singular values descending, orthonormal rows.

    - **full_matrices**: square U and Vh; else as many columns and rows as there are values

    Vectors are determined up to a sign they share; their gradient is infinite where two values
    are equal, that of the values is not.
    """
    matrix_in("svd", x)
    s, u, vh = parts_of(svd_pack(x, full_matrices, True), *_svd_sizes(x.shape, full_matrices))
    return SVD(u, real_of(s), vh)


@composite(
    lambda np, x: np.linalg.svd(x, compute_uv=False), Samples(cases=RECTANGLES, draw=regular)
)
def svdvals(x: Any, /) -> Any:
    """Singular values, descending."""
    matrix_in("svdvals", x)
    return real_of(svd_pack(x, False, False))
