"""One loop kernel in NumPy: what each row and vector of it loads, computes and stores, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.reference.eval import converted
from treadle.kernel.index import Axis, Index, Looked, Quotient, Remainder
from treadle.kernel.levels import ENTRY, ROW, Levels
from treadle.kernel.loops import Ex, Guard, Loops, Store
from treadle.kernel.parser import parse
from treadle.kernel.signature import Signature
from treadle.ops.defs import TABLE

Array = Any
Axes = dict[Axis, Any]
"""Where a kernel is: a number for each axis, or an array for the one that vectors run along."""
Known = dict[Ex, Array]
JOIN: dict[str, Callable[..., Array]] = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum
}  # fmt: skip


class Kernel:
    """A loop program over memory. ordered: what a row reads once, it reads before its passes."""

    def __init__(self, loops: Loops, cells: Sequence[Array], ordered: bool) -> None:
        self.loops, self.cells, self.ordered = loops, cells, ordered
        self.order = loops.order()
        self.known = parse(Signature(loops).text)
        level = Levels(self.known).level
        self.level = {
            ex: level[read] for ex, read in zip(self.order, self.known.order, strict=True)
        }
        self.stores = [s for step in loops.passes for s in step.stores]
        self.has_partials = any(s.mode == "partial" for s in self.stores)
        first = loops.passes[0]
        self.is_map = len(loops.passes) == 1 and not first.reduces and not loops.row_stores
        self.is_map = self.is_map and not any(s.mode != "set" for s in self.stores)
        self.columns = int(np.prod([axis.extent for axis in loops.inner], dtype=int))
        self.rows = loops.rows

    def block(self, number: int, units: Sequence[tuple[Axes, list[Axes]]]) -> Iterator[None]:
        """Rows one after the other, each with the points of its inner axes."""
        self.begin(number, np.arange(self.columns))
        entry: Known = {}
        self._ready(ENTRY, 0, {}, entry)
        yield
        for at, points in units:
            yield from self.row(at, points, number, entry)

    def begin(self, number: int, columns: Array) -> None:
        """A block of rows begins, of these columns: nothing is added up yet."""
        for s in self.stores:
            if s.mode == "partial":
                self.cells[s.buffer][number * self.columns + columns] = 0

    def row(
        self, at: Axes, points: list[Axes], number: int = 0, entry: Known | None = None,
        tile: Array = None, across: int = 0,
    ) -> Iterator[None]:  # fmt: skip
        """All passes over one row, or over some side by side; across: which block of columns."""
        known = dict(entry or {})
        known |= {ex: tile for ex in self.order if ex.op == "tile"}
        self._ready(ROW, 0, at, known)
        yield
        for stage, step in enumerate(self.loops.passes):
            starts = [r.start for r in self.known.passes[stage].reduces]
            wide = [numpy_dtype(r.dtype.compute) for r in step.reduces]
            totals = [np.asarray(start, d) for start, d in zip(starts, wide, strict=True)]
            for point in points:
                here, seen = at | point, dict(known)
                for k, r in enumerate(step.reduces):
                    value = self.value(r.value, here, seen).astype(totals[k].dtype)
                    totals[k] = self._joined(r.kind, totals[k], value, point)
                made = [(s, [self.value(ex, here, seen) for ex in s.inputs]) for s in step.stores]
                yield
                for s, inputs in made:
                    self._store(s, inputs, here, seen, number)
                yield
            for r, total in zip(step.reduces, totals, strict=True):
                found = [ex for ex in self.order if ex.op == "reduced" and ex.data is r]
                known |= dict.fromkeys(found, total)
            self._ready(ROW, stage + 1, at, known)
            yield
        for s in self.loops.row_stores:
            inputs = [self.value(ex, at, known) for ex in s.inputs]
            if s.mode == "partial":
                place = self.index(s.position, at, known) + across * self.rows
                self.cells[s.buffer][place] = inputs[-1]
            else:
                self._store(s, inputs, at, known, number)

    def _ready(self, level: int, stage: int, at: Axes, known: Known) -> None:
        """What is computed once, and before everything else."""
        for ex in self.order if self.ordered else ():
            if self.level[ex] == level and ex.stage == stage and ex.op != "reduced":
                self.value(ex, at, known)

    def _joined(self, kind: str, total: Array, value: Array, point: Axes) -> Array:
        if self.loops.across:
            return JOIN[kind](total, value)
        lanes = [len(x) for x in point.values() if np.ndim(x)]
        spread = np.broadcast_to(value, lanes[0]) if lanes else value.reshape(1)
        return JOIN[kind](total, JOIN[kind].reduce(spread, dtype=total.dtype))  # type: ignore[attr-defined]

    def _store(self, s: Store, inputs: list[Array], at: Axes, known: Known, number: int) -> None:
        cells, place, value = self.cells[s.buffer], self.index(s.position, at, known), inputs[-1]
        place, value = np.broadcast_arrays(place, value)
        if s.only is not None:
            inside = np.broadcast_to(inputs[-2], place.shape)
            place, value = place[inside], value[inside]
        if s.mode == "partial":
            place = place + number * self.columns
        if s.mode not in ("set", "over"):
            join = TABLE["add" if s.mode == "partial" else s.mode].reference
            value = join(np, cells[place], value.astype(cells.dtype))  # type: ignore[misc]
        cells[place] = value

    # ---- values

    def value(self, ex: Ex, at: Axes, known: Known) -> Array:
        """An expression at a point, in the type it is computed in."""
        if ex not in known:
            known[ex] = np.asarray(converted(self._made(ex, at, known), _register(ex)))
        return known[ex]

    def _made(self, ex: Ex, at: Axes, known: Known) -> Array:
        if ex.op == "load":
            number, position, guards = ex.data
            place = self.index(position, at, known)
            if not guards:
                return self.cells[number][place]
            place, inside = np.broadcast_arrays(place, self._inside(guards, at, known))
            return np.where(inside, self.cells[number][np.where(inside, place, 0)], 0)
        if ex.op == "const":
            return ex.data
        if ex.op == "index":
            return self.index(ex.data, at, known)
        if ex.op == "inside":
            return self._inside(ex.data, at, known)
        args = [self.value(arg, at, known) for arg in ex.args]
        if ex.op == "cast":
            return args[0]
        if ex.op == "bitcast":
            before = numpy_dtype(ex.args[0].dtype)
            return args[0].astype(before).view(numpy_dtype(ex.dtype))
        return TABLE[ex.op].reference(np, *args)  # type: ignore[misc]

    def _inside(self, guards: Sequence[Guard], at: Axes, known: Known) -> Array:
        result: Array = True
        for index, bound in guards:
            place = self.index(index, at, known)
            result = result & (place >= 0 if bound is None else place < bound)
        return result

    def index(self, index: Index, at: Axes, known: Known) -> Array:
        """An index at a point; axes that were merged away count as 0."""
        total: Array = np.asarray(index.constant)
        for atom, c in index.terms:
            if isinstance(atom, Axis):
                total = total + c * at.get(atom, 0)
            elif isinstance(atom, Looked):
                place = self.value(atom.value, at, known)
                place = np.where(place < 0, place + atom.size, place)
                total = total + c * np.clip(place, 0, max(0, atom.size - 1))
            elif isinstance(atom, Quotient):
                of = self.index(atom.of, at, known)
                whole = of % atom.by if isinstance(atom, Remainder) else of // atom.by
                total = total + c * whole
        return total


def _register(ex: Ex) -> Any:
    return numpy_dtype(ex.dtype.compute)
