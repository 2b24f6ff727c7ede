"""Running totals along an axis as LLVM IR.

Neighbouring lines are scanned side by side, one lane each; a line on its own is scanned a vector at
a time by log2(lanes) shifts. Where lines are few and long each is cut into chunks: first the total
of every chunk, then what comes before each, then the scan itself.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from treadle.backends.cpu.along import BLOCK, FEW, Params, Step, View, Work, view_of
from treadle.backends.cpu.emit import KERNEL
from treadle.backends.cpu.lanes import Lanes, register_type
from treadle.backends.cpu.ops import ROWS, memory_type, narrow, widen
from treadle.backends.cpu.points import suffix
from treadle.backends.cpu.vmath import exp, log1p
from treadle.backends.cpu.writer import Int, Writer, module
from treadle.base.dtypes import DType
from treadle.base.target import Target
from treadle.ir.node import Node

VECTORS = 4  # side by side along inner
MOST_CHUNKS = 64  # of a line


def _log_sum(ln: Lanes, d: DType, x: list[str]) -> str:
    """log(e^a + e^b) from the larger and how far below it the smaller lies; none if equal."""
    a, b = (ln.vec(v, d) for v in x)
    far = (a - b).absolute()
    far = far.constant(0.0).where(a.compare("oeq", b), far)  # of two infinities, too
    peak = ln.vec(ROWS["maximum"](ln, d, d, x), d)
    return (peak + log1p(exp(-far))).value


def _row(name: str) -> Callable[[Lanes, DType, list[str]], str]:
    return lambda ln, d, x: ROWS[name](ln, d, d, x)


JOIN: dict[str, Callable[[Lanes, DType, list[str]], str]] = {
    "cumsum": _row("add"), "cumprod": _row("mul"), "cummax": _row("maximum"),
    "cummin": _row("minimum"), "logcumsumexp": _log_sum,
}  # fmt: skip


def identity(name: str, d: DType) -> float | int:
    """What a scan starts from: joined with x it is x, to the sign of a zero."""
    zero = -0.0 if d.is_float else 0
    least, greatest = d.compute.least, d.compute.greatest
    return {"cumsum": zero, "cumprod": 1, "cummax": least, "cummin": greatest,
            "logcumsumexp": -inf}[name]  # fmt: skip


def lanes_of(d: DType, target: Target) -> int:
    """Elements of a vector; no more of the small ones, whose shifts would be many."""
    return min(target.lanes, target.vector_bytes // d.compute.size)


def plan(node: Node, target: Target) -> Work:
    """The steps of a running total."""
    view, d, name = view_of(node), node.dtype, node.op.name
    lanes = lanes_of(d, target)
    width = 1 if view.inner == 1 else VECTORS * lanes
    pieces = -(-view.inner // width)
    chunk = _chunk(view, width, pieces)
    chunks = -(-view.n // chunk) if chunk else 0
    total = view.outer * chunks * pieces
    group = max(1, BLOCK // max(1, chunk * min(width, view.inner)))
    numbers = {"n": view.n, "inner": view.inner, "chunk": chunk, "chunks": chunks,
               "pieces": pieces, "total": total, "group": group}  # fmt: skip
    kind = "line" if view.inner == 1 else "column"
    blocks = -(-total // group)
    steps = [Step(f"{kind}s", blocks, numbers)]
    temporary = 0
    if chunks > 1:
        ahead = Step(f"{kind}_totals", blocks, numbers)
        between = Step("before", 1, numbers | {"total": view.outer * view.inner, "group": 1 << 62})
        steps = [ahead, between, *steps]
        temporary = view.outer * chunks * view.inner * d.compute.size
    return Work(text, (name, d), tuple(steps), temporary)


def _chunk(view: View, width: int, pieces: int) -> int:
    """Elements along a line that are one item: all of them, unless lines are few and long."""
    if view.outer * pieces >= FEW:
        return view.n
    least = BLOCK // max(1, min(width, view.inner))
    chunk = max(least, -(-view.n // MOST_CHUNKS))
    return min(view.n, -(-chunk // 64) * 64)


def text(name: str, d: DType, symbol: str, target: Target) -> str:
    """The IR module of one step of a running total on a dtype."""
    lanes = 1 if symbol == "before" else lanes_of(d, target)
    return module([STEPS[symbol](_Kernel(symbol, name, d, target, lanes))])


class _Kernel:
    """One function under construction."""

    def __init__(self, symbol: str, name: str, d: DType, target: Target, lanes: int) -> None:
        self.w = Writer(symbol, KERNEL)
        self.lanes, self.ln = lanes, Lanes(self.w, lanes, target)
        self.dtype, self.join, self.name = d, JOIN[name], name
        self.type = self.ln.type(d)
        self.start = self.ln.number(identity(name, d), d)
        self.p = Params(self.w, "n inner chunk chunks pieces")

    def combined(self, a: str, b: str) -> str:
        """Two vectors joined."""
        return self.join(self.ln, self.dtype, [a, b])

    # ---- memory

    def load(self, pointer: str, d: DType, mask: str = "") -> str:
        """A vector in registers; lanes outside the mask hold what a scan starts from."""
        w, t = self.w, f"<{self.lanes} x {memory_type(d)}>"
        if not mask:
            return widen(self.ln, w.load(t, pointer, d.size), d)
        name = f"llvm.masked.load.v{self.lanes}{suffix(memory_type(d))}.p0"
        flags = f"<{self.lanes} x i1> {mask}"
        loaded = w.call(t, name, f"ptr {pointer}", f"i32 {d.size}", flags, f"{t} zeroinitializer")
        value = widen(self.ln, loaded, d)
        return w.op(f"select {flags}, {self.type} {value}, {self.type} {self.start}")

    def store(self, value: str, pointer: str, d: DType, mask: str = "") -> None:
        """The lanes of the mask to memory."""
        w, t = self.w, f"<{self.lanes} x {memory_type(d)}>"
        value = narrow(self.ln, value, d)
        if not mask:
            w.store(t, value, pointer, d.size)
            return
        name = f"llvm.masked.store.v{self.lanes}{suffix(memory_type(d))}.p0"
        flags = f"<{self.lanes} x i1> {mask}"
        w.call("void", name, f"{t} {value}", f"ptr {pointer}", f"i32 {d.size}", flags)

    def place(self, buffer: str, index: Int, d: DType) -> str:
        """The address of an element."""
        return self.w.gep(self.p.pointers[buffer], index, memory_type(d))

    def part(self, outer: Int, chunk: Int, column: Int) -> str:
        """Where the total of a chunk, or of all before it, is kept: in the type of registers."""
        w, p = self.w, self.p
        line = w.add(w.mul(outer, p["chunks"]), chunk)
        index = w.add(w.mul(line, p["inner"]), column)
        return self.place("temporary", index, self.dtype.compute)

    def first(self, place: str) -> str:
        """The address of what an item starts from: that place, if its line is in chunks."""
        w, d = self.w, self.dtype.compute
        alone = w.alloca(f"<{self.lanes} x {memory_type(d)}>")
        self.store(self.start, alone, d)
        cut = w.compare("sgt", self.p["chunks"], 1)
        return w.op(f"select i1 {cut}, ptr {place}, ptr {alone}")

    # ---- a line on its own

    def lines(self, scans: bool) -> Writer:
        """Items are chunks of lines whose elements are neighbours; scans: or only totals?"""
        w, p, d = self.w, self.p, self.dtype
        with p.items() as item:
            outer, chunk, _ = p.split(item)
            begin = w.mul(chunk, p["chunk"])
            count = w.smaller(p["chunk"], w.sub(p["n"], begin))
            index = w.add(w.mul(outer, p["n"]), begin)
            source, out = (self.place(name, index, d) for name in ("source", "out"))
            part = self.part(outer, chunk, 0)
            (self._scan_line if scans else self._total_line)(source, out, count, part)
        return w

    def _scan_line(self, source: str, out: str, count: Int, part: str) -> None:
        w, d, kind = self.w, self.dtype, memory_type(self.dtype)
        one = memory_type(d.compute)
        single = w.load(one, self.first(part), d.compute.size)
        before = widen(self.ln, w.splat(one, single, self.lanes), d.compute)
        whole = w.op(f"and i64 {count}, {-self.lanes}")
        with w.loop(0, whole, self.lanes, [(self.type, before)]) as (i, current, later):
            value = self._prefixes(self.load(w.gep(source, i, kind), d))
            value = self.combined(current[0], value)
            self.store(value, w.gep(out, i, kind), d)
            last = [self.lanes - 1] * self.lanes
            later[0] = w.shuffle(register_type(d), value, "poison", last, self.lanes)
        with w.when(w.compare("slt", whole, count)):
            mask = w.lanes_below(w.sub(count, whole), self.lanes)
            value = self._prefixes(self.load(w.gep(source, whole, kind), d, mask))
            self.store(self.combined(current[0], value), w.gep(out, whole, kind), d, mask)

    def _prefixes(self, value: str) -> str:
        """Every lane joined with those before it."""
        distance = 1
        while distance < self.lanes:
            lanes = range(self.lanes - distance, 2 * self.lanes - distance)
            kind = register_type(self.dtype)
            moved = self.w.shuffle(kind, self.start, value, lanes, self.lanes)
            value = self.combined(moved, value)
            distance *= 2
        return value

    def _total_line(self, source: str, _: str, count: Int, part: str) -> None:
        w, d, kind = self.w, self.dtype, memory_type(self.dtype)
        whole = w.op(f"and i64 {count}, {-self.lanes}")
        with w.loop(0, whole, self.lanes, [(self.type, self.start)]) as (i, current, later):
            later[0] = self.combined(current[0], self.load(w.gep(source, i, kind), d))
        mask = w.lanes_below(w.sub(count, whole), self.lanes)
        total = self.combined(current[0], self.load(w.gep(source, whole, kind), d, mask))
        last = self._prefixes(total)
        wide = d.compute
        stored = narrow(self.ln, last, wide)
        vector = f"<{self.lanes} x {memory_type(wide)}>"
        single = w.op(f"extractelement {vector} {stored}, i32 {self.lanes - 1}")
        w.store(memory_type(wide), single, part, wide.size)

    # ---- lines side by side

    def columns(self, scans: bool) -> Writer:
        """Items are chunks of neighbouring lines, a lane each; scans: or only totals?"""
        w, p, d = self.w, self.p, self.dtype
        width = VECTORS * self.lanes
        with p.items() as item:
            outer, chunk, piece = p.split(item)
            begin = w.mul(chunk, p["chunk"])
            count = w.smaller(p["chunk"], w.sub(p["n"], begin))
            column = w.mul(piece, width)
            left = w.sub(p["inner"], column)
            row = w.add(w.mul(outer, p["n"]), begin)
            index = w.add(w.mul(row, p["inner"]), column)
            source, out = (self.place(name, index, d) for name in ("source", "out"))
            part = self.part(outer, chunk, column)
            with w.when(w.compare("sge", left, width)):
                self._column((source, out, part), count, VECTORS, "", scans)
            with w.when(w.compare("slt", left, width)), w.loop(0, left, self.lanes) as (v, _, _):
                mask = w.lanes_below(w.sub(left, v), self.lanes)
                kinds = (memory_type(d), memory_type(d), memory_type(d.compute))
                places = zip((source, out, part), kinds, strict=True)
                a, b, c = (w.gep(place, v, kind) for place, kind in places)
                self._column((a, b, c), count, 1, mask, scans)
        return w

    def _column(
        self, places: tuple[str, str, str], count: Int, vectors: int, mask: str, scans: bool
    ) -> None:
        """Some vectors of lines, from top to bottom."""
        w, d, p = self.w, self.dtype, self.p
        source, out, part = places
        kind, wide = memory_type(d), memory_type(d.compute)
        starts = [w.mul(k, self.lanes) for k in range(vectors)]
        begin = [self.start] * vectors
        if scans:
            begin = [self.load(self.first(w.gep(part, at, wide)), d.compute, mask) for at in starts]
        carried = [(self.type, value) for value in begin]
        with w.loop(0, count, 1, carried) as (i, current, later):
            row = w.mul(i, p["inner"])
            for k, at in enumerate(starts):
                index = w.add(row, at)
                value = self.load(w.gep(source, index, kind), d, mask)
                later[k] = self.combined(current[k], value)
                if scans:
                    self.store(later[k], w.gep(out, index, kind), d, mask)
        if not scans:
            for k, at in enumerate(starts):
                self.store(current[k], w.gep(part, at, wide), d.compute, mask)

    # ---- between the two

    def before(self) -> Writer:
        """Totals of chunks become totals of all chunks before, for every line."""
        w, p, d = self.w, self.p, self.dtype.compute
        with p.items() as line:
            outer, column = w.div(line, p["inner"]), w.rem(line, p["inner"])
            with w.loop(0, p["chunks"], 1, [(self.type, self.start)]) as (c, current, later):
                part = self.part(outer, c, column)
                total = self.load(part, d)
                self.store(current[0], part, d)
                later[0] = self.combined(current[0], total)
        return w


STEPS: dict[str, Callable[[_Kernel], Writer]] = {
    "lines": lambda kernel: kernel.lines(True),
    "columns": lambda kernel: kernel.columns(True),
    "line_totals": lambda kernel: kernel.lines(False),
    "column_totals": lambda kernel: kernel.columns(False),
    "before": _Kernel.before,
}
