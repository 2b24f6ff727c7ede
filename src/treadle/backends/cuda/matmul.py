"""Matrix products as Triton source: any strides, batches, and an epilogue on the finished tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from treadle.backends.choices import Machine
from treadle.backends.cuda.epilogue import EpilogueEmitter, Finished
from treadle.backends.cuda.forms import INDEX_LIMIT, Form, is_wide
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.narrow import FLOAT8, TENSOR, memory_type, stored
from treadle.backends.cuda.ways import settled
from treadle.backends.questions import of_loops
from treadle.base.dtypes import DType, bfloat16, float16, float32, float64
from treadle.base.errors import needed
from treadle.base.knobs import TF32
from treadle.base.sizes import most
from treadle.kernel.index import Axis, Index, Remainder, as_quotient
from treadle.kernel.parser import parse
from treadle.kernel.signature import Signature
from treadle.kernel.steps import ProductStep

SEPARABLE = (float16, bfloat16, float32, float64)
TEMPLATES = (*SEPARABLE, *FLOAT8)
EIGHTHS = 89  # the first architecture whose tensor cores take floats of 8 bits
GROUP = 8  # rows of tiles whose operands stay in the second cache together


@dataclass(frozen=True)
class Tile:
    """What one program computes, and how much of the peak it reaches alone on a processor."""

    m: int
    n: int
    k: int
    warps: int
    stages: int
    speed: float


BYTES = (
    Tile(128, 128, 128, 4, 4, 1.0), Tile(64, 128, 128, 4, 4, 0.7), Tile(64, 64, 128, 4, 4, 0.5),
    Tile(32, 64, 128, 4, 4, 0.3), Tile(16, 64, 128, 4, 4, 0.17),
)  # fmt: skip
NARROW = (  # 16-bit operands
    Tile(128, 256, 64, 8, 3, 1.0), Tile(128, 128, 64, 4, 4, 0.85), Tile(64, 128, 64, 4, 4, 0.62),
    Tile(64, 64, 64, 4, 4, 0.45), Tile(32, 64, 64, 4, 4, 0.27), Tile(16, 64, 128, 4, 4, 0.16),
    Tile(16, 32, 128, 2, 4, 0.09),
)  # fmt: skip
SINGLE = (
    Tile(128, 128, 16, 8, 3, 1.0), Tile(64, 128, 16, 4, 3, 0.9), Tile(64, 64, 16, 4, 3, 0.75),
    Tile(32, 64, 32, 4, 3, 0.55), Tile(32, 32, 32, 4, 3, 0.4), Tile(16, 32, 32, 2, 3, 0.25),
)  # fmt: skip
DOUBLE = (
    Tile(64, 64, 16, 4, 3, 1.0), Tile(32, 32, 16, 4, 3, 0.7), Tile(16, 16, 16, 2, 3, 0.3),
)  # fmt: skip


def precision_of(dtype: DType) -> str:
    """How a dot is told what to do with operands: narrow ones are what tensor cores take.

    Sums of 8-bit operands are added up in float32 after every block: inside they have few bits.
    """
    if dtype.size == 1:
        return ", max_num_imprecise_acc=BK"
    if dtype.size == 2:
        return ""
    quick = dtype is float32 and TF32.value
    return f', input_precision="{"tf32" if quick else "ieee"}"'


class Matmul:
    """One product on its way to text."""

    def __init__(
        self, product: ProductStep, processors: int, machine: Machine, architecture: int
    ) -> None:
        self.product, self.node, self.processors = product, product.node, processors
        self.machine, self.architecture = machine, architecture
        self.a, self.b = product.sides()
        self.m, self.k = self.a.shape[-2:]
        self.n = self.b.shape[-1]
        self.batch = self.node.shape[:-2]
        rank = len(self.batch)
        self.left, self.right = self.a.batch(rank), self.b.batch(rank)
        self.tile = self.timed(self.choose(self.tiles()))
        loops = product.epilogue.loops if product.epilogue else None
        self.signature = Signature(loops) if loops else None
        sizes = [self.node.type.size] + [x.operand.base.type.size for x in (self.a, self.b)]
        self.wide = max(map(most, sizes)) >= INDEX_LIMIT or (loops is not None and is_wide(loops))
        self.arguments = Arguments()

    def tiles(self) -> tuple[Tile, ...]:
        """Those there are for products of its dtype."""
        dtype = self.node.dtype
        narrow = BYTES if self.architecture >= EIGHTHS else BYTES[1:]  # others widen them: small
        return {1: narrow, 2: NARROW, 4: SINGLE, 8: DOUBLE}[dtype.size]

    def choose(self, tiles: Sequence[Tile]) -> Tile:
        """The tile of least estimated time: of waves of programs, as long as a tile is large."""

        def time(tile: Tile) -> float:
            waves = -(-most(self.count(tile)) // self.processors)
            return waves * tile.m * tile.n / tile.speed

        return min(tiles, key=time)

    def exact(self) -> tuple[bool, bool, bool]:
        """Is nothing left over after whole tiles, along m, n and k?"""
        t = self.tile
        return self.m % t.m == 0, self.n % t.n == 0, self.k % t.k == 0

    def timed(self, tile: Tile) -> Tile:
        """The tile, or another one that timing has found to be better."""
        return settled(self.machine, self._question, tile, self.tiles(), "m", "n", "k")

    def count(self, tile: Tile) -> int:
        """Tiles there are."""
        return -(-self.m // tile.m) * -(-self.n // tile.n) * prod(self.batch)

    def _question(self) -> str:
        """What the product is known by to a search."""
        sides = [(x.operand.base.dtype.name, x.strides, x.places is None) for x in (self.a, self.b)]
        sizes = self.m, self.n, self.k, self.batch, self.left, self.right
        epilogue = self.product.epilogue
        after = of_loops(epilogue.loops) if epilogue else ""
        return f"product {self.node.dtype.name} {sizes} {sides}\n{after}"

    def before(self, step: int) -> tuple[list[Launch], dict[str, int]]:
        """Launches that come before it, and temporary memory they need: none, as a rule."""
        del step
        return [], {}

    def counters(self) -> dict[str, int]:
        """Memory of zeros, of so many bytes, that the kernel leaves as it has found it."""
        return {}

    def launch(self) -> Launch:
        """The kernel and its arguments."""
        self._collect()
        t = self.tile
        source = self.arguments.source(self._text(), self._constants(), t.warps, t.stages)
        size = most(self.node.type.size) * max(1, most(self.k))
        return Launch(source, (self._programs(), 1), self.arguments.values, size)

    def _constants(self) -> dict[str, int]:
        return {"BM": self.tile.m, "BN": self.tile.n, "BK": self.tile.k}

    def _programs(self) -> int:
        return self.count(self.tile)

    def _signature(self) -> Signature:
        return needed("matmul", self.signature, "epilogue")

    def _collect(self) -> None:
        add, product = self.arguments, self.product
        for name, base in (("a", self.a.operand.base), ("b", self.b.operand.base)):
            add.memory(name, base.dtype, base)
        if product.epilogue:
            add.loops(product.epilogue, self._signature(), self.wide)
        else:
            add.memory("c", self.node.dtype, self.node)
        numbers = {"M": self.m, "N": self.n, "K": self.k}
        numbers |= {"a_offset": self.a.operand.offset, "b_offset": self.b.operand.offset}
        numbers |= dict(zip(("a_m", "a_k", "b_k", "b_n"), (*self.a.strides, *self.b.strides),
                            strict=True))  # fmt: skip
        if self.a.places is not None:
            (rows, along), (steps, down) = self.a.places
            self.rows = self._places(along, rows, "am", numbers)
            self.steps = self._places(down, steps, "(start + tl.arange(0, BK)[None, :])", numbers)
        for d, size in enumerate(self.batch):
            numbers |= {f"g{d}": size, f"a_g{d}": self.left[d], f"b_g{d}": self.right[d]}
        for name, value in numbers.items():
            add.integer(name, value, self.wide)

    # ---- text

    def _text(self) -> str:
        names = [name for name, _ in self.arguments.types]
        names += [f"{name}: tl.constexpr" for name in ("BM", "BN", "BK")]
        head = f"@triton.jit\ndef kernel({', '.join(names)}):"
        return with_functions("\n".join([head, *self._body(), ""]))

    def _body(self) -> list[str]:
        lines = ["program = tl.program_id(0)" + (".to(tl.int64)" if self.wide else "")]
        lines += ["down = tl.cdiv(M, BM)", "along = tl.cdiv(N, BN)"]
        lines += [*self._place(), *self._pointers(), *self._loop()]
        return [*("    " + line for line in lines), *self._finish()]

    def _place(self) -> list[str]:
        """Which tile: programs that run together share rows of tiles."""
        lines = []
        if self.batch:
            lines += ["batch = program // (down * along)", "program = program % (down * along)"]
        return [
            *lines,
            f"group = program // ({GROUP} * along)",
            f"height = tl.minimum(down - group * {GROUP}, {GROUP})",
            f"inside = program % ({GROUP} * along)",
            f"high = group * {GROUP} + inside % height",
            "wide = inside // height",
            "m = high * BM + tl.arange(0, BM)[:, None]",
            "n = wide * BN + tl.arange(0, BN)[None, :]",
        ]

    def _pointers(self) -> list[str]:
        """Rows and columns beyond the edge wrap around: reading them is harmless."""
        lines = ["a += a_offset", "b += b_offset"]
        if self.batch:
            lines.append("rest = batch.to(tl.int64)")
        for d in reversed(range(len(self.batch))):
            lines += [f"a += rest % g{d} * a_g{d}", f"b += rest % g{d} * b_g{d}"]
            lines.append(f"rest = rest // g{d}")
        exact_m, exact_n, _ = self.exact()
        lines.append("am = m" if exact_m else "am = m % M")
        lines.append("bn = n" if exact_n else "bn = n % N")
        left, right = self.a.strides, self.b.strides
        ak = f"tl.arange(0, BK)[None, :]{_times('a_k', left[1])}"
        bk = f"tl.arange(0, BK)[:, None]{_times('b_k', right[0])}"
        if self.a.places is None:
            lines.append(f"a_at = a + am{_times('a_m', left[0])} + {ak}")
        else:
            lines.append(f"a_at = a + {self.rows}")
        lines.append(f"b_at = b + {bk} + bn{_times('b_n', right[1])}")
        kind = "tl.float64" if self.node.dtype is float64 else "tl.float32"
        return [*lines, f"acc = tl.zeros((BM, BN), {kind})"]

    def _loop(self) -> list[str]:
        masks = ["", ""]
        if not self.exact()[2]:
            masks = [", mask=start + tl.arange(0, BK)[None, :] < K, other=0",
                     ", mask=start + tl.arange(0, BK)[:, None] < K, other=0"]  # fmt: skip
        x, y = (f"tl.load({at}{mask})" for at, mask in zip(self._at(), masks, strict=True))
        option = precision_of(self.node.dtype)
        if self.node.dtype is float64:
            option += ", out_dtype=tl.float64"
        moved = self.a.places is None
        return [
            "for start in range(0, K, BK):",
            f"    x = {self._operand(x, self.a.operand.base.dtype)}",
            f"    y = {self._operand(y, self.b.operand.base.dtype)}",
            f"    acc = tl.dot(x, y, acc{option})",
            *([f"    a_at += BK{_times('a_k', self.a.strides[1])}"] if moved else []),
            f"    b_at += BK{_times('b_k', self.b.strides[0])}",
        ]

    def _at(self) -> tuple[str, str]:
        """Pointers to blocks of both operands."""
        return "a_at" if self.a.places is None else f"a_at + {self.steps}", "b_at"

    def _operand(self, text: str, kind: DType) -> str:
        """Elements from memory as they are multiplied."""
        if kind not in FLOAT8:
            return text if kind is self.node.dtype else f"{text}.to({memory_type(self.node.dtype)})"
        if self.architecture < EIGHTHS:
            return f"from_{kind.name}({text}).to(tl.float16)"  # exactly
        return f"{text}.to({TENSOR[kind]}, bitcast=True)"

    def _places(self, index: Index, axis: Axis, name: str, numbers: dict[str, int]) -> str:
        """Places along an axis: as many as it has, even where all are one."""

        def number(value: int) -> str:
            name = f"place{len(numbers)}"
            numbers[name] = value
            return name

        text = index_text(index, {axis: name}, number)
        return text if index.terms else f"{name} * 0 + {text}"

    def _finish(self) -> list[str]:
        row = "batch * M + m" if self.batch else "m"
        exact_m, exact_n, _ = self.exact()
        if self.product.epilogue is None:
            mask = " & ".join(["(m < M)"] * (not exact_m) + ["(n < N)"] * (not exact_n))
            option = f", mask={mask}" if mask else ""
            return self._stored(row, option)
        form = Form("map", 0, 0, False, 0, exact_m, exact_n, wide=self.wide)
        block = "(batch * down + high)" if self.batch else "high"
        kernel, count = parse(self._signature().text), self.slices()
        if count == 1:
            at = Finished("acc", row, "n", block, "wide")
            return EpilogueEmitter(kernel, form, at).run("m < M", "n < N")
        width = self.tile.n // count
        names, lines = sliced("acc", self.tile.n, count)
        for k, name in enumerate(names):
            n = f"n{k}"
            lines.append(f"    {n} = wide * BN + {k * width} + tl.arange(0, {width})[None, :]")
            at = Finished(name, row, n, block, f"(wide * {count} + {k})", f"(BM, {width})")
            found = EpilogueEmitter(kernel, form, at).run("m < M", f"{n} < N")
            if not exact_n and k:  # no block of reductions has a place for what is not there
                lines.append(f"    if wide * BN + {k * width} < N:")
                found = ["    " + line for line in found]
            lines += found
        return lines

    def slices(self) -> int:
        """How many parts of its columns a finished tile is looked at in, one after the other."""
        return 1

    def _stored(self, row: str, option: str) -> list[str]:
        kind = self.node.dtype
        value = stored("acc", kind) if kind in FLOAT8 else "acc"
        return [f"    tl.store(c + ({row}) * N + n, {value}{option})"]


def index_text(index: Index, names: dict[Axis, str], number: Callable[[int], str]) -> str:
    """An index as text, its numbers as they are to be written."""
    parts = []
    for atom, factor in index.terms:
        if isinstance(atom, Axis):
            text = names[atom]
        else:
            part = as_quotient(atom)
            sign = "%" if isinstance(part, Remainder) else "//"
            text = f"({index_text(part.of, names, number)}) {sign} {number(part.by)}"
        parts.append(text if factor == 1 else f"({text}) * {number(factor)}")
    if index.constant or not parts:
        parts.append(number(index.constant))
    return " + ".join(parts)


def sliced(name: str, width: int, count: int) -> tuple[list[str], list[str]]:
    """Names of neighbouring columns of a tile, and the lines that give them these."""
    if count == 1:
        return [name], []
    half = width // 2
    both = [f"{name}0", f"{name}1"]
    lines = [f"    {both[0]}, {both[1]} = {name}.reshape(BM, 2, {half}).permute(0, 2, 1).split()"]
    names = []
    for part in both:
        below, more = sliced(part, half, count // 2)
        names += below
        lines += more
    return names, lines


def _times(name: str, value: int) -> str:
    """A stride in the text: 1 is worth knowing to the compiler."""
    return "" if value == 1 else f" * {name}"
