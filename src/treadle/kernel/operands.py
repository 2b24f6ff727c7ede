"""How a product reaches its operands: where their elements lie, as functions of row and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from treadle.base.dtypes import DType, float32
from treadle.base.shapes import Shape, strides_of
from treadle.base.sizes import Size, most
from treadle.base.target import Reads, Takes
from treadle.ir.node import LEAF, Call, Node, Type, new_node, placeholder
from treadle.kernel.index import ZERO, Axis, Index, Quotient
from treadle.kernel.loops import Guard
from treadle.kernel.lower import Lowering, is_zero
from treadle.ops.defs import Kind
from treadle.ops.elementwise import cast, where
from treadle.schedule.keep import WRITTEN_OUT


@dataclass(frozen=True)
class Strided:
    """Element (batch..., i, j) at offset + sum of index * stride."""

    base: Node
    offset: int
    strides: tuple[int, ...]


Place = tuple[Axis, Index]
"""Where elements lie along an axis: any function of it."""


@dataclass(frozen=True)
class Separable:
    """Element (batch..., i, j) at offset + sum of batch index * stride + rows(i) + columns(j).

    So do windows lie: both are sums of anything along their own axis, quotients and remainders too.
    Where guards do not hold it is 0, and nothing is read.
    """

    base: Node
    offset: int
    strides: tuple[int, ...]  # of the batch axes
    rows: Place
    columns: Place
    guards: tuple[Guard, ...] = ()


Operand = Strided | Separable


@dataclass(frozen=True)
class Side:
    """An operand as tiles see it: where the product is turned, they see it transposed."""

    operand: Operand
    shape: Shape  # with the last two axes as they are seen
    turned: bool

    @property
    def strides(self) -> tuple[int, int]:
        """Along the last two axes; of a Separable one they count for nothing."""
        if isinstance(self.operand, Separable):
            return 1, 1
        i, j = self.operand.strides[-2:]
        return (j, i) if self.turned else (i, j)

    @property
    def places(self) -> tuple[Place, Place] | None:
        """Along the last two axes, if strides do not tell."""
        if isinstance(self.operand, Strided):
            return None
        rows, columns = self.operand.rows, self.operand.columns
        return (columns, rows) if self.turned else (rows, columns)

    def batch(self, rank: int) -> tuple[int, ...]:
        """Strides along so many batch axes, 0 where it is broadcast."""
        sizes = self.shape[:-2]
        own = [0 if n == 1 else s for s, n in zip(self.operand.strides, sizes, strict=False)]
        return (0,) * (rank - len(own)) + tuple(own)


def sides_of(product: Node, left: Operand, right: Operand, turned: bool) -> tuple[Side, Side]:
    """What the rows and the columns of tiles are made of."""
    a, b = (x.shape for x in product.operands)
    if not turned:
        return Side(left, a, False), Side(right, b, False)
    a, b = ((*shape[:-2], shape[-1], shape[-2]) for shape in (a, b))
    return Side(right, b, True), Side(left, a, True)


LEAST_WORK = 1 << 18  # multiplications: for fewer, tables of places do not pay
CROSS = 30  # multiplications in the time that an element takes to be stored across lines
FULL, HALF = 64, 32  # columns of tiles that keep a processor busy, and those that half do


def operands_of(product: Node, takes: Takes) -> tuple[Operand, Operand]:
    """Where a product's operands are read: in memory that lies below, or copies of their own.

    One of them may be read at any places. If it is the right one tiles are turned, and stored
    across the lines of the result.
    """
    multiplied = product.dtype in takes.products
    converts = takes.converts if multiplied and product.dtype is float32 else ()
    left, right = (located(x, converts) or plain(x) for x in product.operands)
    if product.dtype.is_float and left.base.dtype.is_integer and right.base.dtype.is_integer:
        first = product.operands[0]
        left = located(first, ()) or plain(first)  # one says it is floats
    if any(isinstance(n, Size) for x in product.operands for n in x.shape):
        return left, right  # no table holds them
    work = product.type.size * product.operands[0].shape[-1]
    if product.dtype not in takes.separable or work < LEAST_WORK:
        return left, right
    rows, columns = product.shape[-2:]
    options: list[tuple[float, tuple[Operand, Operand]]] = [
        (_cost(work, columns, takes.copy, left, right), (left, right))
    ]
    if _copied(left) and (other := located(product.operands[0], (), takes.reads)):
        options.append((_cost(work, columns, takes.copy, other, right), (other, right)))
    if _copied(right) and (other := located(product.operands[1], (), takes.reads)):
        stored = CROSS * product.type.size
        options.append((_cost(work, rows, takes.copy, left, other) + stored, (left, other)))
    return min(options, key=lambda option: option[0])[1]


def _cost(work: int, columns: int, copy: float, *operands: Operand) -> float:
    """Multiplications, more where tiles are narrow, and what is copied before."""
    whole = FULL if columns > HALF else HALF
    busy = columns / (-(-columns // whole) * whole) * (1.0 if columns > HALF else 0.75)
    return work / max(busy, 1e-3) + copy * sum(map(_copied, operands))


def _copied(operand: Operand) -> int:
    """Elements that are written out only to be multiplied."""
    return operand.base.type.size if operand.base.op.kind is Kind.MOVEMENT else 0


def located(node: Node, converts: Sequence[DType], reads: Reads | None = None) -> Operand | None:
    """Where node's elements lie in the memory of something below its views, if they do.

    - **converts**: dtypes that whoever reads them widens to the product's
    - **reads**: which ones it takes by rows and columns that lie anywhere
    """
    for base in _below(node, converts):
        if base.op.kind is Kind.SOURCE and base.op is not LEAF:
            continue
        if base.op in WRITTEN_OUT and most(base.type.size) > most(node.type.size):
            continue  # what is read is less to write out than what it is read from
        found = _separable(node, base) if reads else _strided(node, base)
        if found is not None and (reads is None or reads(found)):
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


def _position(node: Node, base: Node) -> tuple[list[Axis], Index, tuple[Guard, ...]] | None:
    """The axes of node, where its element lies in the memory of base, and which do not: guards."""
    axes = [Axis(f"a{k}", n) for k, n in enumerate(node.shape)]
    index = tuple(Index([(a, 1)]) if a.extent > 1 else ZERO for a in axes)
    found = Lowering(lambda n: 0 if n is base else None, ZERO, ZERO).at(node, index)
    if found.op == "cast" and found.dtype is node.dtype:
        (found,) = found.args
    more: tuple[Guard, ...] = ()
    if found.op == where.name and found.args[0].op == "inside" and is_zero(found.args[2]):
        more, found = found.args[0].data, found.args[1]
    if found.op != "load":
        return None
    _, position, guards = found.data
    return axes, position, (*more, *(guard for guard in guards if guard not in more))


def _strided(node: Node, base: Node) -> Strided | None:
    """The last two strides must include a 1 (an axis of one element has any stride)."""
    if node is base:
        return plain(node)
    views: list[Call] = []
    below = node
    while below is not base:
        views.append(below.call)
        below = below.operands[0]
    found = _strides_through(tuple(views), base.type)
    return Strided(base, *found) if found is not None else None


@lru_cache(maxsize=1024)
def _strides_through(views: tuple[Call, ...], base: Type) -> tuple[int, tuple[int, ...]] | None:
    """The offset and strides of what lies so many views above a node, which equal layers share."""
    node = below = placeholder(base)
    for view in reversed(views):
        node = new_node(view, (node,))
    found = _position(node, below)
    if found is None or found[2] or not found[1].is_affine():
        return None
    axes, position, _ = found
    strides = tuple(position.coefficient(axis) for axis in axes)
    (rows, columns), (i, j) = node.shape[-2:], strides[-2:]
    if min(strides, default=0) < 0 or not (i == 1 or j == 1 or rows == 1 or columns == 1):
        return None
    return position.constant, strides


def _separable(node: Node, base: Node) -> Separable | None:
    found = _position(node, base)
    if found is None:
        return None
    (*batch, i, j), position, guards = found
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
    return Separable(base, position.constant, tuple(strides), rows, columns, guards)
