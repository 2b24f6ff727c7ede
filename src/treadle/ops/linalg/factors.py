"""Rows of the factorisations that backends have algorithms for: matrices lie in the last two axes.

Several results are parts of one: flat, one after the other, cut out by `parts_of`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from treadle.base.dtypes import (
    DType,
    complex64,
    complex128,
    float32,
    float64,
    int64,
    promote,
)
from treadle.base.errors import ShapeError, explain
from treadle.base.shapes import Shape
from treadle.ops.composite import matmul
from treadle.ops.contract import gather
from treadle.ops.defs import AN_INDEX, PAIRED, Kind, Op, Samples
from treadle.ops.elementwise import cast, conj, eq, real
from treadle.ops.movement import concat, cut
from treadle.ops.rules import require
from treadle.ops.scan import argsort
from treadle.ops.shaping import tril, triu

Shapes = Sequence[Shape]
FACTORED = (float32, float64, complex64, complex128)
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
    grad: Any, reference: Callable[..., Any], samples: Samples,
) -> Op:  # fmt: skip
    """A row that is an algorithm on matrices."""

    def own_shape(arg: Any, shapes: Shapes) -> Shape:
        if PAIRED not in arg:
            return shape(arg, shapes)
        return (*shape(arg[:-1], [x[:-1] for x in shapes]), 2)

    def own_reference(np: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(args[-1], str):  # PAIRED, or an array
            return reference(np, *args, **options)
        *operands, _ = args
        whole = [x[..., 0] + 1j * x[..., 1] if hasattr(x, "dtype") else x for x in operands]
        found = reference(np, *whole)
        return np.stack([found.real, found.imag], -1)

    return Op(
        name, Kind.ROUTINE, doc, types=partial(same_floats, name), shape=own_shape,
        arguments=arguments, grad=grad, reference=own_reference, samples=samples, public=False,
    )  # fmt: skip


def adjoint(x: Any) -> Any:
    """The transpose, conjugated."""
    return conjugate(x).mT


def conjugate(x: Any) -> Any:
    """The conjugate; a real x itself."""
    return conj(x) if x.dtype.is_complex else x


def real_of(x: Any) -> Any:
    """The real part; a real x itself."""
    return real(x) if x.dtype.is_complex else x


def by_gradients(rule: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """A rule from gradients, the conjugates of cotangents, to gradients."""

    def found(g: Any, y: Any, *operands: Any) -> tuple[Any, ...]:
        return tuple(map(conjugate, rule(conjugate(g), y, *operands)))

    return found


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
    for matrix in x.reshape((math.prod(x.shape[:-2]), *x.shape[-2:])):
        try:
            found.append(function(matrix))
        except np.linalg.LinAlgError:
            found.append(np.full_like(like(matrix), np.nan))
    shape = (like(np.zeros(x.shape[-2:], x.dtype))).shape
    return np.array(found, x.dtype).reshape((*x.shape[:-2], *shape))


def regular(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Matrices far from singular, and whatever stands beside them."""
    found = []
    for shape in shapes:
        x = rng.uniform(-1, 1, shape)
        if len(shape) > 1 and shape[-1] == shape[-2]:
            x[..., range(shape[-1]), range(shape[-1])] += 3 * math.sqrt(shape[-1])
        found.append(x.astype(kind))
    return found


def definite(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    """Symmetric matrices with eigenvalues well above 0, and whatever stands beside them."""
    found = []
    for k, x in enumerate(regular(rng, "float64", shapes)):
        symmetric = k == 0 and x.ndim > 1
        found.append(((x + x.swapaxes(-1, -2)) / 2 if symmetric else x).astype(kind))
    return found


SQUARES: tuple[Any, ...] = (
    ((3, 3), {}),
    ((1, 1), {}),
    ((2, 5, 5), {}),
    ((0, 0), {}),
    ((3, 0, 0), {}),
)
MATRICES = Samples(cases=SQUARES, bench=((512, 512),), draw=regular)


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
    Samples(cases=tuple(
        ((*batch, 5, 5), (*batch, 5, 3), {"upper": upper, "turned": turned, "unit": unit})
        for batch, upper, turned, unit in (
            ((), False, False, False), ((2,), True, False, True), ((), True, True, False),
            ((0,), False, True, False), ((), False, True, True),
        )), draw=regular, roles=("", "")),
)  # fmt: skip


# ---- Cholesky


def _cholesky_grad(g: Any, y: Any, a: Any) -> tuple[Any]:
    """L⁻ᵀ of the lower half, its diagonal halved, of Lᵀ g, L⁻¹: symmetric, as the matrix is."""
    inner, factor = tril(matmul(adjoint(y), g)), conjugate(y)
    inner = (inner + tril(inner, -1)) * 0.5
    down = triangular_solve(factor, inner, False, True, False)
    whole = triangular_solve(factor, adjoint(down), False, True, False)
    return ((whole + adjoint(whole)) * 0.5,)


def _cholesky_reference(np: Any, a: Any) -> Any:
    a = np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2).conj()
    return every(np.linalg.cholesky, np, a, lambda m: m)


