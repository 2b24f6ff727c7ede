"""Which axes of a reduction are so short that their terms stand side by side in one loop.

Where guards, quotients and remainders depend on such an axis they become known numbers, and what
its terms read in common is read once: two numbers packed into a byte are one load.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

from treadle.base.sizes import Size, most
from treadle.kernel.index import Axis, Quotient
from treadle.kernel.loops import Guard, Loops, indices_of

MOST_TERMS = 8  # side by side
LEAST_SIZE = 1 << 12  # elements in all: for fewer, one kernel for every shape is worth more


@dataclass(frozen=True)
class Space:
    """Axes of a kernel in memory order: rows, what is reduced in loops, and what term by term."""

    outer: list[Axis]
    inner: list[Axis]
    apart: tuple[Axis, ...] = ()

    @property
    def order(self) -> list[Axis]:
        """All axes, as they are numbered."""
        return sorted((*self.outer, *self.inner, *self.apart), key=lambda axis: int(axis.name[1:]))


def with_terms(space: Space, loops: Loops) -> Space | None:
    """Another way to loop, if some axis of these loops had better be cut or written out."""
    reduces = [r for step in loops.passes for r in step.reduces]
    stores = any(step.stores for step in loops.passes)
    alike = all(r.value.dtype is r.dtype.compute for r in reduces)  # terms are joined in that
    if stores or not reduces or not alike or most(loops.size) < LEAST_SIZE:
        return None
    allowed = MOST_TERMS // prod(axis.extent for axis in space.apart)
    for axis in space.inner:
        if isinstance(axis.extent, int):
            short, low = _short(axis, loops)
            alone = short == axis.extent and all(a is axis or a.extent == 1 for a in space.inner)
            if 1 < short <= allowed and not alone:  # vectors run across such rows
                return _divided(space, axis, short, low)
    return None


def _short(axis: Axis, loops: Loops) -> tuple[int, bool]:
    """Terms that an axis falls into, and whether they are neighbours (or else far apart)."""
    edges: set[int] = set()
    for ex in loops.order():
        for index in indices_of(ex):
            for atom, _ in index.terms:
                if not isinstance(atom, Quotient) or atom.of.terms != ((axis, 1),):
                    continue
                if not atom.of.constant and axis.extent % atom.by == 0:
                    return atom.by, True
        found = _edges(ex.data if ex.op == "inside" else (), axis)
        edges |= {edge for edge in found if 0 < edge < axis.extent}
    if not edges:
        return 1, False
    return axis.extent // gcd(axis.extent, *edges), False


def _edges(guards: tuple[Guard, ...], axis: Axis) -> set[int]:
    """Where along the axis those begin or cease to hold that depend on nothing else."""
    return {
        (bound or 0) - index.constant
        for index, bound in guards
        if index.terms == ((axis, 1),) and not isinstance(bound, Size)
    }


def _divided(space: Space, axis: Axis, short: int, low: bool) -> Space:
    """The axis as two, the short one apart."""
    long = axis.extent // short
    parts = [Axis("a", n) for n in ((long, short) if low else (short, long))]
    apart, rest = (parts[1], parts[0]) if low else (parts[0], parts[1])
    order = [part for a in space.order for part in (parts if a is axis else [a])]
    for number, a in enumerate(order):
        a.name = f"a{number}"
    inner = [rest if a is axis else a for a in space.inner]
    return Space(space.outer, [a for a in inner if a.extent > 1], (*space.apart, apart))
