"""Rows of the sums of products and of reading and adding at computed indices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from treadle.base.errors import ShapeError, explain
from treadle.base.shapes import Shape, axis_in, broadcast
from treadle.ops import rules
from treadle.ops.defs import Kind, Op, Samples
from treadle.ops.elementwise import eq, maximum, minimum, where
from treadle.ops.movement import summed_to


def _dot_shape(_: Any, shapes: Sequence[Shape]) -> Shape:
    a, b = shapes
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        hint = "the last axis of the first must equal the last but one of the second"
        raise ShapeError(explain("matmul", "shapes do not fit", hint, shapes=f"{a} and {b}"))
    return (*broadcast("matmul", a[:-2], b[:-2]), a[-2], b[-1])


def _dot_grad(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """g bᵀ and aᵀ g; for a transposed operand made transposed, so that its own gradient is not."""
    da = dot(b, g.mT).mT if _is_transposed(a) else dot(g, b.mT)
    db = dot(g.mT, a).mT if _is_transposed(b) else dot(a.mT, g)
    return summed_to(da, a.shape), summed_to(db, b.shape)


def _is_transposed(x: Any) -> bool:
    rank = x.ndim
    return x.op.name == "permute" and x.arg == (*range(rank - 2), rank - 1, rank - 2)


dot = Op(
    "dot", Kind.CONTRACT, "Matrix product over the last two axes, broadcasting the others.",
    types=partial(rules.number, "matmul"), shape=_dot_shape,
    grad=_dot_grad,
    reference=lambda np, a, b: np.matmul(a, b),
    samples=Samples(cases=(
        ((3, 4), (4, 5), {}), ((1, 7), (7, 1), {}), ((2, 3, 4), (2, 4, 5), {}),
        ((2, 1, 3, 4), (5, 4, 2), {}), ((3, 0), (0, 2), {}), ((33, 65), (65, 70), {}),
        ((0, 3), (3, 2), {}),
    )),
)  # fmt: skip


def _gather(x: Any, index: Any, axis: int) -> Any:
    axis = axis_in("gather", axis, x.ndim)
    rest = [n for k, n in enumerate(x.shape) if k != axis]
    if index.ndim != x.ndim or [n for k, n in enumerate(index.shape) if k != axis] != rest:
        hint = f"equal sizes but for axis {axis}"
        facts = {"shape": x.shape, "index": index.shape}
        raise ShapeError(explain("gather", "the index does not fit", hint, **facts))
    if not x.shape[axis] and 0 not in index.shape:
        hint = f"axis {axis} has no elements to choose from"
        facts = {"shape": x.shape, "index": index.shape}
        raise ShapeError(explain("gather", "nothing to index", hint, **facts))
    return (x, index), axis


def _gather_grad(g: Any, y: Any, x: Any, index: Any) -> tuple[Any, None]:
    axis = y.arg
    if index.shape[axis] == 1:  # one element a line: a comparison fuses, a scatter does not
        size = x.shape[axis]
        index = where(index < 0, index + size, index)
        hit = eq(x.iota_like(axis), minimum(maximum(index, 0), size - 1))
        return where(hit, g, 0.0), None
    return scatter_add(x.zeros_like(), index, g, axis=axis), None


gather = Op(
    "gather", Kind.GATHER,
    "Elements at indices along an axis; negative indices count from the end, others are clamped.",
    types=partial(rules.indexed, "gather"), shape=lambda _, shapes: shapes[1],
    arguments=_gather, grad=_gather_grad,
    reference=lambda np, x, index, axis: np.take_along_axis(x, index, axis),
    samples=Samples(cases=(
        ((5, 3), (4, 3), {"axis": 0}), ((4, 9), (4, 1), {"axis": 1}),
        ((4, 40), (4, 33), {"axis": 1}),
    ), roles=("", "index")),
)  # fmt: skip


def _scatter(base: Any, index: Any, values: Any, axis: int) -> Any:
    axis = axis_in("scatter_add", axis, base.ndim)
    if index.shape != values.shape:
        facts = {"index": index.shape, "values": values.shape}
        raise ShapeError(explain("scatter_add", "one index per value", **facts))
    _gather(base, index, axis)
    return (base, index, values), axis


def _scatter_reference(np: Any, base: Any, index: Any, values: Any, axis: int) -> Any:
    out = np.array(base)
    where_to = list(np.indices(index.shape))
    where_to[axis] = index
    np.add.at(out, tuple(where_to), values)
    return out


scatter_add = Op(
    "scatter_add", Kind.SCATTER, "base with values added at indices along an axis.",
    types=partial(rules.indexed, "scatter_add"), shape=lambda _, shapes: shapes[0],
    arguments=_scatter,
    grad=lambda g, y, base, index, values: (g, None, gather(g, index, axis=y.arg)),
    reference=_scatter_reference,
    samples=Samples(cases=(
        ((5, 3), (4, 3), (4, 3), {"axis": 0}), ((4, 9), (4, 20), (4, 20), {"axis": 1}),
        ((6,), (50,), (50,), {"axis": 0}),
    ), roles=("", "index", "")),
)  # fmt: skip
