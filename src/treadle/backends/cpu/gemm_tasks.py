"""What one task of a matrix product does.

A task is one block of C over the whole of k, for one batch item. What it computes depends on the
shape alone, never on the thread that takes it, so any number of threads gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from treadle.backends.cpu.gemm_matvec import matvec
from treadle.backends.cpu.gemm_pack import pack_a, pack_b, pack_right
from treadle.backends.cpu.gemm_params import ENTRY_PARAMS, Params, call_epilogue
from treadle.backends.cpu.gemm_tiles import (
    KERNEL_TYPES,
    Tile,
    element,
    kernel_name,
    looked_kernel,
    merge,
    micro_kernel,
    pieces,
    tile_for,
)
from treadle.backends.cpu.writer import Int, Writer, module
from treadle.base.dtypes import DType
from treadle.base.target import Target

SYMBOLS = ("gemm_pack_a", "gemm_pack_right", "gemm_block", "gemm_matvec")
LOOKED = ("gemm_pack_right", "gemm_block")


def text(dtype: DType, right: DType, target: Target) -> str:
    """The IR module of products of dtype (A) with right (B)."""
    tile = tile_for(dtype, target, right)
    kernels = [micro_kernel(tile, h, v) for h in tile.heights for v in tile.widths]
    packing = [pack_b(tile, right), pack_right(tile, right), pack_a(tile, dtype)]
    last = [block(tile, right), matvec(tile, dtype, right)]
    return module([*kernels, merge(tile), *packing, *last])


def looked_text(dtype: DType, right: DType, target: Target) -> str:
    """The IR module of products whose A lies at places that tables give."""
    tile = tile_for(dtype, target)
    kernels = [looked_kernel(tile, h, v) for h in tile.heights for v in tile.widths]
    packing = [pack_b(tile, right), pack_right(tile, right)]
    return module([*kernels, merge(tile), *packing, block(tile, right, looked=True)])


@dataclass(frozen=True)
class Block:
    """Values that hold for the whole task."""

    p: Params
    item: str
    row: Int  # of C, where the block begins
    column: Int
    rows: Int
    columns: Int
    left: str  # A, at the block's first row
    place: str  # where tiles are stored or summed: C or this thread's running sums
    place_row: str
    tile: str  # a register tile in memory, for ragged edges, sums and the epilogue
    epilogue: str
    looked: bool


@dataclass(frozen=True)
class Run:
    """Values that hold for one run of k."""

    k: Int
    left: str
    steps: str  # how far A moves along k: elements, or where a table of them begins
    right: str
    right_panel: str  # elements between two columns of panels, for one column
    right_step: str
    add: str  # i64 1 when this run adds to sums of earlier ones
    finish: str  # i1: hand tiles to the epilogue


def block(tile: Tile, right: DType, looked: bool = False) -> Writer:
    """The entry point that computes one block of C; looked: A lies where tables say."""
    w = Writer("gemm_block", ENTRY_PARAMS)
    numbers = (
        "m n k left_row left_step left_panel left_run right_step right_column right_packed"
        " right_pitch out_row"
        " depth runs first_row block_rows block_columns row_blocks scratch_stride sums"
    )
    p = Params(w, numbers, "left right out scratch", "left right out")
    memory = w.alloca(f"[{tile.rows * tile.columns} x {tile.scalar}]")
    with p.tasks() as (item, task):
        _block_task(w, tile, right, p, (item, task), memory, looked)
    return w


def _block_task(
    w: Writer, tile: Tile, right: DType, p: Params, number: tuple[str, str], memory: str,
    looked: bool,
) -> None:  # fmt: skip
    item, task = number
    offsets = p.offsets(item)
    near = w.mul(w.rem(task, p["row_blocks"]), p["block_rows"])
    row = w.add(p["first_row"], near)
    column = w.mul(w.div(task, p["row_blocks"]), p["block_columns"])
    scratch = w.gep(p.pointers["scratch"], w.mul("%tid", p["scratch_stride"]))
    epilogue = p.word("epilogue")
    plain = w.compare("eq", epilogue, 0)
    start = w.add(offsets["out"], w.add(w.mul(row, p["out_row"]), column))
    out = w.gep(p.pointers["out"], start, tile.scalar)
    start = w.add(offsets["left"], w.mul(near, p["left_panel"]))
    whole = Block(
        p=p,
        item=item,
        row=row,
        column=column,
        rows=w.smaller(p["block_rows"], w.sub(p["m"], row)),
        columns=w.smaller(p["block_columns"], w.sub(p["n"], column)),
        left=w.gep(p.pointers["left"], start, tile.scalar),
        place=w.op(f"select i1 {plain}, ptr {out}, ptr {w.gep(scratch, p['sums'])}"),
        place_row=w.op(f"select i1 {plain}, i64 {p['out_row']}, i64 {p['block_columns']}"),
        tile=memory,
        epilogue=epilogue,
        looked=looked,
    )
    start = w.add(offsets["right"], w.mul(column, p["right_column"]))
    source = w.gep(p.pointers["right"], start, element(right))
    with w.loop(0, p["runs"]) as (index, _, _):
        step = w.mul(w.mul(index, p["depth"]), p["right_step"])
        run = _run(w, tile, whole, index, w.gep(source, step, element(right)), scratch)
        _tiles(w, tile, whole, run)


def _run(w: Writer, tile: Tile, b: Block, index: str, source: str, scratch: str) -> Run:
    """One run of k: pack its slice of B if that pays, and find where the operands begin."""
    p = b.p
    k = w.smaller(p["depth"], w.sub(p["k"], w.mul(index, p["depth"])))
    # A vector that reaches past the last column can only be read from a padded copy.
    ragged = w.op(f"and i64 {b.columns}, {tile.lanes - 1}")
    ready = w.compare("eq", p["right_packed"], 2)
    wanted = w.compare("ne", w.op(f"or i64 {ragged}, {p['right_packed']}"), 0)
    packed = w.op(f"select i1 {ready}, i1 false, i1 {wanted}")
    with w.when(packed):
        arguments = f"ptr {source}, i64 {p['right_step']}, i64 {p['right_column']}"
        w.do(f"call void @gemm_pack_b({arguments}, ptr {scratch}, i64 {k}, i64 {b.columns})")
    panels = w.op(f"or i1 {packed}, {ready}")
    first = w.add(w.mul(w.mul(index, p["depth"]), p["right_pitch"]), w.mul(b.column, k))
    whole = w.gep(p.pointers["right"], first, tile.scalar)
    place = w.op(f"select i1 {ready}, ptr {whole}, ptr {source}")
    later = w.compare("ne", index, 0)
    last = w.compare("eq", w.add(index, 1), p["runs"])
    finishes = w.compare("ne", b.epilogue, 0)
    steps: Int = p["left_step"]
    if b.looked:
        steps = w.add(p.word("steps"), w.mul(w.mul(index, p["depth"]), 8))
    return Run(
        k=k,
        left=w.gep(b.left, w.mul(index, p["left_run"]), tile.scalar),
        steps=str(steps),
        right=w.op(f"select i1 {packed}, ptr {scratch}, ptr {place}"),
        right_panel=w.op(f"select i1 {panels}, i64 {k}, i64 1"),
        right_step=w.op(f"select i1 {panels}, i64 {tile.columns}, i64 {p['right_step']}"),
        add=w.op(f"zext i1 {later} to i64"),
        finish=w.op(f"and i1 {last}, {finishes}"),
    )


def _tiles(w: Writer, tile: Tile, b: Block, run: Run) -> None:
    """Every tile of the block: rows outside, so that a panel of A stays in L1."""
    p = b.p
    vectors = w.div(w.add(b.columns, tile.lanes - 1), tile.lanes)
    with pieces(w, b.rows, tile.heights) as (i, height):
        panel = w.mul(w.div(i, tile.rows), tile.rows)
        start = w.add(w.mul(panel, p["left_panel"]), w.mul(w.sub(i, panel), p["left_row"]))
        left = w.gep(run.left, start, tile.scalar)
        of_width = {
            v: _choose(w, height, {h: "@" + kernel_name(h, v) for h in tile.heights})
            for v in tile.widths
        }
        with pieces(w, vectors, tile.widths) as (at, width):
            panel = w.mul(w.div(at, tile.vectors), tile.columns)
            j = w.mul(at, tile.lanes)
            start = w.add(w.mul(panel, run.right_panel), w.sub(j, panel))
            right = w.gep(run.right, start, tile.scalar)
            kernel = _choose(w, width, of_width)
            _tile(w, tile, b, run, (i, j, height, w.mul(width, tile.lanes)), (kernel, left, right))


def _choose(w: Writer, size: str, options: dict[int, str]) -> str:
    """The pointer among options whose key is size."""
    chosen, *others = options.values()
    for key, other in zip(list(options)[1:], others, strict=True):
        found = w.compare("eq", size, key)
        chosen = w.op(f"select i1 {found}, ptr {other}, ptr {chosen}")
    return chosen


def _tile(
    w: Writer,
    tile: Tile,
    b: Block,
    run: Run,
    area: tuple[Int, Int, Int, Int],
    operands: tuple[str, str, str],
) -> None:
    """One tile: straight to its place if it may, else through memory in L1."""
    i, j, rows, width = area
    kernel, left, right = operands
    columns = w.smaller(width, w.sub(b.columns, j))
    place = w.gep(b.place, w.add(w.mul(i, b.place_row), j), tile.scalar)
    ragged = w.compare("ne", columns, width)
    adds = w.compare("ne", run.add, 0)
    detour = w.op(f"or i1 {ragged}, {w.op(f'or i1 {adds}, {run.finish}')}")
    out = w.op(f"select i1 {detour}, ptr {b.tile}, ptr {place}")
    out_row = w.op(f"select i1 {detour}, i64 {tile.columns}, i64 {b.place_row}")
    p = b.p
    lines: Int = p["left_row"]
    if b.looked:
        lines = w.add(p.word("rows"), w.mul(w.add(b.row, i), 8))
    values = (left, right, run.k, lines, run.steps, run.right_step, out, out_row)
    typed = [f"{type_} {value}" for type_, value in zip(KERNEL_TYPES, values, strict=True)]
    w.do(f"call void {kernel}({', '.join(typed)})")
    with w.when(detour):
        size = f"i64 {rows}, i64 {columns}"
        unfinished = w.op(f"xor i1 {run.finish}, true")
        through = f"ptr {b.tile}, i64 {tile.columns}"
        there = f"ptr {place}, i64 {b.place_row}"
        with w.when(unfinished):
            w.do(f"call void @gemm_merge({through}, {there}, {size}, i64 {run.add})")
        with w.when(run.finish):
            with w.when(adds):
                w.do(f"call void @gemm_merge({there}, {through}, {size}, i64 1)")
            position = f"i64 {b.item}, i64 {w.add(b.row, i)}, i64 {w.add(b.column, j)}"
            call_epilogue(w, p, f"{through}, {position}, {size}")
