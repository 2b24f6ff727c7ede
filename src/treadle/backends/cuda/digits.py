"""What a radix sort in PTX sorts by: the kind of a sort, digits of keys, where lines lie."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.backends.cuda.forms import power_of_two
from treadle.backends.cuda.keys import key_bits
from treadle.backends.cuda.ptx import Value, Writer
from treadle.base.dtypes import DType, bool_

DIGIT = 8  # bits
DIGITS = 1 << DIGIT
TABLE = 4 * DIGITS  # bytes of a count for each
WARP = 32
MOST = 1 << 30  # elements of a line whose numbers leave two bits of a word of 32
BLOCKS = {1: (256, 20, 4), 2: (256, 20, 4), 4: (256, 20, 4), 8: (512, 10, 2), 12: (512, 8, 2)}
"""By bytes of an element and its index: threads of a block that moves them, elements of each, and
blocks that a processor is to hold, which limits registers."""

Made = tuple[str, int, int]
"""A text, its bytes of shared memory, its warps."""


@dataclass(frozen=True)
class Kind:
    """What is sorted, and how it is moved: alone, with its index above it, or with one beside."""

    d: DType
    descending: bool
    values: bool  # no indices
    strided: bool  # elements of a line lie apart
    many: bool  # blocks in a line
    word: int  # bytes of a count
    threads: int
    held: int  # items of a thread
    resident: int  # blocks of a processor

    @property
    def packed(self) -> bool:
        """Are items keys with their index above them?"""
        return not self.values and self.d.size < 8

    @property
    def beside(self) -> bool:
        """Are indices in memory of their own?"""
        return not self.values and self.d.size == 8

    @property
    def item(self) -> int:
        """Bytes of an item between passes."""
        return 8 if self.packed else self.d.size

    @property
    def tile(self) -> int:
        """Items of a block."""
        return self.held * self.threads

    @property
    def passes(self) -> int:
        """Digits of a key."""
        return -(-key_bits(self.d) // DIGIT)

    @property
    def key(self) -> int:
        """Bits of a register that holds a key."""
        return 64 if self.d.size == 8 else 32


def kind_of(d: DType, descending: bool, values: bool, strided: bool, n: int) -> Kind:
    """Of lines of n elements."""
    nbytes = d.size if values else 12 if d.size == 8 else 8
    threads, held, resident = BLOCKS[nbytes]
    word, many = 4 if n < MOST else 8, n > threads * held
    if n <= DIGITS * held:
        threads = DIGITS  # no fewer: each has a digit
    if not many:
        held = min(held, power_of_two(-(-n // threads)))
    return Kind(d, descending, values, strided, many, word, threads, held, resident)


# ---- keys: NaN is the largest, and zeros are equal once they are levelled


def twisted(w: Writer, bits: Value, kind: Kind) -> Value:
    """Numbers in the order of elements, which can be had back but for NaN."""
    d, every = kind.d, (1 << 8 * kind.d.size) - 1
    sign = every ^ (every >> 1)
    if d is bool_:
        key = w.choose(bits.differs(0), 1, 0, kind.key)
    elif d.is_float:
        top = every >> 1
        finite = top ^ ((1 << d.mantissa) - 1) if d.has_infinity else top - 1
        key = bits ^ w.choose((bits & sign).differs(0), every, sign, kind.key)
        key = w.choose((bits & top) > finite, every, key, kind.key)
    else:
        key = bits ^ sign if d.least < 0 else bits
    return key ^ every if kind.descending else key


def levelled(w: Writer, key: Value, kind: Kind) -> Value:
    """The same for both zeros."""
    if not kind.d.is_float:
        return key
    top = (1 << (8 * kind.d.size - 1)) - 1
    return w.choose(key.equals(top), top + 1, key, kind.key)


def straight(w: Writer, key: Value, kind: Kind) -> Value:
    """Bits of an element, of its twisted key."""
    d, every = kind.d, (1 << 8 * kind.d.size) - 1
    sign = every ^ (every >> 1)
    key = key ^ every if kind.descending else key
    if d is bool_:
        return key & 1
    if d.is_float:
        return key ^ w.choose((key & sign).differs(0), sign, every, kind.key)
    return key ^ sign if d.least < 0 else key


# ---- lines


class Line:
    """Where the elements of a line lie."""

    def __init__(self, w: Writer, kind: Kind, line: Value) -> None:
        self.w, self.line, self.n = w, line, w.parameter("n")
        self.inner = w.parameter("inner") if kind.strided else None

    def outside(self, base: str, size: int) -> tuple[Value, Value | int]:
        """The address of the first, and bytes between two, in memory of the program's."""
        if self.inner is None:
            return self.inside(base, size)
        first = self.line // self.inner * self.n * self.inner + self.line % self.inner
        return self.w.parameter(base) + first * size, self.inner * size

    def inside(self, base: str, size: int) -> tuple[Value, Value | int]:
        """The same in memory between passes."""
        return self.w.parameter(base) + self.line * self.n * size, size


def at(k: Value, first: Value, step: Value | int) -> Value:
    """The address of element k."""
    return first + k.as_bits(64) * step


def further(address: Value, step: Value | int, count: int) -> tuple[Value, int]:
    """So many elements on: an address, and bytes from there that need no register."""
    if isinstance(step, int):
        return address, step * count
    return address + step * count, 0
