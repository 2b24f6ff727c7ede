"""Which nodes are tiles between products: as large as a product's result, never wanted whole.

A *space* is a set of such values of one size: products, maps over them, and values per row that
reductions of them give (a softmax's maximum and sum). What leaves it are products over its columns
or rows (*sinks*) and values per row (*stats*). A sink's result may come back by way of other nodes,
as in a backward pass: `rounds` counts how often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from treadle.base.knobs import ROUND
from treadle.base.sizes import Size, most
from treadle.ir.node import Node
from treadle.ops import movement as m
from treadle.ops.defs import Kind
from treadle.ops.reduce import max_, min_, sum_

ROUNDS = 4  # at most; more are not looked at
FEWEST_ROWS = 16  # and columns: a vector of lanes at least
SMALL = 1 << 16  # elements: what stays in the caches may as well be written
SHORT = 192  # columns: the same
DEEPEST = 512  # elements read for every column of a block of rows: more is cheaper written out
LARGE = 1 << 24  # elements: what memory is spared then counts more than time
REDUCTIONS = (sum_, max_, min_)


class Sink(NamedTuple):
    """A product that takes tiles in: over their columns, or (turned) over their rows."""

    product: Node
    tile: Node
    other: Node  # the operand that lies in memory
    turned: bool
    left: bool  # is the tile the first operand?


class Space:
    """Values of rows x columns elements that are made and used tile by tile.

    - **members**: products and maps, in order; **stats**: values per row, in order
    - **why**: it cannot be, or had better not: somebody wants a tile whole
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.members: dict[Node, None] = {}
        self.stats: dict[Node, None] = {}
        self.sinks: list[Sink] = []
        self.rounds: dict[Node, int] = {}
        self.why = ""

    @property
    def depths(self) -> dict[Node, int]:
        """How long the sums are that make an element of a tile, by product."""
        return {product: product.operands[0].shape[-1] for product in self.producers}

    @property
    def producers(self) -> list[Node]:
        """Products that make tiles."""
        return [node for node in self.members if node.op.kind is Kind.CONTRACT]

    def operand(self, node: Node) -> Node | None:
        """The member or stat that an operand stands for, seen through views; None: neither."""
        while node not in self.members and node not in self.stats:
            if node.op.kind is not Kind.MOVEMENT or len(node.operands) != 1:
                return None
            node = node.operands[0]
        return node


def is_swap(node: Node) -> bool:
    """A transposition of the last two axes?"""
    rank = node.ndim
    return node.op is m.permute and node.arg == (*range(rank - 2), rank - 1, rank - 2)


def find_spaces(order: Sequence[Node], roots: Sequence[Node]) -> list[Space]:
    """The spaces of a graph that something leaves by a sink or a stat, with their levels.

    Those that are better off in memory say why.
    """
    if ROUND.value or not any(node.op.kind is Kind.CONTRACT for node in order):
        return []  # tiles are not rounded after every op
    found = _Finder(order, roots).spaces()
    if not all(space.why for space in found):
        _set_levels(order, found)
    taken: set[Node] = set()
    for space in sorted(found, key=lambda space: most(_size(space)), reverse=True):
        space.why = space.why or _too_dear(space)
        products = {*space.producers, *(sink.product for sink in space.sinks)}
        if not space.why and products & taken:
            space.why = "its products are part of a larger chain"
        taken |= products if not space.why else set()
    return found


def _too_dear(space: Space) -> str:
    """Why a space is better off in memory; empty if it is not."""
    added = [*space.producers, *(s.tile for s in space.sinks)]
    added += [x for x in space.stats if x.op.kind is Kind.REDUCE]
    if len({x.dtype.compute for x in added}) > 1:
        return "sums of several dtypes"
    if isinstance(space.rows, Size) or isinstance(space.columns, Size):
        return "tiles of a size that is not known yet"
    if min(space.rows, space.columns) < FEWEST_ROWS:
        return "a chain of products needs more rows"
    size = _size(space)
    if size < (SMALL if space.sinks else LARGE) or space.columns < SHORT:
        return "what lies between the products is small enough to be written"
    deep = sum(space.depths.values())
    deep += sum(s.product.shape[-1] if s.left else s.product.shape[-2] for s in space.sinks)
    if deep > DEEPEST * max(1, len(space.sinks)) and size < LARGE:
        return "reading operands again would cost more than writing what lies between"
    return ""


