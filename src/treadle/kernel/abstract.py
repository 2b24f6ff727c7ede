"""A kernel as emitters see it: what its identity says, and no number that it leaves out.

It is read from the text of a `Signature` (kernel/parser.py), so code is a function of that text. A
number stands in the text, or it is a Slot: a parameter, of which nothing is known before it runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treadle.base.dtypes import DType, int64


@dataclass(eq=False)
class Slot:
    """A number that the kernel is given."""

    number: int
    dtype: DType = int64


class Axis:
    """A loop variable that runs from 0 to what is in a slot, less one."""

    looked: tuple[Ex, ...] = ()

    def __init__(self, name: str, extent: Slot) -> None:
        self.name, self.extent = name, extent
        self.axes = frozenset([self])


class Looked:
    """A value that is an index, to be kept below size."""

    def __init__(self, value: Ex, size: Slot) -> None:
        self.value, self.size = value, size
        self.axes, self.looked = value.axes, (value,)


class Division:
    """of // by, or of % by if it is the remainder that counts; of is never negative."""

    def __init__(self, of: Sum, by: Slot, remains: bool) -> None:
        self.of, self.by, self.remains = of, by, remains
        self.axes, self.looked = of.axes, of.looked


Atom = Axis | Looked | Division
Factor = int | Slot
"""1, -1, 2 (along vectors: every other element) or a slot."""


class Sum:
    """An index: atoms times factors, and an offset. One object for one text.

    - **axes**: along which it moves, by itself or by what it looks up
    - **looked**: values it looks up, at any depth
    """

    def __init__(self, terms: list[tuple[Atom, Factor]], offset: Slot | None) -> None:
        self.terms, self.offset = terms, offset
        self.axes: frozenset[Axis] = frozenset().union(*(atom.axes for atom, _ in terms))
        self.looked: tuple[Ex, ...] = tuple(x for atom, _ in terms for x in atom.looked)

    def factor(self, axis: Axis | None) -> Factor:
        """Of an axis in the sum itself; 0 if it is not there."""
        return next((factor for atom, factor in self.terms if atom is axis), 0)


@dataclass(eq=False)
class Guard:
    """index < bound; where there is none, 0 <= index."""

    index: Sum
    bound: Slot | None


class Ex:
    """A scalar expression at one point of the iteration space.

    op is a primitive's name, or
      "load"     data = (buffer number, place, guards): 0 where a guard fails
      "const"    data = a number or a slot
      "index"    data = a Sum, as int64
      "inside"   data = guards, as bool
      "reduced"  data = the Reduce whose result is meant
      "tile"     the element a contraction has just finished

    - **sums**, **guards**: the indices and the guards it holds
    - **operands**: what is computed before it: its args and what its indices look up
    - **axes**: those it depends on
    - **stage**: passes over the inner axes that come before
    """

    def __init__(
        self, op: str, dtype: DType, args: tuple[Ex, ...], data: Any = None,
        sums: tuple[Sum, ...] = (),
    ) -> None:  # fmt: skip
        self.op, self.dtype, self.args, self.data, self.sums = op, dtype, args, data, sums
        self.guards: list[Guard] = data if op == "inside" else data[2] if op == "load" else []
        looked = [value for index in sums for value in index.looked]
        self.operands = (*args, *looked) if looked else args
        self.axes: frozenset[Axis] = frozenset().union(
            *[arg.axes for arg in args], *[index.axes for index in sums]
        )
        self.stage: int = max([value.stage for value in self.operands], default=0)


@dataclass(eq=False)
class Reduce:
    """A value per row: all elements along the inner axes joined by kind: sum, prod, max or min."""

    kind: str
    value: Ex
    dtype: DType

    @property
    def start(self) -> float | int:
        """What it starts from, in the type it is computed in."""
        wide = self.dtype.compute
        return {"sum": 0, "prod": 1, "max": wide.least, "min": wide.greatest}[self.kind]


@dataclass(eq=False)
class Store:
    """buffer[position] = value; for modes see kernel/loops.py."""

    mode: str
    buffer: int
    position: Sum
    value: Ex
    only: Ex | None

    @property
    def inputs(self) -> list[Ex]:
        """What is computed before it."""
        return [*self.position.looked, *([self.only] if self.only else []), self.value]

    @property
    def updates(self) -> bool:
        """Does it depend on what is in memory, or on the order of the stores?"""
        return self.mode not in ("set", "partial")


@dataclass(eq=False)
class Pass:
    """One run over the inner axes."""

    reduces: list[Reduce]
    stores: list[Store] = field(default_factory=list)

    @property
    def inputs(self) -> list[Ex]:
        """What it reduces and stores."""
        return [*(r.value for r in self.reduces), *(x for s in self.stores for x in s.inputs)]


@dataclass(eq=False)
class Argument:
    """A buffer."""

    dtype: DType
    stream: bool
    local: bool
    far: bool  # what guards keep from being read may lie where no memory is


@dataclass(eq=False)
class Kernel:
    """All of it; order holds every expression, operands first."""

    arguments: list[Argument]
    across: bool
    epilogue: bool
    tile: bool
    slots: list[Slot] = field(default_factory=list)
    outer: list[Axis] = field(default_factory=list)
    inner: list[Axis] = field(default_factory=list)
    order: list[Ex] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)
    row_stores: list[Store] = field(default_factory=list)
