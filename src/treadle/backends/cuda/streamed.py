"""Matrix products whose operands a copy engine brings, by programs that stay for many tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from treadle.backends.choices import Machine
from treadle.backends.cuda.copies import GRAIN, tensor_of
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.launch import Arguments, Launch, Tensor
from treadle.backends.cuda.matmul import BYTES, Matmul, Tile, precision_of, sliced
from treadle.backends.cuda.narrow import FLOAT8, stored
from treadle.base.dtypes import DType, float32, int32
from treadle.base.shapes import Shape
from treadle.base.sizes import least, most
from treadle.kernel.steps import ProductStep

TILES = (
    Tile(128, 256, 64, 8, 3, 1.0), Tile(128, 128, 64, 4, 3, 0.9), Tile(64, 128, 128, 4, 4, 0.7),
    Tile(64, 64, 128, 4, 4, 0.5), Tile(32, 64, 128, 4, 4, 0.28), Tile(16, 64, 256, 4, 3, 0.17),
)  # fmt: skip
QUICK = (  # float32 by tensor cores
    Tile(128, 256, 32, 8, 4, 1.0), Tile(128, 128, 32, 8, 4, 0.9), Tile(64, 128, 32, 4, 4, 0.7),
    Tile(64, 64, 64, 4, 4, 0.5), Tile(32, 64, 64, 4, 4, 0.28), Tile(16, 64, 64, 4, 4, 0.17),
)  # fmt: skip
LITTLE = 8  # expressions of an epilogue that are computed for a whole tile
HELD = 32  # elements of a tile in each thread: more leave no registers for what becomes of them
FEWEST_STEPS = 8  # along k, of a piece
MOST_PIECES = 8  # that the last one adds up; more are left for a kernel of its own
DEEP = 4096
LEAVING = 600  # steps along k that take as long as to leave a piece and to add it up
FULL = 64  # rows that the tensor cores take at once: of fewer the transposed product is computed
SIDE = 64  # of a square that is turned
SMALL = 128 * 128  # elements of a tile: two programs fit on a processor
SHARED = 227 << 10  # bytes of a processor's memory that a program can have


@dataclass(frozen=True)
class Matrix:
    """Where an operand lies: along the axis that is not k, and along k; then batch axes."""

    buffer: object
    dtype: DType
    offset: int
    extents: tuple[int, ...]
    strides: tuple[int, int]
    batch: tuple[int, ...]  # strides; 0 where it is broadcast

    def tensor(self, items: Shape, block: tuple[int, int]) -> Tensor | None:
        """As the copy engine reads it, the fast direction last; None: it cannot."""
        sides = list(zip(self.extents, self.strides, block, strict=True))
        if self.strides[1] != 1:
            sides.reverse()
        axes = [(n, step, 1) for n, step in zip(items, self.batch, strict=True) if step]
        return tensor_of(self.buffer, self.dtype, self.offset, [*axes, *sides])

    def coordinates(self, line: str, step: str) -> str:
        """Where a block begins, as text."""
        return f"{line}, {step}" if self.strides[1] == 1 else f"{step}, {line}"

    @property
    def around(self) -> int:
        """Axes of a block in front of its lines."""
        return 0


def matrices_of(product: ProductStep) -> tuple[Matrix, Matrix]:
    """Both operands of a product."""
    rank = len(product.node.shape) - 2
    a, b = (
        Matrix(x.operand.base, x.operand.base.dtype, x.operand.offset, x.shape[-2:], x.strides,
               x.batch(rank)) for x in product.sides()
    )  # fmt: skip
    return a, replace(b, extents=b.extents[::-1], strides=b.strides[::-1])


def is_able(product: ProductStep) -> bool:
    """Can both operands be brought, or be turned first?"""
    return all(is_brought(product, number) for number in (0, 1))


def is_brought(product: ProductStep, number: int) -> bool:
    """Can one of them be?"""
    node, side, x = product.node, product.sides()[number], matrices_of(product)[number]
    if side.places is not None or x.dtype is not node.dtype:
        return False
    return x.tensor(node.shape[:-2], (1, 1)) is not None or _can_turn(x)


def _can_turn(x: Matrix) -> bool:
    wanted = x.dtype is float32 or x.dtype in FLOAT8
    return wanted and x.strides[0] == 1 and not any(x.batch) and min(map(least, x.extents)) > 0


class Streamed(Matmul):
    """A product whose operands lie in lines that a copy engine reads."""

    most_pieces = MOST_PIECES  # that it adds up itself

    def __init__(
        self, product: ProductStep, processors: int, machine: Machine, architecture: int
    ) -> None:
        super().__init__(product, processors, machine, architecture)
        self.x, self.y = self.operands()
        self.pieces = self._pieces(self.tile)
        self.work = self.counts = ""
        self.loose = False  # pieces are left for another kernel to add up

    def operands(self) -> tuple[Matrix, Matrix]:
        """Where both lie."""
        return matrices_of(self.product)

    def left_in(self, work: str, pieces: int) -> None:
        """Leave so many pieces in memory, one after the other."""
        self.work, self.pieces, self.loose = work, pieces, True

    def tiles(self) -> tuple[Tile, ...]:
        """Those that keep the copy engine and the tensor cores busy."""
        return TILES

    def slices(self) -> int:
        """So many that a thread has registers for what becomes of its elements."""
        epilogue, t = self.product.epilogue, self.tile
        if epilogue is None or len(epilogue.loops.order()) <= LITTLE:
            return 1
        count = 1
        while t.m * t.n // (32 * t.warps * count) > HELD and t.n // count > HELD:
            count *= 2
        return count

    def choose(self, tiles: Sequence[Tile]) -> Tile:
        """The tile of least estimated time, cut along k where that gives all something to do."""
        return min(tiles, key=lambda t: self._part(t, self._pieces(t)) * t.m * t.n / t.speed)

    def _part(self, tile: Tile, pieces: int) -> float:
        """Waves of programs in pieces, as many whole tiles."""
        waves = -(-most(self.count(tile)) * pieces // self.processors)
        return waves * (1 / pieces + (LEAVING / most(self.k) if pieces > 1 else 0.0))

    def _pieces(self, tile: Tile) -> int:
        """How many pieces k is cut into."""
        depth = most(self.k)
        limit = MOST_PIECES if self.batch or depth < DEEP else FULL
        limit = min(limit, depth // (tile.k * FEWEST_STEPS))
        limit = limit if most(self.count(tile)) < 2 * self.processors else 1
        return min(range(1, max(1, limit) + 1), key=lambda pieces: self._part(tile, pieces))

    def before(self, step: int) -> tuple[list[Launch], dict[str, int]]:
        """Operands as they have to lie, and room for pieces."""
        launches, sizes = self.turned(step)
        if self.pieces > 1:
            self.work, self.counts = f"pieces of {step}", f"finished of {step}"
            tile = self.tile
            sizes[self.work] = self.count(tile) * self.pieces * tile.m * tile.n * float32.size
        return launches, sizes

    def turned(self, step: int) -> tuple[list[Launch], dict[str, int]]:
        """Launches that turn operands, and memory for these: as a rule they may lie either way."""
        del step
        return [], {}

    def counters(self) -> dict[str, int]:
        """Of finished pieces."""
        return {self.counts: self.count(self.tile) * int32.size} if self.counts else {}

    def _result(self) -> Tensor | None:
        """Where finished tiles go as they are, if the copy engine can bring them there."""
        t, items = self.tile, prod(self.batch)
        sides = [(self.m, self.n, t.m), (self.n, 1, t.n // self._parts())]
        axes = [(items, self.m * self.n, 1), *sides] if self.batch else sides
        return None if self.product.epilogue else tensor_of(self.node, self.node.dtype, 0, axes)

    def _parts(self) -> int:
        """In how many parts a finished tile leaves: there is room for one beside blocks to come."""
        t, size = self.tile, self.node.dtype.size
        room = SHARED - t.stages * (t.m + t.n) * t.k * size
        parts = 1
        while t.m * t.n * size > room * parts and t.n // parts > HELD:
            parts *= 2
        return parts

    def _programs(self) -> int:
        tiles, t = most(self.count(self.tile)) * self.pieces, self.tile
        return min(tiles, self.processors * (2 if t.m * t.n <= SMALL and t.warps <= 4 else 1))

    def _collect(self) -> None:
        add, dtype, t = self.arguments, self.node.dtype, self.tile
        left, right = self.x.tensor(self.batch, (t.m, t.k)), self.y.tensor(self.batch, (t.n, t.k))
        result = None if self.loose else self._result()
        for name, tensor in (("a", left), ("b", right), ("c", result)):
            if tensor is not None:
                add.tensor(name, dtype, tensor)
        if self.product.epilogue and not self.loose:
            add.loops(self.product.epilogue, self._signature(), self.wide)
        elif result is None and not self.loose:
            add.memory("c", dtype, self.node)
        if self.pieces > 1:
            add.memory("work", float32, self.work)
        if self.pieces > 1 and not self.loose:
            add.memory("finished", int32, self.counts)
        self._numbers()

    def _numbers(self) -> None:
        add, t = self.arguments, self.tile
        numbers = {"M": self.m, "N": self.n, "K": self.k}
        numbers |= {"span": -(-self.k // (t.k * self.pieces)) * t.k} if self.pieces > 1 else {}
        numbers |= {f"g{d}": size for d, size in enumerate(self.batch)}
        for name, value in numbers.items():
            add.integer(name, value, False)  # the copy engine counts in 32 bits

    # ---- text

    def _body(self) -> list[str]:
        lines = ["down = tl.cdiv(M, BM)", "along = tl.cdiv(N, BN)"]
        tiles = " * ".join(["down", "along", *(f"g{d}" for d in range(len(self.batch)))])
        tiles += f" * {self.pieces}" * (self.pieces > 1)
        lines.append(f"for program in tl.range(tl.program_id(0), {tiles}, tl.num_programs(0)):")
        several = self.pieces > 1
        finish = ["    " + line for line in self._left()] if self.loose else self._finish()
        cut = [f"piece = program % {self.pieces}", f"program = program // {self.pieces}",
               "tile = program"] if several else []  # fmt: skip
        inside = [*cut, *self._place(), *self._items(), *self._loop(), *self._widened()]
        if several and not self.loose:
            inside += PIECES.format(pieces=self.pieces).strip().splitlines()
            finish = ["    " + line for line in finish]
        lines += ["    " + line for line in inside]
        return ["    " + line for line in [*lines, *finish]]

    def _widened(self) -> list[str]:
        """Where a tile is, for what becomes of it: that may lie further than 32 bits reach."""
        names = ["m", "n", *["batch"] * bool(self.batch)]
        return [f"{name} = {name}.to(tl.int64)" for name in names] * self.wide

    def _items(self) -> list[str]:
        """Places along the batch axes."""
        lines = ["rest = batch"] if self.batch else []
        for d in reversed(range(len(self.batch))):
            lines += [f"d{d} = rest % g{d}", f"rest = rest // g{d}"]
        return lines

    def _loop(self) -> list[str]:
        swapped = self.tile.m < FULL
        sides = "y, tl.trans(x)" if swapped else "x, tl.trans(y)"
        low, high = "0", "K"
        if self.pieces > 1:
            low, high = "piece * span", "tl.minimum(K, piece * span + span)"
        return [
            f"acc = tl.zeros(({'BN, BM' if swapped else 'BM, BN'}), tl.float32)",
            f"for start in range({low}, {high}, BK):",
            f"    x = {self._operand(brought('a', self.x, 'high * BM', 'BM'), self.x.dtype)}",
            f"    y = {self._operand(brought('b', self.y, 'wide * BN', 'BN'), self.y.dtype)}",
            f"    acc = tl.dot({sides}, acc{precision_of(self.node.dtype)})",
            *["acc = tl.trans(acc)"] * swapped,
        ]

    def _left(self) -> list[str]:
        """A piece of a tile, in memory."""
        places = "work + (piece * M + m) * N + n"
        return [f"tl.store({places}, acc, mask=(m < M) & (n < N))"]

    def _stored(self, row: str, option: str) -> list[str]:
        if self._result() is None:
            return super()._stored(row, option)
        parts = self._parts()
        width, item = self.tile.n // parts, "batch, " if self.batch else ""
        names, lines = sliced("acc", self.tile.n, parts)
        for k, name in enumerate(names):
            value = stored(name, self.node.dtype)
            value += f".reshape(1, BM, {width})" if self.batch else ""
            lines.append(f"    c.store([{item}high * BM, wide * BN + {k * width}], {value})")
        return lines


def brought(name: str, matrix: Matrix, place: str, length: str) -> str:
    """A block of an operand: so many lines at a place, along k."""
    places, shape = [place, "start"], [length, "BK"]
    along = matrix.strides[1] == 1
    if not along:
        places.reverse()
        shape.reverse()
    items = [f"d{d}" for d, step in enumerate(matrix.batch) if step]
    text = f"{name}.load([{', '.join([*items, *places])}])"
    text += f".reshape({', '.join(shape)})" if items else ""
    return text if along else f"tl.trans({text})"


PIECES = """
places = work + tile * {pieces} * BM * BN + tl.arange(0, BM)[:, None] * BN
places += tl.arange(0, BN)[None, :]
tl.store(places + piece * BM * BN, acc)
tl.debug_barrier()
came = tl.atomic_add(finished + tile, 1, sem="acq_rel")
if came == {pieces} - 1:
    acc = tl.load(places, cache_modifier=".cg")
    for other in range(1, {pieces}):
        acc += tl.load(places + other * BM * BN, cache_modifier=".cg")
    tl.store(finished + tile, 0)
