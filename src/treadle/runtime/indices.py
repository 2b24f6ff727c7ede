"""What the elements of an index tensor are, where they can be read without computing anything."""

from __future__ import annotations

from typing import Any

from treadle.backends.registry import backend_of
from treadle.ir.node import Node
from treadle.ops.bounds import KNOWN
from treadle.ops.movement import expand, permute, reshape
from treadle.runtime.realize import in_memory

SHOWING_ALL = (reshape, expand, permute)  # views that leave nothing out


def known_values(node: Node) -> Any:
    """An array with every element of a node, in some order; None if it is not in host memory."""
    if not node.type.size:
        return None
    while node.buffer is None and node.op in SHOWING_ALL:
        (node,) = node.operands or (node,)  # none: another thread has just computed it
    if not in_memory(node) or node.device.backend == "cuda":
        return None
    return backend_of(node.device).download(node.buffer, node.type)


def _values_of(index: Any) -> Any:
    """Those of what a user passes; a node is part of a graph whose indices were looked at."""
    node = getattr(index, "_node", None)
    return None if node is None else known_values(node)


KNOWN.values = _values_of
