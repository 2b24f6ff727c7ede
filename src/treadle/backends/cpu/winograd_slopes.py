"""How the gradient of 3 x 3 kernels is computed by sixteen products for every four windows.

The maps of a correlation turned around: squares of the input become points as they do forwards,
squares of 2 x 2 cotangents become as many, their products are summed over all squares, and nine
taps are made of the sums. A task takes some channels and outputs through a run of squares; what
the runs of squares come to is added up in their order, so threads do not change a bit.
"""

from __future__ import annotations

from treadle.backends.cpu.gemm_params import ENTRY_PARAMS, Params, call_epilogue
from treadle.backends.cpu.gemm_tiles import KERNEL_TYPES, Tile, micro_kernel, pieces, tile_for
from treadle.backends.cpu.winograd import (
    KERNEL,
    POINTS,
    SIDE,
    Lanes,
    call,
    gathered,
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
    names = ("%step", "%column", "%line", "%rows", "%across", "%squares", "%high", "%wide")
    params = ["ptr %y", "ptr %u", *(f"i64 {n}" for n in (*names, "%outputs"))]
    w = Writer("winograd_slopes", params, internal=True)
    lanes, last = Lanes(w, tile), w.sub("%outputs", 1)
    point = w.mul("%squares", tile.columns)
    with w.loop(0, "%outputs", tile.lanes) as (o, _, _):
        lines = [w.mul(w.smaller(w.add(o, k), last), "%column") for k in range(tile.lanes)]
        outputs = [w.gep("%y", line, tile.scalar) for line in lines]
        panel = w.div(o, tile.columns)
        start = w.add(w.mul(w.mul(panel, point), POINTS), w.sub(o, w.mul(panel, tile.columns)))
        with w.loop(0, "%rows") as (r, _, _), w.loop(0, "%across") as (j, _, _):
            row, column = w.mul(r, 2), w.mul(j, 2)
            corner = w.mul(w.add(w.mul(row, "%line"), column), "%step")
            down, beside = w.mul("%line", "%step"), "%step"
            fits = (w.compare("slt", w.add(row, 1), "%high"),
                    w.compare("slt", w.add(column, 1), "%wide"))  # fmt: skip
            found = _square(w, tile, outputs, (corner, down, beside), fits)
            halves = [lanes.of_slopes(found[k::2]) for k in range(2)]
            place = w.add(start, w.mul(w.add(w.mul(r, "%across"), j), tile.columns))
            for i in range(SIDE):
                for k, value in enumerate(lanes.of_slopes([half[i] for half in halves])):
                    at = w.add(place, w.mul(point, SIDE * i + k))
                    w.store(tile.vector, value, w.gep("%u", at, tile.scalar), tile.dtype.size)
    return w


def _square(
    w: Writer, tile: Tile, outputs: list[str], steps: tuple[Int, Int, Int], fits: tuple[str, str]
) -> list[str]:
    """The four cotangents of a square, of every output: those that do not fit in are 0."""
    corner, down, beside = steps
    found = []
    for i in range(2):
        for j in range(2):
            inside, at = "true", corner
            if i:
                inside, at = fits[0], w.add(at, down)
            if j:
                inside, at = w.op(f"and i1 {inside}, {fits[1]}"), w.add(at, beside)
            at = w.op(f"select i1 {inside}, i64 {at}, i64 {corner}")
            value = gathered(w, tile, outputs, at)
            zero = f"{tile.vector} zeroinitializer"
            found.append(w.op(f"select i1 {inside}, {tile.vector} {value}, {zero}"))
    return found


# ---- a task: sums over a run of squares


def sums(tile: Tile) -> Writer:
    """The entry point that sums products over some squares: m[run][panel][point][c][o]."""
    w = Writer("winograd_sums", ENTRY_PARAMS)
    numbers = (
        "m n k left_run right_step right_column depth block_rows block_columns row_blocks"
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
        panels = w.div(w.add(p["n"], tile.columns - 1), tile.columns)
        self.panel = w.mul(w.mul(p["m"], tile.columns), POINTS)  # elements of its sums
        start = w.mul(w.add(w.mul(run, panels), w.div(begin, tile.columns)), self.panel)
        start = w.add(start, w.mul(first, tile.columns))
        self.sums = w.gep(p.pointers["out"], start, tile.scalar)
        self.v = w.gep(p.pointers["scratch"], w.mul("%tid", p["scratch_stride"]))
        self.u = w.gep(self.v, w.mul(w.mul(p["block_rows"], self.pitch), POINTS), tile.scalar)

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
        w, p, tile = self.w, self.p, self.tile
        item = w.div(unit, w.mul(self.bands, self.segments))
        rest = w.rem(unit, w.mul(self.bands, self.segments))
        high = w.mul(w.div(rest, self.segments), p["band"])
        wide = w.mul(w.rem(rest, self.segments), p["segment"])
        rows = w.smaller(p["band"], w.sub(self.down, high))
        across = w.smaller(p["segment"], w.sub(self.across, wide))
        top, left = w.mul(high, 2), w.mul(wide, 2)
        below, beside = w.sub(p["high"], top), w.sub(p["wide"], left)
        start = w.add(w.mul(item, p["left_run"]), w.mul(self.first, p["plane"]))
        start = w.add(start, w.add(w.mul(top, p["line"]), left))
        source = w.gep(p.pointers["left"], start, tile.scalar)
        sizes: tuple[Int, ...]
        sizes = (self.channels, p["plane"], p["line"], rows, across, self.pitch, w.add(below, 2),
                 w.add(beside, 2))  # fmt: skip
        call(w, "winograd_into", (source, self.v), sizes)
        at = w.add(w.mul(w.add(w.mul(item, p["high"]), top), p["wide"]), left)
        start = w.add(w.mul(at, p["right_step"]), w.mul(self.begin, p["right_column"]))
        source = w.gep(p.pointers["right"], start, tile.scalar)
        sizes = (p["right_step"], p["right_column"], p["wide"], rows, across, self.most, below,
                 beside, self.outputs)  # fmt: skip
        call(w, "winograd_slopes", (source, self.u), sizes)
        with w.loop(0, POINTS) as (xi, _, _):
            self._multiply(xi, w.mul(rows, across))

    def _multiply(self, xi: str, squares: Int) -> None:
        """m[xi][c][o] += sum over squares of v[xi][c][square] * u[xi][square][o]."""
        w, tile = self.w, self.tile
        left = w.gep(self.v, w.mul(w.mul(xi, self.channels), self.pitch), tile.scalar)
        size = w.mul(self.most, tile.columns)
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
