"""A module called as a function of its parameters: what transforms of functions need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.nn.module import Module
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE

Values = Mapping[str, Tensor]


def functional_call(
    module: Module, parameters: Values | Sequence[Values], args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """module(*args, **kwargs) with other values for some of its parameters and buffers, by name.

    The module itself is as it was afterwards: what it assigns to those meanwhile is dropped. args
    that are no tuple are the one argument.

    >>> import treadle as td
    >>> layer = td.nn.Linear(2, 1, bias=False)
    >>> functional_call(layer, {"weight": td.ones(1, 2)}, td.tensor([3.0, 4.0])).tolist()
    [7.0]
    """
    several = [parameters] if isinstance(parameters, Mapping) else parameters
    given = {name: value for values in several for name, value in values.items()}
    known = dict(module.named_parameters()) | dict(module.named_buffers())
    for name, value in given.items():
        _require(name, value, known)
    held = {known[name]: known[name]._node for name in given}
    assigned = set(TRACE.top.assigned) if TRACE else set()
    try:
        for name, value in given.items():
            if TRACE:
                TRACE.top.read.setdefault(value._node, value)
            known[name]._node = value._node
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
    finally:
        for tensor, node in held.items():
            tensor._node = node
            if TRACE and tensor not in assigned:
                TRACE.top.assigned.pop(tensor, None)


def _require(name: str, value: Any, known: Mapping[str, Tensor]) -> None:
    if name not in known:
        hint = f"it has {', '.join(known)}"
        raise ArgumentError(explain("functional_call", f"no such name: {name}", hint))
    if not isinstance(value, Tensor) or value.shape != known[name].shape:
        got = value.shape if isinstance(value, Tensor) else type(value).__name__
        facts = {"name": name, "own": known[name].shape, "got": got}
        raise ShapeError(explain("functional_call", "another shape than the module's", **facts))
