"""From a simplified graph to steps, memory and kernels: what every backend does alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from treadle.base import trace
from treadle.base.errors import CompilerError, explain
from treadle.base.sizes import most
from treadle.base.target import Takes
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.places import Places, Temporary
from treadle.kernel.plan import as_stored, plan_steps
from treadle.kernel.steps import (
    ChainStep,
    LoopStep,
    ProductStep,
    RegionStep,
    RoutineStep,
    ScatterStep,
    Step,
)  # fmt: skip


class Driver(ABC):
    """A program under construction.

    A backend says how a loop program, a product and a routine become its own kernels. Memory that
    these need besides that of nodes goes into `temporaries`, and it is laid out once all are known.
    """

    takes: Takes
    ordered: ClassVar[bool]  # a row is read and written by one thread
    first_leaf: ClassVar[int]  # number of the first leaf's base address

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> None:
        self.roots, self.replaces = as_stored(roots, replaces)
        self.leaves = list(leaves)
        self.temporaries: dict[object, Temporary] = {}
        with trace.stage("plan"):
            self.steps = self.arranged(plan_steps(self.roots, self.replaces, self.takes))
        self.places = Places(
            self.steps, self.roots, self.leaves, self.replaces, self.first_leaf, self.ordered
        )
        self.steps = [
            s.over_base() if isinstance(s, ScatterStep) and self.places.is_over(s) else s
            for s in self.steps
        ]

    def arranged(self, steps: list[Step]) -> list[Step]:
        """The steps in an order that suits the backend as well."""
        return steps

    def lower(self) -> None:
        """Kernels for every step, in order."""
        with trace.stage("lower"):
            for built in self.places.copies.values():
                self.add_loops(built, 0)
            for number, step in enumerate(self.steps):
                self._emitter(step)(step, number)

    def _emitter(self, step: Step) -> Callable[..., None]:
        if isinstance(step, LoopStep):
            return self._add_each
        if isinstance(step, ProductStep):
            return self._add_tiles
        if isinstance(step, ChainStep):
            return self.add_chain
        if isinstance(step, RoutineStep):
            return self.add_routine
        if isinstance(step, RegionStep):
            return self.add_region
        raise CompilerError(explain("plan", "an unknown kind of step", step=type(step).__name__))

    def _add_each(self, step: LoopStep, number: int) -> None:
        for built in step.kernels:
            self.add_loops(built, number)

    def _add_tiles(self, step: ProductStep, number: int) -> None:
        rows, columns = self.add_product(step, number)
        for parts in step.parts:
            built, nbytes = parts.joined(rows, columns)
            self.reserve({parts.name: nbytes}, number)
            self.add_loops(built, number)
        for built in step.after:
            self.add_loops(built, number)

    def reserve(self, sizes: Mapping[Any, int], step: int) -> None:
        """Memory that only one step needs."""
        for name, nbytes in sizes.items():
            if name in self.temporaries:
                raise CompilerError(explain("plan", "two temporaries of one name", name=str(name)))
            self.temporaries[name] = (most(nbytes), step, step)

    @abstractmethod
    def add_loops(self, built: Built, step: int) -> None:
        """A loop program as kernels."""

    @abstractmethod
    def add_product(self, product: ProductStep, step: int) -> tuple[int, int]:
        """A product as kernels; rows and columns of the blocks that leave parts of reductions."""

    @abstractmethod
    def add_chain(self, step: ChainStep, number: int) -> None:
        """Chained products as kernels."""

    @abstractmethod
    def add_routine(self, routine: RoutineStep, step: int) -> None:
        """A scan, a sort or a factorisation as kernels."""

    @abstractmethod
    def add_region(self, region: RegionStep, step: int) -> None:
        """A loop or a branch, whose bodies are programs of their own."""
