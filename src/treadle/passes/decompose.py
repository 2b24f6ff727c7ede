"""Composites as primitives, large totals in two steps, many batch axes as few, narrow as wide."""

from __future__ import annotations

from math import isqrt, prod

from treadle.base.dtypes import float32, float64
from treadle.base.shapes import Shape
from treadle.base.sizes import most
from treadle.ir.node import Node, definition
from treadle.ir.pattern import Rule
from treadle.ops import movement as m
from treadle.ops.contract import is_turned, matrix_product, scatter_add, scatter_mul
from treadle.ops.defs import TABLE, Inline, Kind, Op
from treadle.ops.elementwise import add, cast
from treadle.ops.reduce import max_, min_, sum_
from treadle.ops.totals import prod_

CHUNK = 4096  # elements of a partial total: more, added one by one, lose digits
FEW_RESULTS = 64  # with more results than this there is enough to share out already
SHORT, FAIR = 64, 512  # elements of a line: to be joined with others, long enough
LONG = 64 * CHUNK  # elements of a line that is cut though it would be one pass
NARROW, WIDE = 64, 256  # columns: fewer leave lanes empty, so many fill them
MOST_STEPS = 128  # products that are added up as one
FEW_ROWS = (2, 3, 4)  # of a product that are added up one by one
MUCH = 1 << 18  # elements: fewer are soon written
BATCH_AXES = 4  # of a product: templates count through so many at most


def _split(node: Node) -> Node | None:
    """A long reduction, with few results or very long: rows of CHUNK, then the partial results."""
    x = node.operands[0]
    axes, _ = node.arg
    count = prod(x.shape[axis] for axis in axes)
    columns = _columns(node) if count >= 4 * CHUNK else None
    enough = prod(node.shape) > FEW_RESULTS and count < LONG
    if count < 4 * CHUNK or (enough and columns is None):
        return None
    op = node.op
    long = tuple([axis for axis in axes if x.shape[axis] > 1])
    if len(long) < len(axes):  # of one element there is nothing to cut
        return op(x, axis=long, keepdims=True).reshape(node.shape)
    if x.dtype.is_storage:  # partial totals lie in memory, where they would be rounded
        wide = op(cast(x, x.dtype.compute), axis=axes, keepdims=node.arg[1])
        return cast(wide, node.dtype)
    if columns is not None:
        return _folded(op, x.reshape(columns)).reshape(node.shape)
    if x.ndim != 1:
        if axes[-1] != x.ndim - 1:
            return None  # the last axis stays: columns are summed in blocks of rows instead
        last = x.shape[-1]
        if len(axes) < 2:
            lines = x.reshape((prod(x.shape[:-1]), last))
            return _in_chunks(op, lines).reshape(node.shape) if last >= LONG else None
        inside = _inner_axes(x.shape) if last < SHORT and len(axes) == x.ndim else (x.ndim - 1,)
        if not inside:
            return _in_chunks(op, x.reshape((1, -1))).reshape(node.shape)
        return op(op(x, axis=inside, keepdims=True), axis=axes, keepdims=node.arg[1])
    return _in_chunks(op, x.reshape((1, -1))).reshape(node.shape)


def _inner_axes(shape: Shape) -> tuple[int, ...]:
    """The last axes that make a line of fair length, if any do: no element is looked for then."""
    length = 1
    for axis in range(len(shape) - 1, 0, -1):
        length *= shape[axis]
        if length >= FAIR:
            return tuple(range(axis, len(shape))) if length <= 4 * CHUNK else ()
    return ()


def _columns(node: Node) -> tuple[int, int, int] | None:
    """(before, along, behind) the axes, if blocks of rows would not do: few columns, or lines."""
    x, axes = node.operands[0], node.arg[0]
    first, last = axes[0], axes[-1]
    behind = prod(x.shape[last + 1 :])
    before = prod(x.shape[:first])
    if last == x.ndim - 1 or len(axes) != last - first + 1 or not before * behind:
        return None
    wide = behind >= NARROW and before == 1
    return None if wide else (before, prod(x.shape[first : last + 1]), behind)


