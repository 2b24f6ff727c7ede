"""How a kernel given as text is run: loops in an order that the scheduler would not choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from treadle.backends.cpu import jit, threads
from treadle.backends.cpu.host import host_target
from treadle.backends.cpu.table import kernel_job
from treadle.kernel.choose import Style

BLOCKS = 32


@dataclass(frozen=True)
class Loop:
    """A map over rows and elements: its signature's text, which buffers, which numbers."""

    text: str
    buffers: tuple[int, ...]
    slots: tuple[int, ...]
    rows: int  # of the outer axis
    unroll: int = 2


class Loops:
    """Kernels one after the other on some memory; the last buffer is the result."""

    def __init__(
        self, memory: Sequence[Any], loops: Sequence[Loop], shape: tuple[int, ...]
    ) -> None:
        self.memory, self.shape, self.pool = list(memory), shape, threads.Pool.get()
        self.bases = np.array([array.ctypes.data for array in memory], np.int64)
        target = host_target()
        self.code = jit.load_many([kernel_job(x.text, Style(x.unroll), target) for x in loops])
        self.words, rows = [], []
        for loop, code in zip(loops, self.code, strict=True):
            grain = -(-loop.rows // BLOCKS)
            places = [word for number in loop.buffers for word in (number, 0)]
            words = np.array([grain, loop.rows, 0, 0, *places, *loop.slots], np.int64)
            self.words.append(words)
            rows.append((code["kernel"], words.ctypes.data, -(-loop.rows // grain), 0))
        self.table = np.array(rows, np.int64)
        self.run = threads.runner()

    def __call__(self) -> Self:
        """Compute it once."""
        table, bases = self.table.ctypes.data, self.bases.ctypes.data
        self.run(self.pool.address, table, len(self.table), bases)
        return self

    def numpy(self) -> Any:
        """The result."""
        return self.memory[-1].reshape(self.shape)
