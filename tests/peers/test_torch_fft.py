"""Transforms, short-time spectra and windows beside PyTorch's: values and gradients.

Run by `make test-torch`.
"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

torch = pytest.importorskip("torch")

NORMS = (None, "ortho", "forward")
ONE, MANY = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"), ("fftn", "ifftn", "rfftn", "irfftn")
OF_REALS, TO_REALS = ("rfft", "ihfft", "rfftn", "ihfftn"), ("irfft", "hfft", "irfftn", "hfftn")
LENGTHS = (None, 1, 5, 12)
SHAPES = (((6,), 0), ((3, 257), -1), ((8, 3), 0), ((2, 9, 4), 1), ((20, 16), -1))
EPS = {"float32": 3e-6, "float64": 1e-13}
WINDOWS = {
    "hann_window": {}, "hamming_window": {"alpha": 0.6, "beta": 0.4}, "blackman_window": {},
    "bartlett_window": {}, "kaiser_window": {"beta": 7.5},
}  # fmt: skip


def drawn(shape, kind, is_complex, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if is_complex:
        x = x + 1j * rng.standard_normal(shape)
        return x.astype(np.complex64 if kind == "float32" else np.complex128)
    return x.astype(kind)


def assert_near(found, wanted, kind):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    size = max(1.0, np.abs(wanted).max(initial=0))
    assert np.abs(found - wanted).max(initial=0) <= EPS[kind] * size


def compare(call, x, kind, *given, **options):
    """Values, and gradients of a weighed sum of both parts."""
    ours, theirs = td.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    (ours_of, theirs_of) = call
    found, wanted = ours_of(ours, *given, **options), theirs_of(theirs, *given, **options)
    assert_near(found.detach().numpy(), wanted.detach().resolve_conj().numpy(), kind)
    weights = drawn(tuple(wanted.shape), kind, wanted.is_complex(), 1)
    a = found * td.tensor(weights)
    b = wanted * torch.tensor(weights)
    (td.real(a) + td.imag(a) * 0.5).sum().backward()
    (b.real + b.imag * 0.5 if b.is_complex() else b).sum().backward()
    assert_near(ours.grad.numpy(), theirs.grad.resolve_conj().numpy(), kind)


def both(name):
    return getattr(td.fft, name), getattr(torch.fft, name)


@pytest.mark.parametrize("kind", EPS)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ONE)
def test_one_axis(name, norm, kind):
    for shape, axis in SHAPES:
        for n in LENGTHS:
            x = drawn(shape, kind, name not in OF_REALS)
            compare(both(name), x, kind, n, axis, norm)
            if name in ("fft", "ifft"):
                compare(both(name), drawn(shape, kind, False), kind, n, axis, norm)


@pytest.mark.parametrize("kind", EPS)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", [*MANY, "hfftn", "ihfftn"])
def test_several_axes(name, norm, kind):
    x = drawn((4, 5, 6), kind, name not in OF_REALS)
    for s, axes in (
        (None, None), (None, (0, 2)), ((3, 8), None), ((7,), (1,)), ((-1, 4), (2, 0)), (None, -1),
        (None, (2, 1, 0)),
    ):  # fmt: skip
        compare(both(name), x, kind, s, axes, norm)


@pytest.mark.parametrize("kind", EPS)
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2"])
def test_two_axes(name, kind):
    x = drawn((3, 4, 6), kind, name[:-1] not in OF_REALS)
    for options in ((), ((5, 5),), (None, (0, 1), "ortho")):
        compare(both(name), x, kind, *options)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_frequencies_and_shifts(n):
    for name in ("fftfreq", "rfftfreq"):
        ours, theirs = both(name)
        assert_near(ours(n, 0.3).numpy(), theirs(n, 0.3).numpy(), "float32")
    x = drawn((n, 5), "float64", True)
    for name in ("fftshift", "ifftshift"):
        for dim in (None, 0, (0, 1), -1):
            compare(both(name), x, "float64", dim)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("n", [1, 2, 9, 64])
def test_windows(name, n):
    for periodic in (True, False):
        for options in ({}, WINDOWS[name]):
            ours = getattr(td, name)(n, periodic, **options, dtype=td.float64)
            theirs = getattr(torch, name)(n, periodic, **options, dtype=torch.float64)
            assert_near(ours.numpy(), theirs.numpy(), "float64")
            ours, theirs = getattr(td, name)(n, periodic), getattr(torch, name)(n, periodic)
            assert_near(ours.numpy(), theirs.numpy(), "float32")


SHORT_TIME = (
    {"n_fft": 8}, {"n_fft": 12, "hop_length": 5, "win_length": 9}, {"n_fft": 9, "hop_length": 2},
    {"n_fft": 8, "center": False}, {"n_fft": 8, "normalized": True},
    {"n_fft": 8, "onesided": False}, {"n_fft": 16, "pad_mode": "constant"},
)  # fmt: skip


@pytest.mark.parametrize("kind", EPS)
@pytest.mark.parametrize("options", SHORT_TIME, ids=str)
def test_short_time_spectra(options, kind):
    width = options.get("win_length", options["n_fft"])
    window = np.hamming(width).astype(kind)
    calls = (
        lambda x, **given: td.stft(x, window=td.tensor(window), **given),
        lambda x, **given: torch.stft(
            x, window=torch.tensor(window), return_complex=True, **given
        ),
    )  # fmt: skip
    for shape in ((50,), (3, 40)):
        compare(calls, drawn(shape, kind, False), kind, **options)
    if options.get("onesided") is not None:
        compare(calls, drawn((40,), kind, True), kind, **options)


@pytest.mark.filterwarnings("ignore:The length of signal is shorter")
@pytest.mark.parametrize("kind", EPS)
@pytest.mark.parametrize("length", [None, 30, 44, 60])
def test_signals_from_short_time_spectra(length, kind):
    window = np.hamming(12).astype(kind)
    calls = (
        lambda x, **given: td.istft(x, 12, 3, window=td.tensor(window), **given),
        lambda x, **given: torch.istft(x, 12, 3, window=torch.tensor(window), **given),
    )
    for options in ({}, {"normalized": True}, {"center": False}):
        compare(calls, drawn((2, 7, 13), kind, True), kind, length=length, **options)
