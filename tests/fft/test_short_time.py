"""Short-time spectra, the signals from them, and windows, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, ShapeError

WINDOWS = {
    "hann_window": np.hanning, "hamming_window": np.hamming, "blackman_window": np.blackman,
    "bartlett_window": np.bartlett, "kaiser_window": lambda n: np.kaiser(n, 12.0),
}  # fmt: skip


def signal(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 16, 101])
def test_windows(name, n):
    ours = getattr(td, name)
    wanted = WINDOWS[name](n)
    np.testing.assert_allclose(ours(n, False, dtype=td.float64).numpy(), wanted, atol=2e-16)
    np.testing.assert_allclose(ours(n, False).numpy(), wanted, atol=6e-8)
    whole = WINDOWS[name](n + 1)[:n] if n > 1 else np.ones(n)
    np.testing.assert_allclose(ours(n, dtype=td.float64).numpy(), whole, atol=2e-16)


@pytest.mark.parametrize("beta", [0.0, 1.0, 8.6, 60.0])
def test_kaiser_windows_of_other_shapes(beta):
    found = td.kaiser_window(33, False, beta, dtype=td.float64).numpy()
    np.testing.assert_allclose(found, np.kaiser(33, beta), rtol=1e-12)


def test_windows_take_what_makers_take():
    found = td.hann_window(8, dtype=td.float64, requires_grad=True)
    assert found.requires_grad
    assert found.dtype == td.float64
    with pytest.raises(ArgumentError, match="not negative"):
        td.hann_window(-1)


@pytest.mark.parametrize("hop", [1, 3, 8])
@pytest.mark.parametrize("center", [True, False])
def test_a_frame_is_the_spectrum_under_a_window(hop, center):
    x, window = signal(2, 50), np.hanning(14)[1:-1]
    found = td.stft(td.tensor(x), 16, hop, 12, td.tensor(window), center=center).numpy()
    if center:
        x = np.pad(x, ((0, 0), (8, 8)), "reflect")
    around = np.pad(window, 2)
    frames = 1 + (x.shape[1] - 16) // hop
    assert found.shape == (2, 9, frames)
    for frame in range(frames):
        wanted = np.fft.rfft(x[:, frame * hop : frame * hop + 16] * around)
        np.testing.assert_allclose(found[:, :, frame], wanted, atol=1e-12)


def test_complex_signals_have_whole_spectra():
    x = signal(40) + 1j * signal(40)
    found = td.stft(td.tensor(x), 8, center=False).numpy()
    assert found.shape == (8, 17)
    np.testing.assert_allclose(found[:, 2], np.fft.fft(x[4:12]), atol=1e-12)
    back = td.istft(td.tensor(found), 8, center=False, return_complex=True).numpy()
    np.testing.assert_allclose(back, x, atol=1e-12)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("onesided", [None, False])
@pytest.mark.parametrize(("n_fft", "hop", "width"), [(16, 4, 16), (20, 5, 13), (9, 2, 9)])
def test_signals_come_back(n_fft, hop, width, onesided, normalized):
    x, window = signal(3, 83), td.hamming_window(width, dtype=td.float64)
    options = {"window": window, "normalized": normalized, "onesided": onesided}
    spectra = td.stft(td.tensor(x), n_fft, hop, width, **options)
    found = td.istft(spectra, n_fft, hop, width, length=80, **options)
    np.testing.assert_allclose(found.numpy(), x[:, :80], atol=1e-11)
    one = td.istft(spectra[0], n_fft, hop, width, **options)
    np.testing.assert_allclose(one.numpy(), x[0, : one.shape[0]], atol=1e-11)


def test_refusals():
    with pytest.raises(ShapeError, match="stft: the signal is shorter than a frame"):
        td.stft(td.ones(5), 8, center=False)
    with pytest.raises(ArgumentError, match="stft: bad windows"):
        td.stft(td.ones(50), 8, win_length=9)
    with pytest.raises(ShapeError, match="stft: a window has win_length elements"):
        td.stft(td.ones(50), 8, window=td.ones(7))
    with pytest.raises(ShapeError, match="istft: not as many frequencies"):
        td.istft(td.stft(td.ones(50), 8), 10)
    with pytest.raises(ShapeError, match="istft: not the result of stft"):
        td.istft(td.ones(5, 9), 8)
