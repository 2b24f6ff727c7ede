"""The loop programs of a chain: what runs on each tile, before the first and after the last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from treadle.base.dtypes import DType, bool_
from treadle.base.errors import CompilerError, explain
from treadle.ir.node import Node
from treadle.kernel.build import Builder, Built, passes_of
from treadle.kernel.chain import LANES, ONES, Chained, Consumer, Frame, Framed, Sweep, framed, pitch
from treadle.kernel.index import ZERO, Axis, Index, of_axis, ravel, unravel
from treadle.kernel.limits import limits_of
from treadle.kernel.loops import Ex, Loops, Reduce, Store
from treadle.kernel.lower import Guards, Lowering, Position, narrowed
from treadle.kernel.operands import Strided
from treadle.kernel.running import Runs, Total
from treadle.ops.defs import Kind
from treadle.passes.tiles import Sink
from treadle.schedule.chains import Chain, Share

JOINS = {"sum": "add", "max": "maximum", "min": "minimum"}


class Program(Lowering):
    """One loop program: nodes that are given stand for local values or totals."""

    def __init__(
        self, frame: Frame, stored: frozenset[Node], own: frozenset[Node],
        shares: Mapping[Node, Share],
    ) -> None:  # fmt: skip
        self.frame, self.builder, self.shares = frame, Builder(stored, own), shares
        outer = [*frame.batch, frame.lane]
        rows = sum((of_axis(a) for a in outer), start=ZERO)
        super().__init__(self.builder.slot_of, rows, frame.whole)
        self.given: dict[Node, Ex] = {}
        self.totals: list[Reduce] = []
        self.stores: list[Store] = []
        self.row_stores: list[Store] = []

    def _element(self, node: Node, index: Position, guards: Guards) -> Ex:
        if node in self.shares and node not in self.given:
            share, d = self.shares[node], node.dtype
            power = self.make("sub", (self.element(share.x), self.element(share.inverse)), d)
            self.given[node] = self.make("exp", (power,), d)
        found = self.given.get(node)
        return found if found is not None else super()._element(node, index, guards)

    def local(self, name: str, dtype: DType, position: Index) -> Ex:
        """A value in scratch."""
        number = self.builder.slot(name, dtype)
        self.builder.arguments[number].local = True
        return self.make("load", (), dtype, (number, position, ()))

    def keep(self, name: str, dtype: DType, value: Ex, position: Index | None = None) -> None:
        """Write to scratch: at a place in a tile, or to a row."""
        number = self.builder.slot(name, dtype, written=True)
        self.builder.arguments[number].local = True
        if position is None:
            self.row_stores.append(Store(number, self.frame.row, value))
        else:
            self.stores.append(Store(number, position, value))

    def constant(self, value: float, dtype: DType) -> Ex:
        """A number."""
        return self.make("const", (), dtype, value)

    def total(self, kind: str, value: Ex, dtype: DType) -> Ex:
        """A reduction of this program's elements."""
        found = Reduce(f"t{len(self.totals)}", kind, value, dtype)
        self.totals.append(found)
        return self.make("reduced", (), dtype, found)

    def element(self, node: Node) -> Ex:
        """A node at the point of the iteration space: a tile's element, or a row's value."""
        full = node.type.size == self.frame.rows_count * self.frame.columns
        return self.at(node, unravel(self.frame.whole if full else self.frame.rows, node.shape))

    def finish(self, inner: Sequence[Axis]) -> Built:
        """The program with its buffers."""
        frame = self.frame
        passes = passes_of(self.totals, self.stores) if inner else []
        loops = Loops([], [*frame.batch, frame.lane], list(inner), passes, self.row_stores)
        loops.across, loops.tile = True, True
        return self.builder.finish(loops)


