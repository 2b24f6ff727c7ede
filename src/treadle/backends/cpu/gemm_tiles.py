"""How a register tile of a matrix product is computed and leaves the registers.

The micro-kernels know neither packing nor transposes: A is reached by two run-time strides, B by
one, and a finished tile is stored whole. One family of them serves every layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from treadle.backends.cpu.narrow import from_float8
from treadle.backends.cpu.vector import Vec
from treadle.backends.cpu.writer import Int, Writer
from treadle.base.dtypes import DType, bfloat16, float32, float64
from treadle.base.target import Target
from treadle.ops.rules import summed_in

_SCALARS = {"float16": "half", "float32": "float", "float64": "double"}


@dataclass(frozen=True)
class Tile:
    """The largest block of C that fits the registers, and the arithmetic it is computed in."""

    dtype: DType  # float32 or float64, or the integers that products add up in
    lanes: int
    rows: int
    vectors: int
    halves: bool = False  # do factors of sums of 64 bits take 32, at most?

    @property
    def columns(self) -> int:
        """Width in elements."""
        return self.vectors * self.lanes

    @property
    def heights(self) -> tuple[int, ...]:
        """Rows of the tiles that exist, ascending: any number of rows is a sum of a few of them."""
        return (1, 2, self.rows)

    @property
    def widths(self) -> tuple[int, ...]:
        """Vectors of the tiles that exist, ascending."""
        return (1, 2, 4) if self.vectors == 4 else (1, 2)

    @property
    def scalar(self) -> str:
        """LLVM's name of the element type."""
        return element(self.dtype)

    @property
    def vector(self) -> str:
        """LLVM's name of one register."""
        return f"<{self.lanes} x {self.scalar}>"

    @property
    def suffix(self) -> str:
        """The part of an intrinsic's name that says the vector type."""
        return f"v{self.lanes}{'f' if self.dtype.is_float else 'i'}{self.dtype.bits}"

    @property
    def add(self) -> str:
        """LLVM's instruction that adds two registers."""
        return "fadd" if self.dtype.is_float else "add"


def tile_for(dtype: DType, target: Target, right: DType | None = None) -> Tile:
    """The tile for products of dtype: 24 sums in 32 registers, 12 in 16, the rest for A and B."""
    kinds = (dtype, right or dtype)
    compute = float64 if float64 in kinds else float32
    if all(kind.is_integer for kind in kinds):
        compute = summed_in(kinds)
    halves = compute.is_integer and compute.bits == 64 and max(d.bits for d in kinds) <= 32
    lanes = target.vector_bytes // compute.size
    return Tile(compute, lanes, 6, 4 if target.registers >= 32 else 2, halves)


def read_vector(w: Writer, tile: Tile, dtype: DType, pointer: str, mask: str = "") -> str:
    """A vector of the compute type from memory of type dtype; lanes not in mask read as zero."""
    type_ = f"<{tile.lanes} x {element(dtype)}>"
    if not mask:
        value = w.load(type_, pointer, dtype.size)
    else:
        letter = "f" if dtype.name in _SCALARS else "i"
        suffix = f"v{tile.lanes}{letter}{dtype.bits}"
        value = w.call(
            type_,
            f"llvm.masked.load.{suffix}.p0",
            f"ptr align {dtype.size} {pointer}",
            f"<{tile.lanes} x i1> {mask}",
            f"{type_} zeroinitializer",
        )
    return _widen(w, tile, dtype, value, tile.lanes)


def read_scalar(w: Writer, tile: Tile, dtype: DType, pointer: str) -> str:
    """One element, converted."""
    return _widen(w, tile, dtype, w.load(element(dtype), pointer, dtype.size), 1)


def element(dtype: DType) -> str:
    """LLVM's name of an element in memory."""
    return _SCALARS.get(dtype.name) or f"i{dtype.bits}"


def _widen(w: Writer, tile: Tile, dtype: DType, value: str, lanes: int) -> str:
    def named(scalar: str) -> str:
        return scalar if lanes == 1 else f"<{lanes} x {scalar}>"

    if dtype is tile.dtype:
        return value
    if dtype.is_integer:
        wider = "sext" if dtype.kind == "int" else "zext"
        if tile.dtype.is_float:
            wider = "sitofp" if dtype.kind == "int" else "uitofp"
        return w.op(f"{wider} {named(element(dtype))} {value} to {named(tile.scalar)}")
    if dtype.bits == 8:
        lone = lanes == 1  # LLVM's vectors of one element are not its scalars
        value = w.op(f"bitcast i8 {value} to <1 x i8>") if lone else value
        wide = from_float8(Vec(w, value, lanes, "i8", Target("cpu")), dtype).value
        return w.op(f"bitcast <1 x float> {wide} to float") if lone else wide
    if dtype is not bfloat16:
        return w.op(f"fpext {named(element(dtype))} {value} to {named(tile.scalar)}")
    # A bfloat16 is the upper half of a float32; the shift needs no processor support.
    wide = w.op(f"zext {named('i16')} {value} to {named('i32')}")
    sixteen = "16" if lanes == 1 else "splat (i32 16)"
    shifted = w.op(f"shl {named('i32')} {wide}, {sixteen}")
    return w.op(f"bitcast {named('i32')} {shifted} to {named('float')}")


