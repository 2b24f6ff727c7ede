"""Loops that count: `fori_loop`, between numbers that are known or that tensors hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.base.dtypes import int64
from treadle.base.errors import DtypeError, ShapeError, explain, require_function
from treadle.base.trees import flatten
from treadle.ir.node import iota
from treadle.tensor.tensor import Tensor
from treadle.transforms.bodies import as_tensors
from treadle.transforms.branches import looped_while
from treadle.transforms.loops import looped, whole


def fori_loop(
    lower: int | Tensor, upper: int | Tensor, body: Callable[[Tensor, Any], Any], init: Any
) -> Any:
    """body(i, state) -> state for each i from lower to upper - 1; the last state.

    Bounds that are tensors make it a `while_loop`, which has no gradient.

    >>> import treadle as td
    >>> fori_loop(0, 5, lambda i, total: total + i, td.tensor(0)).item()
    10
    """
    require_function("fori_loop", body)
    init = as_tensors(init)
    if isinstance(lower, Tensor) or isinstance(upper, Tensor):
        return _between(_bound("lower", lower), _bound("upper", upper), body, init)
    lower, upper = whole("fori_loop", "lower", lower), whole("fori_loop", "upper", upper)
    steps = max(0, upper - lower)
    device = _device(init)
    numbers = Tensor(iota((steps,), 0, device) + lower) if steps else Tensor(iota((0,), 0, device))

    def step(state: Any, i: Tensor) -> tuple[Any, None]:
        return body(i, state), None

    return looped("fori_loop", step, init, numbers, steps, False)[0]


def _between(lower: Any, upper: Any, body: Callable[[Tensor, Any], Any], init: Any) -> Any:
    """The loop whose number of steps is not known; one of the bounds at least is a tensor."""
    first = lower if isinstance(lower, Tensor) else upper * 0 + lower

    def step(carry: Any) -> Any:
        i, state = carry
        return i + 1, body(i, state)

    return looped_while("fori_loop", lambda carry: carry[0] < upper, step, (first, init))[1]


def _bound(name: str, value: Any) -> int | Tensor:
    if not isinstance(value, Tensor):
        return whole("fori_loop", name, value)
    if value.shape != ():
        raise ShapeError(explain("fori_loop", f"{name} is one number", shape=value.shape))
    if not value.dtype.is_integer:
        hint = "cast it: x.cast('int64')"
        raise DtypeError(
            explain("fori_loop", f"{name} is an integer", hint, dtype=value.dtype.name)
        )
    return value.cast(int64)


def _device(tree: Any) -> Any:
    leaves: list[Tensor] = []
    flatten(tree, Tensor, leaves)
    return leaves[0].device if leaves else None
