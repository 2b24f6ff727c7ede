"""Random choices that follow from a seed, for whatever makes graphs and programs."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any


class Choice(Random):
    """Random choices that follow from a seed."""

    def one(self, options: Sequence[Any]) -> Any:
        """Any of the options."""
        return self.choice(options)

    def number(self, low: int, high: int) -> int:
        """Any integer from low to high."""
        return self.randint(low, high)

    def coin(self) -> bool:
        """Either."""
        return self.random() < 0.5

    def rarely(self, one_in: int) -> bool:
        """True once in so many times."""
        return self.random() * one_in < 1.0

    def some(self, count: int) -> tuple[int, ...]:
        """Some of the numbers below count, in order."""
        return tuple(n for n in range(count) if self.coin())

    def order(self, count: int) -> tuple[int, ...]:
        """All of the numbers below count, in any order."""
        return tuple(self.sample(range(count), count))
