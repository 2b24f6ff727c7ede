"""Rows of the convolutions and their transposes: windows as columns of matrix products.

Layouts are those of PyTorch: (batch, channels, *spatial), the batch axis may be left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import Shape
from treadle.ops.composite import composite
from treadle.ops.contract import matrix_product
from treadle.ops.deconvolution import (
    CHANNELS_LAST,
    is_by_taps,
    shifted,
    spread,
    weight_gradient,
)  # fmt: skip
from treadle.ops.defs import Op, Samples
from treadle.ops.movement import pad, slice_
from treadle.ops.reduce import sum_
from treadle.ops.windows import per_axis, require_room, spans_of, windows

Sizes = int | Sequence[int]
Pairs = list[tuple[int, int]]


# ---- references: one product for every element of the kernel


def _conv(
    np: Any, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    count = weight.ndim - 2
    stride, dilation = (np.broadcast_to(n, count) for n in (stride, dilation))
    reach = dilation * (np.array(weight.shape[2:]) - 1)
    before = reach // 2 if padding == "same" else 0 if padding == "valid" else padding
    after = reach - reach // 2 if padding == "same" else before
    edges = zip(np.broadcast_to(before, count), np.broadcast_to(after, count), strict=True)
    x = np.pad(x, [(0, 0)] * (x.ndim - count) + list(edges))
    counts = (np.array(x.shape[-count:]) - reach - 1) // stride + 1
    parts = []
    for part, kernel in zip(
        np.split(x, groups, -count - 1), np.split(weight, groups, 0), strict=True
    ):
        total = 0
        for at in product(*map(range, weight.shape[2:])):
            first = np.array(at) * dilation
            cut = [slice(a, a + n * s, s) for a, n, s in zip(first, counts, stride, strict=True)]
            seen = np.moveaxis(part[(..., *cut)], -count - 1, -1)
            total = total + np.moveaxis(seen @ kernel[(..., *at)].T, -1, -count - 1)
        parts.append(total)
    y = np.concatenate(parts, -count - 1)
    return y if bias is None else y + bias.reshape((-1,) + (1,) * count)


def _conv_transpose(
    np: Any, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    count = weight.ndim - 2
    stride, padding, more, dilation = (
        np.broadcast_to(n, count) for n in (stride, padding, output_padding, dilation)
    )
    sizes = np.array(x.shape[-count:])
    full = (sizes - 1) * stride + dilation * (np.array(weight.shape[2:]) - 1) + 1
    y = np.zeros((*x.shape[: -count - 1], groups * weight.shape[1], *(full + more)), x.dtype)
    parts = zip(np.split(x, groups, -count - 1), np.split(weight, groups, 0), strict=True)
    for g, (part, kernel) in enumerate(parts):
        channels = slice(g * weight.shape[1], (g + 1) * weight.shape[1])
        for at in product(*map(range, weight.shape[2:])):
            first = np.array(at) * dilation
            cut = [slice(a, a + n * s, s) for a, n, s in zip(first, sizes, stride, strict=True)]
            spread = np.moveaxis(part, -count - 1, -1) @ kernel[(..., *at)]
            y[(..., channels, *cut)] += np.moveaxis(spread, -1, -count - 1)
    last = y.shape[-count:]
    y = y[(..., *(slice(p, n - p) for p, n in zip(padding, last, strict=True)))]
    return y if bias is None else y + bias.reshape((-1,) + (1,) * count)


# ---- what both check


def _batched(op: str, x: Any, weight: Any, count: int) -> Any:
    """x with its batch axis, once the ranks fit."""
    if weight.ndim != count + 2 or x.ndim not in (count + 1, count + 2):
        hint = f"x is (batch, channels, {count} spatial) or without batch, weight {count + 2}-d"
        facts = {"shape": x.shape, "weight": weight.shape}
        raise ShapeError(explain(op, "wrong number of axes", hint, **facts))
    return x if x.ndim == count + 2 else x.reshape((1, *x.shape))


def _check_channels(op: str, x: Any, weight: Any, groups: int, wanted: int, split: int) -> None:
    """wanted: channels x must have; split: channels of the weight that groups cut."""
    facts = {"shape": x.shape, "weight": weight.shape, "groups": groups}
    if not isinstance(groups, int) or groups < 1 or split % groups:
        raise ArgumentError(explain(op, "groups must divide the channels", **facts))
    if x.shape[1] != wanted:
        hint = f"with this weight x has {wanted} channels on axis 1"
        raise ShapeError(explain(op, "channels do not fit", hint, **facts))


def _with_bias(op: str, y: Any, bias: Any, x: Any, spatial: Shape) -> Any:
    """y (batch, channels, ...) plus the bias of each channel, without batch if x has none."""
    if bias is not None:
        if bias.shape != (y.shape[1],):
            hint = f"one number for each of {y.shape[1]} channels"
            raise ShapeError(explain(op, "the bias does not fit", hint, bias=bias.shape))
        y = y + bias.reshape((-1, *(1,) * (y.ndim - 2)))
    return y.reshape((*y.shape[:2], *spatial)[x.ndim < len(spatial) + 2 :])


def edges_of(op: str, padding: Any, strides: Shape, spans: Shape) -> Pairs:
    """(before, after) for each spatial axis."""
    if padding == "valid":
        return [(0, 0)] * len(spans)
    if padding == "same":
        if any(s > 1 for s in strides):
            hint = "give the padding as numbers"
            raise ArgumentError(explain(op, "padding 'same' needs stride 1", hint, stride=strides))
        return [((span - 1) // 2, span - 1 - (span - 1) // 2) for span in spans]
    if isinstance(padding, str):
        hint = "'same', 'valid', or numbers"
        raise ArgumentError(explain(op, "unknown padding", hint, padding=repr(padding)))
    return [(n, n) for n in per_axis(op, "padding", padding, len(spans), 0)]


def _padded(x: Any, edges: Pairs) -> Any:
    """x with zeros around its last axes: memory from which windows are read in place."""
    if not any(n for pair in edges for n in pair):
        return x
    if x.device.backend in CHANNELS_LAST:
        lines = x.permute((0, *range(2, x.ndim), 1))
        return pad(lines, [(0, 0), *edges, (0, 0)]).permute((0, x.ndim - 1, *range(1, x.ndim - 1)))
    return pad(x, [(0, 0)] * (x.ndim - len(edges)) + edges)


# ---- convolution


def _convolve(
    op: str, count: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    groups: int,
) -> Any:  # fmt: skip
    given, x = x, _batched(op, x, weight, count)
    strides = per_axis(op, "stride", stride, count, 1)
    dilations = per_axis(op, "dilation", dilation, count, 1)
    sizes, outputs = weight.shape[2:], weight.shape[0]
    _check_channels(op, x, weight, groups, weight.shape[1] * groups, outputs)
    spans = spans_of(sizes, dilations)
    edges = edges_of(op, padding, strides, spans)
    padded = [b + n + a for n, (b, a) in zip(x.shape[2:], edges, strict=True)]
    require_room(op, padded, spans, given.shape)
    x = _padded(x, edges)
    if is_by_taps(weight, groups):
        y = _by_taps(x, weight, strides, dilations)
        return _with_bias(op, y, bias, given, y.shape[2:])
    seen = windows(x, sizes, strides, dilations)
    spatial = seen.shape[-count:]
    batch, depth, points = x.shape[0], weight.shape[1] * prod(sizes), prod(spatial)
    seen = seen.reshape((batch, groups, depth, points))
    kernels = weight.reshape((groups, outputs // groups, depth))
    if groups == 1:
        y = matrix_product(kernels.reshape((outputs, depth)), seen.reshape((batch, depth, points)))
    else:
        y = matrix_product(kernels, seen)
    return _with_bias(op, y.reshape((batch, outputs, points)), bias, given, spatial)


def _by_taps(x: Any, weight: Any, strides: Shape, dilations: Shape) -> Any:
    """A kernel for every channel: one shifted copy of x for each tap, all read in one pass."""
    total = None
    for at, seen in shifted(x, weight.shape[2:], strides, dilations):
        tap = slice_(weight, [(0, n, 1) for n in weight.shape[:2]] + [(k, k + 1, 1) for k in at])
        part = seen * tap.reshape((-1, *(1,) * len(at)))
        total = part if total is None else total + part
    return total


_CONV_CASES: dict[int, tuple[Any, ...]] = {
    1: (
        ((2, 3, 9), (4, 3, 3), {}), ((3, 9), (4, 3, 2), (4,), {"stride": 2, "padding": 1}),
        ((2, 4, 8), (4, 2, 3), (4,), {"padding": "same", "dilation": 2, "groups": 2}),
        ((1, 2, 5), (3, 2, 1), {"padding": "valid"}), ((0, 2, 5), (3, 2, 2), {}),
    ),
    2: (
        ((2, 3, 6, 7), (4, 3, 3, 2), (4,), {"stride": (2, 1), "padding": (1, 0)}),
        ((2, 4, 5, 6), (4, 1, 3, 3), (4,), {"padding": "same", "groups": 4}),
        ((0, 4, 5, 6), (4, 1, 3, 3), (4,), {"padding": "same", "groups": 4}),
        ((4, 5, 6), (6, 2, 2, 2), {"groups": 2, "dilation": (1, 2)}),
        ((2, 3, 4, 4), (5, 3, 1, 1), {"stride": 2}),
    ),
    3: (
        ((1, 2, 4, 5, 4), (3, 2, 2, 3, 2), (3,), {"stride": (1, 2, 1), "padding": 1}),
        ((2, 3, 4, 3), (2, 1, 2, 2, 2), {"groups": 2, "padding": "same"}),
    ),
}  # fmt: skip


def _timed(count: int, **options: int) -> tuple[Any, ...]:
    """A layer of a network, for benchmarks."""
    spatial = {1: (4096,), 2: (56, 56), 3: (16, 16, 16)}[count]
    return (8, 64, *spatial), (64, 64, *(3,) * count), options


def _conv_grad(g: Any, y: Any, x: Any, weight: Any, bias: Any = None) -> tuple[Any, ...]:
    """Of x, of the kernels, and of the bias: products as the convolution itself is one."""
    given, count = dict(y.arg[1]), weight.ndim - 2
    strides = per_axis("conv", "stride", given["stride"], count, 1)
    dilations = per_axis("conv", "dilation", given["dilation"], count, 1)
    edges = edges_of("conv", given["padding"], strides, spans_of(weight.shape[2:], dilations))
    wide, slope = (a if a.ndim == count + 2 else a.reshape((1, *a.shape)) for a in (x, g))
    options = {"strides": strides, "dilations": dilations, "groups": given["groups"]}
    options["starts"] = tuple([before for before, _ in edges])
    back = spread(CONVOLUTIONS[count - 1], slope, weight, wide.shape[2:], options)
    kernels = weight_gradient(slope, _padded(wide, edges), weight, strides, dilations)
    return back.reshape(x.shape), kernels, *_of_bias(slope, bias)


def _of_bias(slope: Any, bias: Any) -> tuple[Any, ...]:
    return () if bias is None else (sum_(slope, axis=(0, *range(2, slope.ndim))),)


def _conv_row(count: int) -> Op:
    def conv(
        x: Any, weight: Any, bias: Any = None, /, stride: Sizes = 1, padding: Sizes | str = 0,
        dilation: Sizes = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        return _convolve(name, count, x, weight, bias, stride, padding, dilation, groups)

    name = conv.__name__ = f"conv{count}d"
    conv.__doc__ = f"""Cross-correlation over the last {count} axes of x with every kernel.

    x is (batch, channels, *spatial) or without batch, weight (outputs, channels / groups, *sizes);
    padding is a number, one for each axis, "same" or "valid".
    """
    samples = Samples(cases=_CONV_CASES[count], bench=(_timed(count, padding=1),))
    return composite(_conv, samples, grad=_conv_grad)(conv)


CONVOLUTIONS = conv1d, conv2d, conv3d = tuple(_conv_row(count) for count in (1, 2, 3))


# ---- its transpose


def _transposed(
    op: str, count: int, x: Any, weight: Any, bias: Any, options: dict[str, Any]
) -> Any:  # fmt: skip
    given, x, groups = x, _batched(op, x, weight, count), options["groups"]
    strides = per_axis(op, "stride", options["stride"], count, 1)
    dilations = per_axis(op, "dilation", options["dilation"], count, 1)
    cut = per_axis(op, "padding", options["padding"], count, 0)
    more = per_axis(op, "output_padding", options["output_padding"], count, 0)
    if any(n >= max(s, d) for n, s, d in zip(more, strides, dilations, strict=True)):
        hint = "it must be smaller than the stride or the dilation"
        raise ArgumentError(explain(op, "bad output_padding", hint, output_padding=more))
    _check_channels(op, x, weight, groups, weight.shape[0], weight.shape[0])
    batch, spatial, sizes = x.shape[0], x.shape[2:], weight.shape[2:]
    axes = zip(spatial, strides, spans_of(sizes, dilations), more, strict=True)
    full = [(n - 1) * s + span + extra if n else 0 for n, s, span, extra in axes]
    left = tuple([n - 2 * c for n, c in zip(full, cut, strict=True)])
    if any(n < 1 for n in left):
        facts = {"shape": given.shape, "padding": cut}
        raise ShapeError(explain(op, "the padding leaves nothing", **facts))
    form = {"strides": strides, "dilations": dilations, "starts": cut, "groups": groups}
    y = spread(CONVOLUTIONS[count - 1], x, weight, left, form)
    y = y.reshape((batch, weight.shape[1] * groups, prod(left)))
    return _with_bias(op, y, bias, given, left)


def _transpose_grad(g: Any, y: Any, x: Any, weight: Any, bias: Any = None) -> tuple[Any, ...]:
    given, count = dict(y.arg[1]), weight.ndim - 2
    strides = per_axis("conv_transpose", "stride", given["stride"], count, 1)
    dilations = per_axis("conv_transpose", "dilation", given["dilation"], count, 1)
    cut = per_axis("conv_transpose", "padding", given["padding"], count, 0)
    wide, slope = (a if a.ndim == count + 2 else a.reshape((1, *a.shape)) for a in (x, g))
    slope_in = _padded(slope, [(n, n) for n in cut])
    options = {"stride": strides, "dilation": dilations, "groups": given["groups"]}
    back = CONVOLUTIONS[count - 1](slope_in, weight, **options)
    back = slice_(back, [(0, n, 1) for n in (*back.shape[:2], *wide.shape[2:])])
    kernels = weight_gradient(wide, slope_in, weight, strides, dilations)
    return back.reshape(x.shape), kernels, *_of_bias(slope, bias)


_TRANSPOSE_CASES: dict[int, tuple[Any, ...]] = {
    1: (
        ((2, 3, 5), (3, 4, 3), {}), ((3, 5), (3, 2, 2), (2,), {"stride": 3, "padding": 1}),
        ((2, 4, 5), (4, 2, 3), (4,), {"stride": 2, "output_padding": 1, "groups": 2}),
        ((1, 2, 5), (2, 3, 3), {"dilation": 2, "padding": 2}),
    ),
    2: (
        ((2, 3, 3, 4), (3, 2, 3, 2), (2,), {"stride": (2, 1), "padding": (1, 0)}),
        ((4, 3, 3), (4, 1, 2, 2), {"stride": 2, "groups": 4, "output_padding": (1, 0)}),
    ),
    3: (
        ((1, 2, 2, 3, 2), (2, 2, 2, 3, 2), (2,), {"stride": (1, 2, 1), "padding": (0, 1, 0)}),
        ((4, 2, 2, 3), (4, 1, 2, 1, 2), {"groups": 2, "dilation": (1, 1, 2)}),
    ),
}  # fmt: skip


def _transpose_row(count: int) -> Op:
    def conv_transpose(
        x: Any, weight: Any, bias: Any = None, /, stride: Sizes = 1, padding: Sizes = 0,
        output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
    ) -> Any:  # fmt: skip
        options = {
            "stride": stride, "padding": padding, "output_padding": output_padding,
            "groups": groups, "dilation": dilation,
        }  # fmt: skip
        return _transposed(name, count, x, weight, bias, options)

    name = conv_transpose.__name__ = f"conv_transpose{count}d"
    conv_transpose.__doc__ = f"""Every element of x times every kernel, added up {count}-d.

    The transpose of conv{count}d: weight is (channels, outputs / groups, *sizes); padding is cut
    off, output_padding put on at the end.
    """
    samples = Samples(cases=_TRANSPOSE_CASES[count], bench=(_timed(count, stride=2, padding=1),))
    return composite(_conv_transpose, samples, grad=_transpose_grad)(conv_transpose)


conv_transpose1d, conv_transpose2d, conv_transpose3d = (_transpose_row(n) for n in (1, 2, 3))
