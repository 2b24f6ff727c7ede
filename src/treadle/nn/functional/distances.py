"""Losses of numbers and distances between vectors, with PyTorch's arguments.

PyTorch's size_average and reduce are not taken: reduction says the same. What stands behind them
there is by keyword here, so that nothing changes its meaning.
"""

from __future__ import annotations

from collections.abc import Callable

from treadle import functions as f
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.nn.functional.reduction import reduced, require_reduction, require_same
from treadle.tensor.creation import arange
from treadle.tensor.tensor import Tensor

# ---- of numbers


def _weighted(
    what: str, losses: Tensor, weight: Tensor, reduction: str, over_weight: bool = True
) -> Tensor:
    """Losses times weights; their mean is over the sum of the weights, or plain."""
    require_same(what, input=losses.shape, weight=weight.shape)
    require_reduction(what, reduction)
    scaled = losses * weight
    if reduction == "mean" and over_weight:
        return scaled.sum() / weight.sum()
    return reduced(what, scaled, reduction)


def mse_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """Squared differences; a weighted mean is over the sum of the weights."""
    if weight is None:
        return f.mse_loss(input, target, reduction)
    return _weighted("mse_loss", f.mse_loss(input, target, "none"), weight, reduction)


def l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """Sizes of the differences; a weighted mean is over the sum of the weights."""
    if weight is None:
        return f.l1_loss(input, target, reduction)
    return _weighted("l1_loss", f.l1_loss(input, target, "none"), weight, reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Sizes of differences, rounded off below beta."""
    return f.smooth_l1_loss(input, target, reduction, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Half the squares of differences up to delta, delta times the size of larger ones."""
    if weight is None:
        return f.huber_loss(input, target, reduction, delta)
    losses = f.huber_loss(input, target, "none", delta)
    return _weighted("huber_loss", losses, weight, reduction, over_weight=False)


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, *,
    eps: float = 1e-8, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """exp(input) - target input for the logarithm of a rate, or input - target log(input + eps).

    full: with Stirling's approximation of log(target!) where target is above 1.
    """
    return f.poisson_nll_loss(input, target, log_input, full, eps, reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """(log(var) + (input - target)² / var) / 2, var at least eps; full: with the constant.

    var is a number, has input's shape, has it without the last axis, or has 1 in one place.
    """
    if not isinstance(var, Tensor):
        if var < 0:
            raise ArgumentError(explain("gaussian_nll_loss", "var is not negative", got=var))
        var = input.full_like(var)
    if var.shape != input.shape and var.shape == input.shape[:-1]:
        var = var.unsqueeze(-1)
    other = sum(a != b for a, b in zip(var.shape, input.shape, strict=False))
    single = [a for a, b in zip(var.shape, input.shape, strict=False) if a != b]
    if var.ndim != input.ndim or other > 1 or any(n != 1 for n in single):
        hint = "input's shape, that without the last axis, or that with a 1 in one place"
        facts = {"input": input.shape, "var": var.shape}
        raise ShapeError(explain("gaussian_nll_loss", "var does not fit", hint, **facts))
    return f.gaussian_nll_loss(input, target, var, full, eps, reduction)


# ---- of vectors


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along dim; no length counts as less than eps."""
    return f.cosine_similarity(x1, x2, dim, eps)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis."""
    return f.norm(x1 - x2 + eps, p, axis=-1, keepdims=keepdim)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of every two rows, n (n - 1) / 2 of them."""
    if input.ndim != 2:
        raise ShapeError(explain("pdist", "input is (rows, width)", shape=input.shape))
    if p < 0:
        raise ArgumentError(explain("pdist", "p is not negative", got=p))
    n = input.shape[0]
    rows, pairs = (arange(k, device=input.device) for k in (n, n * (n - 1) // 2))
    before = rows * (2 * n - 1 - rows) // 2  # how many pairs earlier rows have
    first = f.searchsorted(before[1:], pairs, side="right")
    second = pairs - f.take(before, first, 0) + first + 1
    return f.norm(f.take(input, first, 0) - f.take(input, second, 0), p, axis=-1)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """1 - cosine where target is 1, the cosine above margin where it is -1.

    Inputs are (N, D) with a target (N), or (D) with one of no axes.
    """
    if target.ndim not in (0, 1) or input1.ndim != target.ndim + 1:
        hint = "inputs (N, D) and a target (N), or (D) and ()"
        facts = {"input1": input1.shape, "input2": input2.shape, "target": target.shape}
        raise ShapeError(explain("cosine_embedding_loss", "target does not fit", hint, **facts))
    lengths = ((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)
    cosine = (input1 * input2).sum(-1) / f.sqrt(lengths)
    apart = f.where(target == -1, f.clip(cosine - margin, min=0.0), 0.0)
    losses = f.where(target == 1, 1.0 - cosine, 0.0) + apart
    return reduced("cosine_embedding_loss", losses, reduction)


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2,
    eps: float = 1e-6, swap: bool = False, *, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """How much less than margin the negative is farther from the anchor than the positive.

    Distances are `pairwise_distance` with p and eps. swap: the negative may be measured from the
    positive instead, where that is nearer.
    """
    return _triplet(
        "triplet_margin_loss", (anchor, positive, negative),
        lambda a, b: pairwise_distance(a, b, p, eps), margin, swap, reduction,
    )  # fmt: skip


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0,
    swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """triplet_margin_loss with a distance of your own: `pairwise_distance` if left out."""
    if not margin > 0:
        wrong = "margin is positive"
        raise ArgumentError(explain("triplet_margin_with_distance_loss", wrong, got=margin))
    return _triplet(
        "triplet_margin_with_distance_loss", (anchor, positive, negative),
        distance_function or pairwise_distance, margin, swap, reduction,
    )  # fmt: skip


def _triplet(
    what: str, triplet: tuple[Tensor, Tensor, Tensor],
    distance: Callable[[Tensor, Tensor], Tensor], margin: float, swap: bool, reduction: str,
) -> Tensor:  # fmt: skip
    anchor, positive, negative = triplet
    if not anchor.ndim == positive.ndim == negative.ndim:
        shapes = " and ".join(str(x.shape) for x in triplet)
        raise ShapeError(explain(what, "different numbers of axes", shapes=shapes))
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = f.minimum(far, distance(positive, negative))
    return reduced(what, f.clip(near - far + margin, min=0.0), reduction)
