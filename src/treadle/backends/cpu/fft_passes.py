"""Transforms of lines side by side, one lane each, as LLVM IR: passes over points in memory.

A point is a vector of real and one of imaginary parts. A pass of radix r joins r transforms into
one r times as long, from one place to another and in order (Stockham): with n = r m s, the points
q + s (p + m k) become the points q + s (r p + k), for p < m, q < s and k < r. Lengths, radices and
factors are data, so that a kernel serves all lengths of the same radices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from treadle.backends.cpu.emit import KERNEL
from treadle.backends.cpu.fft_values import UNROLLED, Pair, butterfly
from treadle.backends.cpu.lanes import register_type
from treadle.backends.cpu.routine import Params
from treadle.backends.cpu.vector import Vec
from treadle.backends.cpu.writer import Int, Writer
from treadle.base.dtypes import DType
from treadle.base.target import Target

NUMBERS = (
    "total", "group",  # items in all, and for one block
    "points",  # of a line: complex numbers, half as many as real ones
    "lines", "inner", "pieces",  # lines in all, side by side, and vectors of these
    "in_outer", "in_point", "in_lane", "in_imaginary",  # steps from one to the next, in elements
    "out_outer", "out_point", "out_lane", "out_imaginary",
    "scale",  # what results are multiplied by, as the bits of a float64
    "passes", "plan", "twiddles",  # how many, and the addresses of what they are and need
    "folds",  # the address of the factors that make a transform of reals
    "columns", "rows", "column_blocks", "row_blocks",  # of a long line as a matrix
    "stride", "room",  # from row to row, and from matrix to matrix
    "column_passes", "column_plan", "column_twiddles", "corner", "edge",
    "chunk", "chunks",  # of a fold: points that are one item
)  # fmt: skip

RECORD = 5  # words of a pass: radix, m, s, where its factors and its roots are
MOST_RADIX = 256

Load = Callable[[Int], Pair]
Store = Callable[[Int, Pair], None]


class Frame:
    """A module under construction: one kernel, the functions it calls, and what all of them do.

    - **w**, **p**, **scale**: the function being written, its parameters, what results are times
    """

    def __init__(
        self, symbol: str, d: DType, radices: Sequence[int], inverse: bool, names: str,
        target: Target,
    ) -> None:  # fmt: skip
        self.type, self.size, self.target = register_type(d), d.size, target
        self.lanes = target.vector_bytes // d.size
        self.vector = f"<{self.lanes} x {self.type}>"
        self.radices, self.inverse = radices, inverse
        self.names = ["total", "group", "scale", *names.split()]
        self.functions: list[Writer] = []
        self._begin(Writer(symbol, KERNEL))

    def _begin(self, w: Writer) -> None:
        self.w = w
        self.functions.append(w)
        self.p = Params(w, ["source"], NUMBERS, self.names)
        scale = w.op(f"bitcast i64 {self.p['scale']} to double")
        self.scale = scale if self.size == 8 else w.op(f"fptrunc double {scale} to float")

    @contextmanager
    def function(self, name: str, *arguments: str) -> Iterator[None]:
        """What is written meanwhile is a function: code is shared, and small ones compile fast."""
        before = self.w, self.p, self.scale
        self._begin(Writer(name, [*KERNEL, *arguments], internal=True))
        yield
        self.w, self.p, self.scale = before

    def call(self, name: str, *arguments: str) -> None:
        """Call such a function with "type value" arguments."""
        given = ", ".join([*KERNEL, *arguments])
        self.w.do(f"call void @{name}({given})")

    def address(self, name: str) -> str:
        """A parameter that is an address."""
        return self.w.op(f"inttoptr i64 {self.p[name]} to ptr")

    # ---- vectors

    def vec(self, value: str, lanes: int = 0) -> Vec:
        """A value with arithmetic."""
        return Vec(self.w, value, lanes or self.lanes, self.type, self.target)

    def place(self, base: str, index: Int) -> str:
        """The address of an element."""
        return self.w.gep(base, index, self.type)

    def load(self, base: str, index: Int, align: int = 0, lanes: int = 0) -> Vec:
        """Elements from an index on."""
        kind = f"<{lanes or self.lanes} x {self.type}>"
        place = self.place(base, index)
        return self.vec(self.w.load(kind, place, align or self.size), lanes)

    def store(self, x: Vec, base: str, index: Int, align: int = 0) -> None:
        """Elements from an index on."""
        self.w.store(x.vector, x.value, self.place(base, index), align or self.size)

    def splat(self, base: str, index: Int) -> Vec:
        """One element in all lanes."""
        w = self.w
        value = w.load(self.type, self.place(base, index), self.size)
        return self.vec(w.splat(self.type, value, self.lanes))

    def scaling(self) -> Vec:
        """The scale in all lanes."""
        return self.vec(self.w.splat(self.type, self.scale, self.lanes))

    def factor(self, base: str, index: Int) -> Pair:
        """One complex number in all lanes."""
        at = self.w.mul(index, 2)
        return Pair(self.splat(base, at), self.splat(base, self.w.add(at, 1)))

    # ---- points: two vectors each

    def get(self, base: str, index: Int) -> Pair:
        """A point."""
        at, align = self.w.mul(index, 2 * self.lanes), self.lanes * self.size
        low = self.load(base, at, align)
        return Pair(low, self.load(base, self.w.add(at, self.lanes), align))

    def put(self, x: Pair, base: str, index: Int) -> None:
        """A point."""
        at, align = self.w.mul(index, 2 * self.lanes), self.lanes * self.size
        self.store(x.re, base, at, align)
        self.store(x.im, base, self.w.add(at, self.lanes), align)

    def turned(self, x: Pair) -> Pair:
        """Parts exchanged on the way in and out of an inverse transform."""
        return x.swapped() if self.inverse else x

    # ---- passes

    def write_passes(self, closing: bool) -> None:
        """The function that `passes` calls. closing: may a pass be the last one?"""
        arguments = (
            "ptr %plan",
            "ptr %twiddles",
            "i64 %first",
            "i64 %last",
            "ptr %near",
            "ptr %far",
        )
        with self.function("passes", *arguments):
            w = self.w
            carry = [("ptr", "%near"), ("ptr", "%far")]
            with w.loop("%first", "%last", 1, carry) as (number, current, later):
                a, b = current
                load, store = self.getter(a), self.putter(b)
                self.pass_("%plan", "%twiddles", number, load, store, True, closing)
                later[0], later[1] = b, a

    def passes(
        self, plan: str, twiddles: str, first: Int, last: Int, places: tuple[str, str]
    ) -> str:
        """Some passes between two places; the one where points are then."""
        w, (near, far) = self.w, places
        self.call(
            "passes", f"ptr {plan}", f"ptr {twiddles}", f"i64 {first}", f"i64 {last}",
            f"ptr {near}", f"ptr {far}",
        )  # fmt: skip
        odd = w.op(f"trunc i64 {w.sub(last, first)} to i1")
        return w.op(f"select i1 {odd}, ptr {far}, ptr {near}")

    def getter(self, base: str) -> Load:
        """How points are read that lie in order."""
        return lambda index: self.get(base, index)

    def putter(self, base: str) -> Store:
        """How points are written in order."""
        return lambda index, x: self.put(x, base, index)

    def pass_(
        self, plan: str, twiddles: str, number: Int, load: Load, store: Store, twisted: bool,
        plain: bool,
    ) -> None:  # fmt: skip
        """A pass, whose radix is data. twisted, plain: may there be factors, may there be none?"""
        w = self.w
        record = w.gep(plan, w.mul(number, RECORD), "i64")
        radix, m, s, at, roots = (w.word(record, k) for k in range(RECORD))
        here = self.place(twiddles, at)
        for r in self.radices:
            if r not in UNROLLED:
                continue
            with w.when(w.compare("eq", radix, r)):
                for which in ([True] if twisted else []) + ([False] if plain else []):
                    relation = "ne" if which else "eq"
                    with w.when(w.compare(relation, m, 1)):
                        self._pass(r, m, s, here if which else "", load, store)
        if any(r not in UNROLLED for r in self.radices):
            odd = w.compare("sgt", radix, 8)
            if 16 in self.radices:
                odd = w.op(f"and i1 {odd}, {w.compare('ne', radix, 16)}")
            with w.when(odd):
                self._any_pass(radix, (m, s), here, self.place(twiddles, roots), load, store)

    def _pass(self, r: int, m: Int, s: Int, twiddles: str, load: Load, store: Store) -> None:
        w = self.w
        with w.loop(0, m if twiddles else 1) as (p, _, _):
            first = w.mul(p, r - 1)
            turns = [self.factor(twiddles, w.add(first, k)) for k in range(r - 1) if twiddles]
            start, end = w.mul(s, p), w.mul(s, w.mul(p, r))
            across = w.mul(s, m) if twiddles else s
            with w.loop(0, s) as (q, _, _):
                near, far = w.add(q, start), w.add(q, end)
                xs = [load(w.add(near, w.mul(across, k))) for k in range(r)]
                for k, y in enumerate(butterfly(xs)):
                    store(w.add(far, w.mul(s, k)), y * turns[k - 1] if k and turns else y)

    def _any_pass(
        self, r: Int, sizes: tuple[Int, Int], twiddles: str, roots: str, load: Load, store: Store
    ) -> None:
        """A pass of an odd prime radix: sums and differences first, which lie on the stack."""
        w, (m, s) = self.w, sizes
        stack = w.alloca(f"[{2 * MOST_RADIX} x {self.vector}]")
        half = w.add(w.div(r, 2), 1)
        with w.loop(0, m) as (p, _, _), w.loop(0, s) as (q, _, _):
            near, far = w.add(q, w.mul(s, p)), w.add(q, w.mul(s, w.mul(p, r)))
            across = w.mul(s, m)
            first = load(near)
            begin = [(self.vector, first.re.value), (self.vector, first.im.value)]
            with w.loop(1, half, 1, begin) as (j, current, later):
                a = load(w.add(near, w.mul(across, j)))
                b = load(w.add(near, w.mul(across, w.sub(r, j))))
                total = Pair(self.vec(current[0]), self.vec(current[1])) + (a + b)
                later[0], later[1] = total.re.value, total.im.value
                self.put(a + b, stack, j)
                self.put(a - b, stack, w.add(j, MOST_RADIX // 2))
            store(far, Pair(self.vec(current[0]), self.vec(current[1])))
            none = [(self.vector, "zeroinitializer")] * 2
            with w.loop(1, half) as (k, _, _):
                with w.loop(1, half, 1, [*begin, *none, ("i64", "0")]) as (j, current, later):
                    at = w.add(current[4], k)
                    past = w.compare("sge", at, r)
                    later[4] = at = w.op(f"select i1 {past}, i64 {w.sub(at, r)}, i64 {at}")
                    a, b = self.get(stack, j), self.get(stack, w.add(j, MOST_RADIX // 2))
                    root = self.factor(roots, at)
                    now = [self.vec(x) for x in current[:4]]
                    later[0] = a.re.fma(root.re, now[0]).value
                    later[1] = a.im.fma(root.re, now[1]).value
                    later[2] = b.re.fma(root.im, now[2]).value
                    later[3] = b.im.fma(root.im, now[3]).value
                even, odd = (Pair(self.vec(current[i]), self.vec(current[i + 1])) for i in (0, 2))
                low = Pair(even.re + odd.im, even.im - odd.re)
                high = Pair(even.re - odd.im, even.im + odd.re)
                for index, y in ((k, low), (w.sub(r, k), high)):
                    turn = w.add(w.mul(p, w.sub(r, 1)), w.sub(index, 1))
                    store(w.add(far, w.mul(s, index)), y * self.factor(twiddles, turn))
