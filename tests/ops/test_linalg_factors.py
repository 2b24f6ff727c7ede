"""Are factorisations as exact as LAPACK's, for matrices of every kind, size and batch?"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

SIZES = ((0, 0), (1, 1), (2, 2), (5, 5), (17, 17), (33, 33), (65, 65), (5, 40), (40, 5), (70, 33),
         (33, 70), (3, 0), (0, 3))  # fmt: skip
KINDS = ("random", "identity", "zero", "of rank 1", "graded", "singular", "large", "tiny")
BATCHES = ((), (3,), (2, 2), (0,))


def made(kind, batch, m, n, seed=0):
    """Matrices in float64 of a kind that is hard for somebody."""
    rng = np.random.default_rng([seed, m, n, KINDS.index(kind)])
    a = rng.standard_normal((*batch, m, n))
    if kind == "identity":
        return a * 0 + np.eye(m, n)
    if kind == "zero":
        return a * 0
    if kind == "of rank 1" and a.size:
        return a[..., :, :1] * a[..., :1, :]
    if kind == "graded":
        return a * 10.0 ** -np.linspace(0, 6, n)
    if kind == "singular" and n > 3:
        a[..., 2], a[..., 3] = 0, a[..., 1]
    return a * {"large": 1e15, "tiny": 1e-15}.get(kind, 1.0)


def near(found, wanted, like, dtype, bound=50.0):
    """Within 50 eps n of the largest number that the matrix has."""
    n = max(1, *like.shape[-2:])
    size = max(np.abs(like).max(initial=0), 1e-37)
    limit = bound * np.finfo(dtype).eps * n * size
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max(initial=0) <= limit


def orthonormal(q, dtype):
    """Are columns of length 1 and at right angles?"""
    gram = np.swapaxes(q, -1, -2) @ q
    identity = np.broadcast_to(np.eye(q.shape[-1]), gram.shape)
    near(gram, identity, np.ones((1, 1, max(1, q.shape[-2]))), dtype)


def wide(*tensors):
    return [x.numpy().astype(np.float64) for x in tensors]


cases = pytest.mark.parametrize(
    ("kind", "batch"), [(k, ()) for k in KINDS] + [("random", b) for b in BATCHES[1:]]
)
dtypes = pytest.mark.parametrize("dtype", ["float32", "float64"])


@dtypes
@cases
def test_qr(kind, batch, dtype):
    for m, n in SIZES:
        a = made(kind, batch, m, n).astype(dtype)
        for mode in ("reduced", "complete"):
            q, r = wide(*td.linalg.qr(td.tensor(a), mode))
            assert q.shape[-1] == (m if mode == "complete" else min(m, n))
            near(q @ r, a, a, dtype)
            orthonormal(q, dtype)
            np.testing.assert_array_equal(r, np.triu(r))


@dtypes
@cases
def test_lu(kind, batch, dtype):
    for m, n in SIZES:
        a = made(kind, batch, m, n).astype(dtype)
        p, lower, upper = wide(*td.linalg.lu(td.tensor(a)))
        near(p @ lower @ upper, a, a, dtype)
        np.testing.assert_array_equal(upper, np.triu(upper))
        np.testing.assert_array_equal(np.tril(lower), lower)
        assert np.abs(lower).max(initial=0) <= 1  # pivots are the largest of their columns
        assert (p.sum(-1) == 1).all()
        assert (p.sum(-2) == 1).all()


@dtypes
@cases
def test_eigh(kind, batch, dtype):
    for n in (0, 1, 2, 3, 17, 33, 65):
        a = made(kind, batch, n, n).astype(dtype)
        a = np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)
        w, v = wide(*td.linalg.eigh(td.tensor(a)))
        near(a @ v, v * w[..., None, :], a, dtype)
        orthonormal(v, dtype)
        near(w, np.linalg.eigvalsh(a.astype("float64")), a, dtype)
        near(*wide(td.linalg.eigvalsh(td.tensor(a))), w, a, dtype)
        upper = td.linalg.eigvalsh(td.tensor(np.triu(a)), UPLO="U")
        near(*wide(upper), w, a, dtype)


@dtypes
@cases
def test_svd(kind, batch, dtype):
    for m, n in SIZES:
        a = made(kind, batch, m, n).astype(dtype)
        k = min(m, n)
        for full in (False, True):
            u, s, vh = wide(*td.linalg.svd(td.tensor(a), full_matrices=full))
            assert u.shape[-1] == (m if full else k)
            assert vh.shape[-2] == (n if full else k)
            near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, a, dtype)
            orthonormal(u, dtype)
            orthonormal(np.swapaxes(vh, -1, -2), dtype)
            assert (np.diff(s) <= 0).all()
            assert (s >= 0).all()
        near(s, np.linalg.svd(a.astype("float64"), compute_uv=False), a, dtype)
        near(*wide(td.linalg.svdvals(td.tensor(a))), s, a, dtype)


@dtypes
@pytest.mark.parametrize("n", [0, 1, 2, 17, 48, 64, 65, 130])
def test_cholesky(n, dtype):
    for batch in BATCHES:
        a = made("random", batch, n, n)
        a = (a @ np.swapaxes(a, -1, -2) + np.eye(n)).astype(dtype)
        (factor,) = wide(td.linalg.cholesky(td.tensor(np.tril(a))))
        near(factor @ np.swapaxes(factor, -1, -2), a, a, dtype)
        np.testing.assert_array_equal(factor, np.tril(factor))
        (upper,) = wide(td.linalg.cholesky(td.tensor(a), upper=True))
        near(np.swapaxes(upper, -1, -2), factor, a, dtype)


@dtypes
@pytest.mark.parametrize("n", [1, 2, 17, 33, 65, 150])
def test_solve_has_a_small_residual(n, dtype):
    for batch in BATCHES:
        a, b = made("random", batch, n, n).astype(dtype), made("random", batch, n, 3).astype(dtype)
        (x,) = wide(td.linalg.solve(td.tensor(a), td.tensor(b)))
        own = np.abs(a @ x - b).max(initial=0)
        theirs = np.abs(a @ np.linalg.solve(a, b) - b).max(initial=0)
        size = np.abs(a).max(initial=0) * np.abs(x).max(initial=0)
        assert own <= max(50 * theirs, 50 * np.finfo(dtype).eps * size)


@dtypes
def test_solve_of_an_ill_conditioned_matrix_has_a_small_residual(dtype):
    n = 12
    hilbert = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1)
    a, b = hilbert.astype(dtype), np.ones((n, 1), dtype)
    (x,) = wide(td.linalg.solve(td.tensor(a), td.tensor(b)))
    limit = 50 * n * np.finfo(dtype).eps * np.abs(a).max() * np.abs(x).max()
    assert np.abs(a.astype("float64") @ x - b).max() <= limit


@dtypes
@pytest.mark.parametrize("n", [1, 2, 3, 10, 33, 64])
def test_eigenvalues_of_any_matrix(n, dtype):
    for kind in ("random", "identity", "zero", "of rank 1", "singular"):
        a = made(kind, (2,), n, n).astype(dtype)
        w, v = td.linalg.eig(td.tensor(a))
        w, v = w.numpy().astype("complex128"), v.numpy().astype("complex128")
        near(a @ v, v * w[..., None, :], a, dtype)
        np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, rtol=1e-5)
        own = td.linalg.eigvals(td.tensor(a)).numpy()
        near(own.sum(-1, keepdims=True), np.trace(a, axis1=-2, axis2=-1)[..., None], a, dtype)


def test_pairs_of_eigenvalues_are_conjugate_and_real_ones_are_real():
    rng = np.random.default_rng(0)
    w = td.linalg.eigvals(td.tensor(rng.standard_normal((30, 30)))).numpy()
    again = np.sort_complex(w.conj())
    np.testing.assert_array_equal(np.sort_complex(w), again)
    triangle = td.linalg.eigvals(td.tensor(np.triu(rng.standard_normal((9, 9))))).numpy()
    np.testing.assert_array_equal(triangle.imag, 0)


@dtypes
def test_exponentials_of_matrices_with_known_ones(dtype):
    eps = np.finfo(dtype).eps
    turn = np.array([[0.0, -2.0], [2.0, 0.0]], dtype)
    wanted = [[np.cos(2.0), -np.sin(2.0)], [np.sin(2.0), np.cos(2.0)]]
    np.testing.assert_allclose(td.linalg.matrix_exp(td.tensor(turn)).numpy(), wanted, atol=20 * eps)
    nilpotent = np.triu(np.ones((4, 4)), 1).astype(dtype)
    powers = [np.linalg.matrix_power(nilpotent, k) for k in range(4)]
    wanted = powers[0] + powers[1] + powers[2] / 2 + powers[3] / 6
    np.testing.assert_allclose(td.linalg.matrix_exp(td.tensor(nilpotent)).numpy(), wanted,
                               rtol=20 * eps, atol=20 * eps)  # fmt: skip
    diagonal = np.diag([1.0, -30.0, 5.0]).astype(dtype)
    found = td.linalg.matrix_exp(td.tensor(diagonal)).numpy()
    np.testing.assert_allclose(np.diag(found), np.exp(np.diag(diagonal)), rtol=500 * eps)
    symmetric = made("random", (3,), 40, 40)
    symmetric = ((symmetric + np.swapaxes(symmetric, -1, -2)) / 4).astype(dtype)
    w, v = np.linalg.eigh(symmetric.astype("float64"))
    wanted = (v * np.exp(w)[..., None, :]) @ np.swapaxes(v, -1, -2)
    near(td.linalg.matrix_exp(td.tensor(symmetric)).numpy(), wanted, wanted, dtype)


def test_a_large_matrix_is_factored_in_shared_steps():
    a = made("random", (), 300, 300).astype("float32")
    symmetric = a + a.T
    p, lower, upper = wide(*td.linalg.lu(td.tensor(a)))
    near(p @ lower @ upper, a, a, "float32")
    w, v = wide(*td.linalg.eigh(td.tensor(symmetric)))
    near(symmetric @ v, v * w, symmetric, "float32")
    u, s, vh = wide(*td.linalg.svd(td.tensor(a)))
    near((u * s) @ vh, a, a, "float32")
    right = made("random", (), 300, 290).astype("float32")
    (x,) = wide(td.linalg.solve(td.tensor(a), td.tensor(right)))
    near(a @ x, right, np.abs(a) @ np.abs(x), "float32")
    definite = a @ a.T + 300 * np.eye(300, dtype="float32")
    (factor,) = wide(td.linalg.cholesky(td.tensor(definite)))
    near(factor @ factor.T, definite, definite, "float32")


@pytest.mark.parametrize(("kind", "size"), [
    ("float32", 1e-30), ("float32", 1e25), ("float64", 1e-160),
    ("float64", 1e200), ("complex64", 1e20), ("complex128", 1e-200), ("complex128", 1e200),
    ("float32", 2e-39), ("float64", 1e-310), ("complex64", 2e-39), ("complex128", 1e-310),
    ("float32", 3e37), ("float64", 3e307), ("complex128", 3e307), ("float64", 0.0),
])  # fmt: skip
def test_eigenvalues_of_very_large_and_small_matrices(kind, size):
    a = np.array([[1.0, 2.0, 0.5], [-3.0, 1.0, 1.0], [0.25, 1.0, -2.0]])
    wide = (a * size).astype(kind).astype("complex128")
    w, v = (x.numpy() for x in td.linalg.eig(td.tensor((a * size).astype(kind))))
    wanted = np.linalg.eigvals(wide)
    few = 1e-5 if kind in ("float32", "complex64") else 1e-12
    apart = np.abs(w[:, None] - wanted)
    assert max(apart.min(0).max(), apart.min(1).max()) <= few * np.abs(wanted).max()
    rest = wide @ v - v * w
    assert np.abs(rest).max() <= few * np.abs(wanted).max()
