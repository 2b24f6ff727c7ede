"""Convolutions with channels innermost: what a tap of a window meets is a line of memory.

Tensors keep their shape (batch, channels, *spatial). What a convolution reads and what it gives are
images: views of memory in the order (batch, *spatial, channels). `orders.py` moves them on.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

from treadle.base.errors import needed
from treadle.ir.node import Node, definition
from treadle.ir.pattern import Rule
from treadle.ops.contract import matrix_product
from treadle.ops.convolution import CONVOLUTIONS, edges_of
from treadle.ops.deconvolution import is_by_lines, is_by_taps
from treadle.ops.defs import Op
from treadle.ops.lines import lines_of
from treadle.ops.movement import pad
from treadle.ops.windows import per_axis, spans_of


def _last(x: Node) -> Node:
    """(batch, channels, *spatial) as (batch, *spatial, channels)."""
    return x.permute((0, *range(2, x.ndim), 1))


def _first(x: Node) -> Node:
    """(batch, *spatial, channels) as (batch, channels, *spatial)."""
    return x.permute((0, x.ndim - 1, *range(1, x.ndim - 1)))


def _padded(x: Node, edges: list[tuple[int, int]]) -> Node:
    """x with zeros around it, in lines: memory from which windows are read in place."""
    if x.op is pad and x.arg[0][:2] == ((0, 0), (0, 0)) and x.arg[1] == 0:
        edges = [(a + c, b + d) for (a, b), (c, d) in zip(edges, x.arg[0][2:], strict=True)]
        x = x.operands[0]
    if not any(n for pair in edges for n in pair):
        return x
    return _first(pad(_last(x), [(0, 0), *edges, (0, 0)]))


def _convolved(
    row: Op, x: Node, weight: Node, bias: Node | None, stride: Any, padding: Any, dilation: Any,
    groups: int,
) -> Any:  # fmt: skip
    """Windows of x as rows of a matrix, times kernels, plus bias."""
    count = weight.ndim - 2
    if is_by_taps(weight, groups) or not is_by_lines(weight, groups):
        define = needed("row", row.define, row)
        return define(x, weight, bias, stride, padding, dilation, groups)
    strides = per_axis(row.name, "stride", stride, count, 1)
    dilations = per_axis(row.name, "dilation", dilation, count, 1)
    outputs, _, *sizes = weight.shape
    edges = edges_of(row.name, padding, strides, spans_of(tuple(sizes), dilations))
    wide = x if x.ndim == count + 2 else x.reshape((1, *x.shape))
    image = _padded(wide, edges)
    axes = zip(image.shape[2:], spans_of(tuple(sizes), dilations), strides, strict=True)
    places = tuple([(n - span) // step + 1 for n, span, step in axes])
    lines, depth = lines_of(image, tuple(sizes), strides, dilations, places, groups)
    kernels = _last(weight)
    if depth != kernels.shape[1:]:
        more = [(0, n - have) for n, have in zip(depth, kernels.shape[1:], strict=True)]
        kernels = pad(kernels, [(0, 0), *more])
    if groups != 1:
        kernels = kernels.reshape((groups, outputs // groups, prod(depth)))
        bias = None if bias is None else bias.reshape((groups, 1, outputs // groups))
        y = matrix_product(lines, kernels.mT)
        y = (y if bias is None else y + bias).permute((1, 0, 2))
    else:
        y = matrix_product(lines, kernels.reshape((outputs, prod(depth))).mT)
        y = y if bias is None else y + bias
    y = _first(y.reshape((wide.shape[0], *places, outputs)))
    return y.reshape(y.shape[x.ndim < y.ndim :])


def _by_lines(row: Op) -> Rule:
    define = partial(_convolved, row)
    return Rule(f"lines-{row}", row, lambda node: definition(node, define))


IN_LINES = tuple(map(_by_lines, CONVOLUTIONS))
