"""A graph as text that can be read back.

    %0 = leaf : f32[8, 16]
    %1 = const 0.5 : f32[]
    %2 = mul %0, %1 : f32[8, 16]
    %3 = sum %2 ((1,), False) : f32[8]
    roots %3

A line is a number, an op, its operands, its arg as a Python literal, and the type of the result;
what follows # is a remark.
"""

from __future__ import annotations

from collections.abc import Sequence
from os.path import basename
from typing import Any

from treadle.base.dtypes import DType
from treadle.ir.graph import is_realised, toposort
from treadle.ir.node import LEAF, Node, Type


def graph_text(roots: Sequence[Node], sites: bool = False) -> str:
    """The graph below roots, one line per node; values in memory are leaves.

    sites adds the user's line that made each node.
    """
    number: dict[Node, int] = {}
    lines = []
    for node in toposort(roots, stop=is_realised):
        number[node] = len(number)
        line = f"%{number[node]} = {_right_side(node, number)} : {type_text(node.type)}"
        lines.append(f"{line}  # {short_site(node.site)}" if sites and node.site else line)
    lines.append(" ".join(["roots", ", ".join(f"%{number[root]}" for root in roots)]))
    return "\n".join(lines)


def _right_side(node: Node, number: dict[Node, int]) -> str:
    if node.op is LEAF or is_realised(node):
        return "leaf"
    parts = [node.op.name]
    if node.operands:
        parts.append(", ".join(f"%{number[x]}" for x in node.operands))
    if node.arg is not None:
        parts.append(literal(node.arg))
    return " ".join(parts)


def literal(value: Any) -> str:
    """A Python literal, with dtypes by name."""
    if isinstance(value, DType):
        return value.name
    if isinstance(value, tuple):
        inner = ", ".join(literal(part) for part in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def type_text(type_: Type) -> str:
    """`f32[8, 16]`, with the device where it is not the host."""
    return f"{type_}" if type_.device.backend == "cpu" else f"{type_} on {type_.device}"


def short_site(site: str) -> str:
    """file:line without the folders."""
    return basename(site)
