"""Layers that pad, resize and rearrange, and distances between vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.nn import functional as f
from treadle.nn.module import Module
from treadle.nn.tree import shown
from treadle.tensor.tensor import Tensor

Sizes = int | Sequence[int]


class Upsample(Module):
    """Images of another size, between whose elements others are interpolated."""

    def __init__(
        self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        self.size, self.mode, self.align_corners = size, mode, align_corners
        several = isinstance(scale_factor, Sequence)
        given: Any = scale_factor
        self.scale_factor = tuple(map(float, given)) if several else given and float(given)
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Any:
        """Apply to the axes after the channels."""
        options: dict[str, Any] = {}
        if self.align_corners is not None:
            options["align_corners"] = self.align_corners
        if self.recompute_scale_factor is not None:
            options["recompute_scale_factor"] = self.recompute_scale_factor
        return f.interpolate(input, self.size, self.scale_factor, self.mode, **options)

    def extra_repr(self) -> str:
        """The size and the mode."""
        sized = shown(self, "scale_factor" if self.scale_factor is not None else "size")
        return f"{sized}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample of images by their nearest element."""

    def __init__(
        self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample of images between their four nearest elements, corners kept."""

    def __init__(
        self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """Channels laid out as squares: (C r², H, W) to (C, H r, W r)."""

    def __init__(self, upscale_factor: int) -> None:
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Any:
        """Apply to the last three axes."""
        return f.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return shown(self, "upscale_factor")


class PixelUnshuffle(Module):
    """Squares made channels: (C, H r, W r) to (C r², H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Any:
        """Apply to the last three axes."""
        return f.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return shown(self, "downscale_factor")


class ChannelShuffle(Module):
    """Channels (axis 1) dealt out from one group to the next."""

    def __init__(self, groups: int) -> None:
        self.groups = groups

    def forward(self, input: Tensor) -> Any:
        """The same channels in another order."""
        return f.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The number of groups."""
        return shown(self, "groups")


class Unfold(Module):
    """Windows of images as columns: (N, C, H, W) to (N, C windows, places)."""

    def __init__(
        self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Any:
        """Apply to the last two axes."""
        return f.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The options, by name."""
        return shown(self, "kernel_size", "dilation", "padding", "stride")


class Fold(Module):
    """Columns summed up as windows of images: the transpose of Unfold."""

    def __init__(
        self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:  # fmt: skip
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Any:
        """(N, C windows, places) to (N, C, H, W)."""
        windows = (self.kernel_size, self.dilation, self.padding, self.stride)
        return f.fold(input, self.output_size, *windows)

    def extra_repr(self) -> str:
        """The options, by name."""
        names = ("output_size", "kernel_size", "dilation", "padding", "stride")
        return shown(self, *names)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along an axis."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Any:
        """One number for each pair."""
        return f.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of the difference of vectors along the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Any:
        """One number for each pair."""
        return f.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


# ---- borders


class _Pad(Module):
    _axes, _mode = 1, "constant"

    def __init__(self, padding: Sizes) -> None:
        count = 2 * self._axes
        self.padding = (padding,) * count if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Tensor) -> Any:
        """With a border: before and after the last axis, then the one before it, and so on."""
        return f.pad(input, self.padding, mode=self._mode)

    def extra_repr(self) -> str:
        """How wide the border is."""
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Any:
        """With a border of the value."""
        return f.pad(input, self.padding, value=self.value)

    def extra_repr(self) -> str:
        """How wide the border is, and its value."""
        return f"padding={self.padding}, value={self.value}"


def _pads(name: str, base: type, mode: str, meaning: str) -> list[Any]:
    """The classes for one, two and three axes."""
    return [
        type(f"{name}{axes}d", (base,), {
            "_axes": axes, "_mode": mode, "__module__": __name__,
            "__doc__": f"A border of the last {'' if axes == 1 else f'{axes} '}"
                       f"{'axis' if axes == 1 else 'axes'} made of {meaning}.",
        })
        for axes in (1, 2, 3)
    ]  # fmt: skip


ConstantPad1d, ConstantPad2d, ConstantPad3d = _pads(
    "ConstantPad", _ConstantPad, "constant", "one value"
)
ZeroPad1d, ZeroPad2d, ZeroPad3d = _pads("ZeroPad", _Pad, "constant", "zeros")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _pads(
    "ReflectionPad", _Pad, "reflect", "the elements mirrored at the edge"
)
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _pads(
    "ReplicationPad", _Pad, "replicate", "the nearest element"
)
CircularPad1d, CircularPad2d, CircularPad3d = _pads(
    "CircularPad", _Pad, "circular", "the elements from the other end"
)
