"""The rows of linear algebra as typed functions."""

from __future__ import annotations

# <gen imports>
from collections.abc import Sequence
from typing import Any

from treadle.ops.linalg import matrices as matrices_rows
from treadle.ops.linalg import solving as solving_rows
from treadle.ops.linalg import spectral as spectral_rows
from treadle.ops.linalg.matrices import LeastSquares
from treadle.ops.linalg.solving import Factor, Factored, Inverted, SignedLog, Triangles
from treadle.ops.linalg.spectral import QR, SVD, Eigen
from treadle.tensor.tensor import Tensor

# </gen imports tgj7fu6tklpvsmkojh56b2nxy7sjqxw7m34bot2lrilwwotixypvsmk>


# <gen matrix_norm>
def matrix_norm(
    x: Tensor, ord: str | float = "fro", axis: Sequence[int] = (-2, -1), keepdims: bool = False
) -> Tensor:
    """A norm of matrices, which lie in two axes.

    - **ord**: "fro", the root of the sum of squares; "nuc", the sum of singular values; 2 and -2,
      the largest and the smallest; 1 and -1, inf and -inf, the largest and smallest sum of
      magnitudes of a column, and of a row
    """
    return matrices_rows.matrix_norm(x, ord, axis, keepdims)
    # </gen matrix_norm qrmldiuh2sq76qktqonipvsmk7txovjp6iovtayyuqcdk7bpvb>


# <gen cond>
def cond(x: Tensor, p: str | float | None = None) -> Tensor:
    """How much larger relative errors of a solution can be: a norm of x times that of its inverse.

    - **p**: as `matrix_norm` has it; None is 2, the largest singular value over the smallest
    """
    return matrices_rows.cond(x, p)
    # </gen cond nb7t4vqicbpvsmkm4xisuqcdkbsdxi>


# <gen matrix_rank>
def matrix_rank(
    x: Tensor, atol: float | None = None, rtol: float | None = None, hermitian: bool = False
) -> Tensor:
    """How many singular values are above the larger of atol and rtol times the largest.

    rtol is the larger side times the distance from 1 to the next number, unless one is given.
    hermitian: x is symmetric, and its eigenvalues will do.
    """
    return matrices_rows.matrix_rank(x, atol, rtol, hermitian)
    # </gen matrix_rank 76lxtgid6oq76qkuwbjupvsmkggp7ocibewuqcdknidkj>


# <gen pinv>
def pinv(
    x: Tensor, atol: float | None = None, rtol: float | None = None, hermitian: bool = False
) -> Tensor:
    """The inverse of x as far as it has one: by singular values that do not count as 0.

    atol, rtol and hermitian as `matrix_rank` has them.
    """
    return matrices_rows.pinv(x, atol, rtol, hermitian)
    # </gen pinv dtidbgid6oq76qkmc7p3pvsmkny4vjuqcdkf7ai7>


# <gen lstsq>
def lstsq(a: Tensor, b: Tensor, rcond: float | None = None) -> LeastSquares:
    """The shortest x for which a x is nearest to b, by singular values.

    - **rcond**: those below rcond times the largest count as 0

    Also: the sums of squares of a x - b where a has more rows than columns (else nothing), the
    rank of a and its singular values.
    """
    return matrices_rows.lstsq(a, b, rcond)
    # </gen lstsq zeageom4gfpvsmkm3s3upvsmkyh6tmj2rtwuqcdkl4r2e>


# <gen matrix_power>
def matrix_power(x: Tensor, n: int) -> Tensor:
    """Square matrices multiplied with themselves n times; below 0 their inverses."""
    return matrices_rows.matrix_power(x, n)
    # </gen matrix_power hrrjxg7sjrqiu5a>


# <gen matrix_exp>
def matrix_exp(x: Tensor) -> Tensor:
    """The exponential of square matrices: the sum of xᵏ / k!."""
    return matrices_rows.matrix_exp(x)
    # </gen matrix_exp leojesugvkyj2v5>


# <gen multi_dot>
def multi_dot(tensors: Sequence[Any]) -> Tensor:
    """The product of two or more matrices, in the order that takes the fewest multiplications.

    The first and the last may be vectors.
    """
    return matrices_rows.multi_dot(tensors)
    # </gen multi_dot wfehy4avkipvsmkkuzlruqcdk6ibl5>


# <gen householder_product>
def householder_product(v: Tensor, tau: Tensor) -> Tensor:
    """The first columns of a product of reflections I - tau v vᵀ, as `geqrf` leaves them.

    The vectors are the columns of v below the diagonal, and 1 on it.
    """
    return matrices_rows.householder_product(v, tau)
    # </gen householder_product kwnowz65gzpvsmkpoxo3uqcdkvjjme>


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


# <gen qr>
def qr(x: Tensor, mode: str = "reduced") -> QR:
    """x = Q R: a matrix with orthonormal columns and an upper triangle.

    - **mode**: "reduced", as many columns of Q as x has rows or columns; "complete", a square Q;
      "r", an empty Q
    """
    return spectral_rows.qr(x, mode)
    # </gen qr bb5yotozyjpvsmk37snz7s34puqcdkrhlrj>


# <gen eigh>
def eigh(x: Tensor, UPLO: str = "L") -> Eigen:
    """Eigenvalues of symmetric matrices, ascending, and eigenvectors, the columns of a matrix.

    - **UPLO**: which half is read, "L" or "U"

    Vectors are determined up to their sign; their gradient is infinite where two values are equal.

    >>> import treadle as td
    >>> td.linalg.eigh(td.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.tolist()
    [1.0, 2.0]
    """
    return spectral_rows.eigh(x, UPLO)
    # </gen eigh h4cha6y5empvsmkslpckpvsmk7ul56pvsmkymuw3oju3mu5yucuqcdkhwyig>


# <gen eigvalsh>
def eigvalsh(x: Tensor, UPLO: str = "L") -> Tensor:
    """Eigenvalues of symmetric matrices, ascending; UPLO as `eigh` has it."""
    return spectral_rows.eigvalsh(x, UPLO)
    # </gen eigvalsh dik2m4dg5q2huqw>


# <gen svd>
def svd(x: Tensor, full_matrices: bool = True) -> SVD:
    """x = U diag(S) Vh: orthonormal columns, singular values descending, orthonormal rows.

    - **full_matrices**: square U and Vh; else as many columns and rows as there are values

    Vectors are determined up to a sign they share; their gradient is infinite where two values
    are equal.
    """
    return spectral_rows.svd(x, full_matrices)
    # </gen svd 3xjcvzswcppvsmkc7on3pvsmknqavbiwsrxuqcdk5dcg3>


# <gen svdvals>
def svdvals(x: Tensor) -> Tensor:
    """Singular values, descending."""
    return spectral_rows.svdvals(x)
    # </gen svdvals dhiwxf4rpekxvi3>
