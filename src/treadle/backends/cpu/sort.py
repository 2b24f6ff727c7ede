"""The order of the elements along an axis as LLVM IR.

Elements become unsigned keys that compare as they do. A short line is ordered by counting, for each
key, the keys before it; a longer one by a radix sort of records (key, index) from the lowest digit
up, which keeps equal keys in order. Where lines are few and long each is cut into chunks, and every
digit takes three steps: the counts of each chunk, where its records go, and moving them.
"""

from __future__ import annotations

from treadle.backends.cpu.along import BLOCK, FEW, Params, View, step_of, view_of
from treadle.backends.cpu.emit import KERNEL
from treadle.backends.cpu.routine import Step, Work
from treadle.backends.cpu.writer import Int, Writer, module
from treadle.base.dtypes import DType
from treadle.base.target import Target
from treadle.ir.node import Node

RANKED = 64  # elements: shorter lines are ordered by counting
WIDE_DIGITS = 4096  # elements: from here on digits of more bits pay
BUCKETS = 1 << 11  # of the widest digits
MOST_CHUNKS = 16  # of a line


def plan(node: Node, _: Target) -> Work:
    """The steps of an order along an axis."""
    d = node.operands[0].dtype
    view, descending = view_of(node), node.arg[1]
    lines = view.outer * view.inner
    width = 8 if view.n < WIDE_DIGITS or d.size <= 2 else 11
    numbers = {"n": view.n, "inner": view.inner, "chunk": view.n, "chunks": 1,
               "total": lines, "group": max(1, BLOCK // max(1, view.n)), "width": width,
               "mask": (1 << width) - 1, "digits": -(-8 * d.size // width),
               "turned": -1 if descending else 0}  # fmt: skip
    blocks = -(-lines // numbers["group"]) if view.n else 0
    if view.n <= RANKED:
        return Work(text, (d,), (step_of("ranks", blocks, numbers),), 0, 8 * (RANKED + 64))
    record = 8 if d.size <= 4 else 16
    if lines < FEW and view.n >= 2 * BLOCK:
        steps, nbytes = _in_chunks(view, numbers, record)
        return Work(text, (d,), steps, nbytes)
    nbytes = -(-(2 * record * view.n + 4 * BUCKETS) // 64) * 64
    return Work(text, (d,), (step_of("lines", blocks, numbers),), 0, nbytes)


def _in_chunks(view: View, numbers: dict[str, int], record: int) -> tuple[tuple[Step, ...], int]:
    """Three steps for every digit, and the bytes of two places between which records go."""
    lines = view.outer * view.inner
    chunk = max(BLOCK, -(-view.n // MOST_CHUNKS))
    chunks = -(-view.n // chunk)
    half = -(-lines * view.n * record // 64) * 64
    numbers = numbers | {"chunk": chunk, "chunks": chunks, "total": lines * chunks, "group": 1,
                         "first": 0, "second": half, "counts": 2 * half}  # fmt: skip
    steps = [step_of("keys", lines * chunks, numbers)]
    for digit in range(numbers["digits"]):
        numbers = numbers | {"shift": digit * numbers["width"]}
        steps.append(step_of("count", lines * chunks, numbers))
        steps.append(step_of("offsets", lines, numbers | {"total": lines}))
        steps.append(step_of("move", lines * chunks, numbers))
        numbers = numbers | {"first": numbers["second"], "second": numbers["first"]}
    steps.append(step_of("indices", lines * chunks, numbers))
    return tuple(steps), 2 * half + 4 * BUCKETS * lines * chunks


def text(d: DType, symbol: str, target: Target) -> str:
    """The IR module of one step of a sort of a dtype."""
    kernel = _Kernel(symbol, d, max(2, target.vector_bytes // 8))
    return module([STEPS[symbol](kernel)])


def _last(d: DType) -> int:
    """The largest magnitude that is not NaN, as bits."""
    if not d.has_infinity:
        return (1 << (d.bits - 1)) - 2
    return ((1 << (d.bits - 1 - d.mantissa)) - 1) << d.mantissa


class _Kernel:
    """One function under construction.

    Records hold a 64-bit key and an index, or a key above an index in one word.
    """

    def __init__(self, symbol: str, d: DType, lanes: int) -> None:
        self.w = Writer(symbol, KERNEL)
        names = "n inner chunk chunks shift mask digits width first second counts turned"
        self.p = Params(self.w, names)
        self.dtype, self.bits, self.lanes = d, 8 * d.size, lanes
        self.wide = d.size == 8
        self.record = "<2 x i64>" if self.wide else "i64"
        self.align = 16 if self.wide else 8

    # ---- keys and records

    def key(self, pointer: str) -> str:
        """The element as an i64 that compares, without sign, as the element does."""
        w, d, t = self.w, self.dtype, f"i{self.bits}"
        value = w.load(t, pointer, d.size)
        if d.is_float:
            value = self._float_key(value, t)
        elif d.kind == "int":
            value = w.op(f"xor {t} {value}, {-(1 << (self.bits - 1))}")
        turned = self.p["turned"]
        if not self.wide:
            turned = w.op(f"trunc i64 {turned} to {t}")
        value = w.op(f"xor {t} {value}, {turned}")
        return value if self.wide else w.op(f"zext {t} {value} to i64")

    def _float_key(self, value: str, t: str) -> str:
        """Magnitudes of negative numbers turned round; NaN above all, both zeros alike."""
        w, sign = self.w, -(1 << (self.bits - 1))
        size = w.op(f"and {t} {value}, {(1 << (self.bits - 1)) - 1}")
        negative = w.op(f"icmp slt {t} {value}, 0")
        down, up = w.op(f"xor {t} {value}, -1"), w.op(f"xor {t} {value}, {sign}")
        key = w.op(f"select i1 {negative}, {t} {down}, {t} {up}")
        zero = w.op(f"icmp eq {t} {size}, 0")
        key = w.op(f"select i1 {zero}, {t} {sign}, {t} {key}")
        odd = w.op(f"icmp ugt {t} {size}, {_last(self.dtype)}")
        return w.op(f"select i1 {odd}, {t} -1, {t} {key}")

    def made(self, key: str, index: Int) -> str:
        """A record."""
        w = self.w
        if self.wide:
            half = w.op(f"insertelement <2 x i64> poison, i64 {key}, i32 0")
            return w.op(f"insertelement <2 x i64> {half}, i64 {index}, i32 1")
        return w.op(f"or i64 {w.op(f'shl i64 {key}, 32')}, {index}")

    def index_of(self, record: str) -> str:
        """The index in a record."""
        if self.wide:
            return self.w.op(f"extractelement <2 x i64> {record}, i32 1")
        return self.w.op(f"and i64 {record}, {(1 << 32) - 1}")

    def digit_of(self, record: str, shift: Int) -> str:
        """The digit that starts at a bit of the key."""
        w = self.w
        word = record
        if self.wide:
            word = w.op(f"extractelement <2 x i64> {record}, i32 0")
        else:
            shift = w.add(shift, 32)
        return w.op(f"and i64 {w.op(f'lshr i64 {word}, {shift}')}, {self.p['mask']}")

    def load(self, place: str, index: Int) -> str:
        """A record from memory."""
        return self.w.load(self.record, self.w.gep(place, index, self.record), self.align)

    def store(self, record: str, place: str, index: Int) -> None:
        """A record to memory."""
        self.w.store(self.record, record, self.w.gep(place, index, self.record), self.align)

    # ---- parts of a radix sort

    def make_records(self, line: str, begin: Int, end: Int, records: str) -> None:
        """Elements begin to end of a line as records."""
        w = self.w
        with w.loop(begin, end) as (i, _, _):
            place = w.gep(line, w.mul(i, self.p["inner"]), f"i{self.bits}")
            self.store(self.made(self.key(place), i), records, i)

    def clear(self, counts: str) -> None:
        """No counter has counted."""
        w = self.w
        with w.loop(0, w.add(self.p["mask"], 1)) as (k, _, _):
            w.store("i32", "0", w.gep(counts, k, "i32"), 4)

    def count_digits(self, records: str, begin: Int, end: Int, shift: Int, counts: str) -> None:
        """How often each digit occurs."""
        w = self.w
        with w.loop(begin, end) as (i, _, _):
            counter = w.gep(counts, self.digit_of(self.load(records, i), shift), "i32")
            w.store("i32", w.op(f"add i32 {w.load('i32', counter, 4)}, 1"), counter, 4)

    def move_records(
        self, records: str, begin: Int, end: Int, shift: Int, counts: str, to: str
    ) -> None:
        """Every record to the next free place of its digit."""
        w = self.w
        with w.loop(begin, end) as (i, _, _):
            record = self.load(records, i)
            counter = w.gep(counts, self.digit_of(record, shift), "i32")
            at = w.load("i32", counter, 4)
            w.store("i32", w.op(f"add i32 {at}, 1"), counter, 4)
            self.store(record, to, w.op(f"zext i32 {at} to i64"))

    def write_indices(self, records: str, begin: Int, end: Int, line: str) -> None:
        """The indices of sorted records as the result."""
        w = self.w
        with w.loop(begin, end) as (i, _, _):
            place = w.gep(line, w.mul(i, self.p["inner"]), "i64")
            w.store("i64", self.index_of(self.load(records, i)), place, 8)

    # ---- whole lines

    def line(self, item: Int) -> tuple[str, str]:
        """Where a line begins in the operand and in the result."""
        w, p = self.w, self.p
        outer, column = w.div(item, p["inner"]), w.rem(item, p["inner"])
        at = w.add(w.mul(w.mul(outer, p["n"]), p["inner"]), column)
        return w.gep(p.pointers["source"], at, f"i{self.bits}"), w.gep(p.pointers["out"], at, "i64")

    def ranks(self) -> Writer:
        """Short lines: the place of an element is the number of those that come before it."""
        w, p, lanes = self.w, self.p, self.lanes
        keys, vector, mask = p.scratch(), f"<{lanes} x i64>", f"<{lanes} x i1>"
        numbers = "<" + ", ".join(f"i64 {lane}" for lane in range(lanes)) + ">"
        with p.items() as item:
            source, out = self.line(item)
            with w.loop(0, p["n"]) as (i, _, _):
                key = self.key(w.gep(source, w.mul(i, p["inner"]), f"i{self.bits}"))
                w.store("i64", key, w.gep(keys, i, "i64"), 8)
            w.store(vector, "splat (i64 -1)", w.gep(keys, p["n"], "i64"), 8)  # before nothing
            with w.loop(0, p["n"]) as (i, _, _):
                mine = w.splat("i64", w.word(keys, i), lanes)
                here = w.splat("i64", i, lanes)
                none = [(vector, "zeroinitializer")]
                with w.loop(0, p["n"], lanes, none) as (j, current, later):
                    others = w.load(vector, w.gep(keys, j, "i64"), 8)
                    places = w.op(f"add {vector} {w.splat('i64', j, lanes)}, {numbers}")
                    less = w.op(f"icmp ult {vector} {others}, {mine}")
                    same = w.op(f"icmp eq {vector} {others}, {mine}")
                    early = w.op(f"icmp ult {vector} {places}, {here}")
                    before = w.op(f"or {mask} {less}, {w.op(f'and {mask} {same}, {early}')}")
                    ones = w.op(f"zext {mask} {before} to {vector}")
                    later[0] = w.op(f"add {vector} {current[0]}, {ones}")
                name = f"llvm.vector.reduce.add.v{lanes}i64"
                rank = w.call("i64", name, f"{vector} {current[0]}")
                w.store("i64", i, w.gep(out, w.mul(rank, p["inner"]), "i64"), 8)
        return w

    def lines(self) -> Writer:
        """Lines that one thread sorts in its own memory; digits that are all equal are passed."""
        w, p = self.w, self.p
        first = p.scratch()
        second = w.gep(first, p["n"], self.record)
        counts = w.gep(second, p["n"], self.record)
        with p.items() as item:
            source, out = self.line(item)
            self.make_records(source, 0, p["n"], first)
            places = [("ptr", first), ("ptr", second)]
            with w.loop(0, p["digits"], 1, places) as (digit, current, later):
                shift = w.mul(digit, p["width"])
                self.clear(counts)
                self.count_digits(current[0], 0, p["n"], shift, counts)
                some = w.gep(counts, self.digit_of(self.load(current[0], 0), shift), "i32")
                seen = w.op(f"zext i32 {w.load('i32', some, 4)} to i64")
                differ = w.compare("ne", seen, p["n"])
                with w.when(differ):
                    self._line_offsets(counts)
                    self.move_records(current[0], 0, p["n"], shift, counts, current[1])
                a, b = current
                later[0] = w.op(f"select i1 {differ}, ptr {b}, ptr {a}")
                later[1] = w.op(f"select i1 {differ}, ptr {a}, ptr {b}")
            self.write_indices(current[0], 0, p["n"], out)
        return w

    def _line_offsets(self, counts: str) -> None:
        w = self.w
        with w.loop(0, w.add(self.p["mask"], 1), 1, [("i32", "0")]) as (k, current, later):
            place = w.gep(counts, k, "i32")
            later[0] = w.op(f"add i32 {current[0]}, {w.load('i32', place, 4)}")
            w.store("i32", current[0], place, 4)

    # ---- lines in chunks

    def chunk(self, item: str) -> tuple[Int, Int, Int, str]:
        """(line, first element, last element, counters) of an item."""
        w, p = self.w, self.p
        line, number = w.div(item, p["chunks"]), w.rem(item, p["chunks"])
        begin = w.mul(number, p["chunk"])
        end = w.smaller(p["n"], w.add(begin, p["chunk"]))
        return line, begin, end, w.gep(self.counters(), w.mul(item, BUCKETS), "i32")

    def counters(self) -> str:
        """Where the counters of all chunks begin."""
        return self.w.gep(self.p.pointers["temporary"], self.p["counts"])

    def records(self, name: str, line: Int) -> str:
        """Where the records of a line lie, before or after a move."""
        w, p = self.w, self.p
        start = w.gep(p.pointers["temporary"], p[name])
        return w.gep(start, w.mul(line, p["n"]), self.record)

    def keys(self) -> Writer:
        """Elements to records."""
        with self.p.items() as item:
            line, begin, end, _ = self.chunk(item)
            self.make_records(self.line(line)[0], begin, end, self.records("first", line))
        return self.w

    def count(self) -> Writer:
        """The digits of a chunk."""
        with self.p.items() as item:
            line, begin, end, counts = self.chunk(item)
            self.clear(counts)
            records = self.records("first", line)
            self.count_digits(records, begin, end, self.p["shift"], counts)
        return self.w

    def offsets(self) -> Writer:
        """Where in its line the records of a chunk with a digit go: digit by digit, in order."""
        w, p = self.w, self.p
        with p.items() as line:
            chunks = p["chunks"]
            start = w.gep(self.counters(), w.mul(w.mul(line, chunks), BUCKETS), "i32")
            with w.loop(0, w.add(p["mask"], 1), 1, [("i32", "0")]) as (k, current, later):
                own = [("i32", current[0])]
                with w.loop(0, chunks, 1, own) as (c, inner_current, inner_later):
                    place = w.gep(start, w.add(w.mul(c, BUCKETS), k), "i32")
                    count = w.load("i32", place, 4)
                    inner_later[0] = w.op(f"add i32 {inner_current[0]}, {count}")
                    w.store("i32", inner_current[0], place, 4)
                later[0] = inner_current[0]
        return w

    def move(self) -> Writer:
        """The records of a chunk to where they go."""
        with self.p.items() as item:
            line, begin, end, counts = self.chunk(item)
            first, second = (self.records(name, line) for name in ("first", "second"))
            self.move_records(first, begin, end, self.p["shift"], counts, second)
        return self.w

    def indices(self) -> Writer:
        """Sorted records to the result."""
        with self.p.items() as item:
            line, begin, end, _ = self.chunk(item)
            records = self.records("first", line)
            self.write_indices(records, begin, end, self.line(line)[1])
        return self.w


STEPS = {
    "ranks": _Kernel.ranks, "lines": _Kernel.lines, "keys": _Kernel.keys, "count": _Kernel.count,
    "offsets": _Kernel.offsets, "move": _Kernel.move, "indices": _Kernel.indices,
}  # fmt: skip
