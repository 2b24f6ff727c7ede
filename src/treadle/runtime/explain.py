"""What a compiled program consists of and why, from what the layers reported while it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from treadle.base.trace import Report, show
from treadle.ir.printer import short_site

if TYPE_CHECKING:  # the compiler is loaded by the backend that needs it
    from treadle.kernel.cost import KernelRow


class Explanation:
    """Kernels, memory, rewriting and compile time of one program; print it to read it.

    - **rows**: a `KernelRow` for each kernel, in the order they run
    - **arena_bytes**, **lower_bound**, **without_reuse**: working memory as laid out, the least
      any layout needs, and what it would be if nothing were reused
    - **transfers**: what goes from one device to another: `f32[8, 8] cpu → cuda:0`
    - **nodes_before**, **nodes_after**: size of the graph around simplification
    - **rules**: how often each rewrite rule fired
    - **stages**: seconds of each stage of the compiler; **modules**: compiled by LLVM for this
      program, the other kernels were known
    - **traces**: how often a compiled function was traced so far; **retraces**: why, each time but
      the first: `argument 0: (32, 10) → (17, 10)`
    """

    def __init__(self, report: Report) -> None:
        self.rows: list[KernelRow] = report.fact("kernels") or []
        nodes: tuple[int, int] = report.fact("nodes") or (0, 0)
        self.nodes_before, self.nodes_after = nodes
        self.rules: dict[str, int] = report.fact("rules") or {}
        self.stages = dict(report.stages)
        self.modules = sum(1 for name, _ in report.facts if name == "module")
        self.traces = 0
        self.retraces: tuple[str, ...] = ()
        layout = report.fact("memory")
        self.transfers: list[str] = report.fact("transfers") or []
        self.arena_bytes: int = layout.nbytes if layout else 0
        self.lower_bound: int = layout.lower_bound if layout else 0
        self.without_reuse: int = layout.without_reuse if layout else 0

    def __str__(self) -> str:
        nodes = f"{self.nodes_before} nodes, {self.nodes_after} after simplify"
        head = f"{len(self.rows)} kernels from {nodes}"
        parts = [head, "", kernel_table(self.rows), ""]
        parts += [f"moves    {text}" for text in self.transfers]
        parts += [self.memory_line()]
        fired = ", ".join(f"{name} {count}" for name, count in self.rules.items())
        parts += [f"rules    {fired or 'none'}", self.time_line()]
        return "\n".join([*parts, *self._trace_lines()])

    __repr__ = __str__

    def _trace_lines(self) -> list[str]:
        """How often a compiled function was traced, and why."""
        if not self.traces:
            return []
        why = Counter(self.retraces)
        again = [f"again    {text}" + (f" ({n} times)" if n > 1 else "") for text, n in why.items()]
        return [f"traced   {self.traces} times" if self.traces > 1 else "traced   once", *again]

    def memory_line(self) -> str:
        """The arena in one line."""
        least, most = quantity(self.lower_bound, "B"), quantity(self.without_reuse, "B")
        arena = quantity(self.arena_bytes, "B")
        return f"memory   arena {arena}, lower bound {least}, without reuse {most}"

    def time_line(self) -> str:
        """The stages of the compiler in one line."""
        times = ", ".join(f"{name} {seconds * 1e3:.1f} ms" for name, seconds in self.stages.items())
        return f"time     {times}; {self.modules} modules compiled, the others known"


def kernel_table(rows: Sequence[KernelRow]) -> str:
    """One kernel after the other: what it does, where from, what it costs, why it stands alone."""
    lines = []
    for row in rows:
        lines.append(f"k{row.number:<3} {row.kind:<7} {' '.join(row.ops)}")
        moved = f"{quantity(row.bytes_read, 'B')} read, {quantity(row.bytes_written, 'B')} written"
        blocks = "+".join(map(str, row.blocks))
        facts = f"{moved}, {quantity(row.flops, 'flop')}, {blocks} blocks"
        lines.append(f"     makes   {_few(row.outputs)}: {facts}")
        if row.sites:
            lines.append(f"     from    {_few([short_site(site) for site in row.sites])}")
        if row.calls:
            lines.append(f"     part of {_few(row.calls)}")
        lines.append(f"     why     {row.reason}")
    return "\n".join(lines)


def _few(parts: Sequence[str], most: int = 6) -> str:
    more = f" and {len(parts) - most} more" if len(parts) > most else ""
    return ", ".join(parts[:most]) + more


def quantity(value: float, unit: str) -> str:
    """A number with a prefix: 12.3 MB."""
    for prefix in ("", "k", "M", "G"):
        if value < 1000:
            shown = f"{value:.0f}" if not prefix else f"{value:.3g}"
            return f"{shown} {prefix}{unit}"
        value /= 1000
    return f"{value:.3g} T{unit}"


def show_compiled(report: Report) -> None:
    """The rungs of TREADLE_DEBUG that concern a whole program."""
    found = Explanation(report)
    number = report.fact("program")
    nodes = f"{found.nodes_before} nodes, {found.nodes_after} after simplify"
    show(1, f"compiled program {number}: {len(found.rows)} kernels from {nodes}")
    show(2, found.time_line())
    show(3, kernel_table(found.rows))
    show(3, found.memory_line())
