"""One value for every window or region of an image, with PyTorch's arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from treadle import functions as f
from treadle.base.errors import ShapeError, explain
from treadle.nn.functional import places
from treadle.ops.windows import per_axis
from treadle.random import uniform
from treadle.tensor.creation import zeros
from treadle.tensor.tensor import Tensor

Sizes = int | Sequence[int]
Outputs = int | Sequence[int | None]

# ---- the largest


def max_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Largest element of every window of (N, C, L), or without N.

    return_indices: also where it lies, as numbers in its plane, for `max_unpool1d`.
    """
    window = (kernel_size, _or_none(stride), padding, dilation)
    return _max_pool(f.max_pool1d, 1, input, window, ceil_mode, return_indices)


def max_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Largest element of every window of (N, C, H, W), or without N.

    return_indices: also where it lies, as numbers in its plane, for `max_unpool2d`.
    """
    window = (kernel_size, _or_none(stride), padding, dilation)
    return _max_pool(f.max_pool2d, 2, input, window, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Largest element of every window of (N, C, D, H, W), or without N.

    return_indices: also where it lies, as numbers in its plane, for `max_unpool3d`.
    """
    window = (kernel_size, _or_none(stride), padding, dilation)
    return _max_pool(f.max_pool3d, 3, input, window, ceil_mode, return_indices)


def _max_pool(
    op: Callable[..., Tensor], count: int, input: Tensor, window: tuple[Any, Any, Any, Any],
    ceil_mode: bool, return_indices: bool,
) -> Any:  # fmt: skip
    top = op(input, *window, ceil_mode)
    if not return_indices:
        return top
    return top, places.windowed(op.__name__, input, top, *window, count)


def _or_none(stride: Sizes | None) -> Sizes | None:
    """PyTorch reads an empty stride as one left out."""
    return None if isinstance(stride, Sequence) and not stride else stride


def adaptive_max_pool1d(input: Tensor, output_size: Outputs, return_indices: bool = False) -> Any:
    """Largest element of output_size regions that cover (N, C, L), or without N.

    None among the sizes keeps an axis as it is. return_indices: also where it lies.
    """
    top = f.adaptive_max_pool1d(input, output_size)
    return (top, places.adaptive(input, top, 1)) if return_indices else top


def adaptive_max_pool2d(input: Tensor, output_size: Outputs, return_indices: bool = False) -> Any:
    """Largest element of output_size regions that cover (N, C, H, W), or without N.

    None among the sizes keeps an axis as it is. return_indices: also where it lies.
    """
    top = f.adaptive_max_pool2d(input, output_size)
    return (top, places.adaptive(input, top, 2)) if return_indices else top


def adaptive_max_pool3d(input: Tensor, output_size: Outputs, return_indices: bool = False) -> Any:
    """Largest element of output_size regions that cover (N, C, D, H, W), or without N.

    None among the sizes keeps an axis as it is. return_indices: also where it lies.
    """
    top = f.adaptive_max_pool3d(input, output_size)
    return (top, places.adaptive(input, top, 3)) if return_indices else top


