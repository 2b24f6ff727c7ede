"""Gradients as functions of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from treadle.base.errors import GradientError, explain
from treadle.tensor.tensor import Tensor, gradients


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
        y = f(*args, **options)
        if not isinstance(y, Tensor) or y.shape != ():
            hint = "return a scalar tensor, e.g. loss.mean()"
            raise GradientError(explain("grad", "needs a scalar result", hint, got=y))
        parts = gradients(y, [args[k] for k in numbers])
        return y, parts[0] if isinstance(argnums, int) else tuple(parts)

    return wrapped


def grad(f: Callable[..., Tensor], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that returns the gradient of f's scalar result by the arguments in argnums."""
    both = value_and_grad(f, argnums)

    @wraps(f)
    def wrapped(*args: Any, **options: Any) -> Any:
        return both(*args, **options)[1]

    return wrapped
