"""A graph as text that can be read back.

    %0 = leaf : f32[8, 16]
    %1 = const 0.5 : f32[]
    %2 = mul %0, %1 : f32[8, 16]
    %3 = sum %2 ((1,), False) : f32[8]
    roots %3

A line is a number, an op, its operands, its arg as a Python literal, and the type of the result;
what follows # is a remark. The bodies of a loop or a branch stand below it in braces, each a graph
whose leaves are its parameters, in order, and whose roots are its results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import basename
from typing import Any

from treadle.base.device import Device
from treadle.base.dtypes import DType
from treadle.base.shapes import Dim
from treadle.ir.graph import is_realised, toposort
from treadle.ir.node import LEAF, Node, Type
from treadle.ir.recording import FIELD, SPAN, WITHIN
from treadle.ir.region import Branch, Loop, bodies_of

ESCAPED = {letter: f"\\x{ord(letter):02x}" for letter in "#;:"}
IN_SIZES = {letter: f"\\x{ord(letter):02x}" for letter in ",[]="}
WORD = re.compile(r"[A-Za-z_]\w*")


def graph_text(roots: Sequence[Node], sites: bool = False, first: Sequence[Node] = ()) -> str:
    """The graph below roots, one line per node; values in memory are leaves.

    sites adds the user's line that made each node; leaves that are first stand there.
    """
    number: dict[Node, int] = {}
    lines = []
    for node in toposort([*first, *roots], stop=is_realised):
        number[node] = len(number)
        line = f"%{number[node]} = {_right_side(node, number)} : {type_text(node.type)}"
        lines.append(f"{line}  # {short_site(node.site)}" if sites and node.site else line)
        if isinstance(node.arg, Loop | Branch) and not is_realised(node):
            for body in bodies_of(node.arg):
                inner = graph_text(body.results, sites, body.params)
                lines += ["{", *("  " + text for text in inner.splitlines()), "}"]
    lines.append(" ".join(["roots", ", ".join(f"%{number[root]}" for root in roots)]))
    return "\n".join(lines)


def _right_side(node: Node, number: dict[Node, int]) -> str:
    if node.op is LEAF or is_realised(node):
        return "leaf"
    parts = [node.op.name]
    if node.operands:
        parts.append(", ".join(f"%{number[x]}" for x in node.operands))
    if isinstance(node.arg, Loop):
        parts.append(literal(tuple(node.arg[1:])))
    elif node.arg is not None and not isinstance(node.arg, Branch):
        parts.append(literal(node.arg))
    return " ".join(parts)


def literal(value: Any) -> str:
    """A Python literal, with dtypes by name and named sizes as Dim('rows', 3)."""
    if isinstance(value, DType):
        return value.name
    if isinstance(value, Device):
        return f"Device({str(value)!r})"
    if isinstance(value, Dim):
        return f"Dim({literal(value.name)}, {int(value)})"
    if isinstance(value, str):  # without the letters that end an arg, a line or a remark
        return "".join([ESCAPED.get(letter, letter) for letter in repr(value)])
    if hasattr(value, "dtype") and hasattr(value, "item"):  # a NumPy scalar among the options
        return literal(value.item())
    if isinstance(value, tuple):
        inner = ", ".join(literal(part) for part in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, complex):  # repr's sum would lose signs of zeros, and has no inf
        return f"complex({value.real!r}, {value.imag!r})"
    return repr(value)


def type_text(type_: Type) -> str:
    """`f32[8, rows=16]`, with the device where it is not the host."""
    sizes = ", ".join(_size(n) for n in type_.shape)
    text = f"{type_.dtype.short}[{sizes}]"
    return text if type_.device.backend == "cpu" else f"{text} on {type_.device}"


def _size(n: int) -> str:
    if not isinstance(n, Dim):
        return str(n)
    quoted = "".join([IN_SIZES.get(letter, letter) for letter in literal(n.name)])
    return f"{n.name if WORD.fullmatch(n.name) else quoted}={int(n)}"


def short_site(site: str) -> str:
    """file:line without the folders, and the composite the node is a part of."""
    head, _, call = site.partition(WITHIN)
    line = head.partition(SPAN)[0].partition(FIELD)[0]
    return f"{basename(line)} in {call}" if call else basename(line)
