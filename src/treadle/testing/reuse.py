"""Random graphs whose results may be written over what they are computed from, and may not.

Elements meet others of their row, of the next row, and totals over any axes, beside products whose
epilogues read what a product before has made.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treadle.base.dtypes import bfloat16, float32, float64
from treadle.ir.node import Node
from treadle.ops import contract as k
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops import reduce as r
from treadle.testing.arrays import Array, array_type, node_of, unit_roundoff
from treadle.testing.choice import Choice
from treadle.testing.growth import EVERY
from treadle.testing.strategies import (
    GROWTH,
    Graph,
    Step,
    Value,
    by_reference_of,
    exact,
    is_in_range,
    made,
)  # fmt: skip

MOST_ELEMENTS = 150


def _weighed(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """A product of x's own shape, with weights of its own or another value as weights."""
    if x.exact.ndim < 2 or not x.node.dtype.is_float or not x.exact.size:
        return None
    *_, height, width = x.node.shape
    if height == width and draw.coin():
        return _multiplied(x, _mate(draw, x, graph) or x)
    rng = np.random.default_rng(draw.number(0, 999))
    array = (rng.integers(-2, 3, (width, width)) / 4).astype(array_type(x.node.dtype))
    return _multiplied(x, exact(node_of(array), array))


def _multiplied(x: Value, y: Value) -> Value:
    node = k.matrix_product(x.node, y.node)
    a, b = np.abs(x.exact), np.abs(y.exact)
    lost = (x.node.shape[-1] + 2) * unit_roundoff(node.dtype) * (a @ b)
    return made(node, [x, y], x.error @ b + a @ y.error + x.error @ y.error + lost, 2)


