"""Chained products as one Triton kernel: a block of lanes a program, tiles in registers.

The lanes of a chain are the rows of a tile, what streams by its columns. Its loop programs run on
names instead of scratch: a local argument is a variable of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from treadle.backends.cuda.chain_cuts import Cut, programs_of
from treadle.backends.cuda.chain_operands import DEEP, Operands, masked, times, width_of
from treadle.backends.cuda.chain_parts import COMPARED, Part
from treadle.backends.cuda.forms import INDEX_LIMIT, is_wide
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.narrow import memory_type
from treadle.backends.cuda.ops import register_type
from treadle.base.dtypes import DType, bfloat16, float16, float32, float64
from treadle.base.target import Ability
from treadle.kernel.abstract import Ex, Kernel
from treadle.kernel.build import Built
from treadle.kernel.chain import ONES, Chained, Consumer, Operand, Producer, Sweep
from treadle.kernel.limits import conditions_of
from treadle.kernel.parser import parse
from treadle.kernel.signature import Signature

ABLE = Ability((float16, bfloat16, float32, float64), balance=160, widest=256, whole=16, fewest=1)
"""Others would be padded. On an H200, Triton 3.6 got gradients of depth 24 and width 40 wrong."""
TOGETHER = 8  # items at most
CACHED = 24 << 20  # bytes of the second cache


@dataclass(frozen=True)
class Bound:
    """A loop program with its number and the names of its scratch."""

    number: int
    kernel: Kernel
    names: dict[int, str]
    values: list[float]
    holds: dict[Ex, bool]


class ChainKernel:
    """One chain on its way to text."""

    part: type[Part] = Part

    def __init__(self, chain: Chained, wide: bool, cut: Cut, copies: bool) -> None:
        self.chain, self.wide = chain, wide
        self.frame, self.cut = chain.frame, cut
        self.kind = register_type(chain.dtype)
        self.arguments = Arguments()
        copies = copies and cut.copies and chain.dtype.size == 2
        self.operands = Operands(self.frame, self.arguments, wide, copies)
        self.lines: list[str] = []
        self.parts = 0
        self.constants = {"BM": self.cut.lanes, "BN": self.cut.stream}
        self.exact_lanes = self.frame.lane.extent % self.cut.lanes == 0
        self.exact_stream = self.frame.stream.extent % self.cut.stream == 0

    def launch(self) -> Launch:
        """The kernel and its arguments."""
        chain = self.chain
        self._place("BM")
        self._lanes()
        self.lines += self._emitter(self._bound(chain.first), 1).run()
        self._stream()
        self._finish()
        names = [name for name, _ in self.arguments.types]
        names += [f"{name}: tl.constexpr" for name in self.constants]
        body = "\n".join(self.lines)
        text = with_functions(f"# a chain\n@triton.jit\ndef kernel({', '.join(names)}):\n{body}\n")
        source = self.arguments.source(text, self.constants, self.cut.warps, self.cut.stages)
        return Launch(source, self._grid(), self.arguments.values, chain.size)

    def _grid(self) -> tuple[int, int]:
        return programs_of(self.chain, self.cut), 1

    def _stream(self) -> None:
        """Everything that streams by."""
        for k, producer in enumerate(self.chain.producers):
            self._lane_operand(k, producer)
        for sweep in self.chain.sweeps:
            self._sweep(sweep)

    def _finish(self) -> None:
        """What becomes of totals."""
        for built in self.chain.last:
            inner = built.loops.inner
            columns = inner[0].extent if inner else 0
            self.lines += self._emitter(self._bound(built), 1, columns).run()

    def line(self, text: str, depth: int = 1) -> None:
        """One line."""
        self.lines.append("    " * depth + text)

    # ---- where it is

    def _place(self, size: str) -> None:
        """Which lanes of which item; those that have most to do first. size: lanes of a program."""
        self._extents()
        wide = ".to(tl.int64)" if self.wide else ""
        self.line(f"program = tl.program_id(0){wide}")
        self.line(f"blocks = tl.cdiv(M, {size})")
        self.arguments.integer("together", self._together(), self.wide)
        items = self._items()
        self.line("group = program // (blocks * together)")
        self.line(f"count = tl.minimum({items} - group * together, together)")
        self.line("inside = program % (blocks * together)")
        self.line("item = group * together + inside % count")
        later = sum((a > 0) - (a < 0) for a, _, _ in self.chain.limits) > 0
        block = "inside // count"
        self.line(f"first_lane = ({f'blocks - 1 - {block}' if later else block}) * {size}")
        self.line(f"last_lane = tl.minimum(first_lane + {size}, M) - 1")
        self._item()

    def _extents(self) -> None:
        """How many lanes, stream positions and items there are."""
        for name, value in (("M", self.frame.lane.extent), ("N", self.frame.stream.extent)):
            self.arguments.integer(name, value, self.wide)
        for k, axis in enumerate(self.frame.batch):
            self.arguments.integer(f"g{k}", axis.extent, self.wide)

    def _items(self) -> str:
        return " * ".join(f"g{k}" for k in range(len(self.frame.batch))) or "1"

    def _item(self) -> None:
        """Where an item is along each axis: of 32 bits, if it may, whose division takes little."""
        self.line("rest = item")
        for k in reversed(range(len(self.frame.batch))):
            self.line(f"d{k} = rest % g{k}")
            self.line(f"rest = rest // g{k}")

    def _lanes(self) -> None:
        """The lanes themselves, and what is added up for them."""
        self.line("lane = first_lane + tl.arange(0, BM)[:, None]")
        if not self.exact_lanes:
            self.line("in_lanes = lane < M")
        for name, rows in self.chain.locals.items():
            if name.startswith("acc"):
                kind = self.kind if self.chain.dtype is float64 else "tl.float32"
                self.line(f"{variable(name)} = tl.zeros((BM, {width_of(rows)}), {kind})")

    def _together(self) -> int:
        """Items whose lanes come in turns: as many as the second cache holds the streams of."""
        chain = self.chain
        widths = {p.stream: p.depth for p in chain.producers}
        widths |= {c.operand: c.columns for sweep in chain.sweeps for c in sweep.consumers}
        row = sum(widths.values()) * chain.dtype.size
        most = CACHED // max(1, self.frame.stream.extent * row)
        return max(1, min(TOGETHER, most)) if chain.limits else 1

    def _add(self, name: str, operand: Operand, columns: int, block: str) -> None:
        line = self.operands.add(name, operand, columns, (block, self.constants[block]))
        if line:
            self.line(line)

    def _lane_operand(self, k: int, producer: Producer) -> None:
        """What the lanes bring to a product: held, unless it is deep."""
        depth = producer.depth
        self._add(f"x{k}", producer.lane, depth, "BM")
        self._add(f"y{k}", producer.stream, depth, "BN")
        if depth <= DEEP:
            edge = "" if self.exact_lanes else "in_lanes"
            self.line(f"held{k} = {self.operands.tile(f'x{k}', producer.lane, depth, 'BM', edge)}")

    # ---- the stream

    def _sweep(self, sweep: Sweep) -> None:
        shared = {}  # operands that a producer and a consumer both read: once
        for k in sweep.producers:
            p = self.chain.producers[k]
            both = any(c.operand == p.stream and c.columns == p.depth for c in sweep.consumers)
            if both and p.depth <= DEEP:
                shared[p.stream] = k
        for j, consumer in enumerate(sweep.consumers):
            if consumer.operand not in shared:
                self._add(f"z{self.parts}_{j}", consumer.operand, consumer.columns, "BN")
        bound = self._bound(sweep.program)
        early = self._emitter(bound, 1)
        early.load()
        self.lines += early.finished()
        for low, high, free in self._ranges(bound.number):
            self.line(f"for start in range({low}, {high}, BN):")
            self._body(sweep, shared, bound, early, free)

    def _body(
        self, sweep: Sweep, shared: dict[Operand, int], bound: Bound, early: Part, free: bool
    ) -> None:
        """One tile; early: what is known already; free: no mask touches it."""
        self.line("stream = start + tl.arange(0, BN)[None, :]", 2)
        self.line("position = start + tl.arange(0, BN)[:, None]", 2)
        edges = not (self.exact_stream or free)
        if edges:
            self.line("in_stream = stream < N", 2)
        part = self._emitter(bound, 2)
        part.count, part.known, part.lines = early.count, [dict(early.known[0])], []
        part.column_mask = "in_stream" if edges else ""
        part.holds = bound.holds if free else {}
        for k in sweep.producers:
            self.lines += self._produced(k, edges, k in shared.values())
        late = []
        for j, consumer in enumerate(sweep.consumers):
            k = shared.get(consumer.operand, -1)
            lines = self._consumed(consumer, f"z{bound.number}_{j}", k, edges)
            if consumer.factor == ONES:
                part.then.setdefault(variable(consumer.feed), []).extend(lines)
            else:
                late += lines  # a factor is there at the end
        self.lines += part.run() + late

    def _ranges(self, number: int) -> list[tuple[str, str, bool]]:
        """Stream positions that masks leave something of; tiles in the middle they leave whole."""
        signs = self._limits(number)
        if not signs:
            return [("low", "high", True)]
        before = [("low", "tl.minimum(free_low, high)", False)] if True in signs else []
        after = [("free_high", "high", False)] if False in signs else []
        return [*before, ("free_low", "free_high", True), *after]

    def _limits(self, number: int) -> set[bool]:
        """The ends of these; is there something masked before them (True) or after (False)?"""
        self._ends()
        self.line("free_low = low")
        self.line("free_high = high")
        for k, (a, b, c) in enumerate(self.chain.limits):
            stem = f"limit{number}_{k}"
            self.arguments.integer(f"{stem}_lane", a, self.wide)
            self.arguments.integer(f"{stem}_offset", c, self.wide)
            far, near = ("last_lane", "first_lane")[:: 1 if a > 0 else -1]
            self.line(f"reach = {far} * {stem}_lane + {stem}_offset")
            self.line(f"sure = {near} * {stem}_lane + {stem}_offset")
            if b > 0:
                self.line("low = tl.maximum(low, -reach)")
                self.line("free_low = tl.maximum(free_low, -sure)")
            else:
                self.line("high = tl.maximum(tl.minimum(high, reach + 1), 0)")
                self.line("free_high = tl.minimum(free_high, sure + 1)")
        signs = {b > 0 for _, b, _ in self.chain.limits} | (
            {False} if not self.exact_stream else set()
        )
        if self.chain.limits:
            self.line("low = low // BN * BN")
        if signs:
            self.line("free_low = tl.cdiv(free_low, BN) * BN")
            self.line("free_high = tl.maximum(free_high // BN * BN, free_low)")
        return signs

    def _ends(self) -> None:
        """The stream that this program has, if nothing is masked."""
        self.line("low = 0")
        self.line("high = N")

    def _produced(self, k: int, edges: bool, shared: bool) -> list[str]:
        """The lines that make a tile."""
        producer = self.chain.producers[k]
        if producer.depth > DEEP:
            return self._produced_deep(k, edges)
        edge = "" if not edges else "position < N" if shared else "in_stream"
        given = f"y{k}", producer.stream, producer.depth, "BN", edge
        rows = f"rows{k} = {self.operands.tile(*given, turned=not shared)}"
        other = f"tl.trans(rows{k})" if shared else f"rows{k}"
        tile = f"tile{k} = tl.dot(held{k}, {other}{self._precision()})"
        return ["        " + rows, "        " + tile]

    def _produced_deep(self, k: int, edges: bool) -> list[str]:
        """The same, a piece of the depth after the other."""
        producer = self.chain.producers[k]
        kind = memory_type(self.chain.dtype)
        stream, lanes = ["in_stream"] * edges, ["in_lanes"] * (not self.exact_lanes)
        if producer.depth % 64:
            lanes.append(f"(k[None, :] < {producer.depth})")
            stream.append(f"(k[:, None] < {producer.depth})")
        x = f"x{k} + lane{times(f'x{k}_along', producer.lane.along)}"
        x += f" + k[None, :]{times(f'x{k}_depth', producer.lane.depth)}"
        y = f"y{k} + stream{times(f'y{k}_along', producer.stream.along)}"
        y += f" + k[:, None]{times(f'y{k}_depth', producer.stream.depth)}"
        wide = "tl.float64" if self.chain.dtype is float64 else "tl.float32"
        lines = [
            f"tile{k} = tl.zeros((BM, BN), {wide})",
            f"for deep in range(0, {producer.depth}, 64):",
            "    k = deep + tl.arange(0, 64)",
            f"    mine = tl.load({x}{masked(lanes)}).to({kind})",
            f"    other = tl.load({y}{masked(stream)}).to({kind})",
            f"    tile{k} = tl.dot(mine, other, tile{k}{self._precision()})",
        ]
        return ["        " + line for line in lines]

    def _consumed(self, consumer: Consumer, name: str, shared: int, edges: bool) -> list[str]:
        """The lines that add what a tile is fed to."""
        into, kind = variable(consumer.into), memory_type(self.chain.dtype)
        lines = []
        rows = f"rows{shared}"
        if shared < 0:
            edge = "position < N" if edges else ""
            given = name, consumer.operand, consumer.columns, "BN", edge
            lines, rows = [f"other = {self.operands.tile(*given)}"], "other"
        if consumer.factor != ONES:
            lines.append(f"{into} = {into} * {variable(consumer.factor)}")
        feed = f"{variable(consumer.feed)}.to({kind})"
        lines.append(f"{into} = tl.dot({feed}, {rows}, {into}{self._precision()})")
        return ["        " + line for line in lines]

    def _precision(self) -> str:
        if self.chain.dtype is float32:
            return ', input_precision="ieee"'
        return (
            ', input_precision="ieee", out_dtype=tl.float64' if self.chain.dtype is float64 else ""
        )

    # ---- programs

    def _bound(self, built: Built) -> Bound:
        """A loop program, its buffers and slots arguments of the kernel."""
        number = self.parts
        self.parts += 1
        signature = Signature(built.loops)
        kernel = parse(signature.text)
        names = {}
        for k, (argument, buffer) in enumerate(
            zip(built.loops.arguments, built.buffers, strict=True)
        ):
            if argument.local:
                names[k] = variable(str(buffer))
            else:
                self._memory(f"b{number}_{k}", argument.dtype, buffer)
        for k, (dtype, value) in enumerate(signature.values):
            if f"p{k}" in signature.constants:
                self.arguments.constant(f"p{number}_{k}", value, dtype)
            else:
                self.arguments.integer(f"p{number}_{k}", value, self.wide)
        holds = {}
        for ex, read in zip(built.loops.order(), kernel.order, strict=True):
            for outcome in (True, False) if ex.op in COMPARED else ():
                found = conditions_of(ex, outcome, self.frame)
                if found and set(found) <= set(self.chain.limits):
                    holds[read] = outcome
        return Bound(number, kernel, names, [value for _, value in signature.values], holds)

    def _memory(self, name: str, dtype: DType, buffer: object) -> None:
        self.arguments.memory(name, dtype, buffer)

    def _emitter(self, bound: Bound, depth: int, columns: int | None = None) -> Part:
        """A loop program on tiles (columns None), on rows (0), or on a finished product."""
        width, kernel = width_of(columns or 0), bound.kernel
        shape = f"(BM, {width if columns else 'BN'})"
        part = self.part(kernel, bound.number, shape, bound.names, self.wide)
        part.narrow, part.values = self.chain.dtype.size == 2, bound.values
        part.indent = depth
        part.row_mask = "" if self.exact_lanes else "in_lanes"
        part.known[-1] |= {kernel.outer[-1]: "lane", "columns": "stream"}
        part._split_axes("item", kernel.outer[:-1])
        if columns:
            part.line(f"column = tl.arange(0, {width})[None, :]")
            part.known[-1][kernel.inner[0]] = "column"
            if width != columns:
                part.line(f"in_columns = column < {columns}")
                part.column_mask = "in_columns"
        elif kernel.inner:
            part.known[-1][kernel.inner[0]] = "stream"
        return part


def variable(name: str) -> str:
    """The name that a piece of scratch has in the kernel."""
    return "local_" + name.replace("-", "_") if not name.startswith("tile") else name


def is_wide_chain(chain: Chained) -> bool:
    """Does it need indices of 64 bits?"""
    sizes = [operand.base.type.size for operand in chain.operands()]
    return max(sizes) >= INDEX_LIMIT or any(is_wide(built.loops) for built in chain.programs())
