"""Expressions with holes, and rules made of them."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign
from typing import Any

from treadle.base.dtypes import DType, float32
from treadle.base.errors import needed
from treadle.base.shapes import Shape
from treadle.ir.node import CONST, Node
from treadle.ops.defs import Kind, Op
from treadle.ops.movement import pad
from treadle.ops.syntax import Syntax
from treadle.ops.windows import shear

FILLED = (pad, shear)  # views that put in elements of their own


class Pattern(Syntax):
    """A hole (op is None), a number, or an op on patterns. Arithmetic makes more of them."""

    __slots__ = ("name", "op", "operands", "value")

    shape: Shape = ()
    dtype: DType = float32

    def __init__(
        self, op: Op | None, operands: tuple[Pattern, ...] = (), name: str = "", value: Any = None
    ) -> None:
        self.op, self.operands, self.name, self.value = op, operands, name, value

    def _apply(self, op: Op, operands: tuple[Any, ...], arg: Any) -> Pattern:
        parts = tuple(x if isinstance(x, Pattern) else Pattern(CONST, value=x) for x in operands)
        return Pattern(op, parts)

    def match(self, node: Node, found: dict[str, Node]) -> bool:
        """Does node fit? Holes are filled in found; a hole named twice must fit the same node."""
        if self.op is None:
            return found.setdefault(self.name, node) is node
        if self.op is CONST:
            return is_number(constant_value(node), self.value)
        return node.op is self.op and all(
            part.match(x, found) for part, x in zip(self.operands, node.operands, strict=True)
        )


def hole(name: str) -> Pattern:
    """A variable of a pattern."""
    return Pattern(None, name=name)


def constant_value(node: Node) -> float | int | bool | None:
    """The number every element of node is, if that is known from constants and views alone."""
    while node.op.kind is Kind.MOVEMENT and len(node.operands) == 1 and node.op not in FILLED:
        node = node.operands[0]
    return node.arg if node.op is CONST else None


def is_number(value: float | int | None, wanted: float | int) -> bool:
    """Equal, with zeros of the same sign: x + 0.0 is not x where x is -0.0."""
    return value == wanted and (value != 0 or copysign(1.0, value) == copysign(1.0, wanted))


class Rule:
    """A named rewrite. `apply` gives the replacement of a node, or None where it does not fit.

    exact: every element keeps its bits, whatever the operands hold (sums may be taken in another
    order). Other rules run only where `TREADLE_FAST_MATH` asks for them.
    """

    __slots__ = ("apply", "exact", "name", "op", "pattern")

    def __init__(
        self,
        name: str,
        op: Op,
        apply: Callable[[Node], Node | None],
        exact: bool = True,
        pattern: Pattern | None = None,
    ) -> None:
        self.name, self.op, self.apply, self.exact = name, op, apply, exact
        self.pattern = pattern  # what it was made from


def rule(
    name: str,
    pattern: Pattern,
    replacement: Callable[..., Node],
    only: Callable[[DType], bool] = lambda d: True,
    exact: bool = True,
) -> Rule:
    """A rule from a pattern; replacement takes the holes by name."""
    root = needed("rule", pattern.op, name)
    parts = [(k, part.op) for k, part in enumerate(pattern.operands) if part.op is not None]

    def apply(node: Node) -> Node | None:
        for k, wanted in parts:  # most nodes fail here, at little cost
            op = node.operands[k].call.op
            if op is not wanted and (wanted is not CONST or op.kind is not Kind.MOVEMENT):
                return None
        found: dict[str, Node] = {}
        if not only(node.dtype) or not pattern.match(node, found):
            return None
        return replacement(**found)

    return Rule(name, root, apply, exact, pattern)
