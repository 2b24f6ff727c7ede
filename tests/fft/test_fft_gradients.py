"""Gradients of transforms against finite differences, and of gradients, in float64."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.testing.gradcheck import gradcheck

STEP = 1e-6


def weighed(y, seed):
    """A scalar of both parts of a tensor, not linear in it."""
    rng = np.random.default_rng(seed)
    weights = [td.tensor(rng.standard_normal(y.shape)) for _ in range(3)]
    re, im = td.real(y), td.imag(y)
    return (re * re * weights[0] + im * weights[1] + re * im * weights[2]).sum()


CALLS = {
    "fft": (lambda z: td.fft.fft(z), True), "ifft": (lambda z: td.fft.ifft(z, 5), True),
    "fft of reals": (lambda x: td.fft.fft(x, axis=0), False),
    "rfft": (lambda x: td.fft.rfft(x), False), "rfft odd": (lambda x: td.fft.rfft(x, 7), False),
    "irfft": (lambda z: td.fft.irfft(z), True), "irfft odd": (lambda z: td.fft.irfft(z, 9), True),
    "hfft": (lambda z: td.fft.hfft(z, norm="ortho"), True),
    "ihfft": (lambda x: td.fft.ihfft(x), False),
    "fftn": (lambda z: td.fft.fftn(z), True), "rfftn": (lambda x: td.fft.rfftn(x), False),
    "irfftn": (lambda z: td.fft.irfftn(z, (4, 6)), True),
    "prime": (lambda z: td.fft.fft(z, 257), True),
    "prime of reals": (lambda x: td.fft.rfft(x, 514), False),
    "stft": (lambda x: td.stft(x, 4, window=td.hann_window(4, dtype=td.float64)), False),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_slopes(name):
    call, is_complex = CALLS[name]

    def function(re, im):
        return weighed(call(td.complex(re, im) if is_complex else re + im), 3)

    rng = np.random.default_rng(0)
    gradcheck(function, [rng.standard_normal((3, 6)) for _ in range(2)])


@pytest.mark.parametrize("name", CALLS)
def test_second_derivatives_are_slopes_of_first_ones(name):
    call, is_complex = CALLS[name]

    def slope(re):
        value = weighed(call(td.complex(re, re * 0.5) if is_complex else re), 4)
        (found,) = td.gradients(value, [re])
        return found

    def function(re):
        return slope(re * 1.0)

    x = np.random.default_rng(1).standard_normal((2, 5))
    gradcheck(function, [x])


def test_the_gradient_of_a_complex_tensor_points_where_the_value_grows():
    rng = np.random.default_rng(2)
    z = rng.standard_normal((3, 8)) + 1j * rng.standard_normal((3, 8))

    def value(z):
        return weighed(td.fft.fft(z, norm="ortho"), 5)

    leaf = td.tensor(z, requires_grad=True)
    value(leaf).backward()
    found = leaf.grad.numpy()
    for at in ((0, 0), (1, 3), (2, 7)):
        for step, part in ((STEP, found[at].real), (1j * STEP, found[at].imag)):
            moved = [z.copy(), z.copy()]
            moved[0][at] += step
            moved[1][at] -= step
            high, low = (float(value(td.tensor(x))) for x in moved)
            assert (high - low) / (2 * STEP) == pytest.approx(part, abs=1e-5)


def test_a_compiled_gradient_is_the_same():
    x = td.tensor(np.random.default_rng(3).standard_normal((4, 48)))
    slope = td.grad(lambda x: weighed(td.fft.rfft(x), 6))
    np.testing.assert_allclose(td.compile(slope)(x).numpy(), slope(x).numpy(), rtol=1e-12)


def test_the_gradient_of_a_transform_is_one_transform():
    x = td.ones(4, 64, requires_grad=True)
    y = td.fft.irfft(td.fft.rfft(x))
    kernels = td.explain(lambda g: td.gradients(y, [x], g)[0], td.ones(4, 64)).rows
    assert sum(row.ops in (("rdft",), ("irdft",)) for row in kernels) == 2
