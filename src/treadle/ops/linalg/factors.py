"""Rows of the factorisations that backends have algorithms for: matrices lie in the last two axes.

Several results are parts of one: flat, one after the other, cut out by `parts_of`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from treadle.base.dtypes import DType, float32, float64, promote
from treadle.base.errors import ShapeError, explain
from treadle.base.shapes import Shape
from treadle.ops.composite import matmul
from treadle.ops.defs import Kind, Op, Samples
from treadle.ops.elementwise import where
from treadle.ops.movement import concat, cut
from treadle.ops.rules import require
from treadle.ops.shaping import tril, triu

Shapes = Sequence[Shape]
FACTORED = (float32, float64)
"""What matrices that are factored consist of."""


def same_floats(name: str, dtypes: Sequence[DType]) -> tuple[tuple[DType, ...], DType]:
    """Promoted; floats that there are algorithms for."""
    common = reduce(promote, dtypes)
    require(name, dtypes, FACTORED)
    return (common,) * len(dtypes), common


def matrix_in(name: str, x: Any) -> tuple[Shape, int, int]:
    """(axes of the batch, rows, columns); raises for fewer than two axes."""
    if x.ndim < 2:
        hint = "matrices lie in the last two axes: x.reshape(1, -1) is one row"
        raise ShapeError(explain(name, "needs a matrix", hint, shape=x.shape))
    return x.shape[:-2], x.shape[-2], x.shape[-1]


def square_in(name: str, x: Any) -> int:
    """The size of a square matrix; raises for another."""
    _, rows, columns = matrix_in(name, x)
    if rows != columns:
        raise ShapeError(explain(name, "needs square matrices", shape=x.shape))
    return rows


def routine(
    name: str, doc: str, shape: Callable[[Any, Shapes], Shape], arguments: Callable[..., Any],
    grad: Any, reference: Callable[..., Any],
) -> Op:  # fmt: skip
    """A row that is an algorithm on matrices."""
    return Op(
        name, Kind.ROUTINE, doc, types=partial(same_floats, name), shape=shape,
        arguments=arguments, grad=grad, reference=reference, public=False,
        samples=Samples(cases=(((0, 0), {}),)),
    )  # fmt: skip


def parts_of(x: Any, *shapes: Shape) -> list[Any]:
    """Results that lie one after the other along the last axis, in their shapes."""
    found, start = [], 0
    for shape in shapes:
        size = math.prod(shape)
        found.append(cut(x, x.ndim - 1, start, start + size).reshape((*x.shape[:-1], *shape)))
        start += size
    return found


def packed(*parts: Any, lead: int) -> Any:
    """The opposite: all but the first axes flat, one after the other."""
    flat = [x.reshape((*x.shape[:lead], math.prod(x.shape[lead:]))) for x in parts]
    return concat(flat, axis=lead)


def every(function: Callable[[Any], Any], np: Any, x: Any, like: Callable[[Any], Any]) -> Any:
    """A function of NumPy on each matrix; NaN where it says that there is no answer."""
    found = []
    for matrix in x.reshape((-1, *x.shape[-2:])):
        try:
            found.append(function(matrix))
        except np.linalg.LinAlgError:
            found.append(np.full_like(like(matrix), np.nan))
    shape = (like(np.zeros(x.shape[-2:], x.dtype))).shape
    return np.array(found, x.dtype).reshape((*x.shape[:-2], *shape))


# ---- triangular systems


def _triangular(a: Any, b: Any, upper: bool, turned: bool, unit: bool) -> Any:
    return (a, b), (bool(upper), bool(turned), bool(unit))


def _triangular_reference(np: Any, a: Any, b: Any, upper: bool, turned: bool, unit: bool) -> Any:
    a = np.triu(a) if upper else np.tril(a)
    a = np.swapaxes(a, -1, -2) if turned else a
    if unit:
        a = a - np.eye(a.shape[-1]) * a + np.eye(a.shape[-1])
    order = range(a.shape[-1]) if upper == turned else range(a.shape[-1] - 1, -1, -1)
    x = np.array(b, a.dtype)
    for i in order:
        x[..., i, :] /= a[..., i, i, None]
        for j in range(a.shape[-1]):
            if (j > i) == (upper == turned) and j != i:
                x[..., j, :] -= a[..., j, i, None] * x[..., i, :]
    return x


def _triangular_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    upper, turned, unit = y.arg
    down = triangular_solve(a, g, upper, not turned, unit)
    slope = matmul(down, y.mT)
    slope = -(slope.mT if turned else slope)
    k = int(unit)
    return (triu(slope, k) if upper else tril(slope, -k)), down


triangular_solve: Op = routine(
    "triangular_solve",
    """x with a x = b for a triangular a, or its transpose (turned): a batch of each, no others.

    What lies beyond the triangle is not read, nor the diagonal if it is said to be 1 (unit).
    """,
    lambda _, shapes: shapes[1], _triangular, _triangular_grad, _triangular_reference,
)  # fmt: skip


# ---- Cholesky


def _cholesky_grad(g: Any, y: Any, a: Any) -> tuple[Any]:
    """L⁻ᵀ of the lower half, its diagonal halved, of Lᵀ g, L⁻¹: symmetric, as the matrix is."""
    inner = tril(matmul(y.mT, g))
    inner = (inner + tril(inner, -1)) * 0.5
    down = triangular_solve(y, inner + tril(inner, -1).mT - tril(inner, -1), False, True, False)
    whole = triangular_solve(y, down.mT, False, True, False)
    return ((whole + whole.mT) * 0.5,)


def _cholesky_reference(np: Any, a: Any) -> Any:
    a = np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)
    return every(np.linalg.cholesky, np, a, lambda m: m)


cholesky_factor: Op = routine(
    "cholesky_factor",
    "The lower triangular factor of positive definite matrices, of which the lower half is read.",
    lambda _, shapes: shapes[0],
    lambda a: ((a,), ()),
    _cholesky_grad,
    _cholesky_reference,
)
