"""Transforms of functions against torch.func, on the same functions and numbers."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch.fx"),
]

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4))
W = RNG.normal(size=(4, 4))


def ours(*arrays):
    return [td.tensor(x) for x in arrays]


def theirs(*arrays):
    return [torch.tensor(x) for x in arrays]


def mixed(lib, x, y):
    """A vector from two, by ops that both call the same."""
    return lib.tanh(x * y) + lib.exp(-x * x) * lib.sin(y).sum()


def energy(lib, x, y):
    return (mixed(lib, x, y) ** 2).sum()


CASES = {
    "vmap": lambda t, m, x, y: m.vmap(lambda x, y: mixed(t, x, y))(x, y),
    "in and out": lambda t, m, x, y: m.vmap(
        lambda x, y: mixed(t, x, y), in_dims=(1, None), out_dims=1)(x.T, y[0]),
    "vmap of grad": lambda t, m, x, y: m.vmap(m.grad(lambda x, y: energy(t, x, y)))(x, y),
    "grad of vmap": lambda t, m, x, y: m.grad(
        lambda x: m.vmap(lambda x, y: energy(t, x, y))(x, y).sum())(x),
    "jacrev": lambda t, m, x, y: m.jacrev(lambda x: mixed(t, x, y[0]))(x[0]),
    "jacfwd": lambda t, m, x, y: m.jacfwd(lambda x: mixed(t, x, y[0]))(x[0]),
    "jacrev by two": lambda t, m, x, y: m.jacrev(
        lambda x, y: mixed(t, x, y), argnums=(0, 1))(x[0], y[0]),
    "hessian": lambda t, m, x, y: m.hessian(lambda x: energy(t, x, y[0]))(x[0]),
    "vmap of hessian": lambda t, m, x, y: m.vmap(
        m.hessian(lambda x, y: energy(t, x, y)))(x, y),
    "jvp": lambda t, m, x, y: m.jvp(lambda x, y: mixed(t, x, y), (x[0], y[0]), (x[1], y[1])),
    "vmap of jvp": lambda t, m, x, y: m.vmap(
        lambda x, y: m.jvp(lambda x: energy(t, x, y), (x,), (y,))[1])(x, y),
    "jvp of grad": lambda t, m, x, y: m.jvp(
        m.grad(lambda x: energy(t, x, y[0])), (x[0],), (x[1],)),
    "linearize": lambda t, m, x, y: m.linearize(
        lambda x: mixed(t, x, y[0]), x[0])[1](x[1]),
    "vjp of vmap": lambda t, m, x, y: m.vjp(
        m.vmap(lambda x, y: mixed(t, x, y)), x, y)[1](x),
    "maps nested": lambda t, m, x, y: m.vmap(
        m.vmap(lambda x, y: energy(t, x, y), in_dims=(None, 0)), in_dims=(0, None))(x, y),
}  # fmt: skip


def flat(found):
    if isinstance(found, list | tuple):
        return [x for part in found for x in flat(part)]
    return [found.detach().numpy()]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_transforms_give_what_theirs_give(name, compiled):
    wanted = flat(CASES[name](torch, torch.func, *theirs(X, Y)))
    f = lambda x, y: CASES[name](td, td, x, y)  # noqa: E731
    found = flat((td.compile(f) if compiled else f)(*ours(X, Y)))
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)
