"""Layers without parameters that PyTorch calls with other arguments than the rows, or that draw."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treadle import functions as f
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import Shape
from treadle.random import bernoulli, uniform
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor

__all__ = [
    "batch_norm", "dropout", "fractional_max_pool2d", "fractional_max_pool3d", "group_norm",
    "layer_norm", "pad", "rms_norm",
]  # fmt: skip

Sizes = int | Sequence[int]


# ---- normalisation


def _lines(what: str, x: Tensor, normalized_shape: Sizes) -> tuple[Tensor, Shape]:
    """x with the axes to be normalised as one, and their sizes."""
    sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    lead = x.ndim - len(sizes)
    if not sizes or x.shape[max(lead, 0) :] != sizes:
        facts = {"normalized_shape": sizes, "shape": x.shape}
        raise ShapeError(explain(what, "these are not the last axes", **facts))
    return x.reshape((*x.shape[:lead], math.prod(sizes))), sizes


def _line(what: str, x: Tensor | None, sizes: Shape) -> Tensor | None:
    """What scales or shifts such lines, as one."""
    if x is not None and x.shape != sizes:
        facts = {"normalized_shape": sizes, "got": x.shape}
        raise ShapeError(explain(what, "weight and bias have the normalized_shape", **facts))
    return None if x is None else x.reshape(-1)


def layer_norm(
    x: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """The last axes, of normalized_shape, normalised together, then scaled and shifted.

    >>> import treadle as td
    >>> layer_norm(td.tensor([1.0, 3.0]), (2,), eps=0.0).tolist()
    [-1.0, 1.0]
    """
    flat, sizes = _lines("layer_norm", x, normalized_shape)
    scale, shift = (_line("layer_norm", y, sizes) for y in (weight, bias))
    return f.layer_norm(flat, scale, shift, eps).reshape(x.shape)


def rms_norm(
    x: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """The last axes, of normalized_shape, over the root of their mean square, then scaled."""
    flat, sizes = _lines("rms_norm", x, normalized_shape)
    return f.rms_norm(flat, _line("rms_norm", weight, sizes), eps).reshape(x.shape)


def group_norm(
    x: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Groups of channels (axis 1) normalised to mean 0 and variance 1, then scaled and shifted."""
    return f.group_norm(x, weight, bias, num_groups, eps)


def batch_norm(
    x: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
    weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Channels (axis 1) normalised by the running statistics, then scaled and shifted.

    In training by those of the batch, and the running ones are assigned anew: a part of `momentum`
    comes from the batch.
    """
    if not training:
        return f.batch_norm(x, running_mean, running_var, weight, bias, eps)
    over = (0, *range(2, x.ndim))
    with no_grad():
        if running_mean is not None:
            running_mean.assign(f.lerp(running_mean, x.mean(over).detach(), momentum))
        if running_var is not None:
            running_var.assign(f.lerp(running_var, x.var(over, correction=1).detach(), momentum))
    return f.batch_norm(x, None, None, weight, bias, eps)


# ---- what draws


def dropout(x: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Elements set to 0 with probability p, the others grown by 1 / (1 - p); x if not training."""
    if not isinstance(p, int | float) or not 0.0 <= p <= 1.0:
        raise ArgumentError(explain("dropout", "p is a probability", got=repr(p)))
    if not training or p == 0.0:
        return x
    if p == 1.0:
        return x * 0.0
    kept = bernoulli(x.shape, 1.0 - p, device=x.device)
    return f.where(kept, x * (1.0 / (1.0 - p)), 0.0)


def _samples(x: Tensor, count: int) -> Tensor:
    """Random numbers, so many for each plane."""
    lead = x.shape[: max(0, x.ndim - count)]
    return uniform((math.prod(lead), count), device=x.device)


def fractional_max_pool2d(
    x: Tensor, kernel_size: Sizes, output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None, samples: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Largest element of windows at random places over the last 2 axes."""
    drawn = _samples(x, 2) if samples is None else samples
    return f.fractional_max_pool2d(x, drawn, kernel_size, output_size, output_ratio)


def fractional_max_pool3d(
    x: Tensor, kernel_size: Sizes, output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None, samples: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Largest element of windows at random places over the last 3 axes."""
    drawn = _samples(x, 3) if samples is None else samples
    return f.fractional_max_pool3d(x, drawn, kernel_size, output_size, output_ratio)


# ---- borders


def pad(x: Tensor, pad: Sizes, mode: str = "constant", value: float = 0.0) -> Tensor:
    """A border: (before, after) of the last axis, then of the one before it, and so on.

    >>> import treadle as td
    >>> pad(td.ones(2, 2), (1, 0)).tolist()
    [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    """
    if isinstance(pad, int):
        return f.pad(x, pad, value, mode)
    edges = tuple(pad)
    if len(edges) % 2 or len(edges) > 2 * x.ndim:
        hint = "two numbers for each axis, the last axis first"
        raise ArgumentError(explain("pad", "edges do not fit", hint, pad=edges, shape=x.shape))
    pairs = [(edges[k], edges[k + 1]) for k in range(len(edges) - 2, -1, -2)]
    return f.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + pairs, value, mode)
