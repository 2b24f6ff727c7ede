"""What a function would do to such arguments: run on stand-ins, with nothing computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.base.trees import flatten
from treadle.ir.graph import copied, structure, toposort
from treadle.ir.node import leaf
from treadle.kernel.cost import flops_of
from treadle.passes.pipeline import simplify
from treadle.runtime.realize import TRACED
from treadle.tensor.tensor import Tensor
from treadle.transforms.traced import _trace, _undo


def stand_in(x: Tensor) -> Tensor:
    """A tensor of the same type without a value."""
    return Tensor(leaf(x._node.type, TRACED))


def rehearsed(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a function returns for stand-ins of the arguments; what it assigns is undone."""
    tensors: list[Tensor] = []
    shape = flatten((args, options), Tensor, tensors)
    result, trace, _ = _trace(function, shape, [stand_in(t) for t in tensors])
    _undo(trace)
    return result


def flops(results: Sequence[Tensor]) -> float:
    """Operations on numbers that computing tensors from what is known takes, by simple steps."""
    roots = [x._node for x in results]
    _, leaves = structure(roots, None, None)
    return sum(flops_of(n) for n in toposort(simplify(copied(roots, leaves)[0])))
