"""Windows that fade a signal in and out, by PyTorch's names: hann_window and its like."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.device import Device
from treadle.base.dtypes import dtype as dtype_of
from treadle.base.dtypes import float32, float64
from treadle.base.errors import ArgumentError, DtypeError, explain
from treadle.ops.defs import Kind, makes_tensors
from treadle.ops.elementwise import cos
from treadle.tensor.creation import arange
from treadle.tensor.tensor import Tensor

Where = str | Device | None


def _phase(name: str, count: int, periodic: bool, device: Where) -> Tensor:
    """Where each element is in the window, from 0 to 1; periodic: the last 1 is left out."""
    if count < 0:
        raise ArgumentError(explain(name, "a length is not negative", window_length=count))
    steps = count if periodic else count - 1
    return arange(count, dtype=float64, device=device) / max(steps, 1)


def _made(name: str, x: Tensor, dtype: Any, requires_grad: bool) -> Tensor:
    kind = dtype_of(dtype or float32)
    if not kind.is_float:
        raise DtypeError(explain(name, "a window is of floats", dtype=kind.name))
    made = x.cast(kind) if x.shape != (1,) else (x * 0.0 + 1.0).cast(kind)
    return made.requires_grad_() if requires_grad else made


def _cosines(x: Tensor, *weights: float) -> Tensor:
    """The sum of weights[k] cos(2 pi k x)."""
    total = weights[0] + cos(x * (2 * math.pi)) * weights[1]
    for k, weight in enumerate(weights[2:], 2):
        total = total + cos(x * (2 * math.pi * k)) * weight
    return total


@makes_tensors(Kind.CREATION)
def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Where = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """0.5 - 0.5 cos(2 pi k / n); periodic: n is the length, not one less, as spectra want it.

    >>> hann_window(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    x = _phase("hann_window", window_length, periodic, device)
    return _made("hann_window", _cosines(x, 0.5, -0.5), dtype, requires_grad)


@makes_tensors(Kind.CREATION)
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *,
    dtype: Any = None, device: Where = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """alpha - beta cos(2 pi k / n); periodic: n is the length, not one less."""
    x = _phase("hamming_window", window_length, periodic, device)
    return _made("hamming_window", _cosines(x, alpha, -beta), dtype, requires_grad)


@makes_tensors(Kind.CREATION)
def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Where = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """0.42 - 0.5 cos(2 pi k / n) + 0.08 cos(4 pi k / n); periodic: n is the length."""
    x = _phase("blackman_window", window_length, periodic, device)
    return _made("blackman_window", _cosines(x, 0.42, -0.5, 0.08), dtype, requires_grad)


@makes_tensors(Kind.CREATION)
def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Where = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A triangle: 1 - |2 k / n - 1|; periodic: n is the length, not one less.

    >>> bartlett_window(5, periodic=False).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    x = _phase("bartlett_window", window_length, periodic, device)
    return _made("bartlett_window", 1.0 - abs(2.0 * x - 1.0), dtype, requires_grad)


@makes_tensors(Kind.CREATION)
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None,
    device: Where = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """I0(beta sqrt(1 - (2 k / n - 1)^2)) / I0(beta), I0 the Bessel function of order 0."""
    x = 2.0 * _phase("kaiser_window", window_length, periodic, device) - 1.0
    whole = (0.5 * beta) ** 2
    z = (1.0 - x * x) * whole
    terms, last = 1, whole
    while last > 1e-18:  # as many terms as the largest argument needs, all of them positive
        terms += 1
        last *= whole / terms**2
    ratio, total = z * 0.0 + 1.0, 1.0
    for k in range(terms, 0, -1):
        ratio, total = ratio * z / k**2 + 1.0, total * whole / k**2 + 1.0
    return _made("kaiser_window", ratio / total, dtype, requires_grad)
