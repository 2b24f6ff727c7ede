"""Functions between layers, as rows defined by other rows.

At a kink the gradient is PyTorch's: that of the flat side. NaN is let through, the value and the
gradient: it counts as a number that is neither bounded nor below 0.
"""

from __future__ import annotations

import math
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in
from treadle.ops.composite import composite, precisely
from treadle.ops.defs import Samples
from treadle.ops.elementwise import (
    bitwise_or,
    complex_,
    eq,
    erf,
    exp,
    expm1,
    ge,
    gt,
    imag,
    le,
    log1p,
    lt,
    maximum,
    minimum,
    ne,
    real,
    sigmoid,
    tanh,
    where,
)  # fmt: skip
from treadle.ops.movement import cut

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848, 1.0507009873554804934


def _both(shape: tuple[int, ...], **options: float) -> tuple[tuple[Any, ...], ...]:
    """Samples without options and with these."""
    return ((shape, {}), ((17,), options), ((0, 3), {}), ((), {}))


# ---- straight pieces


@composite(
    lambda np, x: np.maximum(x, 0), Samples(smooth=False),
    lambda g, y, x: (where(le(y, 0.0), 0.0, g),),
)  # fmt: skip
def relu(x: Any, /) -> Any:
    """x where positive, else 0."""
    return maximum(x, 0)


