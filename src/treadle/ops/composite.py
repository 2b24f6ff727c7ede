"""Rows defined by other ops: gradient, kernels and every backend follow from the definition.

What stands before `/` in a signature are operands, the rest are options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from treadle.base.dtypes import float32, to_float
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axes_in, axis_in
from treadle.ops.contract import dot, gather
from treadle.ops.defs import Kind, Op, Samples, options_of
from treadle.ops.elementwise import (
    cast,
    detach,
    eq,
    erf,
    exp,
    log,
    maximum,
    minimum,
    ne,
    sigmoid,
    sign_of,
    sqrt,
    where,
)  # fmt: skip
from treadle.ops.movement import summed_to
from treadle.ops.reduce import CASES, max_, min_, sum_

ROWS: tuple[tuple[Any, ...], ...] = (((3, 5), {}), ((2, 3, 37), {}), ((4, 1), {}))
Axes = int | Sequence[int] | None


def composite(
    reference: Callable[..., Any] | None = None,
    samples: Samples | None = None,
    grad: Callable[..., Any] | str | None = None,
    flops: float = 1.0,
) -> Callable[[Callable[..., Any]], Op]:
    """A row from a definition; its docstring is the documentation."""

    def row(define: Callable[..., Any]) -> Op:
        name = define.__name__.rstrip("_")
        return Op(
            name, Kind.COMPOSITE, define.__doc__ or "", define=define,
            arguments=options_of(define), grad=grad, reference=reference, samples=samples,
            flops=flops,
        )  # fmt: skip

    return row


# ---- elementwise


@composite(lambda np, x: x * x)
def square(x: Any, /) -> Any:
    """x * x."""
    return x * x


@composite(lambda np, x: 1.0 / x, Samples(0.5, 4.0))
def reciprocal(x: Any, /) -> Any:
    """1 / x."""
    return 1.0 / x


@composite(lambda np, x: 1.0 / np.sqrt(x), Samples(0.1, 8.0))
def rsqrt(x: Any, /) -> Any:
    """1 / sqrt(x)."""
    return 1.0 / sqrt(x)


@composite(lambda np, x: np.sign(x), Samples(smooth=False))
def sign(x: Any, /) -> Any:
    """-1, 0 or 1."""
    return sign_of(x)


@composite(lambda np, x: np.maximum(x, 0), Samples(smooth=False))
def relu(x: Any, /) -> Any:
    """x where positive, else 0."""
    return maximum(x, 0.0 if x.dtype.is_float else 0)


@composite(lambda np, x: x / (1 + np.exp(-x)), Samples(-8.0, 8.0))
def silu(x: Any, /) -> Any:
    """x times sigmoid(x)."""
    return x * sigmoid(x)


def _gelu(np: Any, x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf, otypes=[np.float64])(x * math.sqrt(0.5)))


@composite(_gelu, Samples(cases=(((4, 5), {}), ((4, 37), {"approximate": "tanh"}))))
def gelu(x: Any, /, approximate: str = "none") -> Any:
    """x times the normal distribution function of x; approximate="tanh" uses a cheaper form."""
    if approximate == "tanh":  # 0.5 (1 + tanh u) = sigmoid(2u): one exponential, one division
        c = 2 * math.sqrt(2 / math.pi)
        return x * sigmoid(x * (x * x * (c * 0.044715) + c))
    if approximate != "none":
        raise ArgumentError(explain("gelu", "approximate is 'none' or 'tanh'", got=approximate))
    return 0.5 * x * (1.0 + erf(x * math.sqrt(0.5)))


@composite(
    lambda np, x, low=None, high=None: np.clip(x, low, high),
    Samples(cases=(((4, 5), {"low": -1.0, "high": 1.5}), ((9,), {"low": 0.0})), smooth=False),
)
def clip(x: Any, /, low: float | None = None, high: float | None = None) -> Any:
    """x kept within [low, high]; either may be left out."""
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


@composite(lambda np, x: np.isnan(x), grad="its result is not continuous")
def isnan(x: Any, /) -> Any:
    """True where x is NaN."""
    return ne(x, x)


# ---- reductions


def _as_float(x: Any) -> Any:
    """Integers as the default float: their differences may not fit their type."""
    return x if x.dtype.is_float else cast(x, float32)


def _count(x: Any, axis: Axes, name: str) -> int:
    return math.prod(x.shape[k] for k in axes_in(name, axis, x.ndim))


@composite(
    lambda np, x, axis=None, keepdims=False: np.mean(x, axis, keepdims=keepdims),
    Samples(cases=CASES),
)
def mean(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """Arithmetic mean along axes."""
    total = sum_(_as_float(x), axis=axis, keepdims=keepdims)
    count = _count(x, axis, "mean")
    return total * (1.0 / count) if count else total / 0.0


@composite(
    lambda np, x, axis=None, keepdims=False, correction=0: np.var(
        x, axis, ddof=correction, keepdims=keepdims
    ),
    Samples(cases=(*CASES[:6], ((3, 5), {"axis": 1, "correction": 1}))),
)
def var(x: Any, /, axis: Axes = None, keepdims: bool = False, correction: float = 0) -> Any:
    """Variance along axes: squared deviations over (count - correction)."""
    centred = x - mean(x, axis=axis, keepdims=True)
    left = max(_count(x, axis, "var") - correction, 0)
    total = sum_(centred * centred, axis=axis, keepdims=keepdims)
    return total * (1.0 / left) if left else total / 0.0


@composite(
    lambda np, x, axis=None, keepdims=False: np.log(np.sum(np.exp(x), axis, keepdims=keepdims)),
    Samples(cases=CASES),
)
def logsumexp(x: Any, /, axis: Axes = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))) along axes, without overflow."""
    axes, x = axes_in("logsumexp", axis, x.ndim), _as_float(x)
    peak = detach(max_(x, axis=axes, keepdims=True))
    peak = where(eq(abs(peak), math.inf), 0.0, peak)  # inf - inf would be NaN
    total = log(sum_(exp(x - peak), axis=axes, keepdims=True)) + peak
    return total if keepdims else total.reshape(sum_(x, axis=axes).shape)


