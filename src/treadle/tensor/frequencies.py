"""The frequencies that the elements of a spectrum stand for."""

from __future__ import annotations

from typing import Any

from treadle.base.device import Device
from treadle.base.dtypes import float32, float64
from treadle.ops.defs import Kind, makes_tensors
from treadle.ops.elementwise import where
from treadle.ops.spectra import length_in
from treadle.tensor.creation import arange
from treadle.tensor.tensor import Tensor


@makes_tensors(Kind.CREATION)
def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: str | Device | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of fft's results for samples d apart: from 0 up, then those below 0.

    >>> fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    n = length_in("fftfreq", n, 0)
    place = arange(n, dtype=float64, device=device)
    steps = where(place < (n + 1) // 2, place, place - n)
    return _made(steps, n * d, dtype, requires_grad)


@makes_tensors(Kind.CREATION)
def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: str | Device | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of rfft's results for samples d apart.

    >>> rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    n = length_in("rfftfreq", n, 0)
    return _made(arange(n // 2 + 1, dtype=float64, device=device), n * d, dtype, requires_grad)


def _made(steps: Tensor, time: float, dtype: Any, requires_grad: bool) -> Tensor:
    made = (steps * (1.0 / time)).cast(dtype or float32)
    return made.requires_grad_() if requires_grad else made
