"""How a kernel reads its params words: numbers by name, and buffers as (base, byte offset)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from treadle.backends.cpu.writer import Writer


class Words:
    """Params words of the kernel being written, loaded where this is made.

    - **numbers**, **buffers**: names, and where in the params they lie
    """

    def __init__(
        self, w: Writer, positions: Mapping[str, int], numbers: Iterable[str],
        buffers: Mapping[str, int],
    ) -> None:  # fmt: skip
        self.w = w
        self.loaded = {name: w.word("%params", positions[name]) for name in numbers}
        self.pointers = {name: self._pointer(at) for name, at in buffers.items()}

    def __getitem__(self, name: str) -> str:
        return self.loaded[name]

    def base(self, at: int) -> str:
        """The base address whose number is a word."""
        w = self.w
        return w.load("ptr", w.gep("%bases", w.word("%params", at), "ptr"), 8)

    def _pointer(self, at: int) -> str:
        return self.w.gep(self.base(at), self.w.word("%params", at + 1))

    @contextmanager
    def items(self) -> Iterator[str]:
        """For each item of this block, of "total" in groups of "group": its number."""
        first = self.w.mul("%block", self["group"])
        last = self.w.smaller(self.w.add(first, self["group"]), self["total"])
        with self.w.loop(first, last) as (item, _, _):
            yield item
