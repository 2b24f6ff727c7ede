"""Rows of the discrete Fourier transforms along an axis, on pairs (real, imaginary).

A last axis of 2 holds the parts, as complex numbers lie in memory. Kernels take lengths without
large prime factors; other lengths are convolutions with a chirp (Bluestein 1970), and on devices
that have no kernels all are products with matrices of roots of unity.
"""

from __future__ import annotations

import math
from operator import index
from typing import Any

from treadle.base.dtypes import float32, float64
from treadle.base.errors import ShapeError, explain
from treadle.base.knobs import TF32
from treadle.base.shapes import axis_in
from treadle.ops import rules
from treadle.ops.contract import matrix_product
from treadle.ops.defs import Kind, Op, Samples
from treadle.ops.elementwise import cast, cos, eq, sin, where
from treadle.ops.movement import concat, cut, flip, inverse, pad, permute

LARGEST_PRIME = 251  # of lengths that kernels take
FEWEST = 4  # prime factors of a long line, which is a matrix of lines of two at least
LONG = 2048  # points: longer lines are transformed where they are contiguous
DIRECT = 256  # points of a transform that is one product
NO_KERNELS = ("cuda",)


def has_kernels(n: int) -> bool:
    """Are all prime factors of a length small, and enough of them to cut a long line twice?"""
    rest, count = n, 0
    for prime in range(2, LARGEST_PRIME + 1):
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
    return rest == 1 and (n <= LONG or count >= FEWEST)


def _next_smooth(n: int) -> int:
    """The least length from n on whose prime factors are 2, 3 and 5."""
    while True:
        rest = n
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return n
        n += 1


# ---- pairs


def parts(x: Any) -> tuple[Any, Any]:
    """Real and imaginary parts, with a last axis of 1."""
    return cut(x, x.ndim - 1, 0, 1), cut(x, x.ndim - 1, 1, 2)


def paired(re: Any, im: Any) -> Any:
    """Parts, with a last axis of 1, as pairs."""
    return concat([re, im], axis=re.ndim - 1)


def multiplied(x: Any, y: Any) -> Any:
    """Products of complex numbers."""
    (a, b), (c, d) = parts(x), parts(y)
    return paired(a * c - b * d, a * d + b * c)


def conjugated(x: Any) -> Any:
    """With the other sign of the imaginary part."""
    re, im = parts(x)
    return paired(re, -im)


def turns(steps: Any, whole: int, kind: Any, backward: bool) -> Any:
    """exp(-2 pi i steps / whole) as pairs of a dtype; steps are integers, with a last axis of 1."""
    rest = steps % whole
    angle = cast(where(rest * 2 > whole, rest - whole, rest), float64) * (2 * math.pi / whole)
    wave = sin(angle)
    return cast(paired(cos(angle), wave if backward else -wave), kind)


def _last(x: Any, axis: int, at: int) -> tuple[Any, tuple[int, ...]]:
    """x with an axis moved to a place near the end, and the order of axes that undoes it."""
    order = [k for k in range(x.ndim) if k != axis]
    order.insert(at, axis)
    return permute(x, tuple(order)), inverse(order)


def _lies_across(x: Any, axis: int, end: int) -> bool:
    """Are neighbours of long lines far apart?"""
    return bool(x.shape[axis] > LONG and math.prod(x.shape[axis + 1 : end]) != 1)


# ---- any length


def _by_chirp(x: Any, axis: int, backward: bool, scale: float) -> Any:
    """2 j k = j^2 + k^2 - (k - j)^2: a convolution, by transforms of a better length."""
    n = x.shape[axis]
    size = _next_smooth(2 * n - 1)
    place = x.iota_like(axis)
    chirp = turns(place * place, 2 * n, x.dtype, backward)
    other = conjugated(chirp)
    mirrored = flip(cut(other, axis, 1, n), axis)
    edges = [(0, 0)] * x.ndim
    edges[axis] = (0, size - 2 * n + 1)
    wave = concat([pad(other, edges), mirrored], axis=axis)
    edges[axis] = (0, size - n)
    spectrum = multiplied(dft(pad(multiplied(x, chirp), edges), axis), dft(wave, axis))
    found = dft(spectrum, axis, True, scale / size)
    return multiplied(cut(found, axis, 0, n), chirp)


