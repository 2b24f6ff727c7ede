"""Loops and branches of samples and along tangents, against Python loops and differences."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

RNG = np.random.default_rng(0)
XS, C, W = RNG.normal(size=(4, 5, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3, 3)) * 0.5
SIGNS = np.array([[1.0, 2.0], [-3.0, 1.0], [0.5, 0.1], [-1.0, -1.0]])


def recurrent(xs, c, w):
    return td.scan(lambda h, x: (td.tanh(h @ w + x), (h * x).sum()), c, xs)


def slopes(xs, c, w):
    def total(*given):
        last, each = recurrent(*given)
        return last.sum() + (each**2).sum()

    return td.grad(total, argnums=(0, 1, 2))(xs, c, w)


def halving(x):
    return td.while_loop(lambda s: s[0] < 20.0, lambda s: (s[0] * 1.5 + x, s[1] + 1), (x, 0))


def counted(x):
    """Every sample does as many steps."""
    zero = td.tensor(0, device=x.device)
    return td.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * x), (zero, x))[1]


def bounded(x):
    f = lambda x: td.while_loop(lambda s: s < 10.0, lambda s: s * x + 1.0, x, max_steps=6)  # noqa: E731
    return td.grad(f)(x)


def chosen(x):
    return td.cond(x.sum() > 0, lambda x: x * x, lambda x: td.sin(x), x)


def slope_of_chosen(x):
    return td.grad(lambda x: chosen(x).sum())(x)


def by_others(x, p):
    return td.cond(p.sum() > 0, lambda x: (x * 2.0, p), lambda x: (td.sin(x), p), x)


def switched(x):
    index = (x[0] + 1.0).cast("int64")
    return td.switch(index, [lambda x: x * 2.0, lambda x: td.sin(x), lambda x: x * 0.0 + 3.0], x)


NUMBERS = np.array([1.2, 2.0, 7.5, 30.0])
CASES = {
    "scan over xs": (recurrent, (0, None, None), (XS, C[0], W[0])),
    "scan from carries": (recurrent, (None, 0, None), (XS[0], C, W[0])),
    "scan by matrices": (recurrent, (None, None, 0), (XS[0], C[0], W)),
    "scan of all": (recurrent, (1, 0, 2), (XS.swapaxes(0, 1), C, np.moveaxis(W, 0, 2))),
    "slopes over xs": (slopes, (0, None, None), (XS, C[0], W[0])),
    "slopes of all": (slopes, (0, 0, 0), (XS, C, W)),
    "backwards": (lambda x: td.scan(lambda h, x: (h * x, h), x[0], x, reverse=True), (0,), (XS,)),
    "while": (halving, (0,), (NUMBERS,)),
    "while together": (counted, (0,), (NUMBERS,)),
    "while with a bound": (bounded, (0,), (NUMBERS,)),
    "fori": (lambda x: td.fori_loop(0, 5, lambda i, s: s * x + i, x), (0,), (NUMBERS,)),
    "map": (lambda x: td.map(lambda row: td.softmax(row) @ row, x), (0,), (XS,)),
    "cond": (chosen, (0,), (SIGNS,)),
    "slope of cond": (slope_of_chosen, (0,), (SIGNS,)),
    "cond by others": (by_others, (0, None), (SIGNS, SIGNS[0])),
    "switch": (switched, (0,), (SIGNS,)),
}


def leaves(found):
    return list(found) if isinstance(found, list | tuple) else [found]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_samples_of_loops_and_branches(name, compiled):
    f, axes, arrays = CASES[name]
    mapped = td.vmap(f, in_axes=axes)
    found = (td.compile(mapped) if compiled else mapped)(*map(td.tensor, arrays))
    each = []
    for n in range(4):
        pairs = zip(arrays, axes, strict=True)
        own = [x if axis is None else np.take(x, n, axis) for x, axis in pairs]
        each.append([y.numpy() for y in leaves(f(*map(td.tensor, own)))])
    for mine, wanted in zip(leaves(found), zip(*each, strict=True), strict=True):
        np.testing.assert_allclose(mine.numpy(), np.stack(wanted), rtol=1e-12, atol=1e-13)


def shifted(arrays, along, step):
    return [x + step * t for x, t in zip(arrays, along, strict=True)]


ALONG = {
    "scan": (recurrent, (XS[0], C[0], W[0])),
    "slopes of scan": (slopes, (XS[0], C[0], W[0])),
    "backwards": (CASES["backwards"][0], (XS[0],)),
    "while": (lambda x: halving(x)[0], (np.array(2.2),)),
    "cond": (chosen, (SIGNS[0],)),
    "other branch": (chosen, (SIGNS[3],)),
    "slope of cond": (slope_of_chosen, (SIGNS[0],)),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", ALONG)
def test_changes_of_loops_and_branches(name, compiled):
    f, arrays = ALONG[name]
    tangents = [RNG.normal(size=x.shape) for x in arrays]
    for moving in range(len(arrays) + 1):  # by each argument alone, and by all
        along = [t if moving in (k, len(arrays)) else t * 0 for k, t in enumerate(tangents)]

        def moved(*given):
            return td.jvp(f, given[: len(arrays)], given[len(arrays) :])[1]

        found = (td.compile(moved) if compiled else moved)(*map(td.tensor, (*arrays, *along)))
        near = [
            [y.numpy() for y in leaves(f(*(td.tensor(x) for x in shifted(arrays, along, step))))]
            for step in (1e-6, -1e-6)
        ]
        for mine, more, less in zip(leaves(found), *near, strict=True):
            np.testing.assert_allclose(mine.numpy(), (more - less) / 2e-6, rtol=1e-6, atol=1e-7)


@td.custom_gradient
def odd(x, y):
    return x * y, lambda g: (g * y * 2.0, g * x * 3.0)


@td.custom_gradient
def odder(x, y):
    return x * y, lambda g: (g * y * 5.0, g * x * 7.0)


@pytest.mark.parametrize("product", [odd, odder])
def test_gradients_of_ones_own_inside_loops(product):
    """Bodies that differ in nothing else are told apart, mapped and pushed forward."""

    def looped(xs, c):
        return td.scan(lambda h, x: (product(h, x) + 1.0, None), c, xs)[0].sum()

    def unrolled(xs, c):
        for k in range(5):
            c = product(c, xs[k]) + 1.0
        return c.sum()

    xs, c = td.tensor(XS[0]), td.tensor(C)

    def results(f):
        slope = td.grad(f, argnums=(0, 1))
        whole = td.grad(lambda xs, c: td.vmap(f, in_axes=(None, 0))(xs, c).sum(), argnums=(0, 1))
        return [
            *slope(xs, c[0]), *td.compile(slope)(xs, c[0]),
            *td.vmap(slope, in_axes=(None, 0))(xs, c), *whole(xs, c),
            td.jvp(f, (xs, c[0]), (xs, c[1]))[1],
        ]  # fmt: skip

    for mine, other in zip(results(looped), results(unrolled), strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-10)

    def branching(x):
        return td.cond(x[0] > 0, lambda x: product(x, x).sum(), lambda x: -product(x, x).sum(), x)

    slope = td.grad(lambda c: td.vmap(branching)(c).sum())(c).numpy()
    factor = 5.0 if product is odd else 12.0
    np.testing.assert_allclose(slope, factor * C * np.sign(C[:, :1]), rtol=1e-10)


def test_draws_of_samples_differ_at_every_step():
    f = lambda x: td.scan(lambda h, _: (h, td.rand(2)), x, length=3)[1]  # noqa: E731
    found = td.vmap(f)(td.zeros(4, 2)).numpy()
    assert len(np.unique(found)) == found.size == 24


def test_second_derivatives_of_loops():
    f = lambda c: recurrent(td.tensor(XS[0]), c, td.tensor(W[0]))[0].sum()  # noqa: E731
    c = td.tensor(C[0])
    forward, back = td.jacfwd(td.grad(f))(c).numpy(), td.jacrev(td.grad(f))(c).numpy()
    np.testing.assert_allclose(forward, back, rtol=1e-10)
    each = td.vmap(td.hessian(f))(td.tensor(C)).numpy()
    np.testing.assert_allclose(each[0], forward, rtol=1e-10)