def _first_index(x: Any, best: Any, axis: int | None, keepdims: bool, name: str) -> Any:
    """Index of the first element that equals best, or is NaN."""
    axis_ = axis_in(name, axis, x.ndim) if axis is not None else 0
    hit = eq(x, best) | ne(x, x) if x.dtype.is_float else eq(x, best)
    position = where(hit, x.iota_like(axis_), x.shape[axis_])
    return min_(position, axis=axis_, keepdims=keepdims)


def _arg_extreme(x: Any, axis: int | None, keepdims: bool, name: str, extreme: Any) -> Any:
    if axis is None:
        flat = _arg_extreme(x.reshape(-1), 0, False, name, extreme)
        return flat.reshape((1,) * x.ndim) if keepdims else flat
    return _first_index(x, extreme(x, axis=axis, keepdims=True), axis, keepdims, name)


INDEX_CASES = Samples(cases=(((3, 5), {}), ((3, 5), {"axis": 1}), ((70, 33), {"axis": 0})))


@composite(
    lambda np, x, axis=None, keepdims=False: np.argmax(x, axis, keepdims=keepdims),
    INDEX_CASES, grad="its result is an index",
)  # fmt: skip
def argmax(x: Any, /, axis: int | None = None, keepdims: bool = False) -> Any:
    """Index of the first largest element (of the flattened tensor if axis is None)."""
    return _arg_extreme(x, axis, keepdims, "argmax", max_)


@composite(
    lambda np, x, axis=None, keepdims=False: np.argmin(x, axis, keepdims=keepdims),
    INDEX_CASES, grad="its result is an index",
)  # fmt: skip
def argmin(x: Any, /, axis: int | None = None, keepdims: bool = False) -> Any:
    """Index of the first smallest element (of the flattened tensor if axis is None)."""
    return _arg_extreme(x, axis, keepdims, "argmin", min_)


# ---- softmax and normalisation


def _softmax(np: Any, x: Any, axis: int = -1) -> Any:
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / np.sum(e, axis, keepdims=True)


