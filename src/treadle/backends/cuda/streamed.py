"""Matrix products whose operands a copy engine brings, by programs that stay for many tiles."""

from __future__ import annotations

from math import prod

from treadle.backends.choices import Machine
from treadle.backends.cuda.copies import COPIES, tensor_of
from treadle.backends.cuda.forms import INDEX_LIMIT
from treadle.backends.cuda.launch import Tensor
from treadle.backends.cuda.matmul import Matmul, Tile, precision_of
from treadle.backends.cuda.narrow import memory_type
from treadle.base.dtypes import float32
from treadle.base.knobs import TF32
from treadle.base.shapes import Shape
from treadle.kernel.operands import Side
from treadle.kernel.steps import ProductStep

TILES = (
    Tile(128, 256, 64, 8, 3, 1.0), Tile(128, 128, 64, 4, 3, 0.9), Tile(64, 128, 128, 4, 4, 0.7),
    Tile(64, 64, 128, 4, 4, 0.5), Tile(32, 64, 128, 4, 4, 0.28), Tile(16, 64, 256, 4, 3, 0.17),
)  # fmt: skip
QUICK = (  # float32 by tensor cores
    Tile(128, 128, 32, 8, 4, 1.0), Tile(64, 128, 32, 4, 4, 0.8), Tile(64, 64, 64, 4, 4, 0.6),
    Tile(32, 64, 64, 4, 4, 0.3), Tile(16, 64, 64, 4, 4, 0.17),
)  # fmt: skip
FULL = 64  # rows that the tensor cores take at once: of fewer the transposed product is computed
SMALL = 128 * 128  # elements of a tile: two programs fit on a processor


def product_of(
    product: ProductStep, processors: int, machine: Machine, architecture: int
) -> Matmul:
    """A product in the form that suits it."""
    dtype = product.node.dtype
    cores = dtype.size == 2 or (dtype is float32 and TF32.value)
    able = architecture >= COPIES and cores and _is_able(product)
    return (Streamed if able else Matmul)(product, processors, machine)


def _is_able(product: ProductStep) -> bool:
    """Can both operands be brought, by indices of 32 bits?"""
    rank, dtype = len(product.node.shape) - 2, product.node.dtype
    sizes = [x.operand.base.type.size for x in product.sides()]
    if max(product.node.type.size, *sizes) >= INDEX_LIMIT:
        return False
    return all(
        x.places is None
        and x.operand.base.dtype is dtype
        and _tensor(x, product.node.shape[:-2], x.batch(rank), (1, 1)) is not None
        for x in product.sides()
    )


def _tensor(
    side: Side, items: Shape, batch: tuple[int, ...], block: tuple[int, int]
) -> Tensor | None:
    """Batch axes that an operand has, then its matrix, the fast direction last."""
    sides = list(zip(side.shape[-2:], side.strides, block, strict=True))
    if side.strides[1] != 1:
        sides.reverse()
    axes = [(n, step, 1) for n, step in zip(items, batch, strict=True) if step]
    return tensor_of(side.operand.base, side.operand.offset, [*axes, *sides])


class Streamed(Matmul):
    """A product whose operands lie in lines that a copy engine reads."""

    def tiles(self) -> tuple[Tile, ...]:
        """Those that keep the copy engine and the tensor cores busy."""
        return TILES if self.node.dtype.size == 2 else QUICK

    def _result(self) -> Tensor | None:
        """Where finished tiles go as they are, if the copy engine can bring them there."""
        t, items = self.tile, prod(self.batch)
        sides = [(self.m, self.n, t.m), (self.n, 1, t.n)]
        axes = [(items, self.m * self.n, 1), *sides] if self.batch else sides
        return None if self.product.epilogue else tensor_of(self.node, 0, axes)

    def _programs(self) -> int:
        tiles, t = super()._programs(), self.tile
        return min(tiles, self.processors * (2 if t.m * t.n <= SMALL else 1))

    def _collect(self) -> None:
        add, dtype, t = self.arguments, self.node.dtype, self.tile
        left = _tensor(self.a, self.batch, self.left, (t.m, t.k))
        right = _tensor(self.b, self.batch, self.right, (t.k, t.n))
        for name, tensor in (("a", left), ("b", right), ("c", self._result())):
            if tensor is not None:
                add.tensor(name, dtype, tensor)
        if self.product.epilogue:
            add.loops(self.product.epilogue, self._signature(), self.wide)
        elif self._result() is None:
            add.memory("c", dtype, self.node)
        numbers = {"M": self.m, "N": self.n, "K": self.k}
        numbers |= {f"g{d}": size for d, size in enumerate(self.batch)}
        for name, value in numbers.items():
            add.integer(name, value, self.wide)

    # ---- text

    def _body(self) -> list[str]:
        lines = ["down = tl.cdiv(M, BM)", "along = tl.cdiv(N, BN)"]
        tiles = " * ".join(["down", "along", *(f"g{d}" for d in range(len(self.batch)))])
        lines.append(f"for program in tl.range(tl.program_id(0), {tiles}, tl.num_programs(0)):")
        inside = [*self._place(), *self._items(), *self._loop()]
        lines += ["    " + line for line in inside]
        return ["    " + line for line in lines] + ["    " + line for line in self._finish()]

    def _items(self) -> list[str]:
        """Places along the batch axes."""
        lines = ["rest = batch"] if self.batch else []
        for d in reversed(range(len(self.batch))):
            lines += [f"d{d} = rest % g{d}", f"rest = rest // g{d}"]
        return lines

    def _loop(self) -> list[str]:
        swapped = self.tile.m < FULL
        left = self._brought("a", self.left, self.a.strides[1] == 1, ("high * BM", "BM"), 0)
        right = self._brought("b", self.right, self.b.strides[1] == 1, ("wide * BN", "BN"), 1)
        sides = "tl.trans(y), tl.trans(x)" if swapped else "x, y"
        return [
            f"acc = tl.zeros(({'BN, BM' if swapped else 'BM, BN'}), tl.float32)",
            "for start in range(0, K, BK):",
            f"    x = {left}",
            f"    y = {right}",
            f"    acc = tl.dot({sides}, acc{precision_of(self.node.dtype)})",
            *["acc = tl.trans(acc)"] * swapped,
        ]

    def _brought(
        self, name: str, batch: tuple[int, ...], straight: bool, other: tuple[str, str], at: int
    ) -> str:
        """A block of an operand; other is its place and length along the axis that is not k."""
        places, shape = [other[0], "start"], [other[1], "BK"]
        if at:
            places.reverse()
            shape.reverse()
        if not straight:
            places.reverse()
            shape.reverse()
        items = [f"d{d}" for d, step in enumerate(batch) if step]
        text = f"{name}.load([{', '.join([*items, *places])}])"
        text += f".reshape({', '.join(shape)})" if items else ""
        return text if straight else f"tl.trans({text})"

    def _stored(self, row: str, option: str) -> list[str]:
        if self._result() is None:
            return super()._stored(row, option)
        value, places = f"acc.to({memory_type(self.node.dtype)})", "high * BM, wide * BN"
        if self.batch:
            value, places = f"{value}.reshape(1, BM, BN)", f"batch, {places}"
        return [f"    c.store([{places}], {value})"]
