"""The identity of a kernel: its structure as text, and the numbers that fill its parameters.

Extents, strides, offsets and constants become numbered slots, so two shapes of one structure have
the same text and share one compiled kernel. Emitters are given the text alone (kernel/parser.py):
whatever number they are to know stands in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.base.dtypes import DType, int64
from treadle.base.errors import CompilerError, explain
from treadle.base.sizes import Size, most
from treadle.kernel.index import Axis, Index, Looked, Quotient, Remainder
from treadle.kernel.loops import Ex, Guard, Loops, Reduce, Store

PLAIN = (0, 1, -1, 2, 0.5, float("inf"), float("-inf"))  # constants that stay in the text
FACTORS = {1: "", -1: "*-1"}  # of an index: neighbours in memory, forwards and backwards
FAR = 1 << 9  # elements beyond either end of a buffer: there may be no memory
Key = object


class Signature:
    """Text and values of one kernel; constants: the slots that are no part of an index."""

    def __init__(self, loops: Loops) -> None:
        self.values: list[tuple[DType, float | int | bool]] = []
        self.constants: set[str] = set()
        self._slots: dict[Key, str] = {}
        self._live: dict[Axis, str] = {}
        self._order = loops.order()
        self._number = {ex: k for k, ex in enumerate(self._order)}
        self._reduces: dict[Reduce, str] = {}
        self._names: dict[Index, str] = {}
        axes = loops.outer if loops.across else loops.inner
        self._vector = axes[-1] if axes else None
        self.text = self._describe(loops)

    def _slot(self, key: Key, value: float | int | bool, dtype: DType = int64) -> str:
        name = self._slots.get(key)
        if name is None:
            name = self._slots[key] = f"p{len(self.values)}"
            self.values.append((dtype, value))
        return name

    def _describe(self, loops: Loops) -> str:
        words, far = ["kernel"], _far(loops, self._order)
        words += [
            f"{a.dtype.short}{'!' * a.written}{'~' * a.stream}{'@' * a.local}{'?' * (k in far)}"
            for k, a in enumerate(loops.arguments)
        ]
        words += ["across"] * loops.across + ["epilogue"] * loops.epilogue + ["tile"] * loops.tile
        lines = [" ".join(words)]
        for stem, axes in (("o", loops.outer), ("i", loops.inner)):
            for k, axis in enumerate(axes):
                self._live[axis] = f"{stem}{k}"
                lines.append(f"{stem}{k} < {self._slot(('extent', axis), axis.extent)}")
        for k, ex in enumerate(self._order):
            if ex.op == "reduced":
                self._define(ex.data, lines)
            lines.append(f"e{k} {ex.dtype.short} {self._expression(ex)}")
        for step in loops.passes:
            for r in step.reduces:
                self._define(r, lines)
            lines.append(" ".join(["pass", *(self._reduces[r] for r in step.reduces)]))
            lines += [self._store(s) for s in step.stores]
        lines += ["row " + self._store(s) for s in loops.row_stores]
        return "\n".join(lines)

    def _define(self, r: Reduce, lines: list[str]) -> None:
        if r not in self._reduces:
            name = self._reduces[r] = f"r{len(self._reduces)}"
            lines.append(f"{name} {r.dtype.short} {r.kind} e{self._number[r.value]}")

    def _store(self, s: Store) -> str:
        only = f" if e{self._number[s.only]}" if s.only else ""
        return f"{s.mode} b{s.buffer}[{self._index(s.position)}] e{self._number[s.value]}{only}"

    def _expression(self, ex: Ex) -> str:
        if ex.op == "load":
            number, position, guards = ex.data
            return f"load b{number}[{self._index(position)}]{self._guards(guards)}"
        if ex.op == "const":
            return f"const {self._constant(ex)}"
        if ex.op == "index":
            return f"index {self._index(ex.data)}"
        if ex.op == "inside":
            return f"inside{self._guards(ex.data)}"
        if ex.op == "reduced":
            return f"reduced {self._reduces[ex.data]}"
        return " ".join([ex.op, *(f"e{self._number[arg]}" for arg in ex.args)])

    def _constant(self, ex: Ex) -> str:
        value, dtype = ex.data, ex.dtype
        if value in PLAIN or value != value:
            return repr(float(value)) if dtype.is_float else str(int(value))
        name = self._slot(("number", ex), value, dtype.compute)
        self.constants.add(name)
        return name

    def _guards(self, guards: tuple[Guard, ...]) -> str:
        parts = []
        for guard in guards:
            index, bound = guard
            place = self._index(index)
            parts.append(
                f" 0<={place}" if bound is None else f" {place}<{self._slot(guard, bound)}"
            )
        return "".join(parts)

    def _index(self, index: Index) -> str:
        found = self._names.get(index)
        if found is None:
            parts = []
            for atom, c in index.terms:
                name = self._atom(atom)
                if name:
                    factor = "*2" if c == 2 and atom is self._vector else FACTORS.get(c)
                    if factor is None:
                        # Indices that are apart by an offset alone are reached from one place.
                        factor = f"*{self._slot(('factor', index.terms, atom), c)}"
                    parts.append(name + factor)
            if index.constant:
                parts.append(self._slot(("offset", index), index.constant))
            found = self._names[index] = "+".join(parts) or "0"
        return found

    def _atom(self, atom: object) -> str:
        if isinstance(atom, Axis):
            return self._live.get(atom, "")  # merged away: counts as 0
        if isinstance(atom, Looked):
            return f"[e{self._number[atom.value]}:{self._slot(('size', atom), atom.size)}]"
        if isinstance(atom, Quotient):
            sign = "%" if isinstance(atom, Remainder) else "/"
            return f"({self._index(atom.of)}){sign}{self._slot(('by', atom), atom.by)}"
        raise CompilerError(explain("signature", "an index still holds an assumption", atom=atom))


def _far(loops: Loops, order: Sequence[Ex]) -> set[int]:
    """Buffers of which elements far outside are named, though guards keep them from being read."""
    found = set()
    for ex in order:
        if ex.op == "load" and ex.data[2]:
            number, position, _ = ex.data
            low, high = position.bounds
            low, high = low.bounds[0] if isinstance(low, Size) else low, most(high)
            if low < -FAR or high >= loops.arguments[number].size + FAR:
                found.add(number)
    return found
