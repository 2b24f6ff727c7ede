"""Transforms under vmap, jvp, grad and compile, and these under each other."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

CALLS = {
    "rfft": (lambda x: td.fft.rfft(x, axis=0), lambda x: np.fft.rfft(x, axis=1)),
    "prime": (lambda x: td.fft.fft(x, n=257), lambda x: np.fft.fft(x, n=257)),
    "irfft": (lambda x: td.fft.irfft(td.complex(x, 2 * x)), lambda x: np.fft.irfft(x * (1 + 2j))),
    "fftn": (lambda x: td.fft.fftn(x), lambda x: np.fft.fftn(x, axes=(1, 2))),
}


def signal(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def filtered(x):
    return td.fft.irfft(td.fft.rfft(x) * 2.0 + 1.0) ** 2


@pytest.mark.parametrize("name", CALLS)
def test_a_batch_is_its_members(name):
    ours, theirs = CALLS[name]
    x = signal(3, 4, 10)
    np.testing.assert_allclose(td.vmap(ours)(td.tensor(x)).numpy(), theirs(x), atol=1e-12)
    last = td.vmap(ours, in_axes=2)(td.tensor(np.moveaxis(x, 0, 2)))
    np.testing.assert_allclose(td.compile(lambda: last)().numpy(), theirs(x), atol=1e-12)


def test_tangents_are_slopes():
    x, v, step = signal(4, 10), signal(10, 4).T, 1e-6
    _, tangent = td.jvp(filtered, (td.tensor(x),), (td.tensor(v),))
    high, low = (filtered(td.tensor(x + s * step * v)).numpy() for s in (1, -1))
    np.testing.assert_allclose(tangent.numpy(), (high - low) / (2 * step), atol=1e-6)


def test_derivatives_of_a_batch_are_those_of_its_members():
    x = td.tensor(signal(3, 10))
    slope = td.grad(lambda x: (filtered(x) * filtered(x)).sum())
    np.testing.assert_allclose(td.vmap(slope)(x).numpy(), slope(x).numpy(), rtol=1e-12)
    np.testing.assert_allclose(
        td.jacfwd(filtered)(x[0]).numpy(), td.jacrev(filtered)(x[0]).numpy(), atol=1e-12
    )
