"""Discrete Fourier transforms: `td.fft`, by the names of NumPy, PyTorch and the array API.

>>> import treadle as td
>>> td.fft.rfft(td.tensor([1.0, 2.0, 3.0, 4.0])).real.tolist()
[10.0, -2.0, -2.0]
"""

from __future__ import annotations

from treadle.fft.functions import (
    fft,
    fft2,
    fftn,
    fftshift,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)  # fmt: skip
from treadle.tensor.frequencies import fftfreq, rfftfreq

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2",
    "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2",
    "rfftfreq", "rfftn",
]  # fmt: skip
