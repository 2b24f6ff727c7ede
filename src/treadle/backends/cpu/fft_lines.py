"""A long line as a matrix: its columns are transformed, multiplied by factors, and then its rows.

With n = rows * columns, element j1 columns + j2 of the line and k1 + rows k2 of its transform: a
vector holds neighbouring columns j2 at first and neighbouring rows k1 then, so that memory is read
and written in vectors. What lies between is turned in squares.
"""

from __future__ import annotations

from treadle.backends.cpu.fft_lanes import folded
from treadle.backends.cpu.fft_passes import Frame
from treadle.backends.cpu.fft_values import Pair, both, mixed, parted, transposed
from treadle.backends.cpu.writer import Int, Writer
from treadle.base.dtypes import DType
from treadle.base.target import Target

NAMES = (
    "points in_outer out_outer passes plan twiddles folds columns rows column_blocks row_blocks "
    "stride room column_passes column_plan column_twiddles corner edge chunk chunks"
)

BLOCKS = ("i64 %number", "ptr %near", "ptr %far")  # which block, and places for its points


class Lines(Frame):
    """A kernel that works on one line at a time.

    - **form**: "complex", or "forward" and "backward" between reals and half a spectrum
    """

    def __init__(
        self, d: DType, radices: tuple[int, ...], form: str, inverse: bool, symbol: str,
        target: Target,
    ) -> None:  # fmt: skip
        super().__init__(symbol, d, radices, inverse, NAMES, target)
        self.form, self.symbol = form, symbol

    def written(self) -> list[Writer]:
        """The functions of the module."""
        if self.symbol != "fold":
            self.write_passes(False)
        if self.symbol in ("line", "column"):
            self._write_columns()
        if self.symbol in ("line", "row"):
            self._write_rows()
        getattr(self, f"_{self.symbol}")()
        return self.functions

    # ---- whole lines, or blocks of them

    def _line(self) -> None:
        """Items are lines; all that lies between is this thread's own memory."""
        w, p = self.w, self.p
        near, far, matrix, points = self._memory()
        with p.items() as line:
            source, out = self._source(line), self._out(line)
            if self.form == "backward":
                self.fold(source, points, 0, w.add(w.div(p["points"], 2), 1))
                source = points
            with w.loop(0, p["column_blocks"]) as (block, _, _):
                self.columns(source, matrix, block, (near, far))
            with w.loop(0, p["row_blocks"]) as (block, _, _):
                self.rows(matrix, out, block, (near, far))
            if self.form == "forward":
                self.fold(out, out, 0, w.add(w.div(p["points"], 2), 1))

    def _column(self) -> None:
        """Items are blocks of columns of a line."""
        w, p = self.w, self.p
        near, far, _, _ = self._memory()
        with p.items() as item:
            line, block = w.div(item, p["column_blocks"]), w.rem(item, p["column_blocks"])
            source = self._points(line) if self.form == "backward" else self._source(line)
            self.columns(source, self._matrix(line), block, (near, far))

    def _row(self) -> None:
        """Items are blocks of rows of a line."""
        w, p = self.w, self.p
        near, far, _, _ = self._memory()
        with p.items() as item:
            line, block = w.div(item, p["row_blocks"]), w.rem(item, p["row_blocks"])
            self.rows(self._matrix(line), self._out(line), block, (near, far))

    def _fold(self) -> None:
        """Items are some points of a line and those that mirror them."""
        w, p = self.w, self.p
        with p.items() as item:
            line, chunk = w.div(item, p["chunks"]), w.rem(item, p["chunks"])
            low = w.mul(chunk, p["chunk"])
            high = w.smaller(w.add(low, p["chunk"]), w.add(w.div(p["points"], 2), 1))
            out = self._out(line)
            if self.form == "forward":
                self.fold(out, out, low, high)
            else:
                self.fold(self._source(line), self._points(line), low, high)

    def _memory(self) -> tuple[str, str, str, str]:
        """Of this thread: two places for the points of a block, a matrix, the points of a line."""
        w, p, lanes = self.w, self.p, 2 * self.lanes
        near = self.p.scratch()
        most = w.mul(w.larger(p["rows"], p["columns"]), lanes)
        far = self.place(near, most)
        matrix = self.place(far, most)
        return near, far, matrix, self.place(matrix, w.mul(p["rows"], p["stride"]))

    def _source(self, line: Int) -> str:
        return self.place(self.p.pointers["source"], self.w.mul(line, self.p["in_outer"]))

    def _out(self, line: Int) -> str:
        return self.place(self.p.pointers["out"], self.w.mul(line, self.p["out_outer"]))

    def _matrix(self, line: Int) -> str:
        """Of a line, where all lie in memory; the points of a backward one follow it."""
        return self.place(self.p.pointers["temporary"], self.w.mul(line, self.p["room"]))

    def _points(self, line: Int) -> str:
        return self.place(self._matrix(line), self.w.mul(self.p["rows"], self.p["stride"]))

    # ---- columns and rows

    def columns(self, source: str, matrix: str, block: Int, places: tuple[str, str]) -> None:
        """Transform a vector of columns, into the matrix; the last block overlaps."""
        self._call("columns", source, matrix, block, places)

    def rows(self, matrix: str, out: str, block: Int, places: tuple[str, str]) -> None:
        """Transform a vector of rows of the matrix; the last block overlaps."""
        self._call("rows", matrix, out, block, places)

    def _call(self, name: str, a: str, b: str, block: Int, places: tuple[str, str]) -> None:
        near, far = places
        self.call(name, f"ptr {a}", f"ptr {b}", f"i64 {block}", f"ptr {near}", f"ptr {far}")

    def _write_columns(self) -> None:
        with self.function("columns", "ptr %from", "ptr %to", *BLOCKS):
            w, p, lanes = self.w, self.p, self.lanes
            plan, twiddles = self.address("column_plan"), self.address("column_twiddles")
            first = w.smaller(w.mul("%number", lanes), w.sub(p["columns"], lanes))
            start = self.place("%from", w.mul(first, 2))
            step, scale = w.mul(p["columns"], 2), self.scaling()

            def load(row: Int) -> Pair:
                at = w.mul(row, step)
                x = parted(self.load(start, at), self.load(start, w.add(at, lanes)))
                return self.turned(x.scaled(scale))

            self.pass_(plan, twiddles, 0, load, self.putter("%near"), True, False)
            last = w.sub(p["column_passes"], 1)
            made = self.passes(plan, twiddles, 1, last, ("%near", "%far"))
            corner = self.address("corner")
            edge = self.place(self.address("edge"), w.mul("%number", w.mul(p["rows"], 2)))
            there = self.place("%to", w.mul("%number", 2 * lanes))

            def store(row: Int, x: Pair) -> None:
                y = x * (self.get(corner, row) * self.factor(edge, row))
                at, align = w.mul(row, p["stride"]), lanes * self.size
                self.store(y.re, there, at, align)
                self.store(y.im, there, w.add(at, lanes), align)

            self.pass_(plan, twiddles, last, self.getter(made), store, False, True)

    def _write_rows(self) -> None:
        with self.function("rows", "ptr %from", "ptr %to", *BLOCKS):
            w, p, lanes = self.w, self.p, self.lanes
            plan, twiddles = self.address("plan"), self.address("twiddles")
            first = w.smaller(w.mul("%number", lanes), w.sub(p["rows"], lanes))
            self._turn(self.place("%from", w.mul(first, p["stride"])), "%near")
            last = w.sub(p["passes"], 1)
            made = self.passes(plan, twiddles, 0, last, ("%near", "%far"))
            start, step = self.place("%to", w.mul(first, 2)), w.mul(p["rows"], 2)

            def store(row: Int, x: Pair) -> None:
                low, high = mixed(self.turned(x))
                at = w.mul(row, step)
                self.store(low, start, at)
                self.store(high, start, w.add(at, lanes))

            self.pass_(plan, twiddles, last, self.getter(made), store, False, True)

    def _turn(self, matrix: str, place: str) -> None:
        """Rows of the matrix as points."""
        w, p, lanes = self.w, self.p, self.lanes
        align = lanes * self.size
        steps = [w.mul(p["stride"], i) for i in range(lanes)]
        with w.loop(0, p["column_blocks"]) as (k, _, _):
            column = w.smaller(w.mul(k, lanes), w.sub(p["columns"], lanes))
            for part in (0, lanes):
                at = w.add(w.mul(k, 2 * lanes), part)
                square = [self.load(matrix, w.add(at, step), align) for step in steps]
                for i, x in enumerate(transposed(square)):
                    row = w.mul(w.add(column, i), 2 * lanes)
                    self.store(x, place, w.add(row, part), align)

    # ---- reals

    def fold(self, source: str, out: str, low: Int, high: Int) -> None:
        """Points low to high, up to the middle, and those that mirror them; see `Lanes.fold`."""
        w, lanes = self.w, self.lanes
        table = self.address("folds")
        with w.when(w.compare("eq", low, 0)):
            self._fold_ends(source, out)
        low = w.larger(low, 1)
        count = w.sub(high, low)
        whole = w.add(low, w.mul(w.div(w.larger(count, 0), lanes), lanes))
        with w.loop(low, whole, lanes) as (k, _, _):
            self._fold_some(source, out, table, k, lanes)
        with w.loop(whole, high) as (k, _, _):
            self._fold_some(source, out, table, k, 1)

    def _fold_ends(self, source: str, out: str) -> None:
        n = self.w.mul(self.p["points"], 2)
        a = self.load(source, 0, 0, 1)
        if self.form == "forward":
            b, zero = self.load(source, 1, 0, 1), a.constant(0.0)
            for x, at in (((a + b) * 2.0, 0), ((a - b) * 2.0, n)):
                self.store(x, out, at)
                self.store(zero, out, self.w.add(at, 1))
        else:
            b = self.load(source, n, 0, 1)
            self.store(a + b, out, 0)
            self.store(a - b, out, 1)

    def _fold_some(self, source: str, out: str, table: str, k: Int, lanes: int) -> None:
        w = self.w
        at, count = w.mul(k, 2), 2 * lanes
        other = w.mul(w.sub(w.sub(self.p["points"], k), lanes - 1), 2)
        near, turn = (self._parted(base, at, lanes) for base in (source, table))
        a, b = (self.load(source, w.add(other, i * lanes), 0, lanes) for i in (0, 1))
        back = range(count - 2, -1, -2)
        far = Pair(both(a, b, back), both(a, b, [i + 1 for i in back]))
        low, high = folded(near, far, turn, self.form)
        order = [lanes - 1 - i // 2 + (lanes if i % 2 else 0) for i in range(count)]
        ends = [both(high.re, high.im, part) for part in (order[:lanes], order[lanes:])]
        for start, vectors in ((at, mixed(low)), (other, ends)):
            for i, x in enumerate(vectors):
                self.store(x, out, w.add(start, i * lanes))

    def _parted(self, base: str, at: Int, lanes: int) -> Pair:
        first = self.load(base, at, 0, lanes)
        return parted(first, self.load(base, self.w.add(at, lanes), 0, lanes))
