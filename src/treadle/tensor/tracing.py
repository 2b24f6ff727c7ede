"""What a traced function did to tensors that outlive it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treadle.ir.node import Node
from treadle.runtime.stacks import ThreadStack

if TYPE_CHECKING:
    from treadle.tensor.tensor import Tensor


class Tracing:
    """One trace: what it made, and how tensors were before it changed them."""

    __slots__ = ("assigned", "grads", "made")

    def __init__(self) -> None:
        self.made: set[Node] = set()  # nodes that did not exist before
        self.assigned: dict[Tensor, Node] = {}  # tensor to the node it had before
        self.grads: dict[Tensor, Tensor | None] = {}  # tensor to the gradient it had before


TRACE: ThreadStack[Tracing] = ThreadStack()
