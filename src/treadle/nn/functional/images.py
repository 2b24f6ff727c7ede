"""What changes the borders, the resolution or the channels of images, with PyTorch's arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treadle import functions as f
from treadle.base.dtypes import uint8
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.tensor.creation import arange
from treadle.tensor.tensor import Tensor

Sizes = int | Sequence[int]
Factors = float | Sequence[float]

# ---- borders


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """A border: (before, after) of the last axis, then of the one before it, and so on.

    mode is "constant", "reflect", "replicate" or "circular"; negative numbers cut off.

    >>> import treadle as td
    >>> pad(td.ones(2, 2), (1, 0)).tolist()
    [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    """
    edges = () if isinstance(pad, int) else tuple(pad)
    if isinstance(pad, int) or len(edges) % 2 or len(edges) > 2 * input.ndim:
        hint = "two numbers for each axis, the last axis first"
        raise ArgumentError(explain("pad", "edges do not fit", hint, pad=pad, shape=input.shape))
    if mode != "constant" and value:
        raise ArgumentError(explain("pad", "value goes with mode 'constant' only", mode=mode))
    pairs = [(edges[k], edges[k + 1]) for k in range(len(edges) - 2, -1, -2)]
    whole = [(0, 0)] * (input.ndim - len(pairs)) + pairs
    return f.pad(input, whole, 0.0 if value is None else value, mode)


# ---- resolution


def interpolate(
    input: Tensor, size: Sizes | None = None, scale_factor: Factors | None = None,
    mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """input (N, C, *spatial) at another resolution: size, or scale_factor times as fine.

    - **mode**: "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area"
    - **align_corners**: do the first and last elements keep their places?
    - **recompute_scale_factor**: take the factor that the rounded sizes give, not the one given
    - **antialias**: average over what an output stands for ("bilinear" and "bicubic")

    Images of uint8 stay so.
    """
    if input.dtype is uint8 and mode in ("bilinear", "bicubic"):
        options = (mode, align_corners, recompute_scale_factor, antialias)
        found = interpolate(input.cast("float32"), size, scale_factor, *options)
        return f.clip(f.round(found), min=0.0, max=255.0).cast("uint8")
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ArgumentError(explain("interpolate", f"align_corners does not go with {mode}"))
    if antialias and (mode not in ("bilinear", "bicubic") or input.ndim != 4):
        hint = "antialias goes with bilinear and bicubic on (N, C, H, W)"
        raise ArgumentError(explain("interpolate", f"mode {mode!r}", hint, shape=input.shape))
    if recompute_scale_factor:
        if scale_factor is None:
            wrong = "recompute_scale_factor goes with scale_factor"
            raise ArgumentError(explain("interpolate", wrong))
        sizes = zip(input.shape[2:], _each(scale_factor, input.ndim - 2), strict=True)
        size, scale_factor = [math.floor(n * factor) for n, factor in sizes], None
    if antialias:
        return _antialiased(input, size, scale_factor, mode, bool(align_corners))
    return f.interpolate(input, size, scale_factor, mode, bool(align_corners))


def _each(factors: Factors, count: int) -> Sequence[float]:
    given = factors if isinstance(factors, Sequence) else (factors,) * count
    if len(given) != count:
        hint = f"one number, or one for each of {count} axes"
        raise ArgumentError(explain("interpolate", "bad scale_factor", hint, got=factors))
    return given


def _antialiased(
    x: Tensor, size: Sizes | None, factor: Factors | None, mode: str, aligned: bool
) -> Tensor:
    """Both spatial axes times the matrix whose rows hold the weights of an output."""
    if (size is None) == (factor is None):
        raise ArgumentError(explain("interpolate", "give size or scale_factor, one of them"))
    factors: Sequence[float | None] = (None, None)
    if size is not None:
        sizes = (size,) * 2 if isinstance(size, int) else tuple(size)
    else:
        factors = _each(factor or 1.0, 2)
        sizes = tuple([math.floor(n * (s or 1)) for n, s in zip(x.shape[2:], factors, strict=True)])
    if len(sizes) != 2 or min(sizes) < 1 or min(x.shape[2:]) < 1:
        facts = {"shape": x.shape, "size": sizes}
        raise ShapeError(explain("interpolate", "one positive size for each axis", **facts))
    down, right = (
        _filter(x, n, m, s, mode == "bicubic", aligned)
        for n, m, s in zip(x.shape[2:], sizes, factors, strict=True)
    )
    return down @ (x @ right.mT)


def _filter(x: Tensor, n: int, m: int, factor: float | None, cubic: bool, aligned: bool) -> Tensor:
    """Weights of n elements in m outputs: a kernel as wide as what an output stands for."""
    if aligned:
        step = (n - 1) / (m - 1) if m > 1 else 0.0
    else:
        step = n / m if factor is None else 1.0 / factor
    wide = max(step, 1.0)
    reach = (2.0 if cubic else 1.0) * wide
    centre = (arange(m, device=x.device).astype(x.dtype) + 0.5).unsqueeze(-1) * step
    place = arange(n, device=x.device)
    first = f.maximum(f.floor(centre - reach + 0.5), 0.0)
    last = f.minimum(f.floor(centre + reach + 0.5), float(n))
    u = f.abs(place.astype(x.dtype) - centre + 0.5) / wide
    if cubic:  # the cubic convolution of slope -1/2
        near, far = (1.5 * u - 2.5) * u * u + 1.0, ((-0.5 * u + 2.5) * u - 4.0) * u + 2.0
        weights = f.where(u < 1, near, f.where(u < 2, far, 0.0))
    else:
        weights = f.where(u < 1, 1.0 - u, 0.0)
    weights = f.where((place >= first) & (place < last), weights, 0.0)
    return weights / weights.sum(-1, keepdims=True)


def upsample(
    input: Tensor, size: Sizes | None = None, scale_factor: Factors | None = None,
    mode: str = "nearest", align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """An older name of interpolate."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: Sizes | None = None, scale_factor: Factors | None = None
) -> Tensor:
    """An older name of interpolate with mode "nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: Tensor, size: Sizes | None = None, scale_factor: Factors | None = None
) -> Tensor:
    """An older name of interpolate with mode "bilinear" and align_corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)


# ---- channels


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Groups of factor² channels as pixels of an image factor times as high and as wide."""
    return f.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Pixels factor apart as channels of their own: undoes pixel_shuffle."""
    return f.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels (axis 1) cut into groups, then the first of every group, the second, and so on."""
    if input.ndim < 3 or groups < 1 or input.shape[1] % groups:
        hint = "input is (N, C, ...) with C divisible by groups"
        facts = {"shape": input.shape, "groups": groups}
        raise ShapeError(explain("channel_shuffle", "does not fit", hint, **facts))
    batch, channels, *spatial = input.shape
    cut = input.reshape((batch, groups, channels // groups, *spatial))
    return f.transpose(cut, 1, 2).reshape(input.shape)


native_channel_shuffle = channel_shuffle
