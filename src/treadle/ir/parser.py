"""The text of a graph read back as a graph, for golden tests and bug reports."""

from __future__ import annotations

import ast
import re
from typing import Any

from treadle.base.device import CPU, device
from treadle.base.dtypes import dtype
from treadle.base.errors import ArgumentError, explain
from treadle.base.shapes import Dim, Wanted
from treadle.ir.node import Node, Type, apply, full, iota, placeholder, type_of
from treadle.ir.printer import type_text
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
    nodes: dict[str, Node] = {}
    roots: list[Node] = []
    for number, raw in enumerate(text.replace(";", "\n").splitlines(), 1):
        line = raw.split("#")[0].strip()
        if line.startswith("roots"):
            roots = [_found(nodes, name, number) for name in re.findall(r"%(\d+)", line)]
        elif line:
            match = LINE.fullmatch(line)
            if match is None:
                raise _wrong(number, "cannot read the line", line)
            name, *parts = match.groups()
            nodes[name] = _node(nodes, parts, number)
    return roots


def _node(nodes: dict[str, Node], parts: list[Any], number: int) -> Node:
    name, numbers, arg_text, element, sizes, where = parts
    shape = tuple(_size(text.strip(), number) for text in sizes.split(",") if text.strip())
    type_ = type_of(shape, dtype(element), device(where) if where else CPU)
    operands = tuple(_found(nodes, x, number) for x in re.findall(r"%(\d+)", numbers))
    arg = None if arg_text is None else _value(ast.parse(arg_text, mode="eval").body, number)
    if name not in TABLE:
        raise _wrong(number, "no such op", name)
    node = _made(name, operands, arg, type_)
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
