"""Transposes of blocks of matrices, square by square through registers."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cpu.gemm_pack import transpose
from treadle.backends.cpu.gemm_tiles import read_vector, tile_for, write_vector
from treadle.backends.cpu.writer import Int, Writer
from treadle.backends.cpu.written import Array, vectorised
from treadle.base.dtypes import DType
from treadle.base.target import Target

TILE = 16  # rows that share lines of the cache


def turned_text(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    """The text of `turn`."""
    tile = tile_for(dtype, target)
    r, lanes = tile.scalar, tile.lanes
    w = Writer(name, ["i64 %rows", "i64 %columns", "ptr %a", "i64 %a_row", "ptr %to",
                      "i64 %to_row"], internal=True)  # fmt: skip
    with w.loop(0, "%rows", lanes) as (i, _, _), w.loop(0, "%columns", lanes) as (j, _, _):
        left, down = w.sub("%columns", j), w.sub("%rows", i)
        mask = w.lanes_below(left, lanes)
        last = w.sub("%rows", 1)
        start, to = w.gep("%a", j, r), w.gep("%to", i, r)
        values = []
        for k in range(lanes):  # rows past the last read it again, and are never stored
            row: Int = w.mul(w.smaller(w.add(i, k), last), "%a_row")
            values.append(read_vector(w, tile, dtype, w.gep(start, row, r), mask))
        tall = w.lanes_below(down, lanes)
        for k, value in enumerate(transpose(w, tile, values)):
            with w.when(w.compare("sgt", left, k)):
                place = w.gep(to, w.mul(w.add(j, k), "%to_row"), r)
                write_vector(w, tile, value, place, tall)
    return [w]


@vectorised(turned_text)
def turn(rows: int, columns: int, a: Array, a_row: int, to: Array, to_row: int) -> None:
    """The transpose of rows x columns elements, which lie a_row apart; of the result to_row."""
    for i in range(0, rows, TILE):
        for j in range(0, columns, TILE):
            for p in range(i, min(rows, i + TILE)):
                for q in range(j, min(columns, j + TILE)):
                    to[q * to_row + p] = a[p * a_row + q]
