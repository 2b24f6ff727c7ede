"""Rows that change the resolution of images: interpolation and the shuffling of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor as floor_of
from typing import Any

from treadle.base.dtypes import float32, float64, int64
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import Shape, axis_in
from treadle.ops.composite import as_float, composite, take
from treadle.ops.defs import Samples
from treadle.ops.elementwise import cast, eq, floor, maximum, minimum, where
from treadle.ops.movement import slice_
from treadle.ops.regions import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    along,
)  # fmt: skip
from treadle.ops.shaping import counting
from treadle.ops.windows import per_axis

CUBIC = -0.75  # slope of the cubic kernel, as PyTorch has it
MODES = {"linear": (3,), "bilinear": (4,), "trilinear": (5,), "bicubic": (4,)}
"""Modes that go with one number of axes: those of x."""

Tap = tuple[Any, Any]
"""(indices, weights) of one element that goes into every output."""


# ---- one axis


def _cubic(np: Any, x: Any) -> Any:
    """The cubic convolution kernel."""
    x = abs(x)
    near = ((CUBIC + 2) * x - (CUBIC + 3)) * x * x + 1
    far = ((CUBIC * x - 5 * CUBIC) * x + 8 * CUBIC) * x - 4 * CUBIC
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _resample(
    np: Any, x: Any, axis: int, size: int, mode: str = "linear", scale: Any = None,
    align_corners: bool = False,
) -> Any:  # fmt: skip
    n = x.shape[axis]
    step = (n - 1) / max(size - 1, 1) if align_corners else scale or n / size
    o = np.arange(size)
    if mode in ("nearest", "nearest-exact"):
        place = np.floor((o + (mode == "nearest-exact") / 2) * step).astype(int)
        return np.take(x, np.minimum(place, n - 1), axis)
    place = o * step if align_corners else (o + 0.5) * step - 0.5
    weights = np.zeros((size, n))
    if mode == "linear":
        hat = 1 - np.abs(np.clip(place, 0, n - 1)[:, None] - np.arange(n))
        weights = np.maximum(hat, 0)
    else:
        for tap in range(-2, 4):
            at = np.floor(place).astype(int) + tap
            np.add.at(weights, (o, np.clip(at, 0, n - 1)), _cubic(np, place - at))
    return np.moveaxis(np.tensordot(weights, np.moveaxis(x, axis, 0), 1), 0, axis)


def _taps(x: Any, axis: int, options: dict[str, Any]) -> list[Tap]:
    """What every output along the axis is made of."""
    n, size, mode = x.shape[axis], options["size"], options["mode"]
    exact = x.dtype.part is float64 and not mode.startswith("nearest")
    o = cast(counting(x, size), float64 if exact else float32)
    aligned = options["align_corners"]
    step = (n - 1) / max(size - 1, 1) if aligned else options["scale"] or n / size
    if mode.startswith("nearest"):
        place = floor((o + 0.5 if mode == "nearest-exact" else o) * step)
        return [(minimum(cast(place, int64), n - 1), 1.0)]
    place = o * step if aligned else (o + 0.5) * step - 0.5
    if mode == "linear":
        place = minimum(maximum(place, 0.0), n - 1.0)
    whole = floor(place)
    t, first = place - whole, cast(whole, int64)
    if mode == "linear":
        return [(first, 1.0 - t), (minimum(first + 1, n - 1), t)]
    a = CUBIC
    u = 1.0 - t
    weights = (
        a * t * u * u, ((a + 2) * t - (a + 3)) * t * t + 1.0,
        ((a + 2) * u - (a + 3)) * u * u + 1.0, a * u * t * t,
    )  # fmt: skip
    return [(minimum(maximum(first + k, 0), n - 1), weight) for k, weight in enumerate(weights, -1)]


def _resample_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    """The transpose of the matrix whose rows hold the weights of an output."""
    options = dict(y.arg[1])
    axis = axis_in("resample", options["axis"], x.ndim)
    n, total = x.shape[axis], 0.0
    for index, weight in _taps(x, axis, options):
        hit = eq(index.reshape((1, -1)), counting(x, n).reshape((n, 1)))
        total = total + where(hit, cast(hit, g.dtype) * weight, 0.0)
    return (along(cast(total, g.dtype), g, axis),)


@composite(
    _resample,
    Samples(cases=(
        ((2, 5), {"axis": 1, "size": 8}), ((6, 3), {"axis": 0, "size": 4, "mode": "cubic"}),
        ((2, 7), {"axis": -1, "size": 12, "mode": "nearest"}),
        ((7,), {"axis": 0, "size": 10, "scale": 0.68}), ((3, 1), {"axis": 1, "size": 3}),
        ((2, 5, 2), {"axis": 1, "size": 9, "mode": "cubic", "align_corners": True}),
    )),
    grad=_resample_grad,
)  # fmt: skip
def resample(
    x: Any, /, axis: int, size: int, mode: str = "linear", scale: float | None = None,
    align_corners: bool = False,
) -> Any:  # fmt: skip
    """One axis interpolated at size places: mode "nearest", "nearest-exact", "linear", "cubic".

    Places are scale elements apart: as far as they must be to cover the axis, if left out.
    """
    axis = axis_in("resample", axis, x.ndim)
    modes = ("nearest", "nearest-exact", "linear", "cubic")
    if mode not in modes:
        raise ArgumentError(explain("resample", f"mode is one of {', '.join(modes)}", got=mode))
    n = x.shape[axis]
    if size < 1 or n < 1:
        raise ShapeError(explain("resample", "nothing to interpolate", shape=x.shape, size=size))
    if mode == "nearest" and scale in (None, n / size) and (size % n == 0 or n % size == 0):
        return _repeated(x, axis, size)
    x = x if mode.startswith("nearest") else as_float(x)
    options = {"size": size, "mode": mode, "scale": scale, "align_corners": align_corners}
    total: Any = None
    behind = (1,) * (x.ndim - axis - 1)
    for index, weight in _taps(x, axis, options):
        part = take(x, index, axis=axis)
        if not mode.startswith("nearest"):
            part = part * cast(weight, x.dtype).reshape((-1, *behind))
        total = part if total is None else total + part
    return total


def _repeated(x: Any, axis: int, size: int) -> Any:
    """Every element several times, or every so many-th element: no index is computed."""
    before, n, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    if size % n == 0:
        wide = x.reshape((*before, n, 1, *after)).expand((*before, n, size // n, *after))
        return wide.reshape((*before, size, *after))
    return slice_(x, [(0, m, n // size if k == axis else 1) for k, m in enumerate(x.shape)])


# ---- images


def _interpolate(
    np: Any, x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool = False,
) -> Any:  # fmt: skip
    count = x.ndim - 2
    factors = np.broadcast_to(scale_factor or 1, count)
    sizes = size or [int(n * f) for n, f in zip(x.shape[2:], factors, strict=True)]
    sizes = np.broadcast_to(sizes, count)
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[count - 1].reference(
            np, x, tuple(int(n) for n in sizes)
        )  # type: ignore[misc]
    kind = {"bicubic": "cubic"}.get(mode, "linear" if mode.endswith("linear") else mode)
    for k in range(count):
        scale = 1 / factors[k] if scale_factor else None
        x = _resample(np, x, k + 2, int(sizes[k]), kind, scale, align_corners)
    return x


def _sizes(x: Any, size: Any, scale_factor: Any) -> tuple[Shape, tuple[float | None, ...]]:
    """(sizes wanted, distances between places where a factor was given)."""
    count = x.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ArgumentError(explain("interpolate", "give size or scale_factor, one of them"))
    if size is not None:
        return per_axis("interpolate", "size", size, count, 1), (None,) * count
    given = scale_factor if isinstance(scale_factor, tuple | list) else (scale_factor,) * count
    if len(given) != count or not all(0 < f < float("inf") for f in given):
        hint = f"one positive number, or one for each of {count} axes"
        raise ArgumentError(explain("interpolate", "bad scale_factor", hint, got=scale_factor))
    sizes = tuple([floor_of(n * f) for n, f in zip(x.shape[2:], given, strict=True)])
    return sizes, tuple([1.0 / f for f in given])


@composite(
    _interpolate,
    Samples(cases=(
        ((1, 2, 5), {"size": 8, "mode": "linear"}), ((2, 1, 3, 4), {"scale_factor": 2}),
        ((1, 2, 4, 5), {"size": (7, 3), "mode": "bilinear"}),
        ((1, 2, 4, 5), {"size": (7, 8), "mode": "bilinear", "align_corners": True}),
        ((1, 1, 5, 4), {"scale_factor": (1.7, 0.6), "mode": "bicubic"}),
        ((1, 1, 2, 3, 4), {"size": (3, 5, 2), "mode": "trilinear"}),
        ((1, 2, 6, 5), {"size": (4, 7), "mode": "nearest-exact"}),
        ((1, 2, 6, 5), {"size": (4, 3), "mode": "area"}),
    )),
)  # fmt: skip
def interpolate(
    x: Any, /, size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None, mode: str = "nearest",
    align_corners: bool = False,
) -> Any:  # fmt: skip
    """x (batch, channels, *spatial) at another resolution: size, or scale_factor times as fine.

    mode is "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", or "area" for
    the means of the regions that outputs stand for.
    align_corners: do the first and last elements keep their places?
    """
    if not 3 <= x.ndim <= 5:
        hint = "x is (batch, channels, 1 to 3 spatial axes)"
        raise ShapeError(explain("interpolate", "wrong number of axes", hint, shape=x.shape))
    nearest = mode in ("nearest", "nearest-exact")
    if not nearest and mode != "area" and x.ndim not in MODES.get(mode, ()):
        hint = "linear, bilinear and trilinear are for 3, 4 and 5 axes, bicubic for 4"
        raise ArgumentError(explain("interpolate", f"mode {mode!r}", hint, shape=x.shape))
    if (nearest or mode == "area") and align_corners:
        raise ArgumentError(explain("interpolate", f"align_corners does not go with {mode}"))
    sizes, scales = _sizes(x, size, scale_factor)
    if mode == "area":
        pools = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)
        return pools[x.ndim - 3](x, sizes)
    kind = mode if nearest else "cubic" if mode == "bicubic" else "linear"
    for k, (wanted, scale) in enumerate(zip(sizes, scales, strict=True)):
        same = wanted == x.shape[k + 2] and (scale in (None, 1.0) or kind == "linear")
        x = x if same else resample(x, k + 2, wanted, kind, scale, align_corners)
    return x if nearest else as_float(x)


def _factor(op: str, x: Any, factor: int, divides: str) -> int:
    (factor,) = per_axis(op, "factor", factor, 1, 1)
    sizes = x.shape[-3:-2] if divides == "channels" else x.shape[-2:]
    by = factor**2 if divides == "channels" else factor
    if x.ndim < 3 or any(n % by for n in sizes):
        hint = f"x is (..., channels, height, width), {divides} divisible by {by}"
        raise ShapeError(explain(op, "does not fit", hint, shape=x.shape, factor=factor))
    return factor


def _shuffled(np: Any, x: Any, upscale_factor: int) -> Any:
    r = upscale_factor
    *lead, channels, height, width = x.shape
    y = np.zeros((*lead, channels // r**2, height * r, width * r), x.dtype)
    for i in range(r):
        for j in range(r):
            y[..., i::r, j::r] = x[..., i * r + j :: r**2, :, :]
    return y


@composite(
    _shuffled,
    Samples(cases=(
        ((2, 8, 3, 4), {"upscale_factor": 2}), ((9, 1, 2), {"upscale_factor": 3}),
        ((1, 2, 3), {"upscale_factor": 1}),
    )),
)  # fmt: skip
def pixel_shuffle(x: Any, /, upscale_factor: int) -> Any:
    """Groups of factor² channels as pixels of an image factor times as high and as wide."""
    r = _factor("pixel_shuffle", x, upscale_factor, "channels")
    *lead, channels, height, width = x.shape
    first, rank = channels // r**2, len(lead)
    cut = x.reshape((*lead, first, r, r, height, width))
    order = (*range(rank + 1), rank + 3, rank + 1, rank + 4, rank + 2)
    return cut.permute(order).reshape((*lead, first, height * r, width * r))


def _unshuffled(np: Any, x: Any, downscale_factor: int) -> Any:
    r = downscale_factor
    parts = [x[..., i::r, j::r] for i in range(r) for j in range(r)]
    stacked = np.stack(parts, -3)
    return stacked.reshape((*x.shape[:-3], x.shape[-3] * r * r, *parts[0].shape[-2:]))


@composite(
    _unshuffled,
    Samples(cases=(
        ((2, 2, 6, 4), {"downscale_factor": 2}), ((1, 3, 6), {"downscale_factor": 3}),
        ((1, 2, 3), {"downscale_factor": 1}),
    )),
)  # fmt: skip
def pixel_unshuffle(x: Any, /, downscale_factor: int) -> Any:
    """Pixels factor apart as channels of their own: undoes pixel_shuffle."""
    r = _factor("pixel_unshuffle", x, downscale_factor, "height and width")
    *lead, channels, height, width = x.shape
    rank = len(lead)
    cut = x.reshape((*lead, channels, height // r, r, width // r, r))
    order = (*range(rank + 1), rank + 2, rank + 4, rank + 1, rank + 3)
    return cut.permute(order).reshape((*lead, channels * r * r, height // r, width // r))
