"""Whole Jacobians and Hessians, a row for each element of the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from treadle.base.errors import GradientError, explain, require_function
from treadle.base.trees import unflatten
from treadle.ops.movement import concat
from treadle.tensor.creation import arange, tensor, zeros
from treadle.tensor.gradients import gradients
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE
from treadle.transforms.grad import form_of, grad, marked, recorded

TOGETHER = 16  # rows joined at a time


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that returns d(f)/d(argument), of the result's shape followed by the argument's.

    Rows are computed one after the other by one program, which is compiled once.

    >>> import treadle as td
    >>> jacobian(lambda x: x * x)(td.tensor([1.0, 3.0])).tolist()
    [[2.0, 0.0], [0.0, 6.0]]
    """
    require_function("jacobian", f)
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @wraps(f)
    def wrapped(*args: Any, **options: Any) -> Any:
        args, chosen = marked("jacobian", args, numbers)
        y = recorded(f, args, options)
        if not isinstance(y, Tensor) or not y.dtype.is_float:
            got = y.dtype.name if isinstance(y, Tensor) else type(y).__name__
            hint = "return one float tensor"
            raise GradientError(explain("jacobian", "needs a float result", hint, got=got))
        found = unflatten(form_of(args, numbers, []), _rows(y, chosen))
        return found[0] if isinstance(argnums, int) else found

    return wrapped


def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Tensor]:
    """A function that returns the second derivatives of f's scalar result by one argument.

    >>> import treadle as td
    >>> hessian(lambda x: (x * x * x).sum())(td.tensor([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    require_function("hessian", f)
    return jacobian(grad(f, argnums), argnums)


def _rows(y: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """A Jacobian for each input."""
    if not y.size or not all(x.size for x in inputs):
        return [zeros(y.shape + x.shape, dtype=x.dtype, device=x.device) for x in inputs]
    numbers = arange(y.size, device=y.device)
    rows: list[list[Tensor]] = []
    for k in range(y.size):
        # In memory, not in the graph: so that every row has the same structure.
        place = tensor(k, device=y.device)
        chosen = (numbers == place).cast(y.dtype).reshape(y.shape)
        rows.append([_settled(g.reshape(1, *g.shape)) for g in gradients(y, inputs, chosen)])
    return [
        _joined([row[k] for row in rows]).reshape(y.shape + x.shape) for k, x in enumerate(inputs)
    ]


def _joined(rows: list[Tensor]) -> Tensor:
    """Rows below each other, a few at a time: a kernel reads only so many."""
    while len(rows) > 1:
        groups = [rows[k : k + TOGETHER] for k in range(0, len(rows), TOGETHER)]
        rows = [_settled(concat(group)) if len(group) > 1 else group[0] for group in groups]
    return rows[0]


def _settled(x: Tensor) -> Tensor:
    return x if TRACE else x.realize()
