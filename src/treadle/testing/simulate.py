"""Whether blocks spoil what others read: a plan run by NumPy, its blocks in any order.

The memory is the one that `Places` laid out, and blocks take turns at every load and store. Where a
result may be written over an operand is a promise about all such orders, so a wrong promise shows
as a wrong value, whatever a backend happens to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cpu.products import places_along
from treadle.backends.reference.eval import evaluate
from treadle.base.dtypes import FLOATS, STORAGE, DType, float32, float64, int8, uint8
from treadle.base.errors import CompilerError, explain
from treadle.base.target import Takes
from treadle.ir.graph import structure, substitute
from treadle.ir.node import Node, leaf, placeholder
from treadle.kernel.build import Built
from treadle.kernel.choose import is_flat_map
from treadle.kernel.driver import Driver
from treadle.kernel.index import Axis
from treadle.kernel.operands import Operand, Separable
from treadle.kernel.steps import ChainStep, ProductStep, RegionStep, RoutineStep
from treadle.ops.defs import Kind
from treadle.passes.pipeline import simplify
from treadle.testing.arrays import Array, value_of
from treadle.testing.steps import Axes, Kernel

FIRST_LEAF = 1
WIDTHS = (1, 2, 3, 5, 8, 13)  # elements computed side by side
TURNS = (1, 1, 2, 7, 60)  # steps of a block before another one may go on
Block = Iterator[None]
"""One block of a kernel: it stops wherever another one may come in between."""


class Simulation(Driver):
    """One program, its memory, and one order of its blocks, which follows from a seed.

    - **replaces**: number of a root to the leaf that it takes the memory of
    - **ordered**: a row is read and written by one thread, as on a CPU
    """

    takes, first_leaf = (
        Takes(FLOATS, (*STORAGE, int8, uint8), separable=(float32, float64)),
        FIRST_LEAF,
    )

    def __init__(
        self, roots: Sequence[Node], replaces: dict[int, Node], seed: int, ordered: bool = True
    ) -> None:
        self.draw, self.ordered, self.wanted = Random(seed), ordered, list(roots)  # type: ignore[misc]
        self.given = list(dict.fromkeys([*structure(roots)[1], *replaces.values()]))
        stand_ins = [placeholder(x.type) for x in self.given]
        simple = simplify(substitute(roots, dict(zip(self.given, stand_ins, strict=True))))
        taken = {simple[r]: stand_ins[self.given.index(x)] for r, x in replaces.items()}
        super().__init__(simple, stand_ins, taken)
        self.work: list[Callable[[], list[Block]]] = []
        self.lower()
        self.found = self.places.settle(self.temporaries)

    def add_loops(self, built: Built, step: int) -> None:
        """A loop program, cut into blocks of any number of rows."""
        self.reserve(built.join(), step)
        rows = self.draw.randint(1, max(1, built.loops.rows))
        built.loops = replace(built.loops, rows_per_block=rows)
        self.work.append(lambda: self._blocks(built))

    def add_product(self, product: ProductStep, step: int) -> tuple[int, int]:
        """A product, cut into tiles."""
        *_, height, width = _turned(product)
        tile = self.draw.randint(1, max(1, height)), self.draw.randint(1, max(1, width))
        self.work.append(lambda: self._tiles(product, tile))
        return tile

    def add_chain(self, step: ChainStep, number: int) -> None:
        """Chains are not taken: they write over nothing that they read."""
        raise CompilerError(explain("simulate", "no chains", step=number))

    def add_routine(self, routine: RoutineStep, step: int) -> None:
        """A scan, line by line; another routine all at once."""
        whole = routine.node.op.kind is Kind.ROUTINE
        self.work.append(lambda: [self._part(routine, ...)] if whole else self._lines(routine))

    def add_region(self, region: RegionStep, step: int) -> None:
        """Loops and branches are not taken: their bodies are programs of their own."""
        raise CompilerError(explain("simulate", "no loops", step=step, node=region.node))

    def run(self) -> list[Array]:
        """The roots' values."""
        given = [np.frombuffer(bytearray(value_of(x).tobytes()), np.uint8) for x in self.given]
        new = [self._garbage(size) for kind, size in self.places.outputs if kind == "new"]
        self.bases = [self._garbage(self.places.layout.nbytes), *given, *new]
        with np.errstate(all="ignore"):
            for blocks in self.work:
                self._take_turns(blocks())
        found = self.places.arranged(given, new)
        return [
            memory.view(numpy_dtype(root.dtype)).reshape(root.shape)
            for memory, root in zip(found, self.wanted, strict=True)
        ]

    def unchanged(self, x: Node) -> bool:
        """Does the memory of a leaf still hold its value?"""
        memory = self.bases[FIRST_LEAF + self.given.index(x)]
        return bool(memory.tobytes() == value_of(x).tobytes())

    def _garbage(self, nbytes: int) -> Array:
        return np.frombuffer(bytearray(self.draw.randbytes(nbytes)), np.uint8)

    def _take_turns(self, blocks: Sequence[Block]) -> None:
        waiting = list(blocks)
        while waiting:
            block = self.draw.choice(waiting)
            for _ in range(self.draw.choice(TURNS)):
                if next(block, self) is self:
                    waiting.remove(block)
                    break

    def cells(self, buffer: object, kind: DType) -> Array:
        """The elements of a node's memory, or of a temporary's."""
        base, offset = self.found[buffer]
        memory = self.bases[base][offset:]
        if isinstance(buffer, Node):
            memory = memory[: buffer.type.nbytes]
        elif buffer in self.temporaries:
            memory = memory[: self.temporaries[buffer][0]]
        return memory.view(numpy_dtype(kind))

    # ---- loop kernels

    def _kernel(self, built: Built) -> Kernel:
        arguments = zip(built.buffers, built.loops.arguments, strict=True)
        return Kernel(built.loops, [self.cells(b, a.dtype) for b, a in arguments], self.ordered)

    def _blocks(self, built: Built) -> list[Block]:
        loops = built.loops
        if not loops.size:
            return []
        kernel, rows = self._kernel(built), loops.outer
        scattered = not self.ordered and kernel.is_map
        if loops.across:
            units = [
                (at | lanes, self._points(loops.inner, []))
                for at in _points(rows[:-1]) for lanes in self._chunks(rows[-1:])
            ]  # fmt: skip
        elif (not rows and is_flat_map(loops)) or scattered:
            units = [(at, [p]) for at in _points(rows) for p in self._points(*_split(loops.inner))]
        else:
            units = [(at, self._points(*_split(loops.inner))) for at in _points(rows)]
        by_rows = kernel.has_partials or not (rows and (loops.across or scattered))
        grain = loops.rows_per_block if by_rows and rows else self.draw.randint(1, len(units))
        if scattered:
            self.draw.shuffle(units)
        return [
            kernel.block(number, units[first : first + grain])
            for number, first in enumerate(range(0, len(units), grain))
        ]

    def _points(self, scalar: Sequence[Axis], vector: Sequence[Axis]) -> list[Axes]:
        """Points of some axes one by one, and of another in vectors."""
        return [at | lanes for at in _points(scalar) for lanes in self._chunks(vector)]

    def _chunks(self, axes: Sequence[Axis]) -> list[Axes]:
        if not axes:
            return [{}]
        width, (axis,) = self.draw.choice(WIDTHS), axes
        return [
            {axis: np.arange(low, min(low + width, axis.extent))}
            for low in range(0, axis.extent, width)
        ]

    # ---- products: tiles of any size

    def _tiles(self, work: ProductStep, tile: tuple[int, int]) -> list[Block]:
        *batch, height, width = _turned(work)
        tall, wide = tile
        kernel = self._kernel(work.epilogue) if work.epilogue else None
        return [
            self._tile(
                work, kernel, at, slice(m, m + tall), np.arange(n, min(n + wide, width)), tile
            )
            for at in enumerate(np.ndindex(*batch))
            for m in range(0, height, tall) for n in range(0, width, wide)
        ]  # fmt: skip

    def _tile(
        self, work: ProductStep, kernel: Kernel | None, at: tuple[int, tuple[int, ...]],
        rows: slice, columns: Array, cut: tuple[int, int],
    ) -> Block:  # fmt: skip
        """One tile of a batch item (its number and place): operands are read, then it is stored."""
        number, item = at
        *batch, height, width = _turned(work)
        a = self._operand(work.left, work.node.operands[0], batch)[item]
        b = self._operand(work.right, work.node.operands[1], batch)[item]
        a, b = (b.T, a.T) if work.turned else (a, b)
        a, b = a[rows], b[:, columns]
        tile = (a @ b).astype(numpy_dtype(work.node.dtype.compute))
        yield
        first = number * height + rows.start
        if kernel is None:
            out = self.cells(work.node, work.node.dtype)
            out = out.reshape(out.size // width, width)
            out[first : first + len(tile), columns[:1].item() : columns[-1:].item() + 1] = tile
            return
        points: list[Axes] = [{kernel.loops.inner[-1]: columns}]
        tall, wide = cut
        down, across = number * -(-height // tall) + rows.start // tall, columns[0] // wide
        kernel.begin(down, columns)
        for k, values in enumerate(tile):
            place = _split_row(first + k, kernel.loops.outer)
            yield from kernel.row(place, points, down, tile=values, across=across)

    def _operand(self, x: Operand, node: Node, batch: Sequence[int]) -> Array:
        """An operand as it is in memory now, in the precision of sums."""
        place = np.full(node.shape, x.offset, np.int64)
        for axis, stride in enumerate(x.strides):
            along = [1] * len(node.shape)
            along[axis] = -1
            place += stride * np.arange(node.shape[axis]).reshape(along)
        if isinstance(x, Separable):
            place += np.array(places_along(*x.rows))[:, None]
            place += np.array(places_along(*x.columns))
        values = self.cells(x.base, x.base.dtype)[place].astype(np.float64)
        return np.broadcast_to(values, (*batch, *node.shape[-2:]))

    # ---- routines: line by line, or all at once

    def _lines(self, work: RoutineStep) -> list[Block]:
        shape, axis = work.node.shape, work.node.arg[0] % max(1, len(work.node.shape))
        lines = np.ndindex(*shape[:axis], *shape[axis + 1 :])
        return [self._part(work, (*at[:axis], slice(None), *at[axis:])) for at in lines]

    def _part(self, work: RoutineStep, at: Any) -> Block:
        stand_ins = {x: leaf(x.type, object()) for x in work.node.operands}
        (node,) = substitute([work.node], stand_ins)
        sources = {
            stand_ins[x]: self.cells(source, x.dtype).reshape(x.shape)
            for x, source in zip(work.node.operands, work.sources, strict=True)
        }
        (values,) = evaluate([node], sources.__getitem__)
        yield
        self.cells(work.node, work.node.dtype).reshape(node.shape)[at] = values[at]


def _turned(work: ProductStep) -> tuple[int, ...]:
    """The shape of what is computed tile by tile."""
    *batch, rows, columns = work.node.shape
    return (*batch, columns, rows) if work.turned else work.node.shape


def _split(axes: Sequence[Axis]) -> tuple[Sequence[Axis], Sequence[Axis]]:
    return axes[:-1], axes[-1:]


def _points(axes: Sequence[Axis]) -> list[Axes]:
    ranges = [range(axis.extent) for axis in axes]
    return [dict(zip(axes, at, strict=True)) for at in product(*ranges)]


def _split_row(row: int, axes: Sequence[Axis]) -> Axes:
    values: Axes = {}
    for axis in reversed(axes):
        row, values[axis] = divmod(row, axis.extent)
    return values
