"""Integer arithmetic simplified by what is known about the range of its values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import floordiv, mul, rshift

from treadle.ir.node import CONST, IOTA, Node, const, full
from treadle.ir.pattern import Rule, constant_value
from treadle.ops import elementwise as e
from treadle.ops import movement as m
from treadle.ops.contract import gather
from treadle.ops.defs import Op
from treadle.ops.reduce import max_, min_
from treadle.passes.algebra import wrapped

DEEP = 8  # nodes looked through below one
MOVED = (m.reshape, m.permute, m.expand, m.slice_, m.flip, m.concat, m.pad)
Bounds = tuple[int, int]


def bounds(node: Node, deep: int = DEEP) -> Bounds:
    """Smallest and largest value that an integer or bool node can have."""
    widest = int(node.dtype.least), int(node.dtype.greatest)
    if not deep:
        return widest
    proven = _proven(node, deep - 1)
    wraps = proven is None or proven[0] < widest[0] or proven[1] > widest[1]
    return widest if proven is None or wraps else proven


def _proven(node: Node, deep: int) -> Bounds | None:
    """Bounds of the result before it wraps to its dtype."""
    if node.op is CONST:
        return int(node.arg), int(node.arg)
    if node.op is IOTA:
        return 0, max(0, node.shape[node.arg] - 1)
    if any(x.dtype.is_float for x in node.operands):
        return None
    if node.op in MOVED:
        parts = [bounds(x, deep) for x in node.operands]
        parts += [(int(node.arg[1]), int(node.arg[1]))] if node.op is m.pad else []
        return _hull(*parts)
    if node.op in (gather, max_, min_):
        return bounds(node.operands[0], deep) if node.operands[0].type.size else None
    rule = _INTERVALS.get(node.op)
    return rule(*(bounds(x, deep) for x in node.operands)) if rule else None


def _hull(*parts: Bounds) -> Bounds:
    return min(low for low, _ in parts), max(high for _, high in parts)


def _corners(op: Callable[[int, int], int], a: Bounds, b: Bounds) -> Bounds:
    """Of an op that grows or falls along each operand."""
    values = [op(p, q) for p in a for q in b]
    return min(values), max(values)


def _left_over(a: Bounds, b: Bounds) -> Bounds | None:
    if b[0] <= 0:
        return None
    return a if a[0] >= 0 and a[1] < b[0] else (0, b[1] - 1)


def _masked(a: Bounds, b: Bounds) -> Bounds | None:
    tops = [high for low, high in (a, b) if low >= 0]
    return (0, min(tops)) if tops else None


_INTERVALS: dict[Op, Callable[..., Bounds | None]] = {
    e.add: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    e.sub: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    e.neg: lambda a: (-a[1], -a[0]),
    e.mul: partial(_corners, mul),
    e.cast: lambda a: a,
    e.minimum: partial(_corners, min),
    e.maximum: partial(_corners, max),
    e.where: lambda _, a, b: _hull(a, b),
    e.floor_divide: lambda a, b: _corners(floordiv, a, b) if b[0] > 0 else None,
    e.remainder: _left_over,
    e.bitwise_and: _masked,
    e.shift_right: lambda a, b: _corners(rshift, a, b) if b[0] >= 0 and b[1] < 64 else None,
}


# ---- sums of scaled parts


class Sum:
    """constant + sum of factor * part, as whole numbers."""

    def __init__(self, parts: dict[Node, int], constant: int) -> None:
        self.parts, self.constant = parts, constant

    def add(self, node: Node, factor: int = 1, deep: int = DEEP) -> Sum:
        """Add a node, taken apart."""
        value = constant_value(node)
        a, b = (node.operands * 2)[:2] or (node, node)
        if value is not None:
            self.constant += factor * int(value)
        elif deep and node.op in (e.add, e.sub):
            self.add(a, factor, deep - 1).add(b, factor if node.op is e.add else -factor, deep - 1)
        elif deep and node.op is e.neg:
            self.add(a, -factor, deep - 1)
        elif deep and node.op is e.mul and (scale := constant_value(b)) is not None:
            self.add(a, factor * int(scale), deep - 1)
        else:
            self.parts[node] = self.parts.get(node, 0) + factor
        return self

    def fits(self, like: Node) -> bool:
        """Does the dtype of a node hold every value?"""
        low, high = self.bounds()
        return like.dtype.least <= low and high <= like.dtype.greatest

    def bounds(self) -> Bounds:
        """Smallest and largest value."""
        scaled = [_corners(mul, bounds(x), (c, c)) for x, c in self.parts.items()]
        low, high = (self.constant + sum(pair[k] for pair in scaled) for k in (0, 1))
        return low, high

    def split(self, by: int) -> tuple[Sum, Sum]:
        """(what is divisible by `by`, divided; the rest)."""
        whole = {x: c // by for x, c in self.parts.items() if c and c % by == 0}
        rest = {x: c for x, c in self.parts.items() if c % by}
        return Sum(whole, self.constant // by), Sum(rest, self.constant % by)

    def node(self, like: Node) -> Node:
        """The sum in the dtype of a node."""
        total: Node | None = None
        for x, c in self.parts.items():
            part = x if c == 1 else x * const(wrapped(c, like.dtype), like.dtype, like.device)
            total = part if total is None else total + part
        constant = wrapped(self.constant, like.dtype)
        if total is None:
            return full(constant, like.type)
        return total + const(constant, like.dtype, like.device) if constant else total


def _divisor(node: Node) -> int:
    """The positive constant a quotient or remainder is taken by; 0 if there is none."""
    value = constant_value(node.operands[1])
    return 0 if node.dtype.is_float or value is None or value < 1 else int(value)


def _quotient(node: Node) -> Node | None:
    """(8 i + j) // 8 = i where 0 <= j < 8; (x // a) // b = x // (a b)."""
    by, x = _divisor(node), node.operands[0]
    if not by:
        return None
    whole, rest = (total := Sum({}, 0).add(x)).split(by)
    low, high = rest.bounds()
    if total.fits(node) and low // by == high // by:
        whole.constant += low // by
        return whole.node(node)
    inner = _divisor(x) if x.op is e.floor_divide else 0
    if inner and inner * by <= node.dtype.greatest:
        return x.operands[0] // const(inner * by, node.dtype, node.device)
    return None


