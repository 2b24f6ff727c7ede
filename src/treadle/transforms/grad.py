"""Gradients as functions of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from treadle.base.errors import GradientError, explain
from treadle.tensor.tensor import Tensor, gradients
from treadle.transforms.compile import INLINE


def value_and_grad(
    f: Callable[..., Tensor], argnums: int | Sequence[int] = 0
) -> Callable[..., tuple[Tensor, Any]]:
    """A function that returns f's scalar result and its gradient by the arguments in argnums.

    >>> import treadle as td
    >>> f = value_and_grad(lambda x: (x * x).sum())
    >>> [float(part.sum()) for part in f(td.tensor([1.0, 2.0]))]
    [5.0, 6.0]
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @wraps(f)
    def wrapped(*args: Any, **options: Any) -> tuple[Tensor, Any]:
        INLINE.push(f)
        try:
            y = f(*args, **options)
        finally:
            INLINE.pop()
        if not isinstance(y, Tensor) or y.shape != ():
            hint = "return a scalar tensor, e.g. loss.mean()"
            raise GradientError(explain("grad", "needs a scalar result", hint, got=y))
        parts = gradients(y, [_chosen(args, k) for k in numbers])
        return y, parts[0] if isinstance(argnums, int) else tuple(parts)

    return wrapped


def _chosen(args: tuple[Any, ...], number: int) -> Tensor:
    """The argument with a number, which must be one that has a gradient."""
    x = args[number] if -len(args) <= number < len(args) else None
    if not isinstance(x, Tensor) or not x.dtype.is_float:
        got = x.dtype.name if isinstance(x, Tensor) else type(x).__name__
        hint = "argnums are the numbers of positional arguments that are float tensors"
        raise GradientError(explain("grad", f"argument {number} has no gradient", hint, got=got))
    return x


def grad(f: Callable[..., Tensor], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that returns the gradient of f's scalar result by the arguments in argnums."""
    both = value_and_grad(f, argnums)

    @wraps(f)
    def wrapped(*args: Any, **options: Any) -> Any:
        return both(*args, **options)[1]

    return wrapped
