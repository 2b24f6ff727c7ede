"""Sliding windows: the movement that slants one axis along another, and what is built of it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import Shape, axis_in, sizes_in
from treadle.ops.composite import composite
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import cast
from treadle.ops.movement import dilated, fill_of, movement, pad, slice_
from treadle.ops.reduce import sum_

Edges = Sequence[tuple[int, int]]

# ---- the primitive


def _shear(
    x: Any, axis: int, by: int, factor: int, size: int, start: int = 0, value: float = 0
) -> Any:
    axis, by = axis_in("shear", axis, x.ndim), axis_in("shear", by, x.ndim)
    (size,) = sizes_in("shear", (size,))
    if axis == by or size < 0:
        hint = "axis and by are two axes; size is not negative"
        facts = {"axis": axis, "by": by, "size": size}
        raise ArgumentError(explain("shear", "cannot", hint, **facts))
    fill = fill_of("shear", x.dtype, value)
    return (x,), (axis, by, index(factor), size, index(start), fill)


def _shear_shape(arg: Any, shapes: Sequence[Shape]) -> Shape:
    axis, size = arg[0], arg[3]
    return (*shapes[0][:axis], size, *shapes[0][axis + 1 :])


def _shear_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    axis, by, factor, _, start, _ = y.arg
    return (shear(g, axis, by, -factor, x.shape[axis], -start),)


def _shear_reference(
    np: Any, x: Any, axis: int, by: int, factor: int, size: int, start: int = 0, value: float = 0
) -> Any:
    lines = np.moveaxis(x, (axis, by), (0, 1))
    result = np.full((size, *lines.shape[1:]), value, x.dtype)
    for k in range(lines.shape[1]):
        for i in range(size):
            if 0 <= i + factor * k + start < lines.shape[0]:
                result[i, k] = lines[i + factor * k + start, k]
    return np.moveaxis(result, (0, 1), (axis, by))


shear: Op = movement(
    "shear", "Element i along axis is element i + factor * k + start, where k is the index along "
    "by; value where there is none.",
    shape=_shear_shape, arguments=_shear, grad=_shear_grad, reference=_shear_reference,
    public=False,
    samples=Samples(cases=(
        ((9, 3), (0, 1, 1, 7)), ((9, 3), (0, 1, -2, 12)), ((4, 2, 20), (2, 0, 3, 17)),
        ((3, 40), (1, 0, -1, 42, 0, 1)), ((5, 2), (0, 1, 4, 0)), ((0, 2), (0, 1, 1, 3)),
        ((2, 5), (1, 0, 1, 7, -2, 1)), ((2, 5), (1, 0, -2, 3, 4)),
    )),
)  # fmt: skip


def per_axis(op: str, name: str, value: Any, count: int, least: int) -> Shape:
    """An option given once or for each of count axes, as whole numbers not below least."""
    found = tuple(value) if isinstance(value, tuple | list) else (value,) * count
    if len(found) == 1:
        found *= count
    try:
        found = tuple([index(n) for n in found])
    except TypeError:
        raise ArgumentError(explain(op, f"{name} is a whole number", got=value)) from None
    if len(found) != count or any(n < least for n in found):
        hint = f"one number, or one for each of {count} axes; at least {least}"
        raise ArgumentError(explain(op, f"bad {name}", hint, got=value))
    return found


def spans_of(sizes: Shape, dilations: Shape) -> Shape:
    """How many elements a window reaches over."""
    return tuple([d * (n - 1) + 1 for n, d in zip(sizes, dilations, strict=True)])


def require_room(op: str, padded: Sequence[int], spans: Shape, shape: Shape) -> None:
    """Raise unless every window fits into its padded axis."""
    if any(n < span for n, span in zip(padded, spans, strict=True)):
        hint = "use a smaller window or dilation, or more padding"
        facts = {"window": spans, "padded": tuple(padded), "shape": shape}
        raise ShapeError(explain(op, "the window is larger than the operand", hint, **facts))


# ---- windows of several axes, and their sum


def _edges_of(edges: Any, count: int) -> Edges:
    return edges or ((0, 0),) * count


def _options(
    op: str, x: Any, sizes: Any, strides: Any, dilations: Any, share: int
) -> tuple[Shape, Shape, Shape]:
    """Sizes, strides and dilations of every axis; share: axes of x that go with each."""
    if not isinstance(sizes, tuple | list) or x.ndim < share * len(sizes):
        hint = f"one size for each of the last axes; x has {share} of them for each"
        raise ArgumentError(explain(op, "bad sizes", hint, sizes=sizes, shape=x.shape))
    count = len(sizes)
    return (
        per_axis(op, "sizes", sizes, count, 2 - share),
        per_axis(op, "strides", strides, count, 1),
        per_axis(op, "dilations", dilations, count, 1),
    )


def _windows_reference(
    np: Any, x: Any, sizes: Any, strides: Any = 1, dilations: Any = 1, edges: Any = (),
    value: float = 0,
) -> Any:  # fmt: skip
    count = len(sizes)
    strides, dilations = (np.broadcast_to(n, count) for n in (strides, dilations))
    kept = [(max(b, 0), max(a, 0)) for b, a in _edges_of(edges, count)]
    x = np.pad(x, [(0, 0)] * (x.ndim - count) + kept, constant_values=value)
    for k, (before, after) in enumerate(_edges_of(edges, count)):
        axis, n = x.ndim - count + k, x.shape[x.ndim - count + k]
        x = np.take(x, np.arange(max(-before, 0), n - max(-after, 0)), axis)
    spans, last = spans_of(sizes, dilations), tuple(range(-count, 0))
    seen = np.lib.stride_tricks.sliding_window_view(x, spans, last)
    seen = seen[(..., *(slice(None, None, s) for s in strides), *[slice(None)] * count)]
    seen = seen[(..., *(slice(None, None, d) for d in dilations))]
    lead = tuple(range(x.ndim - count))
    return np.transpose(seen, (*lead, *range(x.ndim, seen.ndim), *range(len(lead), x.ndim)))


def _windows_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    given = dict(y.arg[1])
    count = len(given["sizes"])
    starts = tuple([before for before, _ in _edges_of(given["edges"], count)])
    spatial = x.shape[x.ndim - count :]
    return (fold(g, spatial, given["strides"], given["dilations"], starts),)


@composite(
    _windows_reference,
    Samples(cases=(
        ((2, 9), {"sizes": (3,)}), ((7, 8), {"sizes": (3, 2), "strides": (2, 3)}),
        ((9,), {"sizes": (3,), "strides": 2, "dilations": 2, "edges": ((2, 1),)}),
        ((9,), {"sizes": (1,), "strides": 2, "edges": ((-1, -2),)}),
        ((2, 5), {"sizes": (2,), "edges": ((1, 1),), "value": 1}),
    )),
    grad=_windows_grad,
)  # fmt: skip
def windows(
    x: Any, /, sizes: Sequence[int], strides: int | Sequence[int] = 1,
    dilations: int | Sequence[int] = 1, edges: Sequence[tuple[int, int]] = (), value: float = 0,
) -> Any:  # fmt: skip
    """Windows over the last axes of x: (..., *sizes, *number of windows).

    strides lie between windows, dilations between the elements of one. edges are (before, after)
    for each axis, filled with value; negative ones cut off.
    """
    sizes, strides, dilations = _options("windows", x, sizes, strides, dilations, 1)
    count = len(sizes)
    lead, spatial = x.shape[: x.ndim - count], x.shape[x.ndim - count :]
    edges = _edges_of(edges, count)
    padded = [before + n + after for n, (before, after) in zip(spatial, edges, strict=True)]
    require_room("windows", padded, spans_of(sizes, dilations), x.shape)
    wide = x.reshape((*lead, *(1,) * count, *spatial)).expand((*lead, *sizes, *spatial))
    ranges = [(0, n, 1) for n in wide.shape]
    for k, (before, after) in enumerate(edges):
        by, axis = len(lead) + k, len(lead) + count + k
        reach = padded[k] - dilations[k] * (sizes[k] - 1)
        if sizes[k] > 1 or before or after:
            wide = shear(wide, axis, by, dilations[k], reach, -before, value)
        ranges[axis] = (0, reach, strides[k])
    return wide if set(strides) == {1} else slice_(wide, ranges)


def _fold_reference(
    np: Any, x: Any, sizes: Any, strides: Any = 1, dilations: Any = 1, starts: Any = 0
) -> Any:
    count = len(sizes)
    strides, dilations, starts = (np.broadcast_to(n, count) for n in (strides, dilations, starts))
    shape = x.shape[x.ndim - 2 * count :]
    y = np.zeros((*x.shape[: x.ndim - 2 * count], *sizes), np.result_type(x.dtype, np.uint8))
    for at in np.ndindex(shape):
        place = [
            s * i + d * k - b
            for k, i, s, d, b in zip(
                at[:count], at[count:], strides, dilations, starts, strict=True
            )
        ]
        if all(0 <= p < n for p, n in zip(place, sizes, strict=True)):
            y[(..., *place)] += x[(..., *at)]
    return y


def _starts(starts: Any, count: int) -> Shape:
    return tuple(starts) if isinstance(starts, tuple | list) else (starts,) * count


def _fold_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    if 0 in x.shape:
        return (x.zeros_like(),)
    given = dict(y.arg[1])
    sizes, strides, dilations = _options(
        "fold", x, given["sizes"], given["strides"], given["dilations"], 2
    )
    count, edges = len(sizes), []
    starts = _starts(given["starts"], count)
    shape = x.shape[x.ndim - 2 * count :]
    for k in range(count):
        end = (shape[count + k] - 1) * strides[k] + dilations[k] * (shape[k] - 1) + 1
        edges.append((starts[k], end - starts[k] - sizes[k]))
    return (windows(g, shape[:count], strides, dilations, tuple(edges)),)


@composite(
    _fold_reference,
    Samples(cases=(
        ((2, 3, 7), {"sizes": (9,)}), ((3, 4), {"sizes": (8,), "strides": 2, "starts": 1}),
        ((2, 3, 5, 4), {"sizes": (9, 10), "strides": (2, 3), "dilations": (1, 2)}),
        ((2, 4), {"sizes": (9,), "strides": 2, "starts": (-1,)}),
        ((1, 4), {"sizes": (6,), "strides": 2}), ((2, 0), {"sizes": (3,)}),
    )),
    grad=_fold_grad,
)  # fmt: skip
def fold(
    x: Any, /, sizes: Sequence[int], strides: int | Sequence[int] = 1,
    dilations: int | Sequence[int] = 1, starts: int | Sequence[int] = 0,
) -> Any:  # fmt: skip
    """Windows laid back and added up where they meet: the transpose of `windows`.

    x is (..., *windows' sizes, *number of windows), the result (..., *sizes) from starts on.
    """
    sizes, strides, dilations = _options("fold", x, sizes, strides, dilations, 2)
    count, dtype = len(sizes), x.dtype
    lead, shape = x.shape[: x.ndim - 2 * count], x.shape[x.ndim - 2 * count :]
    starts = _starts(starts, count)
    rank, phases, edges = len(lead), [], []
    for n, s, d, start in zip(shape, strides, dilations, starts, strict=False):
        # Element s q + r of the result has parts only of elements s j + r of windows.
        phases.append(s if d == 1 else 1)
        before = -start % phases[-1]
        edges.append((before, -(n + before) % phases[-1]))
    if any(map(any, edges)):
        x = pad(x, [*[(0, 0)] * rank, *edges, *[(0, 0)] * count])
    pairs = [n for k, r in enumerate(phases) for n in (x.shape[rank + k] // r, r)]
    x = x.reshape((*lead, *pairs, *shape[count:]))
    order = [*range(rank, rank + 2 * count, 2), *range(rank + 1, rank + 2 * count, 2)]
    x = x.permute((*range(rank), *order, *range(rank + 2 * count, x.ndim)))
    for k, r in enumerate(phases):
        axis, by = rank + 2 * count + k, rank + k
        if r > 1:
            x = shear(x, axis, by, -1, -(-sizes[k] // r), -(-starts[k] // r))
        else:
            x = shear(dilated(x, axis, strides[k]), axis, by, -dilations[k], sizes[k], starts[k])
    x = cast(sum_(x, axis=tuple(range(rank, rank + count))), dtype)
    full = [x.shape[rank + count + k] * r for k, r in enumerate(phases)]
    order = [axis for k in range(count) for axis in (rank + count + k, rank + k)]
    x = x.permute((*range(rank), *order)).reshape((*lead, *full))
    return slice_(x, [(0, n, 1) for n in (*lead, *sizes)])


def _unfold_reference(
    np: Any, x: Any, axis: int = -1, size: int = 1, step: int = 1, dilation: int = 1
) -> Any:
    axis %= x.ndim
    found = np.lib.stride_tricks.sliding_window_view(x, dilation * (size - 1) + 1, axis)
    return np.moveaxis(np.moveaxis(found, axis, 0)[::step], 0, axis)[..., ::dilation]


@composite(
    _unfold_reference,
    Samples(cases=(
        ((7,), {"size": 3}), ((4, 9), {"size": 3, "step": 2}), ((9, 4), {"axis": 0, "size": 2}),
        ((2, 40), {"axis": 1, "size": 5, "step": 3, "dilation": 2}), ((5,), {"size": 1}),
    )),
)  # fmt: skip
def unfold(x: Any, /, axis: int = -1, size: int = 1, step: int = 1, dilation: int = 1) -> Any:
    """Windows of size elements along an axis, step apart, as a new last axis.

    Elements of a window are dilation apart.
    """
    axis = axis_in("unfold", axis, x.ndim)
    sizes, steps, dilations = (
        per_axis("unfold", name, value, 1, 1)
        for name, value in (("size", size), ("step", step), ("dilation", dilation))
    )
    require_room("unfold", (x.shape[axis],), spans_of(sizes, dilations), x.shape)
    order = [k for k in range(x.ndim) if k != axis]
    found = windows(x.permute((*order, axis)), sizes, steps, dilations)
    last = found.ndim - 1
    return found.permute((*range(axis), last, *range(axis, last - 1), last - 1))
