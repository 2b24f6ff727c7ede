"""Losses of classes and probabilities, with PyTorch's arguments: classes are axis 1.

PyTorch's size_average and reduce are not taken: see `distances`.
"""

from __future__ import annotations

import math

from treadle import functions as f
from treadle.base.errors import ArgumentError, DtypeError, ShapeError, explain
from treadle.nn.functional.reduction import reduced, require_reduction
from treadle.tensor.tensor import Tensor

# ---- one class of several


def _classes_last(what: str, input: Tensor) -> Tensor:
    """input (C), (N, C) or (N, C, d1, ...) with the classes at the end."""
    if not input.ndim:
        hint = "input is (C), (N, C) or (N, C, d1, ...)"
        raise ShapeError(explain(what, "no axis of classes", hint, shape=input.shape))
    return input if input.ndim <= 2 else f.movedim(input, 1, -1)


def _labels(what: str, input: Tensor, target: Tensor) -> Tensor:
    """Class numbers, of which ignore_index can be a negative one."""
    wanted = input.shape[:1] * (input.ndim > 1) + input.shape[2:]
    if target.shape != wanted:
        hint = f"class numbers of shape {wanted}: the classes of input are its axis 1"
        facts = {"input": input.shape, "target": target.shape}
        raise ShapeError(explain(what, "target does not fit", hint, **facts))
    if target.dtype.is_float or target.dtype.kind == "bool":
        hint = "class numbers are integers, such as int64"
        raise DtypeError(explain(what, "target holds no integers", hint, dtype=target.dtype))
    return target.cast("int64") if target.dtype.kind == "uint" else target


def _require_weight(what: str, weight: Tensor | None, classes: int) -> None:
    if weight is not None and weight.shape != (classes,):
        facts = {"classes": classes, "weight": weight.shape}
        raise ShapeError(explain(what, "one weight for each class", **facts))


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Less the log-probabilities input at the class numbers target; classes are axis 1.

    input is (C), (N, C) or (N, C, d1, ...), target the same without C. A target of ignore_index
    gives 0. weight has a number for each class; a mean is over the sum of those that count.
    """
    target = _labels("nll_loss", input, target)
    last = _classes_last("nll_loss", input)
    _require_weight("nll_loss", weight, last.shape[-1])
    if weight is None:
        return f.nll_loss(last, target, reduction, ignore_index)
    require_reduction("nll_loss", reduction)
    share = _share(weight, target, ignore_index)
    losses = f.nll_loss(last, target, "none", ignore_index) * share
    return _over(share, losses, reduction)


def _share(weight: Tensor, target: Tensor, ignore_index: int) -> Tensor:
    """The weight of every target, 0 for those that are ignored."""
    kept = target != ignore_index
    return f.where(kept, f.take(weight, f.where(kept, target, 0), 0), 0.0)


def _over(share: Tensor, losses: Tensor, reduction: str) -> Tensor:
    """Weighted losses; their mean is over the weights."""
    if reduction == "mean":
        return losses.sum() / share.sum()
    return losses.sum() if reduction == "sum" else losses


def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Less log softmax(input) at the target; classes are axis 1.

    input is (C), (N, C) or (N, C, d1, ...). target holds class numbers, in input's shape without
    C, or probabilities of all classes, in input's shape.

    - **weight**: a number for each class; a mean over class numbers is over their sum
    - **ignore_index**: class numbers that give 0 and do not count in the mean
    - **label_smoothing**: the share of a target that is spread evenly over all classes
    """
    if not 0.0 <= label_smoothing <= 1.0:
        wrong = "label_smoothing is a share, from 0 to 1"
        raise ArgumentError(explain("cross_entropy", wrong, got=label_smoothing))
    last = _classes_last("cross_entropy", input)
    _require_weight("cross_entropy", weight, last.shape[-1])
    if target.dtype.is_float and target.shape == input.shape:
        wanted = _classes_last("cross_entropy", target)
        return _of_probabilities(last, wanted, weight, reduction, label_smoothing)
    target = _labels("cross_entropy", input, target)
    if weight is None:
        return f.cross_entropy(last, target, ignore_index, reduction, label_smoothing)
    require_reduction("cross_entropy", reduction)
    logs = f.log_softmax(last, -1)
    share = _share(weight, target, ignore_index)
    losses = f.nll_loss(logs, target, "none", ignore_index) * share
    if label_smoothing:
        even = f.where(target != ignore_index, -(logs * weight).sum(-1), 0.0)
        even = even * (label_smoothing / last.shape[-1])
        losses = losses * (1.0 - label_smoothing) + even
    return _over(share, losses, reduction)


def _of_probabilities(
    logits: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    """Classes are the last axis; a mean is over rows."""
    if smoothing:
        target = target * (1.0 - smoothing) + smoothing / logits.shape[-1]
    terms = f.log_softmax(logits, -1) * target
    losses = -(terms if weight is None else terms * weight).sum(-1)
    return reduced("cross_entropy", losses, reduction)


def linear_cross_entropy(
    input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None,
    weight: Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None,
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """cross_entropy of input times linear_weight: (N, in) and (C, in) or (C, d1, ..., in).

    PyTorch's options, which say how it is cut into pieces, are the compiler's business here.
    """
    if input.ndim not in (1, 2) or linear_weight.ndim < 2:
        hint = "input is (in) or (N, in), linear_weight (C, in) or (C, d1, ..., in)"
        facts = {"input": input.shape, "linear_weight": linear_weight.shape}
        raise ShapeError(explain("linear_cross_entropy", "wrong number of axes", hint, **facts))
    shape = linear_weight.shape[:-1]
    rows = linear_weight.reshape((math.prod(shape), linear_weight.shape[-1]))
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = f.linear(input, rows, bias).reshape((*input.shape[:-1], *shape))
    return cross_entropy(
        logits, target, weight, ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction, label_smoothing=label_smoothing,
    )  # fmt: skip


# ---- probabilities


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """-(target log(input) + (1 - target) log(1 - input)); logarithms end at -100."""
    return f.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """binary_cross_entropy of sigmoid(input), without overflow; pos_weight scales the targets."""
    return f.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(
    input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """target (log(target) - input) for log-probabilities input; log_target: target is one too.

    reduction "batchmean" is the sum over the size of the first axis: the divergence itself.
    """
    if reduction == "batchmean" and not input.ndim:
        reduction = "sum"
    return f.kl_div(input, target, reduction, log_target)
