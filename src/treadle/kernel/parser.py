"""The text of a signature read back as the kernel it describes: all that emitters are given."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from treadle.base.dtypes import ALL, DType, int64
from treadle.kernel.abstract import (
    Argument,
    Atom,
    Axis,
    Division,
    Ex,
    Factor,
    Guard,
    Kernel,
    Looked,
    Pass,
    Reduce,
    Slot,
    Store,
    Sum,
)

DTYPES = {d.short: d for d in ALL}
TOKEN = re.compile(r"[a-z]\d+|-1|.")
FLAGS = ("across", "epilogue", "tile")


@lru_cache(maxsize=64)
def parse(text: str) -> Kernel:
    """The kernel that a signature's text describes; nobody may change it."""
    return _Parser(text).kernel


class _Parser:
    """One kernel on its way from text."""

    def __init__(self, text: str) -> None:
        head, *lines = text.split("\n")
        words = head.split()[1:]
        across, epilogue, tile = (flag in words for flag in FLAGS)
        arguments = [
            Argument(DTYPES[word.rstrip("!~@?")], "~" in word, "@" in word, "?" in word)
            for word in words
            if word not in FLAGS
        ]
        self.kernel = Kernel(arguments, across, epilogue, tile)
        self.slots: dict[str, Slot] = {}
        self.axes: dict[str, Axis] = {}
        self.values: dict[str, Ex] = {}
        self.sums: dict[str, Sum] = {}
        self.reduces: dict[str, Reduce] = {}
        for line in lines:
            self._line(line.split())
        self.kernel.slots = [self.slots[f"p{k}"] for k in range(len(self.slots))]
        self.kernel.order = list(self.values.values())

    def _line(self, words: list[str]) -> None:
        name, kernel = words[0], self.kernel
        if name == "pass":
            kernel.passes.append(Pass([self.reduces[word] for word in words[1:]]))
        elif name == "row":
            kernel.row_stores.append(self._store(*words[1:]))
        elif not name[1:].isdigit():
            kernel.passes[-1].stores.append(self._store(*words))
        elif name[0] == "e":
            self.values[name] = self._expression(DTYPES[words[1]], words[2], words[3:])
        elif name[0] == "r":
            self.reduces[name] = Reduce(words[2], self.values[words[3]], DTYPES[words[1]])
        else:
            axis = self.axes[name] = Axis(name, self._slot(words[2]))
            (kernel.outer if name[0] == "o" else kernel.inner).append(axis)

    def _slot(self, name: str, kind: DType = int64) -> Slot:
        if name not in self.slots:
            self.slots[name] = Slot(int(name[1:]), kind)
        return self.slots[name]

    def _store(self, mode: str, place: str, value: str, _: str = "", only: str = "") -> Store:
        buffer, position = self._place(place)
        condition = self.values[only] if only else None
        return Store(mode, buffer, position, self.values[value], condition)

    def _place(self, text: str) -> tuple[int, Sum]:
        """The buffer and the index in it: b1[...]."""
        buffer, _, position = text[1:-1].partition("[")
        return int(buffer), self._sum(position)

    # ---- expressions

    def _expression(self, kind: DType, op: str, rest: list[str]) -> Ex:
        if op == "load":
            buffer, place = self._place(rest[0])
            guards = [self._guard(word) for word in rest[1:]]
            return Ex(op, kind, (), (buffer, place, guards), (place, *(g.index for g in guards)))
        if op == "const":
            return Ex(op, kind, (), self._number(rest[0], kind))
        if op == "index":
            index = self._sum(rest[0])
            return Ex(op, kind, (), index, (index,))
        if op == "inside":
            guards = [self._guard(word) for word in rest]
            return Ex(op, kind, (), guards, tuple(guard.index for guard in guards))
        if op == "reduced":
            return self._reduced(kind, self.reduces[rest[0]])
        made = Ex(op, kind, tuple(self.values[word] for word in rest))
        if op == "tile":
            made.axes = frozenset(self.axes.values())
        return made

    def _reduced(self, kind: DType, reduce: Reduce) -> Ex:
        made = Ex("reduced", kind, (), reduce)
        made.axes = reduce.value.axes & frozenset(self.kernel.outer)
        made.stage = reduce.value.stage + 1
        return made

    def _number(self, text: str, kind: DType) -> Any:
        if text[0] == "p":
            return self._slot(text, kind.compute)
        return float(text) if kind.is_float else int(text)

    def _guard(self, text: str) -> Guard:
        if text.startswith("0<="):
            return Guard(self._sum(text[3:]), None)
        index, _, bound = text.partition("<")
        return Guard(self._sum(index), self._slot(bound))

    # ---- indices

    def _sum(self, text: str) -> Sum:
        found = self.sums.get(text)
        if found is None:
            found = self.sums[text] = self._terms(TOKEN.findall(text + ")")[::-1])
        return found

    def _terms(self, tokens: list[str]) -> Sum:
        """Terms up to the bracket that closes them, which is taken, too."""
        terms: list[tuple[Atom, Factor]] = []
        offset = None
        token = "+"
        while token == "+":
            token = tokens.pop()
            if token[0] == "p":
                offset = self._slot(token)
            elif token != "0":
                atom = self._atom(token, tokens)
                terms.append((atom, self._factor(tokens)))
            token = tokens.pop()
        return Sum(terms, offset)

    def _factor(self, tokens: list[str]) -> Factor:
        if tokens[-1] != "*":
            return 1
        tokens.pop()
        token = tokens.pop()
        return int(token) if token in ("-1", "2") else self._slot(token)

    def _atom(self, token: str, tokens: list[str]) -> Atom:
        if token == "[":
            value, _, size, _ = (tokens.pop() for _ in range(4))
            return Looked(self.values[value], self._slot(size))
        if token == "(":
            of = self._terms(tokens)
            sign, by = tokens.pop(), tokens.pop()
            return Division(of, self._slot(by), sign == "%")
        return self.axes[token]
