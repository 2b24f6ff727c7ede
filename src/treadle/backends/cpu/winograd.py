"""How 3 x 3 correlations are computed by sixteen products for every four of their results.

Winograd's F(2 x 2, 3 x 3): squares of 4 x 4 elements overlap by two, and a linear map on either
side turns the correlation of a square into products of its elements with those of the kernel,
summed over channels. So what is multiplied is 16 matrices (squares x channels), each 4 / 9 of the
work. A task takes a few rows of squares through all three maps while they are in its cache.
"""

from __future__ import annotations

from dataclasses import replace

from treadle.backends.cpu.gemm_params import ENTRY_PARAMS, Params, call_epilogue
from treadle.backends.cpu.gemm_tiles import (
    KERNEL_TYPES,
    Tile,
    kernel_name,
    micro_kernel,
    pieces,
    read_vector,
    tile_for,
)
from treadle.backends.cpu.writer import Int, Writer, module
from treadle.base.dtypes import DType
from treadle.base.target import Target

SIDE, KERNEL, POINTS = 4, 3, 16  # of a square, of a kernel, products for each square
SYMBOLS = ("winograd_weights", "winograd_block")


def text(dtype: DType, _: DType, target: Target) -> str:
    """The IR module."""
    tile = tile_for(dtype, target)
    kernels = [micro_kernel(tile, h, v) for h in tile.heights for v in tile.widths]
    return module([*kernels, weights(tile), into(tile), out_of(tile), block(tile)])


