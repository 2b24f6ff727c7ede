"""grad, vjp, jvp, jacobian, hessian and checkpoint, against differences and known results."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, GradientError, ShapeError
from treadle.transforms.checkpoint import checkpoint
from treadle.transforms.forward import jvp
from treadle.transforms.grad import grad, value_and_grad, vjp
from treadle.transforms.jacobian import hessian, jacfwd, jacobian, jacrev

STEP = 1e-6


def random(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape)


def differences(f, x):
    """The Jacobian of a function of one array, by central differences."""
    columns = []
    for k in range(x.size):
        near = []
        for sign in (1, -1):
            moved = x.copy()
            moved.reshape(-1)[k] += sign * STEP
            near.append(f(td.tensor(moved)).numpy().astype(np.float64))
        columns.append((near[0] - near[1]) / (2 * STEP))
    shape = columns[0].shape
    return np.stack(columns, -1).reshape(shape + x.shape)


FUNCTIONS = {
    "same shape": (lambda x: td.sin(x) * x, (3,)),
    "matrix to vector": (lambda x: (x * x).sum(axis=1), (2, 3)),
    "vector to matrix": (lambda x: x.reshape(-1, 1) * td.exp(x), (3,)),
    "scalar to scalar": (lambda x: x * x * x, ()),
    "scalar to vector": (lambda x: x * td.tensor(np.array([1.0, 2.0])), ()),
    "vector to scalar": (lambda x: td.tanh(x).sum(), (4,)),
    "matrix to matrix": (lambda x: x @ x.T, (2, 3)),
    "many rows": (lambda x: td.exp(x), (40,)),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_are_what_differences_say(name, compiled):
    f, shape = FUNCTIONS[name]
    x = random(*shape)
    made = td.compile(jacobian(f)) if compiled else jacobian(f)
    found = made(td.tensor(x)).numpy()
    np.testing.assert_allclose(found, differences(f, x), rtol=1e-6, atol=1e-8)


def test_jacobians_of_several_arguments():
    x, y = random(2), random(3, seed=1)
    by_x, by_y = jacobian(lambda x, y: x.reshape(2, 1) * y, argnums=(0, 1))(
        td.tensor(x), td.tensor(y)
    )
    np.testing.assert_allclose(by_x.numpy(), np.einsum("ik,j->ijk", np.eye(2), y))
    np.testing.assert_allclose(by_y.numpy(), np.einsum("i,jk->ijk", x, np.eye(3)))


def test_jacobians_of_nothing():
    assert jacobian(lambda x: x * x)(td.zeros(0)).shape == (0, 0)
    assert jacobian(lambda x: td.zeros(2))(td.zeros(3)).tolist() == [[0.0] * 3] * 2
    with pytest.raises(GradientError, match="jacobian"):
        jacobian(lambda x: 3.0)(td.ones(2))
    with pytest.raises(GradientError, match="int64"):
        jacobian(lambda x: td.arange(3))(td.ones(2))


@pytest.mark.parametrize("compiled", [False, True])
def test_hessians_are_differences_of_gradients(compiled):
    def f(x):
        return (td.exp(x[0] * x[1]) + td.sin(x[2]) * x[0]).sum()

    x = random(3)
    made = td.compile(hessian(f)) if compiled else hessian(f)
    found = made(td.tensor(x)).numpy()
    np.testing.assert_allclose(found, differences(grad(f), x), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found, found.T, rtol=1e-12)


def test_the_hessian_of_a_quadratic_form_and_of_a_matrix():
    a = random(3, 3)
    found = hessian(lambda x: (x @ td.tensor(a) @ x) * 0.5)(td.tensor(random(3)))
    np.testing.assert_allclose(found.numpy(), (a + a.T) / 2, rtol=1e-12)
    found = hessian(lambda x: (x * x * x).sum())(td.tensor(random(2, 2)))
    diagonal = 6 * random(2, 2).reshape(-1)
    np.testing.assert_allclose(found.numpy().reshape(4, 4), np.diag(diagonal), rtol=1e-12)


@pytest.mark.parametrize("transform", [jacobian, jacrev, jacfwd])
def test_all_rows_are_one_program(transform, monkeypatch):
    made = []
    real = td.runtime.realize.compile_graph
    monkeypatch.setattr(
        td.runtime.realize, "compile_graph", lambda *parts: made.append(1) or real(*parts)
    )
    x = random(31)
    found = transform(lambda x: td.sin(x) * td.exp(x) + x[0] * len(transform.__name__))(
        td.tensor(x)
    )
    diagonal = np.exp(x) * (np.sin(x) + np.cos(x))
    wanted = np.diag(diagonal)
    wanted[:, 0] += len(transform.__name__)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12)
    assert len(made) == 1


def test_jacobians_are_nested_by_results_first():
    x, y = random(2), random(3, seed=1)
    f = lambda p, y: {"a": p["x"] * y[0], "b": [y * 2.0, p["x"].sum()]}  # noqa: E731
    for transform in (jacrev, jacfwd):
        found = transform(f, argnums=(0, 1))({"x": td.tensor(x)}, td.tensor(y))
        by_x, by_y = found["a"]
        np.testing.assert_allclose(by_x["x"].numpy(), np.eye(2) * y[0])
        np.testing.assert_allclose(by_y.numpy(), np.outer(x, [1, 0, 0]))
        assert found["b"][0][0]["x"].tolist() == [[0.0] * 2] * 3
        assert found["b"][1][0]["x"].tolist() == [1.0, 1.0]
        found, aux = transform(lambda x: (x * x, "kept"), has_aux=True)(td.tensor(x))
        np.testing.assert_allclose(found.numpy(), np.diag(2 * x))
        assert aux == "kept"
        with pytest.raises(GradientError, match="no argument 1"):
            transform(lambda x: x, argnums=1)(td.tensor(x))


def test_jacobians_of_complex_numbers():
    z = random(3) + 1j * random(3, seed=1)
    for transform in (jacrev, jacfwd):
        found = transform(lambda z: z * z * (1.0 + 2.0j))(td.tensor(z)).numpy()
        np.testing.assert_allclose(found, np.diag(2 * z * (1 + 2j)), rtol=1e-12)
    x = td.tensor(random(3))
    found = jacfwd(lambda x: x * (1.0 + 2.0j))(x).numpy()
    np.testing.assert_allclose(found, np.eye(3) * (1 + 2j))
    with pytest.raises(GradientError, match="jacfwd"):
        jacrev(lambda x: x * (1.0 + 2.0j))(x)


def test_what_a_transform_followed_is_followed_no_more():
    def inside(x):
        s = (x * x).sum()
        return grad(lambda y: (s * y * y).sum())(td.tensor([1.0, 2.0])).sum()

    x = td.tensor([1.0, 2.0])
    value, slope = value_and_grad(inside)(x)
    assert slope.tolist() == [12.0, 24.0]
    results = [value, slope, *jvp(inside, [x], [x]), jacrev(inside)(x), jacfwd(inside)(x)]
    assert not any(y.requires_grad for y in results)
    w = td.tensor([1.0, 1.0]).requires_grad_()
    jacrev(lambda x: x * w * w)(x).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]


# ---- products with Jacobians


def test_pulling_back_multiplies_from_the_left():
    x, u = random(2, 3), random(2, 2, seed=1)
    y, pullback = vjp(lambda x: x @ x.T, td.tensor(x))
    np.testing.assert_allclose(y.numpy(), x @ x.T)
    expected = np.einsum("ij,ijkl->kl", u, differences(lambda x: x @ x.T, x))
    for _ in range(2):
        (found,) = pullback(td.tensor(u))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_pulling_back_nested_results():
    x, y = td.tensor([1.0, 2.0]), td.tensor(3.0)
    _, pullback, aux = vjp(lambda x, y: ({"a": x * y, "b": [x.sum()]}, "kept"), x, y, has_aux=True)
    assert aux == "kept"
    by_x, by_y = pullback({"a": td.tensor([1.0, 10.0]), "b": [td.tensor(100.0)]})
    assert (by_x.tolist(), by_y.item()) == ([103.0, 130.0], 21.0)
    with pytest.raises(ArgumentError, match="form"):
        pullback([td.ones(2), td.ones(())])
    with pytest.raises(ShapeError):
        pullback({"a": td.ones(3), "b": [td.tensor(1.0)]})


@pytest.mark.parametrize("compiled", [False, True])
def test_pushing_forward_multiplies_from_the_right(compiled):
    f = lambda x: td.tanh(x @ x.T)  # noqa: E731
    x, v = random(2, 3), random(2, 3, seed=1)
    made = lambda x, v: jvp(f, [x], [v])  # noqa: E731
    y, change = (td.compile(made) if compiled else made)(td.tensor(x), td.tensor(v))
    np.testing.assert_allclose(y.numpy(), np.tanh(x @ x.T), rtol=1e-6)
    expected = np.einsum("ijkl,kl->ij", differences(f, x), v)
    np.testing.assert_allclose(change.numpy(), expected, rtol=1e-6)


def test_pushing_forward_several_arguments():
    x, y = td.tensor([1.0, 2.0]), td.tensor([3.0, 4.0])
    _, change = jvp(lambda x, y: (x * y, x), [x, y], [td.ones(2), td.tensor([10.0, 0.0])])
    assert [c.tolist() for c in change] == [[13.0, 4.0], [1.0, 1.0]]
    with pytest.raises(ShapeError, match="jvp"):
        jvp(lambda x: x, [td.ones(2)], [td.ones(3)])


def test_grad_returns_what_else_a_function_gives():
    f = lambda x: ((x * x).sum(), {"x": x})  # noqa: E731
    x = td.tensor([1.0, 2.0])
    (value, aux), found = value_and_grad(f, has_aux=True)(x)
    assert (value.item(), aux["x"].tolist(), found.tolist()) == (5.0, [1.0, 2.0], [2.0, 4.0])
    found, aux = grad(f, has_aux=True)(x)
    assert found.tolist() == [2.0, 4.0]
    with pytest.raises(ArgumentError, match="has_aux"):
        grad(lambda x: x.sum(), has_aux=True)(x)
    with pytest.raises(GradientError, match="scalar"):
        grad(lambda x: x.sum().cast("int32"))(x)


def test_functional_gradients_follow_the_switches():
    x = td.tensor([1.0, 2.0])
    with td.no_grad():
        assert grad(lambda x: (x * x).sum())(x).tolist() == [2.0, 4.0]

    def f(x):
        with td.no_grad():
            y = x * x
        return (y * x).sum()

    assert grad(f)(x).tolist() == [1.0, 4.0]
    assert not x.requires_grad


# ---- checkpoint

WIDTH, BATCH, LAYERS = 32, 128, 6


def network(keep, nested=False):
    rng = np.random.default_rng(0)
    weights = [
        td.tensor((rng.normal(size=(WIDTH, WIDTH)) / 6).astype(np.float32)).requires_grad_()
        for _ in range(3 * LAYERS)
    ]

    def layer(h, k):
        for w in weights[3 * k : 3 * k + 3]:
            h = td.tanh(h @ w)
        return h

    def layers(h):
        for k in range(LAYERS):
            h = layer(h, k) if keep else checkpoint(layer, h, k)
        return h

    def step(x):
        for w in weights:
            w.grad = None
        h = checkpoint(layers, x) if nested else layers(x)
        loss = (h * h).mean()
        loss.backward()
        return [loss, *[w.grad for w in weights]]

    return step


@pytest.mark.parametrize("compiled", [False, True])
def test_checkpoints_change_no_gradient(compiled):
    x = td.tensor(random(BATCH, WIDTH).astype(np.float32))
    steps = [network(keep) for keep in (True, False)]
    plain, saved = ((td.compile(step) if compiled else step)(x) for step in steps)
    for a, b in zip(plain, saved, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_checkpoints_need_less_memory_and_more_work():
    x = td.tensor(random(BATCH, WIDTH).astype(np.float32))
    plain, saved = (td.explain(network(keep), x) for keep in (True, False))
    assert saved.arena_bytes < 0.6 * plain.arena_bytes
    assert sum(row.flops for row in saved.rows) > 1.2 * sum(row.flops for row in plain.rows)


def test_checkpoints_within_checkpoints_are_still_checkpoints():
    x = td.tensor(random(BATCH, WIDTH).astype(np.float32))
    outer, both = (td.explain(network(keep, nested=True), x) for keep in (True, False))
    assert both.arena_bytes < 0.6 * outer.arena_bytes


def test_checkpoints_within_checkpoints():
    x = td.tensor(random(4)).requires_grad_()
    inner = lambda x: td.sin(td.exp(x))  # noqa: E731
    outer = lambda x: td.tanh(checkpoint(inner, x)) * checkpoint(inner, x * 2.0)  # noqa: E731
    checkpoint(outer, x).sum().backward()
    expected = differences(lambda x: (td.tanh(inner(x)) * inner(x * 2.0)).sum(), x.numpy())
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6)


def test_checkpoints_of_several_results_and_closed_over_values():
    x, w = td.tensor(random(3)).requires_grad_(), td.tensor(random(3, seed=1)).requires_grad_()
    before = w * 2.0

    def f(x, scale):
        return {"a": td.sin(x * before) * scale, "b": x * w, "same": x, "outside": before * w}

    def total(parts):
        return sum((parts[name] * (k + 1.0)).sum() for k, name in enumerate(sorted(parts)))

    found = td.gradients(total(checkpoint(f, x, scale=3.0)), [x, w])
    expected = td.gradients(total(f(x, scale=3.0)), [x, w])
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)


def test_checkpoints_have_second_derivatives():
    f = lambda x: td.exp(td.sin(x)).sum()  # noqa: E731
    x = td.tensor(random(3))
    found = hessian(lambda x: checkpoint(f, x))(x)
    np.testing.assert_allclose(found.numpy(), hessian(f)(x).numpy(), rtol=1e-12)


def test_checkpoints_draw_the_same_random_numbers_again():
    x = td.tensor(random(1000)).requires_grad_()
    td.manual_seed(3)
    y = checkpoint(
        lambda x: x * (td.random.uniform(1000, dtype="float64") > 0.5).cast("float64"), x
    )
    mask = y.numpy() != 0
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy() != 0, mask)


def test_checkpoints_without_gradients_are_plain_calls():
    assert checkpoint(lambda x: x * 2.0, td.ones(2)).tolist() == [2.0, 2.0]
    with td.no_grad():
        assert not checkpoint(lambda x: x * 2.0, td.ones(2).requires_grad_()).requires_grad
    with pytest.raises(ArgumentError, match="checkpoint"):
        checkpoint(lambda: td.ones(2))


def test_derivatives_by_the_result_of_a_compiled_function():
    y = td.compile(lambda x: x * 2.0)(td.tensor(1.5))
    cube = lambda v: v * v * v  # noqa: E731
    assert td.grad(cube)(y).item() == 27.0
    assert td.grad(td.grad(cube))(y).item() == 18.0
    assert td.compile(td.grad(cube))(y).item() == 27.0
    assert td.vjp(cube, y)[1](td.tensor(1.0))[0].item() == 27.0
