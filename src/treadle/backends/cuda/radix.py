"""A pass of a radix sort: a kernel in PTX that moves elements to their places by one digit.

Each warp counts the digits of its own elements in a table, the tables are added up, and then
elements are ranked: lanes with one digit see each other, the lowest of them writes on in the table.
Elements go to their ranks in shared memory and from there to their places, where those of one digit
lie side by side.

Blocks take tickets, so that who waits waits for work that was begun. Each says how many elements
of every digit it has, and then, once it knows, where elements after its own belong: a word is such
a number and in its two highest bits 1 for the former and 2 for the latter. Nothing else tells
blocks that a word is there, so no order of memory is needed.
"""

from __future__ import annotations

from functools import lru_cache

from treadle.backends.cuda.digits import (
    DIGIT,
    DIGITS,
    TABLE,
    WARP,
    Kind,
    Line,
    Made,
    at,
    further,
    levelled,
    straight,
    twisted,
)
from treadle.backends.cuda.ptx import Value, Writer


@lru_cache(maxsize=256)
def moving(kind: Kind, first: bool, last: bool, names: tuple[str, ...]) -> Made:
    """The kernel of one digit; names: of its arguments."""
    return Move(kind, first, last, names).made()


class Move:
    """One such kernel on its way."""

    def __init__(self, kind: Kind, first: bool, last: bool, names: tuple[str, ...]) -> None:
        self.kind, self.first, self.last = kind, first, last
        self.w = w = Writer(names)
        self.items: list[Value] = []
        self.indices: list[Value] = []
        self.warps = kind.threads // WARP
        self.thread = w.number("%tid.x")
        self.lane, self.warp = self.thread % WARP, self.thread // WARP
        self.bases = self.warps * TABLE
        self.sums = self.bases + DIGITS * kind.word
        self.line_sums = self.sums + 4 * self.warps
        self.ticket = self.line_sums + kind.word * self.warps
        self.tile = self.ticket + 8
        self.shared = self.tile + kind.tile * max(4, kind.item)
        self.memory = w.shared()
        self.owns = self.thread < DIGITS  # a digit

    def made(self) -> Made:
        """The kernel."""
        w, kind = self.w, self.kind
        program = w.number("%ctaid.x")
        line = program // w.parameter("blocks").as_bits(32) if kind.many else program
        self.line = Line(w, kind, line.as_bits(64))
        self.number = w.parameter("number")
        self.shift = self.number.as_bits(32) * DIGIT
        self._begin()
        self._load()
        self._count()
        self._rank()
        if kind.many:
            self._look_back()
        w.barrier()
        self._store()
        return w.text(kind.threads, kind.resident), self.shared, self.warps

    def _begin(self) -> None:
        """Tables of zeros, and which block it is."""
        w, kind = self.w, self.kind
        mine = self.memory + self.thread * 4
        for k in range(self.warps * DIGITS // kind.threads):
            w.store("shared", 4, mine, 0, 4 * kind.threads * k)
        self.block = w.number(0)
        if kind.many:
            lines = w.parameter("lines")
            self.row = self.number * lines + self.line.line  # of this line in this pass
            with w.when(self.thread.equals(0)):
                at_ticket = w.parameter("counts") + self.row * kind.word
                what = f"atom.relaxed.gpu.global.add.u{8 * kind.word}"
                taken = w.op(what, 8 * kind.word, f"[{at_ticket.name}]", 1)
                w.store("shared", 4, self.memory, taken.as_bits(32), self.ticket)
        w.barrier()
        if kind.many:
            self.block = w.load("shared", 4, self.memory, self.ticket)

    def _load(self) -> None:
        """Items in registers; those that are not there are last in order."""
        w, kind = self.w, self.kind
        start = self.block.as_bits(64) * kind.tile
        self.count = (self.line.n - start).smaller(kind.tile).as_bits(32)
        own = self.warp * (WARP * kind.held) + self.lane
        k = start + own.as_bits(64)
        size = kind.d.size if self.first else kind.item
        lies = self.line.outside if self.first else self.line.inside
        line_at, step = lies("x", size)
        own_at = at(k, line_at, step)
        there = [own + WARP * j < self.count for j in range(kind.held)]
        for j, where in enumerate(there):
            item = w.number(-1, max(32, 8 * size))
            address = further(own_at, step, WARP * j)
            self.items.append(w.load("global", size, *address, where, item))
        if kind.beside and not self.first:
            own_at = at(k, *self.line.inside("indices", 4))
            for j, where in enumerate(there):
                self.indices.append(w.load("global", 4, own_at, 4 * WARP * j, where))
        if self.first:
            self._take(k.as_bits(32), there)

    def _take(self, k: Value, there: list[Value]) -> None:
        """Elements as items."""
        w, kind = self.w, self.kind
        for j, bits in enumerate(self.items):
            key = twisted(w, bits, kind)
            if not kind.values:
                key = levelled(w, key, kind)
            key = w.choose(there[j], key, -1, kind.key)
            index = k + WARP * j
            if kind.packed:
                key = key.as_bits(64) | index.as_bits(64) << 32
            elif kind.beside:
                self.indices.append(index)
            self.items[j] = key

    def _digit(self, item: Value) -> Value:
        """Four times the digit of an item."""
        key = item.as_bits(self.kind.key)
        key = levelled(self.w, key, self.kind) if self.kind.values else key
        return ((key >> self.shift).as_bits(32) & DIGITS - 1) * 4

    def _count(self) -> None:
        """Tables of digits, then what comes before in this block, then where digits begin in it."""
        w, kind = self.w, self.kind
        own = self.memory + self.warp * TABLE
        self.places = [own + self._digit(item) for item in self.items]
        for place in self.places:
            w.add_to("shared", 4, place, 1)
        w.barrier()
        mine = self.memory + self.thread * 4
        self.mine, counts = w.number(0), []
        with w.when(self.owns):
            for k in range(self.warps):
                found = w.load("shared", 4, mine, TABLE * k)
                counts.append(self.mine)
                self.mine = self.mine + found
        total = w.number(0)
        w.assign(total, self.mine, self.owns)
        self.mine = total
        if kind.many:
            self._say_first(total)
        self.begin = self._before(total, self.sums)
        with w.when(self.owns):
            for k, count in enumerate(counts):
                w.store("shared", 4, mine, self.begin + count, TABLE * k)
        w.barrier()

    def _before(self, value: Value, sums: int) -> Value:
        """The sum of what lower threads have; sums: where each warp writes its own."""
        w, so_far, size = self.w, value, value.bits // 8
        for distance in (1, 2, 4, 8, 16):
            lower = w.from_lower(so_far, distance)
            so_far = so_far + w.choose(self.lane >= distance, lower, 0, value.bits)
        last = self.lane.equals(WARP - 1)
        w.store("shared", size, self.memory + self.warp * size, so_far, sums, last)
        w.barrier()
        for k in range(DIGITS // WARP - 1):
            found = w.load("shared", size, self.memory, sums + size * k)
            so_far = so_far + w.choose(self.warp > k, found, 0, value.bits)
        return so_far - value

    def _rank(self) -> None:
        """Items to their ranks in shared memory."""
        w, kind = self.w, self.kind
        below = w.number("%lanemask_lt")
        for j, place in enumerate(self.places):
            same = self._same(place)
            found = w.load("shared", 4, place)
            w.warp_barrier()
            lower = same & below
            w.store("shared", 4, place, found + same.ones(), where=lower.equals(0))
            w.warp_barrier()
            self.places[j] = found + lower.ones()
        size = max(4, kind.item)
        for item, place in zip(self.items, self.places, strict=True):
            w.store("shared", size, self.memory + place * size, item, self.tile)

    def _same(self, place: Value) -> Value:
        """Lanes with the same digit: they agree with this one in every bit."""
        w, same = self.w, self.w.number(-1)
        for k in range(2, 2 + DIGIT):  # tables lie at multiples of their size, words at those of 4
            mine = (place & 1 << k).differs(0)
            same = same & (w.votes(mine) ^ w.choose(mine, 0, -1, 32))
        return same

    # ---- blocks of a line

    def _say_first(self, total: Value) -> None:
        """Tell later blocks what this one has; the first of a line knows where it belongs, too."""
        w, word = self.w, self.kind.word
        block = self.row * w.parameter("blocks") + self.block.as_bits(64)
        words = w.parameter("tickets") * (1 + DIGITS) + block * DIGITS + self.thread.as_bits(64)
        self.own = w.parameter("counts") + words * word
        self.before = w.number(0, 8 * word)
        flag = w.number(1 << (8 * word - 2), 8 * word)
        with w.when(self.block.equals(0)):
            w.assign(self.before, self._line_begin())
            w.assign(flag, 2 << (8 * word - 2))
        self._say(self.before + total.as_bits(8 * word) | flag)

    def _say(self, marked: Value) -> None:
        w, word = self.w, self.kind.word
        w.store("relaxed.gpu.global", word, self.own, marked, where=self.owns)

    def _line_begin(self) -> Value:
        """Where the thread's digit begins in the line."""
        w, kind = self.w, self.kind
        words = w.parameter("tickets") + self.row * DIGITS + self.thread.as_bits(64)
        address, total = w.parameter("counts") + words * kind.word, w.number(0, 8 * kind.word)
        w.load("global", kind.word, address, where=self.owns, into=total)
        return self._before(total, self.line_sums)

    def _look_back(self) -> None:
        """Where the block's elements of each digit belong, less where they are in it."""
        w, kind = self.w, self.kind
        bits = 8 * kind.word
        with w.when(w.both(self.owns, self.block > 0)):
            self._add_up()
            self._say(self.before + self.mine.as_bits(bits) | 2 << (bits - 2))
        with w.when(self.owns):
            base = self.before - self.begin.as_bits(bits)
            mine = self.memory + self.thread * kind.word
            w.store("shared", kind.word, mine, base, self.bases)

    def _add_up(self) -> None:
        """What blocks say, from the one before on back to one that knows all."""
        w, bits, apart = self.w, self.before.bits, DIGITS * self.kind.word
        address = self.own - apart
        with w.repeat() as end:
            said = w.load("relaxed.gpu.global", self.kind.word, address)
            there = said >= 1 << (bits - 2)
            known = said & (1 << (bits - 2)) - 1
            w.assign(self.before, self.before + w.choose(there, known, 0, bits))
            w.do(f"bra {end}", where=said >= 1 << (bits - 1))
            w.assign(address, address - w.choose(there, apart, 0, 64))

    def _store(self) -> None:
        """Items from shared memory to their places."""
        w, kind = self.w, self.kind
        size, stride = max(4, kind.item), kind.threads
        to, step = self._target()
        mine, places = self.memory + self.thread * size, []
        for j in range(kind.held):
            item = w.load("shared", size, mine, self.tile + stride * size * j)
            place, there = self.thread + stride * j, self.thread + stride * j < self.count
            place = place.as_bits(8 * kind.word)
            if kind.many:
                digit = self.memory + self._digit(item) * (kind.word // 4)
                place = place + w.load("shared", kind.word, digit, self.bases)
            places.append((place, there))
            self._put(item, at(place, to, step), there)
        if kind.beside:
            self._store_indices(places)

    def _target(self) -> tuple[Value, Value | int]:
        kind = self.kind
        if not self.last:
            return self.line.inside("y", kind.item)
        return self.line.outside("y", kind.d.size if kind.values else 8)

    def _put(self, item: Value, address: Value, there: Value) -> None:
        w, kind = self.w, self.kind
        if not self.last:
            w.store("global", kind.item, address, item, where=there)
        elif kind.values:
            w.store("global", kind.d.size, address, straight(w, item, kind), where=there)
        elif kind.packed:
            w.store("global", 8, address, item >> 32, where=there)

    def _store_indices(self, places: list[tuple[Value, Value]]) -> None:
        """The same for indices that lie beside."""
        w = self.w
        w.barrier()
        for index, place in zip(self.indices, self.places, strict=True):
            w.store("shared", 4, self.memory + place * 4, index, self.tile)
        w.barrier()
        to, step = self._target() if self.last else self.line.inside("to_indices", 4)
        mine = self.memory + self.thread * 4
        for j, (place, there) in enumerate(places):
            index = w.load("shared", 4, mine, self.tile + 4 * self.kind.threads * j)
            size = 8 if self.last else 4
            index = index.as_bits(8 * size)
            w.store("global", size, at(place, to, step), index, where=there)
