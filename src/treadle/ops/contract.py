"""Rows of the sums of products and of reading and writing at computed indices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from treadle.base.errors import ArgumentError, DtypeError, ShapeError, explain
from treadle.base.shapes import Shape, axis_in, broadcast
from treadle.ops import rules
from treadle.ops.bounds import require_inside
from treadle.ops.defs import Kind, Op, Samples
from treadle.ops.elementwise import bitwise_and, cast, eq, where
from treadle.ops.movement import permute, slice_, summed_to


def _product_shape(_: Any, shapes: Sequence[Shape]) -> Shape:
    a, b = shapes
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        hint = "the last axis of the first must equal the last but one of the second"
        raise ShapeError(explain("matmul", "shapes do not fit", hint, shapes=f"{a} and {b}"))
    return (*broadcast("matmul", a[:-2], b[:-2]), a[-2], b[-1])


def _matrix_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """g bᵀ and aᵀ g; for a transposed operand made transposed, so that its own gradient is not."""
    da = matrix_product(b, g.mT).mT if is_turned(a) else matrix_product(g, b.mT)
    db = matrix_product(g.mT, a).mT if is_turned(b) else matrix_product(a.mT, g)
    return summed_to(da, a.shape), summed_to(db, b.shape)


def summable(*arrays: Any) -> list[Any]:
    """NumPy's arrays, integers as int64: what products of narrow ones add up in is not narrow."""
    return [x.astype("int64") if x.dtype.kind in "iu" else x for x in arrays]


def is_turned(x: Any) -> bool:
    """Is x a transposed view?"""
    rank = x.ndim
    return x.op is permute and x.arg == (*range(rank - 2), rank - 1, rank - 2)


matrix_product = Op(
    "matrix_product", Kind.CONTRACT,
    """Matrix product over the last two axes, broadcasting the others.

    Products of 8-bit integers add up in int32, those of 16-bit ones in int64, and the result is
    that; wider integers keep their type and wrap around.
    """,
    types=partial(rules.products, "matmul"), shape=_product_shape,
    grad=_matrix_grad,
    reference=lambda np, a, b: np.matmul(*summable(a, b)),
    samples=Samples(cases=(
        ((3, 4), (4, 5), {}), ((1, 7), (7, 1), {}), ((2, 3, 4), (2, 4, 5), {}),
        ((2, 1, 3, 4), (5, 4, 2), {}), ((3, 0), (0, 2), {}), ((33, 65), (65, 70), {}),
        ((0, 3), (3, 2), {}),
    )),
)  # fmt: skip


def _gather(x: Any, index: Any, axis: int) -> Any:
    if isinstance(index, int):  # as PyTorch has it: (x, axis, index)
        index, axis = axis, index
    axis = axis_in("gather", axis, x.ndim)
    _fits("gather", x, index, axis)
    require_inside("gather", index, x.shape[axis])
    ranges = [(0, n, 1) for n in index.shape]
    ranges[axis] = (0, x.shape[axis], 1)
    whole = all(stop == n for (_, stop, _), n in zip(ranges, x.shape, strict=True))
    return (x if whole else slice_(x, ranges), index), axis


def _fits(name: str, x: Any, index: Any, axis: int) -> None:
    """May index point along an axis of x? It may be shorter along the others."""
    facts = {"shape": x.shape, "index": index.shape}
    others = [k for k in range(x.ndim) if k != axis]
    if index.ndim != x.ndim or any(index.shape[k] > x.shape[k] for k in others):
        hint = f"as many axes, and none longer but axis {axis}"
        raise ShapeError(explain(name, "the index does not fit", hint, **facts))
    if not x.shape[axis] and 0 not in index.shape:
        hint = f"axis {axis} has no elements to choose from"
        raise ShapeError(explain(name, "nothing to index", hint, **facts))


def _gather_grad(g: Any, y: Any, x: Any, index: Any) -> tuple[Any, None]:
    axis = y.arg
    if index.shape[axis] == 1:  # one element a line: a comparison fuses, a scatter does not
        place = where(index < 0, index + x.shape[axis], index)
        return where(eq(x.iota_like(axis), place), g, 0.0), None
    return scatter_add(x.zeros_like(), index, g, axis=axis), None


def _gather_reference(np: Any, x: Any, index: Any, axis: int) -> Any:
    places = list(np.indices(index.shape))
    places[axis] = index
    return x[tuple(places)]


