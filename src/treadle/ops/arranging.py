"""Rows that lay tensors out: with more axes, on diagonals, side by side, in all combinations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations as chosen_of
from itertools import combinations_with_replacement, pairwise
from typing import Any

from treadle.base.dtypes import COMPLEX, NUMBERS
from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.base.shapes import axis_in
from treadle.ops.composite import composite, take
from treadle.ops.defs import Op, Samples
from treadle.ops.elementwise import eq, floor_divide, where
from treadle.ops.joining import stack, with_axes
from treadle.ops.movement import concat, cut, flip, pad, permute
from treadle.ops.picking import take_along_axis
from treadle.ops.predicates import logical_not
from treadle.ops.rules import require
from treadle.ops.scan import argsort, cumprod
from treadle.ops.shaping import counting, meshgrid, tensors_in

# ---- at least so many axes


def _atleast(rank: int) -> Op:
    def atleast(*tensors: Any) -> Any:
        found = [with_axes(x, rank) for x in tensors_in(name, tensors)]
        return found if len(found) != 1 or isinstance(tensors[0], list | tuple) else found[0]

    def reference(np: Any, xs: Any) -> Any:
        return [getattr(np, name)(x) for x in xs]

    name = f"atleast_{rank}d"
    atleast.__name__ = name
    few = "axis" if rank == 1 else "axes"
    atleast.__doc__ = f"Each tensor with at least {rank} {few}, new ones of size 1; one, or a list."
    samples = Samples(
        cases=(((), (4,), {}), ((2, 3), {}), ((2, 1, 3), (2,), {})), listed=True
    )  # fmt: skip
    return composite(reference, samples, inline=True)(atleast)


atleast_1d, atleast_2d, atleast_3d = (_atleast(rank) for rank in (1, 2, 3))


@composite(
    lambda np, xs: np.column_stack(xs),
    Samples(cases=(((3,), (3,), {}), ((3, 2), (3,), {}), ((), (), {})), listed=True), inline=True,
)  # fmt: skip
def column_stack(tensors: Sequence[Any], /) -> Any:
    """Tensors beside each other along the second axis, a vector being a column."""
    found = tensors_in("column_stack", [tensors])
    columns = [x.reshape((math.prod(x.shape), 1)) if x.ndim < 2 else x for x in found]
    return concat(columns, axis=1)


# ---- like another, turned


ALIKE = Samples(cases=(((3, 1), (3, 4), {}), ((), (2,), {}), ((4,), (2, 4), {})))


@composite(lambda np, x, y: np.broadcast_to(x, y.shape), ALIKE, inline=True)
def expand_as(x: Any, other: Any, /) -> Any:
    """x broadcast to the shape of another."""
    return x.expand(other.shape)


@composite(
    lambda np, x, y: x.reshape(y.shape),
    Samples(cases=(((3, 4), (2, 6), {}), ((4,), (2, 2), {}), ((1,), (), {}))), inline=True,
    aliases=("reshape_as",),
)  # fmt: skip
def view_as(x: Any, other: Any, /) -> Any:
    """The elements of x under the shape of another."""
    return x.reshape(other.shape)


@composite(lambda np, x: np.fliplr(x), Samples(cases=(((3, 4), {}), ((2, 3, 2), {}))), inline=True)
def fliplr(x: Any, /) -> Any:
    """The order of the columns turned round: along axis 1."""
    axis_in("fliplr", 1, x.ndim)
    return flip(x, 1)


@composite(lambda np, x: np.flipud(x), Samples(cases=(((3, 4), {}), ((5,), {}))), inline=True)
def flipud(x: Any, /) -> Any:
    """The order of the rows turned round: along axis 0."""
    axis_in("flipud", 0, x.ndim)
    return flip(x, 0)


def _along_dim(np: Any, x: Any, index: Any, axis: int | None = None) -> Any:
    flat = axis is None
    return np.take_along_axis(x.reshape(-1) if flat else x, index.reshape(-1) if flat else index,
                              0 if flat else axis)  # fmt: skip


@composite(
    _along_dim, Samples(cases=(
        ((3, 5), (3, 2), {"axis": 1}), ((5, 3), (4, 1), {"axis": 0}), ((4, 5), (2, 3), {}),
    ), roles=("", "index")), inline=True,
)  # fmt: skip
def take_along_dim(x: Any, indices: Any, /, axis: int | None = None) -> Any:
    """take_along_axis, or without an axis the elements of flattened x at flattened indices."""
    if axis is None:
        return take_along_axis(x.reshape(-1), indices.reshape(-1), 0)
    return take_along_axis(x, indices, axis)


# ---- diagonals


def _embedded(np: Any, x: Any, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    size = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], size, size), x.dtype)
    rows = np.arange(x.shape[-1]) + max(0, -offset)
    out[..., rows, rows + offset] = x
    return np.moveaxis(out, (-2, -1), (axis1, axis2))


@composite(
    _embedded, Samples(cases=(
        ((4,), {}), ((2, 3), {"offset": 1}), ((2, 3), {"offset": -2, "axis1": 0, "axis2": 2}),
        ((3, 2), {"axis1": -1, "axis2": 0}), ((0,), {"offset": 1}),
    )), inline=True,
)  # fmt: skip
def diag_embed(x: Any, /, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    """The last axis as a diagonal of two axes of the result, zeros beside it."""
    if not x.shape:
        raise ShapeError(explain("diag_embed", "needs an axis", "x.reshape(1)"))
    rows, columns = (axis_in("diag_embed", axis, x.ndim + 1) for axis in (axis1, axis2))
    if rows == columns:
        raise ShapeError(explain("diag_embed", "needs two axes", axis1=axis1, axis2=axis2))
    below, above = max(0, -offset), max(0, offset)
    size = x.shape[-1] + abs(offset)
    line = counting(x, size)
    hit = eq(line.reshape((1, size)) - line.reshape((size, 1)), offset)
    edges = [(0, 0)] * (x.ndim - 1)
    values = pad(x, [*edges, (below, above)]).reshape((*x.shape[:-1], size, 1))
    made = where(hit, values, values.zeros_like())
    rest = iter(range(x.ndim - 1))
    own = {rows: x.ndim - 1, columns: x.ndim}
    return permute(made, tuple(own[k] if k in own else next(rest) for k in range(x.ndim + 1)))


@composite(
    lambda np, x, offset=0: np.diagflat(x, offset),
    Samples(cases=(((2, 3), {}), ((4,), {"offset": -1}), ((), {"offset": 2}))), inline=True,
)  # fmt: skip
def diagflat(x: Any, /, offset: int = 0) -> Any:
    """A matrix with the elements of x on a diagonal."""
    return diag_embed(x.reshape((math.prod(x.shape),)), offset)


def _blocks(np: Any, xs: Any) -> Any:
    blocks = [np.atleast_2d(x) for x in xs]
    out = np.zeros(np.sum([b.shape for b in blocks], 0), np.result_type(*blocks))
    row = column = 0
    for b in blocks:
        out[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return out


@composite(
    _blocks, Samples(cases=(
        ((2, 3), (1, 2), {}), ((3,), (), (2, 2), {}), ((2, 2), {}), ((2, 0), (1, 2), {}),
    ), listed=True), inline=True,
)  # fmt: skip
def block_diag(*tensors: Any) -> Any:
    """Matrices one after the other along the diagonal of one matrix; vectors are rows."""
    found = tensors_in("block_diag", tensors)
    if not found:
        raise ArgumentError(explain("block_diag", "needs at least one tensor"))
    blocks = [with_axes(x, 2) for x in found]
    for x in blocks:
        if x.ndim != 2:
            raise ShapeError(explain("block_diag", "a block is a matrix", shape=x.shape))
    width, before, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        rows.append(pad(x, [(0, 0), (before, width - before - x.shape[1])]))
        before += x.shape[1]
    return concat(rows, axis=0)


# ---- all combinations, all powers


@composite(
    lambda np, xs: np.stack([x.ravel() for x in np.meshgrid(*xs, indexing="ij")], -1),
    Samples(cases=(((3,), (4,), {}), ((2,), (1,), (3,), {}), ((0,), (2,), {})), listed=True),
    inline=True,
)
def cartesian_prod(*tensors: Any) -> Any:
    """Every choice of one element of each vector, a row for each choice; of one vector, itself."""
    found = tensors_in("cartesian_prod", tensors)
    if not found or any(x.ndim != 1 for x in found):
        shapes = [x.shape for x in found]
        raise ShapeError(explain("cartesian_prod", "needs vectors", shapes=shapes))
    if len(found) == 1:
        return found[0]
    grid = stack(meshgrid(*found, indexing="ij"), axis=-1)
    return grid.reshape((math.prod(grid.shape[:-1]), len(found)))


def _combined(np: Any, x: Any, r: int = 2, with_replacement: bool = False) -> Any:
    choose = combinations_with_replacement if with_replacement else chosen_of
    rows = list(choose(range(len(x)), r))
    return x[np.array(rows, int).reshape(len(rows), r)]


@composite(
    _combined, Samples(cases=(
        ((5,), {}), ((4,), {"r": 3}), ((3,), {"with_replacement": True}), ((2,), {"r": 3}),
        ((4,), {"r": 1}), ((0,), {}),
    )), inline=True,
)  # fmt: skip
def combinations(x: Any, /, r: int = 2, with_replacement: bool = False) -> Any:
    """Every choice of r elements of a vector in their order, a row for each choice.

    with_replacement: an element may be chosen several times.
    """
    if x.ndim != 1 or r < 0:
        raise ArgumentError(explain("combinations", "r elements of a vector", shape=x.shape, r=r))
    size = x.shape[0]
    count = math.comb(size + r - 1, r) if with_replacement and r and size else math.comb(size, r)
    if not r or not count:
        return cut(x, 0, 0, 0).reshape((0, r))
    number = counting(x, size**r)
    places = [floor_divide(number, size ** (r - 1 - k)) % size for k in range(r)]
    chosen = eq(number, number)
    for left, right in pairwise(places):
        chosen = chosen & ((left <= right) if with_replacement else (left < right))
    rows = cut(argsort(logical_not(chosen), axis=0), 0, 0, count)  # those chosen come first
    return stack([take(x, take(place, rows, axis=0), axis=0) for place in places], axis=1)


@composite(
    lambda np, x, **options: np.vander(x, **options),
    Samples(cases=(
        ((4,), {}), ((3,), {"N": 5}), ((5,), {"N": 2, "increasing": True}), ((3,), {"N": 0}),
        ((3,), {"N": 1}),
    ), low=-2.0, high=2.0),
)  # fmt: skip
def vander(x: Any, /, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803
    """The powers of each element of a vector, a row for each: falling to 0, or rising from it.

    N: how many; as many as there are elements if left out.
    """
    require("vander", [x.dtype], NUMBERS + COMPLEX)
    if x.ndim != 1:
        raise ShapeError(explain("vander", "needs a vector", shape=x.shape))
    size = x.shape[0]
    count = size if N is None else N
    if count < 0:
        raise ArgumentError(explain("vander", "a number of powers is not negative", N=N))
    factors = x.reshape((size, 1)).expand((size, max(0, count - 1)))
    ones = cut(x.reshape((size, 1)), 1, 0, min(1, count)).zeros_like() + 1
    powers = cumprod(concat([ones, factors], axis=1), axis=1)
    return powers if increasing else flip(powers, 1)