"""
"""Each piece is left in memory; who comes last adds them up, always in the same order, and leaves
the counter as it was."""


class Quick(Streamed):
    """A product by tensor cores that read both operands along k: others are turned.

    They do so with floats of 32 and of 8 bits.
    """

    def tiles(self) -> tuple[Tile, ...]:
        """Those of wider or narrower elements."""
        return QUICK if self.node.dtype is float32 else BYTES

    def turned(self, step: int) -> tuple[list[Launch], dict[str, int]]:
        """Launches that turn operands, and memory for these."""
        launches: list[Launch] = []
        sizes: dict[str, int] = {}
        for name in ("x", "y"):
            matrix = getattr(self, name)
            if matrix.strides[1] == 1 or matrix.dtype.size == 2:
                continue
            lines, depth = matrix.extents
            grain = GRAIN // matrix.dtype.size
            pitch = -(-depth // grain) * grain
            buffer = f"turned {name} {step}"
            sizes[buffer] = lines * pitch * matrix.dtype.size
            launches.append(_turning(matrix, buffer, pitch))
            turned = replace(matrix, buffer=buffer, offset=0, strides=(pitch, 1))
            setattr(self, name, turned)
        return launches, sizes


TURN = """
@triton.jit
def kernel(x, y, lines, depth, offset, step, pitch, BM: tl.constexpr, BN: tl.constexpr):
    across = tl.cdiv(depth, BM)
    along = tl.program_id(0) % across * BM + tl.arange(0, BM)[:, None]
    line = tl.program_id(0) // across * BN + tl.arange(0, BN)[None, :]
    inside = (along < depth) & (line < lines)
    value = tl.load(x + offset + along * step + line, mask=inside, other=0)
    tl.store(y + line * pitch + along, value, mask=inside)
"""


def _turning(matrix: Matrix, buffer: str, pitch: int) -> Launch:
    """Lines that lie along the other axis, written along k."""
    lines, depth = matrix.extents
    arguments = Arguments()
    arguments.memory("x", matrix.dtype, matrix.buffer)
    arguments.memory("y", matrix.dtype, buffer)
    numbers = {"lines": lines, "depth": depth, "offset": matrix.offset}
    for name, value in (numbers | {"step": matrix.strides[1], "pitch": pitch}).items():
        arguments.integer(name, value, False)
    source = arguments.source(with_functions(TURN), {"BM": SIDE, "BN": SIDE}, 4)
    grid = -(-depth // SIDE) * -(-lines // SIDE), 1
    return Launch(source, grid, arguments.values, lines * depth)
