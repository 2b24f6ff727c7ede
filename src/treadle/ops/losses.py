"""Rows that say how far predictions are from what was wanted, under PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from warnings import warn

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in, broadcast
from treadle.base.sizes import as_number
from treadle.ops.activations import logsigmoid
from treadle.ops.bounds import require_inside
from treadle.ops.composite import composite, mean, precisely
from treadle.ops.contract import gather
from treadle.ops.defs import Samples
from treadle.ops.elementwise import abs_, cast, exp, le, log, maximum, ne, where
from treadle.ops.reduce import sum_
from treadle.ops.totals import norm

REDUCTIONS = ("mean", "sum", "none")
PAIRS: tuple[tuple[Any, ...], ...] = (
    ((3, 5), (3, 5), {}), ((4,), (4,), {"reduction": "sum"}), ((), (), {}),
    ((2, 3), (2, 3), {"reduction": "none"}), ((0, 3), (0, 3), {"reduction": "sum"}),
)  # fmt: skip


BENDS = (-4.1, 4.3)  # a range whose even parts are never as far apart as a loss bends


def usual(**options: Any) -> tuple[tuple[Any, ...], ...]:
    """The usual samples, and one with these options."""
    return (*PAIRS, ((3, 4), (3, 4), options))


def reduced(name: str, losses: Any, reduction: str) -> Any:
    """The losses themselves, their sum or their mean."""
    if reduction not in REDUCTIONS:
        hint = f"one of {', '.join(REDUCTIONS)}"
        raise ArgumentError(explain(name, "no such reduction", hint, got=repr(reduction)))
    if reduction == "none":
        return losses
    return sum_(losses) if reduction == "sum" else mean(losses)


def pairs(name: str, same: int = 2) -> Callable[..., None]:
    """A check of calls: operands of other shapes are broadcast, and a warning says so."""

    def check(*operands: Any, **options: Any) -> None:
        shapes = [x.shape for x in operands[:same] if hasattr(x, "shape")]
        if any(shape != shapes[0] for shape in shapes[1:]):
            hint = "reshape or expand one of them if that is not meant"
            wrong = f"shapes differ, broadcast to {broadcast(name, *shapes)}"
            shown = " and ".join(map(str, shapes))
            warn(explain(name, wrong, hint, shapes=shown), stacklevel=5)

    return check


STRICT = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
"""Losses of chances broadcast nothing, as PyTorch has it."""


def compared(name: str, reduction: str, loss: Callable[..., Any], *operands: Any) -> Any:
    """loss of operands, reduced."""
    if name in STRICT and operands[0].shape != operands[1].shape:
        shown = " and ".join(str(x.shape) for x in operands[:2])
        hint = "one target for each prediction: nothing is broadcast"
        raise ShapeError(explain(name, "shapes differ", hint, shapes=shown))
    sizes = name == "l1_loss"  # of differences, which are reals: other losses have no meaning
    return precisely(
        lambda *wide: reduced(name, loss(*wide), reduction), *operands, complexes=sizes
    )


def in_numpy(loss: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's form of a loss, with the option reduction."""

    def reference(np: Any, *operands: Any, reduction: str = "mean", **options: Any) -> Any:
        losses = loss(np, *operands, **options)
        return losses if reduction == "none" else getattr(np, reduction)(losses)

    return reference


# ---- distances


@composite(
    in_numpy(lambda np, x, target: (x - target) ** 2), Samples(cases=PAIRS), check=pairs("mse_loss")
)
def mse_loss(x: Any, target: Any, /, reduction: str = "mean") -> Any:
    """Squared differences: their "mean", their "sum", or with "none" each."""
    return compared("mse_loss", reduction, lambda x, t: (x - t) * (x - t), x, target)


@composite(
    in_numpy(lambda np, x, target: np.abs(x - target)), Samples(cases=PAIRS, smooth=False),
    check=pairs("l1_loss"),
)  # fmt: skip
def l1_loss(x: Any, target: Any, /, reduction: str = "mean") -> Any:
    """Sizes of the differences."""
    return compared("l1_loss", reduction, lambda x, t: abs_(x - t), x, target)


def _huber(np: Any, x: Any, target: Any, delta: float = 1.0) -> Any:
    size = np.abs(x - target)
    return np.where(size <= delta, size * size / 2, delta * (size - delta / 2))


def _bent(x: Any, target: Any, delta: float) -> Any:
    """A parabola up to a size of delta, straight from there."""
    size = abs_(x - target)
    near = le(size, delta)
    some = where(near, size, 0.0)  # no square of what is infinite, in gradients neither
    return where(near, some * some * 0.5, (size - 0.5 * delta) * delta)


