"""How gradients are kept from growing too large; all of it works inside compiled functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

from treadle.base.errors import ArgumentError, explain
from treadle.functions import clip, isfinite, maximum, minimum
from treadle.tensor.creation import tensor
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor

Several = Tensor | Iterable[Tensor]


def _with_gradients(parameters: Several) -> list[Tensor]:
    known = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p for p in known if p.grad is not None]


def get_total_norm(
    tensors: Several, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """The norm of all elements of several tensors together; foreach means nothing here."""
    known = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    with no_grad():
        total = _norm(known, float(norm_type))
    if error_if_nonfinite and not isfinite(total).item():
        hint = "error_if_nonfinite=False lets it pass"
        raise ArgumentError(explain("get_total_norm", "the norm is not finite", hint))
    return total


def _norm(tensors: Sequence[Tensor], order: float) -> Tensor:
    if not tensors:
        return tensor(0.0)
    parts = [x.cast(x.dtype.compute).abs() for x in tensors]
    if order == math.inf:
        return reduce(maximum, [x.max() for x in parts])
    if order == -math.inf:
        return reduce(minimum, [x.min() for x in parts])
    if order == 0.0:
        return reduce(add, [(x != 0).cast(x.dtype).sum() for x in parts])
    if order == 2.0:
        return reduce(add, [(x * x).sum() for x in parts]) ** 0.5
    return reduce(add, [(x**order).sum() for x in parts]) ** (1.0 / order)


def clip_grads_with_norm_(
    parameters: Several, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients down by max_norm / total_norm where that is below 1."""
    with no_grad():
        factor = clip(max_norm / (total_norm + 1e-6), max=1.0)
        for p in _with_gradients(parameters):
            found = p.grad * factor
            p.grad = found if found.dtype is p.dtype else found.cast(p.dtype)


def clip_grad_norm_(
    parameters: Several, max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale gradients so that their norm, of all together, is max_norm at most; the norm before."""
    known = _with_gradients(parameters)
    grads = [p.grad for p in known if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(known, max_norm, total)
    return total


def clip_grad_value_(parameters: Several, clip_value: float, foreach: bool | None = None) -> None:
    """Keep every element of the gradients within [-clip_value, clip_value]."""
    edge = float(clip_value)
    with no_grad():
        for p in _with_gradients(parameters):
            if p.grad is not None:
                p.grad = clip(p.grad, -edge, edge)
