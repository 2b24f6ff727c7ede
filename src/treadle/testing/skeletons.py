"""Random graphs without values: dense in what makes kernels wait for each other, quick to plan.

All values have one of two shapes, so that nearly everything could join nearly everything, but for
orders, running totals, products and reads at computed indices in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treadle.autograd.backward import gradients
from treadle.base.dtypes import DType, float32, int64
from treadle.base.errors import GradientError
from treadle.base.shapes import Shape
from treadle.ir.node import Node, placeholder, type_of
from treadle.ops import contract as k
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops import ordering, scan
from treadle.ops import reduce as r
from treadle.testing.choice import Choice

SHAPES = ((17, 8), (80, 6), (5, 70), (3, 9, 4), (12, 12))


class Skeleton:
    """A graph under construction over leaves that have no values."""

    def __init__(self, seed: int, steps: int) -> None:
        self.draw = Choice(seed)
        self.shape: Shape = self.draw.one(SHAPES)
        self.leaves = [_given(self.shape, float32) for _ in range(3)]
        self.values = list(self.leaves)
        for _ in range(steps):
            self.values.append(self.draw.one(STEPS)(self, self.pick()))

    def pick(self) -> Node:
        """A value of the common shape: one of the last, or any."""
        return self.draw.one(self.values[-5:] if self.draw.coin() else self.values)

    def axis(self) -> int:
        """Any axis."""
        return self.draw.number(0, len(self.shape) - 1)

    def index(self, axis: int) -> Node:
        """Places along an axis, given or computed."""
        if self.draw.coin():
            return scan.argsort(self.pick(), axis=axis)
        if self.draw.coin():
            return e.cast(self.pick(), int64)
        return _given(self.shape, int64)

    def roots(self) -> list[Node]:
        """The last value, some others, and the gradients of their total by the leaves."""
        found = [self.values[-1], *self.draw.sample(self.values[3:], self.draw.number(0, 2))]
        total = r.sum_(found[0])
        for x in found[1:]:
            total = total + r.sum_(x * x)
        try:
            slopes: Sequence[Node | None] = gradients([total], self.leaves, [None])
        except GradientError:
            slopes = []
        kept = found[: self.draw.number(0, len(found))]
        asked = [total, *kept, *(x for x in slopes if x is not None)]
        return self.draw.sample(asked, len(asked))


def _given(shape: Shape, kind: DType) -> Node:
    return placeholder(type_of(shape, kind))


def _map(g: Skeleton, x: Node) -> Node:
    return g.draw.one((e.exp, e.sin, e.neg, e.sqrt))(x)


def _pair(g: Skeleton, x: Node) -> Node:
    return g.draw.one((e.add, e.mul, e.sub, e.maximum))(x, g.pick())


def _total(g: Skeleton, x: Node) -> Node:
    axes = g.draw.some(x.ndim) or (g.axis(),)
    return g.pick() * g.draw.one((r.sum_, r.max_))(x, axis=axes, keepdims=True)


def _row(g: Skeleton, x: Node) -> Node:
    axis = g.axis()
    ranges = [(0, 1 if n == axis else size, 1) for n, size in enumerate(x.shape)]
    return x - m.slice_(g.pick(), ranges)


def _looked_up(g: Skeleton, x: Node) -> Node:
    axis = g.axis()
    return k.gather(x, g.index(axis), axis=axis)


def _one_looked_up(g: Skeleton, x: Node) -> Node:
    axis = g.axis()
    ranges = [(0, 1 if n == axis else size, 1) for n, size in enumerate(x.shape)]
    return g.pick() + k.gather(x, m.slice_(g.index(axis), ranges), axis=axis)


def _flat_look_up(g: Skeleton, x: Node) -> Node:
    index = m.reshape(g.index(0), (-1,))
    return m.reshape(k.gather(m.reshape(x, (-1,)), index, axis=0), x.shape)


def _written(g: Skeleton, x: Node) -> Node:
    axis = g.axis()
    op = g.draw.one((k.scatter_add, k.scatter))
    return op(x, g.index(axis), g.pick(), axis=axis)


def _sorted(g: Skeleton, x: Node) -> Node:
    return g.draw.one((ordering.sort, scan.cumsum, scan.cummax))(x, axis=g.axis())


def _product(g: Skeleton, x: Node) -> Node:
    y = g.pick()
    return (
        k.matrix_product(k.matrix_product(x, y.mT), g.pick())
        if g.draw.coin()
        else k.matrix_product(x, k.matrix_product(y.mT, g.pick()))
    )


def _view(g: Skeleton, x: Node) -> Node:
    axis = g.axis()
    if g.draw.coin():
        return m.flip(x, axis)
    both = m.concat([x, g.pick()], axis=axis)
    start = g.draw.number(0, x.shape[axis])
    ranges = [(start, start + size, 1) if n == axis else (0, size, 1)
              for n, size in enumerate(x.shape)]  # fmt: skip
    return m.slice_(both, ranges)


STEPS: tuple[Callable[[Skeleton, Node], Node], ...] = (
    _map, _map, _pair, _pair, _pair, _total, _total, _row, _looked_up, _one_looked_up,
    _flat_look_up, _written, _sorted, _product, _view,
)  # fmt: skip
