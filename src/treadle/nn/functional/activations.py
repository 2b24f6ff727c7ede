"""Functions between layers, with PyTorch's arguments.

`inplace` is taken so that calls carry over, and means nothing: a value, once made, never changes,
and the compiler reuses memory by itself.
"""

from __future__ import annotations

from typing import Any

from treadle import functions as f
from treadle.base.errors import ArgumentError, explain
from treadle.random import gumbel, uniform
from treadle.tensor.tensor import Tensor

# ---- straight pieces


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """input where positive, else 0."""
    return f.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """input kept within [0, 6]."""
    return f.relu6(input)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """input kept within [min_val, max_val]."""
    if min_val > max_val:
        facts = {"min_val": min_val, "max_val": max_val}
        raise ArgumentError(explain("hardtanh", "min_val is above max_val", **facts))
    return f.hardtanh(input, min_val, max_val)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """input where it is above the threshold, else the value."""
    return f.threshold(input, threshold, value)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """input where positive, else negative_slope times it."""
    return f.leaky_relu(input, negative_slope)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """input where positive, else weight times it: one weight, or one a channel (axis 1)."""
    return f.prelu(input, weight)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
    inplace: bool = False,
) -> Tensor:  # fmt: skip
    """input where positive, else a slope times it.

    In training every element draws its slope from [lower, upper); else it is their mean.
    """
    if lower > upper:
        raise ArgumentError(explain("rrelu", "lower is above upper", lower=lower, upper=upper))
    if not training:
        return f.leaky_relu(input, (lower + upper) / 2)
    slope = uniform(input.shape, lower, upper, dtype=input.dtype, device=input.device)
    return f.where(input > 0, input, input * slope)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """input, or 0 where it is within lambd of 0."""
    return f.hardshrink(input, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """input moved towards 0 by lambd."""
    if lambd < 0:
        raise ArgumentError(explain("softshrink", "lambd is not negative", got=lambd))
    return f.softshrink(input, lambd)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """input / 6 + 1/2, kept within [0, 1]."""
    return f.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input times hardsigmoid(input)."""
    return f.hardswish(input)


# ---- smooth ones


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where positive, else alpha (exp(input) - 1)."""
    return f.elu(input, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where positive, else alpha (exp(input / alpha) - 1)."""
    if alpha == 0:
        raise ArgumentError(explain("celu", "alpha is not 0"))
    return f.celu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the alpha and scale that keep mean 0 and variance 1 from layer to layer."""
    return f.selu(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input times its sigmoid."""
    return f.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input times tanh(softplus(input))."""
    return f.mish(input)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """input times the normal distribution function of it; "tanh" takes a cheaper form."""
    return f.gelu(input, approximate)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input))."""
    return f.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return f.tanh(input)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)) without overflow."""
    return f.logsigmoid(input)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta input)) / beta; input itself where beta input is above the threshold."""
    return f.softplus(input, beta, threshold)


def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|)."""
    return f.softsign(input)


def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input)."""
    return f.tanhshrink(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along dim times the sigmoid of the second."""
    return f.glu(input, dim)


# ---- along an axis


def _softmax_axis(input: Tensor, dim: int | None) -> int:
    """The axis PyTorch takes where none is given: 0 for 0, 1 and 3 axes, else 1."""
    return dim if dim is not None else 0 if input.ndim in (0, 1, 3) else 1


def _cast(input: Tensor, dtype: Any) -> Tensor:
    return input if dtype is None else input.astype(dtype)


def softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """exp(input) over its sum along dim, computed in dtype if one is given.

    Without dim it goes along the axis PyTorch guesses: 0 for 0, 1 and 3 axes, else 1.
    """
    return f.softmax(_cast(input, dtype), _softmax_axis(input, dim))


def softmin(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """softmax of -input."""
    return f.softmax(_cast(-input, dtype), _softmax_axis(input, dim))


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """log(softmax(input)) along dim."""
    return f.log_softmax(_cast(input, dtype), _softmax_axis(input, dim))


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Samples of the classes along dim that have a gradient: softmax((logits + noise) / tau).

    hard: a 1 at the largest and 0 elsewhere, with the gradient of the soft sample. eps means
    nothing, as in PyTorch.
    """
    noise = gumbel(logits.shape, dtype=logits.dtype, device=logits.device)
    soft = f.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    fixed = soft.detach()
    best = f.argmax(fixed, dim, keepdims=True)
    chosen = (fixed.iota_like(dim) == best).astype(soft.dtype)
    return chosen - fixed + soft
