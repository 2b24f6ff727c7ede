"""Rows of what matrices come to: norms, ranks, inverses of any shape, powers, exponentials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from treadle.base.dtypes import int64
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in
from treadle.ops.composite import composite, matmul
from treadle.ops.contract import summable
from treadle.ops.defs import JUMPS, Op, Samples
from treadle.ops.elementwise import abs_, cast, eq, maximum, ne, where
from treadle.ops.linalg.factors import (
    SQUARES,
    adjoint,
    by_gradients,
    conjugate,
    eye_like,
    matrix_in,
    real_of,
    regular,
    routine,
    square_in,
    triangular_solve,
)
from treadle.ops.linalg.solving import inv, is_vector, together
from treadle.ops.linalg.spectral import RECTANGLES, eigh, eigvalsh, svd, svdvals
from treadle.ops.movement import concat, cut
from treadle.ops.predicates import isnan
from treadle.ops.reduce import max_, min_, sum_
from treadle.ops.shaping import movedim, triu
from treadle.ops.totals import any_, norm

NAMED = ("fro", "nuc")
SUMS = (1, -1, math.inf, -math.inf)
VALUES = (2, -2)


def _largest(sizes: Any, axis: int, keepdims: bool = False) -> Any:
    """The largest of sizes, 0 if there are none."""
    return (max_ if sizes.shape[axis] else sum_)(sizes, axis=axis, keepdims=keepdims)


@composite(
    lambda np, x, ord="fro", axis=(-2, -1), keepdims=False: np.linalg.norm(  # noqa: A006
        x, ord, tuple(axis), keepdims),
    Samples(cases=(
        ((3, 5), {"ord": "nuc"}), *(((2, 4, 3), {"ord": p}) for p in (*NAMED, *SUMS, *VALUES)),
        ((3, 2, 4), {"ord": "nuc", "axis": (0, 2), "keepdims": True}), ((0, 0), {}),
        *((shape, {"ord": p}) for shape in ((3, 0), (2, 0, 3)) for p in (1, math.inf, 2, "nuc")),
    ), draw=regular),
)  # fmt: skip
def matrix_norm(
    x: Any, /, ord: str | float = "fro", axis: Sequence[int] = (-2, -1), keepdims: bool = False
) -> Any:
    """A norm of matrices, which lie in two axes.

    - **ord**: "fro", the root of the sum of squares; "nuc", the sum of singular values; 2 and -2,
      the largest and the smallest; 1 and -1, inf and -inf, the largest and smallest sum of
      magnitudes of a column, and of a row
    """
    if len(axis) != 2:
        raise ShapeError(explain("matrix_norm", "needs two axes", axis=tuple(axis)))
    rows, columns = (axis_in("matrix_norm", k, x.ndim) for k in axis)
    if ord == "fro":
        return norm(x, 2, axis=(rows, columns), keepdims=keepdims)
    if ord in SUMS:
        along, other = (rows, columns) if abs(float(ord)) == 1 else (columns, rows)
        sums = sum_(abs_(x), axis=along, keepdims=True)
        found = (_largest if float(ord) > 0 else min_)(sums, axis=other, keepdims=True)
    elif ord in ("nuc", *VALUES):
        values = svdvals(movedim(x, (rows, columns), (-2, -1)))
        if ord == "nuc":
            found = sum_(values, axis=-1)
        else:
            found = (_largest if float(ord) > 0 else min_)(values, axis=-1)
    else:
        hint = '"fro", "nuc", 1, -1, 2, -2, inf or -inf'
        raise ArgumentError(explain("matrix_norm", "no such norm", hint, ord=repr(ord)))
    shape = [1 if k in (rows, columns) else n for k, n in enumerate(x.shape)]
    kept = [n for k, n in enumerate(x.shape) if k not in (rows, columns)]
    return found.reshape(tuple(shape if keepdims else kept))


def _cond_reference(np: Any, x: Any, p: Any = None) -> Any:
    return np.linalg.cond(x, p)


@composite(
    _cond_reference,
    Samples(
        cases=(
            ((3, 3), {}),
            ((4, 2), {}),
            *(((2, 3, 3), {"p": p}) for p in ("fro", *SUMS, *VALUES)),
        ),
        draw=regular,
    ),
)
def cond(x: Any, /, p: str | float | None = None) -> Any:
    """How much larger relative errors of a solution can be: a norm of x times that of its inverse.

    - **p**: as `matrix_norm` has it; None is 2, the largest singular value over the smallest

    Of singular matrices inf.
    """
    if p is None or p in VALUES:
        values = svdvals(x)
        high, low = max_(values, axis=-1), min_(values, axis=-1)
        found = low / high if p == -2 else high / low
    else:
        square_in("cond", x)
        found = matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)
    return where(isnan(found) & ~any_(isnan(x), axis=(-2, -1)), math.inf, found)


def _sizes(x: Any, hermitian: bool) -> Any:
    """Singular values; of symmetric matrices the magnitudes of eigenvalues."""
    return abs_(eigvalsh(x)) if hermitian else svdvals(x)


def _limit(values: Any, x: Any, atol: float | None, rtol: float | None) -> Any:
    """Below what a singular value counts as 0."""
    if rtol is None:
        rtol = 0.0 if atol else max(x.shape[-2:]) * 2.0**-x.dtype.part.mantissa
    if not values.shape[-1]:
        return 0.0
    return maximum(max_(values, axis=-1, keepdims=True) * rtol, float(atol or 0.0))


@composite(
    lambda np, x, atol=None, rtol=None, hermitian=False: np.linalg.matrix_rank(
        x, rtol=rtol, hermitian=hermitian),
    Samples(cases=(*RECTANGLES[:3], ((3, 5), {}), ((2, 5, 3), {}), ((3, 3), {"rtol": 0.5})),
            draw=regular),
    grad=JUMPS,
)  # fmt: skip
def matrix_rank(
    x: Any, /, atol: float | None = None, rtol: float | None = None, hermitian: bool = False
) -> Any:
    """How many singular values are above the larger of atol and rtol times the largest.

    rtol is the larger side times the distance from 1 to the next number, unless one is given.
    hermitian: x is symmetric, and its eigenvalues will do.
    """
    matrix_in("matrix_rank", x)
    values = _sizes(x, hermitian)
    return sum_(cast(values > _limit(values, x, atol, rtol), int64), axis=-1)


def _pinv_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """The inverse's own, and what the spaces that x does not reach add."""
    t, down = adjoint(y), adjoint(g)
    outside = down - matmul(x, matmul(y, down))
    across = down - matmul(matmul(down, y), x)
    return (
        -matmul(matmul(t, g), t) + matmul(matmul(outside, y), t) + matmul(matmul(t, y), across),
    )


