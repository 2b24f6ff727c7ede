"""Sorts along an axis: by the digits of keys, the last digit first.

How often each digit occurs in a line is counted once, for all passes. A pass ranks the elements of
a block by one digit, learns from the blocks before it where its elements of each digit belong, and
moves them there. Equal digits keep their order, so all passes together are stable. See `radix.py`.

Values are moved as they are; where it is indices that are wanted, each goes along with its element.
"""

from __future__ import annotations

from treadle.backends.cuda.clear import cleared
from treadle.backends.cuda.counted import counted, is_counted
from treadle.backends.cuda.digits import DIGITS, Made, kind_of
from treadle.backends.cuda.forms import INDEX_LIMIT
from treadle.backends.cuda.keys import RAW
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.network import by_network, fits
from treadle.backends.cuda.radix import moving
from treadle.backends.cuda.scan import sizes_of
from treadle.backends.cuda.tally import TURN, counting
from treadle.base.dtypes import int64, uint32
from treadle.base.sizes import most
from treadle.ir.node import Node

PROGRAMS = 2048  # that count, if each has enough to do
TURNS = 64  # that one of them takes at most
VALUES = "values"
"""Last in the arg of a sort whose result is the elements, not their indices."""


class Sort:
    """One sort on its way to launches."""

    def __init__(self, node: Node, source: Node, name: str) -> None:
        self.node, self.source, self.name = node, source, name
        self.outer, self.n, self.inner = sizes_of(node)
        self.lines, self.descending = self.outer * self.inner, bool(node.arg[1])
        self.d, self.values = source.dtype, VALUES in node.arg
        self.counted = is_counted(most(self.lines), most(self.n))
        self.alone = self.counted or fits(self.d, most(self.n))  # one kernel does it
        how = self.descending, self.values, self.inner > 1
        self.kind = kind = kind_of(self.d, *how, most(self.n))
        self.word = RAW[kind.word]
        self.blocks = -(-self.n // kind.tile)
        self.tickets = kind.passes * self.lines
        self.words = self.tickets * (1 + DIGITS + DIGITS * self.blocks)

    def temporaries(self) -> dict[str, int]:
        """Elements on their way, twice, and what is counted."""
        if not self.lines * self.n or self.alone:
            return {}
        found = {self._at("counts"): self.words * self.word.size} if self.kind.many else {}
        for k in (0, 1)[: self.kind.passes - 1]:
            found[self._at(f"items {k}")] = self.lines * self.n * self.kind.item
            if self.kind.beside:
                found[self._at(f"indices {k}")] = self.lines * self.n * uint32.size
        return found

    def launches(self) -> list[Launch]:
        """Counting, and a kernel for every digit."""
        if not self.lines * self.n:
            return []
        if self.alone:
            return [self._alone()]
        passes = [self._move(k) for k in range(self.kind.passes)]
        if not self.kind.many:
            return passes
        return [cleared(self._at("counts"), self.word, self.words), self._count(), *passes]

    def _alone(self) -> Launch:
        sizes, memory = (self.lines, self.n, self.inner), (self.source, self.node)
        wide = most(self.lines * self.n) >= INDEX_LIMIT
        make = counted if self.counted else by_network
        return make(self.d, self.descending, self.values, sizes, wide, memory)

    def _at(self, what: str) -> str:
        return f"{what} of sort {self.name}"

    def _launch(self, add: Arguments, made: Made, grid: int) -> Launch:
        text, shared, warps = made
        return Launch(add.written(text, shared, warps), (grid, 1), add.values, self.lines * self.n)

    def _count(self) -> Launch:
        """How often each digit occurs in a line, for all passes."""
        add = Arguments()
        add.memory("x", RAW[self.d.size], self.source)
        add.memory("counts", self.word, self._at("counts"))
        turns = min(TURNS, -(-most(self.lines * self.n) // (PROGRAMS * TURN)))
        parts = -(-self.n // (TURN * turns))
        self._numbers(add, parts=parts, turns=turns)
        return self._launch(add, counting(self.kind, add.names), parts * self.lines)

    def _move(self, number: int) -> Launch:
        """The pass of a digit."""
        first, last, kind = number == 0, number == self.kind.passes - 1, self.kind
        raw, item = RAW[self.d.size], RAW[kind.item]
        add = Arguments()
        if first:
            add.memory("x", raw, self.source)
        else:
            add.memory("x", item, self._at(f"items {(number - 1) % 2}"))
            if kind.beside:
                add.memory("indices", uint32, self._at(f"indices {(number - 1) % 2}"))
        if last:
            add.memory("y", raw if self.values else int64, self.node)
        else:
            add.memory("y", item, self._at(f"items {number % 2}"))
            if kind.beside:
                add.memory("to_indices", uint32, self._at(f"indices {number % 2}"))
        if kind.many:
            add.memory("counts", self.word, self._at("counts"))
        self._numbers(add, blocks=self.blocks, number=number)
        made = moving(kind, first, last, add.names)
        return self._launch(add, made, self.blocks * self.lines)

    def _numbers(self, add: Arguments, **more: int) -> None:
        numbers = {"n": self.n, "inner": self.inner, "lines": self.lines, "tickets": self.tickets}
        for name, value in {**numbers, **more}.items():
            add.integer(name, value, wide=True)
