"""The identity of a kernel: its structure as text, and the numbers that fill its parameters.

Extents, strides, offsets and constants become numbered slots, so two shapes of one structure have
the same text and share one compiled kernel.
"""

from __future__ import annotations

from treadle.base.dtypes import DType, int64
from treadle.kernel.index import Axis, Index, Looked, Remainder, as_quotient
from treadle.kernel.loops import Ex, Guard, Loops, Store

PLAIN = (0, 1, -1, 2, 0.5, float("inf"), float("-inf"))  # numbers that stay in the text
Key = object


class Signature:
    """Text, slots and values of one kernel."""

    def __init__(self, loops: Loops) -> None:
        self.slots: dict[Key, int] = {}
        self.values: list[tuple[DType, float | int | bool]] = []
        self.live: dict[Axis, str] = {}
        self.order = loops.order()
        self.number = {ex: k for k, ex in enumerate(self.order)}
        self._names: dict[Index, str] = {}
        self.text = self._describe(loops)

    def _slot(self, key: Key, value: float | int | bool, dtype: DType = int64) -> str:
        if key not in self.slots:
            self.slots[key] = len(self.values)
            self.values.append((dtype, value))
        return f"p{self.slots[key]}"

    def _describe(self, loops: Loops) -> str:
        arguments = " ".join(
            f"{a.dtype.short}{'!' if a.written else ''}{'~' if a.stream else ''}"
            for a in loops.arguments
        )
        flags = f"{'across ' if loops.across else ''}{'epilogue' if loops.epilogue else ''}"
        lines = [f"kernel {arguments} {flags}"]
        for stem, axes in (("o", loops.outer), ("i", loops.inner)):
            for k, axis in enumerate(axes):
                self.live[axis] = f"{stem}{k}"
                lines.append(f"{stem}{k} < {self._slot(('extent', axis), axis.extent)}")
        lines += [
            f"e{k} {ex.dtype.short} {self._expression(ex)}" for k, ex in enumerate(self.order)
        ]
        names: dict[object, int] = {}
        for step in loops.passes:
            lines.append("pass")
            for r in step.reduces:
                names[r] = len(names)
                lines.append(f"r{names[r]} {r.dtype.short} {r.kind} e{self.number[r.value]}")
            lines += [self._store(s) for s in step.stores]
        lines += ["row " + self._store(s) for s in loops.row_stores]
        return "\n".join(lines)

    def _store(self, s: Store) -> str:
        only = f" if e{self.number[s.only]}" if s.only else ""
        return f"{s.mode} b{s.buffer}[{self.index(s.position)}] e{self.number[s.value]}{only}"

    def _expression(self, ex: Ex) -> str:
        if ex.op == "load":
            number, position, guards = ex.data
            return f"b{number}[{self.index(position)}]{self._guards(guards)}"
        if ex.op == "const":
            if ex.data in PLAIN or ex.data != ex.data:
                return f"const {ex.data!r}"
            return f"const {self._slot(('number', ex), ex.data, ex.dtype.compute)}"
        if ex.op == "index":
            return f"index {self.index(ex.data)}"
        if ex.op == "inside":
            return f"inside{self._guards(ex.data)}"
        if ex.op == "reduced":
            return f"reduced e{self.number[ex.data.value]} {ex.data.kind}"
        return f"{ex.op} {' '.join(f'e{self.number[arg]}' for arg in ex.args)}"

    def _guards(self, guards: tuple[Guard, ...]) -> str:
        parts = []
        for guard in guards:
            index, low, high = guard
            bounds = self._slot(("low", guard), low), self._slot(("high", guard), high)
            parts.append(f" {bounds[0]}<={self.index(index)}<{bounds[1]}")
        return "".join(parts)

    def index(self, index: Index) -> str:
        """An index with its numbers as slots."""
        found = self._names.get(index)
        if found is None:
            parts = []
            for atom, c in index.terms:
                name = self._atom(atom)
                if name:
                    factor = "" if c == 1 else f"*{self._slot(('factor', index, atom), c)}"
                    parts.append(name + factor)
            if index.constant:
                parts.append(self._slot(("offset", index), index.constant))
            found = self._names[index] = "+".join(parts) or "0"
        return found

    def _atom(self, atom: object) -> str:
        if isinstance(atom, Axis):
            return self.live.get(atom, "")  # merged away: counts as 0
        if isinstance(atom, Looked):
            return f"[e{self.number[atom.value]} {self._slot(('size', atom), atom.size)}]"
        atom = as_quotient(atom)
        sign = "%" if isinstance(atom, Remainder) else "/"
        return f"({self.index(atom.of)}){sign}{self._slot(('by', atom), atom.by)}"