cholesky_factor: Op = routine(
    "cholesky_factor",
    "The lower triangular factor of positive definite matrices, of which the lower half is read.",
    lambda _, shapes: shapes[0],
    lambda a: ((a,), ()),
    by_gradients(_cholesky_grad),
    _cholesky_reference,
    Samples(cases=SQUARES, draw=definite, smooth=False),
)


# ---- LU


def lu_parts(y: Any, m: int, n: int) -> list[Any]:
    """(L and U in one matrix, the order of rows, what each row was exchanged with)."""
    lu, order, exchanged = parts_of(y, (m, n), (m,), (min(m, n),))
    return [lu, real_of(order), real_of(exchanged)]


def _lu_reference(np: Any, a: Any) -> Any:
    m, n = a.shape[-2:]
    k, found = min(m, n), []
    for matrix in a.reshape((math.prod(a.shape[:-2]), m, n)):
        x, order, exchanged = np.array(matrix), np.arange(m), np.arange(k)
        for j in range(k):
            size = np.abs(x[j:, j].real) + np.abs(x[j:, j].imag)
            p = exchanged[j] = j + int(np.argmax(size))
            x[[j, p]], order[[j, p]] = x[[p, j]], order[[p, j]]
            if x[j, j] != 0:
                x[j + 1 :, j] /= x[j, j]
            x[j + 1 :, j + 1 :] -= np.outer(x[j + 1 :, j], x[j, j + 1 :])
        found.append(np.concatenate([x.reshape(-1), order, exchanged]))
    return np.array(found, a.dtype).reshape((*a.shape[:-2], m * n + m + k))


def in_order(x: Any, order: Any) -> Any:
    """The rows of x in another order."""
    index = cast(order, int64).reshape((*order.shape, 1)).expand((*order.shape, x.shape[-1]))
    return gather(x, index, axis=x.ndim - 2)


def _lu_grad(g: Any, y: Any, a: Any) -> tuple[Any]:
    """Of the parts below and above the diagonal, in the order of rows that a had."""
    _, m, n = matrix_in("lu_pack", a)
    k = min(m, n)
    lu, order, _ = lu_parts(y, m, n)
    down = lu_parts(g, m, n)[0]
    rows, columns = lu.ndim - 2, lu.ndim - 1
    square, slope = (cut(cut(x, rows, 0, k), columns, 0, k) for x in (lu, down))
    lower, upper = tril(square, -1) + eye_like(square), triu(square)
    gl, gu = tril(slope, -1), triu(slope)
    below, above = matmul(lower.mT, gl), matmul(gu, upper.mT)
    if n > k:
        below = below - matmul(cut(down, columns, k, n), cut(lu, columns, k, n).mT)
    if m > k:
        above = above - matmul(cut(lu, rows, k, m).mT, cut(down, rows, k, m))
    inner = triangular_solve(lower, tril(below, -1) + triu(above), False, True, True)
    found = triangular_solve(upper, inner.mT, True, False, False).mT
    if n > k:
        beside = triangular_solve(lower, cut(down, columns, k, n), False, True, True)
        found = concat([found, beside], axis=columns)
    if m > k:
        under = triangular_solve(upper, cut(down, rows, k, m).mT, True, False, False).mT
        found = concat([found, under], axis=rows)
    return (in_order(found, argsort(order, axis=-1)),)


def _row_order(np: Any, exchanged: Any) -> Any:
    found = []
    lines = (math.prod(exchanged.shape[:-1]), exchanged.shape[-1])
    for line in exchanged.reshape(lines).astype(int):
        order = np.arange(len(line))
        for k, p in enumerate(line):
            order[[k, p]] = order[[p, k]]
        found.append(order)
    return np.array(found, exchanged.dtype).reshape(exchanged.shape)


row_order: Op = routine(
    "row_order", "The order of rows after each, one by one, was exchanged with another.",
    lambda _, shapes: shapes[0], lambda exchanged: ((exchanged,), ()), AN_INDEX, _row_order,
    Samples(cases=(((5,), {}), ((2, 3), {}), ((0,), {})), draw=lambda rng, kind, shapes: [
        (rng.integers(0, 1, shapes[0]) + range(shapes[0][-1])[::-1]).astype(kind)]),
)  # fmt: skip


def eye_like(x: Any) -> Any:
    """Ones on the diagonal of the last two axes, zeros beside it."""
    same = eq(x.iota_like(x.ndim - 2), x.iota_like(x.ndim - 1))
    return cast(same, x.dtype).expand(x.shape)


lu_pack: Op = routine(
    "lu_pack",
    """L, below the diagonal where it is 1, and U in one m x n matrix; the rows of a in the order
    in which L U has them; and what each was exchanged with on the way. Flat, in this order.
    """,
    lambda _, shapes: (
        *shapes[0][:-2],
        shapes[0][-2] * shapes[0][-1] + shapes[0][-2] + min(shapes[0][-2:]),
    ),
    lambda a: ((a,), ()),
    _lu_grad,
    _lu_reference,
    Samples(cases=(*SQUARES, ((3, 5), {}), ((2, 5, 3), {})), draw=regular),
)
