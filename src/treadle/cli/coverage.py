"""The table of op, dtype and device for a page, a terminal and a program."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from treadle.base.dtypes import ALL as REAL
from treadle.base.dtypes import COMPLEX, DType
from treadle.ops.defs import Op
from treadle.testing.taken import row_support

ALL = (*REAL, *COMPLEX)
DEVICES = {"c": "cpu", "g": "cuda"}
"""A letter for each device, as the cells of the table show it."""

GROUPS = {"bool": "bool", "int": "signed", "uint": "unsigned", "float": "floats",
          "complex": "complex"}  # fmt: skip


@cache
def taken(op: Op) -> dict[str, list[DType]]:
    """Device to the dtypes a row takes there; the reference takes what any device might."""
    return row_support(op)


def dtype_text(op: Op) -> str:
    """The dtypes a row takes, by kind where it takes all of a kind."""
    found = taken(op)["reference"]
    if len(found) == len(ALL):
        return "all"
    whole = [k for k in GROUPS if all(d in found for d in ALL if d.kind == k)]
    rest = [d.name for d in found if d.kind not in whole]
    return ", ".join([*(GROUPS[kind] for kind in whole), *rest]) or "none"


class Support:
    """The table of some rows: a cell for each dtype, a letter for each device, other names last."""

    def __init__(self, ops: Sequence[Op]) -> None:
        self.ops = list(ops)
        self.head = ["op", *(kind.short for kind in ALL), "also"]

    def cells(self, op: Op) -> list[str]:
        """The line of a row: its name, the devices for each dtype, the other names."""
        devices = taken(op)
        return [op.name, *(
            "".join(letter for letter, name in DEVICES.items() if kind in devices[name])
            for kind in ALL
        ), ", ".join(op.aliases)]  # fmt: skip

    def json(self) -> dict[str, dict[str, list[str]]]:
        """Row to device to dtypes; its other names are under "also"."""
        return {
            op.name: {name: [d.name for d in taken(op)[name]] for name in DEVICES.values()}
            | {"also": list(op.aliases)}
            for op in self.ops
        }

    def markdown(self) -> list[str]:
        """The table for a page."""
        rule = ["---"] * len(self.head)
        lines = [self.head, rule, *(self.cells(op) for op in self.ops)]
        return [f"| {' | '.join(line)} |".replace("  |", " |") for line in lines]

    def plain(self) -> str:
        """The table for a terminal."""
        lines = [self.head, *(self.cells(op) for op in self.ops)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.head))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