@composite(
    lambda np, x, atol=None, rtol=None, hermitian=False: np.linalg.pinv(
        x, rtol=max(x.shape[-2:]) * np.finfo(x.dtype).eps if rtol is None else rtol,
        hermitian=hermitian),
    Samples(cases=(*SQUARES[:3], ((3, 5), {}), ((2, 5, 3), {}), ((3, 0), {})), draw=regular),
    grad=by_gradients(_pinv_grad),
)  # fmt: skip
def pinv(
    x: Any, /, atol: float | None = None, rtol: float | None = None, hermitian: bool = False
) -> Any:
    """The inverse of x as far as it has one: by singular values that do not count as 0.

    atol, rtol and hermitian as `matrix_rank` has them.
    """
    matrix_in("pinv", x)
    if hermitian:
        values, right = eigh(x)
        left = right
        sizes = abs_(values)
    else:
        left, values, rows = svd(x, full_matrices=False)
        right, sizes = adjoint(rows), values
    some = sizes > _limit(sizes, x, atol, rtol)
    inverse = where(some, 1.0 / where(some, values, 1.0), 0.0)
    return matmul(
        right * inverse.reshape((*inverse.shape[:-1], 1, inverse.shape[-1])), adjoint(left)
    )


class LeastSquares(NamedTuple):
    """Solutions, sums of squares of what is left, the rank, and singular values."""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any


