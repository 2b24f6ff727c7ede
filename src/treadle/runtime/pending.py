"""How much recorded work may wait: a lazy chain without an end computes itself in pieces.

One of some thousand recorded nodes is looked at (`ir/node.py` counts them), and if too much waits
below that node, most of it is computed.
"""

from __future__ import annotations

from treadle.ir.node import Node
from treadle.ir.recording import RECORDING
from treadle.runtime.realize import COMPILING, in_pieces

MOST_PENDING = 10_000  # ops


def look(node: Node) -> None:
    """Compute what waits below a node if it is too much, and nobody traces or compiles it."""
    if RECORDING.made is not None or COMPILING.get():
        return
    if count_pending(node, MOST_PENDING) > MOST_PENDING:
        in_pieces([node])


def count_pending(node: Node, most: int) -> int:
    """Ops that wait below a node; not counted further than most."""
    seen, stack = {node}, [node]
    while stack and len(seen) <= most:
        for x in stack.pop().operands:
            if x.buffer is None and x.operands and x not in seen:
                seen.add(x)
                stack.append(x)
    return len(seen)


def bound_pending() -> None:
    """From here on what is recorded is looked at now and then."""
    RECORDING.look = look
