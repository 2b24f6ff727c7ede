"""How operands of a matrix product are copied into the order the micro-kernels read.

Packing also converts 16-bit floats. B becomes panels [k][columns of a tile]. A keeps its direction:
rows stay rows at a stride that avoids cache conflicts, columns become panels [k][rows of a tile].
"""

from __future__ import annotations

from treadle.backends.cpu.gemm_params import ENTRY_PARAMS, Params
from treadle.backends.cpu.gemm_tiles import Tile, element, read_scalar, read_vector, write_vector
from treadle.backends.cpu.writer import Int, Writer
from treadle.base.dtypes import DType

PANELS_PER_TASK = 16
# Steps of k before the next panel of a transposed A, which shares lines with this one: so many
# lines of one cache set are sure to stay.
_STRIP = 8


def pack_b(tile: Tile, dtype: DType) -> Writer:
    """A slice of B, k x n, into panels; one of its strides, b_step and b_column, is 1."""
    w = Writer(
        "gemm_pack_b",
        ["ptr %b", "i64 %b_step", "i64 %b_column", "ptr %into", "i64 %k", "i64 %n"],
        internal=True,
    )
    straight = w.compare("eq", "%b_column", 1)
    crosswise = w.compare("ne", "%b_column", 1)
    with w.when(straight):
        _copy_panels(w, tile, dtype)
    with w.when(crosswise):
        _transpose_panels(w, tile, dtype)
    return w


def _copy_panels(w: Writer, tile: Tile, dtype: DType) -> None:
    with w.loop(0, "%n", tile.columns) as (panel, _, _):
        source = w.gep("%b", panel, element(dtype))
        into = w.gep("%into", w.mul(panel, "%k"), tile.scalar)
        left = w.sub("%n", panel)
        with w.when(w.compare("sge", left, tile.columns)), w.loop(0, "%k") as (k, _, _):
            row = w.gep(source, w.mul(k, "%b_step"), element(dtype))
            place = w.gep(into, w.mul(k, tile.columns), tile.scalar)
            for j in range(0, tile.columns, tile.lanes):
                value = read_vector(w, tile, dtype, w.gep(row, j, element(dtype)))
                w.store(tile.vector, value, w.gep(place, j, tile.scalar), tile.dtype.size)
        narrow = w.compare("slt", left, tile.columns)
        with w.when(narrow), w.loop(0, "%k") as (k, _, _):
            row = w.gep(source, w.mul(k, "%b_step"), element(dtype))
            place = w.gep(into, w.mul(k, tile.columns), tile.scalar)
            with w.loop(0, left, tile.lanes) as (v, _, _):
                mask = w.lanes_below(w.sub(left, v), tile.lanes)
                value = read_vector(w, tile, dtype, w.gep(row, v, element(dtype)), mask)
                w.store(tile.vector, value, w.gep(place, v, tile.scalar), tile.dtype.size)


def _transpose_panels(w: Writer, tile: Tile, dtype: DType) -> None:
    """Squares of lanes x lanes through registers; fewer k than lanes go one element at a time."""
    lanes, stored = tile.lanes, element(dtype)
    with w.loop(0, "%n", lanes) as (j, _, _):
        panel = w.mul(w.div(j, tile.columns), tile.columns)
        into = w.gep("%into", w.add(w.mul(panel, "%k"), w.sub(j, panel)), tile.scalar)
        # Lanes past the last column read it again: they are never stored, so any value will do.
        last = w.sub("%n", w.add(j, 1))
        start = w.gep("%b", w.mul(j, "%b_column"), stored)
        rows = [w.gep(start, w.mul(w.smaller(i, last), "%b_column"), stored) for i in range(lanes)]
        end = w.sub("%k", lanes)
        with w.when(w.compare("sge", end, 0)), w.loop(0, "%k", lanes) as (at, _, _):
            k = w.smaller(at, end)  # the last square may cover some k again
            values = [read_vector(w, tile, dtype, w.gep(row, k, stored)) for row in rows]
            for u, value in enumerate(transpose(w, tile, values)):
                place = w.gep(into, w.mul(w.add(k, u), tile.columns), tile.scalar)
                w.store(tile.vector, value, place, tile.dtype.size)
        with w.when(w.compare("slt", end, 0)), w.loop(0, lanes) as (i, _, _):
            row = w.gep(start, w.mul(w.smaller(i, last), "%b_column"), stored)
            _spread(w, tile, dtype, row, w.gep(into, i, tile.scalar))


def _spread(w: Writer, tile: Tile, dtype: DType, row: str, column: str) -> None:
    """column[k * columns] = row[k], for a k shorter than a vector."""
    with w.loop(0, "%k") as (k, _, _):
        value = read_scalar(w, tile, dtype, w.gep(row, k, element(dtype)))
        place = w.gep(column, w.mul(k, tile.columns), tile.scalar)
        w.store(tile.scalar, value, place, tile.dtype.size)


def transpose(w: Writer, tile: Tile, rows: list[str]) -> list[str]:
    """The columns of a square held in registers: log2(lanes) rounds of pairwise exchanges."""
    rows, lanes = list(rows), tile.lanes
    distance = lanes // 2
    while distance:
        low = [x if not x & distance else lanes + x - distance for x in range(lanes)]
        high = [x + distance if not x & distance else lanes + x for x in range(lanes)]
        for i in range(lanes):
            if not i & distance:
                a, b = rows[i], rows[i + distance]
                rows[i] = w.shuffle(tile.scalar, a, b, low, lanes)
                rows[i + distance] = w.shuffle(tile.scalar, a, b, high, lanes)
        distance //= 2
    return rows


