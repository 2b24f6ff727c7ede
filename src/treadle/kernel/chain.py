"""Chained products as a step: which tiles are made, what runs on them, where they go.

    chain over 1, 8 : lanes 2048, stream 2048
      tile0 = [lane] q . [stream] k            products, depth 64
      program: state, feed <- tile             a loop program over one tile
      acc0 += feed0 . [stream] v               products, over the stream
    finish: out <- acc, state

A block of lanes (rows of tiles; columns if turned) is one task; the other axis streams by. Tiles,
what is fed to the next product, running values and sums lie in scratch, as local arguments of plain
loop programs whose vectors run along the lanes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod

from treadle.base.dtypes import DType
from treadle.base.shapes import Shape, strides_of
from treadle.ir.node import Node
from treadle.kernel.axes import linear, refined
from treadle.kernel.build import Built
from treadle.kernel.index import Axis, Index, of_axis, unravel
from treadle.kernel.lower import narrowed
from treadle.kernel.operands import Strided
from treadle.ops.elementwise import cast
from treadle.schedule.chains import Chain

LANES = 64  # rows of tiles in a block: a few vectors on any processor
ONES = "ones"  # a local row: the factor of sums that are never scaled
SHORTEST = 16  # lanes of a block that is worth it anywhere


@dataclass(frozen=True)
class Operand:
    """A product's operand as a chain reads it: strides along batch axes, its own axis and depth."""

    base: Node
    offset: int
    batch: tuple[int, ...]
    along: int
    depth: int

    def __str__(self) -> str:
        steps = ", ".join(map(str, (*self.batch, self.along, self.depth)))
        return f"{self.base.op}[{self.offset}; {steps}]"


@dataclass(frozen=True)
class Producer:
    """tile[stream, lane] = sum over depth of stream operand times lane operand."""

    lane: Operand
    stream: Operand
    depth: int


@dataclass(frozen=True)
class Consumer:
    """acc[column, lane] = acc times factor[lane], plus sum over stream of operand times feed.

    Or across lanes: acc[stream, column] += sum over lanes of feed times operand, which goes on from
    block to block of an item.
    """

    feed: str
    operand: Operand  # along the stream, or the lanes; depth: along the columns of the result
    columns: int
    into: str
    factor: str  # a local row
    across: bool


@dataclass(eq=False)
class Sweep:
    """One run over the stream: tiles made, the program that runs on each, products it feeds."""

    producers: list[int]
    program: Built
    consumers: list[Consumer]


