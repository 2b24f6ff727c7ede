"""Chained products in Gluon whose tiles are fed to two others: a group a program, and nobody else.

Two sums take so many registers that a processor has room for three groups only if none are kept for
a warp that brings operands. A group brings its own: the next block of a stream into the room that
it has just used up. What else is read along the stream comes with it. A tile is asked for where it
is first read.
"""

from __future__ import annotations

from treadle.backends.cuda.chain import Bound, variable
from treadle.backends.cuda.chain_blocks import bytes_of, places
from treadle.backends.cuda.chain_gluon import COPY, TILE, GluonKernel
from treadle.backends.cuda.chain_parts import Part
from treadle.backends.cuda.gluon import FILE

WARPS = 4


class AloneKernel(GluonKernel):
    """A chain whose programs are one group each."""

    def _registers(self) -> int:
        return FILE // (self.blocks.residents * WARPS * 32) // 8 * 8

    # ---- operands

    def _begin(self, first: Bound) -> None:
        """The first of all operands are on their way."""
        self.line("PART: gl.constexpr = 0")
        for text in self._bring_held():
            self.line(text)
        self.line("for turn in range(0, tl.minimum(turns, STAGES)):")
        for text in self._at("turn"):
            self.line(text, 2)
        self._bring_turn("start", 2)
        super()._begin(first)

    def _bring_turn(self, start: str, depth: int) -> None:
        """All that comes for a turn, at one barrier."""
        lines = self.blocks.lines.values()
        size = sum(map(bytes_of, self.blocks.streamed.values()))
        size += sum(bytes_of(line.block, line.operand.base.dtype.size) for line in lines)
        self.line(f"mbarrier.expect(full.index(stage), {size})", depth)
        coming = [(name, places(x, start, "0")) for x, name in self.streamed.items()]
        coming += [(f"r{k}", places(line.operand, start)) for k, line in enumerate(lines)]
        for name, at in coming:
            given = f"{name}, [{at}], full.index(stage), {name}_room.index(stage)"
            self.line(f"{COPY}({given})", depth)

    # ---- turns of the stream

    def _straight(self, bound: Bound, early: Part) -> None:
        """All of a tile before the next, whose operands are on their way by then."""
        consumers = self.sweep.consumers
        sums = ", ".join(f"sums{j}" for j in range(len(consumers)))
        into = ", ".join(variable(c.into) for c in consumers)
        for low, high, free in self.sections:
            self.line(f"for turn in range({low}, {high}):")
            self._begin_turn("turn", 2)
            self._multiplied(self._program(bound, early, free, 2).run(), 2)
            self.line(f"{into} = warpgroup_mma_wait(0, deps=({sums}))", 2)
            self.line("meet()", 2)
            self.line("if turn + STAGES < turns:", 2)
            self._bring_turn(f"start {'-' if self.backwards else '+'} STAGES * BN", 3)

    def _program(self, bound: Bound, early: Part, free: bool, depth: int) -> Part:
        """The loop program of a tile, with what came along and the products that it is fed to."""
        part = super()._program(bound, early, free, depth)
        read = dict(zip(self.sweep.program.loops.order(), bound.kernel.order, strict=True))
        how = f"reshape([BN]).load(gl.SliceLayout(0, GRID{self.cut.stream}))"
        part.brought = {read[ex]: f"r{k}_room.index(stage).{how}"
                        for k, ex in enumerate(self.blocks.lines)}  # fmt: skip
        for j, c in enumerate(self.sweep.consumers):
            added = f"sums{j} = {self._added(c, self._fed(c), 'stage')}"
            part.then.setdefault(variable(c.feed), []).append("    " * depth + added)
        return part

    def _multiplied(self, lines: list[str], depth: int) -> None:
        """Lines, with a product before the first that reads its tile, once operands have come."""
        came, made = False, set()
        for line in lines:
            tiles = TILE.findall(line)
            if not came and (tiles or "_room.index" in line):
                self.line("mbarrier.wait(full.index(stage), phase)", depth)
                came = True
            for tile in tiles:
                if tile not in made:
                    made.add(tile)
                    self._multiply(int(tile.removeprefix("tile")), depth)
                    self.line(f"{tile} = warpgroup_mma_wait(0, deps=({tile},))", depth)
            self.lines.append(line)

    # ---- the text

    def _functions(self, head: list[str]) -> dict[str, list[str]]:
        names = ", ".join(name for name, _ in self.arguments.types)
        made = [f"    {name} = {text}" for name, text in self._made().items()]
        return {f"kernel({names})": [*made, "    fence_async_shared()", *head, *self.lines]}

    def _made(self) -> dict[str, str]:
        return super()._made() | {"full": "barriers(STAGES, 1)"}

    def _barriers(self, name: str) -> dict[str, str]:
        return {}  # all that streams by has one
