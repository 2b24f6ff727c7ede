"""`checkpoint`: memory saved by computing a part of the forward pass twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.autograd.checkpoint import SEGMENTS, segment_of
from treadle.base.errors import ArgumentError, explain, require_function
from treadle.base.trees import flatten, unflatten
from treadle.ir.recording import GRADIENTS
from treadle.ops.picking import clone
from treadle.tensor.tensor import Tensor


def checkpoint(f: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """f(*args), whose inner values are computed again for the gradient instead of being kept.

    The tensors it works on must be among the arguments; parameters may be closed over. Where f
    returns several tensors, each one's gradient computes f again.

    >>> import treadle as td
    >>> x = td.tensor([1.0, 2.0]).requires_grad_()
    >>> checkpoint(lambda x: td.exp(td.sin(x)), x).sum().backward()
    >>> [round(value, 4) for value in x.grad.tolist()]
    [1.2534, -1.0331]
    """
    require_function("checkpoint", f)
    given: list[Tensor] = []
    shape = flatten((args, options), Tensor, given)
    if not given:
        hint = "pass the tensors it works on: checkpoint(f, x)"
        raise ArgumentError(explain("checkpoint", "no tensor among the arguments", hint))
    inner = [clone(x) for x in given]
    args, options = unflatten(shape, inner)
    outputs: list[Tensor] = []
    shape = flatten(f(*args, **options), Tensor, outputs)
    starts = [x._node for x in inner]
    return unflatten(shape, [_segment(y, starts) for y in outputs])


def _segment(y: Tensor, arguments: list[Any]) -> Tensor:
    if not (y.requires_grad and GRADIENTS.on) or y._node in arguments:
        return y
    segment = segment_of(y._node, arguments)
    if segment is None:
        return y
    result: Tensor = clone(y)
    SEGMENTS[result._node] = segment
    return result
