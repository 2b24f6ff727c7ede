"""Programs that run on finished tiles of a product as LLVM IR: maps, and parts of reductions.

Parameters, in words: rows of a block, rows of a batch item, columns of a block, nothing; then as of
any loop kernel. Arguments: bases, params, the tile and its row stride, the batch item, the tile's
first row and column, and how many of each it has.
"""

from __future__ import annotations

from treadle.backends.cpu.emit import Emitter
from treadle.backends.cpu.lanes import register_type
from treadle.backends.cpu.ops import JOIN, joined, memory_type
from treadle.backends.cpu.points import Point
from treadle.backends.cpu.writer import Int
from treadle.base.errors import needed
from treadle.base.target import Target
from treadle.kernel.abstract import Axis, Ex, Reduce, Store
from treadle.kernel.choose import Style
from treadle.kernel.parser import parse

EPILOGUE = ["ptr %bases", "ptr %params", "ptr %tile", "i64 %stride", "i64 %batch", "i64 %m",
            "i64 %n", "i64 %rows", "i64 %cols"]  # fmt: skip


class EpilogueEmitter(Emitter):
    """One program on its way to text."""

    def parameters(self) -> list[str]:
        """Of the function."""
        return EPILOGUE

    def body(self, entry: Point) -> None:
        """Rows of a finished tile: the row number counts through batch and m."""
        w = self.w
        height = w.word("%params", 1)
        first = w.add(w.mul("%batch", height), "%m")
        (step,) = self.kernel.passes
        self._begin_parts(height, first)
        if self.kernel.outer:
            self.to.ahead = (self.kernel.outer[-1], "%rows")  # the tile below is the next one
        starts = [self.ln.number(r.start, r.dtype) for r in step.reduces]
        copies = self.style.unroll
        with w.loop(0, "%rows") as (i, _, _):
            row = Point(self._split(w.add(first, i), self.kernel.outer), None, parent=entry)
            self.tile_row = w.gep("%tile", w.mul(i, "%stride"), self._tile_type())
            self._compute_rows(row, 0)
            sums = [start for start in starts for _ in range(copies)]
            sums = self._vectors(0, step, row, ("%n", w.add("%n", "%cols")), sums)
            for k, r in enumerate(step.reduces):
                parts = sums[k * copies : (k + 1) * copies]
                self._keep_reduced(r, row, joined(self.ln, r, parts))
            self._compute_rows(row, 1)
            self.store_row(row)

    def _begin_parts(self, height: Int, row: Int) -> None:
        """Where blocks keep what they have of a reduction, which the first tile of each clears."""
        w = self.w
        stores = [s for s in self.kernel.passes[0].stores if s.mode == "partial"]
        if stores:
            tall = w.word("%params", 0)
            blocks = w.div(w.add(height, w.sub(tall, 1)), tall)
            block = w.add(w.mul("%batch", blocks), w.div("%m", tall))
            begins = w.compare("eq", w.rem("%m", tall), 0)
            for s in stores:
                self._begin(s, self.kernel.inner, block, begins, ("%n", "%cols"), 0)
        if self.kernel.row_stores:
            wide = w.word("%params", 2)
            begins = w.compare("eq", w.rem("%n", wide), 0)
            for s in self.kernel.row_stores:
                start = _reduce_of(s).start
                self._begin(s, self.kernel.outer, w.div("%n", wide), begins, (row, "%rows"), start)

    def _begin(
        self, s: Store, axes: list[Axis], block: Int, begins: str, span: tuple[Int, Int],
        start: float,
    ) -> None:  # fmt: skip
        """One buffer: a line of it for each block, along the axes that are left."""
        w, d = self.w, self.kernel.arguments[s.buffer].dtype
        for axis in axes:
            block = w.mul(block, self.to.slot(axis.extent))
        element = memory_type(d)
        mine = self.partial[s.buffer] = w.gep(self.to.pointers[s.buffer], block, element)
        with w.when(begins), w.loop(0, span[1]) as (c, _, _):
            vector = self.ln.number(start, d)
            value = w.op(f"extractelement {self.ln.type(d)} {vector}, i32 0")
            w.store(element, value, w.gep(mine, w.add(span[0], c), element), d.size)

    def store_row(self, row: Point) -> None:
        """What a row of the tile adds to what is there of reductions of it."""
        for s in self.kernel.row_stores:
            d, pointer = self.kernel.arguments[s.buffer].dtype, self.partial[s.buffer]
            before = self.to.load(pointer, s.position, d, row)
            total = JOIN[_reduce_of(s).kind](self.ln, d, d, [row.value(s.value), before])
            self.to.store(pointer, s.position, total, d, row)

    def _tile_type(self) -> str:
        tiles = [ex for ex in self.order if ex.op == "tile"]
        return register_type(tiles[0].dtype) if tiles else "float"

    def tile(self, ex: Ex, at: Point) -> str:
        """An element of the tile."""
        kind, vector = register_type(ex.dtype), needed("emit", self.vector, "axis")
        place = self.w.gep(self.tile_row, self.w.sub(at.axes[vector], "%n"), kind)
        return self.w.load(self.ln.type(ex.dtype), place, 4)


def _reduce_of(s: Store) -> Reduce:
    found: Reduce = s.value.data
    return found


def epilogue_text(text: str, style: Style, target: Target) -> str:
    """The IR module of the program that a signature's text describes; its function is `kernel`."""
    return EpilogueEmitter(parse(text), target, style).text()
