"""Chains of few blocks of lanes: the stream is cut, and a second kernel joins what parts leave.

A part leaves its totals, of which those relative to a maximum are scaled when the largest of all
parts is known. Parts are joined in their order, so results do not depend on who comes first.
"""

from __future__ import annotations

from treadle.backends.choices import Machine
from treadle.backends.cuda.chain import ChainKernel, is_wide_chain, variable
from treadle.backends.cuda.chain_alone import AloneKernel
from treadle.backends.cuda.chain_blocks import in_blocks
from treadle.backends.cuda.chain_cuts import Cut, programs_of, settled_cut
from treadle.backends.cuda.chain_gluon import GluonKernel
from treadle.backends.cuda.chain_operands import width_of
from treadle.backends.cuda.chain_staying import StayingKernel
from treadle.backends.cuda.copies import COPIES
from treadle.backends.cuda.gluon import HOPPER, is_there
from treadle.backends.cuda.launch import Launch
from treadle.backends.cuda.ops import PRIMITIVES, joined
from treadle.base.dtypes import DType, float32, float64
from treadle.kernel.chain import ONES, Chained

SHORTEST = 256  # stream positions of a part


def chain_launches(
    chain: Chained, step: int, processors: int, machine: Machine, architecture: int
) -> tuple[list[Launch], dict[str, int]]:
    """The launches that compute a chain, and temporary memory between them."""
    wide, copies = is_wide_chain(chain), architecture >= COPIES
    if architecture == HOPPER and not wide and is_there():
        blocks = in_blocks(chain, processors)
        if blocks is not None:
            kind = StayingKernel if blocks.programs else GluonKernel
            if len(chain.sweeps[0].consumers) > 1:
                kind = AloneKernel
            return [kind(chain, blocks).launch()], {}
    cut = settled_cut(chain, machine)
    parts = _parts(chain, cut, processors)
    if parts == 1:
        return [ChainKernel(chain, wide, cut, copies).launch()], {}
    made = [kind(chain, wide, cut, copies, parts, step) for kind in (PartKernel, JoinKernel)]
    return [kernel.launch() for kernel in made], made[0].sizes()


def _parts(chain: Chained, cut: Cut, processors: int) -> int:
    """As many as give every processor one, if all totals are those of one run."""
    programs, stream = programs_of(chain, cut), chain.frame.stream.extent
    if len(chain.sweeps) > 1 or chain.end or not programs:
        return 1
    parts = min(processors // programs, -(-stream // SHORTEST))
    return -(-stream // _span(stream, cut, parts)) if parts > 1 else 1


def _span(stream: int, cut: Cut, parts: int) -> int:
    """Stream positions of a part: whole tiles."""
    return -(-stream // (parts * cut.stream)) * cut.stream


class SplitKernel(ChainKernel):
    """What both kernels know: the totals, and where parts of them lie."""

    def __init__(
        self, chain: Chained, wide: bool, cut: Cut, copies: bool, parts: int, step: int
    ) -> None:
        super().__init__(chain, wide, cut, copies)
        self.parts_count, self.step = parts, step
        self.total_dtype: DType = float64 if chain.dtype is float64 else float32
        (sweep,) = chain.sweeps
        self.tops = {name: top for name, (_, top) in chain.totals.items()}
        self.tops |= {c.into: "" if c.factor == ONES else c.factor.removeprefix("factor-")
                      for c in sweep.consumers}  # fmt: skip

    def _width(self, name: str) -> int:
        return 1 if name in self.chain.totals else width_of(self.chain.locals[name])

    def _buffer(self, name: str) -> str:
        return f"{name} of parts of {self.step}"

    def sizes(self) -> dict[str, int]:
        """Bytes of the memory between the kernels."""
        lanes = programs_of(self.chain, self.cut) * self.parts_count * self.cut.lanes
        return {self._buffer(x): lanes * self._width(x) * self.total_dtype.size for x in self.tops}

    def _pointer(self, name: str) -> str:
        """Where a part of a total lies."""
        width = self._width(name)
        along = "" if width == 1 else f" * {width} + tl.arange(0, {width})[None, :]"
        return f"part_{name} + place{along}"

    def _arguments(self) -> None:
        self.arguments.integer("parts", self.parts_count, self.wide)
        for name in self.tops:
            self.arguments.memory(f"part_{name}", self.total_dtype, self._buffer(name))

    def _at(self, depth: int) -> None:
        self.line("place = (program * parts + part) * BM + tl.arange(0, BM)[:, None]", depth)


class PartKernel(SplitKernel):
    """Goes over a part of the stream, and leaves its totals."""

    def _grid(self) -> tuple[int, int]:
        return programs_of(self.chain, self.cut), self.parts_count

    def _ends(self) -> None:
        span = _span(self.frame.stream.extent, self.cut, self.parts_count)
        self.arguments.integer("span", span, self.wide)
        self.line("part = tl.program_id(1)")
        self.line("low = part * span")
        self.line("high = tl.minimum(low + span, N)")

    def _finish(self) -> None:
        self._arguments()
        self._at(1)
        for name in self.tops:
            self.line(f"tl.store({self._pointer(name)}, {variable(name)})")


class JoinKernel(SplitKernel):
    """Joins the totals of all parts, and does with them what is done."""

    def _stream(self) -> None:
        self._arguments()
        self.line("for part in range(0, parts):")
        self._at(2)
        for name in self.chain.totals:
            self.line(f"came_{name} = tl.load({self._pointer(name)})", 2)
        for name, (kind, top) in self.chain.totals.items():
            self._join(name, kind, top, f"came_{name}")
        for name in self.tops:
            if name not in self.chain.totals:
                self._join(name, "sum", self.tops[name], f"tl.load({self._pointer(name)})")

    def _join(self, name: str, kind: str, top: str, other: str) -> None:
        """One more part of a total; of a maximum also what those relative to it change by."""
        mine = variable(name)
        if top:
            self.line(f"{mine} = {mine} * mine_{top} + {other} * other_{top}", 2)
            return
        self.line(f"both = {joined(kind, mine, other)}", 2)
        if name in self.tops.values():
            self.line('base = tl.where(both == float("-inf"), 0.0, both)', 2)
            d = self.total_dtype
            for stem, value in (("mine", mine), ("other", other)):
                power = PRIMITIVES["exp"](d, d, [f"({value} - base)"])
                self.line(f"{stem}_{name} = {power}", 2)
        self.line(f"{mine} = both", 2)