class Lanes:
    """Sums and differences of vectors."""

    def __init__(self, w: Writer, tile: Tile) -> None:
        self.w, self.type = w, tile.vector
        half = "0x3FE0000000000000"
        self.half = f"<{', '.join([f'{tile.scalar} {half}'] * tile.lanes)}>"

    def add(self, a: str, b: str) -> str:
        """a + b."""
        return self.w.op(f"fadd {self.type} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        """a - b."""
        return self.w.op(f"fsub {self.type} {a}, {b}")

    def halved(self, a: str) -> str:
        """a / 2."""
        return self.w.op(f"fmul {self.type} {a}, {self.half}")

    def of_input(self, d: list[str]) -> list[str]:
        """Four elements of a line as four points."""
        return [
            self.sub(d[0], d[2]), self.add(d[1], d[2]), self.sub(d[2], d[1]), self.sub(d[1], d[3])
        ]  # fmt: skip

    def of_kernel(self, g: list[str]) -> list[str]:
        """Three taps as four points."""
        ends = self.add(g[0], g[2])
        return [g[0], self.halved(self.add(ends, g[1])), self.halved(self.sub(ends, g[1])), g[2]]

    def of_points(self, m: list[str]) -> list[str]:
        """Two results of four points."""
        both = self.add(m[1], m[2])
        return [self.add(m[0], both), self.sub(self.sub(m[1], m[2]), m[3])]

    def of_slopes(self, y: list[str]) -> list[str]:
        """Cotangents of two results as four points, the last of them negated: of_points turned."""
        return [y[0], self.add(y[0], y[1]), self.sub(y[0], y[1]), y[1]]

    def of_sums(self, m: list[str]) -> list[str]:
        """Three taps of four points, the last of them negated: of_kernel turned."""
        both = self.halved(self.add(m[1], m[2]))
        return [self.add(m[0], both), self.halved(self.sub(m[1], m[2])), self.sub(both, m[3])]


# ---- kernels


def weights(tile: Tile) -> Writer:
    """The entry point that maps the taps of some kernels and packs them: [point][panel][c][o]."""
    w = Writer("winograd_weights", ENTRY_PARAMS)
    p = Params(w, "n k right_step right_column right_pitch", "right out", "")
    lanes = Lanes(w, tile)
    last = w.sub(p["n"], 1)
    with p.tasks() as (_, task):
        first = w.mul(task, tile.lanes)
        panel = w.mul(w.div(first, tile.columns), tile.columns)
        start = w.add(w.mul(panel, p["k"]), w.sub(first, panel))
        rows = []
        for lane in range(tile.lanes):  # those past the last read it again: they are not stored
            output = w.smaller(w.add(first, lane), last)
            rows.append(w.gep(p.pointers["right"], w.mul(output, p["right_column"]), tile.scalar))
        with w.loop(0, p["k"]) as (c, _, _):
            taps = w.mul(w.mul(c, KERNEL * KERNEL), p["right_step"])
            g = [
                gathered(w, tile, rows, w.add(taps, w.mul(p["right_step"], t)))
                for t in range(KERNEL * KERNEL)
            ]
            lines = [lanes.of_kernel(g[k::KERNEL]) for k in range(KERNEL)]  # down the columns
            place = w.add(start, w.mul(c, tile.columns))
            for i in range(SIDE):
                for j, value in enumerate(lanes.of_kernel([line[i] for line in lines])):
                    size = w.mul(w.mul(p["k"], p["right_pitch"]), SIDE * i + j)
                    address = w.gep(p.pointers["out"], w.add(size, place), tile.scalar)
                    w.store(tile.vector, value, address, tile.dtype.size)
    return w


def gathered(w: Writer, tile: Tile, rows: list[str], at: Int) -> str:
    value = "poison"
    for lane, row in enumerate(rows):
        one = w.load(tile.scalar, w.gep(row, at, tile.scalar), tile.dtype.size)
        value = w.op(f"insertelement {tile.vector} {value}, {tile.scalar} {one}, i32 {lane}")
    return value


# ---- squares


def apart(elements: int) -> int:
    """So many elements and some more, so that sixteen such pieces do not share cache sets."""
    return -(-elements // 32) * 32 + 16


def emit_apart(w: Writer, elements: Int) -> Int:
    """The same, where it is not known before."""
    return w.add(w.mul(w.div(w.add(elements, 31), 32), 32), 16)


def into(tile: Tile) -> Writer:
    """Rows of squares of every channel, mapped: v[point][c][square].

    x is at the first row of the first square; of high rows by wide columns from there on, those
    outside count as 0. Whole vectors of squares come first, then halves, then what needs masks.
    """
    names = ("%channels", "%plane", "%line", "%rows", "%across", "%pitch", "%high", "%wide")
    params = ["ptr %x", "ptr %v", *(f"i64 {name}" for name in names)]
    w = Writer("winograd_into", params, internal=True)
    point = emit_apart(w, w.mul("%channels", "%pitch"))
    half = replace(tile, lanes=tile.lanes // 2)
    with w.loop(0, "%channels") as (c, _, _), w.loop(0, "%rows") as (r, _, _):
        start = w.add(w.mul(c, "%plane"), w.mul(w.mul(r, 2), "%line"))
        source = w.gep("%x", start, tile.scalar)
        place = w.gep("%v", w.add(w.mul(c, "%pitch"), w.mul(r, "%across")), tile.scalar)
        left = w.sub("%high", w.mul(r, 2))
        inside = w.compare("sge", left, SIDE)
        done: Int = 0
        for part in (tile, half):
            room = w.sub(w.sub("%wide", 2), w.mul(done, 2))  # for squares that need no mask
            whole = w.mul(w.op(f"sdiv i64 {room}, {2 * part.lanes}"), part.lanes)
            end = w.add(done, w.op(f"select i1 {inside}, i64 {whole}, i64 0"))
            with w.loop(done, end, part.lanes) as (j, _, _):
                _mapped(w, part, (source, place, j), point, None)
            done = end
        with w.loop(done, "%across", half.lanes) as (j, _, _):
            _mapped(w, half, (source, place, j), point, left)
    return w


def _mapped(w: Writer, tile: Tile, at: tuple[str, str, str], point: Int, left: Int | None) -> None:
    """A vector of squares; if so many rows are left, some of it may lie outside."""
    (source, place, j), lanes = at, Lanes(w, tile)
    column = w.mul(j, 2)
    parts = (0, tile.lanes, 2, 2 + tile.lanes)
    masks = [""] * len(parts)
    if left is not None:
        room = w.sub("%wide", column)
        masks = [w.lanes_below(w.sub(room, at), tile.lanes) for at in parts]
    lines = []
    for i in range(SIDE):
        start = w.gep(source, w.add(w.mul("%line", i), column), tile.scalar)
        within = masks
        if left is not None:
            lower, kind = w.compare("sgt", left, i), f"<{tile.lanes} x i1>"
            within = [
                w.op(f"select i1 {lower}, {kind} {mask}, {kind} zeroinitializer") for mask in masks
            ]
        lines.append(lanes.of_input(_every_other(w, tile, start, parts, within)))
    here = w.gep(place, j, tile.scalar)
    for k in range(SIDE):
        for i, value in enumerate(lanes.of_input([line[k] for line in lines])):
            address = w.gep(here, w.mul(point, SIDE * i + k), tile.scalar)
            w.store(tile.vector, value, address, tile.dtype.size)


def _every_other(
    w: Writer, tile: Tile, start: str, parts: tuple[int, ...], masks: list[str]
) -> list[str]:
    """Elements 2 k, 2 k + 1, 2 k + 2 and 2 k + 3 for every lane k; what is not in masks is 0."""
    found = []
    read = [
        read_vector(w, tile, tile.dtype, w.gep(start, at, tile.scalar), mask)
        for at, mask in zip(parts, masks, strict=True)
    ]
    for first, second in (read[:2], read[2:]):
        for parity in (0, 1):
            picked = range(parity, 2 * tile.lanes, 2)
            found.append(w.shuffle(tile.scalar, first, second, picked, tile.lanes))
    return found


def out_of(tile: Tile) -> Writer:
    """Points back to results: y[row * wide + column][o] of m[point][square][o]."""
    names = ("%rows", "%across", "%squares", "%pitch", "%high", "%wide", "%outputs")
    w = Writer("winograd_out_of", ["ptr %m", "ptr %y", *(f"i64 {n}" for n in names)], internal=True)
    lanes = Lanes(w, tile)
    point = emit_apart(w, w.mul("%squares", "%pitch"))
    with w.loop(0, "%rows") as (r, _, _), w.loop(0, "%across") as (j, _, _):
        square = w.gep("%m", w.mul(w.add(w.mul(r, "%across"), j), "%pitch"), tile.scalar)
        row, column = w.mul(r, 2), w.mul(j, 2)
        corner = w.gep("%y", w.mul(w.add(w.mul(row, "%wide"), column), "%pitch"), tile.scalar)
        below = w.compare("slt", w.add(row, 1), "%high")
        beside = w.compare("slt", w.add(column, 1), "%wide")
        both = w.op(f"and i1 {below}, {beside}")
        with w.loop(0, "%outputs", tile.lanes) as (o, _, _):
            m = [
                w.load(
                    tile.vector, w.gep(square, w.add(w.mul(point, k), o), tile.scalar),
                    tile.dtype.size,
                )
                for k in range(POINTS)
            ]  # fmt: skip
            lines = [lanes.of_points(m[k::SIDE]) for k in range(SIDE)]
            (a, b), (c, d) = (lanes.of_points([line[i] for line in lines]) for i in range(2))
            there = w.gep(corner, o, tile.scalar)
            down = w.gep(there, w.mul("%wide", "%pitch"), tile.scalar)
            w.store(tile.vector, a, there, tile.dtype.size)
            for fits, value, place in ((beside, b, there), (below, c, down), (both, d, down)):
                with w.when(fits):
                    shift = 0 if value is c else "%pitch"
                    address = w.gep(place, shift, tile.scalar)
                    w.store(tile.vector, value, address, tile.dtype.size)
    return w


# ---- a task


def block(tile: Tile) -> Writer:
    """The entry point that computes some rows of results for all outputs."""
    w = Writer("winograd_block", ENTRY_PARAMS)
    numbers = "n k right_pitch plane line high wide band scratch_stride"
    p = Params(w, numbers, "left right scratch", "left")
    with p.tasks() as (item, task):
        down = w.div(w.add(p["high"], 1), 2)
        across = w.div(w.add(p["wide"], 1), 2)
        first = w.mul(task, p["band"])
        rows = w.smaller(p["band"], w.sub(down, first))
        most = w.mul(p["band"], across)
        pitch = w.add(most, tile.lanes)
        scratch = w.gep(p.pointers["scratch"], w.mul("%tid", p["scratch_stride"]))
        into_point = emit_apart(w, w.mul(p["k"], pitch))
        out_point = emit_apart(w, w.mul(most, p["right_pitch"]))
        points = w.gep(scratch, w.mul(into_point, POINTS), tile.scalar)
        results = w.gep(points, w.mul(out_point, POINTS), tile.scalar)
        top = w.mul(first, 2)
        start = w.add(p.offsets(item)["left"], w.mul(top, p["line"]))
        source = w.gep(p.pointers["left"], start, tile.scalar)
        left = w.sub(p["high"], top)
        sizes: tuple[Int, ...]
        sizes = (p["k"], p["plane"], p["line"], rows, across, pitch, w.add(left, 2),
                 w.add(p["wide"], 2))  # fmt: skip
        call(w, "winograd_into", (source, scratch), sizes)
        with w.loop(0, POINTS) as (xi, _, _):
            left_ = w.gep(scratch, w.mul(xi, into_point), tile.scalar)
            into_ = w.gep(points, w.mul(xi, out_point), tile.scalar)
            _multiply(w, tile, p, xi, (left_, into_), (w.mul(rows, across), pitch))
        sizes = (rows, across, most, p["right_pitch"], left, p["wide"], p["n"])
        call(w, "winograd_out_of", (points, results), sizes)
        lines = w.smaller(w.mul(rows, 2), left)
        area = f"i64 {w.mul(top, p['wide'])}, i64 0, i64 {w.mul(lines, p['wide'])}, i64 {p['n']}"
        call_epilogue(w, p, f"ptr {results}, i64 {p['right_pitch']}, i64 {item}, {area}")
    return w


def call(w: Writer, name: str, pointers: tuple[str, ...], sizes: tuple[Int, ...]) -> None:
    typed = [f"ptr {x}" for x in pointers] + [f"i64 {x}" for x in sizes]
    w.do(f"call void @{name}({', '.join(typed)})")


def kernel_for(w: Writer, tile: Tile, height: str, narrow: list[str]) -> str:
    """The micro-kernel for so many squares, as wide as there are outputs left."""
    chosen = ""
    for h in tile.heights:
        wide = "@" + kernel_name(h, tile.widths[-1])
        for v, fits in reversed(list(zip(tile.widths[:-1], narrow, strict=True))):
            wide = w.op(f"select i1 {fits}, ptr @{kernel_name(h, v)}, ptr {wide}")
        found = w.compare("eq", height, h)
        chosen = w.op(f"select i1 {found}, ptr {wide}, ptr {chosen}") if chosen else wide
    return chosen


def _multiply(
    w: Writer, tile: Tile, p: Params, xi: str, memory: tuple[str, str], sizes: tuple[Int, Int]
) -> None:
    """m[xi][square][o] = sum over c of v[xi][c][square] * u[xi][c][o]."""
    (left, into_), (squares, pitch) = memory, sizes
    right = w.gep(p.pointers["right"], w.mul(w.mul(xi, p["k"]), p["right_pitch"]), tile.scalar)
    with w.loop(0, p["right_pitch"], tile.columns) as (o, _, _):
        panel = w.gep(right, w.mul(o, p["k"]), tile.scalar)
        narrow = [w.compare("sle", w.sub(p["n"], o), v * tile.lanes) for v in tile.widths[:-1]]
        with pieces(w, squares, tile.heights) as (i, height):
            kernel = kernel_for(w, tile, height, narrow)
            out = w.gep(into_, w.add(w.mul(i, p["right_pitch"]), o), tile.scalar)
            values = (w.gep(left, i, tile.scalar), panel, p["k"], 1, pitch, tile.columns, out,
                      p["right_pitch"])  # fmt: skip
            typed = [f"{t} {x}" for t, x in zip(KERNEL_TYPES, values, strict=True)]
            w.do(f"call void {kernel}({', '.join(typed)})")
