"""Running totals of long lines in one pass over memory, as Triton source.

A block says its total as soon as it knows it, and waits for those before it. Blocks stand in
groups, whose last one says the total of all: so everyone joins the totals of groups, and those of
blocks of its own group, always in the same order, and two runs are equal to the last bit.

A number travels as words of 32 bits with a flag above them. Whoever sees the flag has the number,
so no order of memory is needed. Blocks take tickets: who waits, waits for work that was begun.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from treadle.backends.cuda.clear import cleared
from treadle.backends.cuda.forms import INDEX_LIMIT, power_of_two
from treadle.backends.cuda.functions import with_functions
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.narrow import loaded, stored
from treadle.backends.cuda.ops import register_type
from treadle.base.dtypes import DType, int64
from treadle.base.sizes import most

SPAN = 8192  # elements of a block, where they have 32 bits
WARPS = 4
TEXT = """
@triton.jit
def waited(at, there):
    word = tl.load(at, mask=there, other=4294967296, volatile=True)
    while tl.min(word) < 4294967296:
        word = tl.load(at, mask=there, other=4294967296, volatile=True)
    return word & 4294967295

{words}

@triton.jit
def kernel(x, y, said, n, blocks, groups, totals, SPAN: tl.constexpr, GROUP: tl.constexpr,
           GROUPS: tl.constexpr):
    number = tl.atomic_add(said, 1, sem="relaxed")
    line = {line}
    block = (number % blocks).to(tl.int32)
    k = block{wide} * SPAN + tl.arange(0, SPAN)[None, :]
    inside = k < n
    value = {load}
    value = tl.where(inside, value, {start})
    total = tl.reduce(value, 1, join, keep_dims=True).to({kind})
    here = said + 1 + line * blocks * {each}
    one = tl.zeros((1, 1), tl.int32)
    say(here + block * {each} + one, total)
    found = tl.associative_scan(value, 1, join).to({kind})
    group = block // GROUP
    mate = group * GROUP + tl.arange(0, GROUP)[None, :]
    carry = tl.where(mate < block, heard(here + mate * {each}, mate < block), {identity})
    carry = tl.reduce(carry, 1, join, keep_dims=True)
    there = said + totals + line * groups * {each}
    if block % GROUP == GROUP - 1:
        say(there + group * {each} + one, join(carry, total))
    other = tl.arange(0, GROUPS)[None, :]
    first = tl.where(other < group, heard(there + other * {each}, other < group), {identity})
    carry = join(tl.reduce(first, 1, join, keep_dims=True), carry)
    found = join(carry, found)
    tl.store(y + line * n + k, {found}, mask=inside)
"""
LONG = """
@triton.jit
def say(at, value):
    bits = value.to(tl.uint64, bitcast=True)
    tl.atomic_xchg(at, ((bits >> 32) | 4294967296).to(tl.int64), sem="relaxed")
    tl.atomic_xchg(at + 1, ((bits & 4294967295) | 4294967296).to(tl.int64), sem="relaxed")

@triton.jit
def heard(at, there):
    high = waited(at, there)
    low = waited(at + 1, there)
    return ((high << 32) | low).to({kind}, bitcast=True)
"""
SHORT = """
@triton.jit
def say(at, value):
    bits = {bits}
    tl.atomic_xchg(at, bits.to(tl.int64) | 4294967296, sem="relaxed")

@triton.jit
def heard(at, there):
    return {back}
"""


def _words(kind: DType) -> str:
    """How a number travels."""
    own = register_type(kind)
    if kind.size == 8:
        return LONG.format(kind=own)
    if kind.is_float:
        back = f"waited(at, there).to(tl.uint32).to({own}, bitcast=True)"
        return SHORT.format(bits="value.to(tl.uint32, bitcast=True)", back=back)
    bits = "value.to(tl.int32).to(tl.uint32, bitcast=True)"
    return SHORT.format(bits=bits, back=f"waited(at, there).to({own})")


@dataclass(frozen=True)
class OnePass:
    """A running total of lines that lie one after the other.

    join: the text of the function that joins two numbers; start and identity: what it starts from,
    as an element and as what is carried.
    """

    lines: int
    n: int
    dtype: DType
    kind: DType  # what is carried
    join: str
    start: str
    identity: str
    costly: bool  # is joining much work? Then a block is short: its text grows with its elements

    @property
    def span(self) -> int:
        """Elements of a block."""
        span = SPAN * 4 // max(4, self.dtype.compute.size)
        return max(1, span // 4) if self.costly else span

    @property
    def blocks(self) -> int:
        """Of a line."""
        return -(-self.n // self.span)

    @property
    def group(self) -> int:
        """Blocks of a group."""
        return power_of_two(isqrt(most(self.blocks) - 1) + 1)

    @property
    def groups(self) -> int:
        """Of a line."""
        return -(-self.blocks // self.group)

    @property
    def words(self) -> int:
        """That blocks tell each other, and the ticket."""
        return 1 + self.lines * (self.blocks + self.groups) * self._each

    @property
    def _each(self) -> int:
        return max(1, self.kind.size // 4)

    def launches(self, source: object, result: object, temporary: str) -> list[Launch]:
        """The kernels, in order."""
        wide = most(self.lines * self.n) >= INDEX_LIMIT
        add = Arguments()
        add.memory("x", self.dtype, source)
        add.memory("y", self.dtype, result)
        add.memory("said", int64, temporary)
        totals = 1 + self.lines * self.blocks * self._each
        numbers = {"n": self.n, "blocks": self.blocks, "groups": self.groups, "totals": totals}
        for name, value in numbers.items():
            add.integer(name, value, wide)
        found = stored(f"found.to({register_type(self.dtype)})", self.dtype)
        text = TEXT.format(
            words=_words(self.kind), wide=".to(tl.int64)" * wide, each=self._each, found=found,
            line="number // blocks" if wide else "(number // blocks).to(tl.int32)",
            load=loaded("tl.load(x + line * n + k, mask=inside, other=0)", self.dtype),
            start=self.start, identity=self.identity, kind=register_type(self.kind),
        )  # fmt: skip
        sizes = {"SPAN": self.span, "GROUP": self.group, "GROUPS": power_of_two(most(self.groups))}
        code = add.source(with_functions(self.join + text), sizes, WARPS)
        size = self.lines * self.n
        launch = Launch(code, (self.lines * self.blocks, 1), add.values, size)
        return [cleared(temporary, int64, self.words), launch]
