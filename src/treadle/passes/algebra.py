"""Algebraic identities."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from functools import partial
from typing import Any

from treadle.base.dtypes import DType, float32
from treadle.ir.node import Node, const, full
from treadle.ir.pattern import Rule, constant_value, hole, rule
from treadle.ops import elementwise as e
from treadle.ops.defs import Kind, Op

x, y = hole("x"), hole("y")


def _whole(d: DType) -> bool:
    return not d.is_float


def _numbers(d: DType) -> bool:
    return d.kind != "bool"


ALGEBRA = (
    rule("add-zero", x + 0, lambda x: x, _numbers),
    rule("zero-add", 0 + x, lambda x: x, _numbers),
    rule("sub-zero", x - 0, lambda x: x),
    rule("zero-sub", 0 - x, lambda x: -x),
    rule("mul-one", x * 1, lambda x: x, _numbers),
    rule("one-mul", 1 * x, lambda x: x, _numbers),
    rule("mul-zero", x * 0, lambda x: full(0, x.type), _whole),
    rule("zero-mul", 0 * x, lambda x: full(0, x.type), _whole),
    rule("mul-zero-float", x * 0.0, lambda x: full(0, x.type), exact=False),
    rule("div-one", x / 1, lambda x: x),
    rule("neg-neg", -(-x), lambda x: x),
    rule("mul-minus-one", x * -1, lambda x: -x, _numbers),
    rule("add-neg", x + (-y), lambda x, y: x - y, _numbers),
    rule("neg-add", (-x) + y, lambda x, y: y - x, _numbers),
    rule("sub-neg", x - (-y), lambda x, y: x + y, _numbers),
    rule("neg-mul", (-x) * y, lambda x, y: -(x * y), _numbers),
    rule("mul-neg", x * (-y), lambda x, y: -(x * y), _numbers),
    rule("sub-self", x - x, lambda x: full(0, x.type), _whole),
    rule("and-self", x & x, lambda x: x),
    rule("or-self", x | x, lambda x: x),
    rule("max-self", e.maximum(x, x), lambda x: x),
    rule("min-self", e.minimum(x, x), lambda x: x),
    rule("factor-out", x * y + x * hole("z"), lambda x, y, z: x * (y + z), exact=False),
)


# ---- constants

_FOLDS: dict[Op, Callable[..., Any]] = {
    e.add: lambda a, b: a + b,
    e.sub: lambda a, b: a - b,
    e.mul: lambda a, b: a * b,
    e.neg: lambda a: -a,
    e.div: lambda a, b: a / b,
    e.maximum: max,
    e.minimum: min,
    e.lt: lambda a, b: a < b,
    e.le: lambda a, b: a <= b,
    e.gt: lambda a, b: a > b,
    e.ge: lambda a, b: a >= b,
    e.eq: lambda a, b: a == b,
    e.ne: lambda a, b: a != b,
    e.cast: lambda a: a,
}


def _held(value: Any, d: DType) -> Any:
    """The number that d holds for value."""
    return array("f", [value])[0] if d is float32 and value is not None else value


def _fold(node: Node) -> Node | None:
    """An op on constants alone, computed now, where the dtypes allow it to be exact."""
    values = [_held(constant_value(x), x.dtype) for x in node.operands]
    half = any(x.dtype.is_float and x.dtype.bits == 16 for x in (node, *node.operands))
    if half or any(v is None or not math.isfinite(v) for v in values):
        return None
    if node.dtype.kind == "bool" and node.op in (e.add, e.mul, e.maximum, e.minimum):
        return None
    try:
        result = _FOLDS[node.op](*values)
    except ZeroDivisionError:
        return None
    if node.dtype.is_integer and not node.dtype.least <= int(result) <= node.dtype.greatest:
        return None
    return full(result, node.type)


def _where_constant(node: Node) -> Node | None:
    condition = constant_value(node.operands[0])
    if condition is None:
        return None
    chosen = node.operands[1 if condition else 2]
    return chosen if chosen.shape == node.shape else chosen.expand(node.shape)


def _where_same(node: Node) -> Node | None:
    _, a, b = node.operands
    same = a is b or (constant_value(a) is not None and constant_value(a) == constant_value(b))
    return a if same else None


def _identity_cast(node: Node) -> Node | None:
    return node.operands[0] if node.operands[0].dtype is node.dtype else None


def _scalar_operands(node: Node) -> Node | None:
    """Constants spread by a view are used as numbers: elementwise ops broadcast by themselves."""
    changed = False
    operands = []
    for k, x in enumerate(node.operands):
        value = constant_value(x) if x.op.kind is Kind.MOVEMENT else None
        others = [o for i, o in enumerate(node.operands) if i != k]
        if value is not None and any(o.shape == node.shape for o in others):
            x, changed = const(value, x.dtype, x.device), True  # noqa: PLW2901
        operands.append(x)
    return node.op(*operands) if changed else None


def _fold_example(op: Op, _: Callable[..., Node]) -> Node:
    two, three = const(2.0, float32), const(3.0, float32)
    if op is e.cast:
        return e.cast(two, "int32")
    return e.neg(two) if op is e.neg else op(two, three)


def _scalar_example(op: Op, leaf: Callable[..., Node]) -> Node:
    x = leaf((3, 4))
    return op(x, full(2, x.type))


CONSTANTS = (
    *(Rule(f"fold-{op}", op, _fold, partial(_fold_example, op)) for op in _FOLDS),
    *(Rule(f"scalar-{op}", op, _scalar_operands, partial(_scalar_example, op))
      for op in (e.add, e.sub, e.mul, e.div, e.maximum, e.minimum, e.lt, e.le, e.gt, e.ge)),
    Rule("where-constant", e.where, _where_constant,
         lambda leaf: e.where(const(True, leaf((2,), "bool").dtype), leaf((3,)), leaf((3,)))),
    Rule("where-same", e.where, _where_same,
         lambda leaf: (lambda a: e.where(leaf((3,), "bool"), a, a))(leaf((3,)))),
    Rule("cast-same", e.cast, _identity_cast, lambda leaf: e.cast(leaf((3,)), "float32")),
    Rule("detach", e.detach, lambda node: node.operands[0], lambda leaf: e.detach(leaf((3,)))),
)  # fmt: skip
