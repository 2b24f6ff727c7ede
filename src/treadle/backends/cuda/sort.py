"""Sorts along an axis, as Triton source: by the digits of keys, the last digit first.

How often each digit occurs in a line is counted once, for all passes. A pass ranks the elements of
a block by one digit, learns from the blocks before it how many of each digit come first, and moves
elements to their places. Equal digits keep their order, so all passes together are stable.

Values are moved as they are; where it is indices that are wanted, each goes along with its element.
"""

from __future__ import annotations

from dataclasses import dataclass

from treadle.backends.cuda.clear import cleared
from treadle.backends.cuda.counted import counted, is_counted
from treadle.backends.cuda.forms import INDEX_LIMIT, power_of_two
from treadle.backends.cuda.keys import (
    RAW,
    constants,
    key_bits,
    levelled,
    ordered,
    place_of,
    register_bits,
    straight,
    twisted,
)  # fmt: skip
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.network import by_network, fits
from treadle.backends.cuda.ops import with_helpers
from treadle.backends.cuda.radix import (
    ADD,
    COUNT,
    DIGIT,
    DIGITS,
    FIELDS,
    LANE,
    LOAD,
    MANY,
    MOVE,
    ONE,
    RANK,
    ROW,
    STEP,
    STORE,
    SUMS,
)  # fmt: skip
from treadle.backends.cuda.scan import sizes_of
from treadle.base.dtypes import DType, int32, int64, uint32, uint64
from treadle.ir.node import Node

BLOCK = 2048  # elements of a program
WARPS = 8
SEEN = 32  # blocks that a program looks back at, at a time
ROWS = 128  # rows of a program that counts
QUAD = 4  # elements of a row
TURNS = 32  # of its loop, in each of which a byte grows by 4 at most
WIDEST = 16  # bytes that are loaded at once
MOST = 1 << 29  # elements of a line that are counted in 32 bits, beside what a word says
VALUES = "values"
"""Last in the arg of a sort whose result is the elements, not their indices."""


@dataclass(frozen=True)
class Memory:
    """What passes move elements between: packed with an index, beside one, or alone."""

    item: DType
    packed: bool = False  # the index is the upper half of an item
    beside: bool = False  # indices lie in memory of their own


def memory_of(d: DType, values: bool) -> Memory:
    """For elements of a dtype."""
    if values:
        return Memory(RAW[d.size])
    return Memory(uint64, beside=True) if d.size == 8 else Memory(uint64, packed=True)