class ChainBuilder:
    """One chain on its way to programs."""

    def __init__(
        self, chain: Chain, nodes: Iterable[Node], stored: frozenset[Node],
        found: Framed,
    ) -> None:  # fmt: skip
        self.chain, self.stored = chain, stored
        self.frame, self.producers, self.fed = found
        self.wide = chain.producers[0].dtype.compute
        self.writes = [node for node in nodes if node in stored]
        hidden = {*chain.space.members} - {*chain.loaded}
        self.own = frozenset({*nodes, *hidden, *chain.stats, *(s.product for s in chain.sinks)})
        self.products = {s.product for s in chain.sinks}
        self.runs = Runs(chain, self._is_fixed)
        self.made: dict[Node, Total] = self.runs.totals
        self.locals: dict[str, int] = {}
        self.sums: dict[str, int] = {}
        self.limits: list[list[tuple[int, int, int]]] = []

    def build(self) -> Chained:
        """All of it."""
        sweeps = [self._sweep(run) for run in range(self.runs.count)]
        last: list[Built] = []
        end: list[Built] = []
        for k, total in enumerate(self.runs.fed):
            (end if self.runs.is_across(total.source) else last).append(self._result(k, total))
        kept = [node for node in self.writes if node in self.chain.stats]
        last += [self._stats(kept)] if kept else []
        first = dict.fromkeys(self.limits[0])
        common = [x for x in first if all(x in other for other in self.limits)]
        dtype = self.producers[0].lane.base.dtype
        made = Chained(self.frame, dtype, self.producers, self._first(), sweeps, last)
        made.locals, made.limits, made.end, made.sums = self.locals, common, end, self.sums
        tops = ((t, self._name(t.scaled) if t.scaled else "") for t in self.made.values())
        made.totals = {self._name(t): (t.kind, top) for t, top in tops}
        return made

    def _program(self) -> Program:
        return Program(self.frame, self.stored, self.own, self.chain.shares)

    def _is_fixed(self, node: Node, tile: Node, across: bool) -> bool:
        """Is an operand of a tile the same all along the stream, or the lanes?"""
        probe = self._program()
        if not self.chain.turned:
            probe.given = {n: probe.local("any", n.dtype, self.frame.row)
                           for n in (*self.chain.stats, *self.chain.loaded)}  # fmt: skip
        index = unravel(self.frame.whole, tile.shape)
        below = self.chain.space.operand(node)
        if below in self.chain.members or (self.chain.turned and below is not None):
            return False
        axis = self.frame.lane if across else self.frame.stream
        return axis not in probe.at(node, narrowed(index, node.shape)).axes

    # ---- names of scratch

    def _name(self, total: Total) -> str:
        totals = list(self.made.values())
        return f"state{totals.index(total)}"

    def _local(self, name: str, rows: int) -> str:
        self.locals[name] = rows
        return name

    # ---- programs

    def _first(self) -> Built:
        """Values to start from."""
        program = self._program()
        for total in self.made.values():
            start = program.constant(self._start(total), self.wide)
            program.keep(self._local(self._name(total), 1), self.wide, start)
        if ONES in self.locals:
            program.keep(ONES, self.wide, program.constant(1, self.wide))
        return program.finish([])

    def _start(self, total: Total) -> float:
        """What adding nothing leaves a total at."""
        return {"sum": 0, "max": self.wide.least, "min": self.wide.greatest}[total.kind]

    def _sweep(self, run: int) -> Sweep:
        program = self._program()
        for k, node in enumerate(self.chain.producers):
            name = self._local(f"tile{k}", 0)
            program.given[node] = program.local(name, self.wide, self.frame.place)
        for node, total in self.made.items():
            if total.ready < run:
                program.given[node] = self._value(program, total)
        now = [t for t in self.made.values() if t.run == run]
        factors: dict[Total, Ex] = {}
        for total in sorted(now, key=lambda t: t.scaled is not None):
            self._advance(program, total, factors)
        consumers = []
        feeds: dict[Node, str] = {}
        for k, total in enumerate(self.runs.fed):
            if total.run == run:
                consumers.append(self._feed(program, k, total, feeds))
        built = program.finish([self.frame.stream])
        loads = {name for name in built.buffers if isinstance(name, str)}
        used = [k for k in range(len(self.producers)) if f"tile{k}" in loads]
        return Sweep(used, built, consumers)

    def _advance(self, program: Program, total: Total, factors: dict[Total, Ex]) -> None:
        """A total over one more tile."""
        name, d = self._name(total), self.wide
        value = program.converted(program.element(total.core), d)
        self.limits.append(limits_of(value, self._start(total), self.frame))
        before = program.local(name, d, self.frame.row)
        found = program.total(total.kind, value, d)
        if total.scaled is not None:
            before = program.make("mul", (before, factors[total.scaled]), d)
        now = program.make(JOINS[total.kind], (before, found), d)
        program.keep(name, d, now)
        if any(t.scaled is total for t in (*self.made.values(), *self.runs.fed)):
            base = self._finite(program, now)
            program.given[total.source] = base  # type: ignore[index]
            change = program.make("exp", (program.make("sub", (before, base), d),), d)
            factors[total] = change
            program.keep(self._local(f"factor-{name}", 1), d, change)

    def _finite(self, program: Program, top: Ex) -> Ex:
        """A running maximum, or 0 while there is none: -inf less itself would be no number."""
        none = program.make("eq", (top, program.constant(self.wide.least, self.wide)), bool_)
        return program.make("where", (none, program.constant(0, self.wide), top), self.wide)

    def _feed(self, program: Program, k: int, total: Total, feeds: dict[Node, str]) -> Consumer:
        value = program.converted(program.element(total.core), self.wide)
        self.limits.append(limits_of(value, 0, self.frame))
        if total.core not in feeds:
            feeds[total.core] = self._local(f"feed{k}", 0)
            program.keep(feeds[total.core], self.wide, value, self.frame.place)
        sink = total.source
        if not isinstance(sink, Sink):
            raise CompilerError(explain("chain", "only products are fed"))
        columns = sink.product.shape[-1] if sink.left else sink.product.shape[-2]
        factor = f"factor-{self._name(total.scaled)}" if total.scaled else self._local(ONES, 1)
        into, across = f"acc{k}", self.runs.is_across(sink)
        (self.sums if across else self.locals)[into] = columns
        return Consumer(feeds[total.core], self.fed[k], columns, into, factor, across)

    def _value(self, program: Program, total: Total, position: Index | None = None) -> Ex:
        """A finished total: no number where its terms were relative to none."""
        node = total.source
        d = self.wide
        if isinstance(node, Sink):
            raw = program.local(f"acc{self.runs.fed.index(total)}", d, position or ZERO)
        else:
            raw = program.local(self._name(total), d, self.frame.row)
        if total.scaled is not None:
            top = program.local(self._name(total.scaled), d, self.frame.row)
            none = program.make("eq", (top, program.constant(d.least, d)), bool_)
            raw = program.make("where", (none, program.constant(float("nan"), d), raw), d)
        for layer, k in reversed(total.layers):
            shape = layer.shape
            index = unravel(self.frame.whole, shape)
            args = [
                raw if j == k else program.at(x, narrowed(index, x.shape))
                for j, x in enumerate(layer.operands)
            ]
            raw = program.make(layer.op.name, tuple(args), layer.dtype)
        return raw

    def _give_all(self, program: Program) -> None:
        for node, total in self.made.items():
            program.given[node] = self._value(program, total)

    def _stats(self, kept: Sequence[Node]) -> Built:
        """Values per row to memory."""
        program = self._program()
        self._give_all(program)
        for node in kept:
            value = program.element(node)
            if node in self.chain.logs:
                share = self.chain.logs[node]
                log = program.make("log", (program.element(share.total),), node.dtype)
                value = program.make("add", (program.element(share.top), log), node.dtype)
            number = program.builder.slot(node, node.dtype, written=True)
            program.row_stores.append(Store(number, self.frame.rows, value))
        return program.finish([])

    def _result(self, k: int, total: Total) -> Built:
        """A finished product to memory."""
        sink = total.source
        if not isinstance(sink, Sink):
            raise CompilerError(explain("chain", "only products leave"))
        program = self._program()
        product, frame, across = sink.product, self.frame, self.runs.is_across(sink)
        columns = (self.sums if across else self.locals)[f"acc{k}"]
        axis = Axis(f"a{len(frame.batch) + 2}", columns)
        place = of_axis(frame.lane) + of_axis(axis) * LANES
        if across:
            program.frame = frame = frame.exchanged
            place = of_axis(frame.lane) * pitch(columns) + of_axis(axis)
        else:
            self._give_all(program)
        shape = (*product.shape[:-2], frame.rows_count // max(1, prod(product.shape[:-2])))
        *batch, row = unravel(frame.rows, shape)
        own = of_axis(frame.lane) if sink.turned else row
        index = (*batch, own, of_axis(axis)) if sink.left else (*batch, of_axis(axis), own)
        program.given[product] = self._value(program, total, place)
        position = ravel(index, product.shape)
        for node in self.writes:
            if node is product or product in self._below(node):
                value = program.at(node, unravel(position, node.shape))
                number = program.builder.slot(node, node.dtype, written=True)
                program.stores.append(Store(number, position, value))
        return program.finish([axis])

    def _below(self, node: Node) -> set[Node]:
        """Products of this chain that a map runs on."""
        found, stack = set(), [node]
        while stack:
            for x in stack.pop().operands:
                if x in self.products:
                    found.add(x)
                elif x in self.own or x.op.kind is Kind.MOVEMENT:
                    stack.append(x)
        return found if node not in self.chain.stats and node not in self.products else set()


def judged(
    chain: Chain, stored: frozenset[Node], in_place: Mapping[Node, Strided | None], fewest: int
) -> tuple[str, int]:
    """Why a chain cannot be, or nothing and its runs over the stream; stored: as if all were."""
    found = framed(chain, in_place, fewest)
    if isinstance(found, str):
        return found, 0
    return "", ChainBuilder(chain, (), stored, found).runs.count


def build_chain(
    chain: Chain, nodes: Iterable[Node], stored: frozenset[Node],
    in_place: Mapping[Node, Strided | None], fewest: int,
) -> Chained:  # fmt: skip
    """The step of a chain."""
    found = framed(chain, in_place, fewest)
    if isinstance(found, str):
        raise CompilerError(explain("chain", f"it cannot be: {found}"))
    return ChainBuilder(chain, nodes, stored, found).build()
