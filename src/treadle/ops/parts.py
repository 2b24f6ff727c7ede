"""Rows about the parts of complex numbers: angles, and numbers made of parts."""

from __future__ import annotations

from typing import Any

from treadle.base.errors import DtypeError, ShapeError, explain
from treadle.ops.composite import composite
from treadle.ops.defs import JUMPS, Samples
from treadle.ops.elementwise import cast, complex_, cos, eq, imag, real, sin
from treadle.ops.movement import concat, cut
from treadle.ops.numeric import atan2
from treadle.ops.rules import pair

POINTS = Samples(cases=(((3, 5), {}), ((4,), {}), ((), {}), ((0, 2), {})), smooth=False)


@composite(lambda np, x: np.angle(x), POINTS)
def angle(x: Any, /) -> Any:
    """The angle of a complex number with the positive axis, from -pi to pi; 0 or pi of a real one.

    >>> import treadle as td
    >>> td.angle(td.tensor([1j, -1.0])).tolist()
    [1.5707963705062866, 3.1415927410125732]
    """
    return atan2(imag(x), real(x))


@composite(lambda np, size, angle: size * np.exp(1j * angle), Samples(0.1, 3.0))
def polar(abs: Any, angle: Any, /) -> Any:  # noqa: A002 - PyTorch's name
    """The complex numbers of these sizes and angles.

    >>> import treadle as td
    >>> td.polar(td.tensor([2.0]), td.tensor([0.0])).tolist()
    [(2+0j)]
    """
    (kind, _), _ = pair("polar", (abs.dtype, angle.dtype))
    size, turn = cast(abs, kind), cast(angle, kind)
    return complex_(size * cos(turn), size * sin(turn))


@composite(lambda np, x: np.imag(x) == 0, grad=JUMPS)
def isreal(x: Any, /) -> Any:
    """True where the imaginary part is 0."""
    return eq(imag(x), 0)


def _in_two(np: Any, x: Any) -> Any:
    return np.stack([x.real, x.imag], -1)


@composite(_in_two, POINTS)
def view_as_real(x: Any, /) -> Any:
    """Real and imaginary parts along a new last axis.

    >>> import treadle as td
    >>> td.view_as_real(td.tensor([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    wide = (*x.shape, 1)
    return concat([real(x).reshape(wide), imag(x).reshape(wide)], axis=x.ndim)


@composite(
    lambda np, x: x[..., 0] + 1j * x[..., 1],
    Samples(cases=(((3, 2), {}), ((2,), {}), ((0, 2), {}), ((4, 7, 2), {}))),
)
def view_as_complex(x: Any, /) -> Any:
    """The numbers whose parts lie along the last axis, which has two elements.

    >>> import treadle as td
    >>> td.view_as_complex(td.tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    if x.dtype.is_complex:
        hint = "it takes real and imaginary parts"
        raise DtypeError(explain("view_as_complex", "complex already", hint, dtype=x.dtype.name))
    if not x.shape or x.shape[-1] != 2:
        hint = "the last axis holds the real and the imaginary part"
        raise ShapeError(explain("view_as_complex", "not two parts", hint, shape=x.shape))
    first, second = (cut(x, x.ndim - 1, k, k + 1).reshape(x.shape[:-1]) for k in (0, 1))
    return complex_(first, second)