def _lstsq_reference(np: Any, a: Any, b: Any, rcond: float | None = None) -> list[Any]:
    limit = max(a.shape[-2:]) * np.finfo(a.dtype).eps if rcond is None else rcond
    x = np.linalg.pinv(a, rtol=limit) @ b
    left = ((a @ x - b) ** 2).sum(-2) if a.shape[-2] > a.shape[-1] else np.zeros(0)
    rank = np.linalg.matrix_rank(a, rtol=limit)
    return [x, left, rank, np.linalg.svd(a, compute_uv=False)]


@composite(
    _lstsq_reference,
    Samples(cases=(((5, 3), (5, 2), {}), ((3, 5), (3, 1), {}), ((2, 4, 4), (2, 4, 3), {})),
            draw=regular, smooth=False),
    inline=True,
)  # fmt: skip
def lstsq(a: Any, b: Any, /, rcond: float | None = None) -> LeastSquares:
    """The shortest x for which a x is nearest to b, columns or one vector as `solve` has them.

    - **rcond**: singular values below rcond times the largest count as 0

    Also: the sums of squares of a x - b where a has more rows than columns (else nothing), the
    rank of a and its singular values.
    """
    matrix_in("lstsq", a)
    if is_vector(a, b):
        found = lstsq(a, b.reshape((*b.shape, 1)), rcond)
        x, sums = found.solution, found.residuals
        sums = sums.reshape(sums.shape[:-1]) if a.shape[-2] > a.shape[-1] else sums
        return found._replace(solution=x.reshape(x.shape[:-1]), residuals=sums)
    wide, right = together("lstsq", a, b)
    x = matmul(pinv(wide, rtol=rcond), right)
    left = matmul(wide, x) - right
    tall = a.shape[-2] > a.shape[-1]
    sums = (
        sum_(real_of(left * conjugate(left)), axis=-2) if tall else cut(x.reshape((-1,)), 0, 0, 0)
    )
    return LeastSquares(x, sums, matrix_rank(a, rtol=rcond), svdvals(a))


@composite(
    lambda np, x, n: np.linalg.matrix_power(x, n),
    Samples(cases=(*(((3, 3), {"n": n}) for n in (-3, 0, 1, 2, 5)), ((2, 4, 4), {"n": 3})),
            draw=regular),
)  # fmt: skip
def matrix_power(x: Any, /, n: int) -> Any:
    """Square matrices multiplied with themselves n times; below 0 their inverses."""
    square_in("matrix_power", x)
    if n < 0:
        x, n = inv(x), -n
    if n == 0:
        return eye_like(x)
    found, square = None, x
    while n:
        if n & 1:
            found = square if found is None else matmul(found, square)
        n >>= 1
        square = matmul(square, square) if n else square
    return found


def _exp_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """The corner of the exponential of (xᵀ g over 0 xᵀ)."""
    n, rows, columns = x.shape[-1], x.ndim - 2, x.ndim - 1
    top = concat([x.mT, g], axis=columns)
    whole = exp_series(concat([top, concat([x.zeros_like(), x.mT], axis=columns)], axis=rows))
    return (cut(cut(whole, rows, 0, n), columns, n, 2 * n),)


SMALL = Samples(cases=SQUARES, bench=((256, 256),), low=-0.5, high=0.5)


def _exp_reference(np: Any, x: Any) -> Any:
    wide = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    size = np.abs(wide).sum(-1).max(initial=0)
    halvings = max(0, math.ceil(math.log2(size))) if 0 < size < math.inf else 0
    term = total = np.eye(x.shape[-1]) + np.zeros_like(wide)
    for k in range(1, 30):
        term = term @ (wide / 2.0**halvings) / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total.astype(x.dtype)


exp_series: Op = routine(
    "exp_series", "The exponential of square matrices: the sum of xᵏ / k!.",
    lambda _, shapes: shapes[0], lambda x: ((x,), ()), _exp_grad, _exp_reference, SMALL,
)  # fmt: skip