gather = Op(
    "gather", Kind.GATHER,
    """Elements at indices along an axis; negative indices count from the end.

    Indices out of range are refused if they are known at the call. Of those computed later, the
    nearest element is read, and no gradient flows to it.
    """,
    types=partial(rules.indexed, "gather"), shape=lambda _, shapes: shapes[1],
    arguments=_gather, grad=_gather_grad,
    reference=_gather_reference,
    samples=Samples(cases=(
        ((5, 3), (4, 3), {"axis": 0}), ((4, 9), (4, 1), {"axis": 1}),
        ((4, 40), (4, 33), {"axis": 1}), ((5, 6), (2, 3), {"axis": -1}),
        ((3, 0), (0, 0), {"axis": 0}),
    ), roles=("", "index")),
)  # fmt: skip


# ---- writing at indices: one kind of row, by how a value meets what is there


def _arguments(name: str) -> Any:
    def arguments(base: Any, index: Any, values: Any, axis: int) -> Any:
        if isinstance(index, int):  # as PyTorch has it: (x, axis, index, values)
            axis, index, values = index, values, axis
        axis = axis_in(name, axis, base.ndim)
        if not hasattr(values, "shape"):  # one number for all
            values = cast(index.zeros_like(), base.dtype) + values
        if values.dtype is not base.dtype:
            facts = {"base": base.dtype.name, "values": values.dtype.name}
            raise DtypeError(explain(name, "two dtypes", "cast the values first", **facts))
        if index.shape != values.shape:
            values = _leading(name, index, values)
        _fits(name, base, index, axis)
        require_inside(name, index, base.shape[axis])
        return (base, index, values), axis

    arguments.__qualname__ = name
    return arguments


def _leading(name: str, index: Any, values: Any) -> Any:
    """As many values along every axis as there are indices: those that come first."""
    sizes = zip(index.shape, values.shape, strict=False)
    if index.ndim != values.ndim or any(n > size for n, size in sizes):
        facts = {"index": index.shape, "values": values.shape}
        raise ShapeError(explain(name, "an index without a value", **facts))
    return slice_(values, [(0, n, 1) for n in index.shape])


def _over(
    base: Any, index: Any, values: Any, axis: int, reduce: str | None = None
) -> Any:  # fmt: skip
    if reduce is None:
        return _PLAIN(base, index, values, axis)
    if reduce not in JOINS:
        hint = f"None, or one of {', '.join(JOINS)}; scatter_reduce has more"
        raise ArgumentError(explain("scatter", "no such reduce", hint, got=repr(reduce)))
    return JOINS[reduce](base, index, values, axis)


_PLAIN = _arguments("scatter")
_over.__qualname__ = "scatter"
JOINS: dict[str, Op] = {}
"""What PyTorch calls the ways in which scatter joins values to what is there."""


def _scattered(np: Any, how: str, base: Any, index: Any, values: Any, axis: int) -> Any:
    out = np.array(base)
    places = list(np.indices(index.shape))
    places[axis] = index
    if how == "over":
        for place in np.ndindex(index.shape):
            out[tuple(int(k[place]) for k in places)] = values[place]
    else:
        join = {"add": np.add, "mul": np.multiply}.get(how) or getattr(np, how)
        join.at(out, tuple(places), values)
    return out


SCATTERS: dict[Op, str] = {}
"""How each row joins a value to what is there: the mode of its stores."""


def scattering(name: str, how: str, doc: str, grad: Any, smooth: bool = True) -> Op:
    """A row that writes at indices along an axis.

    Negative indices count from the end. Those out of range are refused if they are known at the
    call; of those computed later, the values are dropped.
    """
    rule = rules.indexed if how in ("add", "over") else rules.indexed_in_order
    row = Op(
        name, Kind.SCATTER, doc, types=partial(rule, name),
        shape=lambda _, shapes: shapes[0], grad=grad,
        arguments=_over if how == "over" else _arguments(name),
        reference=lambda np, base, index, values, axis: _scattered(
            np, how, base, index, values[tuple(map(slice, index.shape))], axis
        ),
        samples=Samples(cases=(
            ((5, 3), (4, 3), (4, 3), {"axis": 0}), ((4, 9), (4, 20), (4, 20), {"axis": 1}),
            ((6,), (50,), (50,), {"axis": 0}), ((5, 6), (2, 3), (2, 3), {"axis": -1}),
            ((3, 2), (0, 2), (0, 2), {"axis": 0}), ((0, 2), (0, 2), (0, 2), {"axis": 0}),
            ((5, 6), (2, 3), (4, 3), {"axis": 1}),
        ), roles=("", "index", ""), smooth=smooth),
    )  # fmt: skip
    SCATTERS[row] = how
    return row


def _read(x: Any, index: Any, axis: int) -> Any:
    """Elements at indices, 0 where they are out of range and nothing was written."""
    size = x.shape[axis]
    inside = bitwise_and(index >= -size, index < size)
    return where(inside, gather(x, index, axis=axis), 0.0)


