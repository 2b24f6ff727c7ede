"""What brings elements to a common mean, variance or length, with PyTorch's arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treadle import functions as f
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import Shape
from treadle.tensor.autocast import is_autocast_enabled
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor

# ---- the last axes


def _lines(what: str, x: Tensor, normalized_shape: int | Sequence[int]) -> tuple[Tensor, Shape]:
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


def _as(input: Tensor, y: Tensor) -> Tensor:
    """y in the dtype of the input, whatever that of the weights is; autocast says otherwise."""
    if y.dtype is input.dtype or not input.dtype.is_float:
        return y
    return y if is_autocast_enabled(input.device.backend) else y.cast(input.dtype)


def layer_norm(
    input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
    bias: Tensor | None = None, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """The last axes, of normalized_shape, normalised together, then scaled and shifted.

    >>> import treadle as td
    >>> layer_norm(td.tensor([1.0, 3.0]), (2,), eps=0.0).tolist()
    [-1.0, 1.0]
    """
    flat, sizes = _lines("layer_norm", input, normalized_shape)
    scale, shift = (_line("layer_norm", y, sizes) for y in (weight, bias))
    return _as(input, f.layer_norm(flat, scale, shift, eps).reshape(input.shape))


def rms_norm(
    input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:  # fmt: skip
    """The last axes, of normalized_shape, over the root of their mean square, then scaled."""
    flat, sizes = _lines("rms_norm", input, normalized_shape)
    return f.rms_norm(flat, _line("rms_norm", weight, sizes), eps).reshape(input.shape)


# ---- channels


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Groups of channels (axis 1) normalised to mean 0 and variance 1, then scaled and shifted."""
    return _as(input, f.group_norm(input, weight, bias, num_groups, eps))


def _follow(state: Tensor | None, found: Tensor, momentum: float | Tensor) -> None:
    """Assign a running statistic anew: a part of momentum comes from what was found."""
    if state is not None:
        with no_grad():
            seen = found.detach().astype(state.dtype)
            new = state * (1.0 - momentum) + seen * momentum
            state.assign(new.astype(state.dtype))


def _require_running(what: str, mean: Tensor | None, var: Tensor | None, hint: str) -> None:
    if mean is None or var is None:
        raise ArgumentError(explain(what, "no running statistics", hint))


def _require_axes(what: str, x: Tensor, least: int, hint: str) -> None:
    if x.ndim < least:
        raise ShapeError(explain(what, "too few axes", hint, shape=x.shape))


def _require_several(what: str, x: Tensor, count: int) -> None:
    if count == 1:
        hint = "a variance needs two values: a larger batch, or training=False"
        raise ShapeError(explain(what, "one value for each channel", hint, shape=x.shape))


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
    weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
    momentum: float | Tensor = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Channels (axis 1) normalised by the running statistics, then scaled and shifted.

    In training by those of the batch, and the running ones are assigned anew: a part of `momentum`
    comes from the batch.
    """
    if not training:
        hint = "training=True normalises by the batch itself"
        _require_running("batch_norm", running_mean, running_var, hint)
        return _as(input, f.batch_norm(input, running_mean, running_var, weight, bias, eps))
    _require_axes("batch_norm", input, 2, "input is (batch, channels, ...)")
    over = (0, *range(2, input.ndim))
    _require_several("batch_norm", input, math.prod(input.shape[k] for k in over))
    _follow(running_mean, input.mean(over), momentum)
    _follow(running_var, input.var(over, correction=1), momentum)
    return _as(input, f.batch_norm(input, None, None, weight, bias, eps))


def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
    weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
    momentum: float | Tensor = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel (axis 1) of each element of the batch normalised, then scaled and shifted.

    Running statistics, if given, follow the means over the batch. use_input_stats=False normalises
    by them instead.
    """
    if not use_input_stats:
        hint = "use_input_stats=True normalises by the input itself"
        _require_running("instance_norm", running_mean, running_var, hint)
        return _as(input, f.batch_norm(input, running_mean, running_var, weight, bias, eps))
    _require_axes("instance_norm", input, 3, "input is (batch, channels, spatial ...)")
    _require_several("instance_norm", input, math.prod(input.shape[2:]))
    over = tuple(range(2, input.ndim))
    _follow(running_mean, input.mean(over).mean(0), momentum)
    _follow(running_var, input.var(over, correction=1).mean(0), momentum)
    return _as(input, f.instance_norm(input, weight, bias, eps))


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """input / (k + alpha m) ** beta, m the mean square over size channels (axis 1) around each."""
    _require_axes("local_response_norm", input, 3, "input is (batch, channels, spatial ...)")
    if size < 1:
        raise ArgumentError(explain("local_response_norm", "size is positive", got=size))
    if not input.size:
        return input
    edges = [(0, 0)] * input.ndim
    edges[1] = (size // 2, (size - 1) // 2)
    near = f.unfold(f.pad(input * input, edges), 1, size).sum(-1) / size
    return input / (near * alpha + k) ** beta


# ---- lengths


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """input over its p-norm along dim, which counts as at least eps."""
    return f.normalize(input, p, dim, eps)
