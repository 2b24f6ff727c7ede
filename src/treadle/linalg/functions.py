"""The rows of linear algebra as typed functions."""

from __future__ import annotations

# <gen imports>
from collections.abc import Sequence
from typing import Any, Unpack

from treadle.ops.linalg import determinants as determinants_rows
from treadle.ops.linalg import eigen as eigen_rows
from treadle.ops.linalg import matrices as matrices_rows
from treadle.ops.linalg import solving as solving_rows
from treadle.ops.linalg import spectral as spectral_rows
from treadle.ops.linalg.determinants import SignedLog
from treadle.ops.linalg.matrices import LeastSquares
from treadle.ops.linalg.solving import Factor, Factored, Inverted, Triangles
from treadle.ops.linalg.spectral import QR, SVD, Eigen
from treadle.ops.words import Words, accept_words
from treadle.tensor.tensor import Tensor

# </gen imports tgj7fvpa25pvsmk4gjzebilj5ojh56b2nxy7sjqxvk6i2w7m34dim75xe5g7cpsn7otixypvsmk>


# <gen matrix_norm>
def matrix_norm(
    x: Tensor,
    ord: str | float = "fro",
    axis: Sequence[int] = (-2, -1),
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """A norm of matrices, which lie in two axes.

    - **ord**: "fro", the root of the sum of squares; "nuc", the sum of singular values; 2 and -2,
      the largest and the smallest; 1 and -1, inf and -inf, the largest and smallest sum of
      magnitudes of a column, and of a row
    """
    if words:
        return matrices_rows.matrix_norm(x, ord, axis, keepdims, **words)
    return matrices_rows.matrix_norm(x, ord, axis, keepdims)
    # <sums qrmldelnnvpzwbnjiggbkg6sw6raroq76qktqonipvsmk7txovjp6iovtayyuqcdkmusmv5gjg7>
    # </gen matrix_norm 7bpvb>


# <gen cond>
def cond(x: Tensor, p: str | float | None = None, **words: Any) -> Tensor:
    """How much larger relative errors of a solution can be: a norm of x times that of its inverse.

    - **p**: as `matrix_norm` has it; None is 2, the largest singular value over the smallest

    Of singular matrices inf.
    """
    if words:
        return matrices_rows.cond(x, p, **words)
    return matrices_rows.cond(x, p)
    # </gen cond nxqtyvqicbpvsmkm4xispvsmksd3vbuqcdkmusmvcfn7nbsdxi>


# <gen matrix_rank>
def matrix_rank(
    x: Tensor,
    atol: float | None = None,
    rtol: float | None = None,
    hermitian: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """How many singular values are above the larger of atol and rtol times the largest.

    rtol is the larger side times the distance from 1 to the next number, unless one is given.
    hermitian: x is symmetric, and its eigenvalues will do.
    """
    if words:
        return matrices_rows.matrix_rank(x, atol, rtol, hermitian, **words)
    return matrices_rows.matrix_rank(x, atol, rtol, hermitian)
    # </gen matrix_rank 76lxtelnnvttn5lh4tgurrulr6raroq76qkuwbjupvsmkggp7ocibewuqcdkmusmv473j7nidkj>


# <gen pinv>
def pinv(
    x: Tensor,
    atol: float | None = None,
    rtol: float | None = None,
    hermitian: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """The inverse of x as far as it has one: by singular values that do not count as 0.

    atol, rtol and hermitian as `matrix_rank` has them.
    """
    if words:
        return matrices_rows.pinv(x, atol, rtol, hermitian, **words)
    return matrices_rows.pinv(x, atol, rtol, hermitian)
    # </gen pinv dtidbelnnvttn5lh4tgurrulr6raroq76qkmc7p3pvsmkny4vjuqcdkmusmvsqbmwf7ai7>


# <gen lstsq>
def lstsq(a: Tensor, b: Tensor, rcond: float | None = None, **words: Unpack[Words]) -> LeastSquares:
    """The shortest x for which a x is nearest to b, columns or one vector as `solve` has them.

    - **rcond**: singular values below rcond times the largest count as 0

    Also: the sums of squares of a x - b where a has more rows than columns (else nothing), the
    rank of a and its singular values.
    """
    if words:
        return matrices_rows.lstsq(a, b, rcond, **words)
    return matrices_rows.lstsq(a, b, rcond)
    # </gen lstsq vi7z4ywairpvsmkkos6kpvsmkyh6tmj2rtwuqcdkmusmvb6ogyl4r2e>


# <gen matrix_power>
def matrix_power(x: Tensor, n: int, **words: Unpack[Words]) -> Tensor:
    """Square matrices multiplied with themselves n times; below 0 their inverses."""
    if words:
        return matrices_rows.matrix_power(x, n, **words)
    return matrices_rows.matrix_power(x, n)
    # </gen matrix_power 4e72ig7sjrmusmvb6gb6qiu5a>


# <gen matrix_exp>
def matrix_exp(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The exponential of square matrices: the sum of xᵏ / k!."""
    if words:
        return matrices_rows.matrix_exp(x, **words)
    return matrices_rows.matrix_exp(x)
    # </gen matrix_exp 5h5arsugvkmusmv3kxv6yj2v5>


# <gen multi_dot>
def multi_dot(tensors: Sequence[Any], **words: Unpack[Words]) -> Tensor:
    """The product of two or more matrices, in the order that takes the fewest multiplications.

    The first and the last may be vectors.
    """
    if words:
        return matrices_rows.multi_dot(tensors, **words)
    return matrices_rows.multi_dot(tensors)
    # </gen multi_dot k4poj4avkipvsmkkuzlruqcdkmusmv22hj46ibl5>


# <gen householder_product>
def householder_product(v: Tensor, tau: Tensor, **words: Unpack[Words]) -> Tensor:
    """The first columns of a product of reflections I - tau v vᵀ, as `geqrf` leaves them.

    The vectors are the columns of v below the diagonal, and 1 on it.
    """
    if words:
        return matrices_rows.householder_product(v, tau, **words)
    return matrices_rows.householder_product(v, tau)
    # </gen householder_product 6hzptz65gzpvsmkpoxo3uqcdkmusmvvv4sxvjjme>


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
def solve(a: Tensor, b: Tensor, left: bool = True, **words: Unpack[Words]) -> Tensor:
    """x with a x = b, or x a = b if not left: by LU with partial pivoting.

    b holds columns, or one vector for each matrix: where it has one axis, or the axes of a without
    the last. If not left it holds rows. A singular a gives infinities or NaN.

    >>> import treadle as td
    >>> td.linalg.solve(td.tensor([[2.0, 0.0], [1.0, 1.0]]), td.tensor([2.0, 3.0])).tolist()
    [1.0, 2.0]
    """
    if words:
        return solving_rows.solve(a, b, left, **words)
    return solving_rows.solve(a, b, left)
    # </gen solve evwmgjidatpvsmkqjmcmpfwdypvsmkymuw3ncqlgu5yucuqcdkmusmvyr2mrevxrw>


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
    """x with a x = b, from `lu_factor` of a; x a = b if not left.

    adjoint: with the transpose of a, conjugated.
    """
    if words:
        return solving_rows.lu_solve(lu, pivots, b, left, adjoint, **words)
    return solving_rows.lu_solve(lu, pivots, b, left, adjoint)
    # </gen lu_solve 3gfv6rdsp42txyddwwouxwgepfrxqh6raroq76qk4hdsypvsmkzeldxuqcdkmusmv4d4g34bqpj>


# <gen det>
def det(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The determinant of square matrices."""
    if words:
        return determinants_rows.det(x, **words)
    return determinants_rows.det(x)
    # </gen det wxobj2p655musmvid3acuni3c>


# <gen logabsdet>
def logabsdet(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """The logarithm of the magnitude of the determinant; -inf of singular matrices."""
    if words:
        return determinants_rows.logabsdet(x, **words)
    return determinants_rows.logabsdet(x)
    # </gen logabsdet 75vgw2j2gwmusmvl6sniargxt>


# <gen slogdet>
def slogdet(x: Tensor, **words: Unpack[Words]) -> SignedLog:
    """The sign of the determinant, 0 of singular matrices, and the logarithm of its magnitude."""
    if words:
        return determinants_rows.slogdet(x, **words)
    return determinants_rows.slogdet(x)
    # </gen slogdet 5lisooi4zzmusmvrd6e32p2xu>


# <gen tensorsolve>
def tensorsolve(
    a: Tensor, b: Tensor, axes: Sequence[int] | None = None, **words: Unpack[Words]
) -> Tensor:
    """x with tensordot(a, x, x.ndim) = b; axes of a named in axes go to its end first."""
    if words:
        return determinants_rows.tensorsolve(a, b, axes, **words)
    return determinants_rows.tensorsolve(a, b, axes)
    # </gen tensorsolve b3w4m7r5wiq76qkv5dxjmusmvdmeb3cqtsb>


# <gen tensorinv>
def tensorinv(a: Tensor, ind: int = 2, **words: Unpack[Words]) -> Tensor:
    """The inverse of a as a matrix from its last axes to the first `ind`."""
    if words:
        return determinants_rows.tensorinv(a, ind, **words)
    return determinants_rows.tensorinv(a, ind)
    # </gen tensorinv 25ajolbge5musmvgi53m5mnm4>


# <gen qr>
def qr(x: Tensor, mode: str = "reduced", **words: Unpack[Words]) -> QR:
    """x = Q R: a matrix with orthonormal columns and an upper triangle.

    - **mode**: "reduced", as many columns of Q as x has rows or columns; "complete", a square Q;
      "r", an empty Q
    """
    if words:
        return spectral_rows.qr(x, mode, **words)
    return spectral_rows.qr(x, mode)
    # </gen qr uupz3tozyjpvsmk37snz7s34puqcdkmusmvkd2p7rhlrj>


# <gen eigh>
def eigh(x: Tensor, UPLO: str = "L", **words: Unpack[Words]) -> Eigen:
    """Eigenvalues of symmetric matrices, ascending, and eigenvectors, the columns of a matrix.

    - **UPLO**: which half is read, "L" or "U"

    Vectors are determined up to their sign; their gradient is infinite where two values are equal,
    that of the values is not.

    >>> import treadle as td
    >>> td.linalg.eigh(td.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.tolist()
    [1.0, 2.0]
    """
    if words:
        return spectral_rows.eigh(x, UPLO, **words)
    return spectral_rows.eigh(x, UPLO)
    # </gen eigh 3k5pl6y5empvsmkslpckpvsmku7hjrioh2qpvsmkymuw3oju3mu5yucuqcdkmusmvcq5qkhwyig>


# <gen eigvalsh>
def eigvalsh(x: Tensor, UPLO: str = "L", **words: Unpack[Words]) -> Tensor:
    """Eigenvalues of symmetric matrices, ascending; UPLO as `eigh` has it."""
    if words:
        return spectral_rows.eigvalsh(x, UPLO, **words)
    return spectral_rows.eigvalsh(x, UPLO)
    # </gen eigvalsh nhj3c4dg5qmusmvtwxqw2huqw>


# <gen svd>
def svd(x: Tensor, full_matrices: bool = True, **words: Unpack[Words]) -> SVD:
    """x = U diag(S) Vh: orthonormal columns, singular values descending, orthonormal rows.

    - **full_matrices**: square U and Vh; else as many columns and rows as there are values

    Vectors are determined up to a sign they share; their gradient is infinite where two values
    are equal, that of the values is not.
    """
    if words:
        return spectral_rows.svd(x, full_matrices, **words)
    return spectral_rows.svd(x, full_matrices)
    # </gen svd fdyb4zswcppvsmkc7on3pvsmknqavbng6nduqcdkmusmvvjroo5dcg3>


# <gen svdvals>
def svdvals(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Singular values, descending."""
    if words:
        return spectral_rows.svdvals(x, **words)
    return spectral_rows.svdvals(x)
    # </gen svdvals yozemf4rpemusmvtmktrkxvi3>


# <gen eig>
def eig(x: Tensor, **words: Unpack[Words]) -> Eigen:
    """Eigenvalues and eigenvectors of any square matrices: complex, in no order.

    The vectors, columns of a matrix, have length 1 and a real largest element; that of a function
    of them has a gradient only if it does not depend on their angle.

    >>> import treadle as td
    >>> td.linalg.eig(td.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues.tolist()
    [1j, -1j]
    """
    if words:
        return eigen_rows.eig(x, **words)
    return eigen_rows.eig(x)
    # </gen eig tay7mlioknpvsmkirkqai7y2ppvsmkymuw3kkoztuulsauqcdkmusmv7djq3hycia>


# <gen eigvals>
def eigvals(x: Tensor, **words: Unpack[Words]) -> Tensor:
    """Eigenvalues of any square matrices: complex, in no order."""
    if words:
        return eigen_rows.eigvals(x, **words)
    return eigen_rows.eigvals(x)
    # </gen eigvals 7b3mqmpyxsmusmv5x6damlp2j>


# <gen words>
accept_words(globals().values())
# </gen words j5pez>
