"""Loops and branches on a device: kernels of a body are compiled once and started at every step.

A loop that only counts, and is not too long, is laid out flat: the same kernels again and again at
other places, which a graph starts together. Others the host walks through (walk.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.launch import Arguments, Launch, Places
from treadle.backends.cuda.on_host import HostStep
from treadle.base.dtypes import int8, int16, int32, int64
from treadle.base.sizes import Size, most
from treadle.ir.region import Loop
from treadle.kernel import nested
from treadle.kernel.nested import Make, Move, Nested
from treadle.kernel.places import Place
from treadle.kernel.steps import RegionStep

MOST = 4096  # kernels of a loop that is laid out flat
GRAIN = 16  # bytes: kernels take their memory to begin at multiples
BLOCK = 1024  # words that a program copies
WORDS = {1: int8, 2: int16, 4: int32, 8: int64}
COPY = """
@triton.jit
def kernel(source, target, n, BLOCK: tl.constexpr):
    k = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + k, tl.load(source + k, mask=k < n), mask=k < n)
"""


class Plan(nested.Tabled, Protocol):
    """What is needed of the plan of a body."""

    # fmt: off
    @property
    def launches(self) -> list[Launch]: ...
    @property
    def count(self) -> int: ...
    # fmt: on

    def placed(self, frame: Sequence[Place] | None = None) -> list[Placed]:
        """Its work in order."""


class Placed(NamedTuple):
    """Work, and where its memory is."""

    work: Launch | HostStep | Nest
    place: Places


def copy_launch(nbytes: int) -> Launch:
    """A copy of memory that begins at any multiple of the words it is copied in."""
    size = next(size for size in (8, 4, 2, 1) if nbytes % size == 0)
    add = Arguments()
    add.memory("source", WORDS[size], "source")
    add.memory("target", WORDS[size], "target")
    add.integer("n", nbytes // size, False)
    source = add.source(with_functions(COPY), {"BLOCK": BLOCK}, 4)
    if nbytes % GRAIN:
        source = replace(source, aligned=())
    grid = -(-nbytes // (size * BLOCK)), 1
    return Launch(source, grid, add.values, nbytes // size, name=f"copy_{WORDS[size].short}")


class Nest:
    """A loop or branch as work of a plan."""

    def __init__(self, region: RegionStep, step: int, make: Make[Plan]) -> None:
        self.nested: Nested[Plan] = Nested(region, step, make, GRAIN)
        self.spec, self.step = region.node.arg, step
        self.name = self.form = "region"
        self.copies: dict[int, Launch] = {}

    def settle(self, place: Places) -> None:
        """What there is to copy, once memory is laid out."""
        laid = self.nested.laid(place)
        moves = [nbytes for steps in laid.bodies for *_, nbytes in (*steps.before, *steps.after)]
        moves += [nbytes for *_, nbytes in (*laid.begin, *laid.finish)]
        self.copies = {nbytes: copy_launch(nbytes) for nbytes in moves if nbytes}
        steps = most(self.spec.length) if isinstance(self.spec, Loop) else 1
        each = sum(table.count for table in self.nested.tables)
        self.count = steps * (each + len(moves)) + len(moves)
        strides = [rule.stride for body in laid.bodies for rule in body.rules.values()]
        self.is_known = Size not in map(type, (*strides, getattr(self.spec, "length", 1)))

    @property
    def is_flat(self) -> bool:
        """Is it known before what it does, and not too much?"""
        counts = isinstance(self.spec, Loop) and not self.spec.flagged
        return counts and self.is_known and self.count <= MOST

    def launches(self) -> list[Launch]:
        """All kernels, each once."""
        inner = [launch for table in self.nested.tables for launch in table.launches]
        return [*inner, *self.copies.values()]

    def flat(self, place: Places) -> list[Placed]:
        """Every step one after the other."""
        laid = self.nested.laid(place)
        (steps,), (table,) = laid.bodies, self.nested.tables
        found = [self.moved(*move) for move in laid.begin]
        count = self.nested.bodies[0].bases
        nowhere = (0, 0)
        for step in range(self.spec.length):
            rules = steps.rules
            frame = [rules[k].at(step) if k in rules else nowhere for k in range(count)]
            found += self.around(steps.before, frame)
            found += table.placed(frame)
            found += self.around(steps.after, frame)
        for base, home, nbytes in laid.finish:
            last = steps.rules[base].at(self.spec.length)
            if last != home:
                found.append(self.moved(last, home, nbytes))
        return [x for x in found if x is not None]

    def around(self, moves: Iterable[Move], frame: Sequence[Place]) -> list[Placed | None]:
        """Copies before or after a step whose bases are at places."""
        return [self.moved(frame[a], frame[b], nbytes) for a, b, nbytes in moves]

    def moved(self, source: Place, target: Place, nbytes: int) -> Placed | None:
        """A copy."""
        if not nbytes:
            return None
        self.copies[nbytes].step = self.step
        places: dict[object, Place] = {"source": source, "target": target}
        return Placed(self.copies[nbytes], places.__getitem__)
