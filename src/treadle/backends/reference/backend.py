"""The protocol for evaluation in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.reference.eval import evaluate
from treadle.backends.registry import Statistics
from treadle.backends.watching import Piece, Walk
from treadle.base.target import Target
from treadle.ir.node import Node, Type


class Memory:
    """An array that is compared by what it is, not element by element; never written over."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return int(self.array.nbytes)


class Program:
    """A graph, kept to be evaluated."""

    overwrites: frozenset[int] = frozenset()

    def __init__(self, roots: Sequence[Node], leaves: Sequence[Node]) -> None:
        self.roots, self.leaves = list(roots), list(leaves)
        self.walk: Walk | None = None

    def run(self, inputs: Sequence[Memory], results: list[Memory] | None = None) -> list[Memory]:
        """The roots' arrays from the leaves', added to results if they are given."""
        given = dict(zip(self.leaves, (memory.array for memory in inputs), strict=True))
        if self.walk is None:
            values = evaluate(self.roots, given.__getitem__)
        else:
            values = self._walked(self.walk, given)
        found = [Memory(array) for array in values]
        if results is not None:
            results += found
        return found

    def _walked(self, walk: Walk, given: dict[Node, Any]) -> list[Any]:
        """The same as one piece, seen by whoever watches."""
        known = dict(given)
        piece = Piece(0, "reference", self.roots, self.leaves, ())
        with walk.around(piece, known.__getitem__):
            values = evaluate(self.roots, given.__getitem__)
            known |= dict(zip(self.roots, values, strict=True))
        return values


class Reference:
    """Backend of device "reference"."""

    name = "reference"
    rules = ()

    def target(self) -> Target:
        """Nothing to tune."""
        return Target("reference")

    def compile(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> Program:
        """A program for simplified roots."""
        return Program(roots, leaves)

    def watch(self, program: Program, walk: Walk) -> None:
        """Let a walk see its runs, each as one piece."""
        program.walk = walk

    def upload(self, array: Any, type_: Type, copy: bool) -> Memory:
        """Memory with an array's elements."""
        return Memory(np.array(array, numpy_dtype(type_.dtype), copy=copy or None))

    def copy(self, buffer: Memory) -> Memory:
        """Memory of its own with the same elements."""
        return Memory(np.array(buffer.array))

    def lend(self, buffer: Memory, home: Any) -> Memory:
        """The memory itself: nothing is ever written over."""
        return buffer

    def download(self, buffer: Memory, type_: Type) -> Any:
        """An array over the memory, which nobody may write."""
        view = np.asarray(buffer.array).reshape(type_.shape).view()
        view.flags.writeable = False
        return view

    def statistics(self) -> Statistics:
        """NumPy counts its own."""
        return Statistics()
