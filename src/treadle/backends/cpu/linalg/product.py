"""Sums of products of blocks of matrices, by the register tiles of our own products."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cpu.gemm_tiles import (
    KERNEL_TYPES,
    Tile,
    kernel_name,
    micro_kernel,
    pieces,
    read_vector,
    tile_for,
    write_vector,
)
from treadle.backends.cpu.linalg.turning import turned_text
from treadle.backends.cpu.writer import Int, Writer
from treadle.backends.cpu.written import Array, Scalar, vectorised
from treadle.backends.cpu.written_builtins import conjugate
from treadle.base.dtypes import DType
from treadle.base.target import Target

DEPTH = 256  # rows of b that are packed at a time
WIDEST = 64  # most columns of a tile
PACK = DEPTH * WIDEST + 6 * WIDEST
"""Elements that `product` needs at pack, at most."""


def _product(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    tile = tile_for(dtype, target)
    kernels = [micro_kernel(tile, h, v, adds=True) for h in tile.heights for v in tile.widths]
    return [
        *kernels,
        *turned_text("turn", dtype, target),
        _pack(tile),
        _panel(tile),
        _whole(name, tile),
    ]


def _pack(tile: Tile) -> Writer:
    """into[p, j] = factor b[p b_row + j b_step], k x columns of a tile, 0 beyond width."""
    r = tile.scalar
    w = Writer("product_pack", [f"{r} %factor", "ptr %b", "i64 %b_row", "i64 %b_step", "i64 %k",
                                "i64 %width", "ptr %into"], internal=True)  # fmt: skip
    columns, lanes, size = tile.columns, tile.lanes, tile.dtype.size
    factor = w.splat(r, "%factor", lanes)
    with w.when(w.compare("eq", "%b_step", 1)), w.loop(0, "%k") as (p, _, _):
        row = w.gep("%b", w.mul(p, "%b_row"), r)
        into = w.gep("%into", w.mul(p, columns), r)
        with w.loop(0, columns, lanes) as (j, _, _):
            mask = w.lanes_below(w.sub("%width", j), lanes)
            value = read_vector(w, tile, tile.dtype, w.gep(row, j, r), mask)
            w.store(tile.vector, w.op(f"fmul {tile.vector} {value}, {factor}"),
                    w.gep(into, j, r), size)  # fmt: skip
    with w.when(w.compare("ne", "%b_step", 1)):  # then its columns are in order
        w.do(f"call void @turn(i64 %width, i64 %k, ptr %b, i64 %b_step, ptr %into, i64 {columns})")
        with w.loop(0, "%k") as (p, _, _), w.loop(0, columns, lanes) as (j, _, _):
            place = w.gep("%into", w.add(w.mul(p, columns), j), r)
            mask = w.lanes_below(w.sub("%width", j), lanes)
            value = read_vector(w, tile, tile.dtype, place, mask)
            w.store(tile.vector, w.op(f"fmul {tile.vector} {value}, {factor}"), place, size)
    return w


def _panel(tile: Tile) -> Writer:
    """c += a b for a packed b of some vectors: tile by tile, through memory where it is ragged."""
    params = ["i64 %m", "i64 %k", "ptr %a", "i64 %a_row", "i64 %a_step", "ptr %b", "ptr %c",
              "i64 %c_row", "i64 %width", "i64 %vectors", "ptr %room"]  # fmt: skip
    w = Writer("product_panel", params, internal=True)
    r, lanes = tile.scalar, tile.lanes
    ragged = w.compare("ne", w.mul("%vectors", lanes), "%width")
    row_of = w.op(f"select i1 {ragged}, i64 {tile.columns}, i64 %c_row")
    with pieces(w, "%m", tile.heights) as (i, height):
        left = w.gep("%a", w.mul(i, "%a_row"), r)
        place = w.gep("%c", w.mul(i, "%c_row"), r)
        out = w.op(f"select i1 {ragged}, ptr %room, ptr {place}")
        with w.when(ragged):
            _moved(w, tile, (place, "%c_row"), ("%room", tile.columns), height)
        for rows in tile.heights:
            for vectors in tile.widths:
                tall, wide = w.compare("eq", height, rows), w.compare("eq", "%vectors", vectors)
                with w.when(w.op(f"and i1 {tall}, {wide}")):
                    values = (left, "%b", "%k", "%a_row", "%a_step", tile.columns, out, row_of)
                    args = zip(KERNEL_TYPES, values, strict=True)
                    given = ", ".join(f"{t} {x}" for t, x in args)
                    w.do(f"call void @{kernel_name(rows, vectors)}({given})")
        with w.when(ragged):
            _moved(w, tile, ("%room", tile.columns), (place, "%c_row"), height)
    return w


def _moved(
    w: Writer, tile: Tile, source: tuple[str, Int], to: tuple[str, Int], height: Int
) -> None:
    with w.loop(0, height) as (i, _, _), w.loop(0, "%width", tile.lanes) as (j, _, _):
        mask = w.lanes_below(w.sub("%width", j), tile.lanes)
        here, there = (
            w.gep(place, w.add(w.mul(i, row), j), tile.scalar) for place, row in (source, to)
        )
        write_vector(w, tile, read_vector(w, tile, tile.dtype, here, mask), there, mask)


def _whole(name: str, tile: Tile) -> Writer:
    r, columns, lanes = tile.scalar, tile.columns, tile.lanes
    params = ["i64 %m", "i64 %n", "i64 %k", f"{r} %factor", "ptr %a", "i64 %a_row", "i64 %a_step",
              "ptr %b", "i64 %b_row", "i64 %b_step", "ptr %c", "i64 %c_row",
              "ptr %pack"]  # fmt: skip
    w = Writer(name, params, internal=True)
    room = w.gep("%pack", DEPTH * columns, r)
    with w.loop(0, "%k", DEPTH) as (p, _, _), w.loop(0, "%n", columns) as (j, _, _):
        depth = w.smaller(DEPTH, w.sub("%k", p))
        width = w.smaller(columns, w.sub("%n", j))
        vectors = w.div(w.add(width, lanes - 1), lanes)
        three = w.compare("eq", vectors, 3)
        vectors = w.op(f"select i1 {three}, i64 4, i64 {vectors}")
        source = w.gep("%b", w.add(w.mul(p, "%b_row"), w.mul(j, "%b_step")), r)
        w.do(f"call void @product_pack({r} %factor, ptr {source}, i64 %b_row, i64 %b_step, "
             f"i64 {depth}, i64 {width}, ptr %pack)")  # fmt: skip
        left = w.gep("%a", w.mul(p, "%a_step"), r)
        w.do(f"call void @product_panel(i64 %m, i64 {depth}, ptr {left}, i64 %a_row, i64 %a_step, "
             f"ptr %pack, ptr {w.gep('%c', j, r)}, i64 %c_row, i64 {width}, i64 {vectors}, "
             f"ptr {room})")  # fmt: skip
    return w


@vectorised(_product)
def product(
    m: int, n: int, k: int, factor: Scalar, a: Array, a_row: int, a_step: int,
    b: Array, b_row: int, b_step: int, c: Array, c_row: int, pack: Array,
) -> None:  # fmt: skip
    """c + factor a b, in c: m x n, over k; a with any strides, one of those of b is 1."""
    for i in range(m):
        for p in range(k):
            weight = factor * a[i * a_row + p * a_step]
            for j in range(n):
                c[i * c_row + j] = c[i * c_row + j] + weight * b[p * b_row + j * b_step]


@vectorised(_product)
def turned_product(
    m: int, n: int, k: int, factor: Scalar, a: Array, a_row: int, a_step: int,
    b: Array, b_row: int, b_step: int, c: Array, c_row: int, pack: Array,
) -> None:  # fmt: skip
    """The same with the conjugate of a."""
    for i in range(m):
        for p in range(k):
            weight = factor * conjugate(a[i * a_row + p * a_step])
            for j in range(n):
                c[i * c_row + j] = c[i * c_row + j] + weight * b[p * b_row + j * b_step]
