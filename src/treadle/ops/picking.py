"""Rows that pick elements by indices and masks, and put others in their place."""

from __future__ import annotations

import math
from typing import Any

from treadle.base.dtypes import INTEGERS, bool_, int64, uint8
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in, broadcast, strides_of
from treadle.ops.bounds import require_inside
from treadle.ops.composite import composite, take
from treadle.ops.contract import (
    gather,
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
)  # fmt: skip
from treadle.ops.defs import AN_INDEX, ON_INTEGERS, Samples
from treadle.ops.elementwise import cast, detach, div, eq, floor_divide, where
from treadle.ops.joining import stack
from treadle.ops.movement import cut, reshape
from treadle.ops.predicates import truth_of
from treadle.ops.reduce import max_
from treadle.ops.rules import require
from treadle.ops.scan import cumsum
from treadle.ops.shaping import broadcast_arrays, counting

# ---- by indices


def _aligned(name: str, x: Any, index: Any, axis: int) -> tuple[Any, Any, int]:
    """x and an index broadcast along all axes but one."""
    if index.ndim != x.ndim:
        facts = {"shape": x.shape, "index": index.shape}
        raise ShapeError(explain(name, "the index has other axes", **facts))
    at = axis_in(name, axis, x.ndim)
    own, wanted = ((*t.shape[:at], 1, *t.shape[at + 1 :]) for t in (x, index))
    shape = broadcast(name, own, wanted)
    x, index = (t.expand((*shape[:at], t.shape[at], *shape[at + 1 :])) for t in (x, index))
    return x, index, at


@composite(
    lambda np, x, index, axis=-1: np.take_along_axis(x, index, axis),
    Samples(cases=(((3, 5), (3, 2), {}), ((5, 3), (4, 1), {"axis": 0}), ((1, 5), (3, 7), {})),
            roles=("", "index")), inline=True,
)  # fmt: skip
def take_along_axis(x: Any, indices: Any, /, axis: int = -1) -> Any:
    """Elements at indices along an axis, one index for each; the other axes broadcast."""
    x, indices, at = _aligned("take_along_axis", x, indices, axis)
    return gather(x, indices, axis=at)


@composite(
    lambda np, x, index, axis=0: np.take(x, index, axis),
    Samples(cases=(((5, 3), (4,), {}), ((3, 6), (2,), {"axis": 1})), roles=("", "index")),
    inline=True,
)  # fmt: skip
def index_select(x: Any, indices: Any, /, axis: int = 0) -> Any:
    """Slices of x at indices along an axis."""
    if isinstance(indices, int):  # as PyTorch has it: (x, axis, indices)
        indices, axis = axis, indices
    if indices.ndim > 1:
        hint = "take has any number of them"
        raise ShapeError(explain("index_select", "one axis of indices", hint, shape=indices.shape))
    return take(x, indices, axis=axis)


def _put(np: Any, x: Any, index: Any, values: Any, axis: int = -1) -> Any:
    out = np.array(x)
    np.put_along_axis(out, index, values, axis)
    return out


@composite(
    _put, Samples(cases=(((3, 5), (3, 1), (3, 1), {}), ((5, 3), (1, 1), (1, 3), {"axis": 0})),
                  roles=("", "index", "")), inline=True,
)  # fmt: skip
def put_along_axis(x: Any, indices: Any, values: Any, /, axis: int = -1) -> Any:
    """x with values at indices along an axis; the other axes broadcast."""
    _, indices, at = _aligned("put_along_axis", x, indices, axis)
    if hasattr(values, "shape"):
        values = cast(values.expand(indices.shape), x.dtype)
    return scatter(x, indices, values, axis=at)


def _index_add(np: Any, x: Any, index: Any, values: Any, axis: int = 0, alpha: float = 1) -> Any:
    out = np.moveaxis(np.array(x), axis, 0)
    np.add.at(out, index, np.moveaxis(values * x.dtype.type(alpha), axis, 0))
    return np.moveaxis(out, 0, axis)


@composite(
    _index_add, Samples(cases=(
        ((5, 3), (4,), (4, 3), {}), ((2, 6), (3,), (2, 3), {"axis": 1}), ((3,), (9,), (9,), {}),
        ((5, 3), (4,), (4, 3), {"alpha": 2}),
    ), roles=("", "index", "")), inline=True,
)  # fmt: skip
def index_add(x: Any, index: Any, values: Any, /, axis: int = 0, alpha: float = 1) -> Any:
    """x with slices of values, times alpha, added at indices along an axis."""
    if isinstance(index, int):  # as PyTorch has it: (x, axis, index, values)
        axis, index, values = index, values, axis
    at = axis_in("index_add", axis, x.ndim)
    shape = (*x.shape[:at], *index.shape, *x.shape[at + 1 :])
    if index.ndim != 1 or values.shape != shape:
        facts = {"shape": x.shape, "index": index.shape, "values": values.shape}
        raise ShapeError(explain("index_add", "one slice for each index", **facts))
    wide = index.reshape(tuple(-1 if k == at else 1 for k in range(x.ndim))).expand(shape)
    values = values if alpha == 1 else cast(values * alpha, values.dtype)
    return scatter_add(x, wide, values, axis=at)


