"""Chained products as one Triton kernel: a block of lanes a program, tiles in registers.

The lanes of a chain are the rows of a tile, what streams by its columns. Its loop programs run on
names instead of scratch: a local argument is a variable of the kernel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

from treadle.backends.choices import Machine
from treadle.backends.cuda.emit import Emitter
from treadle.backends.cuda.forms import INDEX_LIMIT, Form, is_wide, power_of_two
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.narrow import memory_type
from treadle.backends.cuda.ops import register_type, with_helpers
from treadle.backends.cuda.ways import settled
from treadle.backends.questions import of_chain
from treadle.base.dtypes import bfloat16, float16, float32, float64
from treadle.base.target import Ability
from treadle.kernel.abstract import Ex, Kernel, Store
from treadle.kernel.build import Built
from treadle.kernel.chain import ONES, Chained, Consumer, Operand, Producer, Sweep
from treadle.kernel.parser import parse
from treadle.kernel.signature import Signature

ABLE = Ability((float16, bfloat16, float32, float64), balance=160, widest=256, whole=16)
"""Others would be padded. On an H200, Triton 3.6 got gradients of depth 24 and width 40 wrong."""
DEEP = 128  # elements of an operand that a program holds while others stream by
COMPARED = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
LOG2_E = "1.4426950408889634"
OWN = re.compile(r"\b([bp])(\d+)\b")  # buffers and slots of a loop program, by number


@dataclass(frozen=True)
class Cut:
    """Lanes of a program, stream positions of a tile, and how it is run."""

    lanes: int
    stream: int
    warps: int
    stages: int


OTHER_CUTS = [Cut(lanes, stream, 4, 2) for lanes in (32, 64, 128) for stream in (32, 64, 128)]
"""What a search may try."""


def choose_cut(chain: Chained) -> Cut:
    """The tile of a chain: two programs a processor are worth more than one that is large."""
    columns = max([c.columns for s in chain.sweeps for c in s.consumers], default=0)
    deepest = max(p.depth for p in chain.producers)
    consumers = max(len(s.consumers) for s in chain.sweeps)
    if chain.dtype.size > 2:
        return Cut(32, 32, 4, 1)
    if len(chain.producers) == 1:
        return Cut(64, 128, 4, 2) if max(columns, deepest) <= 64 else Cut(64, 64, 4, 3)
    if consumers > 1 or max(columns, deepest) > 128:
        return Cut(64, 64, 4, 2)
    return Cut(128, 64, 8, 3) if max(columns, deepest) > 64 else Cut(64, 64, 4, 3)


class Part(Emitter):
    """A loop program of a chain; scratch is what variables hold."""

    def __init__(
        self, kernel: Kernel, number: int, shape: str, names: dict[int, str], wide: bool
    ) -> None:
        super().__init__(kernel, Form("rows", 0, 0, True, 0, wide=wide))
        self.axis, self.shape = 1, shape
        self.number, self.names = number, names

    def name(self, text: str, stem: str = "v") -> str:
        """A fresh name for an expression, among those of all parts."""
        return super().name(text, f"{stem}{self.number}_")

    def run(self, narrow: bool) -> list[str]:
        """Every pass, and what is stored."""
        self.narrow = narrow
        self._passes("", "")
        return [OWN.sub(rf"\g<1>{self.number}_\2", line) for line in self.lines]

    def _make(self, ex: Ex) -> str:
        if ex.op == "load" and self.kernel.arguments[ex.data[0]].local:
            return self.names[ex.data[0]]
        if ex.op == "exp" and self.narrow:  # as exact as its operands, and few steps
            return self._power(ex.args[0])
        if ex.op in COMPARED and all(arg.op == "index" for arg in ex.args) and not self.form.wide:
            one, two = (self.index(arg.data) for arg in ex.args)
            return f"({one}) {COMPARED[ex.op]} ({two}) + tl.zeros((1, 1), tl.int32)"
        return super()._make(ex)

    def _power(self, ex: Ex) -> str:
        """e to a power: what is the same all along a row leaves a multiply-add."""
        if ex.op != "sub" or ex.args[1].axes & self.inner:
            return f"tl.exp2({self.value(ex)} * {LOG2_E})"
        base = self.name(f"{self.value(ex.args[1])} * {LOG2_E}")
        return f"tl.exp2({self.value(ex.args[0])} * {LOG2_E} - {base})"

    def _store(self, s: Store) -> None:
        if not self.kernel.arguments[s.buffer].local:
            super()._store(s)
            return
        columns = s.position.axes & self.inner
        shape = self.shape if columns else self.shape.split(",")[0] + ", 1)"
        value = self.value(s.value)
        if columns and self.column_mask:
            value = f"tl.where({self.column_mask}, {value}, 0.0)"
        self.line(f"{self.names[s.buffer]} = tl.broadcast_to({value}, {shape})")


class ChainKernel:
    """One chain on its way to text."""

    def __init__(self, chain: Chained, wide: bool, cut: Cut) -> None:
        self.chain, self.wide = chain, wide
        self.frame, self.cut = chain.frame, cut
        self.kind = register_type(chain.dtype)
        self.arguments = Arguments()
        self.lines: list[str] = []
        self.parts = 0
        self.constants = {"BM": self.cut.lanes, "BN": self.cut.stream}
        self.exact_lanes = self.frame.lane.extent % self.cut.lanes == 0
        self.exact_stream = self.frame.stream.extent % self.cut.stream == 0

    def launch(self) -> Launch:
        """The kernel and its arguments."""
        chain, frame = self.chain, self.frame
        for name, value in (("M", frame.lane.extent), ("N", frame.stream.extent)):
            self.arguments.integer(name, value, self.wide)
        for k, axis in enumerate(frame.batch):
            self.arguments.integer(f"g{k}", axis.extent, self.wide)
        self._place()
        self._part(chain.first, 1)
        for k, producer in enumerate(chain.producers):
            self._lane_operand(k, producer)
        for sweep in chain.sweeps:
            self._sweep(sweep)
        for built in chain.last:
            inner = built.loops.inner
            self._part(built, 1, inner[0].extent if inner else 0)
        names = [name for name, _ in self.arguments.types]
        names += [f"{name}: tl.constexpr" for name in self.constants]
        body = "\n".join(self.lines)
        text = with_helpers(f"# a chain\n@triton.jit\ndef kernel({', '.join(names)}):\n{body}\n")
        source = self.arguments.source(text, self.constants, self.cut.warps, self.cut.stages)
        items = prod(axis.extent for axis in frame.batch)
        programs = -(-frame.lane.extent // self.cut.lanes) * items
        return Launch(source, (programs, 1), self.arguments.values, chain.size)

    def line(self, text: str, depth: int = 1) -> None:
        """One line."""
        self.lines.append("    " * depth + text)

    # ---- where it is

    def _place(self) -> None:
        """Which lanes of which item; late ones have most to do where a mask is causal."""
        wide = ".to(tl.int64)" if self.wide else ""
        self.line(f"program = tl.program_id(0){wide}")
        self.line("blocks = tl.cdiv(M, BM)")
        self.line("item = program // blocks")
        self.line("lane = (blocks - 1 - program % blocks) * BM + tl.arange(0, BM)[:, None]")
        self.line("first_lane = (blocks - 1 - program % blocks) * BM")
        self.line("last_lane = tl.minimum(first_lane + BM, M) - 1")
        self.line("rest = item.to(tl.int64)")
        for k in reversed(range(len(self.frame.batch))):
            self.line(f"d{k} = rest % g{k}")
            self.line(f"rest = rest // g{k}")
        if not self.exact_lanes:
            self.line("in_lanes = lane < M")
        for name, rows in self.chain.locals.items():
            if name.startswith("acc"):
                width = max(16, power_of_two(rows))
                kind = self.kind if self.chain.dtype is float64 else "tl.float32"
                self.line(f"{_variable(name)} = tl.zeros((BM, {width}), {kind})")

    def _operand(self, name: str, operand: Operand) -> None:
        """A pointer to the operand's first element of this item."""
        add = self.arguments
        add.memory(name, operand.base.dtype, operand.base)
        numbers = {"offset": operand.offset, "along": operand.along, "depth": operand.depth}
        for key, value in numbers.items():
            add.integer(f"{name}_{key}", value, self.wide)
        terms = [f"{name}_offset"]
        for k, step in enumerate(operand.batch):
            if step:
                add.integer(f"{name}_g{k}", step, self.wide)
                terms.append(f"d{k} * {name}_g{k}")
        self.line(f"{name} += {' + '.join(terms)}")

    def _lane_operand(self, k: int, producer: Producer) -> None:
        """What the lanes bring to a product: held, unless it is deep."""
        self._operand(f"x{k}", producer.lane)
        self._operand(f"y{k}", producer.stream)
        if producer.depth > DEEP:
            return
        width = max(16, power_of_two(producer.depth))
        self.line(f"k{k} = tl.arange(0, {width})")
        mask = [] if self.exact_lanes else ["in_lanes"]
        mask += [] if width == producer.depth else [f"(k{k}[None, :] < {producer.depth})"]
        at = f"x{k} + lane{_times(f'x{k}_along', producer.lane.along)}"
        at += f" + k{k}[None, :]{_times(f'x{k}_depth', producer.lane.depth)}"
        self.line(f"held{k} = tl.load({at}{_masked(mask)})")

    # ---- the stream

    def _sweep(self, sweep: Sweep) -> None:
        for j, consumer in enumerate(sweep.consumers):
            self._operand(f"z{self.parts}_{j}", consumer.operand)
        self._limits()
        self.line("for start in range(low, high, BN):")
        self.line("stream = start + tl.arange(0, BN)[None, :]", 2)
        if not self.exact_stream:
            self.line("in_stream = stream < N", 2)
        self.line("position = start + tl.arange(0, BN)[:, None]", 2)
        rows = {}  # operands that a producer and a consumer both read: once
        for k in sweep.producers:
            producer = self.chain.producers[k]
            shared = any(c.operand == producer.stream and c.columns == producer.depth
                         for c in sweep.consumers)  # fmt: skip
            if shared and producer.depth <= DEEP:
                self._rows(f"rows{k}", f"y{k}", producer.stream, producer.depth)
                self.line(f"tile{k} = tl.dot(held{k}, tl.trans(rows{k}){self._precision()})", 2)
                rows[producer.stream] = f"rows{k}"
            else:
                self._produce(k)
        mark = self.parts
        self._part(sweep.program, 2)
        for j, consumer in enumerate(sweep.consumers):
            name = rows.get(consumer.operand, "other")
            if name == "other":
                self._rows(name, f"z{mark}_{j}", consumer.operand, consumer.columns)
            self._consume(name, consumer)

    def _rows(self, name: str, pointer: str, operand: Operand, columns: int) -> None:
        """What streams by, a row each."""
        width = max(16, power_of_two(columns))
        self.line(f"column = tl.arange(0, {width})[None, :]", 2)
        mask = [] if self.exact_stream else ["(position < N)"]
        mask += [] if width == columns else [f"(column < {columns})"]
        at = f"{pointer} + position{_times(f'{pointer}_along', operand.along)}"
        at += f" + column{_times(f'{pointer}_depth', operand.depth)}"
        self.line(f"{name} = tl.load({at}{_masked(mask)})", 2)

    def _limits(self) -> None:
        """Stream positions that masks leave something of."""
        self.line("low = 0")
        self.line("high = N")
        for number, (a, b, c) in enumerate(self.chain.limits):
            for name, value in (("lane", a), ("offset", c)):
                self.arguments.integer(f"limit{self.parts}_{number}_{name}", value, self.wide)
            stem = f"limit{self.parts}_{number}"
            far = "last_lane" if a > 0 else "first_lane"
            self.line(f"reach = {far} * {stem}_lane + {stem}_offset")
            if b > 0:
                self.line("low = tl.maximum(low, -reach)")
            else:
                self.line("high = tl.maximum(tl.minimum(high, reach + 1), 0)")
        if self.chain.limits:
            self.line("low = low // BN * BN")

    def _produce(self, k: int) -> None:
        producer = self.chain.producers[k]
        kind = memory_type(self.chain.dtype)
        stream = [] if self.exact_stream else ["in_stream"]
        y = f"y{k} + stream{_times(f'y{k}_along', producer.stream.along)}"
        if producer.depth <= DEEP:
            width = max(16, power_of_two(producer.depth))
            stream += [] if width == producer.depth else [f"(k{k}[:, None] < {producer.depth})"]
            at = f"{y} + k{k}[:, None]{_times(f'y{k}_depth', producer.stream.depth)}"
            self.line(f"other = tl.load({at}{_masked(stream)})", 2)
            self.line(f"tile{k} = tl.dot(held{k}, other{self._precision()})", 2)
            return
        lanes = [] if self.exact_lanes else ["in_lanes"]
        wide = "tl.float64" if self.chain.dtype is float64 else "tl.float32"
        self.line(f"tile{k} = tl.zeros((BM, BN), {wide})", 2)
        self.line(f"for deep in range(0, {producer.depth}, 64):", 2)
        self.line("k = deep + tl.arange(0, 64)", 3)
        if producer.depth % 64:
            lanes.append(f"(k[None, :] < {producer.depth})")
            stream.append(f"(k[:, None] < {producer.depth})")
        x = f"x{k} + lane{_times(f'x{k}_along', producer.lane.along)}"
        x += f" + k[None, :]{_times(f'x{k}_depth', producer.lane.depth)}"
        y += f" + k[:, None]{_times(f'y{k}_depth', producer.stream.depth)}"
        self.line(f"mine = tl.load({x}{_masked(lanes)}).to({kind})", 3)
        self.line(f"other = tl.load({y}{_masked(stream)}).to({kind})", 3)
        self.line(f"tile{k} = tl.dot(mine, other, tile{k}{self._precision()})", 3)

    def _consume(self, rows: str, consumer: Consumer) -> None:
        into, kind = _variable(consumer.into), memory_type(self.chain.dtype)
        if consumer.factor != ONES:
            self.line(f"{into} = {into} * {_variable(consumer.factor)}", 2)
        feed = f"{_variable(consumer.feed)}.to({kind})"
        self.line(f"{into} = tl.dot({feed}, {rows}, {into}{self._precision()})", 2)

    def _precision(self) -> str:
        if self.chain.dtype is float32:
            return ', input_precision="ieee"'
        return (
            ', input_precision="ieee", out_dtype=tl.float64' if self.chain.dtype is float64 else ""
        )

    # ---- programs

    def _part(self, built: Built, depth: int, columns: int | None = None) -> None:
        """A loop program on tiles (columns None), on rows (0), or on a finished product."""
        number = self.parts
        self.parts += 1
        signature = Signature(built.loops)
        kernel = parse(signature.text)
        names = {}
        for k, (argument, buffer) in enumerate(
            zip(built.loops.arguments, built.buffers, strict=True)
        ):
            if argument.local:
                names[k] = _variable(str(buffer))
            else:
                self.arguments.memory(f"b{number}_{k}", argument.dtype, buffer)
        for k, (dtype, value) in enumerate(signature.values):
            if f"p{k}" in signature.constants:
                self.arguments.constant(f"p{number}_{k}", value, dtype)
            else:
                self.arguments.integer(f"p{number}_{k}", int(value), self.wide)
        width = max(16, power_of_two(columns or 0))
        part = Part(kernel, number, f"(BM, {width if columns else 'BN'})", names, self.wide)
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
            part.column_mask = "" if self.exact_stream else "in_stream"
        self.lines += part.run(self.chain.dtype.size == 2)


def _variable(name: str) -> str:
    return "local_" + name.replace("-", "_") if not name.startswith("tile") else name


def _times(name: str, value: int) -> str:
    """A stride in the text: 1 is worth knowing to the compiler."""
    return "" if value == 1 else f" * {name}"


def _masked(parts: list[str]) -> str:
    return f", mask={' & '.join(parts)}, other=0.0" if parts else ""


def chain_launch(chain: Chained, machine: Machine) -> Launch:
    """The launch that computes a chain."""
    cut = choose_cut(chain)
    cut = settled(machine, lambda: of_chain(chain), cut, OTHER_CUTS, "lanes", "stream")
    sizes = [operand.base.type.size for operand in chain.operands()]
    wide = max(sizes) >= INDEX_LIMIT or any(is_wide(built.loops) for built in chain.programs())
    return ChainKernel(chain, wide, cut).launch()
