"""Operators and methods shared by graph nodes and tensors, written once over the op table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, Unpack

from treadle.base.dtypes import DType
from treadle.base.errors import ArgumentError, ShapeError, explain, needed
from treadle.base.shapes import Shape, axis_in
from treadle.ops import composite as c
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops import numeric as f
from treadle.ops import reduce as r
from treadle.ops.words import Words

MOST_FACTORS = 99  # of a complex number: a power by its logarithm is less exact than so many


class Syntax:
    """Everything that reads the same on a node and on a tensor; `_apply` records."""

    __slots__ = ()

    shape: Shape
    dtype: DType

    _apply: Callable[[Any, tuple[Any, ...], Any], Any]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    # fmt: off
    # ---- operators
    def __add__(self, other: Any) -> Self: return self._apply(e.add, (self, other), None)
    def __radd__(self, other: Any) -> Self: return self._apply(e.add, (other, self), None)
    def __sub__(self, other: Any) -> Self: return self._apply(e.sub, (self, other), None)
    def __rsub__(self, other: Any) -> Self: return self._apply(e.sub, (other, self), None)
    def __mul__(self, other: Any) -> Self: return self._apply(e.mul, (self, other), None)
    def __rmul__(self, other: Any) -> Self: return self._apply(e.mul, (other, self), None)
    def __truediv__(self, other: Any) -> Self: return self._apply(e.div, (self, other), None)
    def __rtruediv__(self, other: Any) -> Self: return self._apply(e.div, (other, self), None)
    def __floordiv__(self, other: Any) -> Self: return e.floor_divide(self, other)
    def __rfloordiv__(self, other: Any) -> Self: return e.floor_divide(other, self)
    def __mod__(self, other: Any) -> Self: return self._apply(e.remainder, (self, other), None)
    def __rmod__(self, other: Any) -> Self: return self._apply(e.remainder, (other, self), None)
    def __neg__(self) -> Self: return self._apply(e.neg, (self,), None)
    def __pos__(self) -> Self: return f.positive(self)
    def __round__(self, decimals: int = 0) -> Self: return e.round_(self, decimals)
    def __abs__(self) -> Self: return self._apply(e.abs_, (self,), None)
    def __matmul__(self, other: Any) -> Self: return c.matmul(self, other)
    def __rmatmul__(self, other: Any) -> Self: return c.matmul(other, self)
    def __and__(self, other: Any) -> Self: return self._apply(e.bitwise_and, (self, other), None)
    def __or__(self, other: Any) -> Self: return self._apply(e.bitwise_or, (self, other), None)
    def __xor__(self, other: Any) -> Self: return self._apply(e.bitwise_xor, (self, other), None)
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__
    def __lshift__(self, other: Any) -> Self: return self._apply(e.shift_left, (self, other), None)
    def __rshift__(self, other: Any) -> Self: return self._apply(e.shift_right, (self, other), None)
    def __rlshift__(self, other: Any) -> Self: return e.shift_left(other, self)
    def __rrshift__(self, other: Any) -> Self: return e.shift_right(other, self)
    def __invert__(self) -> Self:
        if self.dtype.kind == "bool":
            return self._apply(e.eq, (self, False), None)
        return self ^ (-1 if self.dtype.kind == "int" else self.dtype.greatest)
    def __lt__(self, other: Any) -> Self: return self._apply(e.lt, (self, other), None)
    def __le__(self, other: Any) -> Self: return self._apply(e.le, (self, other), None)
    def __gt__(self, other: Any) -> Self: return self._apply(e.gt, (self, other), None)
    def __ge__(self, other: Any) -> Self: return self._apply(e.ge, (self, other), None)
    # fmt: on

    def __pow__(self, other: Any) -> Self:
        if self.dtype.is_inexact:
            most = MOST_FACTORS if self.dtype.is_complex else 4
            if isinstance(other, int) and 0 < other <= most:  # exact, and cheaper than a power
                return self._multiplied(other)
            if self.dtype.is_complex and isinstance(other, int) and -most <= other < 0:
                return 1.0 / self._multiplied(-other)
            if isinstance(other, float) and other == 0.5:
                return e.sqrt(self)
            return self._apply(e.float_power, (self, other), None)
        if isinstance(other, int) and self.dtype.is_integer:
            if other < 0:
                hint = "cast the tensor to a float first"
                raise ArgumentError(explain("pow", "an integer to a negative power", hint, y=other))
            if other > 0:
                return self._multiplied(other)
        return f.pow_(self, other)

    def _multiplied(self, times: int) -> Self:
        """A product of as many factors, by squaring."""
        result, factor = (f.positive(self) if times == 1 else self) if times & 1 else None, self
        while times := times >> 1:
            factor = factor * factor
            if times & 1:
                result = factor if result is None else result * factor
        return needed("pow", result, "factor")

    def __rpow__(self, other: Any) -> Self:
        return f.pow_(other, self)

    # ---- shapes

    def reshape(self, *shape: Any, copy: bool | None = None) -> Self:
        """The same elements under another shape; -1 is worked out. copy: any answer is right."""
        if len(shape) == 1 and shape[0] == self.shape:
            return self
        return m.reshape(self, *(shape or ((),)))

    def expand(self, *shape: Any) -> Self:
        """Broadcast to a shape."""
        if len(shape) == 1 and shape[0] == self.shape:
            return self
        return m.expand(self, *(shape or ((),)))

    def permute(self, *axes: Any) -> Self:
        """The axes in another order."""
        return m.permute(self, *(axes or ((),)))

    def transpose(self, axis0: int, axis1: int) -> Self:
        """Two axes exchanged."""
        axes = list(range(self.ndim))
        i, j = (axis_in("transpose", axis, self.ndim) for axis in (axis0, axis1))
        axes[i], axes[j] = axes[j], axes[i]
        return m.permute(self, tuple(axes))

    @property
    def mT(self) -> Self:  # noqa: N802
        """The last two axes exchanged."""
        return self.transpose(-2, -1)

    @property
    def T(self) -> Self:  # noqa: N802
        """The matrix transposed."""
        if self.ndim != 2:
            hint = "use mT or permute for other ranks"
            raise ShapeError(explain("T", "needs two axes", hint, shape=self.shape))
        return self.transpose(0, 1)

    @property
    def mH(self) -> Self:  # noqa: N802
        """The last two axes exchanged, and the conjugate."""
        return e.conj(self.mT)

    @property
    def H(self) -> Self:  # noqa: N802
        """The matrix transposed and conjugated."""
        return e.conj(self.T)

    @property
    def real(self) -> Self:
        """The real part."""
        return e.real(self)

    @property
    def imag(self) -> Self:
        """The imaginary part: 0 if the numbers are real."""
        return e.imag(self)

    def t(self) -> Self:
        """The matrix transposed; what has fewer axes stays as it is."""
        return self if self.ndim < 2 else self.T

    def cast(self, dtype: Any) -> Self:
        """The elements in another dtype."""
        return e.cast(self, dtype)

    def where(self, condition: Any, other: Any) -> Self:
        """These elements where the condition holds, others elsewhere."""
        return e.where(condition, self, other)

    def sum(
        self, axis: Any = None, keepdims: bool = False, dtype: Any = None, **words: Any
    ) -> Self:
        """Sum along axes, added in a dtype."""
        return r.sum_(self, axis, keepdims, dtype, **words)

    def max(self, axis: Any = None, keepdims: bool = False, **words: Unpack[Words]) -> Self:
        """Largest element along axes."""
        return r.max_(self, axis, keepdims, **words)

    def min(self, axis: Any = None, keepdims: bool = False, **words: Unpack[Words]) -> Self:
        """Smallest element along axes."""
        return r.min_(self, axis, keepdims, **words)
