"""How a single row times a matrix is computed.

B is read once, in the direction it is stored, so the speed is that of memory.
"""

from __future__ import annotations

from treadle.backends.cpu.gemm_params import ENTRY_PARAMS, Params, call_epilogue
from treadle.backends.cpu.gemm_tiles import Tile, element, fma, read_scalar, read_vector
from treadle.backends.cpu.writer import Int, Writer
from treadle.base.dtypes import DType

COLUMNS_PER_TASK = 1024  # longer rows are faster: fewer jumps for the hardware to guess
_SIDE_BY_SIDE = 8  # rows of B read together
# Memory runs at full speed for whoever asks in the order in which things lie. Rows read side by
# side are no such order, so the next ones are asked for line by line.
_LINE = 64  # bytes of a cache line
_AHEAD = 12 << 10  # bytes that are on their way at least: of short rows, more than the next few
_MOST_AHEAD = 4  # the part of a task that this may be
_NEAR = 8 << 10  # bytes that find room in L1 besides those in use
_L1, _L2 = 3, 2  # where to keep them, as LLVM says it


def matvec(tile: Tile, dtype: DType, right: DType) -> Writer:
    """The entry point that computes a few columns of a product with m == 1."""
    w = Writer("gemm_matvec", ENTRY_PARAMS)
    numbers = "n k left_step right_step right_column out_row block_columns swapped"
    p = Params(w, numbers, "left right out", "left right out")
    sums = w.alloca(f"[{COLUMNS_PER_TASK + _SIDE_BY_SIDE} x {tile.scalar}]")
    with p.tasks() as (item, task):
        offsets = p.offsets(item)
        column = w.mul(task, p["block_columns"])
        n = w.smaller(p["block_columns"], w.sub(p["n"], column))
        _products(w, tile, (dtype, right), p, offsets, (sums, column, n))
        deliver(w, tile, p, item, offsets["out"], (sums, column, n))
    return w


def _products(
    w: Writer,
    tile: Tile,
    dtypes: tuple[DType, DType],
    p: Params,
    offsets: dict[str, Int],
    area: tuple[str, Int, Int],
) -> None:
    """Columns column to column + n, into sums."""
    dtype, right = dtypes
    sums, column, n = area
    x = w.gep(p.pointers["left"], offsets["left"], element(dtype))
    start = w.add(offsets["right"], w.mul(column, p["right_column"]))
    b = w.gep(p.pointers["right"], start, element(right))
    along_columns = w.compare("eq", p["right_column"], 1)
    along_k = w.compare("ne", p["right_column"], 1)
    with w.when(along_columns):
        _add_rows(w, tile, (dtype, right), p, (x, b, sums, n))
    with w.when(along_k):
        _dot_rows(w, tile, (dtype, right), p, (x, b, sums, n))


def deliver(
    w: Writer, tile: Tile, p: Params, item: Int, out: Int, area: tuple[str, Int, Int]
) -> None:
    """Finished columns to C or to the epilogue."""
    sums, column, n = area
    plain = w.compare("eq", p.word("epilogue"), 0)
    wanted = w.compare("ne", p.word("epilogue"), 0)
    with w.when(plain):
        place = w.gep(p.pointers["out"], w.add(out, column), tile.scalar)
        rows = f"ptr {sums}, i64 0, ptr {place}, i64 0"
        w.do(f"call void @gemm_merge({rows}, i64 1, i64 {n}, i64 0)")
    with w.when(wanted):
        across = w.compare("ne", p["swapped"], 0)
        m, width = _either(w, across, column, 0), _either(w, across, 1, n)
        at, height = _either(w, across, 0, column), _either(w, across, n, 1)
        position = f"i64 {item}, i64 {m}, i64 {at}, i64 {height}, i64 {width}"
        call_epilogue(w, p, f"ptr {sums}, i64 {width}, {position}")


def _either(w: Writer, condition: str, a: Int, b: Int) -> str:
    return w.op(f"select i1 {condition}, i64 {a}, i64 {b}")


def _add_rows(
    w: Writer, tile: Tile, dtypes: tuple[DType, DType], p: Params, at: tuple[str, str, str, Int]
) -> None:
    """B stored by k: sums += x[k] * B[k]."""
    add_rows(w, tile, dtypes, p, at, (0, p["k"]), 0)


def add_rows(
    w: Writer, tile: Tile, dtypes: tuple[DType, DType], p: Params, at: tuple[str, str, str, Int],
    span: tuple[Int, Int], locality: int,
) -> None:  # fmt: skip
    """sums = the sum over a span of k of x[k] * B[k], several k at a time.

    locality: rows are whole, so those that follow are asked for; 0 if they are not.
    """
    sums, n = at[2:]
    with w.loop(0, n, tile.lanes) as (j, _, _):
        w.store(tile.vector, "zeroinitializer", w.gep(sums, j, tile.scalar), tile.dtype.size)
    low, high = span
    most = w.add(low, w.op(f"and i64 {w.sub(high, low)}, {-_SIDE_BY_SIDE}"))
    with w.loop(low, most, _SIDE_BY_SIDE) as (k, _, _):
        _scaled_rows(w, tile, dtypes, p, at, (k, _SIDE_BY_SIDE, locality))
    with w.loop(most, high) as (k, _, _):
        _scaled_rows(w, tile, dtypes, p, at, (k, 1, 0))


