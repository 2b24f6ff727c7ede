"""Chained products in Gluon by programs of one group each, which brings its operands itself.

No registers are kept for a warp that only brings: where two sums take most of them, a processor has
room for three such programs. What comes next comes into the rooms that a turn has left.
"""

from __future__ import annotations

from treadle.backends.cuda.chain import Bound
from treadle.backends.cuda.chain_blocks import places
from treadle.backends.cuda.chain_gluon import COPY, GluonKernel
from treadle.backends.cuda.chain_parts import Part
from treadle.backends.cuda.gluon import FILE
from treadle.base.dtypes import DType

MOST = 255  # registers of a thread


class AloneKernel(GluonKernel):
    """A chain whose programs are one group each."""

    alone = True

    def _registers(self) -> int:
        return min(MOST, FILE // (self.blocks.residents * 32 * self.warps) // 8 * 8)

    def _begin(self, first: Bound) -> None:
        """The first of all operands are on their way."""
        for k, (line, block) in enumerate(self.blocks.lines.values()):
            kind = f"NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=32, rank={len(block.block)})"
            self.arguments.tensor(f"r{k}", line.base.dtype, block, kind)
        self.line("PART: gl.constexpr = 0")
        for line in self._held():
            self.line(line)
        self.line("for stage in range(0, tl.minimum(turns, STAGES)):")
        self._bring_at("stage", 2)
        super()._begin(first)

    def _bring_at(self, turn: str, depth: int) -> None:
        start = f"(edge {'-' if self.backwards else '+'} ({turn})) * BN"
        full, lines = "full.index(stage)", self.blocks.lines.values()
        size = sum(2 * x.block[-1] * x.block[-2] for x in self.blocks.streamed.values())
        size += sum(4 * block.block[-1] for _, block in lines)
        self.line(f"mbarrier.expect({full}, {size})", depth)
        for operand, name in self.streamed.items():
            at = places(operand, start, "0")
            self.line(f"{COPY}({name}, [{at}], {full}, {name}_room.index(stage))", depth)
        for k, (operand, _) in enumerate(lines):
            at = places(operand, start)
            self.line(f"{COPY}(r{k}, [{at}], {full}, r{k}_room.index(stage))", depth)

    def _come(self, k: int, depth: int) -> None:
        if k == self.sweep.producers[0]:
            self.line("mbarrier.wait(full.index(stage), phase)", depth)

    def _program(self, bound: Bound, early: Part, free: bool, depth: int) -> Part:
        part = super()._program(bound, early, free, depth)
        parsed = dict(zip(self.sweep.program.loops.order(), bound.kernel.order, strict=True))
        layout = f"gl.SliceLayout(0, GRID{self.cut.stream})"
        part.brought = {parsed[ex]: f"r{k}_room.index(stage).reshape([{self.cut.stream}]).load({layout})"
                        for k, ex in enumerate(self.blocks.lines)}
        return part

    def _free(self, name: str, stage: str, depth: int) -> None:
        """Rooms are filled again at the end of a turn."""

    def _end_turn(self, depth: int) -> None:
        self.line("meet()", depth)
        self.line("if turn + STAGES < turns:", depth)
        self._bring_at("turn + STAGES", depth + 1)

    def _made(self) -> dict[str, str]:
        made = {name: text for name, text in super()._made().items() if not name.endswith(("_free", "_full"))}
        for k, (_, block) in enumerate(self.blocks.lines.values()):
            made[f"r{k}_room"] = f"gl.allocate_shared_memory(tl.float32, {[self.cut.stages, *block.block]}, r{k}.layout)"
        made["full"] = "barriers(STAGES, 1)"
        return made

    def _functions(self, head: list[str]) -> dict[str, list[str]]:
        made = [f"    {name} = {text}" for name, text in self._made().items()]
        names = ", ".join(name for name, _ in self.arguments.types)
        return {f"kernel({names})": [*made, "    fence_async_shared()", *head, *self.lines]}
