"""Functions with derivatives of their own: which are used, by whom, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, GradientError, ShapeError


@td.custom_gradient
def straight(x):
    """Rounded, with the gradient of what was rounded."""
    return td.round(x), lambda g: g


@td.custom_gradient
def thrice(x, scale, rest):
    """Not the gradient there is, so that one can tell which was used."""
    return (x * scale, rest[0] + 1.0), lambda g: (g[0] * 3.0, None, [g[1] * 5.0])


X = np.array([0.2, 1.7, -0.6])


@pytest.mark.parametrize("compiled", [False, True])
def test_the_gradient_is_the_one_given(compiled):
    def slope(x):
        return td.grad(lambda x: (straight(x) * x).sum())(x)

    found = (td.compile(slope) if compiled else slope)(td.tensor(X))
    np.testing.assert_allclose(found.numpy(), np.round(X) + X)
    x = td.tensor(X).requires_grad_()
    straight(x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]
    assert td.gradients(straight(y := td.tensor(X)).sum(), [y])[0].tolist() == [1.0, 1.0, 1.0]


def test_several_arguments_and_results():
    x, scale, rest = td.tensor(X), td.tensor(2.0, dtype="float64"), [td.tensor(X)]

    def total(x, scale, rest):
        first, second = thrice(x, scale, rest)
        return (first + second * 10.0).sum()

    by_x, by_scale, (by_rest,) = td.grad(total, argnums=(0, 1, 2))(x, scale, rest)
    assert by_x.tolist() == [3.0] * 3
    assert by_scale.item() == 0.0
    assert by_rest.tolist() == [50.0] * 3


def test_samples_and_tangents_go_the_same_way():
    x = td.tensor(np.stack([X, X + 1.0]))
    np.testing.assert_array_equal(td.vmap(straight)(x).numpy(), np.round(x.numpy()))
    assert td.vmap(td.grad(lambda x: straight(x).sum()))(x).tolist() == [[1.0] * 3] * 2
    assert td.grad(lambda x: td.vmap(straight)(x).sum())(x).tolist() == [[1.0] * 3] * 2
    w = td.tensor(X)
    shared = td.grad(lambda w: td.vmap(lambda x: straight(w) * x)(x).sum())(w)
    np.testing.assert_allclose(shared.numpy(), x.numpy().sum(0))
    _, change = td.jvp(straight, [w], [td.tensor(X * 2)])
    np.testing.assert_allclose(change.numpy(), X * 2)
    inside = td.checkpoint(lambda x: straight(x) * 2.0, y := td.tensor(X).requires_grad_())
    inside.sum().backward()
    assert y.grad.tolist() == [2.0] * 3


def test_it_can_be_differentiated_again():
    @td.custom_gradient
    def cube(x):
        return x * x * x, lambda g: g * 3.0 * x * x

    x = td.tensor(X)
    np.testing.assert_allclose(td.hessian(lambda x: cube(x).sum())(x).numpy(), np.diag(6 * X))
    np.testing.assert_allclose(td.grad(lambda x: td.grad(
        lambda x: cube(x).sum())(x).sum())(x).numpy(), 6 * X)  # fmt: skip


def test_complex_numbers_go_by_the_convention_of_vjp():
    z = td.tensor(X + 1j * X[::-1])

    @td.custom_gradient
    def cubed(z):
        y, pullback = td.vjp(lambda z: z * z * z, z)
        return y, lambda g: pullback(g)[0]

    pushed = td.custom_jvp(lambda z: z * z * z)
    pushed.defjvp(lambda primals, tangents: td.jvp(lambda z: z * z * z, primals, tangents))
    wanted = td.grad(lambda z: abs(z * z * z).sum())(z).numpy()
    for f in (cubed, pushed):
        np.testing.assert_allclose(td.grad(lambda z, f=f: abs(f(z)).sum())(z).numpy(), wanted)
        mapped = td.vmap(td.grad(lambda z, f=f: abs(f(z))))(z)
        np.testing.assert_allclose(mapped.numpy(), wanted)
        moved = td.jvp(f, [z], [z])[1]
        np.testing.assert_allclose(moved.numpy(), 3 * z.numpy() ** 3)


@pytest.mark.parametrize("compiled", [False, True])
def test_rules_in_the_words_of_jax(compiled):
    pulled = td.custom_vjp(lambda x, y: x * y)
    pulled.defvjp(lambda x, y: (x * y, (x, y)), lambda saved, g: (g * saved[1] * 2.0, g * 7.0))
    pushed = td.custom_jvp(lambda x, y: x * y)

    @pushed.defjvp
    def _(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        return x * y, dx * y * 2.0 + dy * 7.0

    x, y = td.tensor(X), td.tensor(X + 1.0)
    for f in (pulled, pushed):
        slopes = td.grad(lambda x, y, f=f: f(x, y).sum(), argnums=(0, 1))
        by_x, by_y = (td.compile(slopes) if compiled else slopes)(x, y)
        np.testing.assert_allclose(by_x.numpy(), 2 * (X + 1))
        assert by_y.tolist() == [7.0] * 3
        moved = td.jvp(f, [x, y], [td.ones_like(x), td.ones_like(x)])[1]
        np.testing.assert_allclose(moved.numpy(), 2 * (X + 1) + 7)
        along = td.vmap(lambda x, f=f: td.jvp(f, [x, x], [x, x])[1])(x)
        np.testing.assert_allclose(along.numpy(), 2 * X * X + 7 * X)


def test_programs_do_not_differ_by_the_function(monkeypatch):
    made = []
    real = td.runtime.realize.compile_graph
    monkeypatch.setattr(
        td.runtime.realize, "compile_graph", lambda *parts: made.append(1) or real(*parts)
    )
    for _ in range(3):
        td.grad(lambda x: (straight(x) * 1.625).sum())(td.tensor(X)).numpy()
    assert len(made) <= 1


def test_what_is_refused():
    x = td.tensor(X)
    with pytest.raises(ArgumentError, match="no pullback"):
        td.custom_gradient(lambda x: x)(x)
    with pytest.raises(GradientError, match="defvjp"):
        td.custom_vjp(lambda x: x)(x)
    with pytest.raises(GradientError, match="defjvp"):
        td.custom_jvp(lambda x: x)(x)

    def wrong(pullback):
        return td.grad(lambda x: td.custom_gradient(lambda x, y: (x * y, pullback))(x, x).sum())

    with pytest.raises(ArgumentError, match="one for each"):
        wrong(lambda g: (g,))(x)
    with pytest.raises(ShapeError, match="shape"):
        wrong(lambda g: (g.sum(), g))(x)
    with pytest.raises(ArgumentError, match="nested like"):
        wrong(lambda g: (g, [g]))(x)
