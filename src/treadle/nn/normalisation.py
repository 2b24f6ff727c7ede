"""Layers that give values mean 0 and variance 1, then scale and shift them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.nn import functional as f
from treadle.nn import init
from treadle.nn.linear import parameter
from treadle.nn.module import Module
from treadle.nn.tree import shown
from treadle.tensor.creation import ones, tensor, zeros
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor

Sizes = int | Sequence[int]


class _Scaled(Module):
    """What scales and shifts: parameters `weight` and `bias`, or None."""

    weight: Tensor | None
    bias: Tensor | None

    def _scale(self, sizes: Sequence[int], weight: bool, bias: bool, place: dict[str, Any]) -> None:
        what = type(self).__name__
        self.register_parameter("weight", parameter(what, *sizes, **place) if weight else None)
        self.register_parameter("bias", parameter(what, *sizes, **place) if bias else None)

    def reset_parameters(self) -> None:
        """Neither scaled nor shifted."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _Statistics(_Scaled):
    """Running statistics of channels, as buffers that training assigns to."""

    _axes: tuple[int, ...] = ()
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def _make(
        self, num_features: int, eps: float, momentum: float | None, affine: bool,
        track_running_stats: bool, device: Any, dtype: Any, bias: bool,
    ) -> None:  # fmt: skip
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        place = {"device": device, "dtype": dtype}
        self._scale((num_features,), affine, affine and bias, place)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **place) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **place) if tracked else None)
        count = tensor(0, dtype="int64", device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget what was seen in training."""
        for statistic, value in (
            (self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0),
        ):  # fmt: skip
            if statistic is not None:
                init.constant_(statistic, value)

    def reset_parameters(self) -> None:
        """As new: neither scaled nor shifted, nothing seen."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check(self, input: Tensor) -> None:
        if input.ndim not in self._axes:
            wrong = f"needs {' or '.join(map(str, self._axes))} axes"
            raise ShapeError(explain(type(self).__name__, wrong, shape=input.shape))

    def extra_repr(self) -> str:
        """The options, by name."""
        first = shown(self, "eps", "momentum", "affine")
        rest = f"bias={self.bias is not None}, {shown(self, 'track_running_stats')}"
        return f"{self.num_features}, {first}, {rest}"


class _BatchNorm(_Statistics):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        self._make(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input: Tensor) -> Any:
        """Apply to channels (axis 1); while training, the running statistics are assigned to."""
        self._check(input)
        momentum: Any = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            with no_grad():
                self.num_batches_tracked.assign(self.num_batches_tracked + 1)
            if self.momentum is None:  # the mean of all that was seen
                momentum = 1.0 / self.num_batches_tracked.cast(input.dtype)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        track = not self.training or self.track_running_stats
        kept = (self.running_mean, self.running_var) if track else (None, None)
        return f.batch_norm(input, *kept, self.weight, self.bias, by_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Channels (axis 1) of (batch, channels) or (batch, channels, length) normalised by batch."""

    _axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Channels (axis 1) of (batch, channels, height, width) normalised by batch."""

    _axes = (4,)


class BatchNorm3d(_BatchNorm):
    """Channels (axis 1) of (batch, channels, depth, height, width) normalised by batch."""

    _axes = (5,)


class _InstanceNorm(_Statistics):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        self._make(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input: Tensor) -> Any:
        """Apply to each channel of each instance."""
        self._check(input)
        alone = input.ndim == min(self._axes)
        x = input.reshape(1, *input.shape) if alone else input
        if x.shape[1] != self.num_features and self.affine:
            facts = {"num_features": self.num_features, "shape": input.shape}
            raise ShapeError(explain(type(self).__name__, "channels differ", **facts))
        by_instance = self.training or not self.track_running_stats
        kept = (self.running_mean, self.running_var, self.weight, self.bias)
        found = f.instance_norm(x, *kept, by_instance, self.momentum or 0.0, self.eps)
        return found.reshape(input.shape) if alone else found


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each (channels, length) normalised by itself."""

    _axes = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each (channels, height, width) normalised by itself."""

    _axes = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each (channels, depth, height, width) normalised by itself."""

    _axes = (4, 5)


class LayerNorm(_Scaled):
    """The last axes, of normalized_shape, normalised together, then scaled and shifted."""

    def __init__(
        self, normalized_shape: Sizes, eps: float = 1e-5, elementwise_affine: bool = True,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        sizes = normalized_shape
        self.normalized_shape = (sizes,) if isinstance(sizes, int) else tuple(sizes)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        place = {"device": device, "dtype": dtype}
        affine = elementwise_affine
        self._scale(self.normalized_shape, affine, affine and bias, place)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Any:
        """Apply to the last axes."""
        return f.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The options, by name."""
        text = f"{self.normalized_shape}, {shown(self, 'eps', 'elementwise_affine')}"
        return f"{text}, bias={self.bias is not None}"


class RMSNorm(_Scaled):
    """The last axes, of normalized_shape, over the root of their mean square, then scaled."""

    def __init__(
        self, normalized_shape: Sizes, eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        sizes = normalized_shape
        self.normalized_shape = (sizes,) if isinstance(sizes, int) else tuple(sizes)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        place = {"device": device, "dtype": dtype}
        own = parameter("RMSNorm", *self.normalized_shape, **place) if elementwise_affine else None
        self.register_parameter("weight", own)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Not scaled."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Any:
        """Apply to the last axes."""
        return f.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The options, by name."""
        return f"{self.normalized_shape}, {shown(self, 'eps', 'elementwise_affine')}"


class GroupNorm(_Scaled):
    """Groups of channels (axis 1) of each instance normalised together, then scaled and shifted."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        if num_channels % num_groups:
            facts = {"num_groups": num_groups, "num_channels": num_channels}
            raise ArgumentError(explain("GroupNorm", "groups share the channels equally", **facts))
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        place = {"device": device, "dtype": dtype}
        self._scale((num_channels,), affine, affine and bias, place)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Any:
        """Apply to channels (axis 1)."""
        return f.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The options, by name."""
        options = f"{shown(self, 'eps', 'affine')}, bias={self.bias is not None}"
        return f"{self.num_groups}, {self.num_channels}, {options}"


class LocalResponseNorm(Module):
    """Each element over a power of the mean square of `size` neighbouring channels."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Any:
        """Apply to channels (axis 1)."""
        return f.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The options, by name."""
        return f"{self.size}, {shown(self, 'alpha', 'beta', 'k')}"
