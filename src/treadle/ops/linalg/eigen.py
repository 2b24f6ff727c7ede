"""Rows of eigenvalues and eigenvectors of any square matrices, which are complex."""

from __future__ import annotations

from typing import Any

from treadle.base.shapes import Shape
from treadle.ops.composite import composite, matmul
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import complex_
from treadle.ops.linalg.factors import (
    adjoint,
    by_gradients,
    conjugate,
    parts_of,
    real_of,
    routine,
    square_in,
)
from treadle.ops.linalg.solving import solve
from treadle.ops.linalg.spectral import ONES, Eigen, apart, diagonal_matrix
from treadle.ops.shaping import diagonal


def _eig_sizes(n: int, is_complex: bool, vectors: bool) -> list[Shape]:
    """Values and vectors; of real matrices, real and imaginary parts of each."""
    sizes: list[Shape] = [(n,), (n, n)] if vectors else [(n,)]
    return sizes if is_complex else [x for x in sizes for _ in range(2)]


def _eig_shape(arg: Any, shapes: Any) -> Shape:
    n, (vectors, of_complex) = shapes[0][-1], arg
    return (*shapes[0][:-2], (n + n * n * vectors) * (1 if of_complex else 2))


def eig_parts(y: Any, n: int, vectors: bool) -> list[Any]:
    """Eigenvalues, and eigenvectors if there are any, as complex numbers."""
    parts = parts_of(y, *_eig_sizes(n, y.dtype.is_complex, vectors))
    if y.dtype.is_complex:
        return parts
    return [complex_(re, im) for re, im in zip(parts[::2], parts[1::2], strict=True)]


def _eig_grad(g: Any, y: Any, a: Any) -> tuple[Any]:
    """As of symmetric matrices, by a basis that is not orthogonal."""
    n, (vectors, _) = a.shape[-1], y.arg
    found = y if vectors else eig_pack(a, True, a.dtype.is_complex)
    w, v = eig_parts(found, n, True)
    gw, *gv = eig_parts(g, n, vectors)
    inner = diagonal_matrix(gw)
    if gv:
        turned = matmul(adjoint(v), gv[0])
        own = real_of(diagonal(turned, 0, -2, -1))
        away = turned - matmul(adjoint(v), v * own.reshape((*own.shape[:-1], 1, n)))
        inner = inner + apart(away, conjugate(w))
    whole = solve(adjoint(v), matmul(inner, adjoint(v)))
    return (whole if a.dtype.is_complex else real_of(whole),)


def _eig_reference(np: Any, a: Any, vectors: bool, of_complex: bool = False) -> Any:
    n = a.shape[-1]
    w, v = np.linalg.eig(a)
    parts = [w] if of_complex else [w.real, w.imag]
    if vectors:
        more = [v] if of_complex else [v.real, v.imag]
        parts += [x.reshape((*a.shape[:-2], n * n)) for x in more]
    return np.concatenate(parts, -1)


eig_pack: Op = routine(
    "eig_pack",
    """Eigenvalues of any square matrix, then eigenvectors; flat. Of a real one (of_complex is
    false) real and imaginary parts of each.
    """,
    _eig_shape,
    lambda a, vectors, of_complex=False: ((a,), (bool(vectors), bool(of_complex))),
    by_gradients(_eig_grad), _eig_reference,
    Samples(cases=(((1, 1), {"vectors": False}), ((2, 1, 1), {"vectors": True})), low=1.0),
)  # fmt: skip


@composite(lambda np, x: [y.astype(complex) for y in np.linalg.eig(x)], ONES, inline=True)
def eig(x: Any, /) -> Eigen:
    """Eigenvalues and eigenvectors of any square matrices: complex, in no order.

    The vectors, columns of a matrix, have length 1 and a real largest element; that of a function
    of them has a gradient only if it does not depend on their angle.

    >>> import treadle as td
    >>> td.linalg.eig(td.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues.tolist()
    [1j, -1j]
    """
    n = square_in("eig", x)
    return Eigen(*eig_parts(eig_pack(x, True, x.dtype.is_complex), n, True))


@composite(lambda np, x: np.linalg.eigvals(x).astype(complex), ONES, inline=True)
def eigvals(x: Any, /) -> Any:
    """Eigenvalues of any square matrices: complex, in no order."""
    n = square_in("eigvals", x)
    return eig_parts(eig_pack(x, False, x.dtype.is_complex), n, False)[0]