@composite(
    in_numpy(_huber), Samples(*BENDS, cases=usual(delta=0.5), smooth=False),
    check=pairs("huber_loss"),
)  # fmt: skip
def huber_loss(x: Any, target: Any, /, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Half the squares of differences up to delta, delta times the size of larger ones."""
    if not delta > 0:
        raise ArgumentError(explain("huber_loss", "delta is positive", got=delta))
    return compared("huber_loss", reduction, lambda x, t: _bent(x, t, delta), x, target)


def _smooth(np: Any, x: Any, target: Any, beta: float = 1.0) -> Any:
    return _huber(np, x, target, beta) / beta if beta else np.abs(x - target)


@composite(
    in_numpy(_smooth), Samples(*BENDS, cases=(*usual(beta=0.5), *usual(beta=0)[5:]), smooth=False),
    check=pairs("smooth_l1_loss"),
)  # fmt: skip
def smooth_l1_loss(x: Any, target: Any, /, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Sizes of differences, rounded off below beta: huber_loss over beta."""
    if not beta >= 0:
        raise ArgumentError(explain("smooth_l1_loss", "beta is not negative", got=beta))

    def loss(x: Any, t: Any) -> Any:
        return _bent(x, t, beta) * (1.0 / beta) if beta else abs_(x - t)

    return compared("smooth_l1_loss", reduction, loss, x, target)


def _cosine(np: Any, x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    sizes = [np.maximum(np.sqrt((x * x).sum(axis)), eps) for x in (x1, x2)]
    return (x1 * x2).sum(axis) / (sizes[0] * sizes[1])


@composite(
    _cosine, Samples(cases=(((3, 5), (3, 5), {}), ((4, 2), (4, 2), {"axis": 0}),
                            ((2, 3, 4), (3, 1), {"axis": -2})), low=0.5),
)  # fmt: skip
def cosine_similarity(x1: Any, x2: Any, /, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along an axis; no length counts as less than eps."""

    def cosine(x1: Any, x2: Any) -> Any:
        product = x1 * x2
        at = axis_in("cosine_similarity", axis, product.ndim) - product.ndim
        first, second = (
            maximum(norm(x.expand(product.shape), axis=at), eps) for x in (x1, x2)
        )  # fmt: skip
        return sum_(product, axis=at) / (first * second)

    return precisely(cosine, x1, x2)


# ---- classes and probabilities


def _nll(
    np: Any, x: Any, labels: Any, reduction: str = "mean", ignore_index: int = -100
) -> Any:  # fmt: skip
    kept = labels != ignore_index
    picked = np.take_along_axis(x, np.where(kept, labels, 0)[..., None], -1)[..., 0]
    losses = np.where(kept, -picked, 0)
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / kept.sum()}[reduction]


def _nll_check(x: Any, labels: Any, ignore_index: int, **_: Any) -> None:
    if x.ndim:
        require_inside("nll_loss", labels, x.shape[-1], lowest=0, ignored=ignore_index)


@composite(
    _nll, Samples(cases=(
        ((4, 7), (4,), {}), ((2, 3, 5), (2, 3), {"reduction": "sum"}), ((3,), (), {}),
        ((9, 3), (9,), {"reduction": "none", "ignore_index": 1}),
        ((9, 3), (9,), {"ignore_index": 2}),
    ), roles=("", "index")), check=_nll_check,
)  # fmt: skip
def nll_loss(
    x: Any, labels: Any, /, reduction: str = "mean", ignore_index: int = -100
) -> Any:  # fmt: skip
    """Less the log-probabilities x at the labels; classes are the last axis.

    Rows with the label ignore_index give 0 and do not count in the mean.
    """
    if not x.ndim or labels.shape != x.shape[:-1]:
        hint = "labels are class numbers, one per row: classes are the last axis"
        facts = {"shape": x.shape, "labels": labels.shape}
        raise ShapeError(explain("nll_loss", "labels do not fit", hint, **facts))

    def loss(x: Any) -> Any:
        picked = gather(x, labels.reshape((*labels.shape, 1)), axis=-1).reshape(labels.shape)
        kept = ne(labels, ignore_index)
        losses = where(kept, -picked, 0.0)
        if reduction != "mean":
            return reduced("nll_loss", losses, reduction)
        return sum_(losses) / sum_(cast(kept, x.dtype))

    return precisely(loss, x)


def _divergence(np: Any, x: Any, target: Any, log_target: bool = False) -> Any:
    if log_target:
        return np.exp(target) * (target - x)
    return np.where(target > 0, target * (np.log(np.where(target > 0, target, 1)) - x), -x * target)


def _kl(np: Any, x: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    if reduction == "batchmean":
        return _divergence(np, x, target, log_target).sum() / x.shape[0]
    return in_numpy(_divergence)(np, x, target, reduction=reduction, log_target=log_target)


@composite(
    _kl, Samples(cases=(*usual(log_target=True), *usual(reduction="batchmean")[5:]), low=0.5),
    check=pairs("kl_div"),
)  # fmt: skip
def kl_div(
    x: Any, target: Any, /, reduction: str = "mean", log_target: bool = False
) -> Any:  # fmt: skip
    """target * (log(target) - x) for log-probabilities x; log_target: is target a logarithm too?

    reduction "batchmean" is the sum over the size of the first axis.
    """

    def loss(x: Any, target: Any) -> Any:
        if log_target:
            return exp(target) * (target - x)
        some = ne(target, 0.0)
        return target * (where(some, log(where(some, target, 1.0)), 0.0) - x)

    if reduction != "batchmean":
        return compared("kl_div", reduction, loss, x, target)
    axis_in("kl_div", 0, x.ndim)
    return compared("kl_div", "sum", loss, x, target) * (1.0 / max(1, x.shape[0]))


THREE: tuple[tuple[Any, ...], ...] = (
    ((3, 4), (3, 4), (4,), {}),
    ((5,), (5,), (5,), {"reduction": "none"}),
)


def _bce(np: Any, x: Any, target: Any, weight: Any = 1.0) -> Any:
    yes, no = np.maximum(np.log(x), -100), np.maximum(np.log(1 - x), -100)
    return -(target * yes + (1 - target) * no) * weight


def _logs(x: Any) -> tuple[Any, Any]:
    return maximum(log(x), -100.0), maximum(log(1.0 - x), -100.0)


def _bce_terms(x: Any, target: Any) -> Any:
    yes, no = _logs(x)
    return -(target * yes + (1.0 - target) * no)


def _bce_grad(g: Any, y: Any, *operands: Any) -> tuple[Any, ...]:
    """Finite where x is 0 or 1 too: x (1 - x), by which it divides, counts as 1e-12 at least."""
    x, target, *weight = (cast(operand, y.dtype.compute) for operand in operands)
    g = cast(g, x.dtype)
    g = g / as_number(math.prod(x.shape)) if dict(y.arg[1])["reduction"] == "mean" else g
    share = g * weight[0] if weight else g
    slope = (x - target) / maximum(x * (1.0 - x), 1e-12)
    yes, no = _logs(x)
    of_weight = (g * _bce_terms(x, target) for _ in weight)
    return share * slope, share * (no - yes), *of_weight


@composite(in_numpy(_bce), Samples(0.05, 0.95, cases=(*PAIRS, *THREE)), grad=_bce_grad)
def binary_cross_entropy(
    x: Any, target: Any, weight: Any = None, /, reduction: str = "mean"
) -> Any:  # fmt: skip
    """-(target log(x) + (1 - target) log(1 - x)) for probabilities x; logarithms end at -100."""

    def loss(x: Any, target: Any, *weight: Any) -> Any:
        found = _bce_terms(x, target)
        return found * weight[0] if weight else found

    given = () if weight is None else (weight,)
    return compared("binary_cross_entropy", reduction, loss, x, target, *given)


def _bce_logits(np: Any, x: Any, target: Any, weight: Any = 1.0, pos_weight: Any = 1.0) -> Any:
    yes, no = -np.logaddexp(0, -x), -np.logaddexp(0, x)
    return -(target * yes * pos_weight + (1 - target) * no) * weight


@composite(
    in_numpy(_bce_logits),
    Samples(cases=(*PAIRS, *THREE, ((3, 4), (3, 4), (3, 4), (4,), {"reduction": "sum"}))),
)
def binary_cross_entropy_with_logits(
    x: Any, target: Any, weight: Any = None, pos_weight: Any = None, /, reduction: str = "mean"
) -> Any:
    """binary_cross_entropy of sigmoid(x), without overflow; pos_weight multiplies the targets."""
    names = [name for name, w in (("weight", weight), ("pos", pos_weight)) if w is not None]
    weights = [w for w in (weight, pos_weight) if w is not None]

    def loss(x: Any, target: Any, *weights: Any) -> Any:
        given = dict(zip(names, weights, strict=True))
        yes = target * logsigmoid(x)
        yes = yes * given["pos"] if "pos" in given else yes
        found = -(yes + (1.0 - target) * logsigmoid(-x))
        return found * given["weight"] if "weight" in given else found

    return compared(
        "binary_cross_entropy_with_logits", reduction, loss, x, target, *weights
    )  # fmt: skip