def _looked_up(rng: Any, kind: Any, shapes: Any) -> list[Any]:
    return [rng.integers(0, shapes[1][0], shapes[0]), rng.integers(0, 5, shapes[1]).astype(kind)]


def _embedding(np: Any, indices: Any, weight: Any, padding_idx: int | None = None) -> Any:
    return weight[indices.astype(np.int64)]


@composite(
    _embedding, Samples(cases=(((4,), (5, 3), {}), ((2, 3), (7, 2), {}), ((), (3, 2), {})),
                        roles=("index", ""), draw=_looked_up), inline=True,
)  # fmt: skip
def embedding(indices: Any, weight: Any, /, padding_idx: int | None = None) -> Any:
    """Rows of weight at indices; no gradient flows to row padding_idx."""
    rows = take(weight, indices, axis=0)
    if padding_idx is None:
        return rows
    padding = eq(indices, axis_in("embedding", padding_idx, weight.shape[0]))
    return where(padding.reshape((*indices.shape, 1)), detach(rows), rows)


REDUCTIONS = {
    "sum": (scatter_add, 0), "mean": (scatter_add, 0), "prod": (scatter_mul, 1),
    "amax": (scatter_max, None), "amin": (scatter_min, None),
}  # fmt: skip
"""How values meet, and what they start from without x: None is the least or the greatest."""
OF_TRUTH = {"sum": "amax", "mean": "amin", "prod": "amin", "amax": "amax", "amin": "amin"}
"""How bools meet: a sum is an or, a product an and, and so is a mean that is rounded down."""


def _reduced(
    np: Any, x: Any, index: Any, values: Any, axis: Any, reduce: str, include_self: bool = True
) -> Any:
    out = np.array(x)
    lines = np.moveaxis(out, axis, -1)
    places, written = np.moveaxis(index, axis, -1), np.moveaxis(values, axis, -1)
    for line in np.ndindex(places.shape[:-1]):
        for at in set(places[line].tolist()):
            met = list(written[line][places[line] == at])
            met += [lines[line][at]] if include_self else []
            join = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "amax": np.max, "amin": np.min}
            total = join[reduce](met)
            whole = reduce == "mean" and out.dtype.kind not in "fc"
            lines[line][at] = np.floor(total) if whole else total
    return out


@composite(
    _reduced, Samples(cases=tuple(
        ((4, 6), (4, 9), (4, 9), {"axis": 1, "reduce": reduce, "include_self": own})
        for reduce in REDUCTIONS for own in (True, False)
    ), roles=("", "index", ""), smooth=False), inline=True,
)  # fmt: skip
def scatter_reduce(
    x: Any, index: Any, values: Any, /, axis: int, reduce: str, include_self: bool = True
) -> Any:
    """Values that meet at one place become their sum, mean, prod, amax or amin, with x's or not."""
    if isinstance(index, int):  # as PyTorch has it: (x, axis, index, values, reduce)
        axis, index, values = index, values, axis
    if reduce not in REDUCTIONS:
        hint = f"one of {', '.join(REDUCTIONS)}"
        raise ArgumentError(explain("scatter_reduce", "no such reduction", hint, reduce=reduce))
    if x.dtype is bool_:
        reduce, wide = OF_TRUTH[reduce], (cast(t, uint8) for t in (x, values))
        return cast(
            scatter_reduce(next(wide), index, next(wide), axis, reduce, include_self), bool_
        )
    if x.dtype.is_storage and reduce == "mean":  # a total may be more than a narrow float holds
        wide = (cast(t, x.dtype.compute) for t in (x, values))
        return cast(
            scatter_reduce(next(wide), index, next(wide), axis, reduce, include_self), x.dtype
        )
    op, start = REDUCTIONS[reduce]
    if start is None:
        start = x.dtype.least if reduce == "amax" else x.dtype.greatest
    base = x if include_self else scatter(x, index, start, axis=axis)
    total = op(base, index, values, axis=axis)
    if reduce != "mean":
        return total
    ones = cast(eq(x.zeros_like(), 0), int64)
    own = ones if include_self else scatter(ones, index, 0, axis=axis)
    count = cast(scatter_add(own, index, 1, axis=axis), x.dtype)
    return div(total, count) if x.dtype.is_inexact else floor_divide(total, count)


