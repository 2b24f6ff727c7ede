"""What there is to see of a program besides its time: kernels, reasons, loops, memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.base.trace import Report
from treadle.profiler.recording import ProgramPage
from treadle.runtime.explain import kernel_table
from treadle.runtime.realize import REPORTS


def page_of(program: Any, caller: Sequence[str | None], names: Sequence[str]) -> ProgramPage:
    """The page of a program, with the lines of one of its callers."""
    rows = program.rows(caller)
    kernels = []
    for name, row, step in zip(names, rows, program.steps, strict=True):
        loops = "\n".join(str(built.loops) for built in step.programs())
        kernels.append((name, row.reason, loops, "", ""))
    layout, report = program.layout, REPORTS.get(program) or Report()
    return ProgramPage(
        program.number, graph=report.fact("graph") or "",
        simplified=report.fact("simplified") or "", rules=report.fact("rules") or {},
        explanation=kernel_table(rows), kernels=kernels,
        lower_bound=layout.lower_bound, without_reuse=layout.without_reuse,
    )  # fmt: skip
