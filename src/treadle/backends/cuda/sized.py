"""Numbers of a program that are sizes which are not known yet, and what they are at a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from treadle.base.sizes import Size, evaluator


class Exact(NamedTuple):
    """What sizes are at a call: those of Dims by name, and what is made of them in order."""

    dims: Mapping[str, int]
    values: Sequence[int]


Number = Callable[[Exact], int]
"""What finds a number at a call."""


class Sizes:
    """The sizes among the numbers of a program, each once, in order."""

    def __init__(self) -> None:
        self.order: dict[Size, int] = {}
        self.evaluate: Callable[[Mapping[str, int]], list[int]] | None = None

    def number(self, value: Any) -> Number:
        """What finds a number at a call."""
        if not isinstance(value, Size):
            return lambda _: int(value)
        k = self.order.setdefault(value, len(self.order))
        return lambda exact: exact.values[k]

    def within(self, tree: Any) -> Callable[[Exact], Any]:
        """What finds a structure at a call, with numbers for all sizes in it."""
        if isinstance(tree, Size):
            return self.number(tree)
        if isinstance(tree, dict):
            found = {key: self.within(part) for key, part in tree.items()}
            return lambda exact: {key: part(exact) for key, part in found.items()}
        if isinstance(tree, tuple | list):
            make = getattr(tree, "_make", type(tree))  # named tuples have one
            parts = [self.within(part) for part in tree]
            return lambda exact: make([part(exact) for part in parts])
        return lambda _: tree

    def at(self, dims: Mapping[str, int]) -> Exact:
        """What they are where Dims have sizes. All are known by then."""
        if self.evaluate is None:
            self.evaluate = evaluator(self.order)
        return Exact({name: int(n) for name, n in dims.items()}, self.evaluate(dims))
