"""What is held just now: tensors, their memory, work that waits, programs and caches."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle.backends.registry import LOADED
from treadle.ir.graph import is_realised, toposort
from treadle.ir.node import Node
from treadle.runtime.explain import quantity
from treadle.runtime.ledger import Share, shares, shown
from treadle.runtime.realize import in_memory, programs
from treadle.tensor.living import UNKNOWN, live_nodes, live_values

LINES = 10  # that are printed


class DeviceMemory(NamedTuple):
    """What is held of one device's memory.

    - **values**: bytes of tensors; **mapped**, **free**: what its pool has from the system, and
      what of that is free for the next request
    - **working**: what programs work in, where that is kept from run to run (on GPUs)
    - **room**, **total**: what nobody holds, and all there is (on GPUs)
    """

    device: str
    values: int
    mapped: int
    free: int
    working: int
    room: int
    total: int

    def __str__(self) -> str:
        def b(value: int) -> str:
            return quantity(value, "B")

        held = f"{b(self.values)} of values, {b(self.working)} to work in"
        pool = f"{b(self.mapped)} from the driver, {b(self.free)} of it free"
        return f"{self.device:<9} {held}; {pool}; {b(self.room)} of {b(self.total)} is nobody's"


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
    - **devices**: a `DeviceMemory` for each device in use
    - **lines**: bytes by the line that made them, largest first: `Share`s of nbytes, pieces, line
      and device. Lines are known where `TREADLE_EXPLAIN=1`, or a recording, asks for them
    """

    def __init__(self) -> None:
        nodes = live_nodes()
        self.tensors = len(nodes)
        self.realised = sum(1 for node in nodes if in_memory(node))
        self._count_values(nodes)
        self.pending = sum(
            1 for node in toposort(nodes, is_realised) if node.buffer is None and node.operands
        )
        self._count_programs()
        pools = {str(device): backend.statistics() for device, backend in LOADED.items()}
        held = pools.values()
        self.devices = [
            DeviceMemory(
                name, sum(share.nbytes for share in self.lines if share.device == name),
                part.mapped, part.free, part.working, part.room, part.total,
            )
            for name, part in pools.items()
        ]  # fmt: skip
        self.mapped_bytes = sum(part.mapped for part in held)
        self.free_bytes = sum(part.free for part in held)
        self.kernels = sum(part.kernels for part in held)
        self.code_bytes = sum(part.code_bytes for part in held)
        self.code_mappings = sum(part.code_mappings for part in held)
        self._count_cache()

    def _count_values(self, nodes: list[Node]) -> None:
        """Memory of every value, once: gradients hold values that no tensor names any more."""
        values = live_values(nodes)
        self.tensor_bytes = sum(value.nbytes for value in values)
        self.borrowed_bytes = sum(value.nbytes for value in values if value.borrowed)
        self.lines: list[Share] = shares(
            [(value.nbytes, value.line or UNKNOWN, str(value.type.device)) for value in values]
        )

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
        known = [share for share in self.lines if share.line != UNKNOWN]
        by_line = ["by line", *map(shown, self.lines[:LINES])] if known else []
        return "\n".join([*lines, *(str(d) for d in self.devices if d.total), *by_line])

    __repr__ = __str__


def memory_report() -> MemoryReport:
    """What is held just now: tensors, their memory, work that waits, programs and caches.

    >>> import treadle as td
    >>> x = td.ones(1000).realize()
    >>> memory_report().tensor_bytes >= 4000
    True
    """
    return MemoryReport()
