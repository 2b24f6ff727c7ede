"""The table of a program and all its parameters as one array, filled in for the sizes of a call."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from treadle.base.sizes import Size, evaluator, names_in

SPECIAL = frozenset((Size, list))  # what words may be besides numbers


class Template:
    """Words of which some are sizes, and some the addresses of others.

    - **table**: words; a list among them stands for the address of its own words
    - **more**: other numbers that are wanted with them
    """

    def __init__(self, table: Sequence[Any], more: Sequence[Any]) -> None:
        self.words: list[int] = []
        self.pointers: list[tuple[int, int]] = []  # (where, to where): both count words
        self.sizes: dict[Size, list[int]] = {}  # and where they stand
        self._add(table)
        for size in more:
            if isinstance(size, Size):
                self.sizes.setdefault(size, [])
        number = {size: k for k, size in enumerate(self.sizes)}
        self.more = [(True, number[n]) if isinstance(n, Size) else (False, n) for n in more]
        self.varying = [(at, number[n]) for n, places in self.sizes.items() for at in places]
        self.unknowns = len(names_in(self.sizes))
        self.plain = array("q", self.words)
        self.evaluate = evaluator(self.sizes)

    def _add(self, words: Sequence[Any]) -> int:
        start = len(self.words)
        if SPECIAL.isdisjoint(map(type, words)):
            self.words += words
            return start
        self.words += [0] * len(words)
        for at, word in enumerate(words, start):
            if isinstance(word, Size):
                self.sizes.setdefault(word, []).append(at)
            elif isinstance(word, list):
                self.pointers.append((at, self._add(word)))
            else:
                self.words[at] = word
        return start

    def filled(self, sizes: Mapping[str, int]) -> tuple[array[int], list[int]]:
        """The words for sizes, and the other numbers."""
        words = self.plain[:]
        address = words.buffer_info()[0]
        for at, to in self.pointers:
            words[at] = address + 8 * to
        values = self.evaluate(sizes)
        for at, k in self.varying:
            words[at] = values[k]
        return words, [values[n] if k else n for k, n in self.more]