def _by_products(x: Any, axis: int, backward: bool, scale: float) -> Any:
    """Rows and columns of a matrix, one after the other, until a product is short enough."""
    n = x.shape[axis]
    moved, back = _last(x, axis, x.ndim - 2)
    lead = moved.shape[:-2]
    rows = n if n <= DIRECT else next(r for r in range(DIRECT, 0, -1) if n % r == 0)
    columns = n // rows
    # (..., j1, j2, 2) to (..., j2, j1, 2), so that rows are transformed first
    square = moved.reshape((*lead, rows, columns, 2)).transpose(-3, -2)
    first = _product(square, backward, scale)
    if columns > 1:
        j, k = (first.iota_like(a) for a in (first.ndim - 3, first.ndim - 2))
        first = multiplied(first, turns(j * k, n, x.dtype, backward)).transpose(-3, -2)
        first = dft(first, first.ndim - 2, backward).transpose(-3, -2)
    return first.reshape(moved.shape).permute(back)


def _product(x: Any, backward: bool, scale: float) -> Any:
    """The last but one axis transformed by a matrix of roots."""
    n = x.shape[-2]
    j, k = x.iota_like(x.ndim - 2), x.iota_like(x.ndim - 2)
    j, k = j.reshape((n, 1, 1)), k.reshape((1, n, 1))
    kind = float64 if TF32.value else x.dtype  # who wants coarse products means others than these
    c, s = (part.reshape((n, n)) * scale for part in parts(turns(j * k, n, kind, backward)))
    a, b = (cast(part.reshape(x.shape[:-1]), kind) for part in parts(x))
    re, im = _times(a, c) - _times(b, s), _times(a, s) + _times(b, c)
    return cast(paired(re.reshape((*re.shape, 1)), im.reshape((*im.shape, 1))), x.dtype)


def _times(x: Any, matrix: Any) -> Any:
    lines = x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))
    return matrix_product(lines, matrix).reshape(x.shape)


# ---- the rows


def _floats(name: str) -> Any:
    def rule(dtypes: Any) -> Any:
        rules.require(name, dtypes, (float32, float64))
        return tuple(dtypes), dtypes[0]

    return rule


def _rank(name: str, x: Any) -> int:
    """How many axes there are before that of the parts."""
    if not x.shape or x.shape[-1] != 2:
        raise ShapeError(explain(name, "the last axis has two parts", shape=x.shape))
    return int(x.ndim - 1)


def _dft(x: Any, axis: int, backward: bool = False, scale: float = 1.0) -> Any:
    """Of one point nothing is left to do; long lines are moved to where they are contiguous."""
    axis = axis_in("dft", axis, _rank("dft", x))
    n = index(x.shape[axis])
    if n == 1:
        return x * scale
    if not has_kernels(n):
        return _by_chirp(x, axis, backward, scale)
    if x.device.backend in NO_KERNELS:
        return _by_products(x, axis, backward, scale)
    if _lies_across(x, axis, -1):
        moved, back = _last(x, axis, x.ndim - 2)
        return dft(moved, x.ndim - 2, backward, scale).permute(back)
    return (x,), (axis, bool(backward), float(scale))


def _dft_reference(np: Any, x: Any, axis: int, backward: bool = False, scale: float = 1.0) -> Any:
    z = x[..., 0] + 1j * x[..., 1]
    found = np.fft.ifft(z, axis=axis, norm="forward") if backward else np.fft.fft(z, axis=axis)
    return np.stack([found.real, found.imag], -1) * scale


dft: Op = Op(
    "dft", Kind.SCAN, "The discrete Fourier transform of pairs along an axis, times a scale.",
    types=_floats("dft"), shape=lambda _, shapes: shapes[0], arguments=_dft,
    grad=lambda g, y, x: (dft(g, y.arg[0], not y.arg[1], y.arg[2]),),
    reference=_dft_reference, flops=32.0, public=False,
    samples=Samples(cases=tuple(
        (shape, {"axis": axis, "backward": bool(k % 2), "scale": 0.5})
        for k, (shape, axis) in enumerate((
            ((8, 2), 0), ((3, 12, 2), 1), ((20, 16, 2), 1), ((15, 18, 2), 0), ((3, 7, 5, 2), 1),
            ((22, 2), 0), ((1, 2), 0), ((2, 257, 2), 1), ((0, 4, 2), 1), ((17, 64, 2), 1),
        ))
    )),
)  # fmt: skip


