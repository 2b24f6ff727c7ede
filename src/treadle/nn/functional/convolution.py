"""Products with weights: linear maps, convolutions, and windows laid out and back."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treadle import functions as f
from treadle.base.errors import ShapeError, explain
from treadle.ops.windows import per_axis, require_room, spans_of
from treadle.tensor.tensor import Tensor

Sizes = int | Sequence[int]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input times weight transposed, plus bias; weight is (out, in), or (in) for one number."""
    if weight.ndim == 1:
        y = f.matmul(input, weight)
        return y if bias is None else y + bias
    return f.linear(input, weight, bias)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 weight[k] input2 for every output k, plus bias; weight is (out, in1, in2)."""
    fits = weight.ndim == 3 and input1.ndim and input1.shape[:-1] == input2.shape[:-1]
    if not fits or (input1.shape[-1], input2.shape[-1]) != weight.shape[1:]:
        hint = "input1 is (..., in1), input2 (..., in2), weight (out, in1, in2)"
        facts = {"input1": input1.shape, "input2": input2.shape, "weight": weight.shape}
        raise ShapeError(explain("bilinear", "shapes do not fit", hint, **facts))
    out, first, second = weight.shape
    lead = input1.shape[:-1]
    count = math.prod(lead)
    rows = input1.reshape((count, first))
    half = rows @ weight.permute(1, 0, 2).reshape((first, out * second))
    whole = half.reshape((count, out, second)) * input2.reshape((count, 1, second))
    y = whole.sum(-1).reshape((*lead, out))
    return y if bias is None else y + bias


# ---- convolutions


def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Cross-correlation of (N, C, L) or (C, L) with kernels (out, C / groups, k)."""
    return f.conv1d(input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Cross-correlation of (N, C, H, W) or (C, H, W) with kernels (out, C / groups, kh, kw)."""
    return f.conv2d(input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Cross-correlation of (N, C, D, H, W), or without N, with (out, C / groups, kd, kh, kw)."""
    return f.conv3d(input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """conv1d of (time, batch, channels) with a weight (k, channels, out)."""
    if input.ndim != 3 or weight.ndim != 3:
        hint = "input is (time, batch, channels), weight (k, channels, out)"
        facts = {"input": input.shape, "weight": weight.shape}
        raise ShapeError(explain("conv_tbc", "wrong number of axes", hint, **facts))
    y = f.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return y.permute(2, 0, 1)


def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The transpose of conv1d, with a weight (C, out / groups, k)."""
    return f.conv_transpose1d(
        input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The transpose of conv2d, with a weight (C, out / groups, kh, kw)."""
    return f.conv_transpose2d(
        input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The transpose of conv3d, with a weight (C, out / groups, kd, kh, kw)."""
    return f.conv_transpose3d(
        input, weight, bias, stride, padding, output_padding, groups, dilation
    )


# ---- windows as columns


def _image(what: str, input: Tensor, axes: int, hint: str) -> None:
    if input.ndim not in (axes - 1, axes):
        raise ShapeError(explain(what, "wrong number of axes", hint, shape=input.shape))


def unfold(
    input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Every window of (N, C, H, W) as a column: (N, C kh kw, number of windows)."""
    _image("unfold", input, 4, "input is (N, C, H, W) or (C, H, W)")
    sizes = per_axis("unfold", "kernel_size", kernel_size, 2, 1)
    dilations = per_axis("unfold", "dilation", dilation, 2, 1)
    edges = per_axis("unfold", "padding", padding, 2, 0)
    steps = per_axis("unfold", "stride", stride, 2, 1)
    padded = [n + 2 * edge for n, edge in zip(input.shape[-2:], edges, strict=True)]
    require_room("unfold", padded, spans_of(sizes, dilations), input.shape)
    both = [(edge, edge) for edge in edges]
    seen = f.windows(input, sizes, steps, dilations, both)
    rows = math.prod(seen.shape[-5:-2])
    return seen.reshape((*input.shape[:-3], rows, math.prod(seen.shape[-2:])))


def fold(
    input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1,
    padding: Sizes = 0, stride: Sizes = 1,
) -> Tensor:  # fmt: skip
    """Columns (N, C kh kw, windows) laid back as (N, C, *output_size), added up where they meet."""
    _image("fold", input, 3, "input is (N, C kh kw, windows) or without N")
    outputs = per_axis("fold", "output_size", output_size, 2, 1)
    sizes = per_axis("fold", "kernel_size", kernel_size, 2, 1)
    dilations = per_axis("fold", "dilation", dilation, 2, 1)
    edges = per_axis("fold", "padding", padding, 2, 0)
    steps = per_axis("fold", "stride", stride, 2, 1)
    spans = spans_of(sizes, dilations)
    every = zip(outputs, edges, spans, steps, strict=True)
    counts = [(n + 2 * edge - span) // step + 1 for n, edge, span, step in every]
    area = math.prod(sizes)
    if input.shape[-2] % area or input.shape[-1] != math.prod(counts) or min(counts) < 1:
        hint = f"rows are a multiple of {area}, and there are {counts[0]} x {counts[1]} windows"
        raise ShapeError(explain("fold", "columns do not fit", hint, shape=input.shape))
    lead = (*input.shape[:-2], input.shape[-2] // area)
    return f.fold(input.reshape((*lead, *sizes, *counts)), outputs, steps, dilations, edges)
