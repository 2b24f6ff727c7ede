"""What is said in other words where products will be chained: wider, and sums by another way."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.base.sizes import most
from treadle.ir.graph import rebuild, substitute, toposort
from treadle.ir.node import Node, apply, const, iota
from treadle.ir.pattern import constant_value
from treadle.ir.recording import RECORDING
from treadle.ops import movement as m
from treadle.ops.contract import gather, matrix_product
from treadle.ops.defs import Kind
from treadle.ops.elementwise import cast, eq, maximum, minimum, mul, where
from treadle.ops.reduce import sum_
from treadle.passes import tiles
from treadle.passes.tiles import Space, find_spaces

Users = dict[Node, list[Node]]


def for_chains(roots: Sequence[Node]) -> list[Node]:
    """The graph as chains want it: narrow floats only in memory, known sums used where they are."""
    before = RECORDING.site
    found = _prepared(roots)
    RECORDING.site = before
    return found


def _prepared(roots: Sequence[Node]) -> list[Node]:
    order = toposort(roots)
    products = (node for node in order if node.op is matrix_product)
    if not any(most(node.type.size) >= tiles.SMALL for node in products):
        return list(roots)  # what lies between smaller ones is written anyway
    picked = {x: _compared(x) for x in order if x.op is gather and _is_pick(x)}
    spaces: list[Space] = []
    if picked:
        others = substitute(roots, picked)
        found = toposort(others)
        spaces = [s for s in find_spaces(found, others) if not s.why]
    if any(len(s.stats) > 1 for s in spaces):
        roots, order = others, found
    else:
        spaces = [s for s in find_spaces(order, roots) if not s.why]
    narrow = [s for s in spaces if any(n.dtype.is_storage for n in (*s.members, *s.stats))]
    if narrow:
        roots = _Widener(order, narrow).run(roots)
        order = toposort(roots)
        spaces = [s for s in find_spaces(order, roots) if not s.why]
    kept = {x.operands[0]: x for x in order if x.op is cast and x.operands[0].op is matrix_product}
    users: Users = {}
    for node in order:
        for x in node.operands:
            users.setdefault(x, []).append(node)
    change: dict[Node, Node] = {}
    for space in spaces:
        change |= _from_products(space, kept, users)
    return substitute(roots, change) if change else list(roots)


def _is_pick(node: Node) -> bool:
    """One element of each row of a large product is looked up?"""
    x = node.operands[0]
    last = x.ndim - 1
    return (
        x.op is matrix_product
        and node.arg == last
        and node.shape[last] == 1
        and x.type.size >= tiles.LARGE
    )


def _compared(node: Node) -> Node:
    """The element whose number is the index, which is kept in range as a look-up keeps it."""
    RECORDING.site = node.site or ""
    x, index = node.operands
    size = x.shape[-1]
    wrapped = maximum(minimum(where(index < 0, index + size, index), size - 1), 0)
    found = where(eq(iota(x.shape, x.ndim - 1, x.device), wrapped), x, const(0, x.dtype, x.device))
    return sum_(found, axis=-1, keepdims=True)


class _Widener:
    """Tiles and values per row in the type they are computed in: only memory rounds."""

    def __init__(self, order: Sequence[Node], spaces: Sequence[Space]) -> None:
        self.order = order
        self.inside = {node for s in spaces for node in (*s.members, *s.stats)}
        self.sinks = {sink.product for s in spaces for sink in s.sinks}
        self.wide: dict[Node, Node] = {}
        self.plain: dict[Node, Node] = {}

    def run(self, roots: Sequence[Node]) -> list[Node]:
        """Roots of the same types."""
        for node in self.order:
            RECORDING.site = node.site or ""
            view = node.op.kind is Kind.MOVEMENT and any(x in self.wide for x in node.operands)
            if node in self.inside or view:
                self.wide[node] = self._widened(node)
            elif node in self.sinks:
                self.plain[node] = cast(self._widened(node), node.dtype)
            else:
                self.plain[node] = rebuild(node, tuple(self._narrow(x) for x in node.operands))
        return [self._narrow(root) for root in roots]

    def _widened(self, node: Node) -> Node:
        operands = tuple(self._wide(x) for x in node.operands)
        if node.op is cast and node.dtype.compute is operands[0].dtype:
            return operands[0]
        return apply(node.op, operands, node.arg)

    def _wide(self, node: Node) -> Node:
        found = self.wide.get(node)
        if found is not None or not node.dtype.is_storage:
            return found if found is not None else self._narrow(node)
        value = constant_value(node)
        if value is not None and not node.shape:
            return const(value, node.dtype.compute, node.device)
        return cast(self._narrow(node), node.dtype.compute)

    def _narrow(self, node: Node) -> Node:
        found = self.plain.get(node)
        if found is None:
            found = self.plain[node] = cast(self.wide[node], node.dtype)
        return found


def _from_products(space: Space, kept: dict[Node, Node], users: Users) -> dict[Node, Node]:
    """Row sums of (a bᵀ) * p are those of a * (p b), and p b is there already (kept: as what)."""
    found = {}
    sinks = [s for s in space.sinks if s.left and not s.turned]
    for node in space.stats:
        x = node.operands[0]
        if node.op is not sum_ or x.op is not mul:
            continue
        for one, p in (x.operands, x.operands[::-1]):
            product = space.operand(one)
            if product is None or product.op is not matrix_product:
                continue
            a, turned = product.operands
            for sink in sinks:
                same = is_transpose(turned, sink.other) and sink.product.shape == a.shape
                if same and _is_fed(space, sink.tile, space.operand(p), node, users):
                    RECORDING.site = node.site or ""
                    there = cast(kept.get(sink.product, sink.product), a.dtype)
                    rows = sum_(a * there, axis=-1, keepdims=True)
                    found[node] = rows.reshape(node.shape)
    return found


def _is_fed(space: Space, tile: Node, p: Node | None, total: Node, users: Users) -> bool:
    """Is tile p, or p but for rows of zeros, of which nobody looks at the total?"""
    if tile is p:
        return True
    if tile.op is not where or constant_value(tile.operands[1]) != 0:
        return False
    test = tile.operands[0]
    if space.operand(tile.operands[2]) is not p or test.shape[-1:] != (1,):
        return False
    seen, stack = {total}, [total]
    while stack:
        node = stack.pop()
        for user in users.get(node, ()):
            if user.op is where and user.operands[0] is test and user.operands[1] is not node:
                continue
            if user not in space.members:
                return False
            stack += [user] if user not in seen else []
            seen.add(user)
    return True


def is_transpose(x: Node, y: Node) -> bool:
    """Does x show y with its last two axes exchanged?"""
    (one, p), (two, q) = _permuted(x), _permuted(y)
    return one is two and p[:-2] == q[:-2] and p[-2:] == q[-2:][::-1]


def _permuted(x: Node) -> tuple[Node, tuple[int, ...]]:
    while x.op is cast and x.operands[0].dtype.compute is x.dtype:
        x = x.operands[0]
    return (x.operands[0], x.arg) if x.op is m.permute else (x, tuple(range(x.ndim)))
