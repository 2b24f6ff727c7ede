"""Loops and branches under other transforms: vmap, forward mode, and pairs of these."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

BATCH, STEPS, WIDTH = 3, 4, 2


def draws(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [td.tensor(rng.uniform(-1, 1, shape)) for shape in shapes]


def close(found, expected, rtol=1e-11):
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=rtol, atol=1e-12)


def one_by_one(f, *args, axes):
    """What vmap means."""
    samples = [
        f(*[x if axis is None else x[n] for x, axis in zip(args, axes, strict=True)])
        for n in range(BATCH)
    ]
    return td.stack(samples)


def recurrent(c, xs, w):
    def step(c, x):
        new = td.tanh(c @ w + x)
        return new, c * x

    c, ys = td.scan(step, c, xs)
    return td.concat([c.reshape(-1), ys.reshape(-1)])


def counted(c, xs, w):
    """Carries of which one is the same for all samples, and a loop in the loop."""

    def step(carry, x):
        c, k = carry
        c = td.fori_loop(0, 2, lambda i, c: td.sin(c @ w) * (i + 1), c) + x * k
        return (c, k + 1.0), k

    (c, k), ys = td.scan(step, (c, td.tensor(0.0, dtype="float64")), xs, reverse=True)
    return td.concat([c.reshape(-1), k.reshape(1), ys])


def branching(c, xs, w):
    c = td.cond(c.sum() > 0, lambda c: td.sin(c) @ w, lambda c: c * 2, c)
    k = (c.sum() * 3).cast("int64")
    return td.switch(k, [lambda c: c * xs[0], lambda c: td.exp(c), lambda c: c + w[0]], c)


def until(c, xs, w):
    c, k = td.while_loop(
        lambda s: (s[0] * s[0]).sum() < 9, lambda s: (s[0] * 1.5 + xs[0], s[1] + 1), (c, 0)
    )
    return c + k


def bounded(c, xs, w):
    return td.while_loop(
        lambda c: (c * c).sum() < 9, lambda c: c * 1.5 + xs[1], c, max_steps=9
    )  # fmt: skip


FUNCTIONS = [recurrent, counted, branching, until, bounded]
AXES = [(0, 0, 0), (0, None, None), (None, 0, None), (None, None, 0), (0, 0, None)]
functions = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
smooth = pytest.mark.parametrize(
    "f", [recurrent, counted, branching, bounded], ids=lambda f: f.__name__
)


def arguments(axes, seed=0):
    shapes = [(WIDTH,), (STEPS, WIDTH), (WIDTH, WIDTH)]
    pairs = zip(shapes, axes, strict=True)
    return draws(seed, *[shape if axis is None else (BATCH, *shape) for shape, axis in pairs])


@functions
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_vmap(f, axes):
    args = arguments(axes)
    expected = one_by_one(f, *args, axes=axes)
    close(td.vmap(f, in_axes=axes)(*args), expected)
    close(td.compile(td.vmap(f, in_axes=axes))(*args), expected)


@smooth
def test_vmap_of_grad(f):
    args = arguments((0, 0, None), 1)
    slope = td.grad(lambda *xs: (f(*xs) ** 2).sum(), argnums=2)
    expected = one_by_one(slope, *args, axes=(0, 0, None))
    close(td.vmap(slope, in_axes=(0, 0, None))(*args), expected)
    close(td.compile(td.vmap(slope, in_axes=(0, 0, None)))(*args), expected)


@smooth
def test_grad_of_vmap(f):
    args = arguments((0, None, None), 2)

    def total(run):
        return lambda *xs: (run(*xs) ** 2).sum()

    mapped = total(td.vmap(f, in_axes=(0, None, None)))
    looped = total(lambda *xs: one_by_one(f, *xs, axes=(0, None, None)))
    for k in range(3):
        expected = td.grad(looped, argnums=k)(*args)
        close(td.grad(mapped, argnums=k)(*args), expected)
        close(td.compile(td.grad(mapped, argnums=k))(*args), expected)


@smooth
def test_jvp_is_the_slope(f):
    args, along = arguments((None,) * 3, 3), arguments((None,) * 3, 4)
    value, change = td.jvp(f, args, along)
    close(value, f(*args))
    near = 2.0**-17
    ahead, behind = (
        f(*[x + t * (sign * near) for x, t in zip(args, along, strict=True)]) for sign in (1, -1)
    )
    close(change, (ahead - behind) / (2 * near), 1e-6)
    close(td.compile(lambda *xs: td.jvp(f, xs, along)[1])(*args), change)


@smooth
def test_jvp_of_grad_and_grad_of_jvp(f):
    args, along = arguments((None,) * 3, 5), arguments((None,) * 3, 6)

    def loss(*xs):
        return (f(*xs) ** 2).sum()

    slope = td.grad(loss, argnums=(0, 1, 2))
    twice = td.jvp(slope, args, along)[1]
    other = td.grad(lambda *xs: td.jvp(loss, xs, along)[1], argnums=(0, 1, 2))(*args)
    reverse = td.grad(
        lambda *xs: sum((g * t).sum() for g, t in zip(slope(*xs), along, strict=True)),
        argnums=(0, 1, 2),
    )(*args)
    for a, b, c in zip(twice, other, reverse, strict=True):
        close(a, c, 1e-9)
        close(b, c, 1e-9)