@composite(
    lambda np, x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val),
    Samples(cases=_both((4, 5), min_val=-2.0, max_val=0.5), smooth=False),
)
def hardtanh(x: Any, /, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """x kept within [min_val, max_val]."""
    if min_val > max_val:
        facts = {"min_val": min_val, "max_val": max_val}
        raise ArgumentError(explain("hardtanh", "min_val is above max_val", **facts))
    return where(le(x, min_val), min_val, where(ge(x, max_val), max_val, x))


@composite(lambda np, x: np.minimum(np.maximum(x, 0), 6), Samples(-4.0, 8.0, smooth=False))
def relu6(x: Any, /) -> Any:
    """x kept within [0, 6]."""
    return where(le(x, 0), 0, where(ge(x, 6), 6, x))


def _leaky(np: Any, x: Any, negative_slope: float = 0.01) -> Any:
    return np.where(x > 0, x, negative_slope * x)


@composite(_leaky, Samples(cases=_both((4, 5), negative_slope=0.2), smooth=False))
def leaky_relu(x: Any, /, negative_slope: float = 0.01) -> Any:
    """x where positive, else a fraction of it."""
    return where(le(x, 0), x * negative_slope, x)


def _prelu(np: Any, x: Any, weight: Any) -> Any:
    if weight.size > 1:
        weight = weight.reshape((-1,) + (1,) * (x.ndim - 2))
    return np.where(x > 0, x, weight * x)


@composite(
    _prelu,
    Samples(
        cases=(((3, 5), (), {}), ((3, 5), (1,), {}), ((2, 3, 4), (3,), {}), ((5, 3), (3,), {})),
        smooth=False,
    ),
)
def prelu(x: Any, weight: Any, /) -> Any:
    """x where positive, else weight times x; there is one weight, or one a channel (axis 1)."""
    if weight.ndim > 1 or (math.prod(weight.shape) != 1 and weight.shape[0] != _channels(x)):
        hint = "weight has one element, or as many as axis 1 of x"
        facts = {"x": x.shape, "weight": weight.shape}
        raise ShapeError(explain("prelu", "weight does not fit", hint, **facts))
    if math.prod(weight.shape) == 1:
        weight = weight.reshape(())
    else:
        weight = weight.reshape((-1,) + (1,) * (x.ndim - 2))
    below = le(x, 0)
    return where(below, weight * where(below, x, 0), x)  # no 0 * inf above, nor in gradients


def _channels(x: Any) -> int:
    return int(x.shape[1]) if x.ndim > 1 else 1


@composite(
    lambda np, x, threshold, value: np.where(x > threshold, x, value),
    Samples(cases=(((4, 5), {"threshold": 0.5, "value": -1.0}),
                   ((17,), {"threshold": -1.0, "value": 2.0})), smooth=False),
)  # fmt: skip
def threshold(x: Any, /, threshold: float, value: float) -> Any:
    """x where it is above the threshold, else the value."""
    return where(le(x, threshold), value, x)


@composite(
    lambda np, x, lambd=0.5: np.where(np.abs(x) > lambd, x, 0),
    Samples(cases=_both((4, 5), lambd=1.5), smooth=False),
)
def hardshrink(x: Any, /, lambd: float = 0.5) -> Any:
    """x, or 0 where it is within lambd of 0."""
    return where(le(abs(x), lambd), 0.0, x)


@composite(
    lambda np, x, lambd=0.5: np.sign(x) * np.maximum(np.abs(x) - lambd, 0),
    Samples(cases=_both((4, 5), lambd=1.5), smooth=False),
)
def softshrink(x: Any, /, lambd: float = 0.5) -> Any:
    """x moved towards 0 by lambd, which is not negative."""
    if not lambd >= 0:
        raise ArgumentError(explain("softshrink", "lambd is not negative", got=lambd))
    return where(le(abs(x), lambd), 0.0, where(le(x, 0), x + lambd, x - lambd))


@composite(lambda np, x: np.clip(x / 6 + 0.5, 0, 1), Samples(smooth=False))
def hardsigmoid(x: Any, /) -> Any:
    """A sigmoid of three straight pieces: x / 6 + 1/2, kept within [0, 1]."""
    return relu6(x + 3.0) / 6.0


@composite(lambda np, x: x * np.clip(x / 6 + 0.5, 0, 1), Samples(smooth=False))
def hardswish(x: Any, /) -> Any:
    """x times hardsigmoid(x)."""
    return x * relu6(x + 3.0) / 6.0


def _clip(np: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


@composite(
    _clip,
    Samples(
        cases=(((4, 5), (), (), {}), ((9,), (9,), {}), ((3, 4), (4,), (3, 1), {}), ((5,), {})),
        smooth=False,
    ),
)
def clip(x: Any, min: Any = None, max: Any = None, /) -> Any:  # noqa: A002 - the standard's names
    """x kept within [min, max], numbers or tensors; either may be left out."""
    if min is not None:
        x = where(bitwise_or(lt(x, min), ne(min, min)), min, x)
    return x if max is None else where(bitwise_or(gt(x, max), ne(max, max)), max, x)


@composite(
    _clip,
    Samples(cases=(((4, 5), (), (), {}), ((9,), (9,), {})), smooth=False), inline=True,
)  # fmt: skip
def clamp(x: Any, min: Any = None, max: Any = None, /) -> Any:  # noqa: A002
    """clip, which asks for one bound at least."""
    if min is None and max is None:
        hint = "min, max or both; clip(x) is x, as the array API has it"
        raise ArgumentError(explain("clamp", "no bound", hint))
    return clip(x, min, max)


def _nan_to_num(np: Any, x: Any, **options: Any) -> Any:
    return np.nan_to_num(x, **options)


@composite(
    _nan_to_num,
    Samples(cases=_both((4, 5), nan=1.0, posinf=2.0, neginf=-2.0)),
)
def nan_to_num(
    x: Any, /, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """x with numbers in place of NaN and infinities: by default 0 and the largest of the dtype."""
    if x.dtype.is_complex:
        return complex_(*[nan_to_num(part(x), nan, posinf, neginf) for part in (real, imag)])
    if not x.dtype.is_float:
        return x
    high = x.dtype.largest if posinf is None else posinf
    low = -x.dtype.largest if neginf is None else neginf
    finite = where(eq(x, math.inf), high, where(eq(x, -math.inf), low, x))
    return where(ne(x, x), nan, finite)


# ---- smooth ones


@composite(lambda np, x: x / (1 + np.exp(-x)), Samples(-8.0, 8.0))
def silu(x: Any, /) -> Any:
    """x times sigmoid(x)."""
    return x * sigmoid(x)


def _gelu(np: Any, x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf, otypes=[np.float64])(x * math.sqrt(0.5)))


NORMAL, CUBIC = 2 * math.sqrt(2 / math.pi), 0.044715


def _gelu_grad(g: Any, y: Any, x: Any) -> tuple[Any, ...]:
    """The cotangent meets the slope once: what the slope is can be known before."""
    if dict(y.arg[1])["approximate"] == "tanh":
        s = sigmoid(x * (x * x * (NORMAL * CUBIC) + NORMAL))
        return (g * (s + x * (s * (1.0 - s)) * (x * x * (3.0 * NORMAL * CUBIC) + NORMAL)),)
    density = exp(x * x * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))
    return (g * (0.5 * (1.0 + erf(x * math.sqrt(0.5))) + x * density),)


@composite(
    _gelu, Samples(cases=(((4, 5), {}), ((4, 37), {"approximate": "tanh"}))), grad=_gelu_grad
)
def gelu(x: Any, /, approximate: str = "none") -> Any:
    """x times the normal distribution function of x; approximate="tanh" uses a cheaper form."""
    if approximate == "tanh":  # 0.5 (1 + tanh u) = sigmoid(2u): one exponential, one division
        return x * sigmoid(x * (x * x * (NORMAL * CUBIC) + NORMAL))
    if approximate != "none":
        raise ArgumentError(explain("gelu", "approximate is 'none' or 'tanh'", got=approximate))
    return 0.5 * x * (1.0 + erf(x * math.sqrt(0.5)))


def _elu(x: Any, alpha: float, scale: float = 1.0) -> Any:
    """Above 0 the exponential is of 0: its gradient must not be infinite times 0."""
    negative = le(x, 0.0)
    below = expm1(where(negative, x * scale, 0.0)) * alpha
    return where(negative, below, x)


def _elu_reference(np: Any, x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


@composite(_elu_reference, Samples(cases=_both((4, 5), alpha=1.7), smooth=False))
def elu(x: Any, /, alpha: float = 1.0) -> Any:
    """x where positive, else alpha * (exp(x) - 1)."""
    return precisely(lambda x: _elu(x, alpha), x)


@composite(
    lambda np, x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha)),
    Samples(cases=_both((4, 5), alpha=1.7)),
)
def celu(x: Any, /, alpha: float = 1.0) -> Any:
    """x where positive, else alpha * (exp(x / alpha) - 1)."""
    return precisely(lambda x: _elu(x, alpha, 1.0 / alpha), x)


