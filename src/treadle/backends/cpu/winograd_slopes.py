"""How the gradient of 3 x 3 kernels is computed by sixteen products for every four windows.

The maps of a correlation turned around: squares of the input become points as they do forwards,
squares of 2 x 2 cotangents become as many, their products are summed over all squares, and nine
taps are made of the sums. A task takes some channels and outputs through a run of squares; what
the runs of squares come to is added up in their order, so threads do not change a bit.
"""

from __future__ import annotations

from dataclasses import replace

from treadle.backends.cpu.gemm_params import ENTRY_PARAMS, Params, call_epilogue
from treadle.backends.cpu.gemm_tiles import (
    KERNEL_TYPES,
    Tile,
    micro_kernel,
    pieces,
    read_vector,
    tile_for,
)
from treadle.backends.cpu.winograd import (
    KERNEL,
    POINTS,
    SIDE,
    Lanes,
    call,
    emit_apart,
    into,
    kernel_for,
)
from treadle.backends.cpu.writer import Int, Writer, module
from treadle.base.dtypes import DType
from treadle.base.target import Target

SYMBOLS = ("winograd_sums", "winograd_taps")
GROUP = 16  # channels whose taps are made at once
TAPS = KERNEL * KERNEL


def text(dtype: DType, _: DType, target: Target) -> str:
    """The IR module."""
    tile = tile_for(dtype, target)
    kernels = [micro_kernel(tile, h, v, adds=True) for h in tile.heights for v in tile.widths]
    return module([*kernels, into(tile), slopes(tile), sums(tile), taps(tile)])


# ---- squares


