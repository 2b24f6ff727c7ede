"""Linear algebra: `td.linalg`, by the names of the array API and PyTorch.

Matrices lie in the last two axes, of float32 or float64; the axes before are a batch. What has no
answer (a singular matrix to invert, a matrix that is not positive definite) gives infinities or
NaN, never an error: programs are compiled, and their values are not looked at. `cholesky_ex` and
`inv_ex` say where.
"""

from __future__ import annotations

# <gen imports>
from collections.abc import Sequence

# </gen imports tgj7fpvsmkb2nxybot2lotixypvsmk>
from treadle.functions import matmul, matrix_transpose, outer, tensordot, vecdot
from treadle.ops.linalg import solving as solving_rows
from treadle.ops.linalg.solving import Factor, Factored, Inverted, SignedLog, Triangles
from treadle.tensor.tensor import Tensor

__all__ = ["matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]


# <gen cholesky>
def cholesky(x: Tensor, upper: bool = False) -> Tensor:
    """The lower triangular L with x = L Lᵀ, or its transpose if upper.

    Matrices lie in the last two axes; only their lower half is read. From the first row on at which
    one is not positive definite, the factor is NaN.

    >>> import treadle as td
    >>> td.linalg.cholesky(td.tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    return solving_rows.cholesky(x, upper)
    # </gen cholesky j7demu23bupvsmk44qrmmjflnpvsmkymuw3qhcceqskcuuqcdkugh5f>


# <gen cholesky_ex>
def cholesky_ex(x: Tensor, upper: bool = False) -> Factor:
    """`cholesky`, and where it failed: 0 if it did not."""
    return solving_rows.cholesky_ex(x, upper)
    # </gen cholesky_ex mrpw73ywgy5fkbz>


# <gen cholesky_solve>
def cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    """x with a x = b, from the Cholesky factor of a."""
    return solving_rows.cholesky_solve(b, factor, upper)
    # </gen cholesky_solve os4yalcxfeobn3j>


# <gen solve_triangular>
def solve_triangular(
    a: Tensor, b: Tensor, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """x with a x = b, or x a = b if not left, for a triangular a; the other half is not read.

    unitriangular: its diagonal is 1, whatever stands there.
    """
    return solving_rows.solve_triangular(a, b, upper, left, unitriangular)
    # </gen solve_triangular yhj3dxv4bcq76qkjebyupvsmk7wwftuqcdkt2pt4>


# <gen solve>
def solve(a: Tensor, b: Tensor) -> Tensor:
    """x with a x = b: by LU with partial pivoting.

    b holds columns, or one vector for each matrix: where it has one axis, or the axes of a without
    the last. A singular a gives infinities or NaN.

    >>> import treadle as td
    >>> td.linalg.solve(td.tensor([[2.0, 0.0], [1.0, 1.0]]), td.tensor([2.0, 3.0])).tolist()
    [1.0, 2.0]
    """
    return solving_rows.solve(a, b)
    # </gen solve simn4byiuxpvsmkqjmcmnzuw6pvsmkymuw3ncqlgu5yucuqcdkejzjk>


# <gen inv>
def inv(x: Tensor) -> Tensor:
    """The inverse of square matrices; of singular ones infinities or NaN."""
    return solving_rows.inv(x)
    # </gen inv 5va7oetccp2xckr>


# <gen inv_ex>
def inv_ex(x: Tensor) -> Inverted:
    """`inv`, and whether there is none: 0 if there is."""
    return solving_rows.inv_ex(x)
    # </gen inv_ex 6uikxknr32zyqwk>


# <gen lu_factor>
def lu_factor(x: Tensor) -> Factored:
    """L, below the diagonal, and U in one matrix, and the exchanges of rows, counted from 1."""
    return solving_rows.lu_factor(x)
    # </gen lu_factor jhvsmqktbawiiqy>


# <gen lu>
def lu(x: Tensor) -> Triangles:
    """x = P L U: an order of rows, a lower triangle with ones on its diagonal, an upper one."""
    return solving_rows.lu(x)
    # </gen lu arz7v2jr4if72vu>


# <gen lu_solve>
def lu_solve(
    lu: Tensor, pivots: Tensor, b: Tensor, left: bool = True, adjoint: bool = False
) -> Tensor:
    """x with a x = b, from `lu_factor` of a; aᵀ x = b if adjoint; x a = b if not left."""
    return solving_rows.lu_solve(lu, pivots, b, left, adjoint)
    # </gen lu_solve 3gfv6yh4giq76qk4yqs34bqpj>


# <gen det>
def det(x: Tensor) -> Tensor:
    """The determinant of square matrices."""
    return solving_rows.det(x)
    # </gen det 246td2p655wws4v>


# <gen logabsdet>
def logabsdet(x: Tensor) -> Tensor:
    """The logarithm of the magnitude of the determinant; -inf of singular matrices."""
    return solving_rows.logabsdet(x)
    # </gen logabsdet g6xil2j2gwnowaz>


# <gen slogdet>
def slogdet(x: Tensor) -> SignedLog:
    """The sign of the determinant, 0 of singular matrices, and the logarithm of its magnitude."""
    return solving_rows.slogdet(x)
    # </gen slogdet wvibwoi4zz5fhik>


# <gen tensorsolve>
def tensorsolve(a: Tensor, b: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """x with tensordot(a, x, x.ndim) = b; axes of a named in axes go to its end first."""
    return solving_rows.tensorsolve(a, b, axes)
    # </gen tensorsolve md4jpv5dxjojuip>


# <gen tensorinv>
def tensorinv(a: Tensor, ind: int = 2) -> Tensor:
    """The inverse of a as a matrix from its last axes to the first `ind`."""
    return solving_rows.tensorinv(a, ind)
    # </gen tensorinv f4w6plbge5g2s3h>


# <gen aliases>
inverse = inv
# </gen aliases g6var>
