"""Gradients of complex numbers: dL/dx + i dL/dy, the way up, as PyTorch has it."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import GradientError
from treadle.testing.gradcheck import gradcheck


def data(shape=(4,), seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def test_the_gradient_of_a_square_points_up():
    """|z|^2 = x^2 + y^2 has the slopes 2x and 2y."""
    z = data()
    for loss in (
        lambda x: (abs(x) ** 2).sum(), lambda x: (x * x.conj()).real.sum(),
        lambda x: td.vdot(x, x).real, lambda x: (x.real**2 + x.imag**2).sum(),
    ):  # fmt: skip
        np.testing.assert_allclose(td.grad(loss)(td.tensor(z)).numpy(), 2 * z, rtol=1e-13)
        compiled = td.compile(td.grad(loss))
        np.testing.assert_allclose(compiled(td.tensor(z)).numpy(), 2 * z, rtol=1e-13)


def test_a_holomorphic_function_pulls_back_by_the_conjugate_of_its_derivative():
    z, w = data(), data(seed=1)
    x = td.tensor(z)
    for function, slope in ((td.exp, np.exp(z)), (td.sin, np.cos(z)), (lambda x: x**3, 3 * z**2)):
        _, pullback = td.vjp(function, x)
        found = pullback(td.tensor(w))[0].numpy()
        np.testing.assert_allclose(found, w * np.conj(slope), rtol=1e-12)
        _, pushed = td.jvp(function, [x], [td.tensor(w)])
        np.testing.assert_allclose(pushed.numpy(), w * slope, rtol=1e-12)


def test_descent_along_it_descends():
    x = td.tensor([2 - 1j, -0.5 + 3j])
    target = td.tensor([1j, 1 + 1j])

    def loss(x):
        return (abs(x - target) ** 2).sum()

    before = loss(x).item()
    for _ in range(50):
        x = x - 0.1 * td.grad(loss)(x)
    assert loss(x).item() < 1e-6 * before


def test_what_is_real_has_a_real_gradient():
    r = td.tensor(np.array([1.0, 2.0]), requires_grad=True)
    z = td.tensor(data((2,)))
    loss = (abs(r * z) ** 2).sum() + (z * r).imag.sum() + td.complex(r, r * 2).real.sum()
    loss.backward()
    wanted = 2 * r.numpy() * np.abs(z.numpy()) ** 2 + z.numpy().imag + 1
    assert r.grad.dtype is td.float64
    np.testing.assert_allclose(r.grad.numpy(), wanted, rtol=1e-13)


def test_hooks_and_kept_gradients_see_what_users_see():
    z = data()
    x = td.tensor(z, requires_grad=True)
    y = x * 1j
    y.retain_grad()
    seen = []
    y.register_hook(lambda g: seen.append(g.numpy().copy()))
    (y.real**2 + 3 * y.imag).sum().backward()
    wanted = 2 * (z * 1j).real + 3j
    np.testing.assert_allclose(seen[0], wanted, rtol=1e-13)
    np.testing.assert_allclose(y.grad.numpy(), wanted, rtol=1e-13)
    np.testing.assert_allclose(x.grad.numpy(), wanted * -1j, rtol=1e-13)
    y.register_hook(lambda g: g * 2)
    x.grad = None
    (y.real**2 + 3 * y.imag).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), wanted * -2j, rtol=1e-13)


def test_a_complex_result_needs_a_cotangent():
    x = td.tensor(1j, requires_grad=True)
    with pytest.raises(GradientError, match="real scalar"):
        (x * 2).backward()
    with pytest.raises(GradientError, match="scalar"):
        td.grad(lambda x: x * 2)(x)
    (x * 2).backward(td.tensor(1j))
    assert x.grad.item() == 2j


def test_points_without_a_slope_have_none():
    x = td.tensor(np.zeros(2, complex), requires_grad=True)
    for function in (abs, td.angle, td.sign, td.norm):
        (g,) = td.gradients(abs(function(x)).sum(), [x])
        assert np.isfinite(g.numpy()).all(), function


@pytest.mark.parametrize("shapes", [((3, 4), (4, 2)), ((2, 3, 4), (4, 3)), ((4,), (4,))], ids=str)
def test_products(shapes):
    a, b = (data(shape, k) for k, shape in enumerate(shapes))
    gradcheck(lambda x, y: x @ y, [a, b], directions=3)
    gradcheck(lambda x, y: (x @ y).real, [a, b.real], directions=3)
    gradcheck(lambda x, y: td.exp(x * 0.3).mT if x.ndim > 1 else x, [a, b], directions=2)


def test_solving_a_small_problem_by_adam():
    td.manual_seed(0)
    a = td.randn(6, 3, dtype="complex64")
    wanted = td.randn(3, dtype="complex64")
    b = a @ wanted
    x = td.nn.Parameter(td.zeros(3, dtype="complex64"))
    optimizer = td.optim.SGD([x], lr=0.05, momentum=0.8)
    for _ in range(200):
        optimizer.zero_grad()
        (abs(a @ x - b) ** 2).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(x.numpy(), wanted.numpy(), atol=1e-3)


def test_second_derivatives():
    def loss(x):
        return (abs(x) ** 4).sum() + (x**3).real.sum()

    def slope(x):
        return td.grad(loss)(x)

    gradcheck(slope, [data()])
