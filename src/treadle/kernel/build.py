"""A group of nodes as loop programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from treadle.base.dtypes import DType
from treadle.base.shapes import Shape
from treadle.base.sizes import most
from treadle.ir.node import LEAF, Node
from treadle.kernel.along import SHORT, near_axis
from treadle.kernel.axes import Swapped, cut_by_parts, linear, merged, refined
from treadle.kernel.index import ZERO, Axis, Index, ravel, unravel
from treadle.kernel.loops import Argument, Loops, Pass, Reduce, Store
from treadle.kernel.lower import Lowering
from treadle.kernel.terms import Space, with_terms
from treadle.ops import movement as m
from treadle.ops.contract import SCATTERS, put
from treadle.schedule.clusters import COLUMN, FULL, ROW, Cluster, bases_of, is_virtual
from treadle.schedule.keep import WRITTEN_OUT

TURNED = 8  # elements along both axes of a transpose: below, any order will do
FEW = 1 << 12  # elements in all: for fewer, one kernel for every shape is worth more
Buffer = Node | str
"""What an argument stands for: a node's memory, or a named temporary."""
Joins = list[tuple[Node, str]]


@dataclass(eq=False)
class Built:
    """A loop program and the memory behind its arguments."""

    loops: Loops
    buffers: list[Buffer] = field(default_factory=list)
    joins: Built | None = None  # this kernel sums what every block of those rows left behind

    def join(self) -> dict[object, int]:
        """Now that the rows are cut into blocks, how many there are; their memory, in bytes."""
        if self.joins is None:
            return {}
        (unknown,), (column,) = self.loops.inner, self.loops.outer
        rows = self.joins.loops
        blocks = Axis(unknown.name, -(-rows.rows // rows.rows_per_block))
        size = blocks.extent * column.extent
        loops = Swapped({unknown: blocks}).loops(self.loops)
        self.loops = replace(loops, inner=[blocks], size=size)
        return {self.buffers[0]: size * loops.arguments[0].dtype.size}


class Builder:
    """Arguments and stores of one kernel under construction."""

    def __init__(self, stored: frozenset[Node], own: frozenset[Node]) -> None:
        self.stored, self.own = stored, own
        self.slots: dict[Buffer, int] = {}
        self.arguments: list[Argument] = []

    def slot_of(self, node: Node) -> int | None:
        """The argument a node is read from, or None if it is computed here."""
        return self.slot(node, node.dtype) if self.reads(node) else None

    def reads(self, node: Node) -> bool:
        """Is a node read from memory?"""
        if node.op is LEAF:
            return True
        if node in self.own or node not in self.stored:
            return False
        return not is_virtual(node) or self._is_written_before(node)

    def _is_written_before(self, view: Node) -> bool:
        """A joined or padded view is read from its copy, if nothing of it is computed here."""
        return view.op in WRITTEN_OUT and not any(base in self.own for base in bases_of(view))

    def slot(self, buffer: Buffer, dtype: DType, written: bool = False) -> int:
        """The argument of a buffer, new if need be; written and read are two arguments."""
        key: Buffer = (buffer, written) if written else buffer  # type: ignore[assignment]
        if key not in self.slots:
            self.slots[key] = len(self.arguments)
            size = most(buffer.type.size) if isinstance(buffer, Node) else 0
            self.arguments.append(Argument(dtype, written, size=size))
        return self.slots[key]

    def finish(self, loops: Loops) -> Built:
        """The program with its buffers in argument order."""
        loops.arguments = self.arguments
        buffers = [key[0] if isinstance(key, tuple) else key for key in self.slots]
        return Built(loops, buffers)


def build_cluster(cluster: Cluster, stored: frozenset[Node]) -> list[Built]:
    """The kernels of a loop group: the rows, then one that joins each column sum."""
    space: Space | None = Space(*axes_of(cluster))
    while space is not None:
        built, joins = _rows(cluster, stored, space)
        space = with_terms(space, built.loops)
    built.loops = _arranged(built.loops, cluster)
    return [built, *(_join(root, name, built) for root, name in joins)]


def _rows(cluster: Cluster, stored: frozenset[Node], space: Space) -> tuple[Built, Joins]:
    """The kernel that goes through the rows, and the column sums that are to be joined."""
    builder = Builder(stored, frozenset(cluster.members))
    whole, rows = linear(space.order), linear(space.outer)
    lowering = Lowering(builder.slot_of, rows, whole, apart=space.apart)
    stores: list[Store] = []
    row_stores: list[Store] = []
    joins: Joins = []
    columns, folding = linear(space.inner), cluster.folding
    for root in (node for node in cluster.members if node in stored):
        span = cluster.members[root]
        if span == COLUMN:
            x = root.operands[0]
            name = f"partial{root.op.name}{len(joins)}-{cluster.number}"
            value = lowering.at(x, unravel(whole, x.shape))
            number = builder.slot(name, root.dtype.compute, written=True)
            stores.append(Store(number, columns, value, "partial"))
            joins.append((root, name))
        else:
            position = whole if span == FULL else rows
            value = lowering.at(root, unravel(position, root.shape))
            store = Store(builder.slot(root, root.dtype, written=True), position, value)
            (stores if span == FULL else row_stores).append(store)
    passes = passes_of(list(lowering.reduces.values()), stores)
    loops = Loops([], space.outer, space.inner, passes, row_stores, size=cluster.size)
    loops.across = bool(folding and not folding[-1][1] and space.outer)
    return builder.finish(loops), joins


def axes_of(cluster: Cluster) -> tuple[list[Axis], list[Axis]]:
    """Loop axes cut where the members' shapes are cut: (map axes, reduced axes)."""
    size = cluster.size
    folding = cluster.folding if cluster.folding is not None else ((size, False),)
    shapes = [s for n, span in cluster.members.items() if span == FULL for s in _cuts(n, size)]
    for node, span in cluster.members.items():
        if span in (ROW, COLUMN) and node.operands and node.operands[0].type.size == size:
            shapes.append(node.operands[0].shape)
    shapes.append(tuple(extent for extent, _ in folding))
    extents = refined(shapes, size) if size else []
    outer: list[Axis] = []
    inner: list[Axis] = []
    at = 0
    for extent, flag in folding:
        left = extent
        while at < len(extents) and left > 1 and left % extents[at] == 0:
            axis = Axis(f"a{len(outer) + len(inner)}", extents[at])
            (inner if flag else outer).append(axis)
            left //= extents[at]
            at += 1
        if left != 1:
            (inner if flag else outer).append(Axis(f"a{len(outer) + len(inner)}", left))
    for k, axis in enumerate(sorted(outer + inner, key=lambda a: int(a.name[1:]))):
        axis.name = f"a{k}"
    return outer, inner


def _cuts(node: Node, size: int) -> list[Shape]:
    """Shapes under which a node's elements are read: its own, and those below reshapes."""
    found = [node.shape]
    for x in (node,) if node.op is m.permute else (node, *node.operands):
        while x.op is m.reshape:
            x = x.operands[0]  # noqa: PLW2901
            if x.type.size == size:
                found.append(x.shape)
        if x.op in (m.concat, m.pad) and x.type.size == size:
            found += cut_by_parts(x)
    return found


def passes_of(reduces: Sequence[Reduce], stores: Sequence[Store]) -> list[Pass]:
    """Each reduction and store in the earliest pass where its operands are ready."""
    stages = [r.value.stage for r in reduces] + [s.value.stage for s in stores]
    passes = [Pass() for _ in range(1 + max(stages, default=0))]
    for r in reduces:
        passes[r.value.stage].reduces.append(r)
    for s in stores:
        passes[s.value.stage].stores.append(s)
    return passes


def _arranged(loops: Loops, cluster: Cluster) -> Loops:
    """Long axes; a plain map loops over its last axis and counts the others as rows."""
    if cluster.folding is None:
        loops = merged(replace(loops, outer=[], inner=loops.outer))
        turned = _turned_axis(loops)
        along = turned or _long_axis(loops.inner, cluster.size)
        loops.outer = [axis for axis in loops.inner if axis is not along]
        loops.inner, loops.across = [along] if along else [], turned is not None
        return loops
    loops = merged(loops)
    plain = not any(s.mode == "partial" for s in loops.stores())
    if plain and not loops.across and most(cluster.size) >= FEW:
        _lengthen(loops, cluster.size)
    return loops


def _long_axis(axes: Sequence[Axis], size: int) -> Axis | None:
    """The axis that vectors run along: the last one, or before it one that fills them better."""
    if not axes or most(axes[-1].extent) >= SHORT or most(size) < FEW:
        return axes[-1] if axes else None
    return next((axis for axis in reversed(axes) if most(axis.extent) >= SHORT), axes[-1])


def _lengthen(loops: Loops, size: int) -> None:
    """Rows that are short or lie side by side: vectors run along another axis, or across rows."""
    long = _long_axis(loops.inner, size)
    if long is None:
        return
    rows = most(loops.outer[-1].extent) if loops.outer else 1
    near = near_axis(loops, long)
    short = near is long and most(long.extent) < 2 * SHORT and rows > most(long.extent)
    if short or (rows >= TURNED and _are_turned(loops)):
        loops.across = True
    else:
        loops.inner = [axis for axis in loops.inner if axis is not near] + [near]


def _are_turned(loops: Loops) -> bool:
    """Do more operands lie along the rows, as those of a transpose do, than in them?"""
    loads = [ex.data[1] for ex in loops.order() if ex.op == "load"]
    rows = loops.outer[-1]  # what is the same in all of them counts for nothing
    found = [i for i in loads if i.coefficient(rows) and not i.axes().isdisjoint(loops.inner)]
    inside = sum(any(index.coefficient(axis) == 1 for axis in loops.inner) for index in found)
    return sum(index.coefficient(rows) == 1 for index in found) > inside


def _turned_axis(loops: Loops) -> Axis | None:
    """The axis along which a transposed operand lies in memory, if there is one.

    A map that walks along it below each vector uses every cache line it fetches.
    """
    if len(loops.inner) < 2 or most(loops.inner[-1].extent) < TURNED:
        return None
    last = loops.inner[-1]
    for ex in loops.order():
        if ex.op == "load" and most(ex.data[1].coefficient(last)) > 1:
            for axis in loops.inner[:-1]:
                if ex.data[1].coefficient(axis) == 1 and most(axis.extent) >= TURNED:
                    return axis
    return None


def _join(root: Node, name: str, rows: Built) -> Built:
    """The sum of the blocks' column sums, in block order; how many blocks is filled in later."""
    columns = root.type.size
    block, column = Axis("a0", 1), Axis("a1", columns)
    builder = Builder(frozenset(), frozenset())
    position = Index([(block, columns), (column, 1)])
    lowering = Lowering(builder.slot_of, Index([(column, 1)]), position)
    wide = root.dtype.compute
    number = builder.slot(name, wide)
    value = lowering.make("load", (), wide, (number, position, ()))
    total = Reduce("t0", "sum", value, wide)
    result = lowering.make("reduced", (), root.dtype, total)
    store = Store(builder.slot(root, root.dtype, True), Index([(column, 1)]), result)
    loops = Loops([], [column], [block], [Pass([total], [])], [store], across=True)
    built = builder.finish(loops)
    built.joins = rows
    return built


def build_copies(node: Node, stored: frozenset[Node]) -> list[Built]:
    """A view written out as memory of its own: one kernel, or one for each part of a concat."""
    if node.op is not m.concat:
        return [build_copy(node, stored)]
    built, start = [], 0
    for part in node.operands:
        if part.type.size:
            ranges = [(0, n, 1) for n in part.shape]
            ranges[node.arg] = (start, start + part.shape[node.arg], 1)
            built.append(build_copy(part, stored, node, (ranges, node.shape)))
        start += part.shape[node.arg]
    return built


def build_copy(
    node: Node, stored: frozenset[Node], to: Buffer | None = None,
    inside: tuple[Sequence[tuple[int, int, int]], Shape] | None = None,
) -> Built:  # fmt: skip
    """A view, a constant or a leaf written to memory: inside = (ranges, a larger shape)."""
    cluster = Cluster(0, "loop", node.type.size)
    cluster.members[node] = FULL
    own = frozenset([node]) if to is None and node.op is not LEAF else frozenset()
    builder = Builder(stored, own)
    outer, _ = axes_of(cluster)
    whole = linear(outer)
    lowering = Lowering(builder.slot_of, ZERO, whole)
    index = unravel(whole, node.shape)
    value = lowering.at(node, index)
    position = whole
    if inside:
        ranges, shape = inside
        moved = [i * step + start for i, (start, _, step) in zip(index, ranges, strict=True)]
        position = ravel(moved, shape)
    number = builder.slot(to if to is not None else node, node.dtype, True)
    loops = Loops([], outer, [], [Pass([], [Store(number, position, value)])], [])
    loops.size = node.type.size
    return builder.finish(_arranged(loops, cluster))


def build_scatter(node: Node, stored: frozenset[Node]) -> list[Built]:
    """The base written out, then values joined one by one along the axis; lanes never meet.

    What is out of range goes nowhere.
    """
    first = build_copy(node.operands[0], stored, node)
    if node.op is put:
        return [first, build_copy(node.operands[1], stored, node, (node.arg[0], node.shape))]
    _, index, values = node.operands
    if not index.type.size:
        return [first]
    axis = node.arg
    axes = [Axis(f"a{k}", n) for k, n in enumerate(index.shape)]
    builder = Builder(stored, frozenset())
    position = tuple(Index([(a, 1)]) if a.extent > 1 else ZERO for a in axes)
    outer = [a for k, a in enumerate(axes) if k != axis]
    lowering = Lowering(builder.slot_of, linear(outer), ravel(position, index.shape))
    place = list(position)
    place[axis], inside = lowering.place(lowering.at(index, position), node.shape[axis])
    value = lowering.at(values, position)
    number = builder.slot(node, node.dtype, True)
    store = Store(number, ravel(place, node.shape), value, SCATTERS[node.op], inside)
    loops = Loops([], outer, [axes[axis]], [Pass([], [store])], [], across=True)
    loops.size = index.type.size
    loops = merged(loops)
    loops.outer = loops.outer or [Axis("a", 1)]  # one lane: along the axis lanes would meet
    return [first, builder.finish(loops)]


def build_product(product: Node, stored: frozenset[Node]) -> Built:
    """A product as plain loops, for dtypes without a template: a lane is a column of the result."""
    a, b = product.operands
    outer = [Axis(f"a{k}", n) for k, n in enumerate(product.shape)]
    depth = Axis(f"a{len(outer)}", a.shape[-1])
    builder = Builder(stored, frozenset([product]))
    position = tuple(Index([(axis, 1)]) if axis.extent > 1 else ZERO for axis in outer)
    step = Index([(depth, 1)]) if depth.extent > 1 else ZERO
    batch, (row, column) = position[:-2], position[-2:]
    rows = linear(outer)
    lowering = Lowering(builder.slot_of, rows, rows + step)
    left = lowering.at(a, (*_batched(batch, a.shape), row, step))
    right = lowering.at(b, (*_batched(batch, b.shape), step, column))
    factors = [lowering.converted(x, product.dtype) for x in (left, right)]
    value = lowering.make("mul", (factors[0], factors[1]), product.dtype)
    total = Reduce("t0", "sum", value, product.dtype)
    result = lowering.make("reduced", (), product.dtype, total)
    store = Store(builder.slot(product, product.dtype, True), rows, result)
    loops = Loops([], outer, [depth], [Pass([total], [])], [store], across=True)
    loops.size = product.type.size * max(1, depth.extent)
    loops = merged(loops)
    loops.across = bool(loops.outer)
    return builder.finish(loops)


def _batched(index: tuple[Index, ...], shape: tuple[int, ...]) -> tuple[Index, ...]:
    sizes = shape[:-2]
    tail = index[len(index) - len(sizes) :]
    return tuple(ZERO if n == 1 else i for i, n in zip(tail, sizes, strict=True))
