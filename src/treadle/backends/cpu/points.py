"""Where a kernel is in its iteration space, and how indices, loads and stores look from there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from treadle.backends.cpu.division import quotient_by_floats
from treadle.backends.cpu.lanes import Lanes
from treadle.backends.cpu.ops import memory_type, narrow, widen
from treadle.backends.cpu.writer import Int
from treadle.base.dtypes import DType, int64
from treadle.base.errors import CompilerError, explain
from treadle.kernel.abstract import Atom, Axis, Ex, Factor, Guard, Looked, Slot, Store, Sum

Terms = tuple[tuple[Atom, Factor], ...]
Check = tuple[Sum, Slot | None]
"""An index and its bound, as in a Guard."""


@dataclass
class Point:
    """Values of the axes here; `vector` runs over lanes starting at its value."""

    axes: dict[Axis, Int]
    vector: Axis | None
    mask: str = ""  # lanes that exist; empty: all of them
    values: dict[Ex, str] = field(default_factory=dict)
    scalars: dict[Sum, Int] = field(default_factory=dict)
    totals: dict[Terms, Int] = field(default_factory=dict)  # of an index without its offset
    masks: dict[Check, str] = field(default_factory=dict)
    parent: Point | None = None  # a point further out whose values hold here too

    def seek(self, table: str, key: object) -> Any:
        """What one of the tables has for a key, here or further out; None if nothing."""
        point: Point | None = self
        while point is not None:
            value = getattr(point, table).get(key)
            if value is not None:
                return value
            point = point.parent
        return None

    def __contains__(self, axis: Axis) -> bool:
        return self.seek("axes", axis) is not None

    def find(self, ex: Ex) -> str | None:
        """The value of ex if it was computed here or further out."""
        found: str | None = self.seek("values", ex)
        return found

    def value(self, ex: Ex) -> str:
        """The value of ex, which was computed."""
        value = self.find(ex)
        if value is None:
            raise CompilerError(explain("emit", "a value is used before it is there", op=ex.op))
        return value

    def place(self, axis: Axis) -> Int:
        """Where along an axis this is."""
        found: Int | None = self.seek("axes", axis)
        if found is not None:
            return found
        raise CompilerError(explain("emit", "an axis is used outside of its loop", axis=axis.name))


class Access:
    """Index arithmetic, loads and stores at a point."""

    def __init__(self, ln: Lanes) -> None:
        self.ln, self.w = ln, ln.w
        self.slots: list[str] = []
        self.pointers: list[str] = []
        self.inner: set[Axis] = set()
        self.moving: list[set[Axis]] = []  # along which points further in move, the inmost first
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
        found = at.seek("scalars", index)
        if found is None:
            total = self._total(tuple(index.terms), at)
            found = self.w.add(total, self.slot(index.offset)) if index.offset else total
            at.scalars[index] = found
        return found

    def prepare(self, indices: Iterable[Sum], at: Point, guards: Iterable[Guard] = ()) -> None:
        """Compute whatever part of each index stays the same further in, and these guards."""
        for guard in guards:
            self.check(guard, at)
        for index in indices:
            for moving in self.moving:
                fixed = tuple(term for term in index.terms if self._is_fixed(term[0], moving))
                if all(axis in at for atom, _ in fixed for axis in atom.axes):
                    self._total(fixed, at)
                    break

    def _is_fixed(self, atom: Atom, moving: set[Axis]) -> bool:
        """Does it stay the same along these axes, and is it there before any pass?"""
        early = not any(value.stage or value.axes & self.inner for value in atom.looked)
        return early and not atom.axes & moving

    def _total(self, terms: Terms, at: Point) -> Int:
        """Terms without an offset; those that stay the same further out were added up there."""
        found = at.seek("totals", terms)
        if found is not None:
            return found
        total: Int = 0
        rest = terms
        for moving in self.moving:
            fixed = tuple(term for term in terms if self._is_fixed(term[0], moving))
            if fixed and fixed != terms:
                total = self._total(fixed, at)
                rest = tuple(term for term in terms if term not in fixed)
                break
        for atom, factor in rest:
            total = self.w.add(total, self.times(self._atom(atom, at), factor))
        at.totals[terms] = total
        return total

    def address(self, pointer: str, index: Sum, at: Point, element: str) -> str:
        """Of the index at lane 0: its offset comes last, so that others are reached from there."""
        place = self.w.gep(pointer, self._total(tuple(index.terms), at), element)
        return self.w.gep(place, self.slot(index.offset), element) if index.offset else place

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
        mask = ""
        for guard in guards:
            check = self.check(guard, at)
            mask = self.w.op(f"and <{self.ln.lanes} x i1> {mask}, {check}") if mask else check
        return mask

    def check(self, guard: Guard, at: Point) -> str:
        """The lanes in which one does."""
        key = (guard.index, guard.bound)
        found: str | None = at.seek("masks", key)
        if found is None:
            found = at.masks[key] = self._checked(*key, at)
        return found

    def _checked(self, index: Sum, slot: Slot | None, at: Point) -> str:
        w, n = self.w, self.ln.lanes
        relation, bound = ("slt", self.slot(slot)) if slot else ("sge", 0)
        if self.step(index, at) == "0":
            bits = f"sext i1 {w.compare(relation, self.scalar(index, at), bound)} to i{n}"
            return w.op(f"bitcast i{n} {w.op(bits)} to <{n} x i1>")
        if self.step(index, at) == "1":
            left = w.sub(bound, self.scalar(index, at))
            return w.lanes_below(left, n) if slot else w.lanes_from(left, n)
        value, wide = self.vector(index, at), w.splat("i64", str(bound), n)
        return w.op(f"icmp {relation} <{n} x i64> {value}, {wide}")

    # ---- memory

    def load(
        self, pointer: str, index: Sum, d: DType, at: Point, guard: str = "", far: bool = False
    ) -> str:
        """A load at every lane; lanes outside the mask or the guard read nothing and hold 0."""
        element, mask = memory_type(d), guard
        step = self.step(index, at)
        if step == "0" and not guard:
            place = self.address(pointer, index, at, element)
            one = self.w.load(element, place, d.size)
            return widen(self.ln, self.w.splat(element, one, self.ln.lanes), d)
        if at.mask:
            both = f"and <{self.ln.lanes} x i1> {mask}, {at.mask}"
            mask = self.w.op(both) if mask else at.mask
        if step == "1":
            place = self.address(pointer, index, at, element)
            self._fetch_ahead(index, place, element, mask)
            place = self._there(place, pointer, mask) if far and guard else place
            return widen(self.ln, self._run(place, element, d, mask), d)
        if step == "-1":
            return widen(self.ln, self._backwards(pointer, index, d, at, mask), d)
        if step == "2":
            place = self.address(pointer, index, at, element)
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
            self.w.prefetch(self.w.gep(place, self.times(rows, factor), element))

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

    def _backwards(self, pointer: str, index: Sum, d: DType, at: Point, mask: str) -> str:
        """Neighbouring elements, the last one first."""
        w, n, element = self.w, self.ln.lanes, memory_type(d)
        back = range(n - 1, -1, -1)
        first = w.gep(self.address(pointer, index, at, element), 1 - n, element)
        mask = w.shuffle("i1", mask, "poison", back, n) if mask else ""
        return w.shuffle(element, self._run(first, element, d, mask), "poison", back, n)

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
        place = self.address(pointer, index, at, element)
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
            place = self.address(pointer, index, at, element)
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
