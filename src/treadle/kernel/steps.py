"""What a program does one after the other: loops, copies, products, chains, regions and so on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.chain import Chained
from treadle.kernel.epilogue import Parts
from treadle.kernel.operands import Operand, Side, sides_of
from treadle.schedule.clusters import Cluster, without_reshape


@dataclass(eq=False)
class Step:
    """One group of nodes on its way to kernels."""

    cluster: Cluster
    writes: list[Node]

    def programs(self) -> list[Built]:
        """Every loop program in it."""
        return []

    def operands(self) -> list[Node]:
        """Nodes whose memory is read by something else than a loop program."""
        return []

    def reads(self) -> set[Node]:
        """Nodes whose memory is read."""
        return {*self.operands(), *(node for built in self.programs() for node in _read_by(built))}


def _read_by(built: Built) -> Iterator[Node]:
    for argument, buffer in zip(built.loops.arguments, built.buffers, strict=True):
        if isinstance(buffer, Node) and not argument.written:
            yield buffer


@dataclass(eq=False)
class LoopStep(Step):
    """Loop programs in the order to run them: rows, then what joins the sums of their blocks."""

    kernels: list[Built]

    def programs(self) -> list[Built]:
        """Every loop program in it."""
        return self.kernels


@dataclass(eq=False)
class CopyStep(LoopStep):
    """A view written out."""


@dataclass(eq=False)
class ScatterStep(LoopStep):
    """A copy of the base, and what is then written at indices.

    base: the node whose memory is copied as it is, if there is one. Where the result takes over
    that memory, the first kernel goes: what is left costs the values alone.
    """

    base: Node | None = None
    in_place: bool = False

    def operands(self) -> list[Node]:
        """What is written into."""
        return [self.base] if self.base else []

    def over_base(self) -> ScatterStep:
        """The step with its result in the memory of its base."""
        return replace(self, kernels=self.kernels[1:], in_place=True)


@dataclass(eq=False)
class ProductStep(Step):
    """A matrix product, and what happens to its tiles if that is not just a store.

    - **turned**: tiles are those of the transposed product, whose rows are columns of this one
    - **parts**: what tiles leave of reductions, to be joined once all are finished
    - **after**: what is made of these reductions
    """

    node: Node
    left: Operand
    right: Operand
    epilogue: Built | None = None
    turned: bool = False
    parts: list[Parts] = field(default_factory=list)
    after: list[Built] = field(default_factory=list)

    def sides(self) -> tuple[Side, Side]:
        """What the rows and the columns of its tiles are made of."""
        return sides_of(self.node, self.left, self.right, self.turned)

    def programs(self) -> list[Built]:
        """Every loop program in it."""
        return [self.epilogue, *self.after] if self.epilogue else []

    def reads(self) -> set[Node]:
        """Nodes whose memory is read, and was written before."""
        return super().reads().difference(self.writes)

    def operands(self) -> list[Node]:
        """What is multiplied."""
        return [self.left.base, self.right.base]


@dataclass(eq=False)
class ChainStep(Step):
    """Products whose tiles other products read, tile by tile."""

    chain: Chained

    def programs(self) -> list[Built]:
        """Every loop program in it."""
        return self.chain.programs()

    def operands(self) -> list[Node]:
        """What is multiplied."""
        return [operand.base for operand in self.chain.operands()]


@dataclass(eq=False)
class RoutineStep(Step):
    """An algorithm that is no loop program: a scan, a sort, a factorisation of matrices.

    sources: nodes in whose memory the elements of its operands lie, in order.
    """

    node: Node
    sources: list[Node]

    def operands(self) -> list[Node]:
        """What it reads."""
        return self.sources


@dataclass(eq=False)
class RegionStep(Step):
    """A loop over a body or one of several bodies, each a program of its own.

    writes: its results that are wanted, `project` nodes.
    """

    node: Node

    def operands(self) -> list[Node]:
        """What its bodies read, and what decides which or how often."""
        return [without_reshape(x) for x in self.node.operands]
