"""Deep products of few tiles: many pieces along k side by side, then a kernel that adds them up."""

from __future__ import annotations

from treadle.backends.cuda.launch import Launch
from treadle.backends.cuda.matmul import Matmul, Tile
from treadle.backends.cuda.streamed import Streamed
from treadle.base.dtypes import float32

TILE = Tile(16, 32, 16, 4, 3, 1.0)  # of what is added up: small, as each waits for memory
AT_ONCE = 8  # pieces that are on their way


class Joined(Matmul):
    """The sum of the pieces of a product, always in the same order, and what becomes of it."""

    def __init__(self, deep: Streamed) -> None:
        super().__init__(deep.product, deep.processors, deep.machine, deep.architecture)
        self.deep, self.pieces, self.work = deep, deep.pieces, ""

    def tiles(self) -> tuple[Tile, ...]:
        """One: it only waits for memory."""
        return (TILE,)

    def _question(self) -> str:
        return f"joined {super()._question()}"

    def before(self, step: int) -> tuple[list[Launch], dict[str, int]]:
        """The product itself, and room for its pieces."""
        launches, sizes = self.deep.turned(step)
        self.work = f"pieces of {step}"
        self.deep.left_in(self.work, self.pieces)
        sizes[self.work] = self.pieces * self.m * self.n * float32.size
        return [*launches, self.deep.launch()], sizes

    def _collect(self) -> None:
        add = self.arguments
        if self.product.epilogue:
            add.loops(self.product.epilogue, self._signature(), self.wide)
        else:
            add.memory("c", self.node.dtype, self.node)
        add.memory("work", float32, self.work)
        for name, value in {"M": self.m, "N": self.n, "pieces": self.pieces}.items():
            add.integer(name, value, self.wide)

    def _pointers(self) -> list[str]:
        return ["acc = tl.zeros((BM, BN), tl.float32)"]

    def _loop(self) -> list[str]:
        return [
            f"for piece in tl.range(0, pieces, loop_unroll_factor={AT_ONCE}):",
            "    at = work + (piece * M + m) * N + n",
            "    acc += tl.load(at, mask=(m < M) & (n < N), other=0)",
        ]


def joined(made: Streamed) -> Matmul:
    """A product as it is, or with its pieces added up by a kernel of its own."""
    return Joined(made) if made.pieces > made.most_pieces else made
