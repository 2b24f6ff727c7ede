"""What one task of a chain does: a block of lanes, with everything that streams by.

The parameters are a table of records (see `chain_plan`), so one piece of code serves every chain of
a dtype: any number of products, runs over the stream, and programs.
"""

from __future__ import annotations

from collections.abc import Callable

from treadle.backends.cpu.gemm_pack import pack_b
from treadle.backends.cpu.gemm_tiles import (
    KERNEL_PARAMS,
    KERNEL_TYPES,
    Tile,
    add_products,
    element,
    kernel_name,
    micro_kernel,
    pieces,
    read_scalar,
    read_vector,
    tile_for,
)
from treadle.backends.cpu.params import Words
from treadle.backends.cpu.writer import Int, Writer, module
from treadle.base.dtypes import DType
from treadle.base.target import Target

BATCH = 8  # batch axes at most
NUMBERS = (
    "scratch", "scratch_stride",  # number of the base address, bytes of a thread
    "lanes", "streams", "block", "step",  # extents, lanes of a task, stream positions of a tile
    "blocks", "total", "group", "span",  # tasks of an item, of all, for one call; blocks of a task
    "zeros", "zero_count",  # where sums of a block begin in scratch, and how many elements they are
    "sums", "sum_count",  # those of an item
    "first",  # the program before all
    "packs", "pack_count", "turns", "turn_count", "sweeps", "sweep_count",
    "lasts", "last_count", "ends", "end_count",
    "limits", "limit_count",
)  # fmt: skip
POSITION = {name: k for k, name in enumerate(NUMBERS)}
POSITION |= {f"extent_{k}": len(NUMBERS) + k for k in range(BATCH)}
HEADER = len(POSITION)
OPERAND = ("base", "offset", "along", "depth", *(f"batch_{k}" for k in range(BATCH)))
PRODUCER = ("deep", "panel", "tile", "strip")  # then two operands: lane, stream
CONSUMER = ("columns", "feed", "into", "factor", "strip", "panel", "pitch")  # then an operand
SWEEP = ("code", "params", "producers", "producer_count", "consumers", "consumer_count",
         "crossings", "crossing_count")  # fmt: skip
PROGRAM = ("code", "params", "count")  # count: of its inner axis
LIMIT = ("lane", "stream", "offset")
PRODUCER_WORDS = len(PRODUCER) + 2 * len(OPERAND)
CONSUMER_WORDS = len(CONSUMER) + len(OPERAND)
ENTRY = ("ptr %bases", "ptr %params", "i64 %block", "i64 %tid")


def chain_text(dtype: DType, target: Target) -> str:
    """The IR module of chains whose operands are of dtype."""
    tile = tile_for(dtype, target)
    sizes = [(h, v) for h in tile.heights for v in tile.widths]
    kernels = [micro_kernel(tile, *size) for size in sizes]
    kernels += [adding_kernel(tile, *size) for size in sizes]
    return module([*kernels, pack_b(tile, dtype), widen(tile, dtype), Task(tile, dtype).w])


def adding_name(rows: int, vectors: int) -> str:
    """The symbol of a micro-kernel that adds to what is there."""
    return f"chain_tile_{rows}x{vectors}"


def adding_kernel(tile: Tile, rows: int, vectors: int) -> Writer:
    """out[i, j] = out[i, j] * factor[j] + sum over k of a[i, k] * b[k, j], as `micro_kernel`."""
    w = Writer(adding_name(rows, vectors), [*KERNEL_PARAMS, "ptr %factor"], internal=True)
    scalar, size = tile.scalar, tile.dtype.size
    lines = [w.gep("%out", w.mul("%out_row", i), scalar) for i in range(rows)]
    places = [w.gep(line, j * tile.lanes, scalar) for line in lines for j in range(vectors)]
    factors = [w.load(tile.vector, w.gep("%factor", j * tile.lanes, scalar), size)
               for j in range(vectors)]  # fmt: skip
    start = []
    for k, place in enumerate(places):
        before = w.load(tile.vector, place, size)
        start.append(w.op(f"fmul {tile.vector} {before}, {factors[k % vectors]}"))
    for value, place in zip(add_products(w, tile, (rows, vectors), start), places, strict=True):
        w.store(tile.vector, value, place, size)
    return w


