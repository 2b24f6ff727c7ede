"""Choices by one condition: taken once, as late as can be, and for a row where it is fixed."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from treadle.ir.node import Node, const
from treadle.ir.pattern import Rule, constant_value
from treadle.ops import elementwise as e
from treadle.ops.defs import Kind, Op
from treadle.ops.reduce import max_, min_, sum_

WHOLE = 1 << 11  # integers below are held by every float
FOLDS: dict[Op, Callable[..., Any]] = {
    e.add: lambda a, b: a + b, e.sub: lambda a, b: a - b, e.mul: lambda a, b: a * b,
    e.neg: lambda a: -a, e.exp: lambda a: 1 if a == 0 else None,
}  # fmt: skip
MAPS = (*FOLDS, e.div)


def _of_choices(node: Node) -> Node | None:
    """f(c ? 1 : x, c ? 2 : y) as c ? f(1, 2) : f(x, y), where one side holds numbers alone."""
    chosen = [x for x in node.operands if x.op is e.where]
    if len(chosen) < len(node.operands) and node.op is not e.div:
        return None  # a factor of all there is may still be taken out of a sum
    if not chosen or any(x.operands[0] is not chosen[0].operands[0] for x in chosen[1:]):
        return None
    for side in (1, 2):
        parts = [x.operands[side] if x in chosen else x for x in node.operands]
        if all(_is_number(x) for x in parts):
            others = [x.operands[3 - side] if x in chosen else x for x in node.operands]
            pair = [_number(node, parts), node.op(*others)]
            return e.where(chosen[0].operands[0], *(pair if side == 1 else pair[::-1]))
    return None


def _is_number(x: Node) -> bool:
    """A constant, or made of constants alone?"""
    if constant_value(x) is not None:
        return True
    made = not x.ndim and x.op.kind is Kind.ELEMENTWISE and x.op is not e.where
    return made and all(_is_number(part) for part in x.operands)


def _number(node: Node, parts: list[Node]) -> Node:
    """The op on numbers: known, if they are small and whole."""
    values = [constant_value(x) for x in parts]
    fold = FOLDS.get(node.op)
    if fold is not None and all(v is not None and abs(v) < WHOLE and v == int(v) for v in values):
        result = fold(*values)
        if result is not None:
            return const(result, node.dtype, node.device)
    scalars = [
        const(value, x.dtype, x.device) if x.ndim and value is not None else x
        for x, value in zip(parts, values, strict=True)
    ]
    return node.op(*scalars)


def _of_rows(node: Node) -> Node | None:
    """A reduction of c ? 1 : x, where c is the same all along: chosen after it."""
    x = node.operands[0]
    axes, keepdims = node.arg
    if x.op is not e.where or not keepdims or not prod(x.shape):
        return None
    test, number, other = x.operands
    sizes = (1,) * (x.ndim - test.ndim) + test.shape
    value = constant_value(number)
    if value is None or any(sizes[axis] != 1 for axis in axes) or other.shape != x.shape:
        return None
    if node.op is sum_:
        count = prod(x.shape[axis] for axis in axes)
        if value != value or abs(value) >= WHOLE or value != int(value) or count >= 1 << 24:
            return None
        value = value * count
    total = node.op(other, axis=axes, keepdims=True)
    return e.where(test, const(value, node.dtype, node.device), total)


def _chosen_twice(node: Node) -> Node | None:
    """c ? a : (c ? b : x) is c ? a : x."""
    test, a, b = node.operands
    if b.op is e.where and b.operands[0] is test and b.operands[2].shape == b.shape:
        return e.where(test, a, b.operands[2])
    if a.op is e.where and a.operands[0] is test and a.operands[1].shape == a.shape:
        return e.where(test, a.operands[1], b)
    return None


SELECTS = (
    *(Rule(f"{op}-choices", op, _of_choices) for op in MAPS),
    *(Rule(f"{op}-choice", op, _of_rows) for op in (sum_, max_, min_)),
    Rule("choice-twice", e.where, _chosen_twice),
)
