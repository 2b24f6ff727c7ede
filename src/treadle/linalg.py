"""Linear algebra: `td.linalg`, by the names of the array API and PyTorch.

Matrices lie in the last two axes, of float32 or float64; the axes before are a batch. What has no
answer (a singular matrix to invert, a matrix that is not positive definite) gives infinities or
NaN, never an error: programs are compiled, and their values are not looked at. `cholesky_ex` and
`inv_ex` say where.
"""

from __future__ import annotations

# <gen imports>
from collections.abc import Sequence
from typing import Unpack

# </gen imports tgj7fpwgiqpvsmkb2nxybot2lcpsn7otixypvsmk>
from treadle.functions import matmul, matrix_transpose, outer, tensordot, vecdot
from treadle.ops.linalg import solving as solving_rows
from treadle.ops.linalg.solving import Factor, Factored, Inverted, SignedLog, Triangles
from treadle.ops.words import Words, accept_words
from treadle.tensor.tensor import Tensor

__all__ = ["matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]


# <gen cholesky>
def cholesky(x: Tensor, upper: bool = False, **words: Unpack[Words]) -> Tensor:
    """The lower triangular L with x = L Lᵀ, or its transpose if upper.

    Matrices lie in the last two axes; only their lower half is read. From the first row on at which
    one is not positive definite, the factor is NaN.

    >>> import treadle as td
    >>> td.linalg.cholesky(td.tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    if words:
        return solving_rows.cholesky(x, upper, **words)
    return solving_rows.cholesky(x, upper)
    # </gen cholesky 5axsou23bupvsmk44qrmmjflnpvsmkymuw3qhcceqskcuuqcdkmusmvjqsrsugh5f>


# <gen cholesky_ex>
def cholesky_ex(x: Tensor, upper: bool = False, **words: Unpack[Words]) -> Factor:
    """`cholesky`, and where it failed: 0 if it did not."""
    if words:
        return solving_rows.cholesky_ex(x, upper, **words)
    return solving_rows.cholesky_ex(x, upper)
    # </gen cholesky_ex ohhml3ywgymusmvy2ymv5fkbz>


# <gen cholesky_solve>
def cholesky_solve(
    b: Tensor, factor: Tensor, upper: bool = False, **words: Unpack[Words]
) -> Tensor:
    """x with a x = b, from the Cholesky factor of a."""
    if words:
        return solving_rows.cholesky_solve(b, factor, upper, **words)
    return solving_rows.cholesky_solve(b, factor, upper)
    # </gen cholesky_solve gjgwftsjdaq76qklcxfemusmvdcxokobn3j>


# <gen solve_triangular>
def solve_triangular(
    a: Tensor,
    b: Tensor,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """x with a x = b, or x a = b if not left, for a triangular a; the other half is not read.

    unitriangular: its diagonal is 1, whatever stands there.
    """
    if words:
        return solving_rows.solve_triangular(a, b, upper, left, unitriangular, **words)
    return solving_rows.solve_triangular(a, b, upper, left, unitriangular)
    # <sums yhj3dmx2bgdwwoui2bnuxwgepqj6df6raroq76qkjebyupvsmk7wwftuqcdkmusmv4wmhm>
    # </gen solve_triangular t2pt4>


# <gen solve>
def solve(a: Tensor, b: Tensor, **words: Unpack[Words]) -> Tensor:
    """x with a x = b: by LU with partial pivoting.

    b holds columns, or one vector for each matrix: where it has one axis, or the axes of a without
    the last. A singular a gives infinities or NaN.

    >>> import treadle as td
    >>> td.linalg.solve(td.tensor([[2.0, 0.0], [1.0, 1.0]]), td.tensor([2.0, 3.0])).tolist()
    [1.0, 2.0]
    """
    if words:
        return solving_rows.solve(a, b, **words)
    return solving_rows.solve(a, b)
    # </gen solve aybbrbyiuxpvsmkqjmcmnzuw6pvsmkymuw3ncqlgu5yucuqcdkmusmvg47hmejzjk>


# <gen inv>
def inv(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The inverse of square matrices; of singular ones infinities or NaN."""
    if words:
        return solving_rows.inv(x, **words)
    return solving_rows.inv(x)
    # </gen inv 4g2eaetccpmusmvkstff2xckr>


# <gen inv_ex>
def inv_ex(x: Tensor, **words: Unpack[Words]) -> Inverted:
    """`inv`, and whether there is none: 0 if there is."""
    if words:
        return solving_rows.inv_ex(x, **words)
    return solving_rows.inv_ex(x)
    # </gen inv_ex j5rbwknr32musmvpm62szyqwk>


# <gen lu_factor>
def lu_factor(x: Tensor, **words: Unpack[Words]) -> Factored:
    """L, below the diagonal, and U in one matrix, and the exchanges of rows, counted from 1."""
    if words:
        return solving_rows.lu_factor(x, **words)
    return solving_rows.lu_factor(x)
    # </gen lu_factor c7s6tqktbamusmv4aoh4wiiqy>


# <gen lu>
def lu(x: Tensor, **words: Unpack[Words]) -> Triangles:
    """x = P L U: an order of rows, a lower triangle with ones on its diagonal, an upper one."""
    if words:
        return solving_rows.lu(x, **words)
    return solving_rows.lu(x)
    # </gen lu z4hk72jr4imusmvrc365f72vu>


# <gen lu_solve>
def lu_solve(
    lu: Tensor,
    pivots: Tensor,
    b: Tensor,
    left: bool = True,
    adjoint: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """x with a x = b, from `lu_factor` of a; aᵀ x = b if adjoint; x a = b if not left."""
    if words:
        return solving_rows.lu_solve(lu, pivots, b, left, adjoint, **words)
    return solving_rows.lu_solve(lu, pivots, b, left, adjoint)
    # </gen lu_solve 3gfv6rdsp42txyddwwouxwgepfrxqh6raroq76qk4yqs3musmv4d4g34bqpj>


# <gen det>
def det(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The determinant of square matrices."""
    if words:
        return solving_rows.det(x, **words)
    return solving_rows.det(x)
    # </gen det wxobj2p655musmvjtsndwws4v>


# <gen logabsdet>
def logabsdet(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The logarithm of the magnitude of the determinant; -inf of singular matrices."""
    if words:
        return solving_rows.logabsdet(x, **words)
    return solving_rows.logabsdet(x)
    # </gen logabsdet 75vgw2j2gwmusmvy25g4nowaz>


# <gen slogdet>
def slogdet(x: Tensor, **words: Unpack[Words]) -> SignedLog:
    """The sign of the determinant, 0 of singular matrices, and the logarithm of its magnitude."""
    if words:
        return solving_rows.slogdet(x, **words)
    return solving_rows.slogdet(x)
    # </gen slogdet 5lisooi4zzmusmvfyqcl5fhik>


# <gen tensorsolve>
def tensorsolve(
    a: Tensor, b: Tensor, axes: Sequence[int] | None = None, **words: Unpack[Words]
) -> Tensor:
    """x with tensordot(a, x, x.ndim) = b; axes of a named in axes go to its end first."""
    if words:
        return solving_rows.tensorsolve(a, b, axes, **words)
    return solving_rows.tensorsolve(a, b, axes)
    # </gen tensorsolve b3w4m7r5wiq76qkv5dxjmusmvkatbyojuip>


# <gen tensorinv>
def tensorinv(a: Tensor, ind: int = 2, **words: Unpack[Words]) -> Tensor:
    """The inverse of a as a matrix from its last axes to the first `ind`."""
    if words:
        return solving_rows.tensorinv(a, ind, **words)
    return solving_rows.tensorinv(a, ind)
    # </gen tensorinv 25ajolbge5musmvggb2jg2s3h>


# <gen aliases>
inverse = inv
# </gen aliases g6var>


# <gen words>
accept_words(globals().values())
# </gen words j5pez>
