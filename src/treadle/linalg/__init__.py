"""Linear algebra: `td.linalg`, by the names of the array API and PyTorch.

Matrices lie in the last two axes, of float32, float64, complex64 or complex128; the axes before are
a batch. What has no answer (a singular matrix to invert, a matrix that is not positive definite)
gives infinities or NaN, never an error: programs are compiled, and their values are not looked at.
`cholesky_ex` and `inv_ex` say where.
"""

from __future__ import annotations

from treadle.functions import cross, matmul, matrix_transpose, outer, tensordot, vecdot, vector_norm
from treadle.linalg.forms import diagonal, norm, trace
from treadle.linalg.functions import (
    cholesky,
    cholesky_ex,
    cholesky_solve,
    cond,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    inv,
    inv_ex,
    logabsdet,
    lstsq,
    lu,
    lu_factor,
    lu_solve,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    multi_dot,
    pinv,
    qr,
    slogdet,
    solve,
    solve_triangular,
    svd,
    svdvals,
    tensorinv,
    tensorsolve,
)

__all__ = [
    "cholesky",
    "cholesky_ex",
    "cholesky_solve",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "logabsdet",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]
