"""The loop program: what one kernel computes, as axes, passes and scalar expressions.

    kernel(x: f32) -> y: f32
      parallel r < 4096
        m = max  c < 1024 : x[r*1024 + c]
        s = sum  c < 1024 : exp(x[r*1024 + c] - m)
        each     c < 1024 : y[r*1024 + c] = exp(x[r*1024 + c] - m) * (1 / s)

Every backend starts from it, and emits code from the text of its `Signature`, which leaves numbers
that depend on the shape alone to parameters: a kernel compiled once serves every shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.base.dtypes import DType
from treadle.kernel.index import Axis, Index, Looked, Quotient

Guard = tuple[Index, int | None]
"""index < bound; where there is none, 0 <= index."""


class Ex:
    """A scalar expression at one point of the iteration space; interned within a kernel.

    op is a primitive's name, or
      "load"     data = (buffer number, position, guards): 0 where a guard fails
      "const"    data = a number
      "index"    data = an Index, as int64
      "inside"   data = guards, as bool
      "reduced"  data = the Reduce whose result is meant
      "tile"     the element a contraction has just finished
    """

    __slots__ = ("args", "axes", "data", "dtype", "op", "stage")

    def __init__(self, op: str, args: tuple[Ex, ...], dtype: DType, data: Any) -> None:
        self.op, self.args, self.dtype, self.data = op, args, dtype, data
        self.axes: frozenset[Axis] = frozenset()
        self.stage = 0  # passes over the inner axes that must come before

    def __repr__(self) -> str:
        if self.op == "load":
            number, position, guards = self.data
            where = f" if {_guards(guards)}" if guards else ""
            return f"b{number}[{position}{where}]"
        if self.op in ("const", "index"):
            return str(self.data)
        if self.op == "inside":
            return _guards(self.data)
        if self.op == "reduced":
            return str(self.data.name)
        return f"{self.op}({', '.join(map(str, self.args))})"


def looked_up(index: Index) -> list[Ex]:
    """Values used as indices inside an index expression."""
    found: list[Ex] = []
    for atom, _ in index.terms:
        if isinstance(atom, Looked):
            found.append(atom.value)
        elif isinstance(atom, Quotient):
            found += looked_up(atom.of)
    return found


def indices_of(ex: Ex) -> list[Index]:
    """The index expressions an expression holds itself."""
    if ex.op == "load":
        return [ex.data[1], *(guard[0] for guard in ex.data[2])]
    if ex.op == "index":
        return [ex.data]
    return [guard[0] for guard in ex.data] if ex.op == "inside" else []


def _guards(guards: Sequence[Guard]) -> str:
    return " and ".join(
        f"0 <= {index}" if bound is None else f"{index} < {bound}" for index, bound in guards
    )


@dataclass(eq=False)
class Reduce:
    """A value per row: all elements along the inner axes joined by kind: sum, prod, max or min."""

    name: str
    kind: str
    value: Ex
    dtype: DType


@dataclass(eq=False)
class Store:
    """buffer[position] = value.

    mode "set" stores, "partial" adds to a copy that each block of rows has of its own. Any other
    goes over what is in memory in order (no two rows may meet at one position): "over" replaces
    it, the name of a binary primitive joins the two. only: nothing is stored where it is false.
    """

    buffer: int
    position: Index
    value: Ex
    mode: str = "set"
    only: Ex | None = None

    @property
    def inputs(self) -> list[Ex]:
        """What is computed before it."""
        return [*looked_up(self.position), *([self.only] if self.only else []), self.value]

    @property
    def updates(self) -> bool:
        """Does it depend on what is in memory, or on the order of the stores?"""
        return self.mode not in ("set", "partial")


@dataclass(eq=False)
class Pass:
    """One run over the inner axes: reductions and stores whose operands are ready."""

    reduces: list[Reduce] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)


@dataclass(eq=False)
class Argument:
    """A buffer as the kernel sees it."""

    dtype: DType
    written: bool
    stream: bool = False  # large and not read soon: stores go past the caches
    local: bool = False  # scratch of a chain: positions count from the tile's first element
    size: int = 0  # elements, at most


@dataclass(eq=False)
class Loops:
    """One kernel."""

    arguments: list[Argument]
    outer: list[Axis]
    inner: list[Axis]
    passes: list[Pass]
    row_stores: list[Store]
    across: bool = False  # vectors run along the last outer axis instead of the last inner one
    rows_per_block: int = 1
    size: int = 0  # elements of the iteration space
    epilogue: bool = False  # runs on finished tiles of a contraction: outer = batch and row
    tile: bool = False  # runs on tiles of a chain: outer = batch and lane, inner streams by

    @property
    def rows(self) -> int:
        """Number of points of the outer axes."""
        total = 1
        for axis in self.outer:
            total *= axis.extent
        return total

    def __str__(self) -> str:
        head = ", ".join(f"b{k}: {a.dtype.short}{' out' if a.written else ''}"
                         for k, a in enumerate(self.arguments))  # fmt: skip
        lines = [f"kernel({head})"]
        over = ", ".join(f"{a} < {a.extent}" for a in self.outer) or "one row"
        lines.append(f"  {'across' if self.across else 'parallel'} {over}")
        along = ", ".join(f"{a} < {a.extent}" for a in self.inner)
        for step in self.passes:
            lines += [f"    {r.name} = {r.kind} {along} : {r.value}" for r in step.reduces]
            for s in step.stores:
                sign = {"set": "=", "over": "=", "partial": "+=", "add": "+="}.get(s.mode, s.mode)
                only = f" if {s.only}" if s.only else ""
                lines.append(f"    each {along} : b{s.buffer}[{s.position}] {sign} {s.value}{only}")
        lines += [f"    b{s.buffer}[{s.position}] = {s.value}" for s in self.row_stores]
        return "\n".join(lines)

    def order(self) -> list[Ex]:
        """Every expression of the kernel, operands first."""
        found: dict[Ex, None] = {}
        for step in self.passes:
            for r in step.reduces:
                _visit(r.value, found)
            for s in step.stores:
                for value in s.inputs:
                    _visit(value, found)
        for s in self.row_stores:
            _visit(s.value, found)
        return list(found)

    def stores(self) -> list[Store]:
        """Every store, those inside the passes first."""
        return [s for step in self.passes for s in step.stores] + self.row_stores


def _visit(ex: Ex, found: dict[Ex, None]) -> None:
    """Add ex after everything it is made of."""
    if ex in found:
        return
    for arg in ex.args:
        _visit(arg, found)
    for index in indices_of(ex):
        for value in looked_up(index):
            _visit(value, found)
    if ex.op == "reduced":
        _visit(ex.data.value, found)
    found[ex] = None
