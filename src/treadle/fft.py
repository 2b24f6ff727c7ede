"""Discrete Fourier transforms of tensors, by the names of NumPy, PyTorch and the array API.

`n` and `s` are lengths (x is cut off, or continued by zeros), `axis` and `axes` say along what;
PyTorch's `dim` is accepted for either. `norm` is "backward" (inverse transforms divide by n, the
default), "ortho" (both divide by its root) or "forward". Lengths without prime factors above 61 are
fast, and all others take a few times as long. Integers and floats of 16 bits become float32.

>>> import treadle as td
>>> td.fft.rfft(td.tensor([1.0, 2.0, 3.0, 4.0])).real.tolist()
[10.0, -2.0, -2.0]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from treadle.base.dtypes import float32, float64
from treadle.functions import conj, roll, where
from treadle.ops import spectra
from treadle.tensor.creation import arange
from treadle.tensor.tensor import Tensor

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2",
    "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft",
    "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

Sizes = Sequence[int] | None
Axes = Sequence[int] | int | None
LAST_TWO = (-2, -1)
Function = TypeVar("Function", bound=Callable[..., Any])


def _also_dim(function: Function) -> Function:
    """The function under PyTorch's names of arguments, too."""
    names = function.__code__.co_varnames
    ours = {"dim": "axes" if "axes" in names else "axis", "input": "x"}

    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        for theirs, name in ours.items():
            if theirs in options and name not in options:
                options[name] = options.pop(theirs)
        return function(*args, **options)

    return called  # type: ignore[return-value]


# ---- all of them: x as the name of a function, lengths and axes as they were given


def _whole_over(
    name: str, x: Any, s: Sizes, axes: Axes, norm: str | None, backward: bool
) -> Tensor:
    x = spectra.tensor_in(name, x)
    over = spectra.sizes_in(name, x, s, axes)
    return _along(name, x, over, norm, backward)


def _half(name: str, x: Any, s: Sizes, axes: Axes, norm: str | None, backward: bool) -> Tensor:
    """The last axis first, as x is real there."""
    x = spectra.real_in(name, x)
    *others, (axis, n) = spectra.sizes_in(name, x, s, axes, least=1)
    found = spectra.half(x, axis, n, spectra.scale_of(name, norm, n, backward))
    return _along(name, conj(found) if backward else found, others, norm, backward)


def _from_half(name: str, x: Any, s: Sizes, axes: Axes, norm: str | None, backward: bool) -> Tensor:
    """The last axis at the end: it is real from then on."""
    x = spectra.tensor_in(name, x)
    *others, (axis, n) = spectra.sizes_in(name, x, s, axes, least=1, halved=True)
    x = _along(name, x, others, norm, backward)
    return spectra.from_half(x, axis, n, spectra.scale_of(name, norm, n, backward), not backward)


def _along(
    name: str, x: Any, over: Sequence[tuple[int, int]], norm: str | None, backward: bool
) -> Tensor:
    for axis, n in reversed(over):
        x = spectra.whole(x, axis, n, backward, spectra.scale_of(name, norm, n, backward))
    return x


def _one(n: int | None) -> Sizes:
    return None if n is None else (n,)


# ---- one axis


