"""Which axes a kernel loops over: cut where its shapes are cut, merged where its indices allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from treadle.base.shapes import Shape, strides_of
from treadle.base.sizes import UnknownSizeError, most
from treadle.ir.node import Node
from treadle.kernel.index import Atom, Axis, Index, Looked, Quotient
from treadle.kernel.loops import Ex, Guard, Loops, Pass, Reduce, Store, indices_of
from treadle.ops.movement import pad, reshape

LANES = 16  # elements that lie side by side: it is not worth cutting axes into fewer


def refined(shapes: Sequence[Shape], total: int) -> list[int]:
    """Extents along which all shapes of `total` elements are cut; [total] if they do not nest."""
    if most(total) == 0:
        return [total]
    cuts = {1, total}
    for shape in shapes:
        step = 1
        for size in reversed(shape):
            step *= size
            cuts.add(step)
    try:
        pairs = list(pairwise(sorted(cuts)))
    except UnknownSizeError:
        return [total]
    if any(high % low for low, high in pairs):
        return [total]
    return [high // low for low, high in pairs][::-1]


def cut_by_parts(joined: Node) -> list[Shape]:
    """How a concat of equal parts, or a part with room for others, is cut.

    Between them, and where shapes below them are cut.
    """
    parts, first = joined.operands, joined.operands[0]
    along = [k for k, n in enumerate(first.shape) if n != joined.shape[k]]
    if len(along) != 1 or any(part.shape != first.shape for part in parts):
        return []
    (axis,) = along
    size, start = first.shape[axis], joined.arg[0][axis][0] if joined.op is pad else 0
    if not size or joined.shape[axis] % size or start % size:
        return []
    found = []
    for part in parts:
        below = part
        while below.op is reshape:
            below = below.operands[0]
        extents = refined([part.shape, below.shape], part.type.size)
        ends = [prod(extents[:k]) for k in range(len(extents) + 1)]
        if prod(part.shape[:axis]) in ends and most(prod(extents[-1:])) >= LANES:
            at = ends.index(prod(part.shape[:axis]))
            found.append((*extents[:at], joined.shape[axis] // size, *extents[at:]))
    return found


def linear(axes: Sequence[Axis]) -> Index:
    """Row-major position over axes."""
    steps = strides_of(tuple([axis.extent for axis in axes]))
    return Index([pair for pair in zip(axes, steps, strict=True) if pair[0].extent > 1])


def merged(loops: Loops) -> Loops:
    """The program over few long axes: neighbours that every index treats as one become one."""
    indices = [index for ex in loops.order() for index in indices_of(ex)]
    indices += [store.position for store in loops.stores()]
    fixed: set[Axis] = set()
    for index in indices:
        for atom, _ in index.terms:
            if isinstance(atom, Quotient):
                fixed |= atom.of.axes()
    swaps: dict[Axis, Axis | None] = {}
    sides = [_joined(axes, indices, fixed, swaps) for axes in (loops.outer, loops.inner)]
    if swaps:
        loops = Swapped(swaps).loops(loops)
    return replace(loops, outer=sides[0], inner=sides[1])


def _joined(
    axes: Sequence[Axis], indices: Sequence[Index], fixed: set[Axis],
    swaps: dict[Axis, Axis | None],
) -> list[Axis]:  # fmt: skip
    """Axes where joined ones are new; swaps: the inner of a pair for the new one, the outer out."""
    kept: list[Axis] = []
    run: list[Axis] = []  # outermost last
    for axis in [axis for axis in reversed(axes) if axis.extent != 1] + [Axis("", 1)]:
        size = prod(a.extent for a in run)
        joins = run and axis.name and axis not in fixed and run[0] not in fixed
        if joins and all(i.coefficient(axis) == i.coefficient(run[0]) * size for i in indices):
            run.append(axis)
            continue
        if len(run) > 1:
            swaps |= dict.fromkeys(run[1:])
            swaps[run[0]] = Axis(run[0].name, size)
        kept += [swaps.get(axis) or axis for axis in run[:1]]
        run = [axis]
    return kept[::-1]


class Swapped:
    """A program with other axes: for each its successor, or None where it is counted by another."""

    def __init__(self, swaps: Mapping[Axis, Axis | None]) -> None:
        self.swaps = swaps
        self.indices: dict[Index, Index] = {}
        self.made: dict[Ex, Ex] = {}
        self.totals: dict[Reduce, Reduce] = {}

    def loops(self, loops: Loops) -> Loops:
        """All of a program but for its own axes."""
        passes = [
            Pass([self.total(r) for r in step.reduces], [self.store(s) for s in step.stores])
            for step in loops.passes
        ]
        return replace(loops, passes=passes, row_stores=[self.store(s) for s in loops.row_stores])

    def store(self, store: Store) -> Store:
        """A store elsewhere."""
        only = self.ex(store.only) if store.only else None
        return Store(
            store.buffer, self.index(store.position), self.ex(store.value), store.mode, only
        )

    def total(self, total: Reduce) -> Reduce:
        """A reduction, one for each."""
        if total not in self.totals:
            self.totals[total] = replace(total, value=self.ex(total.value))
        return self.totals[total]

    def index(self, index: Index) -> Index:
        """An index by the new axes."""
        found = self.indices.get(index)
        if found is None:
            terms = [(self.atom(atom), c) for atom, c in index.terms]
            found = Index([(atom, c) for atom, c in terms if atom is not None], index.constant)
            self.indices[index] = found
        return found

    def atom(self, atom: Atom) -> Atom | None:
        """A part of an index; axes that are joined stand in no quotient."""
        if isinstance(atom, Axis):
            return self.swaps.get(atom, atom)
        if isinstance(atom, Quotient):
            return type(atom)(self.index(atom.of), atom.by)
        return Looked(self.ex(atom.value), atom.size) if isinstance(atom, Looked) else atom

    def ex(self, ex: Ex) -> Ex:
        """An expression by the new axes."""
        found = self.made.get(ex)
        if found is None:
            args = tuple([self.ex(arg) for arg in ex.args])
            found = self.made[ex] = Ex(ex.op, args, ex.dtype, self._data(ex))
            axes = [self.swaps.get(axis, axis) for axis in ex.axes]
            found.axes = frozenset([axis for axis in axes if axis is not None])
            found.stage = ex.stage
        return found

    def _data(self, ex: Ex) -> object:
        if ex.op == "load":
            number, position, guards = ex.data
            return number, self.index(position), self._guards(guards)
        if ex.op == "index":
            return self.index(ex.data)
        if ex.op == "inside":
            return self._guards(ex.data)
        return self.total(ex.data) if ex.op == "reduced" else ex.data

    def _guards(self, guards: Sequence[Guard]) -> tuple[Guard, ...]:
        return tuple([(self.index(index), bound) for index, bound in guards])
