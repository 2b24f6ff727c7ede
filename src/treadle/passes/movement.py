"""Views merged and cancelled."""

from __future__ import annotations

from treadle.ir.node import CONST, Node, full
from treadle.ir.pattern import Rule, constant_value, is_number
from treadle.ops import movement as m
from treadle.ops.contract import gather
from treadle.ops.elementwise import cast


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


def _flip_flip(node: Node) -> Node | None:
    x = node.operands[0]
    if x.op is not m.flip:
        return None
    return m.flip(x.operands[0], tuple(sorted(set(node.arg) ^ set(x.arg))))


def _expand_expand(node: Node) -> Node | None:
    x = node.operands[0]
    return x.operands[0].expand(node.shape) if x.op is m.expand else None


def _expand_reshape(node: Node) -> Node | None:
    """Broadcasting puts axes of size 1 in front by itself."""
    x = node.operands[0]
    if x.op is not m.reshape:
        return None
    source = x.operands[0]
    lead = x.ndim - source.ndim
    fits = lead > 0 and x.shape == (1,) * lead + source.shape
    return source.expand(node.shape) if fits else None


def _aligned(x: Node) -> Node:
    """The source of an expand with as many axes as the result."""
    source = x.operands[0]
    return source.reshape((1,) * (x.ndim - source.ndim) + source.shape)


def _view_expand(node: Node) -> Node | None:
    """A view or cast of a broadcast is the broadcast of one: expands come last."""
    x = node.operands[0]
    if x.op is not m.expand:
        return None
    source = _aligned(x)
    if node.op is cast:
        return x.operands[0].cast(node.dtype).expand(node.shape)
    if node.op is m.permute:
        return source.permute(node.arg).expand(node.shape)
    if node.op is m.flip:
        return m.flip(source, node.arg).expand(node.shape)
    if node.op is m.slice_:
        ranges = [(0, 1, 1) if n == 1 else r for r, n in zip(node.arg, source.shape, strict=True)]
        return m.slice_(source, ranges).expand(node.shape)
    if [n for n in node.shape if n != 1] != [n for n in x.shape if n != 1]:
        return None
    sizes = iter([n for n, spread in zip(source.shape, x.shape, strict=True) if spread != 1])
    return source.reshape(tuple(n if n == 1 else next(sizes) for n in node.shape)).expand(
        node.shape
    )


def _move_constant(node: Node) -> Node | None:
    """Any view of a constant is the constant, spread."""
    x = node.operands[0]
    value = constant_value(x)
    direct = node.op is m.expand and x.op is CONST
    if value is None or direct or (node.op is m.pad and not is_number(value, node.arg[1])):
        return None
    return full(value, node.type)


def _concat_constants(node: Node) -> Node | None:
    value = constant_value(node.operands[0])
    if value is None or not all(is_number(constant_value(x), value) for x in node.operands):
        return None
    return full(value, node.type)


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


def _slice_pad(node: Node) -> Node | None:
    """A slice that reads nothing of a border is a slice of what has the border."""
    x = node.operands[0]
    if x.op is not m.pad:
        return None
    source, ranges = x.operands[0], []
    for (start, stop, step), (before, _), size in zip(
        node.arg, x.arg[0], source.shape, strict=True
    ):
        last = start + (stop - start - 1) // step * step
        if stop <= start or start < before or last >= before + size:
            return None
        ranges.append((start - before, last - before + 1, step))
    return m.slice_(source, ranges)


def _pad_pad(node: Node) -> Node | None:
    x = node.operands[0]
    if x.op is not m.pad or not is_number(x.arg[1], node.arg[1]):
        return None
    edges = [(a + c, b + d) for (a, b), (c, d) in zip(node.arg[0], x.arg[0], strict=True)]
    return m.pad(x.operands[0], edges, node.arg[1])