def _scaled_rows(
    w: Writer,
    tile: Tile,
    dtypes: tuple[DType, DType],
    p: Params,
    at: tuple[str, str, str, Int],
    rows_of: tuple[str, int, int],
) -> None:
    (dtype, right), (x, b, sums, n) = dtypes, at
    k, count, locality = rows_of
    scale, rows = [], []
    for r in range(count):
        step = w.add(k, r)
        pointer = w.gep(x, w.mul(step, p["left_step"]), element(dtype))
        scale.append(w.splat(tile.scalar, read_scalar(w, tile, dtype, pointer), tile.lanes))
        rows.append(w.gep(b, w.mul(step, p["right_step"]), element(right)))
    whole = w.op(f"and i64 {n}, {-tile.lanes}")
    ahead = _ahead(w, rows[0], p["right_step"], p["k"], right)

    def add(j: str, mask: str = "") -> None:
        total = w.load(tile.vector, w.gep(sums, j, tile.scalar), tile.dtype.size)
        for factor, row in zip(scale, rows, strict=True):
            pointer = w.gep(row, j, element(right))
            total = fma(w, tile, factor, read_vector(w, tile, right, pointer, mask), total)
        w.store(tile.vector, total, w.gep(sums, j, tile.scalar), tile.dtype.size)

    with w.loop(0, whole, tile.lanes) as (j, _, _):
        if locality:
            _ask(w, tile, right, w.gep(ahead, w.mul(j, count), element(right)), locality)
        add(j)
    with w.when(w.compare("slt", whole, n)):
        add(whole, w.lanes_below(w.sub(n, whole), tile.lanes))


def _ahead(w: Writer, row: str, step: Int, rows: Int, right: DType) -> str:
    """What is asked for while rows from this one on are read: the ones after them, or later.

    rows: of the task. What is after them is somebody else's.
    """
    nbytes = w.mul(step, right.size)
    far = w.smaller(w.div(w.mul(nbytes, rows), _MOST_AHEAD), _AHEAD)
    following = w.mul(nbytes, _SIDE_BY_SIDE)
    return w.gep(row, w.larger(following, far))


def _ask(w: Writer, tile: Tile, right: DType, place: str, locality: int) -> None:
    """For as much of what follows as one step reads."""
    for byte in range(0, tile.lanes * _SIDE_BY_SIDE * right.size, _LINE):
        w.prefetch(w.gep(place, byte), locality)


def _dot_rows(
    w: Writer, tile: Tile, dtypes: tuple[DType, DType], p: Params, at: tuple[str, str, str, Int]
) -> None:
    """B stored by n: several dot products side by side. Needs x at unit stride."""
    if dtypes[1].size < tile.dtype.size:  # widened as they come: L2 is quick enough for them
        _dots(w, tile, dtypes, p, at, _L2)
        return
    for locality, there in caches(w, p["k"], dtypes[1]):
        with w.when(there):
            _dots(w, tile, dtypes, p, at, locality)


def caches(w: Writer, length: Int, right: DType) -> list[tuple[int, str]]:
    """Where to keep the rows that follow, rows of some length, and when that is the place."""
    nbytes = w.mul(length, _SIDE_BY_SIDE * right.size)
    return [(_L1, w.compare("sle", nbytes, _NEAR)), (_L2, w.compare("sgt", nbytes, _NEAR))]


def _dots(
    w: Writer, tile: Tile, dtypes: tuple[DType, DType], p: Params, at: tuple[str, str, str, Int],
    locality: int,
) -> None:  # fmt: skip
    (dtype, right), (x, b, sums, n) = dtypes, at
    whole = w.op(f"and i64 {p['k']}, {-tile.lanes}")
    rest = w.lanes_below(w.sub(p["k"], whole), tile.lanes)

    def step(k: Int, totals: list[str], mask: str = "") -> list[str]:
        factor = read_vector(w, tile, dtype, w.gep(x, k, element(dtype)), mask)
        values = [read_vector(w, tile, right, w.gep(row, k, element(right)), mask) for row in rows]
        return [fma(w, tile, factor, *pair) for pair in zip(values, totals, strict=True)]

    with w.loop(0, n, _SIDE_BY_SIDE) as (j, _, _):
        # Rows past the end read the last one again; their sums are not stored.
        last = w.sub(n, 1)
        rows = [
            w.gep(b, w.mul(w.smaller(w.add(j, r), last), p["right_column"]), element(right))
            for r in range(_SIDE_BY_SIDE)
        ]
        ahead = _ahead(w, rows[0], p["right_column"], n, right)
        zero = [(tile.vector, "zeroinitializer")] * _SIDE_BY_SIDE
        with w.loop(0, whole, tile.lanes, carry=zero) as (k, now, later):
            _ask(w, tile, right, w.gep(ahead, w.mul(k, _SIDE_BY_SIDE), element(right)), locality)
            later[:] = step(k, now)
        for r, total in enumerate(step(whole, now, rest)):
            place = w.gep(sums, w.add(j, r), tile.scalar)
            w.store(tile.scalar, _lane_sum(w, tile, total), place, tile.dtype.size)


def _lane_sum(w: Writer, tile: Tile, value: str) -> str:
    """The sum of all lanes, by halves: an order written here is the same on every processor."""
    distance = tile.lanes // 2
    while distance:
        lanes = [(i + distance) % tile.lanes for i in range(tile.lanes)]
        moved = w.shuffle(tile.scalar, value, value, lanes, tile.lanes)
        value = w.op(f"{tile.add} {tile.vector} {value}, {moved}")
        distance //= 2
    return w.op(f"extractelement {tile.vector} {value}, i32 0")