@dataclass(eq=False)
class Chained:
    """All of it.

    - **locals**: rows of lanes of each piece of scratch; 0 for one as long as a tile
    - **sums**: columns of pieces that have a row for every stream position
    - **last**, **end**: what runs after each block, and after the last block of an item
    """

    frame: Frame
    dtype: DType  # of the operands in memory
    producers: list[Producer]
    first: Built
    sweeps: list[Sweep] = field(default_factory=list)
    last: list[Built] = field(default_factory=list)
    end: list[Built] = field(default_factory=list)
    sums: dict[str, int] = field(default_factory=dict)
    locals: dict[str, int] = field(default_factory=dict)
    limits: list[tuple[int, int, int]] = field(default_factory=list)
    """Tiles matter only where lane * a + stream * b + c >= 0 for each."""
    totals: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By piece of scratch: how two parts are joined, and the maximum they are relative to."""

    @property
    def size(self) -> int:
        """Multiplications, about."""
        depth = sum(p.depth for p in self.producers)
        depth += sum(c.columns for sweep in self.sweeps for c in sweep.consumers)
        return self.frame.rows_count * self.frame.columns * depth

    def programs(self) -> list[Built]:
        """Every loop program of it."""
        return [self.first, *(sweep.program for sweep in self.sweeps), *self.last, *self.end]

    def operands(self) -> list[Operand]:
        """What its products read from memory."""
        found = [x for p in self.producers for x in (p.lane, p.stream)]
        return found + [c.operand for sweep in self.sweeps for c in sweep.consumers]

    def reads(self) -> set[Node]:
        """Nodes whose memory is read."""
        found = {operand.base for operand in self.operands()}
        for built in self.programs():
            for argument, buffer in zip(built.loops.arguments, built.buffers, strict=True):
                if isinstance(buffer, Node) and not argument.written:
                    found.add(buffer)
        return found

    def __str__(self) -> str:
        f = self.frame
        over = ", ".join(str(a.extent) for a in f.batch) or "one"
        lines = [f"chain over {over} : lanes {f.lane.extent}, stream {f.stream.extent}"]
        lines += [f"  tiles where {Index([(f.lane, a), (f.stream, b)], c)} >= 0"
                  for a, b, c in self.limits]  # fmt: skip
        for sweep in self.sweeps:
            for k in sweep.producers:
                p = self.producers[k]
                lines.append(f"  tile{k} = [lane] {p.lane} . [stream] {p.stream}, {p.depth} deep")
            lines += ["  " + line for line in str(sweep.program.loops).splitlines()]
            lines += [f"  {c.into} = {c.into} * {c.factor} + {c.feed} . {c.operand}"
                      for c in sweep.consumers]  # fmt: skip
        for built in (*self.last, *self.end):
            lines += ["  " + line for line in str(built.loops).splitlines()]
        return "\n".join(lines)


@dataclass(eq=False)
class Frame:
    """The axes of a chain, and positions in them: rows of tiles, and elements."""

    batch: list[Axis]
    lane: Axis
    stream: Axis
    rows: Index
    whole: Index
    rows_count: int
    columns: int
    turned: bool

    @property
    def exchanged(self) -> Frame:
        """With what streamed as lanes."""
        return replace(self, lane=self.stream, stream=self.lane)

    @property
    def place(self) -> Index:
        """Of an element in a local tile."""
        return of_axis(self.lane) + of_axis(self.stream) * LANES

    @property
    def row(self) -> Index:
        """Of a value in a local row."""
        return of_axis(self.lane)


def pitch(columns: int) -> int:
    """Elements from row to row of sums across lanes: whole vectors."""
    return -(-columns // LANES) * LANES


Framed = tuple[Frame, list[Producer], list[Operand]]


def framed(chain: Chain, in_place: Mapping[Node, Strided | None], fewest: int) -> Framed | str:
    """The axes of a chain and operands along them; few lanes if more do not share the stream."""
    least, whys = SHORTEST if chain.turned else min(SHORTEST, fewest), []
    for lanes in (SHORTEST, *(n for n in (8, 4, 2, 1) if n >= least)):
        frame = _frame_of(chain, lanes)
        found = frame if isinstance(frame, str) else _operands_of(chain, frame, in_place)
        if not isinstance(frame, str) and not isinstance(found, str):
            return frame, *found
        whys.append(str(found))
    return whys[0]


def _frame_of(chain: Chain, least: int) -> Frame | str:
    """Its axes, with as many lanes if rows of tiles can be told apart so."""
    space = chain.space
    shapes = [node.shape[:-1] for node in chain.members]
    inside = {_rows_of(sink.product.shape, space.rows) for sink in chain.sinks}
    shapes += inside
    extents = refined(shapes, space.rows) or [space.rows]
    extents += [1] if all(shape[-1:] == (1,) for shape in inside) and inside else []
    if prod(extents) != space.rows:
        return "rows of tiles are cut in many ways"
    if chain.turned:
        least = max([least, *(shape[-1] for shape in inside)])
    while len(extents) > 1 and extents[-1] < least:
        extents[-2:] = [extents[-2] * extents[-1]]
    turned = [_rows_of(sink.product.shape, space.rows) for sink in chain.sinks if sink.turned]
    if any(shape[-1] != extents[-1] for shape in turned):
        return "products over rows of another length"
    rows = [Axis(f"a{k}", n) for k, n in enumerate(extents)]
    columns = Axis(f"a{len(rows)}", space.columns)
    position = linear(rows)
    whole = position * space.columns + of_axis(columns)
    last, other = (columns, rows[-1]) if chain.turned else (rows[-1], columns)
    sizes = space.rows, space.columns
    return Frame(rows[:-1], last, other, position, whole, *sizes, chain.turned)


def _rows_of(shape: Shape, rows: int) -> Shape:
    """How a sink counts the rows of its tiles: its batch axes, then what is left."""
    batch = shape[:-2]
    return (*batch, rows // max(1, prod(batch)))


def _operands_of(
    chain: Chain, frame: Frame, in_place: Mapping[Node, Strided | None]
) -> tuple[list[Producer], list[Operand]] | str:
    """The operands of producers and sinks along the frame's axes, or why they do not lie so."""
    depth = Axis("depth", 1 << 40)
    producers = []
    for product in chain.producers:
        *batch, i, j = unravel(frame.whole, product.shape)
        k = Index([(depth, 1)])
        left = _operand(product.operands[0], (*batch, i, k), in_place)
        right = _operand(product.operands[1], (*batch, k, j), in_place)
        sides = (right, left) if chain.turned else (left, right)
        axes = frame.lane, frame.stream
        if not all(_is_of(x, other) for x, other in zip(sides, axes[::-1], strict=True)):
            return "an operand does not lie along the tiles"
        lane, stream = (_strides(x, frame, a, depth) for x, a in zip(sides, axes, strict=True))
        if 1 not in (lane.along, lane.depth):
            return "an operand has neither neighbouring rows nor columns"
        producers.append(Producer(lane, stream, product.operands[0].shape[-1]))
    fed = []
    columns = frame.lane if chain.turned else frame.stream
    for sink in chain.sinks:
        shape = _rows_of(sink.product.shape, chain.space.rows)
        if prod(shape) != chain.space.rows:
            return "tiles are repeated for a product"
        *batch, row = unravel(frame.rows, shape)
        along = row if sink.turned else of_axis(columns)
        d = Index([(depth, 1)])
        index = (*batch, along, d) if sink.left else (*batch, d, along)
        found = _operand(sink.other, index, in_place)
        crosses = sink.turned is not chain.turned
        own, other = (frame.lane, frame.stream) if crosses else (frame.stream, frame.lane)
        if not _is_of(found, other):
            return "an operand does not lie along the tiles"
        fed.append(_strides(found, frame, own, depth))
        if crosses and 1 not in (fed[-1].along, fed[-1].depth):
            return "an operand has neither neighbouring rows nor columns"
    dtypes = {x.base.dtype for p in producers for x in (p.lane, p.stream)}
    if len(dtypes | {x.base.dtype for x in fed}) > 1:
        return "operands of several dtypes"
    return producers, fed


Found = tuple[Node, Index]


def _operand(
    node: Node, index: tuple[Index, ...], in_place: Mapping[Node, Strided | None]
) -> Found:
    """The memory of an operand, and where in it the element at index lies."""
    stored = in_place.get(node)
    total = Index((), stored.offset if stored else 0)
    steps = stored.strides if stored else strides_of(node.shape)
    for i, step in zip(narrowed(index, node.shape), steps, strict=True):
        total = total + i * step
    return stored.base if stored else node, total


def _is_of(found: Found, other: Axis) -> bool:
    return found[1].is_affine() and not found[1].coefficient(other)


def _strides(found: Found, frame: Frame, axis: Axis, depth: Axis) -> Operand:
    base, position = found
    batch = tuple(position.coefficient(a) for a in frame.batch)
    steps = position.coefficient(axis), position.coefficient(depth)
    return Operand(base, position.constant, batch, *steps)


def widened(node: Node) -> Node:
    """What a product's operand is a wider copy of: a chain reads it as it lies in memory."""
    narrow = (
        node.op is cast and node.dtype.is_float and node.operands[0].dtype.compute is node.dtype
    )
    return node.operands[0] if narrow else node
