"""Running totals along an axis as LLVM IR.

Neighbouring lines are scanned side by side, one lane each; a line on its own is scanned a vector at
a time by log2(lanes) shifts. Where lines are few and long each is cut into chunks: first the total
of every chunk, then what comes before each, then the scan itself. Sums of float32 are taken over a
few elements at a time and carried on in float64, so that long lines do not drift.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import inf

from treadle.backends.cpu.along import BLOCK, FEW, Params, View, step_of, view_of
from treadle.backends.cpu.emit import KERNEL
from treadle.backends.cpu.lanes import Lanes, register_type
from treadle.backends.cpu.ops import PRIMITIVES, memory_type, narrow, widen
from treadle.backends.cpu.points import suffix
from treadle.backends.cpu.routine import Work
from treadle.backends.cpu.vmath import exp, log1p
from treadle.backends.cpu.writer import Int, Writer, module
from treadle.base.dtypes import DType, float32, float64
from treadle.base.sizes import most
from treadle.base.target import Target
from treadle.ir.node import Node

VECTORS = 4  # side by side along inner
JOINED = 8  # vectors along a line that are joined before they are carried on
RUN = 16  # elements of lines side by side, likewise
MOST_CHUNKS = 64  # of a line


def _log_sum(ln: Lanes, d: DType, x: list[str]) -> str:
    """log(e^a + e^b) from the larger and how far below it the smaller lies; none if equal."""
    a, b = (ln.vec(v, d) for v in x)
    far = (a - b).absolute()
    far = far.constant(0.0).where(a.compare("oeq", b), far)  # of two infinities, too
    peak = ln.vec(PRIMITIVES["maximum"](ln, d, d, x), d)
    return (peak + log1p(exp(-far))).value


def _row(name: str) -> Callable[[Lanes, DType, list[str]], str]:
    return lambda ln, d, x: PRIMITIVES[name](ln, d, d, x)


JOIN: dict[str, Callable[[Lanes, DType, list[str]], str]] = {
    "cumsum": _row("add"), "cumprod": _row("mul"), "cummax": _row("maximum"),
    "cummin": _row("minimum"), "logcumsumexp": _log_sum,
}  # fmt: skip


def carried(name: str, d: DType) -> DType:
    """What is carried along a line."""
    drifts = name in ("cumsum", "cumprod", "logcumsumexp")
    return float64 if drifts and d.compute is float32 else d.compute


def joined(name: str, d: DType) -> DType:
    """What neighbours are joined in; products of a few may be out of float32's range already."""
    return carried(name, d) if name == "cumprod" else d.compute


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
    steps = [step_of(f"{kind}s", blocks, numbers)]
    temporary = 0
    if chunks > 1:
        ahead = step_of(f"{kind}_totals", blocks, numbers)
        between = numbers | {"total": view.outer * view.inner, "group": 1 << 62}
        steps = [ahead, step_of("before", 1, between), *steps]
        temporary = view.outer * chunks * view.inner * carried(name, d).size
    return Work(text, (name, d), tuple(steps), temporary)


