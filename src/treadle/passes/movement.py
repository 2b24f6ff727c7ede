"""Views merged and cancelled, and their interchange with sums."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

from treadle.ir.node import CONST, Node, full
from treadle.ir.pattern import Rule, constant_value
from treadle.ops import movement as m
from treadle.ops.contract import dot
from treadle.ops.defs import Op
from treadle.ops.elementwise import add
from treadle.ops.reduce import sum_


def _identity(node: Node) -> Node | None:
    x = node.operands[0]
    if node.op is m.permute:
        return x if node.arg == tuple(range(len(node.arg))) else None
    if node.op is m.flip:
        return x if all(x.shape[axis] == 1 for axis in node.arg) else None
    return x if x.shape == node.shape else None


def _reshape_reshape(node: Node) -> Node | None:
    x = node.operands[0]
    return x.operands[0].reshape(node.shape) if x.op is m.reshape else None


def _permute_permute(node: Node) -> Node | None:
    x = node.operands[0]
    if x.op is not m.permute:
        return None
    return x.operands[0].permute(tuple(x.arg[axis] for axis in node.arg))


def _permute_as_reshape(node: Node) -> Node | None:
    """A permutation that only moves size-1 axes keeps the order of elements."""
    moved = [axis for axis in node.arg if node.operands[0].shape[axis] != 1]
    return node.operands[0].reshape(node.shape) if moved == sorted(moved) else None


def _expand_expand(node: Node) -> Node | None:
    x = node.operands[0]
    return x.operands[0].expand(node.shape) if x.op is m.expand else None


def _move_constant(node: Node) -> Node | None:
    """Any view of a constant is the constant, spread."""
    x = node.operands[0]
    value = constant_value(x)
    direct = node.op is m.expand and x.op is CONST
    return None if value is None or direct else full(value, node.type)


def _slice_slice(node: Node) -> Node | None:
    x = node.operands[0]
    if x.op is not m.slice_:
        return None
    ranges = []
    for (start, stop, step), (inner, _, inner_step) in zip(node.arg, x.arg, strict=True):
        count = max(0, -(-(stop - start) // step))
        first = inner + start * inner_step
        last = first + (count - 1) * step * inner_step + 1 if count else first
        ranges.append((first, last, step * inner_step))
    return m.slice_(x.operands[0], ranges)


def _slice_concat(node: Node) -> Node | None:
    """A slice inside one part of a concat reads that part alone."""
    x = node.operands[0]
    if x.op is not m.concat:
        return None
    axis = x.arg
    start, stop, step = node.arg[axis]
    begin = 0
    for part in x.operands:
        end = begin + part.shape[axis]
        if begin <= start and stop <= end and start < end:
            ranges = list(node.arg)
            ranges[axis] = (start - begin, stop - begin, step)
            return m.slice_(part, ranges)
        begin = end
    return None


def _concat_slices(node: Node) -> Node | None:
    """Neighbouring slices of one source, joined, are one slice."""
    axis = node.arg
    parts = node.operands
    if len(parts) < 2 or any(p.op is not m.slice_ for p in parts):
        return None
    source = parts[0].operands[0]
    end = parts[0].arg[axis][0]
    for p in parts:
        others = [r for k, r in enumerate(p.arg) if k != axis]
        first = [r for k, r in enumerate(parts[0].arg) if k != axis]
        start, stop, step = p.arg[axis]
        if p.operands[0] is not source or others != first or step != 1 or start != end:
            return None
        end = stop
    ranges = list(parts[0].arg)
    ranges[axis] = (parts[0].arg[axis][0], end, 1)
    return m.slice_(source, ranges)


def _concat_one(node: Node) -> Node | None:
    parts = [p for p in node.operands if p.shape[node.arg]]
    if len(parts) == len(node.operands) > 1 or not parts:
        return None
    return parts[0] if len(parts) == 1 else m.concat(parts, axis=node.arg)


def _concat_concat(node: Node) -> Node | None:
    parts: list[Node] = []
    for x in node.operands:
        parts += x.operands if x.op is m.concat and x.arg == node.arg else [x]
    return m.concat(parts, axis=node.arg) if len(parts) > len(node.operands) else None


def _add_pads(node: Node) -> Node | None:
    """Zero-padded neighbours added up are joined: the gradient of slices that share a source."""
    x, y = node.operands
    if x.op is not m.pad or y.op is not m.pad or x.arg[1] != 0 or y.arg[1] != 0:
        return None
    if x.shape != y.shape:
        return None
    axes = [k for k, (p, q) in enumerate(zip(x.arg[0], y.arg[0], strict=True)) if p != q]
    if len(axes) != 1:
        return None
    axis = axes[0]
    first, second = sorted((x, y), key=lambda n: n.arg[0][axis][0])
    before, after = first.arg[0][axis][0], second.arg[0][axis][1]
    if before + first.operands[0].shape[axis] != second.arg[0][axis][0]:
        return None
    edges = list(first.arg[0])
    edges[axis] = (before, after)
    return m.pad(m.concat([first.operands[0], second.operands[0]], axis=axis), edges)


def _sum_expand(node: Node) -> Node | None:
    """A sum over broadcast axes is a product with their size."""
    x = node.operands[0]
    if x.op is not m.expand or x.dtype.kind == "bool":
        return None
    axes, keepdims = node.arg
    source = x.operands[0]
    lead = x.ndim - source.ndim
    spread = [a for a in axes if a < lead or source.shape[a - lead] != x.shape[a]]
    if not spread:
        return None
    aligned = source.reshape((1,) * lead + source.shape)
    rest = tuple(axis for axis in axes if axis not in spread)
    kept = sum_(aligned, axis=rest, keepdims=True) if rest else aligned
    sizes = tuple(
        n if axis not in axes and kept.shape[axis] == 1 else kept.shape[axis]
        for axis, n in enumerate(x.shape)
    )
    scaled = (kept * prod(x.shape[axis] for axis in spread)).expand(sizes)
    return scaled if keepdims else scaled.reshape(node.shape)


def _sum_nothing(node: Node) -> Node | None:
    """Reducing axes of size 1 moves nothing."""
    x = node.operands[0]
    axes, _ = node.arg
    if any(x.shape[axis] != 1 for axis in axes):
        return None
    return x.reshape(node.shape)


def _sum_of_none(node: Node) -> Node | None:
    """A sum, of products or not, over an axis without elements is 0."""
    return None if all(x.type.size for x in node.operands) else full(0, node.type)


def _sum_reshape(node: Node) -> Node | None:
    """A total does not care about shape: sum the source of a reshape."""
    x = node.operands[0]
    if x.op is not m.reshape or len(node.arg[0]) != x.ndim or not x.ndim:
        return None
    return sum_(x.operands[0]).reshape(node.shape)


def _constant_example(op: Op, leaf: Callable[..., Node]) -> Node:
    spread = full(2.0, leaf((3, 4)).type)
    if op is m.reshape:
        return m.reshape(spread, 12)
    if op is m.permute:
        return m.permute(spread, 1, 0)
    if op is m.expand:
        return m.expand(spread, 2, 3, 4)
    if op is m.slice_:
        return m.slice_(spread, [(0, 2, 1), (1, 4, 2)])
    return m.flip(spread, 0)


IDENTITIES = (m.reshape, m.expand, m.permute, m.slice_, m.pad, m.flip)

MOVEMENT = (
    Rule("permute-identity", m.permute, _identity, lambda leaf: m.permute(leaf((2, 3)), 0, 1)),
    Rule("reshape-identity", m.reshape, _identity, lambda leaf: m.reshape(leaf((2, 3)), 2, 3)),
    Rule("expand-identity", m.expand, _identity, lambda leaf: m.expand(leaf((2, 3)), 2, 3)),
    Rule("slice-identity", m.slice_, _identity,
         lambda leaf: m.slice_(leaf((2, 3)), [(0, 2, 1), (0, 3, 1)])),
    Rule("pad-identity", m.pad, _identity, lambda leaf: m.pad(leaf((2,)), [(0, 0)])),
    Rule("flip-identity", m.flip, _identity, lambda leaf: m.flip(leaf((1, 3)), 0)),
    *(Rule(f"{op}-constant", op, _move_constant, partial(_constant_example, op))
      for op in IDENTITIES if op is not m.pad),
    Rule("reshape-reshape", m.reshape, _reshape_reshape,
         lambda leaf: leaf((2, 6)).reshape(3, 4).reshape(12)),
    Rule("permute-permute", m.permute, _permute_permute,
         lambda leaf: leaf((2, 3, 4)).permute(1, 2, 0).permute(2, 1, 0)),
    Rule("permute-as-reshape", m.permute, _permute_as_reshape,
         lambda leaf: leaf((2, 1, 4)).permute(1, 0, 2)),
    Rule("expand-expand", m.expand, _expand_expand,
         lambda leaf: leaf((1, 3)).expand(2, 3).expand(4, 2, 3)),
    Rule("slice-slice", m.slice_, _slice_slice,
         lambda leaf: m.slice_(m.slice_(leaf((20,)), [(2, 17, 2)]), [(1, 7, 3)])),
    Rule("slice-concat", m.slice_, _slice_concat,
         lambda leaf: m.slice_(m.concat([leaf((3,)), leaf((5,))]), [(4, 7, 1)])),
    Rule("concat-slices", m.concat, _concat_slices,
         lambda leaf: (lambda x: m.concat([m.slice_(x, [(1, 4, 1)]), m.slice_(x, [(4, 6, 1)])]))(
             leaf((9,)))),
    Rule("concat-one", m.concat, _concat_one, lambda leaf: m.concat([leaf((3,)), leaf((0,))])),
    Rule("concat-concat", m.concat, _concat_concat,
         lambda leaf: m.concat([m.concat([leaf((3,)), leaf((2,))]), leaf((5,))])),
    Rule("add-pads", add, _add_pads,
         lambda leaf: m.pad(leaf((2, 3)), [(0, 0), (3, 2)])
         + m.pad(leaf((2, 3)), [(0, 0), (0, 5)])),
    Rule("sum-expand", sum_, _sum_expand,
         lambda leaf: sum_(leaf((3, 1)).expand(2, 3, 4), axis=(0, 2))),
    Rule("sum-nothing", sum_, _sum_nothing, lambda leaf: sum_(leaf((3, 1)), axis=1)),
    Rule("sum-of-none", sum_, _sum_of_none, lambda leaf: sum_(leaf((0, 3)), axis=0)),
    Rule("dot-of-none", dot, _sum_of_none, lambda leaf: dot(leaf((2, 0)), leaf((0, 3)))),
    Rule("sum-reshape", sum_, _sum_reshape, lambda leaf: sum_(leaf((3, 4)).reshape(12))),
)  # fmt: skip
