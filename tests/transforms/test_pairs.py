"""Every transform of every transform, lazily and compiled, against differences of long doubles.

A transform here takes a function from a vector to a number to another such function, and has a
counterpart that uses nothing but values: differences, and Python loops for batches.
"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.testing.samples import REFERENCE

X = np.array([0.4, -0.7, 1.1])
V = np.array([1.0, -0.5, 0.25])
W = np.array([[0.3, -1.2, 0.5], [0.8, 0.1, -0.4], [-0.6, 0.9, 0.2]])
SCALES = np.array([1.0, -0.5])
STEP = np.longdouble(1e-3)


def f(x):
    w = td.tensor(W, device=x.device)
    mixed = td.softmax(w @ x) * td.sin(x)
    return (mixed.sum() + td.exp(x[0] * x[1]) * 0.3 + td.logsumexp(x[1:]) + td.tanh(x) @ x) * 0.5


def f_by_numpy(x):
    e = np.exp(W @ x)
    mixed = e / e.sum() * np.sin(x)
    last = np.log(np.exp(x[1:]).sum()) + np.tanh(x) @ x
    return (mixed.sum() + np.exp(x[0] * x[1]) * 0.3 + last) * 0.5


def along(f):
    """The derivative along V, to the fourth order of the step."""

    def slope(x):
        near = [f(x + k * STEP * V) for k in (-2, -1, 1, 2)]
        return (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * STEP)

    return slope


def v_like(x):
    return td.tensor(V, device=x.device)


def scales_like(x):
    return td.tensor(SCALES, device=x.device)


def scaled(x):
    return scales_like(x).reshape(-1, 1) * x


def looped(f):
    return lambda x: sum(f(x * s) for s in SCALES)


def same(f):
    return f


def through_custom(f):
    """f with its own gradient, given by hand."""

    @td.custom_gradient
    def wrapped(x):
        y, pullback = td.vjp(f, x)
        return y, lambda g: pullback(g)[0]

    return wrapped


def through_custom_jvp(f):
    wrapped = td.custom_jvp(f)
    wrapped.defjvp(lambda primals, tangents: td.jvp(f, primals, tangents))
    return wrapped


TRANSFORMS = {
    "grad": (lambda f: lambda x: td.grad(f)(x) @ v_like(x), along),
    "vjp": (lambda f: lambda x: td.vjp(f, x)[1](td.ones_like(f(x)))[0] @ v_like(x), along),
    "jvp": (lambda f: lambda x: td.jvp(f, [x], [v_like(x)])[1], along),
    "linearize": (lambda f: lambda x: td.linearize(f, x)[1](v_like(x)), along),
    "jacfwd": (lambda f: lambda x: td.jacfwd(f)(x) @ v_like(x), along),
    "jacrev": (lambda f: lambda x: td.jacrev(f)(x) @ v_like(x), along),
    "hessian": (lambda f: lambda x: v_like(x) @ td.hessian(f)(x) @ v_like(x),
                lambda f: along(along(f))),
    "vmap": (lambda f: lambda x: td.vmap(f)(scaled(x)).sum(), looped),
    "vmap along 1": (lambda f: lambda x: td.vmap(f, in_axes=1)(scaled(x).T).sum(), looped),
    "scan": (lambda f: lambda x: td.scan(
        lambda total, s: (total + f(x * s), None), td.zeros_like(x[0]), scales_like(x))[0], looped),
    "cond": (lambda f: lambda x: td.cond(x[0] < 9.0, f, lambda x: x.sum(), x), same),
    "checkpoint": (lambda f: lambda x: td.checkpoint(f, x), same),
    "compile": (td.compile, same),
    "custom gradient": (through_custom, same),
    "custom jvp": (through_custom_jvp, same),
}  # fmt: skip
ORDER = {"hessian": 2, "grad": 1, "vjp": 1, "jvp": 1, "linearize": 1, "jacfwd": 1, "jacrev": 1}


def checked(names, compiled):
    made, wanted = f, f_by_numpy
    for name in reversed(names):
        ours, theirs = TRANSFORMS[name]
        made, wanted = ours(made), theirs(wanted)
    found = td.compile(made)(td.tensor(X)) if compiled else made(td.tensor(X, device=REFERENCE))
    order = sum(ORDER.get(name, 0) for name in names)
    expected = float(wanted(X.astype(np.longdouble)))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10 * 20**order)


@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_pairs(outer, inner):
    checked((outer, inner), compiled=False)


@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_compiled_pairs(outer, inner):
    checked((outer, inner), compiled=True)


@pytest.mark.parametrize(
    "names",
    [
        ("vmap", "grad", "vmap"), ("grad", "vmap", "grad"), ("vmap", "vmap", "jvp"),
        ("vmap", "hessian", "vmap"), ("jvp", "vmap", "jvp"), ("grad", "grad", "grad"),
        ("vmap", "checkpoint", "grad"), ("grad", "vmap", "custom gradient"),
        ("jvp", "vmap", "custom jvp"), ("vmap", "vmap", "hessian"), ("vmap", "jacrev", "jacfwd"),
    ],
    ids="-".join,
)  # fmt: skip
def test_three_at_once(names):
    checked(names, compiled=False)