def _mate(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """x or a value like it, if it has elements to meet."""
    if not x.exact.ndim or not x.exact.size or not x.node.dtype.is_float:
        return None
    return draw.one([x, x, *(v for v in graph.values[-4:] if v.node.type is x.node.type)])


def _met(draw: Choice, x: Value, y: Value, view: Node, error: Array, *at: Value) -> Value:
    """x minus other elements of y, with or without y's own."""
    node, carried = e.sub(x.node, view), x.error + error
    if draw.coin():
        node, carried = e.add(node, y.node), carried + y.error
    return made(node, [x, y, *at], carried, 6)


def _moved(y: Value, view: Node) -> Array:
    return np.abs(by_reference_of(view, {y.node: y.error})[0])


def _against_one(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """Every element with one of its row, of its column, or of any other part."""
    y = _mate(draw, x, graph)
    if y is None:
        return None
    places = [draw.number(0, n - 1) for n in y.node.shape]
    ranges = [(i, i + 1, 1) if draw.coin() else (0, n, 1)
              for i, n in zip(places, y.node.shape, strict=True)]  # fmt: skip
    view = m.slice_(y.node, ranges)
    return _met(draw, x, y, view, _moved(y, view))


def _against_turned(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """Every element with the one at its place from the end."""
    y = _mate(draw, x, graph)
    if y is None:
        return None
    view = m.flip(y.node, draw.some(y.exact.ndim) or (y.exact.ndim - 1,))
    return _met(draw, x, y, view, _moved(y, view))


def _against_next(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """Every element with one of the next row, or of the one before."""
    y = _mate(draw, x, graph)
    if y is None:
        return None
    view = _next(draw, y, draw.number(0, y.exact.ndim - 1), draw.some(y.exact.ndim))
    return _met(draw, x, y, view, _moved(y, view))


def _next(draw: Choice, y: Value, axis: int, single: Sequence[int]) -> Node:
    """y moved by one along an axis; of some others, one element."""
    back = draw.coin()
    ranges, edges = [], []
    for n, size in enumerate(y.node.shape):
        start = draw.number(0, size - 1)
        ranges.append((start, start + 1, 1) if n in single else (0, size, 1))
        if n == axis:
            ranges[-1] = (0, size - 1, 1) if back else (1, size, 1)
        edges.append(((1, 0) if back else (0, 1)) if n == axis else (0, 0))
    return m.pad(m.slice_(y.node, ranges), edges, 0)


def _against_rows(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """Every element with the largest of its row and one of the next, which may lie in between."""
    y = _mate(draw, x, graph)
    if y is None or y.exact.ndim < 2:
        return None
    axis = draw.number(0, y.exact.ndim - 1)
    axes = tuple(n for n in range(y.exact.ndim) if n != axis)
    largest = r.max_(y.node, axis=axes, keepdims=True)
    view = _next(draw, y, axis, axes)
    error = y.error.max(axis=axes, keepdims=True) + _moved(y, view)
    return _met(draw, x, y, e.add(largest, view), error)


def _against_most(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """Every element with the largest along some axes: those between others too."""
    y = _mate(draw, x, graph)
    if y is None:
        return None
    axes = draw.some(y.exact.ndim)
    view = r.max_(y.node, axis=axes, keepdims=True)
    return _met(draw, x, y, view, y.error.max(axis=axes, keepdims=True))


def _against_chosen(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """Every element with one of its line that is looked up."""
    y = _mate(draw, x, graph)
    if y is None:
        return None
    axis = draw.number(0, y.exact.ndim - 1)
    shape = tuple(1 if n == axis else size for n, size in enumerate(y.node.shape))
    rng = np.random.default_rng(draw.number(0, 999))
    index = rng.integers(0, y.node.shape[axis], shape)
    view = k.gather(y.node, node_of(index), axis=axis)
    error = np.take_along_axis(y.error, index, axis)
    return _met(draw, x, y, view, error, exact(view.operands[1], index))


def _box(draw: Choice, sizes: Sequence[int], shape: Sequence[int]) -> list[tuple[int, int, int]]:
    """A range of every axis that holds so many elements."""
    found = []
    for size, n in zip(sizes, shape, strict=True):
        step = draw.number(1, (n - 1) // (size - 1)) if size > 1 else 1
        last = (size - 1) * step
        start = draw.number(0, n - 1 - last)
        found.append((start, start + last + 1, step))
    return found


def _into_box(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """A box of x with elements of another box, of x itself or of a value like it."""
    y = _mate(draw, x, graph)
    if y is None:
        return None
    sizes = [draw.number(1, n) for n in x.node.shape]
    there, here = (_box(draw, sizes, x.node.shape) for _ in range(2))
    node = k.put(x.node, m.slice_(y.node, there), here, stays=draw.number(0, 3) > 0)
    error = x.error.copy()
    error[tuple(slice(*r) for r in here)] = y.error[tuple(slice(*r) for r in there)]
    return made(node, [x, y], error, 0)


def _into_lines(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """Slices of x along an axis replaced by others, where indices say; the last one stays."""
    y = _mate(draw, x, graph)
    if y is None:
        return None
    axis = draw.number(0, x.exact.ndim - 1)
    rng, size = np.random.default_rng(draw.number(0, 999)), x.node.shape[axis]
    index = rng.integers(-size, size, x.node.shape)
    node = k.scatter(x.node, node_of(index), y.node, axis=axis)
    error = x.error.copy()
    for at in np.ndindex(*index.shape):
        error[(*at[:axis], index[at], *at[axis + 1 :])] = y.error[at]
    return made(node, [x, y, exact(node.operands[1], index)], error, 0)


MEETING: tuple[Step, ...] = (
    _against_one, _against_one, _against_turned, _against_next, _against_chosen, _against_most,
    _against_rows, _against_rows, _into_box, _into_box, _into_lines,
)  # fmt: skip
KINDS = (*(float32,) * 4, *(float64,) * 2, bfloat16)
SIZES = (1, 2, 3, 3, 4, 5, 6, 8)


def plan_of(seed: int, layers: int) -> Graph:
    """A small graph over two leaves of one shape that asks for little but its last value.

    Products lie in memory, and what follows each of them may be written over it.
    """
    graph, draw = Graph(), Choice(seed)
    shape = tuple(draw.one(SIZES) for _ in range(draw.number(2, 4)))
    kind = draw.one(KINDS)
    for _ in range(2):
        rng = np.random.default_rng(draw.number(0, 999))
        array = (rng.integers(-8, 9, shape) / 4).astype(array_type(kind))
        graph.values.append(exact(node_of(array), array))
    for _ in range(layers):
        steps = [_weighed, *(draw.one(MEETING) for _ in range(draw.number(0, 2)))]
        for step in steps if draw.number(0, 4) else [draw.one(draw.one((GROWTH, EVERY)))]:
            x = draw.one(graph.values) if draw.number(0, 5) == 0 else graph.values[-1]
            grown = step(draw, x, graph)
            if grown is not None and grown.exact.size <= MOST_ELEMENTS and is_in_range(grown):
                graph.values.append(grown)
    graph.roots = graph.values[-1:]
    return graph


def stateful(graph: Graph, seed: int) -> tuple[list[Value], dict[int, Node]]:
    """The roots and some more, and by the number of a root the leaf that it takes the place of."""
    draw, roots = Choice(seed), list(graph.roots)
    replaced: dict[int, Node] = {}
    for value in graph.values[:2]:
        fitting = [v for v in graph.values if v.node.type is value.node.type]
        for _ in range(draw.one((0, 0, 0, 1, 1, 2))):  # two tensors may share a value
            replaced[len(roots)] = value.node
            roots.append(draw.one(fitting))
    return roots, replaced
