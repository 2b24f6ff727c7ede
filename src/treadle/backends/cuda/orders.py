"""Values that lie with channels innermost stay so: their views as images move towards who reads.

An image is a view of lines, (batch, *spatial, channels), as (batch, channels, *spatial). What is
computed of it is computed of the lines, and seen as an image then: so between two convolutions
nothing is turned, as the view of one and that of the next cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.backends.cuda.convolutions import IN_LINES
from treadle.ir.node import Node
from treadle.ir.pattern import Rule
from treadle.ops import movement as m
from treadle.ops.defs import TABLE, Kind
from treadle.ops.reduce import max_, min_, sum_
from treadle.ops.totals import prod_
from treadle.ops.windows import shear

FEWEST = 4  # axes: of matrices and batches of them a view is a transpose, which products read


def _lines_of(x: Node) -> Node | None:
    """What x is an image of; spatial axes may be in another order."""
    if x.op is m.expand and x.ndim == x.operands[0].ndim:
        lines = _lines_of(x.operands[0])
        return None if lines is None else lines.expand(_behind(x.shape))
    if x.op is not m.permute or x.ndim < FEWEST or x.arg[:2] != (0, x.ndim - 1):
        return None
    return x.operands[0].permute(_behind(x.arg))


def _behind(parts: Sequence[Any]) -> tuple[Any, ...]:
    """What is said of each axis of an image, of each axis of its lines."""
    return parts[0], *parts[2:], parts[1]


def _along(axis: int, rank: int) -> int:
    """The axis of lines that an axis of their image is."""
    return axis if not axis else rank - 1 if axis == 1 else axis - 1


def _image(lines: Node) -> Node:
    return lines.permute((0, lines.ndim - 1, *range(1, lines.ndim - 1)))


def _as_lines(x: Node, rank: int) -> Node:
    """An operand that is spread along some axes, with its axes in the order of lines."""
    wide = x.reshape((1,) * (rank - x.ndim) + x.shape)
    return wide.permute((0, *range(2, rank), 1))


def _through_map(node: Node) -> Node | None:
    """What meets an image in another order is turned where it is read."""
    lines = [_lines_of(x) if x.shape == node.shape else None for x in node.operands]
    if all(x is None or y.op is m.expand for x, y in zip(lines, node.operands, strict=True)):
        return None
    operands = tuple([
        _as_lines(x, node.ndim) if line is None else line
        for x, line in zip(node.operands, lines, strict=True)
    ])  # fmt: skip
    return _image(operands[0]._apply(node.op, operands, node.arg))


def _through_reduction(node: Node) -> Node | None:
    x = node.operands[0]
    lines, (axes, keeps) = _lines_of(x), node.arg
    if lines is None:
        return None
    total = node.op(lines, axis=tuple(sorted(_along(k, x.ndim) for k in axes)), keepdims=True)
    total = _image(total)
    return total if keeps else total.reshape(node.shape)


def _through_slice(node: Node) -> Node | None:
    lines = _lines_of(node.operands[0])
    return None if lines is None else _image(m.slice_(lines, _behind(node.arg)))


def _through_pad(node: Node) -> Node | None:
    lines = _lines_of(node.operands[0])
    if lines is None:
        return None
    return _image(m.pad(lines, _behind(node.arg[0]), node.arg[1]))


def _through_shear(node: Node) -> Node | None:
    x = node.operands[0]
    lines, (axis, by, *rest) = _lines_of(x), node.arg
    if lines is None:
        return None
    return _image(shear(lines, _along(axis, x.ndim), _along(by, x.ndim), *rest))


def _through_concat(node: Node) -> Node | None:
    """Parts that are one number everywhere have any order."""
    found, rank = [], node.ndim
    if rank < FEWEST or all(x.op is m.expand for x in node.operands):
        return None
    for x in node.operands:
        lines = _lines_of(x)
        if lines is None and x.op is not m.expand:
            return None
        found.append(_as_lines(x, rank) if lines is None else lines)
    return _image(m.concat(found, axis=_along(node.arg, rank)))


def _through_reshape(node: Node) -> Node | None:
    """Spatial axes made one, or one made several."""
    x = node.operands[0]
    lines = _lines_of(x)
    if lines is None or node.ndim < 3 or node.shape[:2] != x.shape[:2]:
        return None
    return _image(lines.reshape(_behind(node.shape)))


ORDERS = (
    *IN_LINES,
    *(Rule(f"lines-{op}", op, _through_map)
      for op in TABLE.values() if op.kind is Kind.ELEMENTWISE),
    *(Rule(f"lines-{op}", op, _through_reduction) for op in (sum_, max_, min_, prod_)),
    Rule("lines-slice", m.slice_, _through_slice),
    Rule("lines-pad", m.pad, _through_pad),
    Rule("lines-shear", shear, _through_shear),
    Rule("lines-concat", m.concat, _through_concat),
    Rule("lines-reshape", m.reshape, _through_reshape),
)  # fmt: skip