def _slice_concat(node: Node) -> Node | None:
    """A slice reads only the parts of a concat that it meets."""
    x = node.operands[0]
    if x.op is not m.concat:
        return None
    axis = x.arg
    start, stop, step = node.arg[axis]
    begin, met = 0, []
    for part in x.operands:
        size = part.shape[axis]
        low, high = max(start - begin, 0), min(stop - begin, size)
        if low < high:
            ranges = list(node.arg)
            ranges[axis] = (low, high, step)
            met.append(m.slice_(part, ranges))
        begin += size
    if len(met) == 1:
        return met[0]
    return m.concat(met, axis=axis) if met and step == 1 and len(met) < len(x.operands) else None


def _concat_slices(node: Node) -> Node | None:
    """Neighbouring slices of one source, joined, are one slice."""
    parts = [node.operands[0]]
    for x in node.operands[1:]:
        joined = _neighbours(parts[-1], x, node.arg)
        parts[-1:] = [parts[-1], x] if joined is None else [joined]
    if len(parts) == len(node.operands):
        return None
    return parts[0] if len(parts) == 1 else m.concat(parts, axis=node.arg)


def _neighbours(x: Node, y: Node, axis: int) -> Node | None:
    if x.op is not m.slice_ or y.op is not m.slice_ or x.operands[0] is not y.operands[0]:
        return None
    ranges = list(x.arg)
    (start, end, step), (begin, stop, other) = x.arg[axis], y.arg[axis]
    ranges[axis] = y.arg[axis]
    if tuple(ranges) != y.arg or (step, other) != (1, 1) or begin != end:
        return None
    ranges[axis] = (start, stop, 1)
    return m.slice_(x.operands[0], ranges)


def _concat_one(node: Node) -> Node | None:
    parts = [p for p in node.operands if p.shape[node.arg]]
    if len(parts) == len(node.operands) > 1:
        return None
    return (parts or node.operands)[0] if len(parts) < 2 else m.concat(parts, axis=node.arg)


def _concat_concat(node: Node) -> Node | None:
    parts: list[Node] = []
    for x in node.operands:
        parts += x.operands if x.op is m.concat and x.arg == node.arg else [x]
    return m.concat(parts, axis=node.arg) if len(parts) > len(node.operands) else None


def _gather_cast(node: Node) -> Node | None:
    """Of what is looked up, only so much is cast: what is looked into lies in memory as it is."""
    x, index = node.operands
    if x.op is not cast or not node.type.size <= x.type.size:
        return None
    return cast(gather(x.operands[0], index, axis=node.arg), node.dtype)


VIEWS = (m.reshape, m.expand, m.permute, m.slice_, m.pad, m.flip)

MOVEMENT = (
    *(Rule(f"{op}-identity", op, _identity) for op in VIEWS),
    *(Rule(f"{op}-constant", op, _move_constant) for op in VIEWS),
    Rule("concat-constant", m.concat, _concat_constants),
    Rule("reshape-reshape", m.reshape, _reshape_reshape),
    Rule("permute-permute", m.permute, _permute_permute),
    Rule("permute-as-reshape", m.permute, _permute_as_reshape),
    Rule("expand-expand", m.expand, _expand_expand),
    Rule("expand-reshape", m.expand, _expand_reshape),
    Rule("flip-flip", m.flip, _flip_flip),
    *(Rule(f"{op}-expand", op, _view_expand)
      for op in (m.permute, m.reshape, m.slice_, m.flip, cast)),
    Rule("slice-pad", m.slice_, _slice_pad),
    Rule("pad-pad", m.pad, _pad_pad),
    Rule("slice-slice", m.slice_, _slice_slice),
    Rule("slice-concat", m.slice_, _slice_concat),
    Rule("concat-slices", m.concat, _concat_slices),
    Rule("concat-one", m.concat, _concat_one),
    Rule("concat-concat", m.concat, _concat_concat),
    Rule("gather-cast", gather, _gather_cast),
)  # fmt: skip
