"""Where a kernel is in its iteration space, and how indices, loads and stores look from there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from treadle.backends.cpu.division import quotient_by_floats
from treadle.backends.cpu.lanes import Lanes
from treadle.backends.cpu.ops import memory_type, narrow, widen
from treadle.backends.cpu.writer import Int
from treadle.base.dtypes import DType, int64
from treadle.base.errors import CompilerError, explain
from treadle.kernel.abstract import Atom, Axis, Ex, Factor, Guard, Looked, Slot, Store, Sum


@dataclass
class Point:
    """Values of the axes here; `vector` runs over lanes starting at its value."""

    axes: dict[Axis, Int]
    vector: Axis | None
    mask: str = ""  # lanes that exist; empty: all of them
    values: dict[Ex, str] = field(default_factory=dict)
    scalars: dict[Sum, Int] = field(default_factory=dict)
    parts: dict[Sum, Int] = field(default_factory=dict)  # what of an index is the same all along
    parent: Point | None = None  # a point further out whose values hold here too

    def find(self, ex: Ex) -> str | None:
        """The value of ex if it was computed here or further out."""
        point: Point | None = self
        while point is not None:
            value = point.values.get(ex)
            if value is not None:
                return value
            point = point.parent
        return None

    def value(self, ex: Ex) -> str:
        """The value of ex, which was computed."""
        value = self.find(ex)
        if value is None:
            raise CompilerError(explain("emit", "a value is used before it is there", op=ex.op))
        return value

    def place(self, axis: Axis) -> Int:
        """Where along an axis this is."""
        point: Point | None = self
        while point is not None:
            if axis in point.axes:
                return point.axes[axis]
            point = point.parent
        raise CompilerError(explain("emit", "an axis is used outside of its loop", axis=axis.name))


class Access:
    """Index arithmetic, loads and stores at a point."""

    def __init__(self, ln: Lanes) -> None:
        self.ln, self.w = ln, ln.w
        self.slots: list[str] = []
        self.pointers: list[str] = []
        self.inner: set[Axis] = set()
        self.ahead: tuple[Axis, Int] | None = None  # loads ask for data so many rows ahead too

    def slot(self, slot: Slot) -> str:
        """The run-time value of a parameter."""
        return self.slots[slot.number]

    def times(self, value: Int, factor: Factor) -> Int:
        """A value scaled by a number of the text or by a parameter."""
        return self.w.mul(value, self.slot(factor) if isinstance(factor, Slot) else factor)

    def lanes_times(self, value: str, factor: Factor) -> str:
        """The same in every lane."""
        if factor == 1:
            return value
        n = self.ln.lanes
        plain = f"splat (i64 {factor})"
        spread = self.w.splat("i64", self.slot(factor), n) if isinstance(factor, Slot) else plain
        return self.w.op(f"mul <{n} x i64> {value}, {spread}")

    # ---- indices

    def scalar(self, index: Sum, at: Point) -> Int:
        """The index at lane 0."""
        point: Point | None = at
        while point is not None:
            if index in point.scalars:
                return point.scalars[index]
            point = point.parent
        total = at.scalars[index] = self._sum(index, at)
        return total

    def prepare(self, index: Sum, row: Point, inner: set[Axis]) -> None:
        """Compute at the row whatever part of the index stays the same along it."""
        fixed = [t for t in index.terms if self._is_fixed(t[0], row, inner)]
        if len(fixed) == len(index.terms):
            self.scalar(index, row)
        elif fixed or index.offset:
            row.parts[index] = self._total(row, fixed, index.offset)

    def _is_fixed(self, atom: Atom, row: Point, inner: set[Axis]) -> bool:
        if isinstance(atom, Axis):
            return atom not in inner
        if isinstance(atom, Looked):
            return row.find(atom.value) is not None
        return all(self._is_fixed(inside, row, inner) for inside, _ in atom.of.terms)

    def _sum(self, index: Sum, at: Point) -> Int:
        row = at.parent
        if row is not None and index in row.parts:
            moving = [t for t in index.terms if not self._is_fixed(t[0], row, self.inner)]
            return self.w.add(row.parts[index], self._total(at, moving, None))
        return self._total(at, index.terms, index.offset)

    def _total(self, at: Point, terms: list[tuple[Atom, Factor]], offset: Slot | None) -> Int:
        total: Int = 0
        for atom, factor in terms:
            total = self.w.add(total, self.times(self._atom(atom, at), factor))
        return self.w.add(total, self.slot(offset)) if offset else total

    def _atom(self, atom: Atom, at: Point) -> Int:
        if isinstance(atom, Axis):
            return at.place(atom)
        if isinstance(atom, Looked):
            lanes = f"{self.ln.type(atom.value.dtype)} {at.value(atom.value)}"
            lane = self.w.op(f"extractelement {lanes}, i32 0")
            return self._clamped(lane, self.slot(atom.size), "")
        of, by = self.scalar(atom.of, at), self.slot(atom.by)
        return self.w.rem(of, by) if atom.remains else self.w.div(of, by)

    def _clamped(self, value: str, size: str, prefix: str) -> str:
        """A looked-up index made safe: negative counts from the end, then kept in range."""
        w = self.w
        if prefix:
            t, name = f"{prefix} i64>", f"v{self.ln.lanes}i64"
            size = w.splat("i64", size, self.ln.lanes)
            one, zero = "splat (i64 1)", "zeroinitializer"
        else:
            t, name, one, zero = "i64", "i64", "1", "0"
        wrapped = w.op(f"add {t} {value}, {size}")
        negative = w.op(f"icmp slt {t} {value}, {zero}")
        flag = f"{prefix} i1>" if prefix else "i1"
        value = w.op(f"select {flag} {negative}, {t} {wrapped}, {t} {value}")
        top = w.op(f"sub {t} {size}, {one}")
        value = w.call(t, f"llvm.smin.{name}", f"{t} {value}", f"{t} {top}")
        return w.call(t, f"llvm.smax.{name}", f"{t} {value}", f"{t} {zero}")

    def step(self, index: Sum, at: Point) -> str:
        """How the index moves from lane to lane: "0", "1", "-1", "2", or "" for anything else."""
        v = at.vector
        if v is None:
            return "0"
        entangled = any(v in atom.axes for atom, _ in index.terms if atom is not v)
        factor = index.factor(v)
        return "" if entangled or isinstance(factor, Slot) else str(factor)

    def _stride(self, index: Sum, at: Point) -> Int | None:
        """How far the index moves from lane to lane, if that is the same from each to the next."""
        v = at.vector
        if v is None or any(v in atom.axes for atom, _ in index.terms if atom is not v):
            return None
        factor = index.factor(v)
        return self.slot(factor) if isinstance(factor, Slot) else factor

    def vector(self, index: Sum, at: Point) -> str:
        """The index in every lane, as <L x i64>."""
        w, n = self.w, self.ln.lanes
        t = f"<{n} x i64>"
        if self.step(index, at) == "0":
            return w.splat("i64", str(self.scalar(index, at)), n)
        if self.step(index, at) == "1":
            start = w.splat("i64", str(self.scalar(index, at)), n)
            return w.op(f"add {t} {start}, {self.numbers()}")
        total = "zeroinitializer"
        for atom, factor in index.terms:
            value = self.lanes_times(self._lanes_of(atom, at), factor)
            total = w.op(f"add {t} {total}, {value}")
        if index.offset:
            offset = w.splat("i64", self.slot(index.offset), n)
            total = w.op(f"add {t} {total}, {offset}")
        return total

    def _lanes_of(self, atom: Atom, at: Point) -> str:
        w, n = self.w, self.ln.lanes
        t = f"<{n} x i64>"
        if isinstance(atom, Axis):
            start = w.splat("i64", str(at.place(atom)), n)
            return w.op(f"add {t} {start}, {self.numbers()}") if atom is at.vector else start
        if isinstance(atom, Looked):
            return self._clamped(at.value(atom.value), self.slot(atom.size), f"<{n} x")
        by, of = w.splat("i64", self.slot(atom.by), n), self.vector(atom.of, at)
        whole = quotient_by_floats(self.ln, int64, of, by)
        if not atom.remains:
            return whole
        return w.op(f"sub {t} {of}, {w.op(f'mul {t} {whole}, {by}')}")

    def numbers(self) -> str:
        """<0, 1, 2, ...>."""
        return "<" + ", ".join(f"i64 {k}" for k in range(self.ln.lanes)) + ">"

    def inside(self, guards: list[Guard], at: Point) -> str:
        """The lanes in which every guard holds; empty if there is none: all of them."""
        w, n = self.w, self.ln.lanes
        result = ""
        for guard in guards:
            value = self.vector(guard.index, at)
            for slot, relation in ((guard.low, "sge"), (guard.high, "slt")):
                bound = w.splat("i64", self.slot(slot), n)
                check = w.op(f"icmp {relation} <{n} x i64> {value}, {bound}")
                result = w.op(f"and <{n} x i1> {result}, {check}") if result else check
        return result

    # ---- memory

    def load(self, pointer: str, index: Sum, d: DType, at: Point, guard: str = "") -> str:
        """A load at every lane; lanes outside the mask or the guard read nothing and hold 0."""
        element, mask = memory_type(d), guard
        step = self.step(index, at)
        if step == "0" and not guard:
            place = self.w.gep(pointer, self.scalar(index, at), element)
            one = self.w.load(element, place, d.size)
            return widen(self.ln, self.w.splat(element, one, self.ln.lanes), d)
        if at.mask:
            both = f"and <{self.ln.lanes} x i1> {mask}, {at.mask}"
            mask = self.w.op(both) if mask else at.mask
        if step == "1":
            place = self.w.gep(pointer, self.scalar(index, at), element)
            self._fetch_ahead(index, place, element, mask)
            place = self._there(place, pointer, mask) if guard else place
            return widen(self.ln, self._run(place, element, d, mask), d)
        if step == "-1" and not mask:
            first = self.w.add(self.scalar(index, at), 1 - self.ln.lanes)
            run = self._run(self.w.gep(pointer, first, element), element, d, "")
            back = range(self.ln.lanes - 1, -1, -1)
            run = self.w.shuffle(element, run, "poison", back, self.ln.lanes)
            return widen(self.ln, run, d)
        if step == "2":
            place = self.w.gep(pointer, self.scalar(index, at), element)
            return widen(self.ln, self._every_other(place, element, d, mask), d)
        return widen(self.ln, self._gather(pointer, index, d, at, mask), d)

    def _there(self, place: str, pointer: str, mask: str) -> str:
        """The place if any lane is read: to ask for none where no memory is takes microseconds."""
        w, n = self.w, self.ln.lanes
        bits = w.op(f"bitcast <{n} x i1> {mask} to i{n}")
        some = w.op(f"icmp ne i{n} {bits}, 0")
        return w.op(f"select i1 {some}, ptr {place}, ptr {pointer}")

    def _fetch_ahead(self, position: Sum, place: str, element: str, mask: str) -> None:
        """Ask for the same columns some rows further on, if a later row reads other elements."""
        if self.ahead is None or mask:
            return
        axis, rows = self.ahead
        factor = position.factor(axis)
        if factor:
            there = self.w.gep(place, self.times(rows, factor), element)
            self.w.call("void", "llvm.prefetch.p0", f"ptr {there}", "i32 0", "i32 3", "i32 1")

    def _run(self, place: str, element: str, d: DType, mask: str) -> str:
        """Neighbouring elements."""
        n = self.ln.lanes
        t = f"<{n} x {element}>"
        if not mask:
            return self.w.load(t, place, d.size)
        name = f"llvm.masked.load.v{n}{suffix(element)}.p0"
        return self.w.call(
            t, name, f"ptr {place}", f"i32 {d.size}", f"<{n} x i1> {mask}", f"{t} zeroinitializer"
        )

    def _every_other(self, place: str, element: str, d: DType, mask: str) -> str:
        """Elements 0, 2, 4, ... of a run; those between, which may not exist, are not read."""
        w, n = self.w, self.ln.lanes
        lanes = mask or f"<{', '.join(['i1 true'] * n)}>"
        halves = []
        for half in range(2):
            spread = [k // 2 + half * n // 2 if k % 2 == 0 else n for k in range(n)]
            wanted = w.shuffle("i1", lanes, "zeroinitializer", spread, n)
            start = w.gep(place, half * n, element)
            halves.append(self._run(start, element, d, wanted))
        return w.shuffle(element, halves[0], halves[1], range(0, 2 * n, 2), n)

    def _gather(self, pointer: str, index: Sum, d: DType, at: Point, mask: str) -> str:
        n, element = self.ln.lanes, memory_type(d)
        t = f"<{n} x {element}>"
        where = self.vector(index, at)
        places = self.w.op(f"getelementptr {element}, ptr {pointer}, <{n} x i64> {where}")
        mask = mask or "splat (i1 true)"
        name = f"llvm.masked.gather.v{n}{suffix(element)}.v{n}p0"
        return self.w.call(
            t, name, f"<{n} x ptr> {places}", f"i32 {d.size}", f"<{n} x i1> {mask}",
            f"{t} zeroinitializer",
        )  # fmt: skip

    @contextmanager
    def where(self, s: Store, at: Point) -> Iterator[Point]:
        """Where a store takes place: in some lanes, or after a branch if they all agree."""
        if s.only is None:
            yield at
            return
        flags, lanes = at.find(s.only), f"<{self.ln.lanes} x i1>"
        if self.step(s.position, at) in ("0", "1"):
            with self.w.when(self.w.op(f"extractelement {lanes} {flags}, i32 0")):
                yield Point(at.axes, at.vector, at.mask, parent=at)
            return
        mask = self.w.op(f"and {lanes} {flags}, {at.mask}") if at.mask else flags
        yield Point(at.axes, at.vector, mask or "", parent=at)

    def store(self, pointer: str, index: Sum, value: str, d: DType, at: Point,
              stream: bool = False) -> None:  # fmt: skip
        """Store a vector: at neighbours, at one place if it does not move, or where each goes."""
        n, element = self.ln.lanes, memory_type(d)
        value = narrow(self.ln, value, d)
        t = f"<{n} x {element}>"
        step = self.step(index, at)
        if step not in ("0", "1"):
            self._scatter(pointer, index, f"{t} {value}", d, at)
            return
        place = self.w.gep(pointer, self.scalar(index, at), element)
        if step == "0":
            one = self.w.op(f"extractelement {t} {value}, i32 0")
            self.w.store(element, one, place, d.size)
        elif at.mask:
            name = f"llvm.masked.store.v{n}{suffix(element)}.p0"
            self.w.call("void", name, f"{t} {value}", f"ptr {place}", f"i32 {d.size}",
                        f"<{n} x i1> {at.mask}")  # fmt: skip
        else:
            align = min(64, n * d.size) if stream else d.size
            self.w.store(t, value, place, align, stream)

    def _scatter(self, pointer: str, index: Sum, value: str, d: DType, at: Point) -> None:
        n, element = self.ln.lanes, memory_type(d)
        stride = self._stride(index, at)
        if stride is not None and not at.mask:  # lane by lane: scatters are slow on many processors
            place = self.w.gep(pointer, self.scalar(index, at), element)
            for lane in range(n):
                one = self.w.op(f"extractelement {value}, i32 {lane}")
                self.w.store(
                    element, one, self.w.gep(place, self.w.mul(stride, lane), element), d.size
                )
            return
        where = self.vector(index, at)
        places = self.w.op(f"getelementptr {element}, ptr {pointer}, <{n} x i64> {where}")
        name = f"llvm.masked.scatter.v{n}{suffix(element)}.v{n}p0"
        mask = f"<{n} x i1> {at.mask or 'splat (i1 true)'}"
        self.w.call("void", name, value, f"<{n} x ptr> {places}", f"i32 {d.size}", mask)


def suffix(element: str) -> str:
    """What the names of intrinsics call an element in memory."""
    return {"float": "f32", "double": "f64", "half": "f16"}.get(element, element)
