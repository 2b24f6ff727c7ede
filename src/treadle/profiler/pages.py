"""What there is to see of a program besides its time: kernels, reasons, loops, memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.base.trace import Report
from treadle.ir.node import Node
from treadle.ir.printer import type_text
from treadle.profiler.recording import ProgramPage
from treadle.runtime.explain import kernel_table
from treadle.runtime.realize import REPORTS
from treadle.schedule.layout import Layout


def page_of(program: Any, caller: Sequence[str | None], names: Sequence[str]) -> ProgramPage:
    """The page of a program, with the lines of one of its callers."""
    rows = program.rows(caller)
    kernels = []
    for name, row, step in zip(names, rows, program.steps, strict=True):
        loops = "\n".join(str(built.loops) for built in step.programs())
        kernels.append((name, row.reason, loops, "", ""))
    made = getattr(program, "general", None) or program
    layout, report = program.layout, REPORTS.get(made) or Report()
    return ProgramPage(
        program.number, graph=report.fact("graph") or "",
        simplified=report.fact("simplified") or "", rules=report.fact("rules") or {},
        explanation=kernel_table(rows), kernels=kernels,
        layout=_arena(layout), lower_bound=layout.lower_bound,
        without_reuse=layout.without_reuse, code=program.code_of,
        tuning="\n".join(text for name, text in report.facts if name == "tuned"),
    )  # fmt: skip


def _arena(layout: Layout) -> list[tuple[int, int, int, int, str]]:
    """Where each buffer lies, and from which step to which."""
    return [
        (layout.offsets[x.name], x.nbytes, x.first, x.last, _label(x.name))
        for x in layout.intervals
    ]


def _label(name: object) -> str:
    return f"{name.op.name} {type_text(name.type)}" if isinstance(name, Node) else str(name)
