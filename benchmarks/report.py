"""The results as a table: times, the floor of the machine, and our time against the best peer's."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from benchmarks.workload import COMPILED, LAZY, ONNX, PEERS, Bar, Workload
from benchmarks.workloads import WORKLOADS

Row = dict[str, dict[str, Any]]  # column -> result
Rows = dict[str, Row]
SHOWN = (*PEERS, ONNX, LAZY, COMPILED)


def _rivals(rows: Rows, name: str, bar: Bar) -> list[dict[str, Any]]:
    """The peers' results from the run that ours comes from: times of two runs do not compare."""
    run = rows[name].get(bar.column, {}).get("run")
    names = (name, *WORKLOADS[name].also)
    results = [rows.get(other, {}).get(peer, {}) for other in names for peer in bar.against]
    return [r for r in results if r.get("status") == "ok" and r["run"] == run]


def ratio_of(rows: Rows, name: str, bar: Bar) -> float | None:
    """Our time over the best of the peers the bar names; None where either is missing."""
    if name not in rows:
        return None
    ours, rivals = rows[name].get(bar.column, {}), _rivals(rows, name, bar)
    if ours.get("status") != "ok" or not rivals:
        return None
    ratio: float = ours["median"] / min(rival["median"] for rival in rivals)
    return ratio


def is_trusted(rows: Rows, name: str, bar: Bar) -> bool:
    """Were all times behind the ratio free of other processes?"""
    return all(r["clean"] for r in [rows[name][bar.column], *_rivals(rows, name, bar)])


def floor_of(workload: Workload, limits: dict[str, float]) -> float | None:
    """The least seconds this machine needs for the workload's bytes and flops."""
    if not limits or not (workload.bytes or workload.flops):
        return None
    return max(
        workload.bytes / limits["bytes_per_second"], workload.flops / limits["flops_per_second"]
    )


def _show_time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    scale, unit = (1e6, "µs") if seconds < 1e-3 else (1e3, "ms")
    value = seconds * scale
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def _show_result(row: Row, column: str) -> str:
    result = row.get(column, {})
    if result.get("status") == "ok":
        return _show_time(result["median"]) + ("" if result["clean"] else " ~")
    return {"failed": "failed", "absent": "–"}.get(result.get("status", ""), "")


def _show_ratio(rows: Rows, workload: Workload, column: str) -> str:
    plain = (Bar(column, math.inf),)
    bars = tuple(bar for bar in workload.bars if bar.column == column) or plain
    return ", ".join(filter(None, (_show_bar(rows, workload.name, bar) for bar in bars)))


def _show_bar(rows: Rows, name: str, bar: Bar) -> str:
    is_bar, ratio = bar.ratio < math.inf, ratio_of(rows, name, bar)
    against = f" of {bar.against[0]}" if len(bar.against) == 1 else ""
    if ratio is None:
        return f"? (bar {bar.ratio}{against})" if is_bar else ""
    noise = "" if is_trusted(rows, name, bar) else " ~"
    if not is_bar:
        return f"{ratio:.2f}{noise}"
    sign = "≤" if ratio <= bar.ratio else "> !"
    return f"{ratio:.2f}{noise} {sign} {bar.ratio}{against}"


def cells(rows: Rows, limits: dict[str, float]) -> list[list[str]]:
    """The table as text, heading first; columns that have nothing are left out."""
    shown = [c for c in SHOWN if any(row.get(c, {}).get("status") == "ok" for row in rows.values())]
    table = [["workload", *shown, "floor", "lazy/peer", "compiled/peer"]]
    for name, workload in WORKLOADS.items():
        if name not in rows:
            continue
        table.append(
            [
                name,
                *(_show_result(rows[name], column) for column in shown),
                _show_time(floor_of(workload, limits)),
                _show_ratio(rows, workload, LAZY),
                _show_ratio(rows, workload, COMPILED),
            ]
        )
    return table


def as_text(table: list[list[str]]) -> str:
    """Columns padded for a terminal."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in table
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def as_markdown(table: list[list[str]]) -> str:
    """The same table for a README."""
    rule = ["---", *["---:"] * (len(table[0]) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [table[0], rule, *table[1:]])


def remarks(rows: Rows) -> Iterable[str]:
    """Bars met, results that failed, and what '~' means where it occurs."""
    measured = [
        (ratio, bar.ratio)
        for name, workload in WORKLOADS.items()
        for bar in workload.bars
        if (ratio := ratio_of(rows, name, bar)) is not None and is_trusted(rows, name, bar)
    ]
    if measured:
        met = sum(ratio <= limit for ratio, limit in measured)
        yield f"{met} of {len(measured)} bars met, of those measured without noise"
    results = [(name, column, r) for name, row in rows.items() for column, r in row.items()]
    if any(not r.get("clean", True) for _, _, r in results):
        yield "~ no window was free of other processes: an upper bound"
    for name, column, result in results:
        if result.get("status") == "failed":
            yield f"{column}, {name}: {result['why']}"
