"""How a product reaches its operands: where their elements lie, as functions of row and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treadle.base.dtypes import DType, float32
from treadle.base.shapes import strides_of
from treadle.base.sizes import Size, most
from treadle.base.target import Takes
from treadle.ir.node import LEAF, Node
from treadle.kernel.index import ZERO, Axis, Index, Quotient
from treadle.kernel.lower import Lowering
from treadle.ops.defs import Kind
from treadle.ops.elementwise import cast
from treadle.schedule.keep import WRITTEN_OUT


@dataclass(frozen=True)
class Strided:
    """Element (batch..., i, j) at offset + sum of index * stride."""

    base: Node
    offset: int
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Separable:
    """Element (batch..., i, j) at offset + sum of batch index * stride + rows(i) + columns(j).

    So do windows lie: both are sums of anything along their own axis, quotients and remainders too.
    """

    base: Node
    offset: int
    strides: tuple[int, ...]  # of the batch axes
    rows: tuple[Axis, Index]
    columns: tuple[Axis, Index]


Operand = Strided | Separable
LEAST_WORK = 1 << 18  # multiplications: for fewer, tables of places do not pay


def operands_of(dot: Node, takes: Takes) -> tuple[Operand, Operand]:
    """Where a product's operands are read: in memory that lies below, or copies of their own.

    One of them may be read at any places: the one that this spares most to write out.
    """
    multiplied = dot.dtype in takes.products
    converts = takes.converts if multiplied and dot.dtype is float32 else ()
    left, right = (located(x, converts) or plain(x) for x in dot.operands)
    sized = any(isinstance(n, Size) for x in dot.operands for n in x.shape)  # no table holds them
    small = sized or dot.type.size * dot.operands[0].shape[-1] < LEAST_WORK
    if not takes.separable or not multiplied or small or dot.dtype.is_storage:
        return left, right
    others = [located(x, (), separable=True) if _copied(found) else None
              for x, found in zip(dot.operands, (left, right), strict=True)]  # fmt: skip
    spared = [_copied(found) - _copied(other) if other else 0
              for found, other in zip((left, right), others, strict=True)]  # fmt: skip
    if others[1] and spared[1] >= max(1, spared[0]):
        return left, others[1]
    return (others[0], right) if others[0] and spared[0] > 0 else (left, right)


def _copied(operand: Operand) -> int:
    """Elements that are written out only to be multiplied."""
    return operand.base.type.size if operand.base.op.kind is Kind.MOVEMENT else 0


def located(node: Node, converts: Sequence[DType], separable: bool = False) -> Operand | None:
    """Where node's elements lie in the memory of something below its views, if they do.

    - **converts**: dtypes that whoever reads them widens to the product's
    - **separable**: it takes them by rows and columns that lie anywhere
    """
    for base in _below(node, converts):
        if base.op.kind is Kind.SOURCE and base.op is not LEAF:
            continue
        if base.op in WRITTEN_OUT and most(base.type.size) > most(node.type.size):
            continue  # what is read is less to write out than what it is read from
        found = _separable(node, base) if separable else _strided(node, base)
        if found is not None:
            return found
    return None


def plain(node: Node) -> Strided:
    """A node in memory of its own."""
    return Strided(node, 0, strides_of(node.shape))


def _below(node: Node, converts: Sequence[DType]) -> list[Node]:
    """What could lie in memory for node: what is below its views, then views without strides."""
    views = []
    while _is_view(node) or _is_widened(node, converts):
        if node.op in WRITTEN_OUT:
            views.append(node)
        node = node.operands[0]
    return [node, *reversed(views)]


def _is_view(node: Node) -> bool:
    return node.op.kind is Kind.MOVEMENT and len(node.operands) == 1


def _is_widened(node: Node, converts: Sequence[DType]) -> bool:
    """A cast to what the product computes in, of something narrow?"""
    return node.op is cast and node.dtype is float32 and node.operands[0].dtype in converts


def _position(node: Node, base: Node) -> tuple[list[Axis], Index] | None:
    """The axes of node, and where its element lies in the memory of base; None if some do not."""
    axes = [Axis(f"a{k}", n) for k, n in enumerate(node.shape)]
    index = tuple(Index([(a, 1)]) if a.extent > 1 else ZERO for a in axes)
    found = Lowering(lambda n: 0 if n is base else None, ZERO, ZERO).at(node, index)
    if found.op == "cast" and found.dtype is node.dtype:
        (found,) = found.args
    if found.op != "load" or found.data[2]:
        return None
    return axes, found.data[1]


def _strided(node: Node, base: Node) -> Strided | None:
    """The last two strides must include a 1 (an axis of one element has any stride)."""
    if node is base:
        return plain(node)
    found = _position(node, base)
    if found is None or not found[1].is_affine():
        return None
    axes, position = found
    strides = tuple(position.coefficient(axis) for axis in axes)
    (rows, columns), (i, j) = node.shape[-2:], strides[-2:]
    if min(strides, default=0) < 0 or not (i == 1 or j == 1 or rows == 1 or columns == 1):
        return None
    return Strided(base, position.constant, strides)


def _separable(node: Node, base: Node) -> Separable | None:
    found = _position(node, base)
    if found is None:
        return None
    (*batch, i, j), position = found
    parts: dict[Axis, list[tuple[Axis | Quotient, int]]] = {axis: [] for axis in (*batch, i, j)}
    for atom, factor in position.terms:
        if not isinstance(atom, Axis | Quotient):
            return None
        axes = {atom} if isinstance(atom, Axis) else atom.of.axes()
        if len(axes) != 1:
            return None
        parts[axes.pop()].append((atom, factor))
    strides = []
    for axis in batch:
        if any(atom is not axis for atom, _ in parts[axis]):
            return None
        strides.append(position.coefficient(axis))
    rows, columns = ((axis, Index(parts[axis])) for axis in (i, j))
    return Separable(base, position.constant, tuple(strides), rows, columns)
