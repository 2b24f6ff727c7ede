"""What a kernel is in one line, for the places that show an event."""

from __future__ import annotations

from typing import Any

from treadle.profiler.recording import Detail
from treadle.runtime.explain import quantity


def facts_line(detail: Detail) -> str:
    """Ops, lines, module, work and reason of a kernel, the most useful first; of an op less."""
    if detail.program < 0:
        known = (", ".join(detail.sites), ", ".join(detail.modules), detail.phase)
        return " | ".join(part for part in known if part)
    moved = (
        f"{quantity(detail.bytes_read, 'B')} read, {quantity(detail.bytes_written, 'B')} written"
    )
    parts = [
        " ".join(detail.ops), ", ".join(detail.sites), ", ".join(detail.modules), detail.phase,
        f"{quantity(detail.flops, 'flop')}, {moved}", f"{detail.blocks} blocks", detail.reason,
    ]  # fmt: skip
    return " | ".join(part for part in parts if part)


def facts_table(detail: Detail) -> dict[str, Any]:
    """The same for formats that know numbers."""
    if detail.program < 0:
        return {
            "lines": ", ".join(detail.sites), "modules": ", ".join(detail.modules),
            "phase": detail.phase,
        }  # fmt: skip
    return {
        "ops": " ".join(detail.ops), "lines": ", ".join(detail.sites),
        "modules": ", ".join(detail.modules), "phase": detail.phase, "flops": detail.flops,
        "bytes read": detail.bytes_read, "bytes written": detail.bytes_written,
        "blocks": detail.blocks, "program": detail.program, "reason": detail.reason,
    }  # fmt: skip
