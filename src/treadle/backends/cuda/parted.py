"""Parts of tiles that programs of a product leave in memory, added up by a kernel of its own."""

from __future__ import annotations

from treadle.backends.cuda.divided import Divided
from treadle.backends.cuda.gluon import GROUPS
from treadle.backends.cuda.joined import TILE
from treadle.backends.cuda.launch import Launch
from treadle.backends.cuda.matmul import Matmul, Tile
from treadle.base.dtypes import float32

WHERE = """
side, width = {side}, {width}
pairs = tl.cdiv(M, side)
tile = wide * BN // width * pairs + high * BM // side
first = tile * steps // span
count = ((tile + 1) * steps - 1) // span - first + 1
at = work + tile * most * (side * width) + m % side * width + n % width
acc = tl.zeros((BM, BN), tl.float32)
"""


class Parted(Matmul):
    """The sum of the parts, always in the same order, and what becomes of it."""

    def __init__(self, divided: Divided) -> None:
        super().__init__(divided.product, divided.processors, divided.machine, divided.architecture)
        self.divided, self.work = divided, ""

    def tiles(self) -> tuple[Tile, ...]:
        """One: it only waits for memory."""
        return (TILE,)

    def _question(self) -> str:
        return f"parted {super()._question()}"

    def before(self, step: int) -> tuple[list[Launch], dict[str, int]]:
        """The product itself, and room for parts."""
        made = self.divided
        self.work = made.work = f"parts of {step}"
        room = made.pairs * made.most * GROUPS * made.tile.m * made.tile.n * float32.size
        return [made.launch()], {self.work: room}

    def _collect(self) -> None:
        add, made = self.arguments, self.divided
        if self.product.epilogue:
            add.loops(self.product.epilogue, self._signature(), self.wide)
        else:
            add.memory("c", self.node.dtype, self.node)
        add.memory("work", float32, self.work)
        numbers = {"M": self.m, "N": self.n, "steps": made.depth, "span": made.span}
        for name, value in (numbers | {"most": made.most}).items():
            add.integer(name, value, self.wide)

    def _pointers(self) -> list[str]:
        tile = self.divided.tile
        return WHERE.format(side=GROUPS * tile.m, width=tile.n).strip().splitlines()

    def _loop(self) -> list[str]:
        return [
            "for part in range(0, count):",
            "    acc += tl.load(at + part * (side * width))",
        ]
