"""Rows of `td.fft`: Fourier transforms by the names of NumPy, PyTorch and the array API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.ops.composite import composite
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import conj
from treadle.ops.shaping import roll
from treadle.ops.spectra import (
    from_half,
    half,
    length_in,
    real_in,
    scale_of,
    sizes_in,
    tensor_in,
    whole,
)  # fmt: skip

Sizes = Sequence[int] | None
Axes = Sequence[int] | int | None
ONE_AXIS: tuple[Any, ...] = (
    ((6,), {}), ((3, 8), {"n": 5}), ((8, 3), {"axis": 0}), ((20, 16), {"norm": "forward"}),
    ((2, 9, 4), {"axis": 1, "norm": "ortho"}), ((2, 3), {"n": 12}), ((2, 257), {}),
)  # fmt: skip
AXES: tuple[Any, ...] = (
    ((3, 4), {}), ((2, 3, 4), {"axes": (0, 2)}), ((4, 6), {"s": (3, 8), "axes": (0, 1)}),
    ((3, 5, 2), {"axes": (1,), "norm": "ortho"}), ((2, 4, 3), {"axes": (2, 0), "norm": "forward"}),
)  # fmt: skip
SHIFTED: tuple[Any, ...] = (
    ((7,), {}),
    ((4, 5), {}),
    ((4, 5), {"axes": 0}),
    ((2, 3, 4), {"axes": (0, -1)}),
)
OTHERWISE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm of a transform that is written as the inverse one."""

DOC = """The spectrum along an axis: the sum of x[j] exp(-2 pi i j k / n) for every k < n.

x is cut off, or continued by zeros, to n elements. norm is "backward" (the default: inverse
transforms divide by n), "ortho" (both divide by its root) or "forward". Lengths without prime
factors above 251 are fast, others take a few times as long. Integers and halves become float32.

>>> import treadle as td
>>> td.fft.fft(td.tensor([1.0, 2.0, 3.0, 4.0])).real.tolist()
[10.0, -2.0, -2.0, -2.0]
"""

# ---- lengths and axes as they were given; backward: towards the signal


def _wholly(name: str, x: Any, s: Sizes, axes: Axes, norm: str | None, backward: bool) -> Any:
    x = tensor_in(name, x)
    return _along(name, x, sizes_in(name, x, s, axes), norm, backward)


def _halved(name: str, x: Any, s: Sizes, axes: Axes, norm: str | None, backward: bool) -> Any:
    """The last axis first, as x is real there."""
    x = real_in(name, x)
    *others, (axis, n) = sizes_in(name, x, s, axes, least=1)
    found = half(x, axis, n, scale_of(name, norm, n, backward))
    return _along(name, conj(found) if backward else found, others, norm, backward)


def _completed(name: str, x: Any, s: Sizes, axes: Axes, norm: str | None, backward: bool) -> Any:
    """The last axis at the end: x is real from then on."""
    x = tensor_in(name, x)
    *others, (axis, n) = sizes_in(name, x, s, axes, least=1, halved=True)
    x = _along(name, x, others, norm, backward)
    return from_half(x, axis, n, scale_of(name, norm, n, backward), not backward)


def _along(
    name: str, x: Any, over: Sequence[tuple[int, int]], norm: str | None, backward: bool
) -> Any:
    for axis, n in reversed(over):
        x = whole(x, axis, n, backward, scale_of(name, norm, n, backward))
    return x


# ---- the rows: one axis, several, the last two


def _hermitian(np: Any, name: str, x: Any, *options: Any) -> Any:
    """What NumPy has for one axis only."""
    *lengths, norm = options
    if name.startswith("i"):
        return np.conj(np.fft.rfftn(x, *lengths, norm=OTHERWISE[norm]))
    return np.fft.irfftn(np.conj(x), *lengths, norm=OTHERWISE[norm])


def _reference(np: Any, name: str, x: Any, *options: Any) -> Any:
    theirs = getattr(np.fft, name, None)
    return theirs(x, *options) if theirs else _hermitian(np, name, x, *options)


