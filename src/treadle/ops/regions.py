"""Rows of the pools to a given size: adaptive ones and fractional ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from treadle.base.dtypes import int64
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import Shape
from treadle.ops.composite import as_float, composite, mean, take
from treadle.ops.contract import gather, matrix_product
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import cast, minimum, where
from treadle.ops.movement import concat, cut
from treadle.ops.pooling import Sizes, each_region, named, pool, require_axes
from treadle.ops.reduce import max_, sum_
from treadle.ops.shaping import counting
from treadle.ops.windows import per_axis, require_room

Outputs = int | Sequence[int | None]


# ---- adaptive: output o of m covers elements o n / m to (o + 1) n / m, rounded outwards


def _bounds(o: Any, n: int, m: int) -> tuple[Any, Any]:
    """First element of output o, and the one behind its last; o is a number or numbers."""
    return o * n // m, ((o + 1) * n + (m - 1)) // m


def _adaptive(op: str, count: int, x: Any, output_size: Outputs, average: bool) -> Any:
    require_axes(op, x, count)
    spatial = x.shape[x.ndim - count :]
    wanted = output_size if isinstance(output_size, tuple | list) else (output_size,) * count
    if len(wanted) == count:
        wanted = [n if m is None else m for n, m in zip(spatial, wanted, strict=True)]
    outputs = per_axis(op, "output_size", wanted, count, 0)
    if 0 in spatial and 0 not in outputs:
        raise ShapeError(explain(op, "nothing to pool", shape=x.shape))
    if average and set(outputs) == {1}:  # one region, which fuses as any mean does
        return mean(as_float(x), axis=tuple(range(x.ndim - count, x.ndim)), keepdims=True)
    if all(m and n % m == 0 for n, m in zip(spatial, outputs, strict=True)):
        sizes = tuple([n // m for n, m in zip(spatial, outputs, strict=True)])
        return pool(x, sizes, how="avg" if average else "max")
    return _averaged(as_float(x), outputs) if average else _largest(x, outputs)


def along(matrix: Any, x: Any, axis: int) -> Any:
    """The matrix times x along one of its axes."""
    before, n, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    m = matrix.shape[0]
    if after:
        return matrix_product(matrix, x.reshape((prod(before), n, prod(after)))).reshape(
            (*before, m, *after)
        )
    return matrix_product(x.reshape((prod(before), n)), matrix.mT).reshape((*before, m))


def _averaged(x: Any, outputs: Shape) -> Any:
    """Means along one axis after the other, each of the elements it covers and no others."""
    for axis, m in enumerate(outputs, x.ndim - len(outputs)):
        n, behind = x.shape[axis], (1,) * (x.ndim - axis - 1)
        ends = [_bounds(o, n, m) for o in range(m)]
        longest = max([last - first for first, last in ends], default=1)
        start, end = _bounds(counting(x, m).reshape((m, 1)), n, m)
        place = start + counting(x, longest)
        covered = (place < end).reshape((m, longest, *behind))
        seen = where(covered, take(x, minimum(place, n - 1), axis=axis), 0.0)
        x = sum_(seen, axis=axis + 1) / cast(end - start, x.dtype).reshape((m, *behind))
    return x


def _largest(x: Any, outputs: Shape) -> Any:
    """The largest of every region along one axis after the other."""
    for axis, m in enumerate(outputs, x.ndim - len(outputs)):
        regions = [cut(x, axis, *_bounds(o, x.shape[axis], m)) for o in range(m)]
        tops = [max_(region, axis=axis, keepdims=True) for region in regions]
        x = concat(tops, axis=axis) if tops else cut(x, axis, 0, 0)
    return x


def _adaptive_row(count: int, how: str) -> Op:
    def adaptive(x: Any, /, output_size: Outputs) -> Any:
        return _adaptive(name, count, x, output_size, how == "avg")

    def reference(np: Any, x: Any, output_size: Any) -> Any:
        last = tuple(range(-count, 0))
        sizes = output_size if isinstance(output_size, tuple) else (output_size,) * count
        regions = []
        for n, m in zip(x.shape[-count:], sizes, strict=True):
            m = n if m is None else m  # noqa: PLW2901
            edges = [(int(np.floor(o * n / m)), int(np.ceil((o + 1) * n / m))) for o in range(m)]
            regions.append([np.arange(*edge) for edge in edges])
        reduce = np.mean if how == "avg" else np.max
        return each_region(np, x, regions, lambda seen, _: reduce(seen, last))

    name = f"adaptive_{how}_pool{count}d"
    sizes = (3, None, 2)[:count]
    cases = (
        ((2, 2, *(7, 6, 5)[:count]), {"output_size": 3}),
        ((3, *(8, 5, 4)[:count]), {"output_size": sizes}),
        ((1, 2, *(6, 4, 2)[:count]), {"output_size": 2}),
        ((2, *(3, 2, 2)[:count]), {"output_size": 5}),
        ((2, 3, *(5, 3, 4)[:count]), {"output_size": 1}),
    )
    word = "Mean" if how == "avg" else "Largest element"
    doc = f"""{word} of output_size regions that cover the last {count} axes.

    None among the sizes keeps an axis as it is.
    """
    samples = Samples(cases=cases, smooth=how == "avg")
    return composite(reference, samples)(named(adaptive, name, doc))


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (
    _adaptive_row(count, "avg") for count in (1, 2, 3)
)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    _adaptive_row(count, "max") for count in (1, 2, 3)
)


# ---- fractional: windows that start at random places


def fractional_places(op: str, x: Any, samples: Any, sizes: Shape, outputs: Shape) -> Any:
    """Where the elements of every window lie in their plane: (planes, *sizes, *outputs)."""
    count = len(sizes)
    lead, spatial = x.shape[: x.ndim - count], x.shape[x.ndim - count :]
    planes = prod(lead)
    if prod(samples.shape) != planes * count:
        hint = f"{count} random numbers in [0, 1) for each of {planes} planes"
        facts = {"samples": samples.shape, "shape": x.shape}
        raise ShapeError(explain(op, "the samples do not fit", hint, **facts))
    needed = [size + m - 1 for size, m in zip(sizes, outputs, strict=True)]
    require_room(op, spatial, tuple(needed), x.shape)
    place: Any = 0
    for k, (n, size, m) in enumerate(zip(spatial, sizes, outputs, strict=True)):
        column = count - 1 - k if count == 2 else k  # of two, the first is for the last axis
        sample = cut(samples.reshape((planes, count)), 1, column, column + 1)
        offset = sample.expand((planes, size)).iota_like(1)
        first, wide = [1] * (2 * count), [1] * (2 * count)
        wide[k], first[count + k] = size, m
        starts = _starts(sample, n, size, m).reshape((planes, *first))
        place = place * n + (starts + offset.reshape((1, *wide)))
    return place.expand((planes, *sizes, *outputs))


def _fractional(op: str, x: Any, samples: Any, sizes: Shape, outputs: Shape) -> Any:
    count = len(sizes)
    lead, spatial = x.shape[: x.ndim - count], x.shape[x.ndim - count :]
    place = fractional_places(op, x, samples, sizes, outputs)
    flat = x.reshape((place.shape[0], prod(spatial)))
    index = place.reshape((place.shape[0], prod(place.shape[1:])))
    found = gather(flat, index, axis=1).reshape(place.shape)
    return max_(found, axis=tuple(range(1, count + 1))).reshape((*lead, *outputs))


def _starts(sample: Any, n: int, size: int, outputs: int) -> Any:
    """Where the windows of an axis start: (planes, outputs); the last one ends with the axis."""
    step = (n - size) / (outputs - 1) if outputs > 1 else 0.0
    number = sample.expand((sample.shape[0], outputs)).iota_like(1)
    first = cast((sample + cast(number, sample.dtype)) * step, int64) - cast(sample * step, int64)
    return where(number < outputs - 1, first, n - size)


def _fractional_sizes(
    op: str, x: Any, count: int, output_size: Sizes | None, output_ratio: Any
) -> Shape:
    if (output_size is None) == (output_ratio is None):
        raise ArgumentError(explain(op, "give output_size or output_ratio, one of them"))
    if output_size is not None:
        return per_axis(op, "output_size", output_size, count, 1)
    ratios = output_ratio if isinstance(output_ratio, tuple | list) else (output_ratio,) * count
    if len(ratios) != count or not all(0 < ratio < 1 for ratio in ratios):
        hint = f"one number in (0, 1), or one for each of {count} axes"
        raise ArgumentError(explain(op, "bad output_ratio", hint, got=output_ratio))
    sizes = x.shape[x.ndim - count :]
    return tuple([max(1, int(n * ratio)) for n, ratio in zip(sizes, ratios, strict=True)])


def _draw(rng: Any, kind: Any, shapes: Sequence[Shape]) -> list[Any]:
    """Elements of any dtype, samples as floats."""
    x = rng.uniform(0, 4, shapes[0]).astype(kind)
    return [x, rng.uniform(0.05, 0.95, shapes[1]).astype("float64")]


def _fractional_row(count: int) -> Op:
    def fractional_max_pool(
        x: Any, samples: Any, /, kernel_size: Sizes, output_size: Sizes | None = None,
        output_ratio: float | Sequence[float] | None = None,
    ) -> Any:  # fmt: skip
        require_axes(name, x, count)
        outputs = _fractional_sizes(name, x, count, output_size, output_ratio)
        return _fractional(
            name, x, samples, per_axis(name, "kernel_size", kernel_size, count, 1), outputs
        )  # fmt: skip

    def reference(
        np: Any, x: Any, samples: Any, kernel_size: Any, output_size: Any = None,
        output_ratio: Any = None,
    ) -> Any:  # fmt: skip
        last, spatial = tuple(range(-count, 0)), x.shape[-count:]
        sizes = np.broadcast_to(kernel_size, count)
        outputs = output_size or [int(n * output_ratio) for n in spatial]
        outputs = np.broadcast_to(outputs, count)
        planes = prod(x.shape[:-count])
        places = samples.reshape((planes, count))
        found = []
        for plane, drawn in zip(x.reshape((planes, *spatial)), places, strict=True):
            regions = []
            for n, k, m, u in zip(
                spatial, sizes, outputs, drawn[::-1] if count == 2 else drawn, strict=True
            ):
                step = (n - k) / max(m - 1, 1)
                starts = [int((o + u) * step) - int(u * step) for o in range(m - 1)] + [n - k]
                regions.append([np.arange(first, first + k) for first in starts])
            found.append(each_region(np, plane, regions, lambda seen, _: seen.max(last)))
        return np.stack(found).reshape((*x.shape[:-count], *outputs))

    name = f"fractional_max_pool{count}d"
    cases = (
        ((2, 2, *(7, 8, 6)[:count]), (2, 2, count), {"kernel_size": 2, "output_size": 4}),
        ((3, *(9, 6, 8)[:count]), (3, count), {"kernel_size": 3, "output_ratio": 0.5}),
        ((1, 1, *(5, 6, 4)[:count]), (1, 1, count), {"kernel_size": 2, "output_size": 1}),
    )
    doc = f"""Largest element of windows at random places over the last {count} axes.

    samples are {count} random numbers in [0, 1) for every plane: they decide where windows start.
    """
    samples = Samples(cases=cases, draw=_draw)
    return composite(reference, samples)(named(fractional_max_pool, name, doc))


fractional_max_pool2d, fractional_max_pool3d = _fractional_row(2), _fractional_row(3)