def pack_right(tile: Tile, dtype: DType) -> Writer:
    """The entry point that packs some columns of B over one run of k, for all to read."""
    w = Writer("gemm_pack_right", ENTRY_PARAMS)
    numbers = "n k right_step right_column right_pitch depth block_columns row_blocks"
    p = Params(w, numbers, "right out", "")
    with p.tasks() as (_, task):
        column = w.mul(w.rem(task, p["row_blocks"]), p["block_columns"])
        first = w.mul(w.div(task, p["row_blocks"]), p["depth"])
        k = w.smaller(p["depth"], w.sub(p["k"], first))
        n = w.smaller(p["block_columns"], w.sub(p["n"], column))
        start = w.add(w.mul(first, p["right_step"]), w.mul(column, p["right_column"]))
        source = w.gep(p.pointers["right"], start, element(dtype))
        place = w.add(w.mul(first, p["right_pitch"]), w.mul(column, k))
        into = w.gep(p.pointers["out"], place, tile.scalar)
        steps = f"i64 {p['right_step']}, i64 {p['right_column']}"
        w.do(f"call void @gemm_pack_b(ptr {source}, {steps}, ptr {into}, i64 {k}, i64 {n})")
    return w


def pack_a(tile: Tile, dtype: DType) -> Writer:
    """The entry point that packs a few panels of A over one run of k."""
    w = Writer("gemm_pack_a", ENTRY_PARAMS)
    numbers = "m k left_row left_step left_panel left_run depth first_row row_blocks"
    p = Params(w, numbers, "left out", "left out")
    with p.tasks() as (item, task):
        _pack_a_task(w, tile, dtype, p, item, task)
    return w


def _pack_a_task(w: Writer, tile: Tile, dtype: DType, p: Params, item: str, task: str) -> None:
    group, run = w.rem(task, p["row_blocks"]), w.div(task, p["row_blocks"])
    offsets = p.offsets(item)
    first = w.mul(run, p["depth"])
    k = w.smaller(p["depth"], w.sub(p["k"], first))
    low = w.add(p["first_row"], w.mul(group, tile.rows * PANELS_PER_TASK))
    high = w.smaller(p["m"], w.add(low, tile.rows * PANELS_PER_TASK))
    start = w.add(offsets["left"], w.mul(first, p["left_step"]))
    source = w.gep(p.pointers["left"], start, element(dtype))
    start = w.sub(w.mul(run, p["left_run"]), w.mul(p["first_row"], p["left_panel"]))
    start = w.add(offsets["out"], start)
    into = w.gep(p.pointers["out"], start, tile.scalar)
    rows = w.compare("eq", p["left_step"], 1)
    columns = w.compare("ne", p["left_step"], 1)
    with w.when(rows), w.loop(low, high) as (i, _, _):
        row = w.gep(source, w.mul(i, p["left_row"]), element(dtype))
        _copy_row(w, tile, dtype, row, w.gep(into, w.mul(i, p["left_panel"]), tile.scalar), k)
    with w.when(columns), w.loop(0, k, _STRIP) as (strip, _, _):
        end = w.smaller(k, w.add(strip, _STRIP))
        with w.loop(low, high, tile.rows) as (i, _, _):
            panel = w.gep(into, w.mul(i, p["left_panel"]), tile.scalar)
            column = w.gep(source, i, element(dtype))
            left = w.sub(p["m"], i)
            with w.when(w.compare("sge", left, tile.lanes)):
                # Whole vectors: what is too much is overwritten by the next step, or lies in the
                # padding behind the last one. Masked stores are many times slower.
                _copy_steps(w, tile, dtype, p["left_step"], (strip, end), column, panel, "")
            with w.when(w.compare("slt", left, tile.lanes)):
                mask = w.lanes_below(w.smaller(tile.rows, left), tile.lanes)
                _copy_steps(w, tile, dtype, p["left_step"], (strip, end), column, panel, mask)


def _copy_steps(
    w: Writer, tile: Tile, dtype: DType, stride: Int, steps: tuple[Int, Int], column: str,
    panel: str, mask: str,
) -> None:  # fmt: skip
    """panel[k][rows] = column[k * stride + row]."""
    with w.loop(*steps) as (step, _, _):
        row = w.gep(column, w.mul(step, stride), element(dtype))
        value = read_vector(w, tile, dtype, row, mask)
        place = w.gep(panel, w.mul(step, tile.rows), tile.scalar)
        if mask:
            write_vector(w, tile, value, place, mask)
        else:
            w.store(tile.vector, value, place, tile.dtype.size)


def _copy_row(w: Writer, tile: Tile, dtype: DType, row: str, into: str, count: Int) -> None:
    whole = w.op(f"and i64 {count}, {-tile.lanes}")
    with w.loop(0, whole, tile.lanes) as (v, _, _):
        value = read_vector(w, tile, dtype, w.gep(row, v, element(dtype)))
        w.store(tile.vector, value, w.gep(into, v, tile.scalar), tile.dtype.size)
    mask = w.lanes_below(w.sub(count, whole), tile.lanes)
    value = read_vector(w, tile, dtype, w.gep(row, whole, element(dtype)), mask)
    write_vector(w, tile, value, w.gep(into, whole, tile.scalar), mask)
