"""Rows of the ops that move elements: views as index functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, pairwise
from operator import index
from typing import Any

from treadle.base.dtypes import DType
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import Shape, axes_in, axis_in, fill_reshape, sizes_in
from treadle.base.sizes import Size, least
from treadle.ops import rules
from treadle.ops.defs import Kind, Op, Samples
from treadle.ops.reduce import sum_

Pair = tuple[int, int]


def movement(name: str, doc: str, **row: Any) -> Op:
    """A row whose result has the dtype of its operand."""
    return Op(name, Kind.MOVEMENT, doc, types=partial(rules.any_dtype, name), flops=0.0, **row)


def sizes_of(first: Any, *more: int) -> Sequence[int]:
    """Sizes or axes passed as one sequence or one by one."""
    return first if not more and isinstance(first, tuple | list) else (first, *more)


# ---- reshape, permute, expand


def _reshape(x: Any, shape: int | Sequence[int], *sizes: int, copy: bool | None = None) -> Any:
    """copy is part of the standard: no tensor changes with another here, so any answer is right."""
    return (x,), fill_reshape("reshape", x.shape, sizes_of(shape, *sizes))


reshape = movement(
    "reshape", "The same elements in row-major order under another shape; -1 is worked out.",
    shape=lambda arg, _: arg, arguments=_reshape,
    grad=lambda g, y, x: (g.reshape(x.shape),),
    reference=lambda np, x, *shape: np.reshape(x, sizes_of(*shape)), aliases=("view",),
    samples=Samples(cases=(((2, 6), (3, 4)), ((2, 3, 4), (-1,)), ((1,), ((),)), ((0, 3), (3, 0)))),
)  # fmt: skip


def _permute(x: Any, axes: int | Sequence[int], *more: int) -> Any:
    chosen = tuple(axis_in("permute", axis, x.ndim) for axis in sizes_of(axes, *more))
    if sorted(chosen) != list(range(x.ndim)):
        hint = f"name each of {x.ndim} axes once"
        raise ShapeError(explain("permute", "not a permutation", hint, axes=chosen))
    return (x,), chosen


def inverse(axes: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes axes."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


permute = movement(
    "permute", "The axes in another order.",
    shape=lambda arg, shapes: tuple(shapes[0][axis] for axis in arg), arguments=_permute,
    grad=lambda g, y, x: (g.permute(inverse(y.arg)),),
    reference=lambda np, x, *axes: np.transpose(x, sizes_of(*axes)), aliases=("permute_dims",),
    samples=Samples(cases=(((2, 3), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((17, 35), (1, 0)))),
)  # fmt: skip


def _expand(x: Any, shape: int | Sequence[int], *more: int) -> Any:
    target = sizes_in("expand", sizes_of(shape, *more))
    lead = len(target) - x.ndim
    sizes = (1,) * lead + x.shape
    if -1 in target[max(lead, 0) :]:  # the size it has
        kept = zip(x.shape, target[max(lead, 0) :], strict=False)
        target = (*target[: max(lead, 0)], *[own if n == -1 else n for own, n in kept])
    changed = [(own, n) for own, n in zip(sizes, target, strict=False) if own != n]
    if lead < 0 or [n for own, n in changed if own != 1 or n < 0]:
        hint = "sizes must be equal or 1, counted from the last axis; -1 keeps the size of an axis"
        raise ShapeError(explain("expand", "cannot", hint, shape=x.shape, target=target))
    return (x,), target


def summed_to(g: Any, shape: Shape) -> Any:
    """g summed over the axes along which shape was broadcast: the cotangent of a broadcast."""
    if g.shape == shape:
        return g
    lead = len(g.shape) - len(shape)
    axes = tuple(
        axis for axis, size in enumerate(g.shape)
        if axis < lead or (shape[axis - lead] == 1 and size != 1)
    )  # fmt: skip
    return sum_(g, axis=axes, keepdims=True).reshape(shape) if axes else g.reshape(shape)


expand = movement(
    "expand", "Broadcast to a shape: size-1 axes repeat their element.",
    shape=lambda arg, _: arg, arguments=_expand, grad=lambda g, y, x: (summed_to(g, x.shape),),
    reference=lambda np, x, *shape: np.broadcast_to(x, sizes_of(*shape)), aliases=("broadcast_to",),
    samples=Samples(cases=(((3, 1), (3, 4)), ((1,), (2, 3, 5)), ((2, 1, 3), (2, 0, 3)))),
)  # fmt: skip


# ---- slice, pad, flip, concat


def _slice(x: Any, ranges: Sequence[tuple[int, int, int]]) -> Any:
    ranges = tuple((start, stop, step) for start, stop, step in ranges)
    for (start, stop, step), size in zip(ranges, x.shape, strict=True):
        if step < 1 or not 0 <= start <= max(stop, start) <= max(size, start):
            hint = "0 <= start <= stop <= size and step >= 1; flip reverses"
            raise ArgumentError(explain("slice", "bad range", hint, ranges=ranges, shape=x.shape))
    return (x,), ranges


def _slice_shape(arg: Any, _: Any) -> Shape:
    return tuple(max(0, -(-(stop - start) // step)) for start, stop, step in arg)


def dilated(x: Any, axis: int, step: int) -> Any:
    """x with step - 1 zeros behind every element along an axis."""
    if step == 1:
        return x
    wide = x.reshape((*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]))
    edges = [(0, 0)] * wide.ndim
    edges[axis + 1] = (0, step - 1)
    return pad(wide, edges).reshape((*x.shape[:axis], x.shape[axis] * step, *x.shape[axis + 1 :]))


def placed(g: Any, ranges: Sequence[tuple[int, int, int]], shape: Shape) -> Any:
    """Zeros of a shape with g at ranges: what slice undoes."""
    for axis, (_, _, step) in enumerate(ranges):
        g = dilated(g, axis, step)
    fit = []
    for (start, _, _), total, size in zip(ranges, shape, g.shape, strict=True):
        fit.append((start, total - start - size))
    kept = [(0, size + min(0, after), 1) for (_, after), size in zip(fit, g.shape, strict=True)]
    edges = [(n, after if least(after) >= 0 else max(0, after)) for n, after in fit]
    return pad(slice_(g, kept), edges)


slice_ = movement(
    "slice", "A range (start, stop, step) of every axis; steps are positive.",
    shape=_slice_shape, arguments=_slice, grad=lambda g, y, x: (placed(g, y.arg, x.shape),),
    reference=lambda np, x, ranges: x[tuple(slice(*r) for r in ranges)],
    samples=Samples(cases=(
        ((5, 7), (((1, 4, 1), (0, 7, 1)),)), ((5, 7), (((0, 5, 2), (1, 7, 3)),)),
        ((6,), (((2, 2, 1),),)), ((40,), (((3, 37, 1),),)),
    )),
)  # fmt: skip


def fill_of(op: str, dtype: DType, value: complex) -> complex:
    """The number put where there is no element, as the dtype holds it."""
    if dtype.is_complex:
        return complex(*[fill_of(op, dtype.part, part) for part in (value.real, value.imag)])
    if isinstance(value, complex) or (
        dtype.is_integer and not dtype.least <= value <= dtype.greatest
    ):
        raise ArgumentError(explain(op, "the value does not fit", value=value, dtype=dtype.name))
    if dtype.is_float:
        return math.nan if value != value else value + 0.0  # numbers that are equal are one
    return bool(value) if dtype.kind == "bool" else int(value)


def _count(n: Any) -> Any:
    return n if isinstance(n, Size) else index(n)


def _pad(x: Any, edges: int | Sequence[Pair], value: float = 0, mode: str = "constant") -> Any:
    given = [(edges, edges)] * x.ndim if isinstance(edges, int) else edges
    try:
        pairs = tuple((_count(before), _count(after)) for before, after in given)
    except (TypeError, ValueError):
        pairs = ()
    if len(pairs) != x.ndim:
        hint = "a number, or one (before, after) pair per axis"
        raise ArgumentError(explain("pad", "bad edges", hint, edges=given, shape=x.shape))
    if mode not in MODES:
        hint = f"one of {', '.join(MODES)}"
        raise ArgumentError(explain("pad", "no such mode", hint, mode=repr(mode)))
    if any(n < 0 for edge in pairs for n in edge):
        if mode == "reflect":  # at the ends that x had
            wider = tuple((max(0, before), max(0, after)) for before, after in pairs)
            away = tuple((min(0, before), min(0, after)) for before, after in pairs)
            return _cropped(pad(x, wider, mode=mode), away)[0]
        x, pairs = _cropped(x, pairs)
    if mode == "constant":
        return (x,), (pairs, fill_of("pad", x.dtype, value))
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            x = _surrounded(x, axis, before, after, mode)
    return x


def _cropped(x: Any, edges: tuple[Pair, ...]) -> tuple[Any, tuple[Pair, ...]]:
    """x without what negative edges take away, and the edges that are left."""
    kept = [(max(0, -b), n + min(0, a), 1) for (b, a), n in zip(edges, x.shape, strict=True)]
    if any(start > stop for start, stop, _ in kept):
        hint = "negative edges take elements away"
        raise ArgumentError(explain("pad", "not that many", hint, edges=edges, shape=x.shape))
    return slice_(x, kept), tuple((max(0, b), max(0, a)) for b, a in edges)


def _pad_grad(g: Any, y: Any, x: Any) -> tuple[Any]:
    inside = [(b, b + size, 1) for (b, _), size in zip(y.arg[0], x.shape, strict=True)]
    return (slice_(g, inside),)


MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""Ways to fill a border, and what NumPy calls them."""


