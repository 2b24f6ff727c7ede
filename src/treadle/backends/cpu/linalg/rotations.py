"""Rotations of neighbouring rows, many of which act while a strip of the rows stays in registers.

A list of them begins with how many numbers it holds so far. A sweep of it is: the first row, how
many rotations, the direction of the next row (1 or -1), and the pairs (c, s).
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cpu.linalg.vectors import Rows
from treadle.backends.cpu.writer import Int, Writer
from treadle.backends.cpu.written import Array, vectorised
from treadle.base.dtypes import DType
from treadle.base.target import Target

HEAD = 3  # numbers of a sweep before its pairs
STRIP = 64  # columns that one block takes through all sweeps: some vectors, which wait for none


def _sweep(name: str, dtype: DType, target: Target) -> Sequence[Writer]:
    r = Rows(name, "count:i pairs:p row:p step:i n:i", dtype, target)
    w, lanes = r.w, r.tile.lanes

    def columns(at: Int, vectors: int, mask: str) -> None:
        places = [w.add(at, k * lanes) for k in range(vectors)]
        first = [(r.tile.vector, r.load("%row", place, mask)) for place in places]
        start = [("ptr", "%row"), ("ptr", "%pairs"), *first]
        with w.loop(0, "%count", 1, start) as (_, now, later):
            c = r.splat(w.load(r.scalar, now[1], r.tile.dtype.size))
            s = r.splat(w.load(r.scalar, w.gep(now[1], 1, r.scalar), r.tile.dtype.size))
            minus = w.op(f"fneg {r.tile.vector} {s}")
            following = w.gep(now[0], "%step", r.scalar)
            for k, place in enumerate(places):
                other, here = r.load(following, place, mask), now[2 + k]
                r.store(r.fma(c, here, r.op("fmul", s, other)), now[0], place, mask)
                later[2 + k] = r.fma(minus, here, r.op("fmul", c, other))
            later[0], later[1] = following, w.gep(now[1], 2, r.scalar)
        for k, place in enumerate(places):
            r.store(now[2 + k], now[0], place, mask)

    r.runs("%n", columns)
    return [w]


@vectorised(_sweep)
def sweep(count: int, pairs: Array, row: Array, step: int, n: int) -> None:
    """Each row, step apart, and the next become c row + s next and c next - s row."""
    for k in range(count):
        c = pairs[2 * k]
        s = pairs[2 * k + 1]
        for i in range(n):
            here = row[i]
            other = row[i + step]
            row[i] = c * here + s * other
            row[i + step] = c * other - s * here
        row = row + step


def begin(sweeps: Array, first: int, direction: int) -> Array:
    """Where the pairs of another sweep go; it counts once it is ended."""
    place = sweeps + (1 + int(sweeps[0]))
    place[0] = float(first)
    place[2] = float(direction)
    return place + HEAD


def end(sweeps: Array, count: int) -> None:
    """The sweep that was begun has that many rotations."""
    place = sweeps + (1 + int(sweeps[0]))
    place[1] = float(count)
    sweeps[0] = sweeps[0] + float(HEAD + 2 * count)


def turn_rows(sweeps: Array, z: Array, ld: int, first: int, last: int) -> None:
    """All sweeps, on the columns first to last of rows that lie ld apart."""
    used = int(sweeps[0])
    at = 0
    while at < used:
        place = sweeps + (1 + at)
        count = int(place[1])
        step = int(place[2]) * ld
        sweep(count, place + HEAD, z + (int(place[0]) * ld + first), step, last - first)
        at = at + HEAD + 2 * count
