"""Rows of the discrete Fourier transforms along an axis, on pairs (real, imaginary)."""

from __future__ import annotations

from typing import Any

from treadle.base.dtypes import float32, float64
from treadle.ops import rules
from treadle.ops.defs import Kind, Op, Samples


def _floats(name: str) -> Any:
    def rule(dtypes: Any) -> Any:
        rules.require(name, dtypes, (float32, float64))
        return tuple(dtypes), dtypes[0]

    return rule


def _pairs(np: Any, x: Any) -> Any:
    return x[..., 0] + 1j * x[..., 1]


def _parts(np: Any, x: Any) -> Any:
    return np.stack([x.real, x.imag], -1)


def _dft(np: Any, x: Any, axis: int, inverse: bool = False, scale: float = 1.0) -> Any:
    z = _pairs(np, x)
    found = np.fft.ifft(z, axis=axis, norm="forward") if inverse else np.fft.fft(z, axis=axis)
    return _parts(np, found * scale)


def _dft_arguments(x: Any, axis: int, inverse: bool = False, scale: float = 1.0) -> Any:
    return (x,), (axis, inverse, scale)


dft = Op("dft", Kind.SCAN, "x", types=_floats("dft"), shape=lambda _, s: s[0],
         arguments=_dft_arguments, reference=_dft, samples=Samples(cases=()), public=False)


def _half(arg: Any, shapes: Any) -> Any:
    axis = arg[0]
    s = shapes[0]
    return (*s[:axis], s[axis] // 2 + 1, *s[axis + 1 :], 2)

rdft = Op("rdft", Kind.SCAN, "x", types=_floats("rdft"), shape=_half,
         arguments=lambda x, axis, scale=1.0: ((x,), (axis, scale)), reference=lambda np, x, axis, scale=1.0: _parts(np, np.fft.rfft(x, axis=axis)*scale),
         samples=Samples(cases=()), public=False)


def _whole(arg: Any, shapes: Any) -> Any:
    axis = arg[0]
    s = shapes[0]
    return (*s[:axis], 2 * s[axis] - 2, *s[axis + 1 : -1])

irdft = Op("irdft", Kind.SCAN, "x", types=_floats("irdft"), shape=_whole,
         arguments=lambda x, axis, scale=1.0: ((x,), (axis, scale)), reference=lambda np, x, axis, scale=1.0: np.fft.irfft(_pairs(np, x), axis=axis, norm="forward")*scale,
         samples=Samples(cases=()), public=False)
