"""A program that is run piece by piece while somebody looks at its memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cpu.program import BASES, DONE, ENTRY_BYTES, Program
from treadle.backends.cpu.runners import BESIDE
from treadle.backends.cpu.threads import launcher, recorder
from treadle.backends.watching import Piece, Walk, pieces_of
from treadle.ir.node import Node
from treadle.kernel.places import Place

WORDS = ENTRY_BYTES // 8


def watch(program: Program, walk: Walk) -> None:
    """Let a walk see every piece of a program, from its next run on."""
    found = program.places.found
    pieces = pieces_of(program.steps, found.__getitem__)
    entries: list[list[int]] = [[] for _ in range(max(1, len(pieces)))]
    for number, entry in enumerate(program.entries):
        entries[entry.step].append(number)
    program.walked = True
    program.launch = _Launcher(pieces, entries, found, walk)


class _Launcher:
    """Walks a table as the native loop does; it holds nothing of the program itself."""

    def __init__(
        self, pieces: Sequence[Piece], entries: Sequence[Sequence[int]],
        found: dict[object, Place], walk: Walk,
    ) -> None:  # fmt: skip
        self.pieces, self.entries, self.found, self.walk = pieces, entries, found, walk

    def __call__(self, address: int, record: Any = None) -> None:
        """Run the table of a launch; record says how it is written down while somebody profiles."""
        given = (ctypes.c_int64 * BASES).from_address(address)
        pool, table, _, bases = given[:DONE]

        def read(node: Node) -> Any:
            base, offset = self.found[node]
            start = ctypes.c_int64.from_address(bases + 8 * base).value + offset
            return _array(start, node)

        if not self.pieces:  # copies alone
            self._run(pool, table, bases, self.entries[0], record)
        for piece in self.pieces:
            with self.walk.around(piece, read):
                self._run(pool, table, bases, self.entries[piece.number], record)
        given[DONE] = 1

    def _run(self, pool: int, table: int, bases: int, numbers: Sequence[int], record: Any) -> None:
        """Entries one by one: none of them runs beside the next."""
        for number in numbers:
            entry = (ctypes.c_int64 * WORDS).from_address(table + ENTRY_BYTES * number)
            alone = (ctypes.c_int64 * WORDS)(*entry)
            alone[WORDS - 1] &= (1 << BESIDE) - 1
            words = (ctypes.c_int64 * BASES)(pool, ctypes.addressof(alone), 1, bases, 0)
            if record is None:
                launcher()(ctypes.addressof(words))
            else:
                record[2] = number
                recorder(False)(ctypes.addressof(words), ctypes.addressof(record))


def _array(address: int, node: Node) -> Any:
    kind = numpy_dtype(node.dtype)
    if not node.type.size:
        return np.empty(node.shape, kind)
    view: Any = (ctypes.c_ubyte * node.type.nbytes).from_address(address)
    return np.frombuffer(view, kind).reshape(node.shape).copy()
