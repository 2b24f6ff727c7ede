"""How much recorded work may wait: a lazy chain without an end computes itself in pieces.

Recording is too cheap to count anything. Python's collector does count: it runs whenever some
hundred objects more than before are alive, as pending nodes are. Every now and then it asks for the
next recorded node to be looked at, and if too much waits below that node, most of it is computed.
Where the collector is switched off, chains are cut when somebody looks at them.
"""

from __future__ import annotations

import gc
from typing import Any

from treadle.ir.node import Node
from treadle.ir.recording import RECORDING
from treadle.runtime.realize import COMPILING, in_pieces

MOST_PENDING = 10_000  # ops
COLLECTIONS = 24  # of the youngest objects between two looks: some 8,000 nodes


class Watch:
    """Counts collections."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        """What Python calls before and after a collection."""
        if phase == "stop":
            self.count += 1
            if self.count >= COLLECTIONS:
                self.count = 0
                RECORDING.look_at_next(look)


def look(node: Node) -> None:
    """Compute what waits below a node if it is too much."""
    if not COMPILING and count_pending(node, MOST_PENDING) > MOST_PENDING:
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
    """From here on the collector watches over what is recorded."""
    gc.callbacks.append(Watch())