def _surrounded(x: Any, axis: int, before: int, after: int, mode: str) -> Any:
    """x continued along an axis by its own elements."""
    size = x.shape[axis]
    if not size:
        hint = "only mode 'constant' makes elements from nothing"
        raise ArgumentError(explain("pad", "an axis is empty", hint, shape=x.shape, axis=axis))
    if mode == "replicate" or size == 1:
        ends = (cut(x, axis, 0, 1), before), (cut(x, axis, size - 1, size), after)
        first, last = (
            end.expand((*x.shape[:axis], count, *x.shape[axis + 1 :])) for end, count in ends
        )
        return concat([first, x, last], axis=axis)
    ring = x
    if mode == "reflect" and size > 2:  # there and back, the ends once
        ring = concat([x, flip(cut(x, axis, 1, size - 1), axis)], axis=axis)
    length = ring.shape[axis]
    turns = -(-before // length)
    rounds = concat([ring] * (turns - (-(size + after) // length)), axis=axis)
    start = turns * length - before
    return cut(rounds, axis, start, start + before + size + after)


def cut(x: Any, axis: int, start: int, stop: int) -> Any:
    """A range of one axis."""
    ranges = [(0, n, 1) for n in x.shape]
    ranges[axis] = (start, stop, 1)
    return slice_(x, ranges)


def _pad_reference(np: Any, x: Any, edges: Any, value: Any = 0, mode: str = "constant") -> Any:
    if mode == "reflect" and np.min(edges) < 0:
        x = np.pad(x, np.maximum(edges, 0), mode)
        edges = np.minimum(edges, 0)
    if np.min(edges) < 0:
        pairs = [(max(0, -b), min(0, a) or None) for b, a in edges]
        x = x[tuple(slice(*pair) for pair in pairs)]
        edges = np.maximum(edges, 0)
    fill = {"constant_values": value} if mode == "constant" else {}
    return np.pad(x, edges, MODES[mode], **fill)


pad = movement(
    "pad", "A border, (before, after) for every axis: of one value, or as mode continues x; "
    "negative edges take elements away.",
    shape=lambda arg, s: tuple(b + n + a for (b, a), n in zip(arg[0], s[0], strict=True)),
    arguments=_pad, grad=_pad_grad, reference=_pad_reference,
    samples=Samples(cases=(
        ((3, 4), (((1, 2), (0, 3)),)), ((20,), (((5, 0),), 2.5)), ((0, 2), (((1, 1), (0, 0)),)),
        ((3, 4), (2,)), ((5, 6), (((-1, 2), (3, -2)),)),
        ((5, 4), (((-2, 2), (0, 3)), 0, "reflect")),
        *(((3, 4), (((1, 2), (5, 3)), 0, mode)) for mode in MODES),
        *(((2, 1), (((3, 1), (2, 0)), 0, mode)) for mode in MODES),
    )),
)  # fmt: skip


def _flip(x: Any, axis: int | Sequence[int] | None = None, *more: int) -> Any:
    return (x,), axes_in("flip", (axis, *more) if more else axis, x.ndim)  # type: ignore[arg-type]


flip: Op = movement(
    "flip", "The elements in reverse order along axes; these as one tuple or one by one.",
    shape=lambda _, shapes: shapes[0], arguments=_flip,
    grad=lambda g, y, x: (flip(g, y.arg),), reference=lambda np, x, axis=None: np.flip(x, axis),
    samples=Samples(cases=(((3, 5), ()), ((3, 37), (1,)), ((3, 5), ((0,),)))),
)  # fmt: skip


def _concat(tensors: Sequence[Any], axis: int | None = 0) -> Any:
    operands = tuple(tensors if axis is not None else (t.reshape(-1) for t in tensors))
    if not operands:
        raise ArgumentError(explain("concat", "needs at least one tensor"))
    axis = axis_in("concat", axis or 0, operands[0].ndim)
    rest = {(*t.shape[:axis], *t.shape[axis + 1 :]) for t in operands}
    if len(rest) > 1 or len({t.ndim for t in operands}) > 1:
        shown = " and ".join(str(t.shape) for t in operands)
        hint = f"all sizes but those of axis {axis} must be equal"
        raise ShapeError(explain("concat", "shapes do not fit", hint, shapes=shown))
    return operands, axis


def _concat_shape(axis: int, shapes: Sequence[Shape]) -> Shape:
    total = sum(shape[axis] for shape in shapes)
    return (*shapes[0][:axis], total, *shapes[0][axis + 1 :])


def _concat_grad(g: Any, y: Any, *operands: Any) -> tuple[Any, ...]:
    ends = list(accumulate(x.shape[y.arg] for x in operands))
    return tuple(cut(g, y.arg, *edge) for edge in pairwise((0, *ends)))


concat = movement(
    "concat", "Tensors joined along an axis; None joins all their elements.",
    shape=_concat_shape, arguments=_concat, grad=_concat_grad,
    reference=lambda np, xs, axis=0: np.concatenate(xs, axis),
    samples=Samples(cases=(
        ((2, 3), (4, 3), {"axis": 0}), ((2, 3), (2, 40), (2, 0), {"axis": 1}),
    ), listed=True), aliases=("cat", "concatenate"),
)  # fmt: skip