@_also_dim
def fft(x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The spectrum along an axis: the sum of x[j] exp(-2 pi i j k / n), for every k < n."""
    return _whole_over("fft", x, _one(n), axis, norm, False)


@_also_dim
def ifft(x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """What has the spectrum x along an axis."""
    return _whole_over("ifft", x, _one(n), axis, norm, True)


@_also_dim
def rfft(x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The first n // 2 + 1 elements of the spectrum of reals, which the others mirror."""
    return _half("rfft", x, _one(n), axis, norm, False)


@_also_dim
def irfft(x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The n reals of which x is half a spectrum; n is even unless it is given."""
    return _from_half("irfft", x, _one(n), axis, norm, True)


@_also_dim
def hfft(x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The spectrum, n reals, of what mirrors itself conjugated, from the first half of that."""
    return _from_half("hfft", x, _one(n), axis, norm, False)


@_also_dim
def ihfft(x: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The first half of what has x, which is real, as its spectrum."""
    return _half("ihfft", x, _one(n), axis, norm, True)


# ---- several axes


@_also_dim
def fftn(x: Tensor, s: Sizes = None, axes: Axes = None, norm: str | None = None) -> Tensor:
    """The spectrum along axes: all of them, or the last of them if s alone is given."""
    return _whole_over("fftn", x, s, axes, norm, False)


@_also_dim
def ifftn(x: Tensor, s: Sizes = None, axes: Axes = None, norm: str | None = None) -> Tensor:
    """What has the spectrum x along axes."""
    return _whole_over("ifftn", x, s, axes, norm, True)


@_also_dim
def rfftn(x: Tensor, s: Sizes = None, axes: Axes = None, norm: str | None = None) -> Tensor:
    """Half the spectrum of reals along axes: of the last axis the first n // 2 + 1 elements."""
    return _half("rfftn", x, s, axes, norm, False)


@_also_dim
def irfftn(x: Tensor, s: Sizes = None, axes: Axes = None, norm: str | None = None) -> Tensor:
    """The reals of which x is half a spectrum along axes; of the last, an even number by itself."""
    return _from_half("irfftn", x, s, axes, norm, True)


@_also_dim
def hfftn(x: Tensor, s: Sizes = None, axes: Axes = None, norm: str | None = None) -> Tensor:
    """The spectrum along axes, which is real, of what mirrors itself conjugated; see hfft."""
    return _from_half("hfftn", x, s, axes, norm, False)


@_also_dim
def ihfftn(x: Tensor, s: Sizes = None, axes: Axes = None, norm: str | None = None) -> Tensor:
    """The first half of what has x, which is real, as its spectrum along axes."""
    return _half("ihfftn", x, s, axes, norm, True)


# ---- two axes


@_also_dim
def fft2(x: Tensor, s: Sizes = None, axes: Axes = LAST_TWO, norm: str | None = None) -> Tensor:
    """fftn along the last two axes."""
    return _whole_over("fft2", x, s, axes, norm, False)


@_also_dim
def ifft2(x: Tensor, s: Sizes = None, axes: Axes = LAST_TWO, norm: str | None = None) -> Tensor:
    """ifftn along the last two axes."""
    return _whole_over("ifft2", x, s, axes, norm, True)


@_also_dim
def rfft2(x: Tensor, s: Sizes = None, axes: Axes = LAST_TWO, norm: str | None = None) -> Tensor:
    """rfftn along the last two axes."""
    return _half("rfft2", x, s, axes, norm, False)


@_also_dim
def irfft2(x: Tensor, s: Sizes = None, axes: Axes = LAST_TWO, norm: str | None = None) -> Tensor:
    """irfftn along the last two axes."""
    return _from_half("irfft2", x, s, axes, norm, True)


@_also_dim
def hfft2(x: Tensor, s: Sizes = None, axes: Axes = LAST_TWO, norm: str | None = None) -> Tensor:
    """hfftn along the last two axes."""
    return _from_half("hfft2", x, s, axes, norm, False)


@_also_dim
def ihfft2(x: Tensor, s: Sizes = None, axes: Axes = LAST_TWO, norm: str | None = None) -> Tensor:
    """ihfftn along the last two axes."""
    return _half("ihfft2", x, s, axes, norm, True)


# ---- frequencies


def _frequencies(n: int, d: float, first: int, count: int, options: dict[str, Any]) -> Tensor:
    """count of them: from 0 up to first, then those below 0, in units of 1 / (n d)."""
    follow, kind = options.pop("requires_grad"), options.pop("dtype") or float32
    place = arange(count, dtype=float64, **options)
    made = (where(place < first, place, place - n) * (1.0 / (n * d))).cast(kind)
    return made.requires_grad_() if follow else made


def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of fft's results for samples d apart: from 0 up, then those below 0.

    >>> fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    n = spectra.length_in("fftfreq", n, 0)
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _frequencies(n, d, (n + 1) // 2, n, options)


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of rfft's results for samples d apart.

    >>> rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    n = spectra.length_in("rfftfreq", n, 0)
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _frequencies(n, d, n // 2 + 1, n // 2 + 1, options)


@_also_dim
def fftshift(x: Tensor, axes: Axes = None) -> Tensor:
    """Frequency 0 moved from the front to the middle of axes, or of all.

    >>> fftshift(fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    axes = _each(x, axes)
    return roll(x, [x.shape[axis] // 2 for axis in axes], axes)


@_also_dim
def ifftshift(x: Tensor, axes: Axes = None) -> Tensor:
    """What fftshift does, undone."""
    axes = _each(x, axes)
    return roll(x, [-(x.shape[axis] // 2) for axis in axes], axes)


def _each(x: Tensor, axes: Axes) -> list[int]:
    if axes is None:
        return list(range(x.ndim))
    return [axes] if isinstance(axes, int) else list(axes)
