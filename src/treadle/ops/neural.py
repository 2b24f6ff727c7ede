"""Rows of neural networks: softmax, normalisation, losses, attention."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.dtypes import int64
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axes_in, axis_in
from treadle.base.sizes import as_number
from treadle.ops.bounds import require_inside
from treadle.ops.composite import Axes, as_float, composite, mean
from treadle.ops.contract import gather, matrix_product
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast, detach, eq, exp, log, ne, sqrt, where
from treadle.ops.movement import summed_to
from treadle.ops.reduce import max_, sum_

ROWS: tuple[tuple[Any, ...], ...] = (((3, 5), {}), ((2, 3, 37), {}), ((4, 1), {}))


# ---- softmax and normalisation


def _softmax(np: Any, x: Any, axis: int = -1) -> Any:
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / np.sum(e, axis, keepdims=True)


SOFTMAX_CASES = Samples(cases=(*ROWS, ((70, 33), {"axis": 0}), ((2, 5, 3), {"axis": 1})))


def _axis_option(y: Any) -> Any:
    return dict(y.arg[1])["axis"]


def _along(op: Any, x: Any, axis: Axes, name: str = "softmax") -> Any:
    """A reduction along axes that stay; a 0-d tensor is a line of one element."""
    axes = axes_in(name, axis, max(1, x.ndim))
    return op(x, axis=axes, keepdims=True) if x.ndim else x


def _peak(x: Any, axis: Axes, name: str) -> Any:
    """What is taken off before exp: the largest element, or anything where there is none."""
    return _along(max_ if 0 not in x.shape else sum_, detach(x), axis, name)


@composite(
    _softmax, SOFTMAX_CASES,
    grad=lambda g, y, x: (y * (g - _along(sum_, g * y, _axis_option(y))),),
)  # fmt: skip
def softmax(x: Any, /, axis: int = -1) -> Any:
    """exp(x) / sum(exp(x)) along an axis, without overflow."""
    x = as_float(x)
    e = exp(x - _peak(x, axis, "softmax"))
    return e * (1.0 / _along(sum_, e, axis))


@composite(
    lambda np, x, axis=-1: np.log(_softmax(np, x, axis)), SOFTMAX_CASES,
    grad=lambda g, y, x: (g - exp(y) * _along(sum_, g, _axis_option(y)),),
)  # fmt: skip
def log_softmax(x: Any, /, axis: int = -1) -> Any:
    """log(softmax(x)) along an axis."""
    x = as_float(x)
    shifted = x - _peak(x, axis, "log_softmax")
    return shifted - log(_along(sum_, exp(shifted), axis))


def _layer_norm(np: Any, x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    d = x - x.mean(-1, keepdims=True)
    y = d / np.sqrt((d * d).mean(-1, keepdims=True) + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _normalised(x: Any, eps: float) -> tuple[Any, Any]:
    """(x - mean) / deviation along the last axis, and 1 / deviation."""
    axis_in("layer_norm", -1, x.ndim)
    count = as_number(max(1, x.shape[-1]))
    centred = x - sum_(x, axis=-1, keepdims=True) / count
    spread = sum_(centred * centred, axis=-1, keepdims=True) / count
    inverse = 1.0 / sqrt(spread + eps)
    return centred * inverse, inverse


def _layer_norm_grad(g: Any, y: Any, x: Any, *affine: Any) -> tuple[Any, ...]:
    present, options = y.arg
    normal, inverse = _normalised(x, dict(options)["eps"])
    given = dict(zip(present[1:], affine, strict=True))
    h = g * given["weight"] if "weight" in given else g
    count = as_number(max(1, x.shape[-1]))
    along = sum_(h * normal, axis=-1, keepdims=True) / count
    dx = inverse * (h - sum_(h, axis=-1, keepdims=True) / count - normal * along)
    parts = {"weight": g * normal, "bias": g}
    return dx, *(summed_to(parts[name], operand.shape) for name, operand in given.items())


@composite(
    _layer_norm,
    Samples(cases=(
        ((3, 8), {}), ((3, 8), (8,), (8,), {}), ((2, 3, 37), (37,), (37,), {}), ((4, 6), (6,), {}),
    )),
    grad=_layer_norm_grad, trace=(),
)  # fmt: skip
def layer_norm(x: Any, weight: Any = None, bias: Any = None, /, eps: float = 1e-5) -> Any:
    """Normalise the last axis to mean 0 and variance 1, then scale and shift."""
    y, _ = _normalised(x, eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _cross_entropy(
    np: Any, logits: Any, labels: Any, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    rows = logits - logits.max(-1, keepdims=True)
    rows = rows - np.log(np.exp(rows).sum(-1, keepdims=True))
    kept = labels != ignore_index
    wanted = np.eye(logits.shape[-1])[np.where(kept, labels, 0)]
    wanted = wanted * (1 - label_smoothing) + label_smoothing / logits.shape[-1]
    losses = np.where(kept, -(rows * wanted).sum(-1), 0)
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / kept.sum()}[reduction]


def _cross_entropy_check(logits: Any, labels: Any, ignore_index: int, **_: Any) -> None:
    if logits.ndim:
        require_inside("cross_entropy", labels, logits.shape[-1], lowest=0, ignored=ignore_index)


@composite(
    _cross_entropy,
    Samples(cases=(
        ((4, 7), (4,), {}), ((2, 3, 33), (2, 3), {}), ((9, 3), (9,), {"ignore_index": 1}),
        ((4, 7), (4,), {"reduction": "sum", "label_smoothing": 0.25}), ((5,), (), {}),
        ((9, 3), (9,), {"reduction": "none", "ignore_index": 2, "label_smoothing": 0.1}),
    ), roles=("", "index")), check=_cross_entropy_check, trace=("reduction",),
)  # fmt: skip
def cross_entropy(
    logits: Any, labels: Any, /, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """-log softmax(logits) at the labels: classes along the last axis, one label for each row.

    PyTorch has the classes of (N, C, d1, ...) along the second axis: move them to the end.

    - **ignore_index**: rows with this label give 0 and do not count in the mean
    - **reduction**: "mean", "sum", or "none" for a loss of each row
    - **label_smoothing**: the share of a label that is spread evenly over all classes
    """
    _require_loss(logits, labels, reduction, label_smoothing)
    logits = as_float(logits)
    peak = detach(max_(logits, axis=-1, keepdims=True))
    total = log(sum_(exp(logits - peak), axis=-1, keepdims=True))
    picked = gather(logits, labels.reshape((*labels.shape, 1)), axis=-1) - peak
    if label_smoothing:
        even = mean(logits - peak, axis=-1, keepdims=True)
        picked = picked * (1.0 - label_smoothing) + even * label_smoothing
    kept = ne(cast(labels, int64), ignore_index)
    losses = where(kept, (total - picked).reshape(labels.shape), 0.0)
    if reduction == "none":
        return losses
    wide = losses.dtype.compute
    summed = sum_(cast(losses, wide))
    if reduction == "mean":
        summed = summed / sum_(cast(kept, wide))
    return cast(summed, losses.dtype)


def _require_loss(logits: Any, labels: Any, reduction: str, label_smoothing: float) -> None:
    if not logits.ndim or labels.shape != logits.shape[:-1]:
        hint = "labels are class numbers, one per row of logits: classes are the last axis"
        facts = {"logits": logits.shape, "labels": labels.shape}
        raise ShapeError(explain("cross_entropy", "labels do not fit", hint, **facts))
    if reduction not in ("mean", "sum", "none"):
        hint = "mean, sum or none"
        raise ArgumentError(explain("cross_entropy", "no such reduction", hint, got=reduction))
    if not 0.0 <= label_smoothing <= 1.0:
        wrong = "label_smoothing is a share, from 0 to 1"
        raise ArgumentError(explain("cross_entropy", wrong, got=label_smoothing))


def _attention(
    np: Any, q: Any, k: Any, v: Any, mask: Any = None, is_causal: bool = False,
    scale: Any = None, enable_gqa: bool = True,
) -> Any:  # fmt: skip
    if q.ndim > 2 and q.shape[-3] > k.shape[-3]:
        k, v = (np.repeat(x, q.shape[-3] // k.shape[-3], -3) for x in (k, v))
    s = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        s = np.where(np.tri(q.shape[-2], k.shape[-2], dtype=bool), s, -np.inf)
    s = s if mask is None else np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    return _softmax(np, s) @ v


@composite(
    _attention,
    Samples(cases=(
        ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 7), {}),
        ((2, 3, 8, 4), (2, 3, 8, 4), (2, 3, 8, 4), {"is_causal": True}),
        ((1, 3, 4), (1, 3, 4), (1, 3, 4), (3, 3), {"scale": 0.3}),
        ((2, 6, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3), (6, 3, 5), {"is_causal": True}),
        ((4, 2, 3), (1, 5, 3), (1, 5, 2), {"is_causal": True}),
    )), trace=("is_causal",),
)  # fmt: skip
def scaled_dot_product_attention(
    q: Any, k: Any, v: Any, mask: Any = None, /, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = True,
) -> Any:  # fmt: skip
    """softmax(q kᵀ scale + mask) v over the last two axes; scale defaults to 1/sqrt(width).

    A mask of bool says what is seen, another one is added. is_causal: each row sees the columns up
    to its own number. Rows that see nothing give 0. enable_gqa: k and v may have fewer heads
    (axis -3) than q, which then share them in groups.
    """
    share = _heads_per_group(q, k, v) if enable_gqa else 1
    scores = _grouped(q, k.mT, share) * ((q.shape[-1] or 1) ** -0.5 if scale is None else scale)
    if is_causal:
        visible = scores.iota_like(-2) >= scores.iota_like(-1)
        scores = where(visible, scores, -math.inf)
    if mask is not None and scores.shape[-1]:
        masked = mask.dtype.kind == "bool"
        scores = where(mask, scores, -math.inf) if masked else scores + mask
        blind = eq(max_(detach(scores), axis=-1, keepdims=True), -math.inf)
        scores = where(blind, 0.0, scores)  # -inf minus -inf would be NaN
        return _grouped(where(blind, 0.0, softmax(scores, axis=-1)), v, share)
    return _grouped(softmax(scores, axis=-1), v, share)


def _heads_per_group(q: Any, k: Any, v: Any) -> int:
    """Heads of q that share one of k and v."""
    if min(q.ndim, k.ndim, v.ndim) < 3 or q.shape[-3] <= k.shape[-3]:
        return 1
    heads, groups = q.shape[-3], k.shape[-3]
    if v.shape[-3] != groups or not groups or heads % groups:
        hint = "k and v have as many heads, and q has a multiple of them"
        facts = {"q": q.shape, "k": k.shape, "v": v.shape}
        raise ShapeError(explain("scaled_dot_product_attention", "heads do not fit", hint, **facts))
    return int(heads // groups)


def _grouped(x: Any, y: Any, share: int) -> Any:
    """x times y, where share matrices of x are multiplied by one of y: as one tall matrix."""
    if share == 1:
        return matrix_product(x, y)
    *lead, heads, rows, width = x.shape
    z = matrix_product(x.reshape((*lead, heads // share, share * rows, width)), y)
    return z.reshape((*z.shape[:-3], heads, rows, z.shape[-1]))
