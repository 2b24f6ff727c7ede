"""Programs that run on tiles of a chain as LLVM IR: vectors along lanes, scratch and memory.

Arguments: bases, params (as of any loop kernel), the scratch of this thread, the batch item, the
first lane and stream position of the tile, and how many of each there are.
"""

from __future__ import annotations

from treadle.backends.cpu.emit import HEADER, Emitter
from treadle.backends.cpu.ops import memory_type
from treadle.backends.cpu.points import Point
from treadle.backends.cpu.writer import Int, module
from treadle.base.errors import needed
from treadle.base.target import Target
from treadle.kernel.abstract import Axis, Ex, Kernel, Store, Sum
from treadle.kernel.chain import LANES
from treadle.kernel.choose import Style
from treadle.kernel.parser import parse

TILE = ["ptr %bases", "ptr %params", "ptr %scratch", "i64 %batch", "i64 %lane", "i64 %stream",
        "i64 %lanes", "i64 %streams"]  # fmt: skip


class TileEmitter(Emitter):
    """One program on its way to text."""

    def __init__(self, kernel: Kernel, target: Target, style: Style) -> None:
        super().__init__(kernel, target, style)
        self.places: dict[tuple[int, Sum], str] = {}

    def parameters(self) -> list[str]:
        """Of the function."""
        return TILE

    def text(self) -> str:
        """The module."""
        entry = self._prologue()
        w, lanes = self.w, self.ln.lanes
        for ex in self.order:
            if ex.op == "load":
                self._settle(ex.data[0], ex.data[1])
        for step in self.kernel.passes:
            for s in step.stores:
                self._settle(s.buffer, s.position)
        for s in self.kernel.row_stores:
            self._settle(s.buffer, s.position)
        axis = needed("emit", self.vector, "axis")
        axes = self._split("%batch", self.kernel.outer[:-1])
        with w.loop(0, "%lanes", self.style.unroll * lanes) as (start, _, _):
            points = []
            for u in range(self.style.unroll):
                first = w.add(start, u * lanes)
                mask = w.lanes_below(w.sub("%lanes", first), lanes)
                at = {**axes, axis: w.add("%lane", first)}
                points.append(Point(at, axis, mask, parent=entry))
            self._passes(*points)
        return module([w])

    def span(self, axis: Axis) -> tuple[Int, Int]:
        """The part of the stream that is in the tile."""
        return "%stream", self.w.add("%stream", "%streams")

    # ---- scratch

    def _scratch(self, ex: Ex, at: Point, u: int) -> str:
        """Where a value is kept from one pass over the tile to the next."""
        w, axis = self.w, needed("emit", self.vector, "axis")
        row = w.sub(at.place(self.kernel.inner[0]), "%stream")
        position = w.add(w.mul(row, LANES), w.sub(at.place(axis), "%lane"))
        place = w.add(position, w.mul(w.mul("%streams", LANES), self.kept[ex][1]))
        base = w.gep("%scratch", w.word("%params", 3))
        return w.gep(base, w.mul(place, 8))

    def _settle(self, buffer: int, place: Sum) -> None:
        """Where scratch would begin if its positions counted as those of memory do."""
        argument = self.kernel.arguments[buffer]
        if not argument.local or (buffer, place) in self.places:
            return
        w, to = self.w, self.to
        base = w.gep("%scratch", w.word("%params", HEADER + 2 * buffer + 1))
        before = to.times("%lane", place.factor(self.vector))
        for axis in self.kernel.inner:
            before = w.add(before, to.times("%stream", place.factor(axis)))
        start = w.gep(base, w.sub(0, before), memory_type(argument.dtype))
        self.places[buffer, place] = start

    def pointer(self, buffer: int, place: Sum) -> str:
        """The memory in which a place is looked for."""
        self._settle(buffer, place)  # here only for what never moves: all others are settled before
        return self.places.get((buffer, place)) or super().pointer(buffer, place)

    def _make(self, ex: Ex, at: Point) -> str:
        if ex.op == "load" and self.kernel.arguments[ex.data[0]].local:
            mask, at.mask = at.mask, ""  # scratch is there for every lane
            value = super()._make(ex, at)
            at.mask = mask
            return value
        return super()._make(ex, at)

    def _store(self, s: Store, at: Point) -> None:
        local = self.kernel.arguments[s.buffer].local
        mask, at.mask = at.mask, "" if local else at.mask
        super()._store(s, at)
        at.mask = mask


def tile_text(text: str, style: Style, target: Target) -> str:
    """The IR module of the program that a signature's text describes; its function is `kernel`."""
    return TileEmitter(parse(text), target, style).text()