def _named(define: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    define.__name__ = define.__qualname__ = name
    define.__doc__ = doc
    return define


def _one_axis(name: str, way: Callable[..., Any], backward: bool, doc: str) -> Op:
    def define(x: Any, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        lengths = None if n is None else (length_in(name, n, 1),)  # -1, of several axes, is none
        return way(name, x, lengths, axis, norm, backward)

    def reference(np: Any, x: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
        return _reference(np, name, x, n, axis, norm)

    samples = Samples(cases=ONE_AXIS, bench=(((16, 65536), {}), ((1024, 1024), {})))
    return composite(reference, samples, inline=True)(_named(define, name, doc))


def _axes(name: str, way: Callable[..., Any], backward: bool, doc: str) -> Op:
    def define(
        x: Any, /, s: Sequence[int] | None = None, axes: Sequence[int] | int | None = None,
        norm: str | None = None,
    ) -> Any:  # fmt: skip
        return way(name, x, s, axes, norm, backward)

    def reference(np: Any, x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
        axes = tuple(range(x.ndim)) if axes is None else axes
        return _reference(np, name, x, s, axes, norm)

    return composite(reference, Samples(cases=AXES), inline=True)(_named(define, name, doc))


def _two_axes(name: str, way: Callable[..., Any], backward: bool, doc: str) -> Op:
    def define(
        x: Any, /, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
        norm: str | None = None,
    ) -> Any:  # fmt: skip
        return way(name, x, s, axes, norm, backward)

    def reference(np: Any, x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
        return _reference(np, name, x, s, axes, norm)

    samples = Samples(cases=(((3, 4, 5), {}), ((4, 6), {"s": (3, 8)})))
    return composite(reference, samples, inline=True)(_named(define, name, doc))


# fmt: off
fft = _one_axis("fft", _wholly, False, DOC)
ifft = _one_axis("ifft", _wholly, True, "What has the spectrum x along an axis; see fft.")
rfft = _one_axis(
    "rfft", _halved, False,
    "The first n // 2 + 1 elements of the spectrum of reals, which the others mirror; see fft.")
irfft = _one_axis(
    "irfft", _completed, True,
    "The n reals of which x is half a spectrum; n is even unless it is given.")
hfft = _one_axis(
    "hfft", _completed, False,
    "The spectrum, n reals, of what mirrors itself conjugated, from the first half of that.")
ihfft = _one_axis(
    "ihfft", _halved, True, "The first half of what has x, which is real, as its spectrum.")

fftn = _axes(
    "fftn", _wholly, False,
    "The spectrum along axes: all of them, or the last of them if s, lengths, is given alone.")
ifftn = _axes("ifftn", _wholly, True, "What has the spectrum x along axes.")
rfftn = _axes(
    "rfftn", _halved, False,
    "Half the spectrum of reals along axes: of the last axis the first n // 2 + 1 elements.")
irfftn = _axes(
    "irfftn", _completed, True,
    "The reals of which x is half a spectrum along axes; of the last an even number by itself.")
hfftn = _axes(
    "hfftn", _completed, False,
    "The spectrum along axes, which is real, of what mirrors itself conjugated; see hfft.")
ihfftn = _axes(
    "ihfftn", _halved, True,
    "The first half of what has x, which is real, as its spectrum along axes.")

fft2 = _two_axes("fft2", _wholly, False, "fftn along the last two axes.")
ifft2 = _two_axes("ifft2", _wholly, True, "ifftn along the last two axes.")
rfft2 = _two_axes("rfft2", _halved, False, "rfftn along the last two axes.")
irfft2 = _two_axes("irfft2", _completed, True, "irfftn along the last two axes.")
hfft2 = _two_axes("hfft2", _completed, False, "hfftn along the last two axes.")
ihfft2 = _two_axes("ihfft2", _halved, True, "ihfftn along the last two axes.")
# fmt: on


# ---- the order of frequencies


def _each(x: Any, axes: Axes) -> list[int]:
    if axes is None:
        return list(range(x.ndim))
    return [axes] if isinstance(axes, int) else list(axes)


@composite(lambda np, x, axes=None: np.fft.fftshift(x, axes), Samples(cases=SHIFTED), inline=True)
def fftshift(x: Any, /, axes: Sequence[int] | int | None = None) -> Any:
    """Frequency 0 moved from the front to the middle of axes, or of all.

    >>> import treadle as td
    >>> td.fft.fftshift(td.fft.fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    chosen = _each(x, axes)
    return roll(x, [x.shape[axis] // 2 for axis in chosen], chosen)


@composite(lambda np, x, axes=None: np.fft.ifftshift(x, axes), Samples(cases=SHIFTED), inline=True)
def ifftshift(x: Any, /, axes: Sequence[int] | int | None = None) -> Any:
    """What fftshift does, undone."""
    chosen = _each(x, axes)
    return roll(x, [-(x.shape[axis] // 2) for axis in chosen], chosen)