SOFTMAX_CASES = Samples(cases=(*ROWS, ((70, 33), {"axis": 0}), ((2, 5, 3), {"axis": 1})))


def _axis_option(y: Any) -> int:
    return int(dict(y.arg[1])["axis"])


@composite(
    _softmax, SOFTMAX_CASES,
    grad=lambda g, y, x: (y * (g - sum_(g * y, axis=_axis_option(y), keepdims=True)),),
)  # fmt: skip
def softmax(x: Any, /, axis: int = -1) -> Any:
    """exp(x) / sum(exp(x)) along an axis, without overflow."""
    x = _as_float(x)
    e = exp(x - detach(max_(x, axis=axis, keepdims=True)))
    return e * (1.0 / sum_(e, axis=axis, keepdims=True))


@composite(
    lambda np, x, axis=-1: np.log(_softmax(np, x, axis)), SOFTMAX_CASES,
    grad=lambda g, y, x: (g - exp(y) * sum_(g, axis=_axis_option(y), keepdims=True),),
)  # fmt: skip
def log_softmax(x: Any, /, axis: int = -1) -> Any:
    """log(softmax(x)) along an axis."""
    x = _as_float(x)
    shifted = x - detach(max_(x, axis=axis, keepdims=True))
    return shifted - log(sum_(exp(shifted), axis=axis, keepdims=True))