@composite(lambda np, x: 1.0507009873554805 * _elu_reference(np, x, 1.6732632423543772),
           Samples(smooth=False))  # fmt: skip
def selu(x: Any, /) -> Any:
    """elu with the alpha and scale that keep mean 0 and variance 1 from layer to layer."""
    return precisely(lambda x: SELU_SCALE * _elu(x, SELU_ALPHA), x)


def _mish(x: Any) -> Any:
    """tanh(log(1 + e)) is n / (n + 2) with n = e (e + 2)."""
    grown = exp(minimum(x, 20.0))
    n = grown * (grown + 2.0)
    return x * (n / (n + 2.0))


@composite(lambda np, x: x * np.tanh(np.log1p(np.exp(x))))
def mish(x: Any, /) -> Any:
    """x times tanh(softplus(x))."""
    return precisely(_mish, x)


@composite(lambda np, x: -np.logaddexp(0, -x), grad=lambda g, y, x: (g * sigmoid(-x),))
def logsigmoid(x: Any, /) -> Any:
    """log(sigmoid(x)) without overflow."""
    return precisely(lambda x: -(maximum(-x, 0.0) + log1p(exp(-abs(x)))), x)


def _softplus(np: Any, x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta)


@composite(_softplus, Samples(cases=_both((4, 5), beta=2.0, threshold=5.0)))
def softplus(x: Any, /, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""

    def define(x: Any) -> Any:
        scaled = x * beta
        smooth = (maximum(scaled, 0.0) + log1p(exp(-abs(scaled)))) * (1.0 / beta)
        return where(gt(scaled, threshold), x, smooth)

    return precisely(define, x)


@composite(lambda np, x: x / (1 + np.abs(x)))
def softsign(x: Any, /) -> Any:
    """x / (1 + |x|)."""
    return x / (abs(x) + 1)


@composite(lambda np, x: x - np.tanh(x))
def tanhshrink(x: Any, /) -> Any:
    """x - tanh(x)."""
    return x - tanh(x)


def _glu(np: Any, x: Any, axis: int = -1) -> Any:
    a, b = np.split(x, 2, axis)
    return a / (1 + np.exp(-b))


@composite(_glu, Samples(cases=(((3, 8), {}), ((6, 5), {"axis": 0}), ((2, 4, 3), {"axis": 1}))))
def glu(x: Any, /, axis: int = -1) -> Any:
    """The first half of an axis times the sigmoid of the second."""
    axis = axis_in("glu", axis, x.ndim)
    size = x.shape[axis]
    if size % 2:
        hint = "the axis is cut into two halves"
        raise ShapeError(explain("glu", "an odd number of elements", hint, size=size, axis=axis))
    half = size // 2
    return cut(x, axis, 0, half) * sigmoid(cut(x, axis, half, size))
