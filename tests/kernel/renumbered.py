"""Kernels of one structure with other numbers: what a signature must tell apart or leave open."""

from __future__ import annotations

from random import Random

from treadle.kernel.index import Axis, Index, Looked
from treadle.kernel.loops import Ex, Loops, Pass, Reduce, Store

EXTENTS = (2, 3, 7, 16, 33, 64, 100, 4096)
FACTORS = (1, -1, 2, -2, 3, 7, 16, -5, 100)


class Renumbered:
    """A copy of a loop program whose every number is drawn anew, or stays."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.axes: dict[Axis, Axis] = {}
        self.made: dict[Ex, Ex] = {}
        self.reduces: dict[Reduce, Reduce] = {}

    def loops(self, loops: Loops) -> Loops:
        """The copy."""
        passes = [
            Pass([self.reduce(r) for r in step.reduces], [self.store(s) for s in step.stores])
            for step in loops.passes
        ]
        return Loops(
            loops.arguments, [self.axis(a) for a in loops.outer],
            [self.axis(a) for a in loops.inner], passes,
            [self.store(s) for s in loops.row_stores], loops.across, size=loops.size,
            epilogue=loops.epilogue,
        )  # fmt: skip

    def number(self, known: int, others: tuple[int, ...]) -> int:
        return self.draw.choice((known, known, self.draw.choice(others)))

    def axis(self, axis: Axis) -> Axis:
        if axis not in self.axes:
            self.axes[axis] = Axis(axis.name, self.number(axis.extent, EXTENTS))
        return self.axes[axis]

    def index(self, index: Index) -> Index:
        terms = [(self.atom(atom), self.number(c, FACTORS)) for atom, c in index.terms]
        constant = self.number(index.constant, (-3, 1, 5, 64)) if index.constant else 0
        return Index(terms, constant)

    def atom(self, atom):
        if isinstance(atom, Axis):
            return self.axis(atom)
        if isinstance(atom, Looked):
            return Looked(self.ex(atom.value), self.number(atom.size, EXTENTS))
        return type(atom)(self.index(atom.of), self.number(atom.by, EXTENTS))

    def guards(self, guards):
        return tuple(
            (self.index(index), None if bound is None else self.number(bound, EXTENTS))
            for index, bound in guards
        )

    def ex(self, ex: Ex) -> Ex:
        if ex not in self.made:
            data = ex.data
            if ex.op == "load":
                data = (data[0], self.index(data[1]), self.guards(data[2]))
            elif ex.op == "index":
                data = self.index(data)
            elif ex.op == "inside":
                data = self.guards(data)
            elif ex.op == "reduced":
                data = self.reduce(data)
            elif ex.op == "const" and ex.dtype.is_float:
                data = self.draw.choice((data, 0.5, 3.25, -0.0))
            made = self.made[ex] = Ex(ex.op, tuple(map(self.ex, ex.args)), ex.dtype, data)
            made.axes, made.stage = frozenset(map(self.axis, ex.axes)), ex.stage
        return self.made[ex]

    def reduce(self, r: Reduce) -> Reduce:
        if r not in self.reduces:
            self.reduces[r] = Reduce(r.name, r.kind, self.ex(r.value), r.dtype)
        return self.reduces[r]

    def store(self, s: Store) -> Store:
        only = self.ex(s.only) if s.only else None
        return Store(s.buffer, self.index(s.position), self.ex(s.value), s.mode, only)
