"""What a plan is given: how many matrices, their sides, and what they consist of."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from treadle.ir.node import Node
from treadle.ops.defs import PAIRED


@dataclass(frozen=True)
class Given:
    """The first operand of a node, and its options."""

    items: int
    m: int
    n: int
    is_complex: bool
    size: int  # bytes of an element
    options: tuple[int, ...]

    def parts(
        self, place: str, node: Node, sources: tuple[str, ...] = ("a",)
    ) -> tuple[object, ...]:
        """What the text of an entry is made of."""
        return place, sources, node.dtype, self.is_complex


def given(node: Node) -> Given:
    """The matrices that a routine is about."""
    paired = PAIRED in node.arg
    shape = node.operands[0].shape[:-1] if paired else node.operands[0].shape
    options = tuple([int(x) for x in node.arg if x != PAIRED])
    size = node.dtype.size * (2 if paired else 1)
    return Given(prod(shape[:-2]), shape[-2], shape[-1], paired, size, options)
