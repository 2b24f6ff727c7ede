"""Sound as logarithms of mel bands, as Whisper hears it: a product with a Fourier basis, in ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treadle.functions import conv1d, log10, maximum
from treadle.nn import Module
from treadle.nn.functional import pad
from treadle.tensor.creation import tensor
from treadle.tensor.tensor import Tensor

RATE, WINDOW, HOP = 16000, 400, 160  # samples in a second, in a window, and between windows
SECONDS = 30
FLOOR, RANGE = 1e-10, 8.0  # of a power; of powers within one sound, in tens


def mel_filters(bands: int, size: int = WINDOW, rate: int = RATE) -> Any:
    """(bands, size / 2 + 1) triangles that are equally wide in mel (Slaney's), each of area 1."""
    bend, step = 15.0, math.log(6.4) / 27.0  # linear up to 1000 Hz, then by logarithms

    def hertz(mel: Any) -> Any:
        return np.where(mel < bend, mel * 200 / 3, 1000 * np.exp(step * (mel - bend)))

    top = bend + math.log(rate / 2 / 1000) / step
    edges = hertz(np.linspace(0.0, top, bands + 2))
    found = np.arange(size // 2 + 1) * rate / size
    left, middle, right = (edges[k : bands + k, None] for k in range(3))
    rising, falling = (found - left) / (middle - left), (right - found) / (right - middle)
    return np.maximum(0.0, np.minimum(rising, falling)) * 2.0 / (right - left)


def fourier_basis(size: int = WINDOW) -> Any:
    """(size + 2, size): cosines, then sines, of every frequency, under a Hann window."""
    places = np.arange(size)
    angles = 2 * np.pi / size * np.outer(np.arange(size // 2 + 1), places)
    window = 0.5 - 0.5 * np.cos(2 * np.pi / size * places)
    return np.concatenate([np.cos(angles), np.sin(angles)]) * window


class LogMel(Module):
    """(batch, samples) at 16 kHz to (batch, bands, samples / 160), about from -1 to 1.

    The loudest band of a sound decides what is silence: 80 dB below it.
    """

    def __init__(self, bands: int = 80) -> None:
        self.register_buffer("basis", _numbers(fourier_basis()[:, None, :]), persistent=False)
        self.register_buffer("filters", _numbers(mel_filters(bands)), persistent=False)

    def forward(self, audio: Tensor) -> Tensor:
        """Bands of windows in the middle of which every 160th sample lies."""
        padded = pad(audio.unsqueeze(1), (WINDOW // 2, WINDOW // 2), mode="reflect")
        waves = conv1d(padded, self.basis, stride=HOP)[:, :, :-1]
        half = WINDOW // 2 + 1
        power = waves[:, :half] ** 2 + waves[:, half:] ** 2
        found = log10(maximum(self.filters @ power, FLOOR))
        loudest = found.max((1, 2), keepdims=True)
        return (maximum(found, loudest - RANGE) + 4.0) / 4.0


def _numbers(array: Any) -> Tensor:
    return tensor(array.astype(np.float32))


def pieces(audio: Any) -> list[Any]:
    """Samples cut into pieces of 30 s, the last one filled up with silence."""
    samples = np.asarray(audio.numpy() if isinstance(audio, Tensor) else audio, np.float32)
    length = RATE * SECONDS
    count = max(1, -(-samples.size // length))
    filled = np.zeros(count * length, np.float32)
    filled[: samples.size] = samples.reshape(-1)
    return list(filled.reshape(count, length))
