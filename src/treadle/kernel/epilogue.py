"""What happens to finished tiles of a product: maps, and what they leave of reductions.

A tile adds the columns it has to sums of its block of rows, and a row of it to those of its block
of columns. What blocks left is joined by kernels of their own, in an order that the cut decides:
any number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from treadle.base.shapes import Shape
from treadle.ir.node import Node, placeholder, type_of
from treadle.kernel.axes import linear, merged, refined
from treadle.kernel.build import Buffer, Builder, Built, build_cluster, build_copy
from treadle.kernel.index import Axis, unravel
from treadle.kernel.loops import Loops, Pass, Reduce, Store
from treadle.kernel.lower import Lowering
from treadle.ops.defs import Kind
from treadle.ops.elementwise import cast
from treadle.schedule.clusters import COLUMN, FULL, ROW, Cluster, along_tiles, folding_of


@dataclass(frozen=True)
class Parts:
    """What blocks of tiles leave of a reduction of a product, in memory of that name."""

    name: str
    root: Node
    product: Node

    @property
    def along(self) -> str:
        """Is it a value for each ROW or for each COLUMN?"""
        return along_tiles(self.root, self.product.shape[-1])

    def joined(self, rows: int, columns: int) -> tuple[Built, int]:
        """The kernel that joins them, for blocks so high and wide, and their bytes."""
        x, axes, wide = self.root.operands[0], self.root.arg[0], self.root.dtype.compute
        *batch, height, width = self.product.shape
        shape: Shape = (prod(batch) * -(-height // rows), width)
        over: tuple[int, ...] = (0,)
        if self.along == ROW:
            shape = (-(-width // columns), *x.shape[:-1])
            over = (0, *(axis + 1 for axis in axes if axis < len(x.shape) - 1))
        parts = placeholder(type_of(shape, wide))
        folding = folding_of(shape, over)
        if any(flag for _, flag in folding):
            total = self.root.op(parts, axis=over)
            cluster = Cluster(0, "loop", parts.type.size, folding)
            result = cast(total, self.root.dtype)
            cluster.members |= dict.fromkeys((total, result), ROW)
            (built,) = build_cluster(cluster, frozenset([result]))
        else:
            result = cast(parts, self.root.dtype)
            built = build_copy(result, frozenset(), self.root)
        known: dict[Buffer, Buffer] = {result: self.root, parts: self.name}
        built.buffers = [known.get(buffer, buffer) for buffer in built.buffers]
        return built, parts.type.nbytes


def build_epilogue(
    product: Node, cluster: Cluster, stored: frozenset[Node], turned: bool = False
) -> tuple[Built, list[Parts]]:
    """What happens to a finished tile of a product.

    Rows count through batch and m, n is inner; where tiles are turned, n counts and m is inner.
    """
    builder = Builder(stored, frozenset(cluster.members))
    axes, inner = _tile_axes(product, cluster, turned)
    outer = [axis for axis in axes if axis is not inner]
    whole, rows = linear(axes), linear(outer)
    lowering = Lowering(builder.slot_of, rows, whole, tile=product)
    loops = Loops([], outer, [inner], [Pass()], [], epilogue=True)
    (step,) = loops.passes
    parts: list[Parts] = []
    for root in _on_tiles(cluster, stored):
        x = root.operands[0] if root.op.kind is Kind.REDUCE else root
        value = lowering.at(x, unravel(whole, x.shape))
        if x is root:
            step.stores.append(Store(builder.slot(root, root.dtype, True), whole, value))
            continue
        wide = root.dtype.compute
        part = Parts(f"parts{len(parts)}-{cluster.number}", root, product)
        number = builder.slot(part.name, wide, True)
        parts.append(part)
        if part.along == COLUMN:
            step.stores.append(Store(number, linear([inner]), value, "partial"))
            continue
        step.reduces.append(Reduce(f"t{len(step.reduces)}", root.op.name, value, wide))
        total = lowering.make("reduced", (), wide, step.reduces[-1])
        loops.row_stores.append(Store(number, rows, total, "partial"))
    loops.size = product.type.size
    loops = merged(loops)
    loops.inner = loops.inner or [inner]
    return builder.finish(loops), parts


def _on_tiles(cluster: Cluster, stored: frozenset[Node]) -> list[Node]:
    """What tiles write: all but maps of what reductions give."""
    return [
        node for node, span in cluster.members.items()
        if node in stored and (span == FULL or node.op.kind is Kind.REDUCE)
    ]  # fmt: skip


def build_after(cluster: Cluster, stored: frozenset[Node]) -> list[Built]:
    """Kernels of what is made of reductions, once these are there."""
    groups: dict[int, Cluster] = {}
    for node, span in cluster.members.items():
        if span == ROW and node.op.kind is not Kind.REDUCE:
            size = node.type.size
            group = groups.setdefault(size, Cluster(cluster.number, "loop", size))
            group.members[node] = FULL
    wanted = [group for group in groups.values() if not stored.isdisjoint(group.members)]
    return [built for group in wanted for built in build_cluster(group, stored)]


def _tile_axes(product: Node, cluster: Cluster, turned: bool) -> tuple[list[Axis], Axis]:
    """Axes of a product's result, cut where shapes of its maps are, and the one along tiles."""
    *batch, rows, columns = product.shape
    shapes = [n.shape for n, span in cluster.members.items() if span == FULL]
    extents = refined([*shapes, *_reduced(cluster)], product.type.size)
    whole = [prod(batch), rows, columns] if turned else [prod(batch) * rows, columns]
    ends = [prod(extents[k:]) for k in range(len(extents))]
    if turned:
        fits = product.type.size and columns * rows in ends and columns in ends
        fits = fits and ends.index(columns) - ends.index(columns * rows) == 1
    else:
        fits = product.type.size and extents[-1:] == [columns]
    axes = [Axis(f"a{k}", n) for k, n in enumerate(extents if fits else whole)]
    if not turned:
        return axes, axes[-1]
    return axes, axes[ends.index(columns * rows) if fits else 1]


def _reduced(cluster: Cluster) -> Sequence[Shape]:
    """Shapes of what is reduced."""
    return [n.operands[0].shape for n in cluster.members if n.op.kind is Kind.REDUCE]
