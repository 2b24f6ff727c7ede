"""Views of realised memory read directly: looking into a tensor compiles nothing."""

from __future__ import annotations

from typing import Any

from treadle.backends.registry import backend_of
from treadle.ir.node import Node
from treadle.ops import movement as m
from treadle.runtime.realize import in_memory

# The dots keep a view of no axes an array; without them NumPy gives a number.
VIEWS = {
    m.reshape: lambda n, x: x.reshape(n.shape),
    m.permute: lambda n, x: x.transpose(n.arg),
    m.slice_: lambda n, x: x[..., *(slice(*r) for r in n.arg)],
    m.flip: lambda n, x: x[
        ..., *(slice(None, None, -1 if k in n.arg else 1) for k in range(x.ndim))
    ],
}


def peek(node: Node) -> Any:
    """The value as a NumPy array if it is a view of memory on the host, else None."""
    views = []
    while not in_memory(node):
        if node.device.backend != "cpu" or node.op not in VIEWS:
            return None
        operands = node.operands
        if operands:  # else another thread has just computed the node
            views.append(node)
            node = operands[0]
    array = backend_of(node.device).download(node.buffer, node.type)
    for view in reversed(views):
        array = VIEWS[view.op](view, array)
    return array
