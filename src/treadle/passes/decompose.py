"""Composite ops rewritten into primitives, and large totals into two steps."""

from __future__ import annotations

from math import prod

from treadle.ir.node import Node, expand
from treadle.ir.pattern import Rule
from treadle.ops import movement as m
from treadle.ops.defs import TABLE, Inline, Kind, Op
from treadle.ops.elementwise import cast
from treadle.ops.reduce import max_, min_, sum_
from treadle.ops.totals import prod_

CHUNK = 4096  # elements of a partial total
FEW_RESULTS = 64  # with more results than this there is enough to share out already


def _split(node: Node) -> Node | None:
    """A long reduction with few results: first rows of CHUNK, then the partial results."""
    x = node.operands[0]
    axes, _ = node.arg
    count = prod(x.shape[axis] for axis in axes)
    if prod(node.shape) > FEW_RESULTS or count < 4 * CHUNK:
        return None
    op = node.op
    if x.dtype.is_storage:  # partial totals lie in memory, where they would be rounded
        wide = op(cast(x, x.dtype.compute), axis=axes, keepdims=node.arg[1])
        return cast(wide, node.dtype)
    if x.ndim != 1:
        if axes[-1] != x.ndim - 1:
            return None  # the last axis stays: columns are summed in blocks of rows instead
        last = x.shape[-1]
        if last < 64 and len(axes) == x.ndim:
            return _in_chunks(op, x.reshape(-1)).reshape(node.shape)
        if len(axes) < 2:
            return None
        inner = op(x, axis=-1, keepdims=True)
        return op(inner, axis=axes, keepdims=node.arg[1])
    return _in_chunks(op, x).reshape(node.shape)


def _in_chunks(op: Op, x: Node) -> Node:
    """A total of one axis; at once, as the total of a reshape is the total of what it reshapes."""
    whole = x.shape[0] // CHUNK * CHUNK
    rows = op(m.slice_(x, [(0, whole, 1)]).reshape(-1, CHUNK), axis=1)
    if whole < x.shape[0]:
        tail = op(m.slice_(x, [(whole, x.shape[0], 1)]), axis=0, keepdims=True)
        rows = m.concat([rows, tail])
    return op(rows)


def definitions() -> tuple[Rule, ...]:
    """A rule for every composite there is now: rows may be added at any time."""
    return tuple(
        Rule(f"define-{op}", op, expand)
        for op in TABLE.values()
        if op.kind is Kind.COMPOSITE and not isinstance(op, Inline)
    )


REDUCTIONS = (sum_, max_, min_, prod_)
SPLIT = tuple(Rule(f"split-{op}", op, _split) for op in REDUCTIONS)