def widen(tile: Tile, dtype: DType) -> Writer:
    """into[i * pitch + j] = from[i * row + j * step] in the type it is computed in."""
    params = ["ptr %from", "i64 %row", "i64 %step", "ptr %into", "i64 %pitch", "i64 %rows"]
    w = Writer("chain_widen", [*params, "i64 %columns"], internal=True)
    near = w.compare("eq", "%step", 1)
    with w.loop(0, "%rows") as (i, _, _):
        source = w.gep("%from", w.mul(i, "%row"), element(dtype))
        into = w.gep("%into", w.mul(i, "%pitch"), tile.scalar)
        whole = w.op(f"and i64 %columns, {-tile.lanes}")
        whole = w.op(f"select i1 {near}, i64 {whole}, i64 0")
        with w.loop(0, whole, tile.lanes) as (j, _, _):
            value = read_vector(w, tile, dtype, w.gep(source, j, element(dtype)))
            w.store(tile.vector, value, w.gep(into, j, tile.scalar), tile.dtype.size)
        with w.loop(whole, "%columns") as (j, _, _):
            place = w.gep(source, w.mul(j, "%step"), element(dtype))
            value = read_scalar(w, tile, dtype, place)
            w.store(tile.scalar, value, w.gep(into, j, tile.scalar), tile.dtype.size)
    return w


class Record:
    """A record of the table at a word whose number is known when it runs."""

    def __init__(self, w: Writer, at: Int, names: tuple[str, ...]) -> None:
        self.w, self.at, self.names = w, at, names

    def __getitem__(self, name: str) -> str:
        return self.w.word("%params", self.w.add(self.at, self.names.index(name)))


