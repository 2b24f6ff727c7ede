"""Hypothesis strategies of random graphs, each with its value and how far rounding may move it.

Beside every node a float64 value and a bound of the error of computing in the node's dtype are
carried along, so a wrong result is told from a rounded one without any chosen tolerance. Ops that
jump (comparisons, floor, casts to integers) are put on exact values only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from treadle.backends.reference.eval import evaluate
from treadle.base.dtypes import (
    DType,
    bfloat16,
    bool_,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from treadle.base.shapes import broadcast
from treadle.ir.graph import substitute
from treadle.ir.node import Node, leaf
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops import reduce as r
from treadle.ops.windows import shear
from treadle.testing.arrays import Array, array_type, node_of, unit_roundoff
from treadle.testing.choice import Choice

SIZES = (1, 2, 3, 5, 7, 16, 17, 33)
NARROW = {float16, bfloat16, float8_e4m3fn, float8_e5m2}
DTYPES = (
    *(float32,) * 6, *(float64, float16, bfloat16, int32, int64, uint8, bool_) * 2,
    float8_e4m3fn, float8_e5m2, int8, int16, uint16, uint32, uint64,
)  # fmt: skip
LIMIT = 2000.0  # largest absolute value of a float: nothing overflows in float16
STEPS = 16
MOST_ELEMENTS = 150_000
WHOLE = 1 << 20  # integers below this are floats of 32 bits too
LARGE = (40, 64, 130, 257, 400)  # for graphs that are cut into blocks and shared out


@dataclass
class Value:
    """A node, its value in float64 (integers as they are), and a bound of its error."""

    node: Node
    exact: Array
    error: Array

    @property
    def is_sharp(self) -> bool:
        """Is the computed value known to the last bit?"""
        return not np.any(self.error)


@dataclass
class Graph:
    """Values that were built, and which of them are asked for."""

    values: list[Value] = field(default_factory=list)
    roots: list[Value] = field(default_factory=list)

    def __repr__(self) -> str:
        lines = []
        number = {v.node: n for n, v in enumerate(self.values)}
        for n, v in enumerate(self.values):
            operands = ", ".join(
                f"v{number[x]}" if x in number else str(x) for x in v.node.operands
            )
            lines.append(f"v{n}: {v.node.type} = {v.node.op}({operands}; {v.node.arg})")
        return "\n".join([*lines, "return " + ", ".join(f"v{number[v.node]}" for v in self.roots)])


Step = Callable[["Choice", Value, Graph], "Value | None"]
"""One more op: takes (draw, a value, the graph) and gives a value, or None."""


def recipes(steps: int = STEPS) -> st.SearchStrategy[tuple[int, int]]:
    """(seed, steps) for `graph_of`: fewer steps give the first part of a graph, so it shrinks."""
    return st.tuples(st.integers(0, (1 << 64) - 1), st.integers(2, steps))


def graph_of(seed: int, steps: int, growth: Sequence[Step] | None = None) -> Graph:
    """A graph of up to `steps` ops over one to three leaves, with several roots."""
    graph, draw = Graph(), Choice(seed)
    sizes = draw.one((SIZES,) * 8 + ((*SIZES, 0), LARGE))
    rank = draw.one((1, 2, 2) if sizes is LARGE else (0, 1, 2, 2, 3, 3))
    shape = tuple(draw.one(sizes) for _ in range(rank))
    for _ in range(draw.number(1, 3)):
        own = tuple(1 if draw.number(0, 4) == 0 else n for n in shape)
        graph.values.append(_leaf(draw, own[draw.number(0, len(own)) // 2 :]))
    for _ in range(steps):
        recent = graph.values[-4:] if draw.coin() else graph.values
        grown = draw.one(growth or GROWTH)(draw, draw.one(recent), graph)
        if grown is not None and grown.exact.size <= MOST_ELEMENTS and is_in_range(grown):
            graph.values.append(grown)
    draw.seed(seed)
    graph.roots = [graph.values[-1], *draw.sample(graph.values, draw.number(0, 1))]
    graph.roots += [v for v in graph.values if v.exact.size > 1 and draw.number(0, 9) == 0]
    return graph


def is_in_range(value: Value) -> bool:
    """Is it exact, or a float that no dtype of its kind overflows at?"""
    if not value.node.dtype.is_float:
        return value.is_sharp
    most = min(LIMIT, value.node.dtype.largest)
    return bool(np.all(np.abs(value.exact) + value.error < most))


def _leaf(draw: Choice, shape: tuple[int, ...]) -> Value:
    kind = draw.one(DTYPES)
    rng = np.random.default_rng(draw.number(0, 1 << 16))
    low = 0 if kind.kind == "uint" else -8
    array = (rng.integers(low, 9, shape) / (4 if kind.is_float else 1)).astype(array_type(kind))
    return exact(node_of(array), array)


def exact(node: Node, array: Array) -> Value:
    wide = array.astype(np.float64) if node.dtype.is_float else np.asarray(array)
    return Value(node, wide, np.zeros(wide.shape))


def made(node: Node, operands: list[Value], carried: Array, roundings: float) -> Value:
    """node's value from its operands' exact ones, with the error they carry and its rounding."""
    given = {v.node: v.exact for v in operands}
    (wide,) = by_reference_of(node, given)
    if _rounds_integers(node, operands):
        return Value(node, wide, np.full(wide.shape, np.inf))
    if not node.dtype.is_float:
        return Value(node, wide, np.zeros(wide.shape))
    rounding = 0.0 if fits(wide, node.dtype) and not np.any(carried) else roundings
    least = 2.0 ** (1 - min(node.dtype.bias, float16.bias))  # below, steps stay as they are
    error = carried + rounding * unit_roundoff(node.dtype) * (np.abs(wide) + least)
    return Value(node, wide, np.broadcast_to(error, wide.shape))


def _rounds_integers(node: Node, operands: list[Value]) -> bool:
    """Are integers made floats that cannot hold them? Nothing bounds what follows from that."""
    wide = any(
        v.node.dtype.is_integer and np.any(np.abs(v.exact.astype(np.float64)) >= WHOLE)
        for v in operands
    )
    return wide and any(v.node.dtype.is_float for v in (Value(node, 0, 0), *operands))


def by_reference_of(node: Node, given: dict[Node, Array]) -> list[Array]:
    """node's value in float64, where those of the nodes in given are known."""
    stand_ins = {x: leaf(x.type, v) for x, v in given.items()}
    known_values = {stand_ins[x]: v for x, v in given.items()}
    (root,) = substitute([node], stand_ins)
    return evaluate([root], known_values.__getitem__, precise=True)