def fractional_max_pool2d(
    input: Tensor, kernel_size: Sizes, output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """Largest element of windows at random places of (N, C, H, W), or without N.

    _random_samples: 2 numbers in [0, 1) for every plane, which decide where windows start.
    """
    window = (kernel_size, output_size, output_ratio)
    op = f.fractional_max_pool2d
    return _fractional(op, 2, input, window, return_indices, _random_samples)


def fractional_max_pool3d(
    input: Tensor, kernel_size: Sizes, output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """Largest element of windows at random places of (N, C, D, H, W), or without N.

    _random_samples: 3 numbers in [0, 1) for every plane, which decide where windows start.
    """
    window = (kernel_size, output_size, output_ratio)
    op = f.fractional_max_pool3d
    return _fractional(op, 3, input, window, return_indices, _random_samples)


def _fractional(
    op: Callable[..., Tensor], count: int, input: Tensor, window: tuple[Any, Any, Any],
    return_indices: bool, samples: Tensor | None,
) -> Any:  # fmt: skip
    planes = math.prod(input.shape[: max(0, input.ndim - count)])
    drawn = uniform((planes, count), device=input.device) if samples is None else samples
    top = op(input, drawn, *window)
    if not return_indices:
        return top
    sizes = per_axis(op.__name__, "kernel_size", window[0], count, 1)
    return top, places.fractional(op.__name__, input, top, drawn, sizes)


# ---- back to their places


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """What max_pool1d found back at the places it named, 0 elsewhere.

    output_size: which of the sizes that pool to input's; the least, if left out.
    """
    return _unpooled("max_unpool1d", input, indices, (kernel_size, stride, padding), output_size, 1)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """What max_pool2d found back at the places it named, 0 elsewhere.

    output_size: which of the sizes that pool to input's; the least, if left out.
    """
    return _unpooled("max_unpool2d", input, indices, (kernel_size, stride, padding), output_size, 2)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """What max_pool3d found back at the places it named, 0 elsewhere.

    output_size: which of the sizes that pool to input's; the least, if left out.
    """
    return _unpooled("max_unpool3d", input, indices, (kernel_size, stride, padding), output_size, 3)


def _unpooled(
    what: str, input: Tensor, indices: Tensor, window: tuple[Any, Any, Any],
    output_size: Sequence[int] | None, count: int,
) -> Tensor:  # fmt: skip
    if input.ndim not in (count + 1, count + 2) or indices.shape != input.shape:
        hint = f"one index for each element of (N, C, {count} spatial), or without N"
        facts = {"input": input.shape, "indices": indices.shape}
        raise ShapeError(explain(what, "indices do not fit", hint, **facts))
    kernel, stride, padding = window
    sizes = per_axis(what, "kernel_size", kernel, count, 1)
    steps = per_axis(what, "stride", sizes if _or_none(stride) is None else stride, count, 1)
    edges = per_axis(what, "padding", padding, count, 0)
    every = zip(input.shape[-count:], sizes, steps, edges, strict=True)
    usual = [(n - 1) * step + size - 2 * edge for n, size, step, edge in every]
    wanted = list(usual if output_size is None else output_size)[-count:]
    near = [abs(n - m) < step for n, m, step in zip(wanted, usual, steps, strict=False)]
    if len(near) != count or not all(near):
        hint = f"less than a stride from {tuple(usual)}"
        raise ShapeError(explain(what, "output_size does not fit", hint, got=output_size))
    lead = input.shape[:-count]
    area = (*lead, math.prod(input.shape[-count:]))
    empty = zeros((*lead, math.prod(wanted)), dtype=input.dtype, device=input.device)
    filled = f.scatter(empty, indices.reshape(area), input.reshape(area), -1)
    return filled.reshape((*lead, *wanted))


# ---- means and norms


def avg_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False, count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """Mean of every window of (N, C, L), or without N.

    count_include_pad: does padding count as zeros?
    """
    return f.avg_pool1d(input, kernel_size, _or_none(stride), padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Mean of every window of (N, C, H, W), or without N.

    count_include_pad: does padding count as zeros? divisor_override: divide
    by this instead.
    """
    return f.avg_pool2d(
        input,
        kernel_size,
        _or_none(stride),
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )


def avg_pool3d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Mean of every window of (N, C, D, H, W), or without N.

    count_include_pad: does padding count as zeros? divisor_override: divide
    by this instead.
    """
    return f.avg_pool3d(
        input,
        kernel_size,
        _or_none(stride),
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )


def adaptive_avg_pool1d(input: Tensor, output_size: Outputs) -> Tensor:
    """Mean of output_size regions that cover (N, C, L); None keeps an axis as it is."""
    return f.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Outputs) -> Tensor:
    """Mean of output_size regions that cover (N, C, H, W); None keeps an axis as it is."""
    return f.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Outputs) -> Tensor:
    """Mean of output_size regions that cover (N, C, D, H, W); None keeps an axis as it is."""
    return f.adaptive_avg_pool3d(input, output_size)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """(sum of x ** norm_type) ** (1 / norm_type) over every window of (N, C, L)."""
    return f.lp_pool1d(input, norm_type, kernel_size, _or_none(stride), ceil_mode)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """(sum of x ** norm_type) ** (1 / norm_type) over every window of (N, C, H, W)."""
    return f.lp_pool2d(input, norm_type, kernel_size, _or_none(stride), ceil_mode)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """(sum of x ** norm_type) ** (1 / norm_type) over every window of (N, C, D, H, W)."""
    return f.lp_pool3d(input, norm_type, kernel_size, _or_none(stride), ceil_mode)