def write_vector(w: Writer, tile: Tile, value: str, pointer: str, mask: str) -> None:
    """Store the lanes in mask."""
    w.call(
        "void",
        f"llvm.masked.store.{tile.suffix}.p0",
        f"{tile.vector} {value}",
        f"ptr align {tile.dtype.size} {pointer}",
        f"<{tile.lanes} x i1> {mask}",
    )


def fma(w: Writer, tile: Tile, a: str, b: str, c: str) -> str:
    """a * b + c, rounded once; integers wrap around."""
    vector = tile.vector
    if tile.halves:  # says what packing has made the compiler forget: one multiplication does
        a, b = (_half(w, tile, x) for x in (a, b))
    if not tile.dtype.is_float:
        return w.op(f"add {vector} {c}, {w.op(f'mul {vector} {a}, {b}')}")
    return w.call(
        vector, f"llvm.fma.{tile.suffix}", f"{vector} {a}", f"{vector} {b}", f"{vector} {c}"
    )


def _half(w: Writer, tile: Tile, value: str) -> str:
    """The same integers, whose upper halves are known to be signs."""
    half = f"<{tile.lanes} x i{tile.dtype.bits // 2}>"
    cut = w.op(f"trunc {tile.vector} {value} to {half}")
    return w.op(f"sext {half} {cut} to {tile.vector}")


def kernel_name(rows: int, vectors: int) -> str:
    """The symbol of the micro-kernel of that size."""
    return f"gemm_tile_{rows}x{vectors}"


KERNEL = {
    "%a": "ptr", "%b": "ptr", "%k": "i64", "%a_row": "i64", "%a_step": "i64", "%b_step": "i64",
    "%out": "ptr", "%out_row": "i64",
}  # fmt: skip
KERNEL_TYPES = tuple(KERNEL.values())
KERNEL_PARAMS = [f"{type_} {name}" for name, type_ in KERNEL.items()]


def micro_kernel(tile: Tile, rows: int, vectors: int, adds: bool = False) -> Writer:
    """out[i, j] = sum over k of a[i * a_row + k * a_step] * b[k * b_step + j], all in elements.

    adds: to what lies there.
    """
    w = Writer(kernel_name(rows, vectors), KERNEL_PARAMS, internal=True)
    nothing = ["zeroinitializer"] * (rows * vectors)
    _store_tile(w, tile, add_products(w, tile, (rows, vectors), nothing), rows, vectors, adds)
    return w


