"""`explain`: what a function is compiled to, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.base import trace
from treadle.base.errors import require_function
from treadle.base.trees import flatten
from treadle.ir.recording import RECORDING
from treadle.runtime.explain import Explanation
from treadle.tensor.tensor import Tensor
from treadle.transforms.compile import Compiled
from treadle.transforms.traced import Traced


def explain(function: Callable[..., Any], *args: Any, **options: Any) -> Explanation:
    """The kernels that `compile` makes of function on such arguments; nothing is run.

    Of a function that is compiled already it also says how often it was traced, and why.

    >>> import treadle as td
    >>> found = explain(lambda x: td.softmax(x * 2.0), td.ones(8, 8))
    >>> [row.ops for row in found.rows]
    [('mul×2', 'max', 'sub', 'exp', 'sum', 'div')]
    """
    require_function("explain", function)
    compiled = _compiled(function)
    plain = function.function if isinstance(function, Compiled) else function
    tensors: list[Tensor] = []
    shape = flatten((args, options), Tensor, tensors)
    before = RECORDING.sites
    RECORDING.watch(True, RECORDING.made)
    try:
        with trace.listen() as report:
            Traced(plain, shape, tensors)
    finally:
        RECORDING.watch(before, RECORDING.made)
    found = Explanation(report)
    if compiled is not None:
        found.traces, found.retraces = compiled.traces, tuple(compiled.retraces)
    return found


def _compiled(function: Any) -> Compiled | None:
    """The compiled function, also where it is a method of an instance, or has a td.span."""
    method, inner = getattr(function, "__func__", None), getattr(function, "__wrapped__", None)
    for found in (function, inner, getattr(method, "__self__", None)):
        if isinstance(found, Compiled):
            return found
    return None
