"""What is held just now: tensors, their memory, work that waits, programs and caches."""

from __future__ import annotations

import gc
from typing import Any

from treadle.backends.registry import LOADED
from treadle.ir.graph import is_realised, toposort
from treadle.ir.node import Node
from treadle.runtime.explain import quantity
from treadle.runtime.realize import TRACED, programs
from treadle.tensor.tensor import Tensor


class MemoryReport:
    """Print it to read it.

    - **tensors**: that somebody holds; **realised**: how many of them have their value in memory
    - **tensor_bytes**: memory of values, those kept for gradients among them; **borrowed_bytes**:
      of it, memory of arrays that came from outside
    - **pending**: ops that are recorded and not computed
    - **mapped_bytes**, **free_bytes**: what the devices' pools have from the system, and what of it
      is free for the next request
    - **programs**, **arena_bytes**, **scratch_bytes**: compiled graphs, and the most working memory
      one of them takes from the pool while it runs, scratch for each thread
    - **kernels**, **code_bytes**, **code_mappings**: pieces of machine code loaded, the memory they
      take, and how many of the system's mappings (it gives a process some 65,000)
    - **cache_files**, **cache_bytes**: what the cache on disk holds
    """

    def __init__(self) -> None:
        # Tensors refer to their class. All objects there are would be too many: tuples that other
        # threads are still filling are among them, and Python fails where somebody else holds one.
        kinds = (Tensor, *Tensor.__subclasses__())
        found = [x for x in gc.get_referrers(*kinds) if type(x) in kinds]
        nodes = [x._node for x in found if hasattr(x, "_node")]  # others are just being made
        self.tensors = len(nodes)
        self.realised = sum(1 for node in nodes if _memory_of(node) is not None)
        self._count_values(nodes)
        self.pending = sum(
            1 for node in toposort(nodes, is_realised) if node.buffer is None and node.operands
        )
        self._count_programs()
        held = [backend.statistics() for backend in LOADED.values()]
        self.mapped_bytes = sum(part.mapped for part in held)
        self.free_bytes = sum(part.free for part in held)
        self.kernels = sum(part.kernels for part in held)
        self.code_bytes = sum(part.code_bytes for part in held)
        self.code_mappings = sum(part.code_mappings for part in held)
        self._count_cache()

    def _count_values(self, nodes: list[Node]) -> None:
        """Memory of every value, once: gradients hold values that no tensor names any more."""
        buffers = {id(memory): memory for node in toposort(nodes)
                   if (memory := _memory_of(node)) is not None}  # fmt: skip
        self.tensor_bytes = sum(_size(memory) for memory in buffers.values())
        borrowed = [b for b in buffers.values() if getattr(b, "borrowed", False)]
        self.borrowed_bytes = sum(_size(memory) for memory in borrowed)

    def _count_programs(self) -> None:
        known: list[Any] = programs()
        self.programs = len(known)
        layouts = [program.layout for program in known if hasattr(program, "layout")]
        self.arena_bytes = max((layout.nbytes for layout in layouts), default=0)
        self.scratch_bytes = max((getattr(p, "scratch_bytes", 0) for p in known), default=0)

    def _count_cache(self) -> None:
        from treadle.base.cache import folder

        root = folder()
        sizes = []
        for path in root.glob("??/*") if root is not None else ():
            try:
                sizes.append(path.stat().st_size)
            except OSError:  # another process has tidied up
                continue
        self.cache_files, self.cache_bytes = len(sizes), sum(sizes)

    def __str__(self) -> str:
        def b(value: int) -> str:
            return quantity(value, "B")

        working = f"at most {b(self.arena_bytes)} arena and {b(self.scratch_bytes)} scratch a run"
        code = f"{b(self.code_bytes)} of code in {self.code_mappings} mappings"
        lines = (
            f"tensors   {self.tensors}, {self.realised} in memory",
            f"values    {b(self.tensor_bytes)}, {b(self.borrowed_bytes)} of it borrowed",
            f"pending   {self.pending} ops",
            f"pool      {b(self.mapped_bytes)} from the system, {b(self.free_bytes)} of it free",
            f"programs  {self.programs}, {working}",
            f"kernels   {self.kernels} loaded, {code}",
            f"cache     {self.cache_files} files on disk, {b(self.cache_bytes)}",
        )
        return "\n".join(lines)

    __repr__ = __str__


def memory_report() -> MemoryReport:
    """What is held just now: tensors, their memory, work that waits, programs and caches.

    >>> import treadle as td
    >>> x = td.ones(1000).realize()
    >>> memory_report().tensor_bytes >= 4000
    True
    """
    return MemoryReport()


def _memory_of(node: Node) -> Any:
    return None if node.buffer is TRACED else node.buffer


def _size(memory: Any) -> int:
    return int(getattr(memory, "size", 0) if not hasattr(memory, "nbytes") else memory.nbytes)
