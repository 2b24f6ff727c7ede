"""Which random numbers come next: a key and a count of draws, given to graphs as memory.

A draw reads (key 0, key 1, number of the draw) from a leaf, so that graphs that draw have the same
structure every time. Inside a traced function all draws share one leaf, filled before each call.
"""

from __future__ import annotations

import threading
from array import array
from typing import Any

from treadle.backends.registry import backend_of
from treadle.base import forks
from treadle.base.device import CPU, Device
from treadle.base.dtypes import uint32
from treadle.base.errors import needed
from treadle.ir.node import Node, leaf, type_of
from treadle.ops.transfer import transfer
from treadle.runtime.realize import TRACED
from treadle.runtime.stacks import ThreadStack

_WORD = (1 << 64) - 1


class Generator:
    """The global source of keys."""

    def __init__(self, seed: int) -> None:
        self._lock = threading.Lock()
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Start again from a seed."""
        self.key = (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF)
        self.count = 0

    def state(self) -> tuple[int, int, int]:
        """The key and the count of draws."""
        with self._lock:
            return (*self.key, self.count)

    def go_on(self, k0: int, k1: int, count: int) -> None:
        """Go on from a state."""
        with self._lock:
            self.key, self.count = (k0 & 0xFFFFFFFF, k1 & 0xFFFFFFFF), count

    def take(self, draws: int, device: Device) -> Any:
        """Memory with (key 0, key 1, number of the first) of draws that nobody else gets."""
        first = self._next(draws)
        words = array("I", (*self.key, first & 0xFFFFFFFF))
        return backend_of(device).upload(words, type_of((3,), uint32, device), copy=True)

    def number(self) -> int:
        """63 bits that nobody else gets, for what is drawn outside of tensors."""
        mixed = 0
        for word in (*self.key, self._next(1)):  # the finalizer of splitmix64, once for each
            mixed = (mixed + word + 0x9E3779B97F4A7C15) & _WORD
            mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
            mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
            mixed ^= mixed >> 31
        return mixed >> 1

    def _next(self, draws: int) -> int:
        with self._lock:
            first, self.count = self.count, self.count + draws
        return first


GENERATOR = Generator(0)
forks.share("draws", GENERATOR._lock)


class Draws:
    """Draws of one traced function."""

    def __init__(self) -> None:
        self.leaf: Node | None = None
        self.count = 0

    def next_key(self) -> Any:
        """Memory for one call; the global count moves on by all draws of the function."""
        leaf = needed("random", self.leaf, "key")
        return GENERATOR.take(self.count, leaf.device)


_TRACED: ThreadStack[Draws] = ThreadStack()


def begin_draws() -> Draws:
    """Draws from here on belong to a trace."""
    _TRACED.push(Draws())
    return _TRACED.top


def end_draws() -> None:
    """The trace is over."""
    _TRACED.pop()


def draw(device: Device = CPU, count: int = 1) -> tuple[Node, int]:
    """A leaf with (key 0, key 1, first draw), and how many draws after it this one is.

    count: so many draws are taken at once.
    """
    if _TRACED:
        draws = _TRACED.top
        if draws.leaf is None:
            draws.leaf = leaf(type_of((3,), uint32, device), TRACED)
        draws.count += count
        there = draws.leaf.device == device
        return draws.leaf if there else transfer(draws.leaf, device), draws.count - count
    return leaf(type_of((3,), uint32, device), GENERATOR.take(count, device)), 0