class Task:
    """The entry point, written."""

    def __init__(self, tile: Tile, dtype: DType) -> None:
        self.tile, self.dtype = tile, dtype
        self.w = w = Writer("chain_block", ENTRY)
        self.p = p = Words(w, POSITION, POSITION, {})
        self.digits = w.alloca(f"[{BATCH} x i64]")
        with p.items() as task:
            self.item = w.div(task, p["blocks"])
            start = w.load("ptr", w.gep("%bases", p["scratch"], "ptr"), 8)
            self.scratch = w.gep(start, w.mul("%tid", p["scratch_stride"]))
            # Late lanes have most to do where a mask is causal: they go first.
            last = w.sub(w.sub(p["blocks"], 1), w.rem(task, p["blocks"]))
            self._item(w.mul(last, p["span"]))

    def _item(self, first: Int) -> None:
        """The blocks of a task, one after the other."""
        w, p, tile = self.w, self.p, self.tile
        rest: Int = self.item
        for axis in reversed(range(BATCH)):
            digit = w.rem(rest, p[f"extent_{axis}"])
            w.store("i64", str(digit), w.gep(self.digits, axis, "i64"), 8)
            rest = w.div(rest, p[f"extent_{axis}"])
        self._clear("sums", "sum_count")
        with w.loop(0, p["span"]) as (k, _, _):
            self.lane = w.mul(w.add(first, k), p["block"])
            self.count = w.smaller(p["block"], w.sub(p["lanes"], self.lane))
            self.vectors = w.div(w.add(self.count, tile.lanes - 1), tile.lanes)
            self._block()
        self.lane, self.count = 0, p["streams"]
        with w.loop(0, p["end_count"]) as (k, _, _):
            end = Record(w, w.add(p["ends"], w.mul(k, len(PROGRAM))), PROGRAM)
            self._call(end, 0, end["count"])

    def _clear(self, where: str, count: str) -> None:
        w, tile = self.w, self.tile
        zeros = w.gep(self.scratch, self.p[where])
        with w.loop(0, self.p[count], tile.lanes) as (i, _, _):
            place = w.gep(zeros, i, tile.scalar)
            w.store(tile.vector, "zeroinitializer", place, tile.dtype.size)

    # ---- the block

    def _block(self) -> None:
        w, p = self.w, self.p
        self._call(Record(w, p["first"], PROGRAM), 0, 0)
        self._clear("zeros", "zero_count")
        with w.loop(0, p["pack_count"]) as (k, _, _):
            self._pack(w.add(p["packs"], w.mul(k, PRODUCER_WORDS)))
        with w.loop(0, p["turn_count"]) as (k, _, _):
            self._turn(w.add(p["turns"], w.mul(k, CONSUMER_WORDS)))
        with w.loop(0, p["sweep_count"]) as (k, _, _):
            self._sweep(Record(w, w.add(p["sweeps"], w.mul(k, len(SWEEP))), SWEEP))
        with w.loop(0, p["last_count"]) as (k, _, _):
            last = Record(w, w.add(p["lasts"], w.mul(k, len(PROGRAM))), PROGRAM)
            self._call(last, 0, last["count"])

    def _call(self, program: Record, stream: Int, streams: Int) -> None:
        w = self.w
        code = w.op(f"inttoptr i64 {program['code']} to ptr")
        params = w.op(f"inttoptr i64 {program['params']} to ptr")
        where = f"i64 {self.item}, i64 {self.lane}, i64 {stream}, i64 {self.count}, i64 {streams}"
        w.do(f"call void {code}(ptr %bases, ptr {params}, ptr {self.scratch}, {where})")

    def _operand(self, at: Int) -> tuple[str, Record]:
        """The first element of an operand for this item."""
        w = self.w
        record = Record(w, at, OPERAND)
        base = w.load("ptr", w.gep("%bases", record["base"], "ptr"), 8)
        place: Int = 0
        for k in range(BATCH):
            digit = w.load("i64", w.gep(self.digits, k, "i64"), 8)
            place = w.add(place, w.mul(digit, record[f"batch_{k}"]))
        return w.gep(w.gep(base, record["offset"]), place, element(self.dtype)), record

    def _pack(self, at: Int) -> None:
        """The lanes' operand of a product, once for everything that streams by."""
        producer = Record(self.w, at, PRODUCER)
        self._pack_lanes(producer["panel"], self.w.add(at, len(PRODUCER)), producer["deep"])

    def _turn(self, at: Int) -> None:
        """The operand of a product across lanes."""
        consumer = Record(self.w, at, CONSUMER)
        columns = consumer["columns"]
        self._pack_lanes(consumer["panel"], self.w.add(at, len(CONSUMER)), columns, turned=True)

    def _pack_lanes(self, panel: Int, at: Int, depth: Int, turned: bool = False) -> None:
        """What an operand has for these lanes, which are columns, or rows where it is turned."""
        w = self.w
        start, operand = self._operand(at)
        along = operand["along"]
        source = w.gep(start, w.mul(self.lane, along), element(self.dtype))
        into = w.gep(self.scratch, panel)
        strides, sizes = (operand["depth"], along), (depth, self.count)
        if turned:
            strides, sizes = strides[::-1], sizes[::-1]
        given = [f"i64 {n}" for n in strides], [f"i64 {n}" for n in sizes]
        words = ", ".join([f"ptr {source}", *given[0], f"ptr {into}", *given[1]])
        w.do(f"call void @gemm_pack_b({words})")

    # ---- the stream

    def _sweep(self, sweep: Record) -> None:
        w, p = self.w, self.p
        low, high = self._limits()
        with w.loop(low, high, p["step"]) as (at, _, _):
            count = w.smaller(p["step"], w.sub(high, at))
            with w.loop(0, sweep["producer_count"]) as (k, _, _):
                self._produce(w.add(sweep["producers"], w.mul(k, PRODUCER_WORDS)), at, count)
            self._call(sweep, at, count)
            with w.loop(0, sweep["consumer_count"]) as (k, _, _):
                self._consume(w.add(sweep["consumers"], w.mul(k, CONSUMER_WORDS)), at, count)
            with w.loop(0, sweep["crossing_count"]) as (k, _, _):
                self._cross(w.add(sweep["crossings"], w.mul(k, CONSUMER_WORDS)), at, count)

    def _limits(self) -> tuple[str, str]:
        """The stream positions at which a mask leaves something of this block."""
        w, p = self.w, self.p
        start = [("i64", "0"), ("i64", p["streams"])]
        last = w.add(self.lane, w.sub(self.count, 1))
        with w.loop(0, p["limit_count"], carry=start) as (k, now, later):
            limit = Record(w, w.add(p["limits"], w.mul(k, len(LIMIT))), LIMIT)
            factor = limit["lane"]
            most = self._larger(w.mul(self.lane, factor), w.mul(last, factor))
            reach = w.add(most, limit["offset"])
            upwards = w.compare("sgt", limit["stream"], 0)
            low = self._larger(now[0], w.sub(0, reach))
            high = self._larger(w.smaller(now[1], w.add(reach, 1)), 0)
            later[0] = w.op(f"select i1 {upwards}, i64 {low}, i64 {now[0]}")
            later[1] = w.op(f"select i1 {upwards}, i64 {now[1]}, i64 {high}")
        return now[0], now[1]

    def _larger(self, a: Int, b: Int) -> str:
        return self.w.call("i64", "llvm.smax.i64", f"i64 {a}", f"i64 {b}")

    def _rows(
        self, at: Int, first: Int, strip: str, sizes: tuple[Int, Int]
    ) -> tuple[str, Int, Int]:
        """Rows of an operand that stream by: (memory, row stride, element stride)."""
        w = self.w
        start, operand = self._operand(at)
        row, step = operand["along"], operand["depth"]
        source = w.gep(start, w.mul(first, row), element(self.dtype))
        if self.dtype is self.tile.dtype:
            return source, row, step
        into = w.gep(self.scratch, strip)
        rows, columns = sizes
        size = f"i64 {columns}, i64 {rows}, i64 {columns}"
        w.do(f"call void @chain_widen(ptr {source}, i64 {row}, i64 {step}, ptr {into}, {size})")
        return into, columns, 1

    def _produce(self, at: Int, first: Int, count: Int) -> None:
        """A tile of a product: its rows stream, its columns are lanes."""
        w, tile = self.w, self.tile
        producer = Record(w, at, PRODUCER)
        deep = producer["deep"]
        place = w.add(at, len(PRODUCER) + len(OPERAND))
        left, row, step = self._rows(place, first, producer["strip"], (count, deep))
        panel = w.gep(self.scratch, producer["panel"])
        out = w.gep(self.scratch, producer["tile"])
        block = self.p["block"]
        with pieces(w, count, tile.heights) as (i, height):
            here = w.gep(left, w.mul(i, row), tile.scalar)
            with pieces(w, self.vectors, tile.widths) as (v, width):
                whole = w.mul(w.div(v, tile.vectors), tile.columns)
                j = w.mul(v, tile.lanes)
                right = w.gep(panel, w.add(w.mul(whole, deep), w.sub(j, whole)), tile.scalar)
                into = w.gep(out, w.add(w.mul(i, block), j), tile.scalar)
                values = (here, right, deep, row, step, tile.columns, into, block)
                self._kernel(kernel_name, height, width, values)

    def _consume(self, at: Int, first: Int, count: Int) -> None:
        """What is fed times rows that stream by, added to sums whose columns are lanes."""
        w, tile = self.w, self.tile
        consumer = Record(w, at, CONSUMER)
        columns = consumer["columns"]
        left, row, step = self._rows(
            w.add(at, len(CONSUMER)), first, consumer["strip"], (count, columns)
        )
        feed = w.gep(self.scratch, consumer["feed"])
        out = w.gep(self.scratch, consumer["into"])
        factor = w.gep(self.scratch, consumer["factor"])
        block = self.p["block"]
        with pieces(w, columns, tile.heights) as (i, height):
            here = w.gep(left, w.mul(i, step), tile.scalar)
            with pieces(w, self.vectors, tile.widths) as (v, width):
                j = w.mul(v, tile.lanes)
                right = w.gep(feed, j, tile.scalar)
                into = w.gep(out, w.add(w.mul(i, block), j), tile.scalar)
                values = (here, right, count, step, row, block, into, block)
                self._kernel(adding_name, height, width, values, w.gep(factor, j, tile.scalar))

    def _cross(self, at: Int, first: Int, count: Int) -> None:
        """What is fed, times the lanes' own rows, added to sums whose rows stream by."""
        w, tile = self.w, self.tile
        consumer = Record(w, at, CONSUMER)
        feed = w.gep(self.scratch, consumer["feed"])
        panel = w.gep(self.scratch, consumer["panel"])
        ones = w.gep(self.scratch, consumer["factor"])
        row = consumer["pitch"]
        out = w.gep(w.gep(self.scratch, consumer["into"]), w.mul(first, row), tile.scalar)
        vectors = w.div(w.add(consumer["columns"], tile.lanes - 1), tile.lanes)
        block = self.p["block"]
        with pieces(w, count, tile.heights) as (i, height):
            here = w.gep(feed, w.mul(i, block), tile.scalar)
            with pieces(w, vectors, tile.widths) as (v, width):
                whole = w.mul(w.div(v, tile.vectors), tile.columns)
                j = w.mul(v, tile.lanes)
                right = w.gep(panel, w.add(w.mul(whole, self.count), w.sub(j, whole)), tile.scalar)
                into = w.gep(out, w.add(w.mul(i, row), j), tile.scalar)
                values = (here, right, self.count, block, 1, tile.columns, into, row)
                self._kernel(adding_name, height, width, values, ones)

    def _kernel(
        self, name: Callable[[int, int], str], height: str, width: str,
        values: tuple[Int, ...], more: str = "",
    ) -> None:  # fmt: skip
        """The micro-kernel of a size that is known when it runs."""
        w, tile = self.w, self.tile
        chosen = ""
        for h in tile.heights:
            for v in tile.widths:
                symbol = f"@{name(h, v)}"
                if not chosen:
                    chosen = symbol
                    continue
                tall, wide = w.compare("eq", height, h), w.compare("eq", width, v)
                both = w.op(f"and i1 {tall}, {wide}")
                chosen = w.op(f"select i1 {both}, ptr {symbol}, ptr {chosen}")
        typed = [f"{type_} {value}" for type_, value in zip(KERNEL_TYPES, values, strict=True)]
        typed += [f"ptr {more}"] if more else []
        w.do(f"call void {chosen}({', '.join(typed)})")
