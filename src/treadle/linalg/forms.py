"""What linear algebra calls otherwise, or takes along other axes, than the functions at the top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from treadle import functions as top
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.linalg.functions import matrix_norm
from treadle.ops.words import Words, translated
from treadle.tensor.tensor import Tensor

Axes = int | Sequence[int] | None


def _said(name: str, function: Any, args: tuple[Any, ...], words: Any) -> tuple[Any, ...]:
    """The arguments of a call in PyTorch's words."""
    found = translated(name, function, args, words)
    return args if found is None else found[1]


def diagonal(
    x: Tensor, offset: int = 0, axis1: int = -2, axis2: int = -1, **words: Unpack[Words]
) -> Tensor:
    """The elements of a diagonal of matrices, as a last axis."""
    if words:
        return diagonal(*_said("diagonal", diagonal, (x, offset, axis1, axis2), words))
    return top.diagonal(x, offset, axis1, axis2)


def trace(x: Tensor, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sum of a diagonal of matrices, added in a dtype."""
    return top.sum(top.diagonal(x, offset, -2, -1), -1, dtype=dtype)


def norm(
    x: Tensor,
    ord: str | float | None = None,  # noqa: A002 - NumPy's name
    axis: Axes = None,
    keepdims: bool = False,
    **words: Unpack[Words],
) -> Tensor:
    """The norm of vectors along an axis, or of matrices in two: `vector_norm` or `matrix_norm`.

    Without axes that of x itself, a vector or a matrix. Without ord the root of the sum of squares,
    over all axes if none are named.

    >>> import treadle as td
    >>> td.linalg.norm(td.tensor([3.0, 4.0])).item()
    5.0
    """
    if words:
        return norm(*_said("norm", norm, (x, ord, axis, keepdims), words))
    axes = (axis,) if isinstance(axis, int) else axis
    if ord is None:
        return top.vector_norm(x, 2, axes, keepdims)
    if axes is None and x.ndim in (1, 2):
        axes = tuple(range(x.ndim))
    if axes is None or len(axes) > 2:
        hint = "name one axis of vectors or two of matrices"
        raise ShapeError(explain("norm", "which axes?", hint, shape=x.shape, ord=ord))
    if len(axes) == 2:
        return matrix_norm(x, ord, axes, keepdims)
    if isinstance(ord, str):
        raise ArgumentError(explain("norm", "a norm of matrices", "name two axes", ord=ord))
    return top.vector_norm(x, ord, axes, keepdims)


def vander(x: Tensor, N: int | None = None) -> Tensor:  # noqa: N803 - NumPy's name
    """The powers of each element of vectors, rising from 0, as a last axis.

    N: how many; as many as a vector has elements if left out. `td.vander` has NumPy's order.

    >>> import treadle as td
    >>> td.linalg.vander(td.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[[1.0, 1.0], [1.0, 2.0]], [[1.0, 3.0], [1.0, 4.0]]]
    """
    if not x.ndim:
        raise ShapeError(explain("vander", "needs vectors", shape=x.shape))
    count = x.shape[-1] if N is None else N
    return top.vander(x.reshape(-1), count, True).reshape(*x.shape, count)
