"""Deep products of few tiles: the steps of all tiles in one line, dealt evenly to programs.

A program has a stretch of the line: the end of a tile, whole ones, and the beginning of another.
It starts with that beginning, which it leaves in memory, and comes to the end of a tile last: those
who had the rest have left it by then. They are programs of lower numbers, and those are started
first: nobody waits for who is not there. Parts are added up in the order of programs.
"""

from __future__ import annotations

from treadle.backends.cuda.divided import Divided
from treadle.backends.cuda.gluon import GROUPS
from treadle.backends.cuda.gluon_tiles import EVENLY, chosen_for
from treadle.backends.cuda.launch import Launch, Tensor
from treadle.base.dtypes import float32, int32
from treadle.kernel.build import Built
from treadle.kernel.steps import ProductStep


def is_dealt(product: ProductStep, processors: int) -> bool:
    """Is it quicker than whole tiles, or pieces that a kernel of its own adds up?"""
    depth = product.sides()[0].shape[-1]
    return chosen_for(product.node, depth, processors)[1] == EVENLY


class Dealt(Divided):
    """A product whose steps are dealt, on its way to Gluon."""

    def before(self, step: int) -> tuple[list[Launch], dict[str, int]]:
        """Operands as they have to lie, and room for a part of each program."""
        launches, sizes = super().before(step)
        self.work, self.counts = f"parts of {step}", f"left of {step}"
        sizes[self.work] = self._programs() * GROUPS * self.tile.m * self.tile.n * float32.size
        return launches, sizes

    def counters(self) -> dict[str, int]:
        """Of parts that are left, for each group's half of a tile."""
        return {self.counts: self.pairs * GROUPS * int32.size}

    def _programs(self) -> int:
        return self.processors

    def _collect(self) -> None:
        self.arguments.memory("work", float32, self.work)
        self.arguments.memory("left", int32, self.counts)
        super()._collect()

    def _met(self, epilogue: Built | None) -> tuple[int, Tensor] | None:
        del epilogue  # not every stretch ends a tile
        return None

    # ---- text

    def _turns(self) -> list[str]:
        """Neighbours in the line share the smaller operand: it is read at many places at once."""
        place = ["pair = tile // along", "wide = tile % along"]
        if self.m > self.n:
            place = ["wide = tile // pairs", "pair = tile % pairs"]
        return [
            "pairs = tl.cdiv(M, 2 * BM)",
            "along = tl.cdiv(N, BN)",
            "steps = tl.cdiv(K, BK)",
            "every = pairs * along * steps",
            "program = tl.program_id(0)",
            "programs = tl.num_programs(0)",
            "begin = program * every // programs",
            "end = (program + 1) * every // programs",
            "turn = 0",
            "for back in range(0, tl.cdiv(end, steps) - begin // steps):",
            "    tile = (end - 1) // steps - back",
            "    low = tl.maximum(begin - tile * steps, 0)",
            "    last = tl.minimum(end - tile * steps, steps)",
            *("    " + line for line in place),
        ]

    def _finish(self) -> list[str]:
        """A part that another program will ask for, or what becomes of a whole tile."""
        grid = f"GRID{self.tile.n}"
        own = [
            f"row = gl.arange(0, BM, gl.SliceLayout(1, {grid}))[:, None]",
            f"column = gl.arange(0, BN, gl.SliceLayout(0, {grid}))[None, :]",
            "inside = work + row * BN + column",
            f"said = left + tile * {GROUPS} + PART",
            "if last < steps:",
            f"    tl.store(inside + (program * {GROUPS} + PART) * BM * BN, acc)",
            "    meet()",
            "    tl.atomic_add(said, 1, sem='release')",
            "else:",
            "    if low > 0:",
            "        other = ((tile * steps + 1) * programs - 1) // every",
            "        missing = program - other",
            "        came = tl.load(said, volatile=True)",
            "        while came < missing:",
            "            came = tl.load(said, volatile=True)",
            "        meet()",  # all have seen it
            "        tl.atomic_xchg(said, 0, sem='acquire')",
            "        meet()",
            "        for earlier in range(other, program):",
            f"            there = inside + (earlier * {GROUPS} + PART) * BM * BN",
            "            acc += tl.load(there, cache_modifier='.cg')",
        ]
        return ["    " + line for line in own] + ["    " + line for line in super()._finish()]
