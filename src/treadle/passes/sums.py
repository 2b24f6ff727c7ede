"""Sums, products and reductions of broadcasts, of constants and of nothing."""

from __future__ import annotations

from functools import partial
from math import isfinite, prod

from treadle.ir.node import Node, full
from treadle.ir.pattern import Rule, constant_value, is_number
from treadle.ops import movement as m
from treadle.ops.contract import matrix_product
from treadle.ops.elementwise import add, cast
from treadle.ops.reduce import max_, min_, sum_
from treadle.ops.totals import prod_
from treadle.passes.algebra import held, wrapped

EXACT_BITS = {32: 24, 64: 53}  # integers up to 2 to this power are floats


def _add_pads(node: Node) -> Node | None:
    """Zero-padded neighbours added up are joined: the gradient of slices that share a source.

    Every element has 0 added to it, so that -0.0 becomes 0.0 as it did.
    """
    x, y = (_without_zero(operand) for operand in node.operands)
    if not all(p.op is m.pad and is_number(p.arg[1], 0) for p in (x, y)):
        return None
    if x.shape != y.shape or node.dtype.kind == "bool":
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
    return m.pad(m.concat([first.operands[0], second.operands[0]], axis=axis), edges) + 0


def _without_zero(node: Node) -> Node:
    """x of a sum x + 0."""
    zero = node.op is add and is_number(constant_value(node.operands[1]), 0)
    return node.operands[0] if zero else node


def _sum_expand(node: Node) -> Node | None:
    """A sum over axes that were not broadcast is taken before the broadcast."""
    x = node.operands[0]
    if x.op is not m.expand:
        return None
    axes, keepdims = node.arg
    source = x.operands[0]
    lead = x.ndim - source.ndim
    rest = tuple(a for a in axes if a >= lead and source.shape[a - lead] == x.shape[a])
    if not rest:
        return None
    source = cast(source, x.dtype.compute)  # rounded once, in the end
    summed = sum_(source, axis=tuple(a - lead for a in rest), keepdims=True)
    sizes = tuple(1 if a in rest else n for a, n in enumerate(x.shape))
    spread = tuple(a for a in axes if a not in rest)
    result = summed.expand(sizes)
    if spread:
        result = sum_(result, axis=spread, keepdims=True)
    return result if keepdims else result.reshape(node.shape)


def _sum_broadcast(exact: bool, node: Node) -> Node | None:
    """A sum over broadcast axes is a product with their size; it is rounded once, not n times."""
    x = node.operands[0]
    if x.op is not m.expand or x.dtype.is_float is exact or x.dtype.kind == "bool":
        return None
    axes, keepdims = node.arg
    source = x.operands[0]
    lead = x.ndim - source.ndim
    if any(a >= lead and source.shape[a - lead] != 1 for a in axes):
        return None  # until the other axes are summed first
    count = prod(x.shape[a] for a in axes)
    if x.dtype.is_integer:
        count = wrapped(count, x.dtype)
    sizes = tuple(1 if a in axes else n for a, n in enumerate(x.shape))
    scaled = (source * count).expand(sizes)
    return scaled if keepdims else scaled.reshape(node.shape)


def _reduce_constant(node: Node) -> Node | None:
    """An extreme of equal numbers is one of them; their sum a product, if no partial sum rounds."""
    x = node.operands[0]
    value = held(constant_value(x), x.dtype)
    if value is None or not x.type.size or x.dtype.compute is not x.dtype:
        return None
    if node.op is not sum_:
        return full(value, node.type)
    count = x.type.size // node.type.size
    if x.dtype.is_integer:
        return full(wrapped(value * count, x.dtype), node.type)
    if not x.dtype.is_float or not isfinite(value) or is_number(value, -0.0):
        return None
    whole, parts = value.as_integer_ratio()
    if abs(whole) * count > 1 << EXACT_BITS[x.dtype.bits] or parts > 1 << 100:
        return None
    return full(value * count, node.type)


def _sum_nothing(node: Node) -> Node | None:
    """Reducing axes of size 1 moves nothing."""
    x = node.operands[0]
    axes, _ = node.arg
    if any(x.shape[axis] != 1 for axis in axes):
        return None
    return x.reshape(node.shape)


def _sum_of_none(node: Node) -> Node | None:
    """A sum, of products or not, over an axis without elements is 0, a product 1."""
    nothing = 1 if node.op is prod_ else 0
    return None if all(x.type.size for x in node.operands) else full(nothing, node.type)


def _sum_reshape(node: Node) -> Node | None:
    """A total does not care about shape: sum the source of a reshape."""
    x = node.operands[0]
    if x.op is not m.reshape or len(node.arg[0]) != x.ndim or not x.ndim:
        return None
    return sum_(x.operands[0]).reshape(node.shape)


def _product_of_zero(exact: bool, node: Node) -> Node | None:
    """A product with a matrix of zeros; it would hold NaN where the other is infinite."""
    zeros = any(constant_value(x) == 0 for x in node.operands)
    return full(0, node.type) if zeros and node.dtype.is_float is not exact else None


SUMS = (
    Rule("add-pads", add, _add_pads),
    *(Rule(f"{op}-constant", op, _reduce_constant) for op in (sum_, max_, min_)),
    Rule("sum-expand", sum_, _sum_expand),
    Rule("sum-broadcast", sum_, partial(_sum_broadcast, True)),
    Rule("sum-broadcast-float", sum_, partial(_sum_broadcast, False), exact=False),
    *(Rule(f"{op}-nothing", op, _sum_nothing) for op in (sum_, max_, min_, prod_)),
    *(Rule(f"{op}-of-none", op, _sum_of_none) for op in (sum_, prod_, matrix_product)),
    Rule("product-of-zeros", matrix_product, partial(_product_of_zero, True)),
    Rule("product-of-zeros-float", matrix_product, partial(_product_of_zero, False), exact=False),
    Rule("sum-reshape", sum_, _sum_reshape),
)
