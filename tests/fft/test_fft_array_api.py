"""The fft extension of the array API standard, beside `array_api_strict`."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import treadle as td

strict = pytest.importorskip("array_api_strict")

NAMES = [name for name in strict.fft.__all__ if not name.startswith("_")]
OF_REALS = ("rfft", "rfftn", "ihfft")
ORDER = ("fftshift", "ifftshift", "fftfreq", "rfftfreq")
TOLERANCE = {"complex64": 2e-5, "complex128": 1e-12}


def test_every_name_is_there():
    assert set(NAMES) <= set(td.fft.__all__)
    assert td.fft.__all__ == sorted(td.fft.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_signatures(name):
    own = inspect.signature(getattr(td.fft, name)).parameters
    wanted = inspect.signature(getattr(strict.fft, name)).parameters
    assert set(wanted) <= set(own)


@pytest.mark.parametrize("kind", TOLERANCE)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ORDER])
def test_values_and_dtypes(name, kind):
    rng = np.random.default_rng(0)
    for shape in ((7,), (3, 8), (2, 5, 4)):
        x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)
        x = x.real.copy() if name in OF_REALS else x
        for norm in ("backward", "ortho", "forward"):
            wanted = np.asarray(getattr(strict.fft, name)(strict.asarray(x), norm=norm))
            found = getattr(td.fft, name)(td.asarray(x), norm=norm).numpy()
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, atol=TOLERANCE[kind])
