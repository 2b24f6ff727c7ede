"""What is told of programs that are run one after the other, as if they were one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from treadle.base import trace
from treadle.schedule.layout import Layout


def tell(reports: Sequence[trace.Report], transfers: Sequence[str]) -> None:
    """What programs consist of that are run one after the other, told as one."""
    rows = [row for report in reports for row in report.fact("kernels") or ()]
    trace.tell("kernels", [replace(row, number=k) for k, row in enumerate(rows)])
    nodes = [report.fact("nodes") or (0, 0) for report in reports]
    trace.tell("nodes", tuple(map(sum, zip(*nodes, strict=True))))
    rules = Counter[str]()
    for report in reports:
        rules.update(report.fact("rules") or {})
    trace.tell("rules", dict(rules.most_common()))
    layouts = [found for report in reports if (found := report.fact("memory"))]
    nbytes, least = sum(x.nbytes for x in layouts), sum(x.lower_bound for x in layouts)
    trace.tell("memory", Layout({}, nbytes, least, sum(x.without_reuse for x in layouts)))
    inner = [x for report in reports for x in report.fact("transfers") or ()]
    trace.tell("transfers", [*transfers, *inner])
