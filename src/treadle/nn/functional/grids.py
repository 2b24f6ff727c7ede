"""Images read at places between their pixels: where affine maps put them, and what is there."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from treadle import functions as f
from treadle.base.errors import ArgumentError, DtypeError, ShapeError, explain
from treadle.base.shapes import strides_of
from treadle.tensor.creation import arange
from treadle.tensor.tensor import Tensor

SLOPE = -0.75  # of the cubic kernel
MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Where the pixels of size (N, C, H, W) come from under theta (N, 2, 3): (N, H, W, 2).

    Places are (x, y) from -1 to 1: of the outer pixels' centres with align_corners, else of their
    outer edges. In 3-d, size is (N, C, D, H, W) and theta (N, 3, 4).
    """
    count = len(size) - 2
    if count not in (2, 3) or theta.shape != (size[0], count, count + 1):
        hint = "theta (N, 2, 3) for a size (N, C, H, W), (N, 3, 4) for (N, C, D, H, W)"
        facts = {"theta": theta.shape, "size": tuple(size)}
        raise ShapeError(explain("affine_grid", "theta does not fit", hint, **facts))
    if not theta.dtype.is_float:
        raise DtypeError(explain("affine_grid", "theta holds floats", dtype=theta.dtype))
    spatial = tuple(size[2:])
    if min(spatial) < 1:
        raise ShapeError(explain("affine_grid", "sizes are positive", size=tuple(size)))
    places = []
    for k, n in reversed(list(enumerate(spatial))):  # x, the last axis, comes first
        step = 2.0 / (n - 1) if align_corners and n > 1 else 2.0 / n
        line = (arange(n, device=theta.device).astype(theta.dtype) - (n - 1) / 2) * step
        places.append(line.reshape((n, *(1,) * (count - 1 - k))).expand(spatial))
    places.append(places[0].ones_like())
    base = f.stack([place.reshape(-1) for place in places], -1)
    return (base @ theta.mT).reshape((size[0], *spatial, count))


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """input (N, C, H, W) at the places grid (N, h, w, 2): (N, C, h, w); 3-d alike.

    Places are (x, y) as `affine_grid` gives them. mode is "bilinear", "nearest" or, in 2-d,
    "bicubic"; padding_mode says what lies outside: "zeros", the "border" pixel, or a "reflection".
    """
    count = input.ndim - 2
    _require(input, grid, mode, padding_mode)
    spatial = input.shape[2:]
    aligned = bool(align_corners)
    places = []
    for k, n in enumerate(spatial):  # the last number of a place is for the first axis
        place = grid[..., count - 1 - k].reshape((input.shape[0], math.prod(grid.shape[1:-1])))
        scale, shift = ((n - 1) / 2, (n - 1) / 2) if aligned else (n / 2, (n - 1) / 2)
        places.append(place * scale + shift)
    if mode != "bicubic":
        places = [
            _inside(x, n, padding_mode, aligned) for x, n in zip(places, spatial, strict=True)
        ]
    taps = [_taps(place, mode) for place in places]
    flat = input.reshape((*input.shape[:2], math.prod(spatial)))
    total: Tensor | None = None
    for corner in itertools.product(*taps):
        part = _corner(flat, corner, spatial, mode, padding_mode, aligned)
        total = part if total is None else total + part
    return (flat if total is None else total).reshape((*input.shape[:2], *grid.shape[1:-1]))


Tap = tuple[Tensor, Tensor | None]
"""(places, weights) of one of the elements along an axis; None is a weight of 1."""


def _taps(place: Tensor, mode: str) -> list[Tap]:
    """The elements along an axis that each place is made of; places are whole numbers."""
    if mode == "nearest":
        return [(f.round(place).detach(), None)]
    first = f.floor(place).detach()
    t = place - first
    u = 1.0 - t
    if mode == "bilinear":
        return [(first, u), (first + 1.0, t)]
    a = SLOPE
    weights = (
        a * t * u * u, ((a + 2) * t - (a + 3)) * t * t + 1.0,
        ((a + 2) * u - (a + 3)) * u * u + 1.0, a * u * t * t,
    )  # fmt: skip
    return [(first + float(k), weight) for k, weight in enumerate(weights, -1)]


def _corner(
    flat: Tensor, corner: Sequence[Tap], spatial: Sequence[int], mode: str, padding: str,
    aligned: bool,
) -> Tensor:  # fmt: skip
    """One element for each place, times its weight; 0 where it is outside."""
    weight: Tensor | None = None
    seen: Tensor | None = None
    index: Tensor | None = None
    for (whole, share), n, step in zip(corner, spatial, strides_of(tuple(spatial)), strict=True):
        at = _inside(whole, n, padding, aligned) if mode == "bicubic" else whole
        within = (at >= 0) & (at <= n - 1)
        part = f.clip(at, min=0.0, max=n - 1.0).astype("int64") * step
        index = part if index is None else index + part
        seen = within if seen is None else seen & within
        if share is not None:
            weight = share if weight is None else weight * share
    if index is None or seen is None:
        raise ShapeError(explain("grid_sample", "no spatial axes", shape=flat.shape))
    wide = index.unsqueeze(1).expand((*flat.shape[:2], index.shape[-1]))
    found = f.where(seen.unsqueeze(1), f.gather(flat, wide, 2), 0.0)
    return found if weight is None else found * weight.unsqueeze(1).astype(flat.dtype)


def _inside(place: Tensor, n: int, padding: str, aligned: bool) -> Tensor:
    """Places brought inside: to the border, or reflected at it; no slope outside the border."""
    if padding == "reflection":
        low, span = (0.0, n - 1.0) if aligned else (-0.5, float(n))
        place = _reflected(place, low, span) if span else place * 0.0
    if padding == "zeros":
        return place
    return f.where(place > 0, f.where(place >= n - 1, n - 1.0, place), 0.0)  # NaN is at 0


def _reflected(place: Tensor, low: float, span: float) -> Tensor:
    """Places mirrored at low and low + span as often as it takes."""
    far = f.abs(place - low)
    turns = f.floor(far / span).detach()
    rest = far - turns * span
    return f.where(turns % 2 == 0, rest, span - rest) + low


def _require(input: Tensor, grid: Tensor, mode: str, padding: str) -> None:
    count = input.ndim - 2
    fits = count in (2, 3) and grid.ndim == input.ndim
    if not fits or (grid.shape[0], grid.shape[-1]) != (input.shape[0], count):
        hint = "input (N, C, H, W) and grid (N, h, w, 2), or (N, C, D, H, W) and (N, d, h, w, 3)"
        facts = {"input": input.shape, "grid": grid.shape}
        raise ShapeError(explain("grid_sample", "grid does not fit", hint, **facts))
    if 0 in input.shape[2:]:
        raise ShapeError(explain("grid_sample", "nothing to read", shape=input.shape))
    if mode not in MODES or (mode == "bicubic" and count == 3):
        hint = f"one of {', '.join(MODES)}; bicubic is for (N, C, H, W)"
        raise ArgumentError(explain("grid_sample", "no such mode", hint, mode=repr(mode)))
    if padding not in PADDINGS:
        hint = f"one of {', '.join(PADDINGS)}"
        raise ArgumentError(explain("grid_sample", "no such padding_mode", hint, got=repr(padding)))
