"""Windows of one, two and three axes made one number each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.nn import functional as f
from treadle.nn.module import Module
from treadle.nn.tree import shown
from treadle.tensor.tensor import Tensor

Sizes = int | Sequence[int]
Wanted = int | None | Sequence[int | None]


class _MaxPool(Module):
    _function: Any

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        dilation: Sizes = 1, return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The largest of each window; with return_indices, where it was as well."""
        window = (self.kernel_size, self.stride, self.padding, self.dilation)
        return self._function(input, *window, self.ceil_mode, self.return_indices)

    def extra_repr(self) -> str:
        """The options, by name."""
        return shown(self, "kernel_size", "stride", "padding", "dilation", "ceil_mode")


class MaxPool1d(_MaxPool):
    """Largest elements of windows over the last axis."""

    _function = staticmethod(f.max_pool1d)


class MaxPool2d(_MaxPool):
    """Largest elements of windows over the last two axes."""

    _function = staticmethod(f.max_pool2d)


class MaxPool3d(_MaxPool):
    """Largest elements of windows over the last three axes."""

    _function = staticmethod(f.max_pool3d)


class _MaxUnpool(Module):
    _axes = 1

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        self.kernel_size = self._each(kernel_size)
        self.stride = self._each(kernel_size if stride is None else stride)
        self.padding = self._each(padding)

    def _each(self, given: Sizes) -> tuple[int, ...]:
        return (given,) * self._axes if isinstance(given, int) else tuple(given)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Any:
        """Elements back where a max pool found them, zeros elsewhere."""
        function = getattr(f, f"max_unpool{self._axes}d")
        rest = (self.kernel_size, self.stride, self.padding, output_size)
        return function(input, indices, *rest)

    def extra_repr(self) -> str:
        """The options, by name."""
        return shown(self, "kernel_size", "stride", "padding")


class MaxUnpool1d(_MaxUnpool):
    """What MaxPool1d(return_indices=True) found, back in its places."""

    _axes = 1


class MaxUnpool2d(_MaxUnpool):
    """What MaxPool2d(return_indices=True) found, back in its places."""

    _axes = 2


class MaxUnpool3d(_MaxUnpool):
    """What MaxPool3d(return_indices=True) found, back in its places."""

    _axes = 3


class AvgPool1d(Module):
    """Means of windows over the last axis."""

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        self.kernel_size, self.stride, self.padding = (
            (x,) if isinstance(x, int) else tuple(x)
            for x in (kernel_size, kernel_size if stride is None else stride, padding)
        )
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Any:
        """The mean of each window."""
        windows = (self.kernel_size, self.stride, self.padding)
        return f.avg_pool1d(input, *windows, self.ceil_mode, self.count_include_pad)

    def extra_repr(self) -> str:
        """The options, by name."""
        return shown(self, "kernel_size", "stride", "padding")


class _AvgPool(Module):
    _function: Any

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Any:
        """The mean of each window."""
        return self._function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The options, by name."""
        return shown(self, "kernel_size", "stride", "padding")


class AvgPool2d(_AvgPool):
    """Means of windows over the last two axes."""

    _function = staticmethod(f.avg_pool2d)


class AvgPool3d(_AvgPool):
    """Means of windows over the last three axes."""

    _function = staticmethod(f.avg_pool3d)


class _LPPool(Module):
    _function: Any

    def __init__(
        self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        self.norm_type, self.kernel_size, self.stride = norm_type, kernel_size, stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The norm of each window."""
        windows = (self.kernel_size, self.stride, self.ceil_mode)
        return self._function(input, float(self.norm_type), *windows)

    def extra_repr(self) -> str:
        """The options, by name."""
        return shown(self, "norm_type", "kernel_size", "stride", "ceil_mode")


class LPPool1d(_LPPool):
    """Norms of windows over the last axis."""

    _function = staticmethod(f.lp_pool1d)


class LPPool2d(_LPPool):
    """Norms of windows over the last two axes."""

    _function = staticmethod(f.lp_pool2d)


class LPPool3d(_LPPool):
    """Norms of windows over the last three axes."""

    _function = staticmethod(f.lp_pool3d)


class _FractionalMaxPool(Module):
    _axes = 2
    _function: Any

    def __init__(
        self, kernel_size: Sizes, output_size: Sizes | None = None,
        output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:  # fmt: skip
        if (output_size is None) == (output_ratio is None):
            wrong = "give output_size or output_ratio, one of them"
            raise ArgumentError(explain(type(self).__name__, wrong))
        self.kernel_size, self.output_size = self._each(kernel_size), self._each(output_size)
        self.output_ratio, self.return_indices = self._each(output_ratio), return_indices
        self.register_buffer("_random_samples", _random_samples)

    def _each(self, given: Any) -> Any:
        return (given,) * self._axes if isinstance(given, int | float) else given

    def forward(self, input: Tensor) -> Any:
        """The largest of each window; with return_indices, where it was as well."""
        window = (self.kernel_size, self.output_size, self.output_ratio)
        return self._function(input, *window, self.return_indices, self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """Largest elements of windows at random places over the last two axes."""

    _axes, _function = 2, staticmethod(f.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """Largest elements of windows at random places over the last three axes."""

    _axes, _function = 3, staticmethod(f.fractional_max_pool3d)


class _AdaptivePool(Module):
    _function: Any

    def __init__(self, output_size: Wanted) -> None:
        self.output_size = output_size

    def forward(self, input: Tensor) -> Any:
        """One number of each region."""
        return self._function(input, self.output_size)

    def extra_repr(self) -> str:
        """The size, by name."""
        return shown(self, "output_size")


class _AdaptiveMaxPool(_AdaptivePool):
    def __init__(self, output_size: Wanted, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """The largest of each region; with return_indices, where it was as well."""
        return self._function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Largest elements of so many regions of the last axis."""

    _function = staticmethod(f.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Largest elements of so many regions of the last two axes."""

    _function = staticmethod(f.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Largest elements of so many regions of the last three axes."""

    _function = staticmethod(f.adaptive_max_pool3d)


class AdaptiveAvgPool1d(_AdaptivePool):
    """Means of so many regions of the last axis."""

    _function = staticmethod(f.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptivePool):
    """Means of so many regions of the last two axes."""

    _function = staticmethod(f.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptivePool):
    """Means of so many regions of the last three axes."""

    _function = staticmethod(f.adaptive_avg_pool3d)
