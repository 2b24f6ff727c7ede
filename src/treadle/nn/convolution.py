"""Convolutions and their transposes over one, two and three axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.nn import functional as f
from treadle.nn import init
from treadle.nn.linear import parameter
from treadle.nn.module import Module
from treadle.tensor.tensor import Tensor

Sizes = int | Sequence[int]
MODES = ("zeros", "reflect", "replicate", "circular")


def sizes_of(what: str, name: str, given: Any, count: int) -> tuple[int, ...]:
    """One number for each axis."""
    found = (given,) * count if isinstance(given, int) else tuple(given)
    if len(found) != count or any(isinstance(n, bool) or not isinstance(n, int) for n in found):
        wrong = f"{name} is a number or {count} of them"
        raise ArgumentError(explain(what, wrong, got=repr(given)))
    return found


class _Convolution(Module):
    """What all of them share: the shape of the weight, its first values, how it is shown."""

    _axes = 1
    transposed = False
    weight: Tensor
    bias: Tensor | None

    def _make(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes,
        padding: Any, dilation: Sizes, groups: int, bias: bool, padding_mode: str, device: Any,
        dtype: Any,
    ) -> None:  # fmt: skip
        what = type(self).__name__
        facts = {"in_channels": in_channels, "out_channels": out_channels, "groups": groups}
        if groups <= 0 or in_channels % groups or out_channels % groups:
            raise ArgumentError(explain(what, "groups share the channels equally", **facts))
        if padding_mode not in MODES:
            hint = ", ".join(MODES)
            raise ArgumentError(explain(what, "unknown padding_mode", hint, got=padding_mode))
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = sizes_of(what, "kernel_size", kernel_size, self._axes)
        self.stride = sizes_of(what, "stride", stride, self._axes)
        self.dilation = sizes_of(what, "dilation", dilation, self._axes)
        named = isinstance(padding, str)
        self.padding = padding if named else sizes_of(what, "padding", padding, self._axes)
        self.padding_mode = padding_mode
        first = (in_channels, out_channels // groups)
        lead = first if self.transposed else (out_channels, in_channels // groups)
        self.weight = parameter(what, *lead, *self.kernel_size, device=device, dtype=dtype)
        own = parameter(what, out_channels, device=device, dtype=dtype) if bias else None
        self.register_parameter("bias", own)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the values of a new layer."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5.0))
        fan = math.prod(self.weight.shape[1:])
        if self.bias is not None and fan:
            init.uniform_(self.bias, -1.0 / math.sqrt(fan), 1.0 / math.sqrt(fan))

    def extra_repr(self) -> str:
        """Sizes, and what is not the default."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        text += f", stride={self.stride}"
        zero, one = (0,) * self._axes, (1,) * self._axes
        text += f", padding={self.padding}" if self.padding != zero else ""
        text += f", dilation={self.dilation}" if self.dilation != one else ""
        given = getattr(self, "output_padding", zero)
        text += f", output_padding={given}" if given != zero else ""
        text += f", groups={self.groups}" if self.groups != 1 else ""
        text += ", bias=False" if self.bias is None else ""
        return text + (
            f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else ""
        )


class _Forward(_Convolution):
    _function: Any

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
                   padding_mode, device, dtype)  # fmt: skip

    def _edges(self) -> list[int]:
        """How much is added before and after, the last axis first."""
        if self.padding == "same":
            reach = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            pairs = [(r // 2, r - r // 2) for r in reach]
        else:
            given = (0,) * self._axes if self.padding == "valid" else self.padding
            pairs = [(int(n), int(n)) for n in given]
        return [n for pair in reversed(pairs) for n in pair]

    def forward(self, input: Tensor) -> Any:
        """Apply to the last axes."""
        rest = (self.dilation, self.groups)
        if self.padding_mode == "zeros":
            return self._function(input, self.weight, self.bias, self.stride, self.padding, *rest)
        wider = f.pad(input, self._edges(), mode=self.padding_mode)
        return self._function(wider, self.weight, self.bias, self.stride, 0, *rest)


class Conv1d(_Forward):
    """A convolution over the last axis of (batch, channels, length)."""

    _axes, _function = 1, staticmethod(f.conv1d)


class Conv2d(_Forward):
    """A convolution over the last two axes of (batch, channels, height, width)."""

    _axes, _function = 2, staticmethod(f.conv2d)


class Conv3d(_Forward):
    """A convolution over the last three axes of (batch, channels, depth, height, width)."""

    _axes, _function = 3, staticmethod(f.conv3d)


class _Transposed(_Convolution):
    transposed = True
    _function: Any

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
        dilation: Sizes = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        what = type(self).__name__
        if padding_mode != "zeros":
            wrong = "only padding_mode='zeros' has a transpose"
            raise ArgumentError(explain(what, wrong, got=repr(padding_mode)))
        self.output_padding = sizes_of(what, "output_padding", output_padding, self._axes)
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
                   padding_mode, device, dtype)  # fmt: skip

    def _added(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """What makes the result of the size asked for: several sizes have the same convolution."""
        if output_size is None:
            return self.output_padding
        wanted = tuple(output_size)[-self._axes :]
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(
                input.shape[-self._axes :], self.stride, self.padding, self.dilation,
                self.kernel_size, strict=True,
            )
        ]  # fmt: skip
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if len(wanted) != self._axes or not all(
            low <= n <= high for low, n, high in zip(least, wanted, most, strict=True)
        ):
            facts = {"output_size": tuple(output_size), "least": least, "most": most}
            wrong = "no output_padding makes that size"
            raise ArgumentError(explain(type(self).__name__, wrong, **facts))
        return tuple(n - low for n, low in zip(wanted, least, strict=True))

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Any:
        """Apply to the last axes."""
        added = self._added(input, output_size)
        rest = (self.stride, self.padding, added, self.groups, self.dilation)
        return self._function(input, self.weight, self.bias, *rest)


class ConvTranspose1d(_Transposed):
    """The transpose of a convolution over one axis: what carries its gradient back."""

    _axes, _function = 1, staticmethod(f.conv_transpose1d)


class ConvTranspose2d(_Transposed):
    """The transpose of a convolution over two axes: what carries its gradient back."""

    _axes, _function = 2, staticmethod(f.conv_transpose2d)


class ConvTranspose3d(_Transposed):
    """The transpose of a convolution over three axes: what carries its gradient back."""

    _axes, _function = 3, staticmethod(f.conv_transpose3d)