def add_products(w: Writer, tile: Tile, shape: tuple[int, int], start: list[str]) -> list[str]:
    """Vectors of a tile, row by row: those to start with, plus the products of a micro-kernel."""
    rows, vectors = shape
    scalar, size = tile.scalar, tile.dtype.size
    # One pointer for three rows: base, base + stride and base + 2 stride are all addressing modes.
    bases = [w.gep("%a", w.mul("%a_row", 3 * g), scalar) for g in range(-(-rows // 3))]
    offsets: list[Int] = [0, "%a_row", w.mul("%a_row", 2)]
    pointers = [("ptr", base) for base in [*bases, "%b"]]
    count, sums = len(pointers), [(tile.vector, value) for value in start]
    with w.loop(0, "%k", carry=[*pointers, *sums]) as (_, now, later):
        # Values LLVM cannot see through keep the addresses as written; it would spill otherwise.
        here = [w.op(f'call ptr asm "", "=r,0"(ptr {p})') for p in now[:count]]
        b = [
            w.load(tile.vector, w.gep(here[-1], j * tile.lanes, scalar), size)
            for j in range(vectors)
        ]
        for i in range(rows):
            address = w.gep(here[i // 3], offsets[i % 3], scalar)
            a = w.splat(scalar, w.load(scalar, address, size), tile.lanes)
            for j in range(vectors):
                at = count + i * vectors + j
                later[at] = fma(w, tile, a, b[j], now[at])
        for g, step in enumerate(["%a_step"] * len(bases) + ["%b_step"]):
            later[g] = w.gep(here[g], step, scalar)
    return now[count:]


def looked_kernel(tile: Tile, rows: int, vectors: int) -> Writer:
    """The same for an A that lies at any places: a[rows[i] + steps[k]], addresses of tables."""
    names = ("%a", "%b", "%k", "%rows", "%steps", "%b_step", "%out", "%out_row")
    params = [f"{type_} {name}" for type_, name in zip(KERNEL_TYPES, names, strict=True)]
    w = Writer(kernel_name(rows, vectors), params, internal=True)
    scalar, size = tile.scalar, tile.dtype.size
    places = w.op("inttoptr i64 %rows to ptr")
    lines = [w.gep("%a", w.word(places, i), scalar) for i in range(rows)]
    steps = w.op("inttoptr i64 %steps to ptr")
    sums = [(tile.vector, "zeroinitializer")] * (rows * vectors)
    with w.loop(0, "%k", carry=[("ptr", steps), ("ptr", "%b"), *sums]) as (_, now, later):
        step, right = (w.op(f'call ptr asm "", "=r,0"(ptr {p})') for p in now[:2])
        here = w.word(step, 0)
        b = [
            w.load(tile.vector, w.gep(right, j * tile.lanes, scalar), size) for j in range(vectors)
        ]
        for i in range(rows):
            a = w.splat(scalar, w.load(scalar, w.gep(lines[i], here, scalar), size), tile.lanes)
            for j in range(vectors):
                at = 2 + i * vectors + j
                later[at] = fma(w, tile, a, b[j], now[at])
        later[0], later[1] = w.gep(step, 8), w.gep(right, "%b_step", scalar)
    _store_tile(w, tile, now[2:], rows, vectors)
    return w


def _store_tile(
    w: Writer, tile: Tile, sums: list[str], rows: int, vectors: int, adds: bool = False
) -> None:
    for i in range(rows):
        row = w.gep("%out", w.mul("%out_row", i), tile.scalar)
        for j in range(vectors):
            value, place = sums[i * vectors + j], w.gep(row, j * tile.lanes, tile.scalar)
            if adds:
                before = w.load(tile.vector, place, tile.dtype.size)
                value = w.op(f"{tile.add} {tile.vector} {before}, {value}")
            w.store(tile.vector, value, place, tile.dtype.size)


def merge(tile: Tile) -> Writer:
    """into[i, j] = from[i, j], plus into[i, j] where add is 1; touches rows x columns exactly."""
    memory = ("ptr %from", "i64 %from_row", "ptr %into", "i64 %into_row")
    sizes = ("i64 %rows", "i64 %columns", "i64 %add")
    w = Writer("gemm_merge", [*memory, *sizes], internal=True)
    scalar = tile.scalar
    adds = w.compare("ne", "%add", 0)
    with w.loop(0, "%rows") as (i, _, _):
        source = w.gep("%from", w.mul(i, "%from_row"), scalar)
        into = w.gep("%into", w.mul(i, "%into_row"), scalar)
        with w.loop(0, "%columns", tile.lanes) as (j, _, _):
            mask = w.lanes_below(w.sub("%columns", j), tile.lanes)
            lanes = f"<{tile.lanes} x i1>"
            summed = w.op(f"select i1 {adds}, {lanes} {mask}, {lanes} zeroinitializer")
            place = w.gep(into, j, scalar)
            before = read_vector(w, tile, tile.dtype, place, summed)
            fresh = read_vector(w, tile, tile.dtype, w.gep(source, j, scalar), mask)
            total = w.op(f"{tile.add} {tile.vector} {fresh}, {before}")
            write_vector(w, tile, total, place, mask)
    return w


@contextmanager
def pieces(w: Writer, total: Int, sizes: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Cover 0..total with pieces, always the largest size that fits: yields (start, size).

    sizes ascend and begin with 1.
    """
    head, body, done = w.fresh("head"), w.fresh("body"), w.fresh("done")
    index, following = "%" + w.fresh("i"), "%" + w.fresh("n")
    before = w.block
    w.do(f"br label %{head}")
    w.start(head)
    at = len(w.lines)
    w.lines.append("")
    w.do(f"br i1 {w.compare('slt', index, total)}, label %{body}, label %{done}")
    w.start(body)
    left = w.sub(total, index)
    size = "1"
    for option in sizes[1:]:
        fits = w.compare("sge", left, option)
        size = w.op(f"select i1 {fits}, i64 {option}, i64 {size}")
    yield index, size
    w.do(f"{following} = add nsw i64 {index}, {size}")
    w.do(f"br label %{head}")
    w.lines[at] = f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{w.block} ]"
    w.start(done)