class _Finder:
    """One walk over a graph, operands first."""

    def __init__(self, order: Sequence[Node], roots: Sequence[Node]) -> None:
        self.of: dict[Node, Space] = {}
        self.stat_of: dict[Node, Space] = {}
        self.joined: dict[Space, Space] = {}
        for node in order:
            kind = node.op.kind
            if kind is Kind.CONTRACT:
                self._product(node)
            elif kind is Kind.ELEMENTWISE:
                self._map(node)
            elif kind is Kind.REDUCE:
                self._reduce(node)
            elif kind is not Kind.MOVEMENT:
                self._refuse(node.operands, f"{node.op} reads tiles")
        self._refuse(roots, "a result of the program")

    def spaces(self) -> list[Space]:
        """Those that hold together, without maps over rows that no tile reads."""
        found = list(dict.fromkeys(self.of.values()))
        for space in found:
            needed = {
                y for x in space.members for o in x.operands if (y := space.operand(o)) is not None
            }
            for node in reversed(space.stats):
                if node.op.kind is Kind.REDUCE or node in needed:
                    needed |= {y for o in node.operands if (y := space.operand(o)) is not None}
                    needed.add(node)
            space.stats = {node: None for node in space.stats if node in needed}
        return [s for s in found if s.stats or s.sinks]

    # ---- nodes

    def _product(self, node: Node) -> None:
        sides = [self._seen(x) for x in node.operands]
        tiles = [k for k, seen in enumerate(sides) if seen is not None]
        if len(tiles) == 1 and node.dtype.is_float:
            tile, turned = sides[tiles[0]]  # type: ignore[misc]
            left = tiles[0] == 0
            over_rows = turned if left else not turned
            sink = Sink(node, tile, node.operands[not tiles[0]], over_rows, left)
            self.of[tile].sinks.append(sink)
            self._refuse([sink.other], "a view of tiles in a product")
        else:
            self._refuse(node.operands, "a product of two tiles, or of a view of them")
        if node.dtype.is_float and node.type.size:
            space = Space(node.type.size // node.shape[-1], node.shape[-1])
            self._enter(node, space)

    def _map(self, node: Node) -> None:
        mine = [seen for x in node.operands if (seen := self._seen(x)) is not None]
        if mine:
            first, *others = spaces = list(dict.fromkeys(self.of[tile] for tile, _ in mine))
            fits = node.shape[-1:] == (first.columns,) and node.type.size == _size(first)
            if fits and all(_size(s) == _size(first) and s.columns == first.columns
                            for s in spaces) and not any(turned for _, turned in mine):  # fmt: skip
                for space in others:
                    self._join(first, space)
                self._enter(node, first)
                self._refuse([x for x in node.operands if self._seen(x) is None], "a view of tiles")
                return
        self._refuse(node.operands, "a map of another shape")
        stats = [s for x in node.operands if (s := self._stat(x)) is not None]
        homes = {self.stat_of[s] for s in stats}
        if len(homes) == 1 and not mine:
            (space,) = homes
            if node.type.size == space.rows and all(
                x.type.size <= space.rows for x in node.operands
            ):
                self._enter_stat(node, space)

    def _reduce(self, node: Node) -> None:
        x = node.operands[0]
        seen = self._seen(x)
        if seen is None or seen[1] or node.arg[0] != (x.ndim - 1,) or node.op not in REDUCTIONS:
            self._refuse(node.operands, f"{node.op} over more than a row")
            return
        self._enter_stat(node, self.of[seen[0]])

    # ---- spaces

    def _enter(self, node: Node, space: Space) -> None:
        self.of[node] = space
        space.members[node] = None

    def _enter_stat(self, node: Node, space: Space) -> None:
        self.stat_of[node] = space
        space.stats[node] = None

    def _join(self, into: Space, other: Space) -> None:
        if other is into:
            return
        for node in other.members:
            self._enter(node, into)
        for node in other.stats:
            self._enter_stat(node, into)
        into.sinks += other.sinks
        into.why = into.why or other.why

    def _refuse(self, nodes: Sequence[Node], why: str) -> None:
        """Tiles that nodes are, or are views of, are wanted whole."""
        for node in nodes:
            for base in _below(node) if node.op.kind is Kind.MOVEMENT else (node,):
                if base in self.of:
                    space = self.of[base]
                    space.why = space.why or why

    def _seen(self, node: Node) -> tuple[Node, bool] | None:
        """(the tiles that a node shows, are they transposed?)."""
        turned = False
        while node not in self.of:
            if node.op is m.permute and is_swap(node):
                turned = not turned
            elif node.op is not m.reshape or node.shape[-1:] != node.operands[0].shape[-1:]:
                return None
            node = node.operands[0]
        return node, turned

    def _stat(self, node: Node) -> Node | None:
        while node not in self.stat_of:
            if node.op not in (m.reshape, m.expand):
                return None
            node = node.operands[0]
        return node


def _size(space: Space) -> int:
    return space.rows * space.columns


def _below(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        node = stack.pop()
        if node.op.kind is Kind.MOVEMENT:
            stack += node.operands
        else:
            yield node


def _set_levels(order: Sequence[Node], spaces: Sequence[Space]) -> None:
    """How often what leaves a space has come back to each of its nodes; too often: no space.

    Every node carries, as bits, the levels of each space at which it depends on what left it.
    """
    spaces = [space for space in spaces if not space.why]
    number = {space: k for k, space in enumerate(spaces)}
    home = {node: s for s in spaces for node in (*s.members, *s.stats)}
    leaves = {sink.product: s for s in spaces for sink in s.sinks}
    left: dict[Node, int] = {}
    for node in order:
        bits = 0
        for x in node.operands:
            bits |= left[x]
        for space in {home.get(node), leaves.get(node)} - {None}:
            if space is None or space.why:
                continue
            rounds = 0
            for x in node.operands:
                y = space.operand(x)
                seen = left[x] >> number[space] * ROUNDS & (1 << ROUNDS) - 1
                rounds = max(rounds, space.rounds[y] if y is not None else seen.bit_length())
            if rounds >= ROUNDS:
                space.why = "it comes back too often"
                continue
            if node in leaves and leaves[node] is space:
                space.rounds[node] = rounds
            if node in space.members or node in space.stats:
                space.rounds[node] = rounds
            if node not in space.members:
                bits |= 1 << number[space] * ROUNDS + rounds
        left[node] = bits