def _rdft(x: Any, axis: int, scale: float = 1.0) -> Any:
    """Neighbouring reals are one point; an odd number of them has imaginary parts of 0."""
    axis = axis_in("rdft", axis, x.ndim)
    n = index(x.shape[axis])
    if n % 2 or not has_kernels(n // 2) or x.device.backend in NO_KERNELS:
        wide = x.reshape((*x.shape, 1))
        whole = dft(paired(wide, wide.zeros_like()), axis, False, scale)
        return cut(whole, axis, 0, n // 2 + 1)
    if _lies_across(x, axis, x.ndim):
        moved, back = _last(x, axis, x.ndim - 1)
        return rdft(moved, x.ndim - 1, scale).permute((*back, x.ndim))
    return (x,), (axis, float(scale))


def _half(arg: Any, shapes: Any) -> Any:
    axis, (shape,) = arg[0], shapes
    return (*shape[:axis], shape[axis] // 2 + 1, *shape[axis + 1 :], 2)


def weighted(x: Any, axis: int, weight: float) -> Any:
    """Pairs between the ends of half a spectrum, which stand for two each, times a weight."""
    place, n = x.iota_like(axis), x.shape[axis]
    ends = eq(place, 0) | eq(place, n - 1)
    return x * cast(where(ends, 1.0, weight), x.dtype)


def _rdft_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    axis, scale = y.arg
    return (irdft(weighted(g, axis, 0.5), axis, x.shape[axis], scale),)


def _rdft_reference(np: Any, x: Any, axis: int, scale: float = 1.0) -> Any:
    found = np.fft.rfft(x, axis=axis)
    return np.stack([found.real, found.imag], -1) * scale


rdft: Op = Op(
    "rdft", Kind.SCAN, "The first half of the spectrum of reals along an axis, as pairs.",
    types=_floats("rdft"), shape=_half, arguments=_rdft,
    grad=_rdft_grad,
    reference=_rdft_reference, flops=16.0, public=False,
    samples=Samples(cases=tuple(
        (shape, {"axis": axis, "scale": 0.5})
        for shape, axis in (
            ((8,), 0), ((3, 12), 1), ((20, 16), 1), ((20, 18), 0), ((3, 14, 5), 1), ((7,), 0),
            ((2,), 0), ((1,), 0), ((2, 514), 1), ((0, 4), 1), ((17, 64), 1),
        )
    )),
)  # fmt: skip


def _irdft(x: Any, axis: int, n: int, scale: float = 1.0) -> Any:
    """The other half of the spectrum mirrors the first."""
    axis = axis_in("irdft", axis, _rank("irdft", x))
    index(x.shape[axis])  # n tells it, too
    if n % 2 or not has_kernels(n // 2) or x.device.backend in NO_KERNELS:
        mirrored = flip(conjugated(cut(x, axis, 1, (n + 1) // 2)), axis)
        whole = dft(concat([x, mirrored], axis=axis), axis, True, scale)
        return parts(whole)[0].reshape(whole.shape[:-1])
    if _lies_across(x, axis, -1):
        moved, back = _last(x, axis, x.ndim - 2)
        return irdft(moved, x.ndim - 2, n, scale).permute(back[:-1])
    return (x,), (axis, int(n), float(scale))


def _whole(arg: Any, shapes: Any) -> Any:
    axis, n, _ = arg
    (shape,) = shapes
    return (*shape[:axis], n, *shape[axis + 1 : -1])


def _irdft_reference(np: Any, x: Any, axis: int, n: int, scale: float = 1.0) -> Any:
    z = x[..., 0] + 1j * x[..., 1]
    return np.fft.irfft(z, n, axis=axis, norm="forward") * scale


irdft: Op = Op(
    "irdft", Kind.SCAN,
    "n reals along an axis from the n // 2 + 1 pairs that are half of their spectrum.",
    types=_floats("irdft"), shape=_whole, arguments=_irdft,
    grad=lambda g, y, x: (weighted(rdft(g, y.arg[0], y.arg[2]), y.arg[0], 2.0),),
    reference=_irdft_reference, flops=16.0, public=False,
    samples=Samples(cases=tuple(
        (shape, {"axis": axis, "n": n, "scale": 0.5})
        for shape, axis, n in (
            ((5, 2), 0, 8), ((3, 7, 2), 1, 12), ((20, 9, 2), 1, 16), ((10, 18, 2), 0, 18),
            ((3, 8, 5, 2), 1, 14), ((4, 2), 0, 7), ((2, 2), 0, 2), ((1, 2), 0, 1),
            ((2, 258, 2), 1, 514), ((0, 3, 2), 1, 4), ((17, 33, 2), 1, 64),
        )
    )),
)  # fmt: skip
