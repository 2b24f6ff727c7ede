"""What a traced function did to tensors that outlive it."""

from __future__ import annotations

from typing import Any

from treadle.ir.node import Node
from treadle.runtime.stacks import ThreadStack


class Tracing:
    """One trace: what it made, and how tensors were before it changed them."""

    __slots__ = ("assigned", "collected", "grads", "made", "read")

    def __init__(self) -> None:
        self.made: set[Node] = set()  # nodes that did not exist before
        self.assigned: dict[Any, Node] = {}  # tensor to the node it had before
        self.grads: dict[Any, Any] = {}  # tensor to the gradient it had before
        self.read: dict[Node, Any] = {}  # node to the tensor by which it was read first
        self.collected: set[Any] = set()  # tensors whose gradient from before was read


TRACE: ThreadStack[Tracing] = ThreadStack()
