"""Rows of the pools over windows: one op behind all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import Shape
from treadle.ops.composite import as_float, composite
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import cast, maximum, minimum
from treadle.ops.reduce import max_, sum_
from treadle.ops.totals import root_of
from treadle.ops.windows import per_axis, require_room, spans_of, windows

Sizes = int | Sequence[int]
Regions = list[list[Any]]


# ---- the reference: every output from the elements it covers


def each_region(np: Any, x: Any, regions: Regions, value_of: Callable[..., Any]) -> Any:
    """value_of(elements, place) for every place; regions hold the elements of each along an axis.

    value_of reduces the last axes.
    """
    counts = tuple(len(axis) for axis in regions)
    y = np.zeros((*x.shape[: x.ndim - len(counts)], *counts), x.dtype)
    for place in product(*map(range, counts)):
        seen = x
        for k, at in enumerate(place):
            seen = np.take(seen, regions[k][at], axis=k - len(counts))
        y[(..., *place)] = value_of(seen, place)
    return y


def _pool(
    np: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    how: str = "max", ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: Any = None, norm_type: float = 2.0,
) -> Any:  # fmt: skip
    sizes = tuple(kernel_size)
    last = tuple(range(-len(sizes), 0))
    stride, padding, dilation = (
        tuple(np.broadcast_to(n, len(sizes))) for n in (stride or sizes, padding, dilation)
    )
    regions, lengths = [], []
    for n, k, s, p, d in zip(x.shape[-len(sizes) :], sizes, stride, padding, dilation, strict=True):
        span = d * (k - 1) + 1
        count = int((np.ceil if ceil_mode else np.floor)((n + 2 * p - span) / s)) + 1
        count -= ceil_mode and (count - 1) * s >= n + p
        whole = [np.arange(o * s - p, o * s - p + span, d) for o in range(count)]
        regions.append([r[(r >= 0) & (r < n)] for r in whole])
        lengths.append([len(r[r < n + p]) for r in whole])
    inside = [[len(r) for r in axis] for axis in regions]

    def value_of(seen: Any, place: Sequence[int]) -> Any:
        if how == "max":
            return seen.max(last)
        counted = lengths if count_include_pad else inside
        count = divisor_override or prod(c[at] for c, at in zip(counted, place, strict=True))
        if how == "avg":
            return seen.sum(last) / count
        return ((seen**norm_type).sum(last) / count * prod(sizes)) ** (1 / norm_type)

    return each_region(np, x, regions, value_of)


# ---- one op over windows


def _lengths(y: Any, axis: int, n: int, size: int, stride: int, edge: int, inside: bool) -> Any:
    """How many elements each window along an axis counts; inside: without its padding."""
    first = y.iota_like(axis) * stride - edge
    if inside:
        return minimum(first + size, n) - maximum(first, 0)
    return minimum(first + size, n + edge) - first


def _average(
    x: Any, total: Any, sizes: Shape, strides: Shape, edges: Shape, include: bool
) -> Any:  # fmt: skip
    """total over the number of elements of each window."""
    whole, count = 1, len(sizes)
    for k, (size, stride, edge) in enumerate(zip(sizes, strides, edges, strict=True)):
        axis, n = x.ndim - count + k, x.shape[x.ndim - count + k]
        end = (total.shape[axis] - 1) * stride + size - edge
        if end <= (n + edge if include else n) and (include or not edge):
            whole *= size
        else:
            number = _lengths(total, axis, n, size, stride, edge, not include)
            total = total / cast(number, total.dtype)
    return total / float(whole)


def _outputs(n: int, span: int, stride: int, edge: int, ceil_mode: bool) -> int:
    """Windows along an axis; of those that overhang only the ones that begin inside."""
    count = (n + 2 * edge - span + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - (ceil_mode and (count - 1) * stride >= n + edge)


@composite(
    _pool,
    Samples(
        cases=(
            ((2, 9), {"kernel_size": (3,)}),
            ((2, 3, 7, 8), {"kernel_size": (3, 2), "how": "avg", "stride": (2, 1)}),
            ((1, 2, 9), {"kernel_size": (2,), "how": "lp", "norm_type": 3.0}),
        ),
        low=0.5, smooth=False,
    ),
)  # fmt: skip
def pool(
    x: Any, /, kernel_size: Sequence[int], stride: Sizes | None = None, padding: Sizes = 0,
    dilation: Sizes = 1, how: str = "max", ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None, norm_type: float = 2.0,
) -> Any:  # fmt: skip
    """One value for every window over the last axes, as many as kernel_size has numbers.

    how: "max", "avg", or "lp" for the norm (sum of x ** norm_type) ** (1 / norm_type). stride is
    kernel_size if left out. ceil_mode keeps windows that overhang the end.
    """
    return _pooled(
        "pool", len(kernel_size), x, kernel_size, stride, padding, dilation, how, ceil_mode,
        count_include_pad, divisor_override, norm_type,
    )  # fmt: skip


def _pooled(
    op: str, count: int, x: Any, kernel_size: Sizes, stride: Sizes | None, padding: Sizes = 0,
    dilation: Sizes = 1, how: str = "max", ceil_mode: bool = False, include: bool = True,
    divisor: int | None = None, power: float = 2.0,
) -> Any:  # fmt: skip
    if how not in ("max", "avg", "lp"):
        raise ArgumentError(explain(op, "how is 'max', 'avg' or 'lp'", got=repr(how)))
    sizes = per_axis(op, "kernel_size", kernel_size, count, 1)
    strides = per_axis(op, "stride", sizes if stride is None else stride, count, 1)
    edges = per_axis(op, "padding", padding, count, 0)
    dilations = per_axis(op, "dilation", dilation, count, 1)
    spans = spans_of(sizes, dilations)
    require_axes(op, x, count)
    if any(2 * edge > span for edge, span in zip(edges, spans, strict=True)):
        hint = "pad by at most half of the window"
        raise ArgumentError(explain(op, "too much padding", hint, padding=edges, window=spans))
    spatial = x.shape[x.ndim - count :]
    both: tuple[tuple[int, int], ...] = ()
    for n, span, s, edge in zip(spatial, spans, strides, edges, strict=True):
        outputs = _outputs(n, span, s, edge, ceil_mode)
        if outputs < 1:
            require_room(op, [n + 2 * edge], (span,), x.shape)
        both += ((edge, max(0, (outputs - 1) * s + span - edge - n)),)
    over = tuple(range(x.ndim - count, x.ndim))
    if how == "max":
        return max_(windows(x, sizes, strides, dilations, both, x.dtype.least), axis=over)
    x = as_float(x)
    seen = windows(x, sizes, strides, dilations, both)
    total = sum_(seen if how == "avg" else _power(op, seen, power), axis=over)
    if divisor is not None:
        if divisor == 0:
            raise ArgumentError(explain(op, "divisor_override is not 0"))
        return total / float(divisor)
    y = _average(x, total, sizes, strides, edges, include)
    return y if how == "avg" else root_of(y * prod(sizes), lambda some: some ** (1 / power))


def _power(op: str, x: Any, power: float) -> Any:
    if not 0 < power < float("inf"):
        raise ArgumentError(explain(op, "norm_type is positive and finite", got=power))
    return x ** (int(power) if power == int(power) else power)


def require_axes(op: str, x: Any, count: int) -> None:
    if x.ndim not in (count + 1, count + 2) and op != "pool":
        hint = f"x is (batch, channels, {count} spatial) or (channels, {count} spatial)"
        raise ShapeError(explain(op, "wrong number of axes", hint, shape=x.shape))
    if x.ndim < count:
        raise ShapeError(explain(op, "too few axes", shape=x.shape, windows=count))


def named(define: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    define.__name__, define.__doc__ = name, doc
    return define


# ---- the pools by their own names


def _shapes(count: int) -> tuple[Shape, Shape]:
    """Two shapes to pool over count axes, with and without batch."""
    return (2, 2, *(7, 6, 5)[:count]), (3, *(8, 9, 4)[:count])


def _max_row(count: int) -> Op:
    def max_pool(
        x: Any, /, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        dilation: Sizes = 1, ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        return _pooled(
            name, count, x, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode
        )  # fmt: skip

    def reference(
        np: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        sizes = np.broadcast_to(kernel_size, count)
        return _pool(np, x, sizes, stride, padding, dilation, "max", ceil_mode)

    name, (batched, single) = f"max_pool{count}d", _shapes(count)
    cases = (
        (batched, {"kernel_size": 2}),
        (batched, {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
        (single, {"kernel_size": 2, "stride": 1, "dilation": 2}),
    )
    doc = f"Largest element of every window over the last {count} axes."
    return composite(reference, Samples(cases=cases, smooth=False))(named(max_pool, name, doc))


def _avg_row(count: int) -> Op:
    def avg_pool(
        x: Any, /, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:  # fmt: skip
        return _pooled(
            name, count, x, kernel_size, stride, padding, 1, "avg", ceil_mode, count_include_pad,
            divisor_override,
        )  # fmt: skip

    def reference(
        np: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
        ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None,
    ) -> Any:  # fmt: skip
        sizes = np.broadcast_to(kernel_size, count)
        shared = (ceil_mode, count_include_pad, divisor_override)
        return _pool(np, x, sizes, stride, padding, 1, "avg", *shared)

    name, (batched, single) = f"avg_pool{count}d", _shapes(count)
    overhang = {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}
    cases = (
        (batched, {"kernel_size": 2}), (batched, overhang),
        (single, {**overhang, "count_include_pad": False}),
        (single, {"kernel_size": 3, "padding": 1, "divisor_override": 2}),
    )  # fmt: skip
    doc = f"""Mean of every window over the last {count} axes.

    count_include_pad: does padding count as zeros? divisor_override: divide by this instead.
    """
    return composite(reference, Samples(cases=cases))(named(avg_pool, name, doc))


def _lp_row(count: int) -> Op:
    def lp_pool(
        x: Any, /, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        return _pooled(
            name, count, x, kernel_size, stride, 0, 1, "lp", ceil_mode, power=norm_type
        )  # fmt: skip

    def reference(
        np: Any, x: Any, norm_type: Any, kernel_size: Any, stride: Any = None,
        ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        sizes = np.broadcast_to(kernel_size, count)
        return _pool(np, x, sizes, stride, 0, 1, "lp", ceil_mode, norm_type=norm_type)

    name, (batched, single) = f"lp_pool{count}d", _shapes(count)
    cases = (
        (batched, {"norm_type": 2.0, "kernel_size": 2}),
        (single, {"norm_type": 3.0, "kernel_size": 3, "stride": 2, "ceil_mode": True}),
        (single, {"norm_type": 1.5, "kernel_size": 2}),
    )
    doc = f"The norm_type-norm of every window over the last {count} axes."
    return composite(reference, Samples(0.5, cases=cases))(named(lp_pool, name, doc))


max_pool1d, max_pool2d, max_pool3d = (_max_row(count) for count in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_avg_row(count) for count in (1, 2, 3))
lp_pool1d, lp_pool2d, lp_pool3d = (_lp_row(count) for count in (1, 2, 3))
