"""Tensors that somebody holds, the memory of their values, and the line that made each."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

from treadle.ir.graph import toposort
from treadle.ir.node import CONST, IOTA, Node, Type
from treadle.ir.sites import parsed
from treadle.runtime.explain import quantity
from treadle.runtime.realize import TRACED, in_memory
from treadle.tensor.tensor import Tensor

MOST = 10  # tensors that an error lists
UNKNOWN = "an unknown line"


class Living(NamedTuple):
    """A value in memory."""

    memory: Any
    nbytes: int
    type: Type
    line: str  # of the user's code; empty if nobody has noted it

    @property
    def borrowed(self) -> bool:
        """Does the memory belong to somebody else?"""
        return bool(getattr(self.memory, "borrowed", False))


def live_nodes() -> list[Node]:
    """The nodes of all tensors.

    Tensors refer to their class. All objects there are would be too many: tuples that other
    threads are still filling are among them, and Python fails where somebody else holds one.
    """
    kinds = (Tensor, *Tensor.__subclasses__())
    found = [x for x in gc.get_referrers(*kinds) if type(x) in kinds]
    return [x._node for x in found if hasattr(x, "_node")]  # others are just being made


def live_values(nodes: list[Node]) -> list[Living]:
    """Every value once, also those that gradients hold and no tensor names any more."""
    found: dict[Any, Living] = {}
    for node in toposort(nodes):
        memory = node.buffer
        if memory is None or memory is TRACED:
            continue
        nbytes = size_of(memory)
        key = (node.device, getattr(memory, "address", id(memory)) if nbytes else id(memory))
        if key not in found or not found[key].line:
            line = parsed(node.site or "").line
            found[key] = Living(memory, nbytes, node.type, line)
    return list(found.values())


def size_of(memory: Any) -> int:
    """Bytes of a buffer of any backend."""
    return int(getattr(memory, "size", 0) if not hasattr(memory, "nbytes") else memory.nbytes)


def pending_nodes() -> list[Node]:
    """Nodes of tensors that wait to be computed, and could be now."""
    waiting = [node for node in live_nodes() if node.buffer is None and node.operands]
    return [node for node in waiting if all(map(_is_known, toposort([node])))]


def _is_known(node: Node) -> bool:
    return in_memory(node) or bool(node.operands) or node.op in (CONST, IOTA)


def largest(backend: str) -> str:
    """The largest tensors on a kind of device, as the end of an error message."""
    values = [v for v in live_values(live_nodes()) if v.type.device.backend == backend]
    if not values:
        return ""
    values.sort(key=lambda value: -value.nbytes)
    total = quantity(sum(value.nbytes for value in values), "B")
    lines = [f"  held by {len(values)} tensors: {total}; the largest:"]
    for value in values[:MOST]:
        size = quantity(value.nbytes, "B")
        lines.append(f"    {size:>8}  {value.type}  {value.line or UNKNOWN}")
    if not any(value.line for value in values[:MOST]):
        lines.append("  TREADLE_EXPLAIN=1 says which line made each")
    return "\n".join(lines)
