"""The protocol for evaluation in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.reference.eval import evaluate
from treadle.backends.registry import Statistics
from treadle.base.target import Target
from treadle.ir.node import Node, Type


class Program:
    """A graph, kept to be evaluated."""

    overwrites: frozenset[int] = frozenset()

    def __init__(self, roots: Sequence[Node], leaves: Sequence[Node]) -> None:
        self.roots, self.leaves = list(roots), list(leaves)

    def run(self, inputs: Sequence[Any], results: list[Any] | None = None) -> list[Any]:
        """The roots' arrays from the leaves', added to results if they are given."""
        given = dict(zip(self.leaves, inputs, strict=True))
        found = evaluate(self.roots, given.__getitem__)
        if results is not None:
            results += found
        return found


class Reference:
    """Backend of device "reference"."""

    name = "reference"

    def target(self) -> Target:
        """Nothing to tune."""
        return Target("reference")

    def compile(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> Program:
        """A program for simplified roots."""
        return Program(roots, leaves)

    def upload(self, array: Any, type_: Type, copy: bool) -> Any:
        """Memory with an array's elements."""
        return np.array(array, numpy_dtype(type_.dtype), copy=copy or None)

    def copy(self, buffer: Any) -> Any:
        """Memory of its own with the same elements."""
        return np.array(buffer)

    def lend(self, buffer: Any, home: Any) -> Any:
        """The array itself: nothing is ever written over."""
        return buffer

    def download(self, buffer: Any, type_: Type) -> Any:
        """An array over the memory."""
        return np.asarray(buffer).reshape(type_.shape)

    def statistics(self) -> Statistics:
        """NumPy counts its own."""
        return Statistics()