@composite(
    lambda np, x, num_classes: np.eye(num_classes, dtype=np.int64)[x],
    Samples(cases=tuple((shape, {"num_classes": 7}) for shape in ((5,), (2, 3), ())),
            draw=lambda rng, kind, shapes: [rng.integers(0, 2, s).astype(kind) for s in shapes]),
    inline=True, grad=ON_INTEGERS,
)  # fmt: skip
def one_hot(x: Any, /, num_classes: int = -1) -> Any:
    """A last axis of 0 with a 1 at each index; -1 classes: as many as the largest needs.

    An index that is out of range is refused if it is known at the call, else it gives zeros.
    """
    require("one_hot", [x.dtype], INTEGERS)
    if num_classes < -1:
        hint = "-1: as many as the largest needs"
        raise ArgumentError(explain("one_hot", "a number is negative", hint, got=num_classes))
    if num_classes < 0:
        num_classes = int(max_(x).item()) + 1 if math.prod(x.shape) else 0
    line = counting(x, num_classes).reshape((*(1,) * x.ndim, num_classes))
    require_inside("one_hot", x, num_classes, lowest=0)
    return cast(eq(cast(x, int64).reshape((*x.shape, 1)), line), int64)


# ---- by masks


@composite(
    lambda np, x, mask, value: np.where(mask, x.dtype.type(value), x),
    Samples(cases=(((3, 5), (3, 5), {"value": 2}), ((2, 3, 4), (3, 1), {"value": 1})),
            roles=("", "bool")), inline=True,
)  # fmt: skip
def masked_fill(x: Any, mask: Any, /, value: Any) -> Any:
    """value where mask is true, else x."""
    found = where(mask, value, x)
    return found if found.dtype is x.dtype else cast(found, x.dtype)


def places_of(mask: Any) -> Any:
    """Where the elements of a flattened mask are true: how many is read, so it is computed now."""
    flat = mask.reshape(-1)
    size = flat.shape[0]
    if not size:
        return counting(mask, 0)
    rank = cumsum(cast(flat, int64), axis=0).realize()
    count = int(cut(rank, 0, size - 1, size).reshape(()).item())
    target = where(flat, rank - 1, count)  # the others go to one place more
    return cut(
        scatter(counting(mask, count + 1), target, counting(mask, size), axis=0), 0, 0, count
    )


@composite(
    lambda np, x, mask: x[np.broadcast_to(mask, x.shape)],
    Samples(cases=(((3, 5), (3, 5), {}), ((2, 3), (3,), {}), ((0,), (0,), {}), ((), (), {})),
            roles=("", "bool")), inline=True,
)  # fmt: skip
def masked_select(x: Any, mask: Any, /) -> Any:
    """The elements where mask is true, as one axis; their number is read, so it is computed now."""
    x, mask = broadcast_arrays(x, mask)
    return take(x.reshape(-1), places_of(mask), axis=0)


SPARSE = Samples(
    cases=(((3, 5), {}), ((4,), {}), ((2, 0), {}), ((2, 3, 70), {})), low=-1.0, high=1.0
)


@composite(lambda np, x: list(np.nonzero(x)), SPARSE, inline=True, grad=AN_INDEX)
def nonzero(x: Any, /) -> tuple[Any, ...]:
    """The indices of the elements that are not 0, a tensor for each axis; computed now."""
    if not x.shape:
        hint = "give it an axis: x.reshape(1); argwhere has a row for it"
        raise ShapeError(explain("nonzero", "a 0-d tensor has no indices", hint))
    flat = places_of(truth_of(x))
    parts = zip(strides_of(x.shape), x.shape, strict=True)
    return tuple([floor_divide(flat, max(1, step)) % max(1, size) for step, size in parts])


@composite(
    lambda np, x: np.argwhere(x),
    Samples(cases=(*SPARSE.cases, ((), {})), low=-1.0, high=1.0), inline=True, grad=AN_INDEX,
)  # fmt: skip
def argwhere(x: Any, /) -> Any:
    """The indices of the elements that are not 0, a row for each; computed now."""
    if not x.shape:
        return cut(places_of(truth_of(x)).reshape((-1, 1)), 1, 0, 0)
    return stack(nonzero(x), axis=1)


# ---- the same elements


@composite(lambda np, x: x, inline=True)
def clone(x: Any, /) -> Any:
    """A tensor of its own with the same value, through which gradients pass.

    Values are never written in place where anybody else can see it, so nothing is copied.
    """
    return x._apply(reshape, (x,), x.shape)


@composite(lambda np, x: x, inline=True)
def contiguous(x: Any, /) -> Any:
    """x: what is in memory always lies in row-major order."""
    return x.reshape(x.shape)
