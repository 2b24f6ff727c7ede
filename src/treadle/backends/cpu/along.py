"""What kernels that walk along one axis are told, and into which steps their work is cut.

The operand and the result are seen as (outer, n, inner): a line is n elements, inner apart. The cut
depends on the shape alone, never on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from treadle.backends.cpu import routine
from treadle.backends.cpu.routine import Step
from treadle.backends.cpu.writer import Int, Writer
from treadle.ir.node import Node

NUMBERS = (
    "n", "inner",
    "chunk", "chunks",  # elements along a line that one item covers, and how many items a line has
    "pieces",  # how many items lie side by side along inner
    "total", "group",  # items in all, and for one block
    "shift", "mask", "digits", "width",  # of a sort: which bits of a key are looked at
    "first", "second", "counts",  # of a sort: where in the temporary records and counters lie
    "turned",  # of a sort: all bits set if it descends
)  # fmt: skip

BLOCK = 16384  # elements, at least, worth handing to a thread
FEW = 16  # items: with more there is enough to share out without cutting lines


@dataclass(frozen=True)
class View:
    """A shape as lines along an axis."""

    outer: int
    n: int
    inner: int


def view_of(node: Node) -> View:
    """The lines of a scan."""
    shape, axis = node.shape, node.arg[0]
    return View(prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))


def step_of(symbol: str, blocks: int, numbers: dict[str, int]) -> Step:
    """One entry of a program, with numbers by name."""
    return Step(symbol, blocks, [numbers.get(name, 0) for name in NUMBERS])


class Params(routine.Params):
    """The params words of a kernel that walks along an axis."""

    def __init__(self, w: Writer, names: str) -> None:
        super().__init__(w, ["source"], NUMBERS, ["total", "group", *names.split()])

    def split(self, item: str) -> tuple[Int, Int, Int]:
        """Which outer index, chunk and piece an item is."""
        w = self.w
        rest = w.div(item, self["pieces"])
        chunk = w.rem(rest, self["chunks"])
        return w.div(rest, self["chunks"]), chunk, w.rem(item, self["pieces"])
