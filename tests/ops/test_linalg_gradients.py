"""Are gradients of factorisations slopes, where one half of a matrix or a sign is free?"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import GradientError
from treadle.testing.gradcheck import gradcheck


def symmetric(x):
    return (x + x.mT) * 0.5


def definite(x):
    return symmetric(x) + 6.0 * td.eye(x.shape[-1], dtype=x.dtype)


def squares(x):
    """Of vectors whose sign is free."""
    return x * x


HALVES = {
    "cholesky": lambda x: td.linalg.cholesky(definite(x)),
    "upper": lambda x: td.linalg.cholesky(definite(x), upper=True),
    "eigvalsh": lambda x: td.linalg.eigvalsh(symmetric(x)),
    "values": lambda x: td.linalg.eigh(symmetric(x)).eigenvalues,
    "vectors": lambda x: squares(td.linalg.eigh(symmetric(x)).eigenvectors),
    "singular vectors": lambda x: squares(td.linalg.svd(x).U) + squares(td.linalg.svd(x).Vh),
    "signs together": lambda x: td.linalg.svd(x).U @ td.linalg.svd(x).Vh,
    "matrix of signs": lambda x: squares(td.linalg.eigh(symmetric(x))[1].mT @ x),
}
CASES = [(name, shape) for name in HALVES for shape in ((3, 3), (2, 4, 4))]


@pytest.mark.parametrize(("name", "shape"), CASES, ids=str)
def test_gradient_is_the_slope_of_the_value(name, shape):
    x = np.random.default_rng(len(name)).uniform(-1, 1, shape)
    gradcheck(HALVES[name], [x])


@pytest.mark.parametrize("name", HALVES)
def test_gradient_has_a_slope_that_is_its_gradient(name):
    x = np.random.default_rng(len(name)).uniform(-1, 1, (3, 3))

    def slope(x):
        y = HALVES[name](x)
        weights = td.tensor(np.random.default_rng(1).uniform(0.5, 1.5, y.shape))
        (g,) = td.gradients(y, [x], weights)
        return g

    gradcheck(slope, [x], directions=3)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 4)])
def test_gradients_of_rectangles(shape):
    x = np.random.default_rng(0).uniform(-1, 1, shape)
    thin = lambda x: td.linalg.svd(x, full_matrices=False)  # noqa: E731
    gradcheck(lambda x: squares(thin(x).U), [x])
    gradcheck(lambda x: squares(thin(x).Vh), [x])
    gradcheck(lambda x: thin(x).U @ (thin(x).S[..., None] * thin(x).Vh) * x, [x])
    gradcheck(lambda x: td.linalg.qr(x).Q, [x])
    gradcheck(lambda x: td.linalg.qr(x).R, [x])
    gradcheck(td.linalg.pinv, [x])


def test_a_determinant_of_a_singular_matrix_has_a_gradient():
    rng = np.random.default_rng(0)
    for n in (2, 3, 5):
        a = rng.uniform(-1, 1, (n, n))
        a[:, 1] = 2 * a[:, 0]
        x = td.tensor(a, requires_grad=True)
        td.linalg.det(x).backward()
        wanted = np.empty_like(a)
        for i in range(n):
            for j in range(n):
                minor = np.delete(np.delete(a, i, 0), j, 1)
                wanted[i, j] = (-1) ** (i + j) * np.linalg.det(minor)
        np.testing.assert_allclose(x.grad.numpy(), wanted, atol=1e-12)


EQUAL = {"all": np.eye(3), "two": np.diag([2.0, 2.0, 1.0]), "none": np.zeros((3, 3))}


@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize("name", EQUAL)
def test_equal_values_have_a_gradient_beside_their_vectors(name, kind):
    a = td.tensor(EQUAL[name].astype(kind))
    trace = td.grad(lambda x: td.linalg.eigh(x).eigenvalues.sum())(a)  # the trace, so its slope
    np.testing.assert_allclose(trace.numpy(), np.eye(3), atol=1e-12)
    trace = td.grad(lambda x: td.linalg.eig(x).eigenvalues.real.sum())(a)
    np.testing.assert_allclose(trace.numpy(), np.eye(3), atol=1e-12)
    for full in (True, False):
        g = td.grad(lambda x, full=full: td.linalg.svd(x, full_matrices=full).S.sum())(a)
        assert np.isfinite(g.numpy()).all()
    if name != "none":  # of a definite matrix the sum of singular values is the trace
        np.testing.assert_allclose(g.numpy(), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_singular_values_of_rectangles_that_lack_rank_have_a_gradient(kind):
    for shape in ((5, 3), (3, 5)):
        a = td.tensor(np.zeros(shape, kind))
        g = td.grad(lambda x: td.linalg.svd(x, full_matrices=False).S.sum())(a).numpy()
        np.testing.assert_allclose(np.linalg.svd(g)[1], 1.0)  # orthonormal columns or rows


def test_free_vectors_have_no_gradient_and_say_what_has():
    x = td.tensor(np.ones((4, 2)), requires_grad=True)
    with pytest.raises(GradientError, match="reduced"):
        td.linalg.qr(x, mode="complete").Q.sum().backward()
    for used in (lambda u: u, lambda u: u[:, 2], lambda u: u[:, 1:3], lambda u: u @ u.mT):
        with pytest.raises(GradientError, match="full_matrices"):
            used(td.linalg.svd(x).U).sum().backward()
    with pytest.raises(GradientError, match="full_matrices"):
        td.linalg.svd(x.mT).Vh.sum().backward()


USES = {
    "values": lambda f: (f.S**2).sum(),
    "left": lambda f: abs(f.U[..., :2]).sum() + abs(f.U[..., 0] * 3).sum(),
    "right": lambda f: (abs(f.Vh[..., :2, :]) ** 3).sum() - abs(f.Vh.mT[..., 1]).sum(),
    "product": lambda f: (abs((f.U[..., :2] * f.S[..., None, :]) @ f.Vh[..., :2, :]) ** 3).sum(),
}  # fmt: skip


@pytest.mark.parametrize(("shape", "kind"), [
    ((4, 2), "float64"), ((2, 5), "complex128"), ((3, 4, 2), "float64"),
], ids=["tall", "wide-complex", "batch"])  # fmt: skip
@pytest.mark.parametrize("use", USES)
def test_vectors_that_are_not_free_have_a_gradient_beside_free_ones(use, shape, kind):
    x = np.random.default_rng(5).standard_normal((2, *shape))
    a = td.tensor((x[0] + 1j * x[1]) if kind == "complex128" else x[0])

    def slope(full):
        return td.grad(lambda a: USES[use](td.linalg.svd(a, full_matrices=full)))

    wanted = slope(False)(a).numpy()
    np.testing.assert_allclose(slope(True)(a).numpy(), wanted, atol=1e-12)
    if use == "product":
        np.testing.assert_allclose(td.compile(slope(True))(a).numpy(), wanted, atol=1e-12)


def test_the_gradient_of_a_solution_uses_the_factors_that_are_there():
    a = td.tensor(np.eye(4) * 3 + 0.1)
    b = td.tensor(np.ones((4, 2)))

    def both(a, b):
        a = a.detach().requires_grad_()
        x = td.linalg.solve(a, b)
        (g,) = td.gradients(x, [a], td.ones_like(x))
        return x, g

    text = str(td.explain(both, a, b))
    assert text.count("routine lu_pack") == 1


def test_compiled_gradients_are_those_of_lazy_tensors():
    a = np.random.default_rng(0).standard_normal((6, 6))

    def loss(x):
        w, v = td.linalg.eigh(definite(x))
        return (td.linalg.solve(definite(x), v) * w).sum() + td.linalg.slogdet(definite(x))[1]

    lazy = td.grad(loss)(td.tensor(a)).numpy()
    compiled = td.compile(td.grad(loss))(td.tensor(a)).numpy()
    np.testing.assert_allclose(compiled, lazy, rtol=1e-12, atol=1e-12)
