"""Is linear algebra of complex matrices right, and are its gradients slopes?"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.testing.gradcheck import gradcheck

SIZES = ((0, 0), (1, 1), (2, 2), (5, 5), (17, 17), (33, 33), (5, 12), (12, 5), (3, 0))
KINDS = ("random", "identity", "of rank 1")
dtypes = pytest.mark.parametrize("dtype", ["complex64", "complex128"])
cases = pytest.mark.parametrize(
    ("kind", "batch"), [*((k, ()) for k in KINDS), ("random", (3,)), ("random", (0,))]
)


def made(kind, batch, m, n):
    rng = np.random.default_rng([m, n, KINDS.index(kind)])
    a = rng.standard_normal((*batch, m, n)) + 1j * rng.standard_normal((*batch, m, n))
    if kind == "identity":
        return a * 0 + np.eye(m, n)
    return a[..., :, :1] * a[..., :1, :] if kind == "of rank 1" and a.size else a


def adjoint(x):
    return np.swapaxes(x.conj(), -1, -2)


def near(found, wanted, like, bound=50.0):
    limit = bound * np.finfo(like.dtype).eps * max(1, *like.shape[-2:])
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max(initial=0) <= limit * max(1.0, np.abs(like).max(initial=0))


def unitary(q):
    gram = adjoint(q) @ q
    near(gram, np.broadcast_to(np.eye(q.shape[-1]), gram.shape), q)


@dtypes
@cases
def test_factors(kind, batch, dtype):
    for m, n in SIZES:
        a = made(kind, batch, m, n).astype(dtype)
        x = td.tensor(a)
        q, r = (y.numpy() for y in td.linalg.qr(x))
        near(q @ r, a, a)
        unitary(q)
        p, lower, upper = (y.numpy() for y in td.linalg.lu(x))
        near(p @ lower @ upper, a, a)
        for full in (False, True):
            u, s, vh = (y.numpy() for y in td.linalg.svd(x, full_matrices=full))
            k = min(m, n)
            near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, a)
            unitary(u)
            unitary(adjoint(vh))
        assert s.dtype == np.finfo(dtype).dtype
        near(s, np.linalg.svd(a, compute_uv=False), a)
        near(td.linalg.svdvals(x).numpy(), s, a)


@dtypes
@cases
def test_square_matrices(kind, batch, dtype):
    for n in (0, 1, 2, 5, 17, 33):
        a = made(kind, batch, n, n).astype(dtype)
        hermitian = a + adjoint(a)
        w, v = (y.numpy() for y in td.linalg.eigh(td.tensor(hermitian)))
        near(hermitian @ v, v * w[..., None, :], hermitian)
        unitary(v)
        assert (np.diff(w) >= 0).all()
        w, v = (y.numpy() for y in td.linalg.eig(td.tensor(a)))
        near(a @ v, v * w[..., None, :], a)
        definite = (a @ adjoint(a) + np.eye(n)).astype(dtype)
        factor = td.linalg.cholesky(td.tensor(definite)).numpy()
        near(factor @ adjoint(factor), definite, definite)
        b = made("random", batch, n, 2).astype(dtype)
        near(definite @ td.linalg.solve(td.tensor(definite), td.tensor(b)).numpy(), b, definite)


@dtypes
def test_numbers_of_matrices(dtype):
    a = made("random", (2,), 4, 4).astype(dtype)
    x, eps = td.tensor(a), np.finfo(dtype).eps
    np.testing.assert_allclose(td.linalg.det(x).numpy(), np.linalg.det(a), rtol=100 * eps)
    sign, size = (y.numpy() for y in td.linalg.slogdet(x))
    np.testing.assert_allclose(sign * np.exp(size), np.linalg.det(a), rtol=100 * eps)
    near(td.linalg.inv(x).numpy(), np.linalg.inv(a), a, 500)
    near(td.linalg.pinv(x).numpy(), np.linalg.pinv(a), a, 500)
    np.testing.assert_array_equal(td.linalg.matrix_rank(x).numpy(), [4, 4])
    for p in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        found = td.linalg.matrix_norm(x, ord=p).numpy()
        np.testing.assert_allclose(found, np.linalg.norm(a, p, (-2, -1)), rtol=100 * eps)
    turned = td.linalg.matrix_exp(td.tensor(np.array([[2j]], dtype))).numpy()
    np.testing.assert_allclose(turned, np.exp(2j), rtol=20 * eps)


def hermitian(x):
    return (x + x.mH) * 0.5


def definite(x):
    return hermitian(x) + 6.0 * td.eye(x.shape[-1], dtype=x.dtype)


def sizes(x):
    """Of vectors whose angle is free."""
    return (x * x.conj()).real


def both(x):
    return td.view_as_real(x)


SMOOTH = {
    "solve": lambda x: both(td.linalg.solve(x, x.mT * x)),
    "inv": lambda x: both(td.linalg.inv(x)),
    "det": lambda x: both(td.linalg.det(x)),
    "sign": lambda x: both(td.linalg.slogdet(x).sign),
    "logabsdet": lambda x: td.linalg.slogdet(x).logabsdet,
    "lu": lambda x: both(td.linalg.lu(x).L) + both(td.linalg.lu(x).U),
    "cholesky": lambda x: both(td.linalg.cholesky(definite(x))),
    "qr": lambda x: both(td.linalg.qr(x).Q) * 0.3 + both(td.linalg.qr(x).R),
    "tall qr": lambda x: both(td.linalg.qr(x[..., :2]).Q @ x[..., :2, :]),
    "wide qr": lambda x: both(td.linalg.qr(x[..., :2, :]).R),
    "eigvalsh": lambda x: td.linalg.eigvalsh(hermitian(x)),
    "eigh": lambda x: sizes(td.linalg.eigh(hermitian(x))[1]),
    "projections": lambda x: sizes(td.linalg.eigh(hermitian(x))[1].mH @ x),
    "svdvals": td.linalg.svdvals,
    "svd": lambda x: sizes(td.linalg.svd(x).U) + sizes(td.linalg.svd(x).Vh),
    "angles together": lambda x: both(td.linalg.svd(x).U @ td.linalg.svd(x).Vh),
    "pinv": lambda x: both(td.linalg.pinv(x[..., :2])),
    "matrix_exp": lambda x: both(td.linalg.matrix_exp(x)),
    "eigvals": lambda x: both((td.linalg.eigvals(x) ** 3).sum(-1)),
    "eig": lambda x: sizes(td.linalg.eig(x)[1]).sum((-2, -1)) + sizes(td.linalg.eig(x)[1][0]).sum(),
    "norm": lambda x: td.linalg.matrix_norm(x, ord=2) + td.linalg.matrix_norm(x, ord="nuc"),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_is_the_slope_of_the_value(name):
    rng = np.random.default_rng(len(name))
    parts = [rng.uniform(-1, 1, (3, 3)) for _ in range(2)]
    gradcheck(lambda a, b: SMOOTH[name](td.complex(a, b)), parts)


def test_eigenvalues_of_real_matrices_have_gradients():
    x = np.random.default_rng(1).uniform(-1, 1, (4, 4))
    gradcheck(lambda x: both((td.linalg.eigvals(x) ** 3).sum()), [x])
    weights = td.tensor(np.arange(16.0).reshape(4, 4))
    gradcheck(lambda x: (sizes(td.linalg.eig(x)[1]) * weights).sum((-2, -1)), [x])


@pytest.mark.parametrize("name", ["solve", "cholesky", "qr", "eigvalsh", "svdvals", "eigvals"])
def test_gradient_has_a_slope_that_is_its_gradient(name):
    rng = np.random.default_rng(len(name))
    parts = [rng.uniform(-1, 1, (3, 3)) for _ in range(2)]

    def slope(a, b):
        y = SMOOTH[name](td.complex(a, b))
        weights = td.tensor(np.random.default_rng(1).uniform(0.5, 1.5, y.shape))
        return td.concat([g.reshape(-1) for g in td.gradients(y, [a, b], weights)])

    gradcheck(slope, parts, directions=2)


def test_compiled_functions_agree_with_lazy_tensors():
    a = made("random", (2,), 4, 4)
    function = lambda x: td.linalg.solve(definite(x), td.linalg.qr(x).Q)  # noqa: E731
    lazy, compiled = function(td.tensor(a)).numpy(), td.compile(function)(td.tensor(a)).numpy()
    np.testing.assert_allclose(compiled, lazy, rtol=1e-13)


def test_memory_that_nobody_has_written_is_not_read():
    """Sums of nothing began with 0 times an element of the result, which may be NaN."""
    rng = np.random.default_rng(4)

    def positive(kind, *shape):
        x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        x = x if np.dtype(kind).kind == "c" else x.real
        return (x @ np.conj(np.swapaxes(x, -1, -2)) + 4 * np.eye(shape[-1])).astype(kind)

    for kind, shape in (("f8", (2, 3, 3)), ("c8", (4, 4)), ("c8", (2, 3, 3))) * 3:
        a = positive(kind, *shape)
        held = [td.full((n,), np.nan, dtype="float32").realize() for n in (36, 36, 32, 18)]
        del held
        found = td.linalg.cholesky(td.asarray(a), upper=shape == (2, 3, 3)).numpy()
        assert np.isfinite(found).all()