def _layer_norm(np: Any, x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    d = x - x.mean(-1, keepdims=True)
    y = d / np.sqrt((d * d).mean(-1, keepdims=True) + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _normalised(x: Any, eps: float) -> tuple[Any, Any]:
    """(x - mean) / deviation along the last axis, and 1 / deviation."""
    scale = 1.0 / x.shape[-1] if x.shape[-1] else 1.0
    centred = x - sum_(x, axis=-1, keepdims=True) * scale
    spread = sum_(centred * centred, axis=-1, keepdims=True) * scale
    inverse = 1.0 / sqrt(spread + eps)
    return centred * inverse, inverse


def _layer_norm_grad(g: Any, y: Any, x: Any, *affine: Any) -> tuple[Any, ...]:
    present, options = y.arg
    normal, inverse = _normalised(x, dict(options)["eps"])
    given = dict(zip(present[1:], affine, strict=True))
    h = g * given["weight"] if "weight" in given else g
    scale = 1.0 / x.shape[-1] if x.shape[-1] else 1.0
    along = sum_(h * normal, axis=-1, keepdims=True) * scale
    dx = inverse * (h - sum_(h, axis=-1, keepdims=True) * scale - normal * along)
    parts = {"weight": g * normal, "bias": g}
    return dx, *(summed_to(parts[name], operand.shape) for name, operand in given.items())


@composite(
    _layer_norm,
    Samples(cases=(
        ((3, 8), {}), ((3, 8), (8,), (8,), {}), ((2, 3, 37), (37,), (37,), {}), ((4, 6), (6,), {}),
    )),
    grad=_layer_norm_grad,
)  # fmt: skip
def layer_norm(x: Any, weight: Any = None, bias: Any = None, /, eps: float = 1e-5) -> Any:
    """Normalise the last axis to mean 0 and variance 1, then scale and shift."""
    y, _ = _normalised(x, eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


# ---- indexing, products, losses


@composite(
    lambda np, x, index, axis=0: np.take(x, index, axis),
    Samples(cases=(((5, 3), (4,), {}), ((7, 40), (2, 3), {}), ((3, 6), (4,), {"axis": 1}))),
)
def take(x: Any, index: Any, /, axis: int = 0) -> Any:
    """Slices of x at the indices, along an axis: an embedding look-up when axis is 0."""
    axis = axis_in("take", axis, x.ndim)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    shape = (math.prod(before), x.shape[axis], math.prod(after))
    count = math.prod(index.shape)
    wide = index.reshape((1, count, 1)).expand((shape[0], count, shape[2]))
    return gather(x.reshape(shape), wide, axis=1).reshape((*before, *index.shape, *after))


@composite(
    lambda np, a, b: np.matmul(a, b),
    Samples(
        cases=(((3, 4), (4, 5), {}), ((4,), (4,), {}), ((4,), (2, 4, 3), {}), ((2, 3), (3,), {}))
    ),
)
def matmul(a: Any, b: Any, /) -> Any:
    """Matrix product; vectors are rows on the left and columns on the right."""
    if a.ndim == 0 or b.ndim == 0:
        facts = {"shapes": f"{a.shape} and {b.shape}"}
        raise ShapeError(explain("matmul", "needs at least one axis", "use * to scale", **facts))
    y = dot(a.reshape((1, -1)) if a.ndim == 1 else a, b.reshape((-1, 1)) if b.ndim == 1 else b)
    shape = y.shape
    if b.ndim == 1:
        shape = shape[:-1]
    if a.ndim == 1:
        shape = shape[:-2] + shape[-1:] if b.ndim > 1 else shape[:-1]
    return y if shape == y.shape else y.reshape(shape)


@composite(
    lambda np, x, w, b=None: np.matmul(x, w.T) + (0 if b is None else b),
    Samples(cases=(((3, 4), (5, 4), {}), ((2, 3, 4), (5, 4), (5,), {}))),
)
def linear(x: Any, weight: Any, bias: Any = None, /) -> Any:
    """x times weight transposed, plus bias; weight is (out, in) as in PyTorch."""
    flat = x.reshape((-1, x.shape[-1]))  # one large product instead of many small ones
    y = matmul(flat, weight.mT).reshape((*x.shape[:-1], weight.shape[0]))
    return y if bias is None else y + bias


def _cross_entropy(np: Any, logits: Any, labels: Any) -> Any:
    rows = logits - logits.max(-1, keepdims=True)
    rows = rows - np.log(np.exp(rows).sum(-1, keepdims=True))
    return -np.take_along_axis(rows, labels[..., None], -1).mean()


@composite(_cross_entropy, Samples(cases=(((4, 7), (4,), {}), ((2, 3, 33), (2, 3), {}))))
def cross_entropy(logits: Any, labels: Any, /) -> Any:
    """Mean of -log softmax(logits) at the labels, over all but the last axis."""
    if labels.shape != logits.shape[:-1]:
        hint = "labels are class numbers, one per row of logits"
        facts = {"logits": logits.shape, "labels": labels.shape}
        raise ShapeError(explain("cross_entropy", "labels do not fit", hint, **facts))
    logits = _as_float(logits)
    peak = detach(max_(logits, axis=-1, keepdims=True))
    total = log(sum_(exp(logits - peak), axis=-1, keepdims=True)) + peak
    picked = gather(logits, labels.reshape((*labels.shape, 1)), axis=-1)
    return mean(total - picked)


def _attention(
    np: Any, q: Any, k: Any, v: Any, mask: Any = None, causal: bool = False, scale: Any = None
) -> Any:
    s = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        s = np.where(np.tri(q.shape[-2], k.shape[-2], dtype=bool), s, -np.inf)
    s = s if mask is None else np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    return _softmax(np, s) @ v


@composite(
    _attention,
    Samples(cases=(
        ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 7), {}),
        ((2, 3, 8, 4), (2, 3, 8, 4), (2, 3, 8, 4), {"causal": True}),
        ((1, 3, 4), (1, 3, 4), (1, 3, 4), (3, 3), {"scale": 0.3}),
    )),
)  # fmt: skip
def scaled_dot_product_attention(
    q: Any, k: Any, v: Any, mask: Any = None, /, causal: bool = False, scale: float | None = None
) -> Any:
    """softmax(q kᵀ scale + mask) v over the last two axes; scale defaults to 1/sqrt(width)."""
    scores = dot(q, k.mT) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        visible = scores.iota_like(-2) >= scores.iota_like(-1)
        scores = where(visible, scores, -math.inf)
    if mask is not None:
        masked = mask.dtype.kind == "bool"
        scores = where(mask, scores, -math.inf) if masked else scores + mask
    return dot(softmax(scores, axis=-1), v)


# ---- random numbers


def uniform_from(bits: Any, dtype: Any) -> Any:
    """Floats in [0, 1) from 32 random bits: the top 24 of them."""
    return cast(bits >> 8, to_float(dtype)) * (1.0 / (1 << 24))