def _folded(op: Op, x: Node) -> Node:
    """A total along the middle one of three axes: of some elements, then of those totals."""
    before, along, behind = x.shape
    lanes = max(isqrt(along), -(-WIDE // behind))
    rows = along // lanes
    whole = m.cut(x, 1, 0, rows * lanes).reshape((before, rows, lanes, behind))
    totals = op(whole, axis=1)
    if rows * lanes < along:
        totals = m.concat([totals, m.cut(x, 1, rows * lanes, along)], axis=1)
    return op(totals, axis=1)


def _in_chunks(op: Op, x: Node) -> Node:
    """Totals of lines; at once, as the total of a reshape is the total of what it reshapes."""
    lines, size = x.shape
    whole = size // CHUNK * CHUNK
    totals = op(m.cut(x, 1, 0, whole).reshape((lines, size // CHUNK, CHUNK)), axis=2)
    if whole < size:
        totals = m.concat([totals, op(m.cut(x, 1, whole, size), axis=1, keepdims=True)], axis=1)
    return op(totals, axis=1)


def _with_few_batch_axes(node: Node) -> Node | None:
    """Neighbouring batch axes as one where both operands have them alike, or all of them as one."""
    batch, (a, b) = node.shape[:-2], node.operands
    if len(batch) <= BATCH_AXES:
        return None
    runs: list[tuple[int, tuple[bool, ...]]] = []  # elements along neighbours, who has them
    for size, *own in zip(batch, *(_batch_of(x, len(batch)) for x in (a, b)), strict=True):
        has = tuple([n == size for n in own])
        if size != 1 and runs and runs[-1][1] == has:
            runs[-1] = (runs[-1][0] * size, has)
        elif size != 1:
            runs.append((size, has))
    if len(runs) > BATCH_AXES:
        a, b = (x.expand(*batch, *x.shape[-2:]) for x in (a, b))
        runs = [(prod(batch), (True, True))]
    left, right = (
        x.reshape([size if has[k] else 1 for size, has in runs] + list(x.shape[-2:]))
        for k, x in enumerate((a, b))
    )
    return matrix_product(left, right).reshape(node.shape)


def _lone(node: Node) -> Node | None:
    """A row times a matrix that is computed: each element of it is needed once, so all is a sum.

    Of rows or of columns, as it lies in memory. A few rows are a few such sums of what is still
    computed once, if writing it would be much.
    """
    a, b = node.operands
    if node.dtype not in (float32, float64):
        return None
    rows, columns = node.shape[-2:]
    if columns > 1 and _is_computed(b):
        if rows == 1:
            return _row(a, b).reshape(node.shape)
        if rows in FEW_ROWS and prod(node.shape) == rows * columns and most(b.type.size) >= MUCH:
            a, b = a.reshape(a.shape[-2:]), b.reshape(b.shape[-2:])
            lines = [_row(m.cut(a, 0, k, k + 1), b).reshape((1, columns)) for k in range(rows)]
            return m.concat(lines, axis=0).reshape(node.shape)
    if columns == 1 and rows > 1 and _is_computed(a):
        return _row(b.mT, a.mT).reshape(node.shape)
    return None


def _row(a: Node, b: Node) -> Node:
    """A row times a matrix, without the axis of the row."""
    if not _lies_turned(b):
        return sum_(a.mT * b, axis=-2)
    lines = b.operands[0] if is_turned(b) else b.mT
    return sum_(a * lines, axis=-1)


def _lies_turned(x: Node) -> bool:
    """Are neighbours in memory, as far as one can see, not neighbours along the last axis?"""
    turned = False
    while x.op.kind in (Kind.ELEMENTWISE, Kind.MOVEMENT):
        if x.op is m.permute and x.arg[-1] != x.ndim - 1:
            turned = not turned
        x = max(x.operands, key=lambda y: most(y.type.size))
    return turned


def _deeper(node: Node) -> Node | None:
    """A sum of products as one product over the sums of both, where that is less to move.

    So are weights' slopes of a network that goes through many steps.
    """
    a, b = node.operands
    if is_turned(a) and is_turned(b):
        inner = _deeper(a.operands[0] + b.operands[0])
        return None if inner is None else inner.mT
    if (
        a.op is not matrix_product
        or b.op is not matrix_product
        or node.dtype not in (float32, float64)
    ):
        return None
    (left, right), (more, other) = a.operands, b.operands
    alike = left.shape[:-1] == more.shape[:-1] and right.shape[:-2] == other.shape[:-2]
    alike = alike and right.shape[-1] == other.shape[-1]
    rows, columns = node.shape[-2:]
    depths = [x.shape[-1] for x in (left, more) if len(_parts(x)) == 1]  # others are copied anyway
    copied = (rows + columns) * max(depths, default=0)
    if not alike or copied > rows * columns or len(_parts(left)) + len(_parts(more)) > MOST_STEPS:
        return None
    return matrix_product(_beside(left, more, -1), _beside(right, other, -2))


def _parts(x: Node) -> tuple[Node, ...]:
    inner = x.operands[0] if is_turned(x) else x
    return inner.operands if inner.op is m.concat else (inner,)


def _beside(x: Node, y: Node, axis: int) -> Node:
    """Both along an axis, parts of parts as parts of one; transposed ones as they lie."""
    if is_turned(x) and is_turned(y):
        return _beside(x.operands[0], y.operands[0], -3 - axis).mT
    at = x.ndim + axis
    parts = [part for z in (x, y)
             for part in (z.operands if z.op is m.concat and z.arg == at else (z,))]  # fmt: skip
    return m.concat(parts, axis=at)


def _is_computed(x: Node) -> bool:
    """Is there something to compute below views, beyond a cast that products do as they read?"""
    while x.op.kind is Kind.MOVEMENT and len(x.operands) == 1:
        x = x.operands[0]
    return x.op.kind is Kind.ELEMENTWISE and x.op is not cast


def _batch_of(x: Node, rank: int) -> tuple[int, ...]:
    own = x.shape[:-2]
    return (1,) * (rank - len(own)) + own


def _widened(node: Node) -> Node | None:
    """Values that meet in a narrow float meet in the one it computes in, and are rounded once."""
    base, index, values = node.operands
    if not node.dtype.is_storage:
        return None
    base, values = (cast(x, node.dtype.compute) for x in (base, values))
    return cast(node.op(base, index, values, axis=node.arg), node.dtype)


def definitions() -> tuple[Rule, ...]:
    """A rule for every composite there is now: rows may be added at any time."""
    return tuple(
        Rule(f"define-{op}", op, definition)
        for op in TABLE.values()
        if op.kind is Kind.COMPOSITE and not isinstance(op, Inline)
    )


REDUCTIONS = (sum_, max_, min_, prod_)
SPLIT = (
    *(Rule(f"split-{op}", op, _split) for op in REDUCTIONS),
    Rule("few-batch-axes", matrix_product, _with_few_batch_axes),
    Rule("lone-row", matrix_product, _lone),
    Rule("deeper", add, _deeper),
)
WIDEN = tuple(Rule(f"widen-{op}", op, _widened) for op in (scatter_add, scatter_mul))