def slopes(tile: Tile) -> Writer:
    """Squares of cotangents, mapped: u[panel][point][square][o].

    y is at the first row of the first square; what lies outside of high rows by wide columns from
    there on counts as 0. Outputs past the last are those of the last: nobody looks at them.
    """
    names = ("%column", "%line", "%rows", "%across", "%squares", "%high", "%wide", "%outputs")
    w = Writer("winograd_slopes", ["ptr %y", "ptr %u", *(f"i64 {n}" for n in names)], internal=True)
    last, few = w.sub("%outputs", 1), tile.lanes // 2
    point = emit_apart(w, w.mul("%squares", tile.columns))
    with w.loop(0, "%outputs", tile.lanes) as (o, _, _):
        lines = [w.mul(w.smaller(w.add(o, k), last), "%column") for k in range(tile.lanes)]
        outputs = [w.gep("%y", line, tile.scalar) for line in lines]
        panel = w.div(o, tile.columns)
        start = w.add(w.mul(w.mul(panel, point), POINTS), w.sub(o, w.mul(panel, tile.columns)))
        with w.loop(0, "%rows") as (r, _, _):
            row, first = w.mul(r, 2), w.mul(r, "%across")
            below = w.compare("slt", w.add(row, 1), "%high")
            with w.loop(0, "%across", few // 2) as (j, _, _):
                at = w.add(w.mul(row, "%line"), w.mul(j, 2))
                mask = w.lanes_below(w.sub("%wide", w.mul(j, 2)), few)
                under = w.op(
                    f"select i1 {below}, <{few} x i1> {mask}, <{few} x i1> zeroinitializer"
                )
                found = [
                    _columns(w, tile, outputs, at, mask),
                    _columns(w, tile, outputs, w.add(at, "%line"), under),
                ]
                for k in range(few // 2):  # those past the last have room after them
                    place = w.add(start, w.mul(w.add(first, w.add(j, k)), tile.columns))
                    _points(w, tile, [row[2 * k : 2 * k + 2] for row in found], (place, point))
    return w


def _columns(w: Writer, tile: Tile, outputs: list[str], at: Int, mask: str) -> list[str]:
    """A few elements of every output from there on, the outputs side by side."""
    half = replace(tile, lanes=tile.lanes // 2)
    read = [
        read_vector(w, half, half.dtype, w.gep(line, at, tile.scalar), mask) for line in outputs
    ]
    count = half.lanes
    both = range(tile.lanes)
    found = [w.shuffle(tile.scalar, read[k], read[k + count], both, count) for k in range(count)]
    step = 1
    while step < count:  # squares of step x step elements change places
        for k in range(count):
            if k & step:
                continue
            one, two = found[k], found[k | step]
            upper = [c if not c & step else c - step + tile.lanes for c in both]
            lower = [c + step if not c & step else c + tile.lanes for c in both]
            found[k] = w.shuffle(tile.scalar, one, two, upper, tile.lanes)
            found[k | step] = w.shuffle(tile.scalar, one, two, lower, tile.lanes)
        step *= 2
    return found


def _points(w: Writer, tile: Tile, square: list[list[str]], at: tuple[Int, Int]) -> None:
    """Store the points of a square."""
    (place, point), lanes = at, Lanes(w, tile)
    halves = [lanes.of_slopes([row[k] for row in square]) for k in range(2)]
    for i in range(SIDE):
        for k, value in enumerate(lanes.of_slopes([half[i] for half in halves])):
            here = w.gep("%u", w.add(place, w.mul(point, SIDE * i + k)), tile.scalar)
            w.store(tile.vector, value, here, tile.dtype.size)


# ---- a task: sums over a run of squares


def sums(tile: Tile) -> Writer:
    """The entry point that sums products over some squares: m[run][panel][point][c][o]."""
    w = Writer("winograd_sums", ENTRY_PARAMS)
    numbers = (
        "m n k left_run right_column depth block_rows block_columns row_blocks"
        " plane line high wide band segment scratch_stride"
    )
    p = Params(w, numbers, "left right out scratch", "")
    with p.tasks() as (_, task):
        first = w.mul(w.rem(task, p["row_blocks"]), p["block_rows"])
        rest = w.div(task, p["row_blocks"])
        blocks = w.div(w.add(p["n"], w.sub(p["block_columns"], 1)), p["block_columns"])
        run = w.div(rest, blocks)
        begin = w.mul(w.rem(rest, blocks), p["block_columns"])
        area = _Area(w, tile, p, first, begin, run)
        area.clear()
        start = w.mul(run, p["depth"])
        end = w.smaller(w.add(start, p["depth"]), area.units)
        with w.loop(start, end) as (unit, _, _):
            area.add(unit)
    return w


class _Area:
    """Some channels and outputs, and where their sums lie."""

    def __init__(self, w: Writer, tile: Tile, p: Params, first: Int, begin: Int, run: Int) -> None:
        self.w, self.tile, self.p = w, tile, p
        self.first, self.begin = first, begin
        self.channels = w.smaller(p["block_rows"], w.sub(p["m"], first))
        self.outputs = w.smaller(p["block_columns"], w.sub(p["n"], begin))
        self.down = w.div(w.add(p["high"], 1), 2)
        self.across = w.div(w.add(p["wide"], 1), 2)
        self.bands = w.div(w.add(self.down, w.sub(p["band"], 1)), p["band"])
        self.segments = w.div(w.add(self.across, w.sub(p["segment"], 1)), p["segment"])
        self.units = w.mul(p["k"], w.mul(self.bands, self.segments))
        self.most = w.mul(p["band"], p["segment"])
        self.pitch = w.add(self.most, tile.lanes)
        self.squares = w.add(self.most, tile.lanes // 4)
        panels = w.div(w.add(p["n"], tile.columns - 1), tile.columns)
        self.panel = w.mul(w.mul(p["m"], tile.columns), POINTS)  # elements of its sums
        start = w.mul(w.add(w.mul(run, panels), w.div(begin, tile.columns)), self.panel)
        start = w.add(start, w.mul(first, tile.columns))
        self.sums = w.gep(p.pointers["out"], start, tile.scalar)
        self.v = w.gep(p.pointers["scratch"], w.mul("%tid", p["scratch_stride"]))
        size = emit_apart(w, w.mul(p["block_rows"], self.pitch))
        self.u = w.gep(self.v, w.mul(size, POINTS), tile.scalar)

    def place(self, column: Int, point: Int) -> str:
        """Where the sums of a panel begin, at a point."""
        w, tile = self.w, self.tile
        panel = w.mul(w.div(column, tile.columns), self.panel)
        lines = w.mul(w.mul(point, self.p["m"]), tile.columns)
        return w.gep(self.sums, w.add(panel, lines), tile.scalar)

    def clear(self) -> None:
        """All sums 0."""
        w, tile = self.w, self.tile
        with w.loop(0, self.outputs, tile.columns) as (o, _, _), w.loop(0, POINTS) as (xi, _, _):
            here, size = self.place(o, xi), w.mul(self.channels, tile.columns)
            with w.loop(0, size, tile.lanes) as (k, _, _):
                address = w.gep(here, k, tile.scalar)
                w.store(tile.vector, "zeroinitializer", address, tile.dtype.size)

    def add(self, unit: Int) -> None:
        """Sums go on over the squares of one unit: a segment of a few rows of them."""
        w, p = self.w, self.p
        rows, across, high, wide, left, right = self._unit(unit)
        sizes: tuple[Int, ...]
        sizes = (self.channels, p["plane"], p["line"], rows, across, self.pitch, w.add(high, 2),
                 w.add(wide, 2))  # fmt: skip
        call(w, "winograd_into", (left, self.v), sizes)
        sizes = (p["right_column"], p["wide"], rows, across, self.squares, high, wide, self.outputs)
        call(w, "winograd_slopes", (right, self.u), sizes)
        with w.loop(0, POINTS) as (xi, _, _):
            self._multiply(xi, w.mul(rows, across))

    def _unit(self, unit: Int) -> tuple[Int, Int, Int, Int, str, str]:
        """Rows and squares of a segment of a few rows, what is left from there, and where it is."""
        w, p, scalar = self.w, self.p, self.tile.scalar
        item = w.div(unit, w.mul(self.bands, self.segments))
        rest = w.rem(unit, w.mul(self.bands, self.segments))
        high = w.mul(w.div(rest, self.segments), p["band"])
        wide = w.mul(w.rem(rest, self.segments), p["segment"])
        rows = w.smaller(p["band"], w.sub(self.down, high))
        across = w.smaller(p["segment"], w.sub(self.across, wide))
        top, begin = w.mul(high, 2), w.mul(wide, 2)
        start = w.add(w.mul(item, p["left_run"]), w.mul(self.first, p["plane"]))
        start = w.add(start, w.add(w.mul(top, p["line"]), begin))
        left = w.gep(p.pointers["left"], start, scalar)
        start = w.add(w.mul(w.add(w.mul(item, p["high"]), top), p["wide"]), begin)
        start = w.add(start, w.mul(self.begin, p["right_column"]))
        right = w.gep(p.pointers["right"], start, scalar)
        return rows, across, w.sub(p["high"], top), w.sub(p["wide"], begin), left, right

    def _multiply(self, xi: str, squares: Int) -> None:
        """m[xi][c][o] += sum over squares of v[xi][c][square] * u[xi][square][o]."""
        w, tile = self.w, self.tile
        point = emit_apart(w, w.mul(self.channels, self.pitch))
        left = w.gep(self.v, w.mul(xi, point), tile.scalar)
        size = emit_apart(w, w.mul(self.squares, tile.columns))
        with w.loop(0, self.outputs, tile.columns) as (o, _, _):
            panel = w.add(w.mul(w.div(o, tile.columns), POINTS), xi)
            right = w.gep(self.u, w.mul(panel, size), tile.scalar)
            here = self.place(o, xi)
            narrow = [
                w.compare("sle", w.sub(self.outputs, o), v * tile.lanes) for v in tile.widths[:-1]
            ]
            with pieces(w, self.channels, tile.heights) as (c, height):
                values = (w.gep(left, w.mul(c, self.pitch), tile.scalar), right, squares,
                          self.pitch, 1, tile.columns,
                          w.gep(here, w.mul(c, tile.columns), tile.scalar),
                          tile.columns)  # fmt: skip
                typed = [f"{t} {x}" for t, x in zip(KERNEL_TYPES, values, strict=True)]
                w.do(f"call void {kernel_for(w, tile, height, narrow)}({', '.join(typed)})")


# ---- a task: taps of some channels


def taps(tile: Tile) -> Writer:
    """The entry point that adds up the runs, and makes nine taps of sixteen sums."""
    w = Writer("winograd_taps", ENTRY_PARAMS)
    p = Params(w, "m n runs row_blocks scratch_stride", "left scratch", "")
    lanes = Lanes(w, tile)
    with p.tasks() as (_, task):
        first = w.mul(w.rem(task, p["row_blocks"]), GROUP)
        begin = w.mul(w.div(task, p["row_blocks"]), tile.columns)
        channels = w.smaller(GROUP, w.sub(p["m"], first))
        outputs = w.smaller(tile.columns, w.sub(p["n"], begin))
        point = w.mul(p["m"], tile.columns)
        panels = w.div(w.add(p["n"], tile.columns - 1), tile.columns)
        run = w.mul(w.mul(panels, point), POINTS)
        start = w.add(w.mul(w.div(begin, tile.columns), w.mul(point, POINTS)),
                      w.mul(first, tile.columns))  # fmt: skip
        source = w.gep(p.pointers["left"], start, tile.scalar)
        results = w.gep(p.pointers["scratch"], w.mul("%tid", p["scratch_stride"]))
        with w.loop(0, channels) as (c, _, _), w.loop(0, outputs, tile.lanes) as (o, _, _):
            place = w.gep(source, w.add(w.mul(c, tile.columns), o), tile.scalar)
            m = _totals(w, tile, place, point, run, p["runs"])
            lines = [lanes.of_sums(m[k::SIDE]) for k in range(SIDE)]
            for i in range(KERNEL):
                for j, value in enumerate(lanes.of_sums([line[i] for line in lines])):
                    row = w.add(w.mul(c, TAPS), KERNEL * i + j)
                    at = w.gep(results, w.add(w.mul(row, tile.columns), o), tile.scalar)
                    w.store(tile.vector, value, at, tile.dtype.size)
        area = f"i64 {w.mul(first, TAPS)}, i64 {begin}, i64 {w.mul(channels, TAPS)}, i64 {outputs}"
        call_epilogue(w, p, f"ptr {results}, i64 {tile.columns}, i64 0, {area}")
    return w


def _totals(w: Writer, tile: Tile, place: str, point: Int, run: Int, runs: Int) -> list[str]:
    """The sums at all points, over all runs in their order."""
    lanes, zero = Lanes(w, tile), [(tile.vector, "zeroinitializer")] * POINTS
    with w.loop(0, runs, carry=zero) as (r, now, later):
        here = w.gep(place, w.mul(r, run), tile.scalar)
        for k in range(POINTS):
            address = w.gep(here, w.mul(point, k), tile.scalar)
            later[k] = lanes.add(now[k], w.load(tile.vector, address, tile.dtype.size))
    return now