def _remainder(node: Node) -> Node | None:
    by = _divisor(node)
    return _reduced(node, by, node.operands[0]) if by else None


def _mask(node: Node) -> Node | None:
    """x & 63 is x % 64, whatever the sign of x."""
    by = _divisor(node) + 1
    if node.dtype.kind == "bool" or by < 2 or by & (by - 1):
        return None
    x = node.operands[0]
    low, high = bounds(x)
    return x if low >= 0 and high < by else _reduced(node, by, x)


def _reduced(node: Node, by: int, x: Node) -> Node | None:
    """(8 i + j) % 8 = j where 0 <= j < 8; (x % (a b)) % b = x % b."""
    whole, rest = (total := Sum({}, 0).add(x)).split(by)
    low, high = rest.bounds()
    fits = total.fits(node)
    if fits and low // by == high // by:
        rest.constant -= low // by * by
        return rest.node(node)
    if fits and whole.parts and rest.fits(node):
        return node.op(rest.node(node), node.operands[1])
    inner = _divisor(x) if x.op is e.remainder else 0
    return node.op(x.operands[0], node.operands[1]) if inner and inner % by == 0 else None


def _extreme(node: Node) -> Node | None:
    """min and max of what never overlaps."""
    if node.dtype.is_float:
        return None
    a, b = node.operands
    (a_low, a_high), (b_low, b_high) = bounds(a), bounds(b)
    smaller, larger = (a, b) if node.op is e.minimum else (b, a)
    return smaller if a_high <= b_low else larger if b_high <= a_low else None


def _compared(node: Node) -> Node | None:
    """A comparison whose outcome is always the same."""
    a, b = node.operands
    if a.dtype.is_float:
        return None
    (low, high), (least, most) = bounds(a), bounds(b)
    outcomes: dict[Op, tuple[bool, bool]] = {  # always, never
        e.lt: (high < least, low >= most), e.le: (high <= least, low > most),
        e.gt: (low > most, high <= least), e.ge: (low >= most, high < least),
        e.eq: (low == high == least == most, high < least or low > most),
        e.ne: (high < least or low > most, low == high == least == most),
    }  # fmt: skip
    always, never = outcomes[node.op]
    return full(always, node.type) if always or never else None


RANGES = (
    Rule("quotient", e.floor_divide, _quotient),
    Rule("remainder", e.remainder, _remainder),
    Rule("mask", e.bitwise_and, _mask),
    *(Rule(f"{op}-range", op, _extreme) for op in (e.minimum, e.maximum)),
    *(Rule(f"{op}-range", op, _compared) for op in (e.lt, e.le, e.gt, e.ge, e.eq, e.ne)),
)
