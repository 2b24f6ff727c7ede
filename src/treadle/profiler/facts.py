"""What a kernel or an op is in one line, for the places that show an event."""

from __future__ import annotations

from typing import Any

from treadle.profiler.recording import OF_AN_OP, Detail
from treadle.runtime.explain import quantity


def facts_line(detail: Detail) -> str:
    """Ops, lines, module, scopes, work and reason of a kernel, the most useful first."""
    if detail.kind == OF_AN_OP:
        return " | ".join(part for part in facts_table(detail).values() if part)
    moved = (
        f"{quantity(detail.bytes_read, 'B')} read, {quantity(detail.bytes_written, 'B')} written"
    )
    parts = [
        " ".join(detail.ops), ", ".join(detail.sites), ", ".join(detail.modules), detail.phase,
        ", ".join(detail.scopes), f"{quantity(detail.flops, 'flop')}, {moved}",
        f"{detail.blocks} blocks", detail.reason,
    ]  # fmt: skip
    return " | ".join(part for part in parts if part)


def facts_table(detail: Detail) -> dict[str, Any]:
    """The same for formats that know numbers."""
    place = {
        "lines": ", ".join(detail.sites), "modules": ", ".join(detail.modules),
        "phase": detail.phase,
    }  # fmt: skip
    if detail.kind == OF_AN_OP:
        return place
    return {
        "ops": " ".join(detail.ops), **place, "scopes": ", ".join(detail.scopes),
        "flops": detail.flops,
        "bytes read": detail.bytes_read, "bytes written": detail.bytes_written,
        "blocks": detail.blocks, "program": detail.program, "reason": detail.reason,
    }  # fmt: skip
