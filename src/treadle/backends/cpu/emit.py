"""Loop programs as LLVM IR: rows shared out by blocks, passes over each row, vectors along an axis.

Parameters of a kernel, in words: rows per block, rows in all, scratch (base, bytes per thread),
then (base, byte offset) of every buffer, then the slots of its signature.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treadle.backends.cpu.lanes import Lanes, register_type
from treadle.backends.cpu.ops import JOIN, PRIMITIVES, joined, memory_type
from treadle.backends.cpu.points import Access, Point
from treadle.backends.cpu.still import Still
from treadle.backends.cpu.writer import Int, Writer, module
from treadle.base.dtypes import bool_
from treadle.base.errors import CompilerError, explain, needed
from treadle.base.target import Target
from treadle.kernel.abstract import Axis, Ex, Kernel, Pass, Reduce, Slot, Store, Sum
from treadle.kernel.choose import Style
from treadle.kernel.levels import ENTRY, ROW, Levels
from treadle.kernel.parser import parse

HEADER = 4  # words before the buffers
KERNEL = ["ptr %bases", "ptr %params", "i64 %block", "i64 %tid"]


class Emitter:
    """One kernel on its way to text."""

    def __init__(self, kernel: Kernel, target: Target, style: Style) -> None:
        self.kernel, self.style = kernel, style
        self.w = Writer("kernel", self.parameters())
        self.ln = Lanes(self.w, target.lanes, target)
        self.order = kernel.order
        self.to = Access(self.ln)
        axes = kernel.outer if kernel.across else kernel.inner
        self.vector: Axis | None = axes[-1] if axes else None
        levels = Levels(kernel)
        self.level, self.needs, self.kept = levels.level, levels.needs, levels.kept
        self.still = Still(kernel, levels.level)
        self.to.moving, self.to.inner = self.still.moving, set(kernel.inner)
        self.partial: dict[int, str] = {}

    # ---- the function

    def parameters(self) -> list[str]:
        """Of the function."""
        return KERNEL

    def text(self) -> str:
        """The module."""
        entry = self._prologue()
        self.body(entry)
        if any(a.stream for a in self.kernel.arguments) and self.ln.target.is_x86:
            self.w.call("void", "llvm.x86.sse.sfence")
        return module([self.w])

    def body(self, entry: Point) -> None:
        """All rows of a block."""
        if self.kernel.across:
            self._across_rows(entry)
        elif not self.kernel.outer:
            self._flat(entry)
        else:
            self._rows(entry)

    def _prologue(self) -> Point:
        """Load parameters and pointers, compute what never changes."""
        w, to = self.w, self.to
        for k in range(len(self.kernel.arguments)):
            number = w.word("%params", HEADER + 2 * k)
            base = w.load("ptr", w.gep("%bases", number, "ptr"), 8)
            to.pointers.append(w.gep(base, w.word("%params", HEADER + 2 * k + 1)))
        start = HEADER + 2 * len(self.kernel.arguments)
        for k, slot in enumerate(self.kernel.slots):
            place = w.gep("%params", start + k, "i64")
            kind = register_type(slot.dtype) if slot.dtype is not bool_ else "i8"
            to.slots.append(w.load(kind, place, 8))
        if self.kept and not self.kernel.tile:
            base = w.load("ptr", w.gep("%bases", w.word("%params", 2), "ptr"), 8)
            self.scratch = w.gep(base, w.mul("%tid", w.word("%params", 3)))
        entry = Point({}, None)
        self._compute([ex for ex in self.order if self.level[ex] == ENTRY], entry)
        return entry

    def _block(self) -> tuple[Int, Int]:
        """First and last unit of this block."""
        w = self.w
        grain, total = w.word("%params", 0), w.word("%params", 1)
        low = w.mul("%block", grain)
        return low, w.smaller(w.add(low, grain), total)

    def _flat(self, entry: Point) -> None:
        """No outer axes: a map over one long axis is cut by itself, a reduction is one row."""
        row = Point({}, None, parent=entry)
        one = self.kernel.passes[0] if len(self.kernel.passes) == 1 else None
        if one and not one.reduces and not self.kernel.row_stores and len(self.kernel.inner) == 1:
            self._compute_rows(row, 0)
            self._vectors(0, one, row, self._block())
        else:
            self._passes(row)

    def _rows(self, entry: Point) -> None:
        low, high = self._block()
        self._clear_partials()
        if not self.still.in_runs:
            with self.w.loop(low, high) as (r, _, _):
                self._passes(Point({self.kernel.outer[0]: r}, None, parent=entry))
            return
        w, (*others, last) = self.w, self.kernel.outer
        extent = self.to.slot(last.extent)
        runs = w.div(w.add(high, w.sub(extent, 1)), extent)
        with w.loop(w.div(low, extent), runs) as (run, _, _):
            around = Point(self._split(run, others), None, parent=entry)
            self._compute(self.still.values, around)
            self.to.prepare(self.still.indices, around)
            first = w.mul(run, extent)
            end = w.smaller(w.sub(high, first), extent)
            with w.loop(w.larger(w.sub(low, first), 0), end) as (r, _, _):
                self._passes(Point({last: r}, None, parent=around))

    def _split(self, unit: Int, axes: list[Axis]) -> dict[Axis, Int]:
        """Values of axes at a row-major position."""
        values: dict[Axis, Int] = {}
        for axis in reversed(axes[1:]):
            extent = self.to.slot(axis.extent)
            values[axis] = self.w.rem(unit, extent)
            unit = self.w.div(unit, extent)
        if axes:
            values[axes[0]] = unit
        return values

    def _across_rows(self, entry: Point) -> None:
        """Vectors along the last outer axis: every lane is a row of its own."""
        w, axis = self.w, needed("emit", self.vector, "axis")
        width = self.style.unroll * self.ln.lanes
        extent = self.to.slot(axis.extent)
        chunks = w.div(w.add(extent, width - 1), width)
        low, high = self._block()
        with w.loop(low, high) as (unit, _, _):
            start = w.mul(w.rem(unit, chunks), width)
            axes = self._split(w.div(unit, chunks), self.kernel.outer[:-1])
            points = []
            for u in range(self.style.unroll):
                at = w.add(start, u * self.ln.lanes)
                mask = "" if self.style.exact else w.lanes_below(w.sub(extent, at), self.ln.lanes)
                points.append(Point({**axes, axis: at}, axis, mask, parent=entry))
            self._passes(*points)

    # ---- one row: pass after pass

    def _passes(self, *rows: Point) -> None:
        """All passes over the rows at these points (several where vectors run across rows)."""
        for row in rows:
            self._compute_rows(row, 0)
        for number, step in enumerate(self.kernel.passes):
            if number == 1 and not self.kernel.across and self.kernel.outer:
                self.to.ahead = (self.kernel.outer[-1], 1)  # the next row, while there is time
            self._one_pass(number, step, rows)
            self.to.ahead = None
            for row in rows:
                self._compute_rows(row, number + 1)
        for row in rows:
            self.store_row(row)

    def store_row(self, row: Point) -> None:
        """What a row is reduced to."""
        for s in self.kernel.row_stores:
            pointer = self.pointer(s.buffer, s.position)
            self.to.store(pointer, s.position, row.value(s.value), s.value.dtype, row)

    def _compute_rows(self, row: Point, stage: int) -> None:
        ready = [ex for ex in self.order if self.level[ex] == ROW and ex.stage == stage]
        self._compute([ex for ex in ready if ex not in self.still.values], row)
        if stage == 0:
            self.to.prepare(self.still.indices, row, self.still.checks)

    def _one_pass(self, number: int, step: Pass, rows: tuple[Point, ...]) -> None:
        across = self.kernel.across
        copies = self.style.unroll
        carry: list[tuple[str, str]] = []
        for r in step.reduces:
            first = self.ln.number(r.start, r.dtype)
            carry += [(self.ln.type(r.dtype), first)] * copies
        inner = self.kernel.inner if across else self.kernel.inner[:-1]
        sums = self._nest(number, step, rows, inner, {}, carry)
        for k, r in enumerate(step.reduces):
            parts = sums[k * copies : (k + 1) * copies]
            if across:
                for row, part in zip(rows, parts, strict=True):
                    self._keep_reduced(r, row, part)
            else:
                self._keep_reduced(r, rows[0], joined(self.ln, r, parts))

    def _keep_reduced(self, r: Reduce, row: Point, value: str) -> None:
        for ex in self.order:
            if ex.op == "reduced" and ex.data is r:
                row.values[ex] = value

    def _nest(
        self, number: int, step: Pass, rows: tuple[Point, ...], axes: list[Axis],
        values: dict[Axis, Int], carry: list[tuple[str, str]],
    ) -> list[str]:  # fmt: skip
        """Scalar loops over the inner axes left, then the elements; returns the carried values."""
        if axes:
            with self.w.loop(*self.span(axes[0]), 1, carry) as (i, now, later):
                typed = [(t, v) for (t, _), v in zip(carry, now, strict=True)]
                later[:] = self._nest(number, step, rows, axes[1:], {**values, axes[0]: i}, typed)
            return now
        if self.kernel.across:
            return self._elements_across(number, step, rows, values, [v for _, v in carry])
        extent: Int = self.to.slot(self.vector.extent) if self.vector else 1
        line = Point(values, None, parent=rows[0])
        self.to.prepare(self.still.indices, line, self.still.along)
        return self._vectors(number, step, line, (0, extent), [v for _, v in carry])

    def span(self, axis: Axis) -> tuple[Int, Int]:
        """From where to where an inner axis runs."""
        return 0, self.to.slot(axis.extent)

    def pointer(self, buffer: int, place: Sum) -> str:
        """The memory in which a place is looked for."""
        return self.to.pointers[buffer]

    def _elements_across(
        self, number: int, step: Pass, rows: tuple[Point, ...], values: dict[Axis, Int],
        sums: list[str],
    ) -> list[str]:  # fmt: skip
        result = list(sums)
        copies = self.style.unroll
        for u, row in enumerate(rows):
            at = Point(dict(values), row.vector, row.mask, parent=row)
            mine = self._elements(number, step, at, result[u::copies], u)
            result[u::copies] = mine
        return result

    def _vectors(
        self, number: int, step: Pass, row: Point, bounds: tuple[Int, Int], sums: Sequence[str] = ()
    ) -> list[str]:
        """Vectors along the last inner axis: whole groups first, then masked ones."""
        w, lanes, copies = self.w, self.ln.lanes, self.style.unroll
        low, high = bounds
        types = [self.ln.type(r.dtype) for r in step.reduces for _ in range(copies)]
        carry = list(zip(types, sums, strict=True))
        width = lanes * copies
        size = 0 if self.style.exact else w.sub(high, low)
        whole = high if self.style.exact else w.add(low, w.mul(w.div(size, width), width))
        with w.loop(low, whole, width, carry) as (c, now, later):
            for u in range(copies):
                place = w.add(c, u * lanes)
                at = Point(self._along(place), self.vector, "", parent=row)
                later[u::copies] = self._elements(number, step, at, now[u::copies], 0)
        if self.style.exact:
            return now
        firsts = [(t, v) for (t, _), v in zip(carry[::copies], now[::copies], strict=True)]
        with w.loop(whole, high, lanes, firsts) as (c, tail, later):
            mask = w.lanes_below(w.sub(high, c), lanes)
            at = Point(self._along(c), self.vector, mask, parent=row)
            later[:] = self._elements(number, step, at, tail, 0)
        result = list(now)
        result[::copies] = tail
        return result

    def _along(self, place: Int) -> dict[Axis, Int]:
        return {self.vector: place} if self.vector else {}

    # ---- one vector

    def _elements(self, number: int, step: Pass, at: Point, sums: list[str], u: int) -> list[str]:
        """Compute a pass at one vector; returns the reductions' new values."""
        self._compute(self.needs[number], at, number, u)
        result = []
        for r, total in zip(step.reduces, sums, strict=True):
            value = at.value(r.value)
            if at.mask and not self.kernel.across:
                t = self.ln.type(r.dtype)
                empty = self.ln.number(r.start, r.dtype)
                mask = f"<{self.ln.lanes} x i1> {at.mask}"
                value = self.w.op(f"select {mask}, {t} {value}, {t} {empty}")
            result.append(JOIN[r.kind](self.ln, r.dtype, r.dtype, [value, total]))
        for s in step.stores:
            with self.to.where(s, at) as there:
                self._store(s, there)
        return result

    def _store(self, s: Store, at: Point) -> None:
        argument = self.kernel.arguments[s.buffer]
        value = at.value(s.value)
        pointer = self.pointer(s.buffer, s.position)
        if s.mode in ("set", "over"):
            stream = argument.stream and not at.mask and not s.updates
            self.to.store(pointer, s.position, value, argument.dtype, at, stream)
            return
        pointer = self.partial.get(s.buffer, pointer)
        join, d = PRIMITIVES["add" if s.mode == "partial" else s.mode], argument.dtype
        before = self.to.load(pointer, s.position, d, at)
        self.to.store(pointer, s.position, join(self.ln, d, d, [before, value]), d, at)

    def _clear_partials(self) -> None:
        """Every block has its own copy of the column sums, zero at first."""
        for step in self.kernel.passes:
            for s in step.stores:
                if s.mode == "partial" and s.buffer not in self.partial:
                    self.partial[s.buffer] = self._cleared(s)

    def _cleared(self, s: Store) -> str:
        w, d = self.w, self.kernel.arguments[s.buffer].dtype
        columns: Int = 1
        for axis in self.kernel.inner:
            columns = w.mul(columns, self.to.slot(axis.extent))
        element = memory_type(d)
        mine = w.gep(self.to.pointers[s.buffer], w.mul("%block", columns), element)
        with w.loop(0, columns) as (c, _, _):
            w.store(element, "0.0" if d.is_float else "0", w.gep(mine, c, element), d.size)
        return mine

    # ---- values

    def _compute(self, order: Iterable[Ex], at: Point, number: int = 0, u: int = 0) -> None:
        for ex in order:
            if ex in at.values or ex.op == "reduced":
                continue
            kept = self.kept.get(ex)
            if kept and kept[0] < number:
                at.values[ex] = self.w.load(self.ln.type(ex.dtype), self._scratch(ex, at, u), 64)
                continue
            at.values[ex] = self._make(ex, at)
            if kept:
                place = self._scratch(ex, at, u)
                self.w.store(self.ln.type(ex.dtype), at.values[ex], place, 64)

    def _scratch(self, ex: Ex, at: Point, u: int) -> str:
        """Where a kept value lives: rows of whole vectors, one after the other."""
        w, lanes = self.w, self.ln.lanes
        inner = self.kernel.inner if self.kernel.across else self.kernel.inner[:-1]
        position: Int = 0
        room: Int = 1
        for axis in inner:
            extent = self.to.slot(axis.extent)
            position = w.add(w.mul(position, extent), at.place(axis))
            room = w.mul(room, extent)
        if self.kernel.across:
            position = w.add(w.mul(position, lanes * self.style.unroll), u * lanes)
            room = w.mul(room, lanes * self.style.unroll)
        else:
            vector = needed("emit", self.vector, "axis")
            reach = w.add(self.to.slot(vector.extent), lanes - 1)
            padded = w.mul(w.div(reach, lanes), lanes)
            position = w.add(w.mul(position, padded), at.axes[vector])
            room = w.mul(room, padded)
        place = w.add(position, w.mul(room, self.kept[ex][1]))
        return w.gep(self.scratch, w.mul(place, 8))  # 8 bytes an element: room for any dtype

    def _make(self, ex: Ex, at: Point) -> str:
        to, ln = self.to, self.ln
        if ex.op == "load":
            buffer, place, guards = ex.data
            pointer, mask = self.pointer(buffer, place), to.inside(guards, at)
            return to.load(pointer, place, ex.dtype, at, mask, self.kernel.arguments[buffer].far)
        if ex.op == "const":
            if not isinstance(ex.data, Slot):
                return ln.number(ex.data, ex.dtype)
            value = to.slot(ex.data)
            if ex.dtype is bool_:
                value = self.w.op(f"trunc i8 {value} to i1")
            return self.w.splat(register_type(ex.dtype), value, ln.lanes)
        if ex.op == "index":
            return to.vector(ex.data, at)
        if ex.op == "inside":
            return to.inside(ex.data, at)
        if ex.op == "tile":
            return self.tile(ex, at)
        args = [at.value(arg) for arg in ex.args]
        first = ex.args[1] if ex.op == "where" else ex.args[0]
        return PRIMITIVES[ex.op](ln, first.dtype, ex.dtype, args)

    def tile(self, ex: Ex, at: Point) -> str:
        """An element of a product."""
        raise CompilerError(explain("emit", "there are no tiles", of=ex.op))


def kernel_text(text: str, style: Style, target: Target) -> str:
    """The IR module of the kernel that a signature's text describes; its function is `kernel`."""
    return Emitter(parse(text), target, style).text()