def _set_grad(g: Any, y: Any, base: Any, index: Any, values: Any) -> tuple[Any, None, Any]:
    """Of values written to one place only the last has a gradient."""
    axis = y.arg
    order = index.iota_like(axis).expand(index.shape)
    writer = scatter(base.iota_like(axis).expand(base.shape), index, order, axis=axis)
    last = eq(gather(writer, index, axis=axis), order)
    return scatter(g, index, 0, axis=axis), None, where(last, _read(g, index, axis), 0.0)


def _product_grad(g: Any, y: Any, base: Any, index: Any, values: Any) -> tuple[Any, None, Any]:
    """Products without one factor: a quotient, or the product of the others if it alone is 0."""
    axis = y.arg
    others = scatter_mul(where(eq(base, 0), 1.0, base), index, where(eq(values, 0), 1.0, values),
                         axis=axis)  # fmt: skip
    zero = cast(eq(values, 0), g.dtype)
    zeros = scatter_add(cast(eq(base, 0), g.dtype), index, zero, axis=axis)
    alone = eq(gather(zeros, index, axis=axis), zero)  # no zero but perhaps this one
    without = _read(g * others, index, axis) / where(eq(values, 0), 1.0, values)
    factor = scatter_mul(base.zeros_like() + 1, index, values, axis=axis)
    return g * factor, None, where(alone, without, 0.0)


def _extreme_grad(g: Any, y: Any, base: Any, index: Any, values: Any) -> tuple[Any, None, Any]:
    """All that equal the extreme share its cotangent."""
    axis = y.arg
    mine, theirs = eq(base, y), eq(values, gather(y, index, axis=axis))
    count = scatter_add(cast(mine, g.dtype), index, cast(theirs, g.dtype), axis=axis)
    share = g / count
    return where(mine, share, 0.0), None, where(theirs, _read(share, index, axis), 0.0)


# fmt: off
scatter_add = scattering(
    "scatter_add", "add",
    "base with values added at indices along an axis; narrow floats add up in float32.",
    lambda g, y, base, index, values: (g, None, _read(g, index, y.arg)))
scatter = scattering(
    "scatter", "over",
    "base with values put at indices along an axis; the last one stays. reduce: add or multiply.",
    _set_grad)
scatter_mul = scattering(
    "scatter_mul", "mul",
    "base multiplied by values at indices along an axis; narrow floats meet in float32.",
    _product_grad)
scatter_max = scattering(
    "scatter_max", "maximum", "The larger of base and the values at indices along an axis.",
    _extreme_grad, smooth=False)
scatter_min = scattering(
    "scatter_min", "minimum", "The smaller of base and the values at indices along an axis.",
    _extreme_grad, smooth=False)
# fmt: on
JOINS |= {"add": scatter_add, "multiply": scatter_mul}


# ---- writing a box


def _put(x: Any, values: Any, ranges: Sequence[tuple[int, int, int]], stays: bool = False) -> Any:
    inside = tuple([-((start - stop) // step) for start, stop, step in ranges])
    if len(ranges) != x.ndim or values.shape != inside:
        facts = {"shape": x.shape, "values": values.shape, "ranges": ranges}
        raise ShapeError(explain("put", "one value for each element of the box", **facts))
    return (x, values), (tuple(ranges), stays)


def _put_reference(np: Any, x: Any, values: Any, ranges: Any, stays: bool = False) -> Any:
    out = np.array(x)
    out[tuple(slice(*each) for each in ranges)] = values
    return out


put: Op = Op(
    "put", Kind.SCATTER,
    """x with values at a range (start, stop, step) of every axis.

    It is a comparison of indices, which fuses, unless it stays what it is: then it is written over
    x where nobody reads x afterwards, and costs the values alone.
    """,
    types=partial(rules.any_dtype, "put"), shape=lambda _, shapes: shapes[0], arguments=_put,
    grad=lambda g, y, x, values: (
        put(g, values.zeros_like(), y.arg[0]), slice_(g, y.arg[0])),
    reference=_put_reference, public=False,
    samples=Samples(cases=(
        ((5, 3), (1, 3), {"ranges": ((2, 3, 1), (0, 3, 1))}),
        ((4, 9, 2), (2, 3, 2), {"ranges": ((1, 3, 1), (1, 9, 3), (0, 2, 1)), "stays": True}),
        ((40,), (7,), {"ranges": ((3, 10, 1),)}),
        ((6, 20), (6, 1), {"ranges": ((0, 6, 1), (19, 20, 1)), "stays": True}),
    ), roles=("", "")),
)  # fmt: skip