def fits(wide: Array, kind: DType) -> bool:
    """Is the exact result a number of the dtype?"""
    with np.errstate(over="ignore"):
        return bool(np.array_equal(wide.astype(array_type(kind)).astype(np.float64), wide))


# ---- steps


def _unary(draw: Choice, x: Value, _: Graph) -> Value | None:
    if x.node.dtype is bool_:
        return None
    return made(draw.one((e.neg, e.abs_))(x.node), [x], x.error, 1)


def _smooth(draw: Choice, x: Value, _: Graph) -> Value:
    op = draw.one((e.sin, e.cos, e.sigmoid, e.erf))
    steepest = 1.2  # derivative of the error function at 0; the others stay below 1
    node = op(x.node)
    return made(node, [x], x.error * steepest + 8 * unit_roundoff(node.dtype), 1)


def _floor(draw: Choice, x: Value, _: Graph) -> Value | None:
    if not x.node.dtype.is_float or not x.is_sharp:
        return None
    return made(e.floor(x.node), [x], x.error, 1)


def _cast(draw: Choice, x: Value, _: Graph) -> Value | None:
    kind = draw.one(DTYPES)
    if not kind.is_float and not x.is_sharp:
        return None
    return made(e.cast(x.node, kind), [x], x.error, 1)


def partner(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """Another value that broadcasts with x."""
    fitting = []
    for other in graph.values:
        try:
            broadcast("", x.node.shape, other.node.shape)
        except ValueError:
            continue
        fitting.append(other)
    return draw.one(fitting) if fitting else None


def _binary(draw: Choice, x: Value, graph: Graph) -> Value | None:
    y = partner(draw, x, graph)
    op = draw.one((e.add, e.sub, e.mul, e.maximum, e.minimum))
    if y is None or (op is e.sub and x.node.dtype is bool_ and y.node.dtype is bool_):
        return None
    node = op(x.node, y.node)
    carried = x.error + y.error
    if op is e.mul:
        a, b = np.abs(x.exact), np.abs(y.exact)
        carried = a * y.error + b * x.error + x.error * y.error
    return made(node, [x, y], carried, 3)  # the operands may be rounded to a common dtype first


def _scaled(draw: Choice, x: Value, _: Graph) -> Value | None:
    number = draw.one((0, 1, 2, -1, 0.5, 0.0, 1.0, -1.0, 3.25))
    op = draw.one((e.add, e.sub, e.mul))
    if x.node.dtype is bool_ or (x.node.dtype.kind == "uint" and number < 0):
        return None
    operands = (x.node, number) if draw.coin() else (number, x.node)
    return made(op(*operands), [x], x.error * max(1.0, abs(number)), 2)


def _comparison(draw: Choice, x: Value, graph: Graph) -> Value | None:
    y = partner(draw, x, graph)
    if y is None or not x.is_sharp or not y.is_sharp:
        return None
    if {x.node.dtype, y.node.dtype} & NARROW and x.node.dtype is not y.node.dtype:
        return None  # one side would be rounded first
    return made(draw.one((e.lt, e.ge, e.eq, e.ne))(x.node, y.node), [x, y], 0.0, 0)


def _choice(draw: Choice, x: Value, graph: Graph) -> Value | None:
    y = partner(draw, x, graph)
    conditions = [v for v in graph.values if v.node.dtype is bool_]
    if y is None or not conditions:
        return None
    condition = draw.one(conditions)
    try:
        node = e.where(condition.node, x.node, y.node)
    except ValueError:
        return None
    return made(node, [condition, x, y], np.maximum(x.error, y.error), 1)


def _reduction(draw: Choice, x: Value, _: Graph) -> Value | None:
    rank = x.exact.ndim
    axes = draw.some(rank)
    op = draw.one((r.sum_, r.max_, r.min_))
    keep = draw.coin()
    if op is not r.sum_ and 0 in x.node.shape:
        return None
    node = op(x.node, axis=axes, keepdims=keep)
    if op is not r.sum_:
        worst = x.error.max(axis=axes, keepdims=keep)
        return made(node, [x], worst, 0)
    total = np.abs(x.exact.astype(np.float64)).sum(axes, keepdims=keep)
    count = max(1, int(np.prod([x.node.shape[a] for a in axes], dtype=int)))
    lost = count * unit_roundoff(node.dtype) * total
    compute = unit_roundoff(node.dtype.compute)
    if x.is_sharp and fits(x.exact * 4, int64) and np.all(total * 4 < 1 / max(compute, 1e-16)):
        lost = np.zeros(total.shape)  # sums of quarters are exact while they fit
    return made(node, [x], x.error.sum(axes, keepdims=keep) + lost, 2)


def _movement(draw: Choice, x: Value, _: Graph) -> Value | None:
    op = draw.one((_permuted, _flipped, _sliced, _padded, _reshaped, _expanded, _sheared))
    node = op(draw, x.node)
    if node is None:
        return None
    (error,) = by_reference_of(node, {x.node: x.error}) if x.node.dtype.is_float else (0.0,)
    filled = node.op in (m.pad, shear)
    return made(node, [x], x.error.max(initial=0) if filled else np.abs(error), 0)


def _permuted(draw: Choice, x: Node) -> Node:
    return m.permute(x, draw.order(x.ndim))


def _flipped(draw: Choice, x: Node) -> Node:
    return m.flip(x, draw.some(x.ndim))


def _sliced(draw: Choice, x: Node) -> Node:
    ranges = []
    for size in x.shape:
        start = draw.number(0, size)
        ranges.append((start, draw.number(start, size), draw.number(1, 3)))
    return m.slice_(x, ranges)


def _padded(draw: Choice, x: Node) -> Node:
    edges = [(draw.number(0, 3), draw.number(0, 3)) for _ in x.shape]
    return m.pad(x, edges, draw.one((0, 1)))


def _sheared(draw: Choice, x: Node) -> Node | None:
    if x.ndim < 2:
        return None
    axis, by = draw.order(x.ndim)[:2]
    size, start = draw.number(0, 9), draw.number(-3, 3)
    return shear(x, axis, by, draw.number(-2, 2), size, start, draw.one((0, 1)))


def _reshaped(draw: Choice, x: Node) -> Node:
    flat = draw.one([(-1,), (1, -1), (-1, 1)]) if x.type.size else x.shape
    pair = [n for n in (2, 3, 4, 6, 7) if x.type.size and x.type.size % n == 0]
    return m.reshape(x, (draw.one(pair), -1) if pair and draw.coin() else flat)


def _expanded(draw: Choice, x: Node) -> Node:
    sizes = tuple(draw.one((1, 3, 17)) if n == 1 else n for n in x.shape)
    return m.expand(x, ((draw.number(1, 4),) if draw.coin() else ()) + sizes)


def _joined(draw: Choice, x: Value, graph: Graph) -> Value | None:
    """x concatenated with itself or a value of its shape."""
    fitting = [v for v in graph.values if v.node.shape == x.node.shape]
    y = draw.one(fitting)
    if not x.exact.ndim:
        return None
    axis = draw.number(0, x.exact.ndim - 1)
    node = m.concat([x.node, y.node], axis=axis)
    return made(node, [x, y], np.concatenate([x.error, y.error], axis), 1)


GROWTH = (
    _unary, _smooth, _smooth, _floor, _cast, _binary, _binary, _binary, _scaled, _comparison,
    _choice, _reduction, _reduction, _reduction, _movement, _movement, _movement, _joined,
)  # fmt: skip


def misses(value: Value, result: Array) -> str:
    """What is wrong with a computed result; empty if it lies within its bound."""
    if result.shape != value.exact.shape:
        return f"shape {result.shape} instead of {value.exact.shape}"
    if not value.node.dtype.is_float:
        wrong = result != value.exact
    else:
        wrong = ~(np.abs(result.astype(np.float64) - value.exact) <= value.error)
    if not np.any(wrong):
        return ""
    at = tuple(np.argwhere(wrong)[0])
    return (f"{int(wrong.sum())} of {wrong.size} wrong, first at {at}: {result[at]} instead of "
            f"{value.exact[at]} ± {value.error[at]:.3g}")  # fmt: skip