@composite(_exp_reference, SMALL)
def matrix_exp(x: Any, /) -> Any:
    """The exponential of square matrices: the sum of xᵏ / k!."""
    square_in("matrix_exp", x)
    return exp_series(x)


def _cheapest(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to cut a product of matrices, first to last, for the fewest multiplications."""
    count = len(sizes) - 1
    cost = {(k, k): 0 for k in range(count)}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            ways = {
                k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            }
            cuts[i, j] = min(ways, key=ways.__getitem__)
            cost[i, j] = ways[cuts[i, j]]
    return cuts


@composite(
    lambda np, xs: reduce(np.matmul, summable(*xs)),
    Samples(cases=(
        ((3, 4), (4, 2), {}), ((2, 3), (3, 5), (5, 2), (2, 4), {}), ((3,), (3, 4), (4,), {}),
    ), listed=True),
    inline=True,
)  # fmt: skip
def multi_dot(tensors: Sequence[Any]) -> Any:
    """The product of two or more matrices, in the order that takes the fewest multiplications.

    The first and the last may be vectors.
    """
    if len(tensors) < 2:
        hint = "one matrix is its own product"
        raise ArgumentError(explain("multi_dot", "needs two matrices", hint, got=len(tensors)))
    first, last = tensors[0], tensors[-1]
    parts = list(tensors)
    if first.ndim == 1:
        parts[0] = first.reshape((1, first.shape[0]))
    if last.ndim == 1:
        parts[-1] = last.reshape((last.shape[0], 1))
    for x in parts:
        if x.ndim != 2:
            raise ShapeError(explain("multi_dot", "needs matrices", shape=x.shape))
    cuts = _cheapest([parts[0].shape[0], *(x.shape[1] for x in parts)])

    def made(i: int, j: int) -> Any:
        return parts[i] if i == j else matmul(made(i, cuts[i, j]), made(cuts[i, j] + 1, j))

    found = made(0, len(parts) - 1)
    rows = () if first.ndim == 1 else found.shape[:1]
    return found.reshape((*rows, *(() if last.ndim == 1 else found.shape[1:])))


def _reflections_reference(np: Any, v: Any, tau: Any) -> Any:
    m, n = v.shape[-2:]
    q = np.broadcast_to(np.eye(m), (*v.shape[:-2], m, m))
    for k in range(tau.shape[-1]):
        x = np.where(np.arange(m) > k, v[..., k], np.arange(m) == k)
        q = q - (q @ x[..., None]) * tau[..., k, None, None] * x[..., None, :]
    return q[..., :n]


@composite(
    _reflections_reference,
    Samples(cases=(((4, 4), (4,), {}), ((2, 5, 3), (2, 3), {}), ((5, 3), (2,), {})), draw=regular),
)
def householder_product(v: Any, tau: Any, /) -> Any:
    """The first columns of a product of reflections I - tau v vᵀ, as `geqrf` leaves them.

    The vectors are the columns of v below the diagonal, and 1 on it.
    """
    _, m, n = matrix_in("householder_product", v)
    k = tau.shape[-1]
    if m < n or k > n:
        facts = {"shapes": f"{v.shape} and {tau.shape}"}
        raise ShapeError(explain("householder_product", "shapes do not fit", **facts))
    columns = cut(v, v.ndim - 1, 0, k)
    rows, places = columns.iota_like(v.ndim - 2), columns.iota_like(v.ndim - 1)
    none = eq(tau, 0).reshape((*tau.shape[:-1], 1, k))
    vectors = where(none | (rows < places), 0.0, where(eq(rows, places), 1.0, columns))
    inverse = 1.0 / where(eq(tau, 0), 1.0, tau)
    gram = matmul(adjoint(vectors), vectors)
    inner = triu(gram, 1) + where(ne(eye_like(gram), 0), inverse.reshape((*tau.shape, 1)), 0.0)
    first = cut(vectors, v.ndim - 2, 0, n)
    weights = triangular_solve(inner, adjoint(first), True, False, False)
    same = cast(eq(v.iota_like(v.ndim - 2), v.iota_like(v.ndim - 1)), v.dtype)
    return same - matmul(vectors, weights)
