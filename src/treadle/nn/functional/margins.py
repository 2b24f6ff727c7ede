"""Losses that ask for a margin, with PyTorch's arguments.

PyTorch's size_average and reduce are not taken: see `distances`.
"""

from __future__ import annotations

from treadle import functions as f
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.nn.functional.reduction import reduced, require_same
from treadle.ops.losses import pairs
from treadle.tensor.tensor import Tensor


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """max(0, margin - target (input1 - input2)): target is 1 where input1 should be larger."""
    return f.margin_ranking_loss(input1, input2, target, float(margin), reduction)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, *, reduction: str = "mean"
) -> Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
    return f.hinge_embedding_loss(input, target, margin, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target input)), without overflow; targets are 1 and -1."""
    pairs("soft_margin_loss")(input, target)
    return reduced("soft_margin_loss", -f.logsigmoid(input * target), reduction)


def _rows(what: str, input: Tensor) -> None:
    if input.ndim not in (1, 2):
        hint = "input is (C) or (N, C)"
        raise ShapeError(explain(what, "wrong number of axes", hint, shape=input.shape))


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    *, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, margin - input[target] + input[c]) ** p over the other classes c, summed, over C.

    input is (N, C) or (C), target holds class numbers, weight has a number for each class.
    """
    _rows("multi_margin_loss", input)
    if p not in (1, 2):
        raise ArgumentError(explain("multi_margin_loss", "p is 1 or 2", got=p))
    if target.shape != input.shape[:-1] and target.size != 1:
        facts = {"input": input.shape, "target": target.shape}
        raise ShapeError(explain("multi_margin_loss", "one target for each row", **facts))
    classes = input.shape[-1]
    place = target.reshape((*input.shape[:-1], 1))
    above = f.clip(margin - f.gather(input, place, -1) + input, min=0.0)
    above = above if p == 1 else above * above
    if weight is not None:
        above = above * f.take(weight, place, 0)
    others = f.where(input.iota_like(-1) == place, 0.0, above)
    return reduced("multi_margin_loss", others.sum(-1) / classes, reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """max(0, 1 - (input[y] - input[c])) over all classes y of a row and c not of it, over C.

    target has input's shape, (N, C) or (C): class numbers, of which those before the first -1
    count.
    """
    _rows("multilabel_margin_loss", input)
    require_same("multilabel_margin_loss", input=input.shape, target=target.shape)
    classes = input.shape[-1]
    counts = f.cumsum((target < 0).astype("int64"), -1) == 0
    place = f.where(counts, target, 0)
    ours = (place.unsqueeze(-1) == f.unsqueeze(input.iota_like(-1), -2)) & counts.unsqueeze(-1)
    theirs = f.any(ours, -2, keepdims=True)
    short = 1.0 - f.gather(input, place, -1).unsqueeze(-1) + input.unsqueeze(-2)
    pairs = f.where(counts.unsqueeze(-1) & ~theirs, f.clip(short, min=0.0), 0.0)
    return reduced("multilabel_margin_loss", pairs.sum((-2, -1)) / classes, reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """binary_cross_entropy_with_logits, averaged over the classes (the last axis) of each row."""
    require_same("multilabel_soft_margin_loss", input=input.shape, target=target.shape)
    losses = f.binary_cross_entropy_with_logits(input, target, weight, None, "none")
    return reduced("multilabel_soft_margin_loss", losses.mean(-1), reduction)
