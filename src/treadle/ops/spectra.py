"""Spectra of tensors: lengths, norms and several axes over the rows of `ops/fourier.py`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

from treadle.base.dtypes import float32
from treadle.base.errors import ArgumentError, DtypeError, OperandError, ShapeError, explain
from treadle.base.shapes import axis_in
from treadle.ops.elementwise import cast
from treadle.ops.fourier import conjugated, dft, irdft, rdft
from treadle.ops.movement import concat, cut, flip, pad
from treadle.ops.parts import view_as_complex, view_as_real

NORMS = ("backward", "ortho", "forward")


def tensor_in(name: str, x: Any) -> Any:
    """The operand as a tensor of floats that there are kernels for, or of complex numbers."""
    if not hasattr(x, "_apply"):
        hint = "wrap it with td.tensor(...)"
        raise OperandError(explain(name, "not a tensor", hint, got=type(x).__name__))
    narrow = not x.dtype.is_complex and (not x.dtype.is_float or x.dtype.is_storage)
    return cast(x, float32) if narrow else x


def real_in(name: str, x: Any) -> Any:
    """The operand, which is real."""
    x = tensor_in(name, x)
    if x.dtype.is_complex:
        hint = "take x.real, or td.fft.fft for a whole spectrum"
        raise DtypeError(explain(name, "needs real numbers", hint, dtype=x.dtype.name))
    return x


def length_in(name: str, n: Any, fallback: int) -> int:
    """How many points there are: n, or what the tensor has."""
    try:
        size = index(fallback if n is None else n)
    except TypeError:
        wrong = "a length is an integer"
        raise ArgumentError(explain(name, wrong, got=repr(n))) from None
    if size < 1:
        raise ShapeError(explain(name, "needs at least one point", "n >= 1", n=size))
    return size


def scale_of(name: str, norm: str | None, count: int, backward: bool) -> float:
    """What results are multiplied by; "backward", the default, divides on the way back."""
    if norm not in (None, *NORMS):
        hint = f"one of {', '.join(NORMS)}"
        raise ArgumentError(explain(name, "no such norm", hint, norm=repr(norm)))
    if norm == "ortho":
        return 1.0 / math.sqrt(count)
    return 1.0 / count if (norm == "forward") is not backward else 1.0


def fitted(x: Any, axis: int, n: int) -> Any:
    """x cut off, or continued by zeros, to n elements along an axis."""
    size = x.shape[axis]
    if n == size:
        return x
    if n < size:
        return cut(x, axis, 0, n)
    edges = [(0, 0)] * x.ndim
    edges[axis] = (0, n - size)
    return pad(x, edges)


# ---- one axis; x is a tensor of floats or of complex numbers, axis counted from 0


def whole(x: Any, axis: int, n: int, backward: bool, scale: float) -> Any:
    """All of a spectrum; the second half of that of reals mirrors the first."""
    x = fitted(x, axis, n)
    if x.dtype.is_complex:
        return view_as_complex(dft(view_as_real(x), axis, backward, scale))
    half = rdft(x, axis, scale)
    mirrored = flip(cut(half, axis, 1, (n + 1) // 2), axis)
    first, last = (half, conjugated(mirrored)) if not backward else (conjugated(half), mirrored)
    return view_as_complex(concat([first, last], axis=axis))


def half(x: Any, axis: int, n: int, scale: float) -> Any:
    """Half the spectrum of reals."""
    return view_as_complex(rdft(fitted(x, axis, n), axis, scale))


def from_half(x: Any, axis: int, n: int, scale: float, conjugate: bool = False) -> Any:
    """n reals from half of their spectrum, or from its conjugate."""
    found = view_as_real(fitted(x, axis, n // 2 + 1))
    return irdft(conjugated(found) if conjugate else found, axis, n, scale)


# ---- several axes


def sizes_in(
    name: str, x: Any, s: Sequence[int] | int | None, axes: Sequence[int] | int | None,
    least: int = 0, halved: bool = False,
) -> list[tuple[int, int]]:  # fmt: skip
    """Axes, and how many points each has; halved: x has only half of those of the last axis."""
    lengths = [s] if isinstance(s, int) else s
    if axes is None:
        first = 0 if lengths is None else x.ndim - len(lengths)
        axes = range(first, x.ndim)
    chosen = [axis_in(name, a, x.ndim) for a in ([axes] if isinstance(axes, int) else axes)]
    if len(set(chosen)) < len(chosen):
        raise ShapeError(explain(name, "an axis is named twice", axes=tuple(chosen)))
    if len(chosen) < least:
        raise ShapeError(explain(name, "needs an axis", "name one: axes=(-1,)", shape=x.shape))
    if lengths is not None and len(lengths) != len(chosen):
        hint = "one length for every axis"
        facts = {"s": tuple(lengths), "axes": tuple(chosen)}
        raise ShapeError(explain(name, "as many lengths as axes", hint, **facts))
    own: list[Any] = [x.shape[a] for a in chosen]
    if halved:
        own[-1] = 2 * (own[-1] - 1)
    given = [None] * len(chosen) if lengths is None else [None if n == -1 else n for n in lengths]
    sizes = [length_in(name, n, size) for n, size in zip(given, own, strict=True)]
    return list(zip(chosen, sizes, strict=True))
