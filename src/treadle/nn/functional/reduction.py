"""What becomes of the losses of single elements: they stay, or are added up or averaged."""

from __future__ import annotations

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.tensor.tensor import Tensor

REDUCTIONS = ("none", "mean", "sum")


def require_reduction(what: str, reduction: str) -> None:
    """Refuse what is no reduction."""
    if reduction not in REDUCTIONS:
        hint = f"one of {', '.join(REDUCTIONS)}"
        raise ArgumentError(explain(what, "no such reduction", hint, got=repr(reduction)))


def reduced(what: str, losses: Tensor, reduction: str) -> Tensor:
    """The losses themselves, their mean or their sum."""
    require_reduction(what, reduction)
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def require_same(what: str, **shapes: object) -> None:
    """Refuse operands of different shapes: losses broadcast nothing."""
    if len(set(shapes.values())) > 1:
        hint = "one target for each prediction: nothing is broadcast"
        raise ShapeError(explain(what, "shapes differ", hint, **shapes))