class Sort:
    """One sort on its way to launches."""

    def __init__(self, node: Node, source: Node, name: str) -> None:
        self.node, self.source, self.name = node, source, name
        self.outer, self.n, self.inner = sizes_of(node)
        self.lines, self.descending = self.outer * self.inner, bool(node.arg[1])
        self.d, self.values = source.dtype, VALUES in node.arg
        self.memory = memory_of(self.d, self.values)
        self.counted = is_counted(self.lines, self.n)
        self.alone = self.counted or fits(self.d, self.n)  # one kernel does it
        self.block = max(LANE, min(BLOCK, power_of_two(self.n)))
        self.blocks = -(-self.n // self.block)
        self.passes = -(-key_bits(self.d) // DIGIT)
        self.word: DType = int32 if self.n < MOST else int64
        self.tickets = self.passes * self.lines
        self.totals = self.tickets * DIGITS
        self.states = self.tickets * DIGITS * self.blocks if self.blocks > 1 else 0
        self.words = self.tickets + self.totals + self.states
        self.wide = max(self.lines * self.n, self.words) >= INDEX_LIMIT

    def temporaries(self) -> dict[str, int]:
        """Elements on their way, twice, and what is counted."""
        if not self.lines * self.n or self.alone:
            return {}
        found = {self._at("counts"): self.words * self.word.size} if self.blocks > 1 else {}
        for k in (0, 1)[: self.passes - 1]:
            found[self._at(f"items {k}")] = self.lines * self.n * self.memory.item.size
            if self.memory.beside:
                found[self._at(f"indices {k}")] = self.lines * self.n * uint32.size
        return found

    def launches(self) -> list[Launch]:
        """Counting, and a kernel for every digit."""
        if not self.lines * self.n:
            return []
        if self.alone:
            return [self._alone()]
        passes = [self._move(k) for k in range(self.passes)]
        if self.blocks == 1:
            return passes
        return [cleared(self._at("counts"), self.word, self.words), self._count(), *passes]

    def _alone(self) -> Launch:
        sizes, memory = (self.lines, self.n, self.inner), (self.source, self.node)
        make = counted if self.counted else by_network
        return make(self.d, self.descending, self.values, sizes, self.wide, memory)

    def _at(self, what: str) -> str:
        return f"{what} of sort {self.name}"

    def _count(self) -> Launch:
        """How often each digit occurs in a line, for all passes."""
        add = Arguments()
        add.memory("x", RAW[self.d.size], self.source)
        add.memory("counts", self.word, self._at("counts"))
        parts = -(-self.n // (QUAD * ROWS * TURNS))
        numbers = {"n": self.n, "inner": self.inner, "lines": self.lines, "tickets": self.tickets,
                   "parts": parts}  # fmt: skip
        for name, value in numbers.items():
            add.integer(name, value, self.wide)
        passes = range(self.passes)
        text = FIELDS + COUNT.format(
            wide=".to(tl.int64)" * self.wide,
            inside=_inside(self.n, QUAD * ROWS * TURNS),
            zeros="\n    ".join(SUMS.format(k=k) for k in passes),
            at=place_of("k", self.inner), kind=f"tl.{register_bits(self.d).name}",
            keys="\n        ".join(ordered(self.d, self.descending)),
            step="\n        ".join(STEP.format(k=k, shift=DIGIT * k) for k in passes),
            last="\n    ".join(ADD.format(k=k) for k in passes),
        )  # fmt: skip
        sizes = {"ROWS": ROWS, "TURNS": TURNS, "DIGITS": DIGITS, "QUAD": QUAD}
        source = add.source(with_helpers(text), sizes, 4)
        return Launch(source, (parts * self.lines, 1), add.values, self.lines * self.n)

    def _move(self, number: int) -> Launch:
        """The pass of a digit."""
        first, last, memory = number == 0, number == self.passes - 1, self.memory
        add = Arguments()
        if first:
            add.memory("x", RAW[self.d.size], self.source)
        else:
            add.memory("x", memory.item, self._at(f"items {(number - 1) % 2}"))
            if memory.beside:
                add.memory("indices", uint32, self._at(f"indices {(number - 1) % 2}"))
        if last:
            add.memory("y", RAW[self.d.size] if self.values else int64, self.node)
        else:
            add.memory("y", memory.item, self._at(f"items {number % 2}"))
            if memory.beside:
                add.memory("to_indices", uint32, self._at(f"indices {number % 2}"))
        if self.blocks > 1:
            add.memory("counts", self.word, self._at("counts"))
        names = ", ".join(name for name, _ in add.types)
        numbers = {
            "n": self.n, "inner": self.inner, "lines": self.lines, "blocks": self.blocks,
            "tickets": self.tickets, "number": number,
        }  # fmt: skip
        for name, value in numbers.items():
            add.integer(name, value, self.wide and name != "number")
        piece = piece_of(RAW[self.d.size] if first else memory.item)
        pieces = range(LANE // piece)
        inside = _inside(self.n, self.block)
        wide, parts = ".to(tl.int64)" * self.wide, MANY if self.blocks > 1 else ONE
        unit = 1 << (29 if self.word is int32 else 60)
        text = FIELDS + MOVE.format(
            arguments=names, line="0" if self.lines == 1 else f"tl.program_id(0){wide} // blocks",
            word=f"tl.{self.word.name}", unit=unit,
            **{name: part.format(unit=unit) for name, part in parts.items()},
            constants="\n    ".join(constants(self.d)),
            load="\n    ".join(
                LOAD.format(p=p, start=p * piece, inside=inside, load=self._loads(first, p))
                for p in pieces
            ),
            rank="\n    ".join(RANK.format(p=p) for p in pieces),
            stores="\n    ".join(STORE.format(p=p, store=self._stores(last, p)) for p in pieces),
        )  # fmt: skip
        row = min(ROW, self.block)
        sizes = {"BLOCK": self.block, "ROW": row, "LANE": LANE, "PIECE": piece, "DIGITS": DIGITS,
                 "SEEN": SEEN}  # fmt: skip
        warps = max(1, min(WARPS, self.block * WARPS // BLOCK))
        source = add.source(with_helpers(text), sizes, warps)
        return Launch(source, (self.blocks * self.lines, 1), add.values, self.lines * self.n)

    def _loads(self, first: bool, p: int) -> str:
        """Lines that find items, indices and keys: of the operand, or as a pass has left them."""
        memory, kind = self.memory, f"tl.{register_bits(self.d).name}"
        if first:
            at, keys = place_of("k", self.inner), twisted(self.d, self.descending)
            lines = [f"bits = tl.load(x + {at}, mask=inside{p}, other=0).to({kind})", *keys]
            if self.values:
                lines += [f"item{p} = key", *levelled(self.d)]
            elif memory.packed:
                lines += [
                    *levelled(self.d),
                    f"item{p} = key.to(tl.uint64) | (k.to(tl.uint64) << 32)",
                ]
            else:
                lines += [*levelled(self.d), f"item{p} = key", f"index{p} = k.to(tl.uint32)"]
            return "\n    ".join(lines)
        lines = [
            f"item{p} = tl.load(x + line * n + k, mask=inside{p}, other=0)",
            f"key = item{p}.to({kind})",
            *(levelled(self.d) if self.values else ()),
        ]
        if memory.beside:
            load = f"tl.load(indices + line * n + k, mask=inside{p}, other=0)"
            lines.append(f"index{p} = {load}")
        return "\n    ".join(lines)

    def _stores(self, last: bool, p: int) -> str:
        memory, lines = self.memory, []
        at, item = "line * n + place", f"item{p}.to(tl.{self.memory.item.name})"
        if last:
            at, item = place_of("place", self.inner), f"index{p}.to(tl.int64)"
            if self.values:
                lines = [f"key = item{p}.to(tl.{register_bits(self.d).name})"]
                lines += straight(self.d, self.descending)
                item = f"bits.to(tl.{memory.item.name})"
            elif memory.packed:
                item = f"(item{p} >> 32).to(tl.int64)"
        lines.append(f"tl.store(y + {at}, {item}, mask=inside{p})")
        if memory.beside and not last:
            lines.append(f"tl.store(to_indices + line * n + place, index{p}, mask=inside{p})")
        return "\n    ".join(lines)


def piece_of(d: DType) -> int:
    """Elements that a lane loads at once."""
    return min(LANE, WIDEST // d.size)


def _inside(n: int, block: int) -> str:
    """Which elements of a block are there? The compiler leaves out what is always true."""
    return "k < n" if n % block else "tl.full(k.shape, 1, tl.int1)"
