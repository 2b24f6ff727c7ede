"""Algebraic identities."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from treadle.base.dtypes import DType
from treadle.ir.node import Node, const, full
from treadle.ir.pattern import Rule, constant_value, hole, rule
from treadle.ops import elementwise as e
from treadle.ops.defs import Kind, Op

x, y, z = hole("x"), hole("y"), hole("z")


def _whole(d: DType) -> bool:
    return d.is_integer or d.kind == "bool"


def _floats(d: DType) -> bool:
    return d.is_float


def _numbers(d: DType) -> bool:
    return d.kind != "bool"


def _zeros(**found: Node) -> Node:
    return full(0, found["x"].type)


# x + 0.0 is 0.0 where x is -0.0, 0 * x is NaN where x is infinite: such rules are not exact.
ALGEBRA = (
    rule("add-zero", x + 0, lambda x: x, lambda d: d.is_integer),
    rule("add-minus-zero", x + -0.0, lambda x: x, _floats),
    rule("add-zero-float", x + 0.0, lambda x: x, _floats, exact=False),
    rule("sub-zero", x - 0, lambda x: x),
    rule("zero-sub", 0 - x, lambda x: -x, _whole),
    rule("minus-zero-sub", -0.0 - x, lambda x: -x, _floats),
    rule("zero-sub-float", 0.0 - x, lambda x: -x, _floats, exact=False),
    rule("mul-one", x * 1, lambda x: x, _numbers),
    rule("mul-zero", x * 0, _zeros, _whole),
    rule("mul-zero-float", x * 0.0, _zeros, _floats, exact=False),
    rule("div-one", x / 1, lambda x: x),
    rule("div-self", x / x, lambda x: full(1, x.type), exact=False),
    rule("neg-neg", -(-x), lambda x: x),
    rule("mul-minus-one", x * -1, lambda x: -x, _numbers),
    rule("add-neg", x + (-y), lambda x, y: x - y, _numbers),
    rule("neg-add", (-x) + y, lambda x, y: y - x, _numbers),
    rule("sub-neg", x - (-y), lambda x, y: x + y, _numbers),
    rule("neg-mul", (-x) * y, lambda x, y: -(x * y), _numbers),
    rule("mul-neg", x * (-y), lambda x, y: -(x * y), _numbers),
    rule("sub-self", x - x, _zeros, _whole),
    rule("sub-self-float", x - x, _zeros, _floats, exact=False),
    rule("and-self", x & x, lambda x: x),
    rule("or-self", x | x, lambda x: x),
    rule("xor-self", x ^ x, _zeros),
    rule("and-zero", x & 0, _zeros),
    rule("or-zero", x | 0, lambda x: x),
    rule("xor-zero", x ^ 0, lambda x: x),
    rule("shift-left-zero", x << 0, lambda x: x),
    rule("shift-right-zero", x >> 0, lambda x: x),
    rule("max-self", e.maximum(x, x), lambda x: x),
    rule("min-self", e.minimum(x, x), lambda x: x),
    rule("factor-out", x * y + x * z, lambda x, y, z: x * (y + z), exact=False),
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
_WHOLE_FOLDS: dict[Op, Callable[..., Any]] = {
    e.floor_divide: lambda a, b: a // b,
    e.remainder: lambda a, b: a % b,
    e.bitwise_and: lambda a, b: a & b,
    e.bitwise_or: lambda a, b: a | b,
    e.bitwise_xor: lambda a, b: a ^ b,
}


def held(value: Any, d: DType) -> Any:
    """The number that d holds for value."""
    return d.nearest(value) if d.is_float and value is not None else value


def _fold(node: Node) -> Node | None:
    """An op on constants alone, computed now, where the dtypes allow it to be exact."""
    values = []
    for x in node.operands:
        value = held(constant_value(x), x.dtype)
        if value is None or not math.isfinite(value):
            return None
        values.append(value)
    if any(x.dtype.compute is not x.dtype for x in (node, *node.operands)):
        return None
    if node.dtype.kind == "bool" and node.op in (e.add, e.mul, e.maximum, e.minimum):
        return None
    if node.op in _WHOLE_FOLDS and not node.dtype.is_integer:
        return None
    try:
        result = (_FOLDS.get(node.op) or _WHOLE_FOLDS[node.op])(*values)
    except ZeroDivisionError:
        return None
    result = int(result) if node.dtype.is_integer else result
    if node.dtype.is_integer and not node.dtype.least <= result <= node.dtype.greatest:
        return None
    return full(result, node.type)


def _constant_right(node: Node) -> Node | None:
    """2 + x as x + 2, so that the other rules look in one place."""
    a, b = node.operands
    swap = constant_value(a) is not None and constant_value(b) is None
    return node.op(b, a) if swap else None


def _regrouped(exact: bool, node: Node) -> Node | None:
    """(x + 2) + 3 as x + 5, the same for products and bits: exact on integers, which wrap."""
    if node.dtype.is_float is exact or node.dtype.kind == "bool":
        return None
    inner, second = node.operands
    b = constant_value(second)
    a = constant_value(inner.operands[1]) if b is not None and inner.op is node.op else None
    if a is None or b is None:
        return None
    total = (_FOLDS.get(node.op) or _WHOLE_FOLDS[node.op])(a, b)
    if node.dtype.is_integer:
        total = wrapped(total, node.dtype)
    return node.op(inner.operands[0], const(total, node.dtype, node.device))


def wrapped(value: int, d: DType) -> int:
    """What an integer type keeps of a number."""
    span = 1 << d.bits
    value %= span
    return value - span if value > d.greatest else value


def _div_constant(exact: bool, node: Node) -> Node | None:
    """x / c as x * (1 / c): the same bits if c is a power of two."""
    value = held(constant_value(node.operands[1]), node.dtype)
    if node.dtype.compute is not node.dtype or not value or not math.isfinite(value):
        return None
    mantissa, power = math.frexp(value)
    if abs(power) >= 126 or exact is not (abs(mantissa) == 0.5):  # 1 / c is a normal float32
        return None
    return node.operands[0] * const(1.0 / value, node.dtype, node.device)


def _where_constant(node: Node) -> Node | None:
    condition = constant_value(node.operands[0])
    if condition is None:
        return None
    chosen = node.operands[1 if condition else 2]
    return chosen if chosen.shape == node.shape else chosen.expand(node.shape)


def _where_same(node: Node) -> Node | None:
    _, a, b = node.operands
    if a is b:
        return a
    value = constant_value(a)
    return a if value is not None and repr(value) == repr(constant_value(b)) else None


def _cast_cast(node: Node) -> Node | None:
    """A cast through a type that holds every value of the first says nothing."""
    inner = node.operands[0]
    if inner.op is not e.cast:
        return None
    x = inner.operands[0]
    if inner.dtype.is_float and x.dtype.is_integer and not _holds(node.dtype, x.dtype):
        return None  # floats saturate on their way to integers, integers wrap
    return x.cast(node.dtype) if _holds(inner.dtype, x.dtype) else None


def _holds(wide: DType, narrow: DType) -> bool:
    """Is every value of narrow one of wide?"""
    if narrow.kind == "bool" or narrow is wide:
        return True
    if wide.is_integer:
        return narrow.is_integer and wide.least <= narrow.least and narrow.greatest <= wide.greatest
    if narrow.is_integer:
        return narrow.bits <= {64: 53, 32: 24}.get(wide.bits, 0)
    return wide.bits > narrow.bits and wide.bits >= 32


def _identity_cast(node: Node) -> Node | None:
    return node.operands[0] if node.operands[0].dtype is node.dtype else None


def _scalar_operands(node: Node) -> Node | None:
    """Constants spread by a view are used as numbers: elementwise ops broadcast by themselves."""
    if not any([x.call.op.kind is Kind.MOVEMENT for x in node.operands]):  # noqa: C419 - faster
        return None
    changed = False
    operands = []
    for k, x in enumerate(node.operands):
        value = constant_value(x) if x.op.kind is Kind.MOVEMENT else None
        others = [o for i, o in enumerate(node.operands) if i != k]
        if value is not None and any(o.shape == node.shape for o in others):
            x, changed = const(value, x.dtype, x.device), True  # noqa: PLW2901
        operands.append(x)
    return node.op(*operands) if changed else None


SPREAD = (e.add, e.sub, e.mul, e.div, e.maximum, e.minimum, e.lt, e.le, e.gt, e.ge)
TURNED = (e.add, e.mul, e.bitwise_and, e.bitwise_or, e.bitwise_xor)

CONSTANTS = (
    *(Rule(f"fold-{op}", op, _fold) for op in (*_FOLDS, *_WHOLE_FOLDS)),
    *(Rule(f"scalar-{op}", op, _scalar_operands) for op in SPREAD),
    *(Rule(f"constant-right-{op}", op, _constant_right) for op in TURNED),
    *(Rule(f"regroup-{op}", op, partial(_regrouped, True)) for op in TURNED),
    *(Rule(f"regroup-{op}-float", op, partial(_regrouped, False), exact=False)
      for op in TURNED[:2]),
    Rule("div-power-of-two", e.div, partial(_div_constant, True)),
    Rule("div-constant", e.div, partial(_div_constant, False), exact=False),
    Rule("where-constant", e.where, _where_constant),
    Rule("where-same", e.where, _where_same),
    Rule("cast-same", e.cast, _identity_cast),
    Rule("cast-cast", e.cast, _cast_cast),
    Rule("detach", e.detach, lambda node: node.operands[0]),
    Rule("rerouted", e.rerouted, lambda node: node.operands[0]),
)  # fmt: skip
