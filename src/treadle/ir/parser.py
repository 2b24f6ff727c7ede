"""The text of a graph read back as a graph, for golden tests and bug reports."""

from __future__ import annotations

import ast
import re
from typing import Any

from treadle.base.device import CPU, device
from treadle.base.dtypes import dtype
from treadle.base.errors import ArgumentError, explain
from treadle.base.shapes import Dim, Wanted
from treadle.ir.node import LEAF, Node, Type, apply, full, iota, placeholder, type_of
from treadle.ir.printer import type_text
from treadle.ir.region import Branch, Loop, Region, apply_region, project, region_of
from treadle.ops.defs import TABLE, Kind
from treadle.ops.options import Chosen

LINE = re.compile(r"%(\d+) = (\w+)((?: %\d+,?)*)(?: (.+?))? : (\w+)\[([^][]*)\](?: on (\S+))?")
SIZE = re.compile(r"(?:(\w+|'(?:[^'\\]|\\.)*'|\"[^\"]*\")=)?(\d+)")
NUMBERS = {"inf": float("inf"), "nan": float("nan")}


def parse_graph(text: str) -> list[Node]:
    """The roots of a graph printed by `graph_text`; every leaf is a new one without memory.

    >>> [root.op for root in parse_graph("%0 = leaf : f32[2]; %1 = exp %0 : f32[2]; roots %1")]
    [exp]
    """
    return parse_parts(text)[1]


def parse_parts(text: str) -> tuple[list[Node], list[Node]]:
    """Leaves, in the order in which they stand, and roots."""
    lines = [raw.split("#")[0].strip() for raw in text.replace(";", "\n").splitlines()]
    return _graph(list(enumerate(lines, 1)))


Lines = list[tuple[int, str]]
"""What is still to be read, with the numbers of lines."""


def _graph(lines: Lines) -> tuple[list[Node], list[Node]]:
    """Leaves and roots of what stands before the end or a closing brace, which is taken away."""
    nodes: dict[str, Node] = {}
    roots: list[Node] = []
    while lines:
        number, line = lines.pop(0)
        if line == "}":
            break
        if line.startswith("roots"):
            roots = [_found(nodes, name, number) for name in re.findall(r"%(\d+)", line)]
        elif line:
            match = LINE.fullmatch(line)
            if match is None:
                raise _wrong(number, "cannot read the line", line)
            name, *parts = match.groups()
            nodes[name] = _node(nodes, parts, number, lines)
    return [node for node in nodes.values() if node.op is LEAF], roots


def _bodies(lines: Lines) -> list[Region]:
    """The regions that stand next in braces."""
    found = []
    while lines and lines[0][1] == "{":
        del lines[0]
        found.append(region_of(*_graph(lines)))
    return found


def _node(nodes: dict[str, Node], parts: list[Any], number: int, lines: Lines) -> Node:
    name, numbers, arg_text, element, sizes, where = parts
    shape = tuple(_size(text.strip(), number) for text in sizes.split(",") if text.strip())
    type_ = type_of(shape, dtype(element), device(where) if where else CPU)
    operands = tuple(_found(nodes, x, number) for x in re.findall(r"%(\d+)", numbers))
    arg = None if arg_text is None else _value(ast.parse(arg_text, mode="eval").body, number)
    if name not in TABLE:
        raise _wrong(number, "no such op", name)
    bodies = _bodies(lines)
    node = _with_bodies(name, operands, arg, bodies) or _made(name, operands, arg, type_)
    if node.type is not type_:
        raise _wrong(number, f"{name} gives {type_text(node.type)}", type_text(type_))
    return node


def _size(text: str, number: int) -> int:
    """`3`, `rows=3`, or `'odd name'=3`."""
    match = SIZE.fullmatch(text)
    if match is None:
        raise _wrong(number, "not a size", text)
    name, size = match.groups()
    if name is None:
        return int(size)
    return Dim(name if name.isidentifier() else ast.literal_eval(name), int(size))


def _with_bodies(
    name: str, operands: tuple[Node, ...], arg: Any, bodies: list[Region]
) -> Node | None:
    """A loop, a branch, or a result of one; None: another op."""
    if name == "loop":
        return apply_region(Loop(bodies[0], *arg), operands)
    if name == "branch":
        return apply_region(Branch(tuple(bodies)), operands)
    return project(operands[0], arg) if name == "project" else None


def _made(name: str, operands: tuple[Node, ...], arg: Any, type_: Type) -> Node:
    if name == "leaf":
        return placeholder(type_)
    if name == "const":
        return full(arg, type_)
    if name == "iota":
        return iota(type_.shape, arg, type_.device)
    op = TABLE[name]
    return apply(op, operands, Chosen(arg) if op.kind is Kind.COMPOSITE else arg)


def _value(tree: ast.expr, number: int) -> Any:
    """A literal in which names are dtypes, inf or nan."""
    if isinstance(tree, ast.Constant):
        return tree.value
    if isinstance(tree, ast.Tuple):
        parts = tuple(_value(part, number) for part in tree.elts)
        return Wanted(parts) if any(isinstance(part, Dim) for part in parts) else parts
    if isinstance(tree, ast.Call) and ast.unparse(tree.func) == "Dim" and len(tree.args) == 2:
        name, size = (_value(part, number) for part in tree.args)
        return Dim(str(name), int(size))
    if isinstance(tree, ast.Call) and ast.unparse(tree.func) == "complex" and len(tree.args) == 2:
        return complex(*[_value(part, number) for part in tree.args])
    if isinstance(tree, ast.Call) and ast.unparse(tree.func) == "Device" and len(tree.args) == 1:
        return device(str(_value(tree.args[0], number)))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_value(tree.operand, number)
    if isinstance(tree, ast.Name):
        return NUMBERS[tree.id] if tree.id in NUMBERS else dtype(tree.id)
    raise _wrong(number, "not a literal", ast.unparse(tree))


def _found(nodes: dict[str, Node], name: str, number: int) -> Node:
    if name not in nodes:
        raise _wrong(number, "not defined above", f"%{name}")
    return nodes[name]


def _wrong(number: int, wrong: str, got: str) -> ArgumentError:
    return ArgumentError(explain("parse_graph", wrong, line=number, got=got))
