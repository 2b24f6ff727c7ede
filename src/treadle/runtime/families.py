"""Programs of graphs that differ in numbers only: which numbers are built in, which are given.

The first programs of a structure have all its numbers built in, so that rewriting may look at them.
Once several were wanted, numbers that were seen to change are given to the program at each run: to
the compiler they are leaves, which have no value that anything could be decided by. Rewriting by
values is exact, so both ways give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from treadle.backends.registry import Program, backend_of
from treadle.ir.graph import with_numbers
from treadle.ir.node import Node, Type, placeholder

BUILT_IN = 2  # programs of a structure that have all numbers built in, at most; 0: all are given
Graph = tuple[Sequence[Node], Sequence[Node], dict[int, int]]
"""Roots and leaves, and which root takes over the memory of which leaf, by their numbers."""
Compile = Callable[[Sequence[Node], Sequence[Node], dict[int, int]], Program]


class Variant:
    """A program, and the numbers for which it is right.

    - **given**: numbers that are inputs, each with its type; they come after the leaves
    - **same**: numbers that are given as another one
    """

    __slots__ = ("fixed", "given", "program", "same", "values")

    def __init__(
        self, program: Program, values: list[Any], same: dict[int, int],
        given: Sequence[tuple[int, Type]],
    ) -> None:  # fmt: skip
        self.program, self.values, self.given = program, values, given
        self.fixed = [(k, v) for k, v in enumerate(values) if k not in same]
        self.same = [(k, first) for k, first in same.items() if k != first]

    def fits(self, values: list[Any]) -> bool:
        """Are numbers that are built in the same, and numbers given as one really one?"""
        if self.values == values:
            return True
        if not self.given:
            return False
        if any([values[k] != value for k, value in self.fixed]):  # noqa: C419 - faster
            return False
        return not any([values[k] != values[first] for k, first in self.same])  # noqa: C419

    def of(self, program: Program) -> Variant:
        """The same numbers for another program."""
        other = copy(self)
        other.program = program
        return other

    def run(self, inputs: list[Any], values: Sequence[Any]) -> list[Any]:
        """The roots' memory from the leaves' and the numbers."""
        if self.given:
            inputs += self.inputs(values)
        return self.program.run(inputs)

    def inputs(self, values: Sequence[Any]) -> list[Any]:
        """Memory of the numbers that are given."""
        return [backend_of(type_.device).upload(values[k], type_, True) for k, type_ in self.given]


class Family:
    """Programs of one structure: a few with all numbers built in, or one that is given some."""

    __slots__ = ("changed", "groups", "variants")

    def __init__(self) -> None:
        self.variants: list[Variant] = []
        self.changed: set[int] = set()  # numbers that were seen with several values
        self.groups: list[int] = []  # for each number, the first that had always the same value

    def find(self, values: list[Any]) -> Variant | None:
        """The program for these numbers, if there is one."""
        for variant in self.variants:
            if variant.fits(values):
                return variant
        return None

    def make(self, values: list[Any], graph: Graph, compiled: Compile) -> Variant:
        """A program for these numbers."""
        roots, leaves, replaces = graph
        before = self.variants
        first = before[0].values if before else values
        known: dict[tuple[int, Any], int] = {}
        pairs = zip(self.groups or [0] * len(values), values, strict=True)
        groups = [known.setdefault(pair, k) for k, pair in enumerate(pairs)]
        changed = self.changed | {k for k, v in enumerate(values) if v != first[k] or not BUILT_IN}
        few = len(before) < BUILT_IN and not any(variant.given for variant in before)
        same = {} if few else {k: groups[k] for k in sorted(changed)}
        places: dict[tuple[int, Type], Node] = {}

        def given(number: int, node: Node) -> Node:
            if number not in same:
                return node
            slot = (same[number], node.type)
            return places.setdefault(slot, placeholder(node.type))

        roots = with_numbers(roots, given) if same else roots
        program = compiled(roots, [*leaves, *places.values()], replaces)
        variant = Variant(program, values, same, list(places))
        self.changed, self.groups = changed, groups
        self.variants = [*before, variant] if few else [variant]
        return variant