def _chunk(view: View, width: int, pieces: int) -> int:
    """Elements along a line that are one item: all of them, unless lines are few and long."""
    if most(view.outer * pieces) >= FEW:
        return view.n
    least = BLOCK // max(1, min(width, view.inner))
    chunk = max(least, -(-view.n // MOST_CHUNKS))
    return min(view.n, -(-chunk // 64) * 64)


def text(name: str, d: DType, symbol: str, target: Target) -> str:
    """The IR module of one step of a running total on a dtype."""
    lanes = 1 if symbol == "before" else lanes_of(d, target)
    return module([STEPS[symbol](_Kernel(symbol, name, d, target, lanes))])


def _converted(ln: Lanes, value: str, source: DType, to: DType) -> str:
    """Registers of one dtype as those of another."""
    return (
        value
        if source.compute is to.compute
        else PRIMITIVES["cast"](ln, source, to.compute, [value])
    )


class _Kernel:
    """One function under construction."""

    def __init__(self, symbol: str, name: str, d: DType, target: Target, lanes: int) -> None:
        self.w = Writer(symbol, KERNEL)
        self.lanes, self.one = lanes, Lanes(self.w, 1, target)
        self.ln = Lanes(self.w, lanes, target)
        self.dtype, self.join, self.name = d, JOIN[name], name
        self.wide, self.near = carried(name, d), joined(name, d)
        self.p = Params(self.w, "n inner chunk chunks pieces")

    def start(self, d: DType) -> str:
        """A vector of what a scan starts from."""
        return self.ln.number(identity(self.name, d), d)

    def combined(self, a: str, b: str, d: DType) -> str:
        """Two vectors joined."""
        return self.join(self.ln, d, [a, b])

    # ---- memory

    def load(self, pointer: str, d: DType, to: DType, mask: str = "") -> str:
        """A vector in registers; lanes outside the mask hold what a scan starts from."""
        w, t = self.w, f"<{self.lanes} x {memory_type(d)}>"
        if not mask:
            return _converted(self.ln, widen(self.ln, w.load(t, pointer, d.size), d), d, to)
        name = f"llvm.masked.load.v{self.lanes}{suffix(memory_type(d))}.p0"
        flags, kind = f"<{self.lanes} x i1> {mask}", self.ln.type(to)
        loaded = w.call(t, name, f"ptr {pointer}", f"i32 {d.size}", flags, f"{t} zeroinitializer")
        value = _converted(self.ln, widen(self.ln, loaded, d), d, to)
        return w.op(f"select {flags}, {kind} {value}, {kind} {self.start(to)}")

    def store(self, value: str, source: DType, pointer: str, d: DType, mask: str = "") -> None:
        """The lanes of the mask to memory."""
        w, t = self.w, f"<{self.lanes} x {memory_type(d)}>"
        value = narrow(self.ln, _converted(self.ln, value, source, d), d)
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
        """Where the total of a chunk, or of all before it, is kept."""
        w, p = self.w, self.p
        line = w.add(w.mul(outer, p["chunks"]), chunk)
        index = w.add(w.mul(line, p["inner"]), column)
        return self.place("temporary", index, self.wide)

    def first(self, place: str) -> str:
        """The address of what an item starts from: that place, if its line is in chunks."""
        w, d = self.w, self.wide
        alone = w.alloca(f"<{self.lanes} x {memory_type(d)}>")
        self.store(self.start(d), d, alone, d)
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

    def _steps(self, count: Int, first: str, step: Callable[..., str], kind: str) -> str:
        """A value carried along a line by step(place, vectors, value, mask)."""
        w = self.w
        vectors = JOINED if self.near is not self.wide else 1
        whole = w.op(f"and i64 {count}, {-vectors * self.lanes}")
        with w.loop(0, whole, vectors * self.lanes, [(kind, first)]) as (i, current, later):
            later[0] = step(i, vectors, current[0], "")
        with w.loop(whole, count, self.lanes, [(kind, current[0])]) as (i, current, later):
            later[0] = step(i, 1, current[0], w.lanes_below(w.sub(count, i), self.lanes))
        return current[0]

    def _scan_line(self, source: str, out: str, count: Int, part: str) -> None:
        w, d, near, wide = self.w, self.dtype, self.near, self.wide
        kind, lanes = memory_type(d), self.lanes

        def step(at: Int, vectors: int, before: str, mask: str) -> str:
            """Vectors joined with each other, then with all before them."""
            rounded = _converted(self.one, before, wide, near)
            far = w.shuffle(register_type(near), rounded, "poison", [0] * lanes, 1)
            total = ""
            for k in range(vectors):
                index = w.add(at, k * lanes)
                value = self._prefixes(self.load(w.gep(source, index, kind), d, near, mask), near)
                value = self.combined(total, value, near) if total else value
                self.store(self.combined(far, value, near), near, w.gep(out, index, kind), d, mask)
                ends = [lanes - 1] * (lanes if k < vectors - 1 else 1)
                total = w.shuffle(register_type(near), value, "poison", ends, lanes)
            total = _converted(self.one, total, near, wide)
            return self.join(self.one, wide, [before, total])

        first = w.load(f"<1 x {memory_type(wide)}>", self.first(part), wide.size)
        self._steps(count, widen(self.one, first, wide), step, self.one.type(wide))

    def _prefixes(self, value: str, d: DType) -> str:
        """Every lane joined with those before it: pairs, then pairs of pairs."""
        half = 1
        while half < self.lanes:
            ends = [
                self.lanes + (lane | (half - 1)) - half if lane & half else lane
                for lane in range(self.lanes)
            ]
            before = self.w.shuffle(register_type(d), self.start(d), value, ends, self.lanes)
            value = self.combined(before, value, d)
            half *= 2
        return value

    def _total_line(self, source: str, _: str, count: Int, part: str) -> None:
        w, d, near, wide = self.w, self.dtype, self.near, self.wide
        kind = memory_type(d)

        def step(at: Int, vectors: int, before: str, mask: str) -> str:
            places = [w.gep(source, w.add(at, k * self.lanes), kind) for k in range(vectors)]
            values = [self.load(place, d, near, mask) for place in places]
            total = reduce(lambda a, b: self.combined(a, b, near), values)
            return self.combined(before, _converted(self.ln, total, near, wide), wide)

        total = self._steps(count, self.start(wide), step, self.ln.type(wide))
        last = narrow(self.ln, self._prefixes(total, wide), wide)
        vector = f"<{self.lanes} x {memory_type(wide)}>"
        single = w.op(f"extractelement {vector} {last}, i32 {self.lanes - 1}")
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
                kinds = (memory_type(d), memory_type(d), memory_type(self.wide))
                places = zip((source, out, part), kinds, strict=True)
                a, b, c = (w.gep(place, v, kind) for place, kind in places)
                self._column((a, b, c), count, 1, mask, scans)
        return w

    def _column(
        self, places: tuple[str, str, str], count: Int, vectors: int, mask: str, scans: bool
    ) -> None:
        """Some vectors of lines, from top to bottom, a run of elements at a time."""
        w, d, p, near, wide = self.w, self.dtype, self.p, self.near, self.wide
        source, out, part = places
        kind = memory_type(d)
        starts = [w.mul(k, self.lanes) for k in range(vectors)]
        parts = [w.gep(part, at, memory_type(wide)) for at in starts]
        begin = [self.start(wide)] * vectors
        if scans:
            begin = [self.load(self.first(place), wide, wide, mask) for place in parts]
        run = RUN if near is not wide else 1
        with w.loop(0, count, run, [(self.ln.type(wide), x) for x in begin]) as (i, current, later):
            far = [_converted(self.ln, x, wide, near) for x in current]
            end = w.smaller(w.add(i, run), count)
            sums = [(self.ln.type(near), self.start(near))] * vectors
            with w.loop(i, end, 1, sums) as (j, total, more):
                row = w.mul(j, p["inner"])
                for k, at in enumerate(starts):
                    index = w.add(row, at)
                    value = self.load(w.gep(source, index, kind), d, near, mask)
                    more[k] = self.combined(total[k], value, near)
                    if scans:
                        joined = self.combined(far[k], more[k], near)
                        self.store(joined, near, w.gep(out, index, kind), d, mask)
            for k, x in enumerate(current):
                later[k] = self.combined(x, _converted(self.ln, total[k], near, wide), wide)
        if not scans:
            for value, place in zip(current, parts, strict=True):
                self.store(value, wide, place, wide, mask)

    # ---- between the two

    def before(self) -> Writer:
        """Totals of chunks become totals of all chunks before, for every line."""
        w, p, d = self.w, self.p, self.wide
        with p.items() as line:
            outer, column = w.div(line, p["inner"]), w.rem(line, p["inner"])
            begin = [(self.ln.type(d), self.start(d))]
            with w.loop(0, p["chunks"], 1, begin) as (c, current, later):
                part = self.part(outer, c, column)
                total = self.load(part, d, d)
                self.store(current[0], d, part, d)
                later[0] = self.combined(current[0], total, d)
        return w


STEPS: dict[str, Callable[[_Kernel], Writer]] = {
    "lines": lambda kernel: kernel.lines(True),
    "columns": lambda kernel: kernel.columns(True),
    "line_totals": lambda kernel: kernel.lines(False),
    "column_totals": lambda kernel: kernel.columns(False),
    "before": _Kernel.before,
}
