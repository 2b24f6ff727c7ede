"""Which products run as chains, tile by tile, with the values between them never in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from treadle.base.target import Ability
from treadle.ir.node import Node
from treadle.ir.pattern import constant_value
from treadle.ops.defs import Kind
from treadle.ops.elementwise import cast, div, exp, mul, sub
from treadle.ops.reduce import sum_
from treadle.passes.tiles import Sink, Space, find_spaces

FEWEST_ITEMS = 8  # of a batch, for each to be one thread's work from end to end
HUGE = 1 << 27  # elements: they are not written whatever that costs
BOTH, TOGETHER, APART = "both", "together", "apart"
"""Sinks over rows: with those over columns, in one kernel of their own, or as they come."""


class Share(NamedTuple):
    """exp(x - top) * inverse, the inverse being that of the total of all exp(x - top) in a row.

    Who finds a row's numbers in memory needs one: where the inverse would be, top + log(total) is.
    """

    x: Node
    top: Node
    total: Node
    inverse: Node


@dataclass(eq=False)
class Chain:
    """Sinks of a space that one kernel fills: along rows of tiles, or (turned) along columns.

    - **members**: tiles it makes, operands first
    - **stats**: values per row that it computes
    - **loaded**: values per row that an earlier kernel has left in memory
    - **shares**: members that are computed from a row's logarithm
    - **logs**: what is kept as one, if it is kept
    """

    space: Space
    turned: bool
    sinks: list[Sink]
    round: int
    members: dict[Node, None] = field(default_factory=dict)
    stats: dict[Node, None] = field(default_factory=dict)
    loaded: dict[Node, None] = field(default_factory=dict)
    shares: dict[Node, Share] = field(default_factory=dict)
    logs: dict[Node, Share] = field(default_factory=dict)

    @property
    def producers(self) -> list[Node]:
        """Products that make its tiles."""
        return [node for node in self.members if node.op.kind is Kind.CONTRACT]

    def finds(self, node: Node) -> bool:
        """Is a node a value per row that is in memory when this begins?"""
        return node in self.space.stats and (self.turned or self.space.rounds[node] < self.round)


class Chains:
    """The chains of one graph, what they hide, and what they keep for each other.

    judge tells why a chain cannot be, after all, and how often it makes its tiles.
    """

    def __init__(
        self, order: Sequence[Node], roots: Sequence[Node], able: Ability,
        judge: Callable[[Chain], tuple[str, int]],
    ) -> None:  # fmt: skip
        self.judge, self.able = judge, able
        spaces = find_spaces(order, roots) if able.dtypes else []
        ways = [BOTH, TOGETHER, APART] if able.both else [TOGETHER, APART]
        arranged: list[Node] | None = None
        while arranged is None and ways:  # they may wait for each other
            self._choose(spaces, order, roots, ways)
            arranged = self._arranged(order) if self.list else list(order)
            del ways[0]
        if arranged is None:
            self._choose([], order, roots, [])
        self.order = arranged or list(order)

    def _choose(
        self, spaces: Sequence[Space], order: Sequence[Node], roots: Sequence[Node],
        ways: Sequence[str],
    ) -> None:  # fmt: skip
        self.list: list[Chain] = []
        self.of: dict[Node, Chain] = {}  # by the nodes that a chain stands for in the order
        self.hidden: set[Node] = set()
        self.kept: set[Node] = set()
        self.refused: list[tuple[Node, Node, str]] = []
        wanted = _wanted(spaces, order, roots)
        for space in spaces:
            why = space.why
            for way in () if why else ways:
                chains, kept = _chains_of(space, wanted[space], way)
                why = self._why_not(space, chains)
                if not why:
                    self._add(space, chains, kept)
                    break
            self.refused += [(s.product, s.tile, why) for s in space.sinks if why]
        self._add_casts(order, roots)

    def _add_casts(self, order: Sequence[Node], roots: Sequence[Node]) -> None:
        """A sink that is wanted in another dtype alone is only ever written in that."""
        products = {sink.product: chain for chain in self.list for sink in chain.sinks}
        users: dict[Node, list[Node]] = {
            product: [] for product in products if product not in roots
        }
        for node in order if users else ():
            for x in node.operands:
                if x in users:
                    users[x].append(node)
        for product, found in users.items():
            if len(found) == 1 and found[0].op is cast:
                self.of[found[0]] = products[product]

    def _why_not(self, space: Space, chains: Sequence[Chain]) -> str:
        """Why chains cannot be, or cost more than writing their tiles; empty otherwise."""
        if any(node.dtype not in self.able.dtypes for node in space.producers):
            return "products of such a dtype are not chained"
        widths = [s.product.shape[-1] if s.left else s.product.shape[-2] for s in space.sinks]
        if max(widths, default=0) > self.able.widest:
            return "a product is too wide to be added up where its tiles are made"
        depths = space.depths
        if any(n % self.able.whole for n in (*widths, *depths.values())):
            return f"tiles whose depths and widths are not multiples of {self.able.whole}"
        made = -sum(depths.values())
        for chain in chains:
            why, runs = self.judge(chain)
            if why:
                return why
            made += runs * sum(depths[product] for product in chain.producers)
        written = 8 * (len(depths) + len({sink.tile for sink in space.sinks}))
        dear = 2 * made > self.able.balance * written and space.rows * space.columns < HUGE
        return "computing tiles again would cost more than writing them" if dear else ""

    def _add(self, space: Space, chains: Sequence[Chain], kept: set[Node]) -> None:
        self.kept |= kept
        self.hidden |= set(space.members)
        for chain in chains:
            self.list.append(chain)
            for node in (*chain.members, *chain.stats, *(s.product for s in chain.sinks)):
                self.of.setdefault(node, chain)

    def _arranged(self, order: Sequence[Node]) -> list[Node] | None:
        """The nodes, operands first, those of a chain one after the other; None if they cannot."""
        inside: dict[Chain, list[Node]] = {}
        for node in order:
            if node in self.of:
                inside.setdefault(self.of[node], []).append(node)
        done: set[Node] = set()
        begun: set[Chain] = set()
        result: list[Node] = []
        stack = list(reversed(order))
        while stack:
            node = stack[-1]
            chain = self.of.get(node)
            nodes = inside[chain] if chain else [node]
            if nodes[0] in done:
                stack.pop()
                continue
            mine = set(nodes)
            waiting = [x for n in nodes for x in n.operands if x not in done and x not in mine]
            waiting = [x for x in waiting if not self._is_view_of(x, mine)]
            if any(self.of.get(x) in begun for x in waiting):
                return None
            if waiting:
                begun |= {chain} if chain else set()
                stack += waiting
                continue
            stack.pop()
            begun.discard(chain)
            for n in nodes:
                for x in n.operands:
                    self._views(x, done, result)
                done.add(n)
                result.append(n)
        return result

    def _is_view_of(self, node: Node, nodes: set[Node]) -> bool:
        while node.op.kind is Kind.MOVEMENT and node not in nodes:
            node = node.operands[0]
        return node in nodes

    def _views(self, node: Node, done: set[Node], result: list[Node]) -> None:
        """Views between the nodes of a chain, once what they show is there."""
        waiting = []
        while node not in done:
            waiting.append(node)
            node = node.operands[0]
        for view in reversed(waiting):
            done.add(view)
            result.append(view)


def _wanted(
    spaces: Sequence[Space], order: Sequence[Node], roots: Sequence[Node]
) -> dict[Space, set[Node]]:
    """The stats of each space that somebody outside reads, through views or not."""
    home = {stat: space for space in spaces if not space.why for stat in space.stats}
    found: dict[Space, set[Node]] = {space: set() for space in spaces}
    if not home:
        return found
    for node in (None, *order):
        for x in node.operands if node is not None else roots:
            while x.op.kind is Kind.MOVEMENT and len(x.operands) == 1:
                x = x.operands[0]  # noqa: PLW2901
            space = home.get(x)
            if space is None or (node is not None and node.op.kind is Kind.MOVEMENT):
                continue
            if node not in space.members and node not in space.stats:
                found[space].add(x)
    return found


def _chains_of(space: Space, wanted: Iterable[Node], way: str) -> tuple[list[Chain], set[Node]]:
    """The chains of a space, those along rows first, and the stats that are kept in memory."""
    kept = set(wanted)
    shares = _shares(space, kept)
    rounds = {s: space.rounds[s.product] for s in space.sinks}
    turned = [s for s in space.sinks if s.turned]
    last = max((rounds[s] for s in turned), default=0)
    if way != APART:
        rounds |= dict.fromkeys(turned, last)
    along = [s for s in space.sinks if not s.turned]
    items = min((prod(s.product.shape[:-2]) for s in turned), default=0)
    if way == BOTH and items >= FEWEST_ITEMS and any(rounds[s] == last for s in along):
        along, turned = along + turned, []
    chains = []
    for sinks in (turned, along):
        mine = {rounds[s] for s in sinks}
        mine |= {space.rounds[x] for x in space.stats} if sinks is along else set()
        for round_ in sorted(mine, reverse=True):
            chain = Chain(space, sinks is turned, [s for s in sinks if rounds[s] == round_], round_)
            targets = [s.tile for s in chain.sinks]
            if not chain.turned:
                targets += [x for x in space.stats if x in kept and space.rounds[x] == round_]
            chain.logs = {share.inverse: share for share in shares.values()}
            _collect(chain, targets, shares)
            kept |= set(chain.loaded)
            if targets:
                chains.append(chain)
    return chains[::-1], kept


def _shares(space: Space, wanted: set[Node]) -> dict[Node, Share]:
    """Members that are shares of a row's total, where nothing else needs its inverse."""
    found: dict[Node, Share] = {}
    for node in space.members:
        for power, inverse in (node.operands, node.operands[::-1]) if node.op is mul else ():
            share = _share(space, space.operand(power), space.operand(inverse))
            found |= {node: share} if share else {}
    others = [x for node in (*space.members, *space.stats) if node not in found
              for x in node.operands]  # fmt: skip
    used = wanted.union(y for x in others if (y := space.operand(x)) is not None)
    return {node: share for node, share in found.items() if share.inverse not in used}


def _share(space: Space, power: Node | None, inverse: Node | None) -> Share | None:
    if power is None or inverse is None or power.op is not exp or inverse.op is not div:
        return None
    shifted, total = space.operand(power.operands[0]), space.operand(inverse.operands[1])
    if shifted is None or shifted.op is not sub or total is None or total.op is not sum_:
        return None
    x, top = (space.operand(side) for side in shifted.operands)
    if x not in space.members or top not in space.stats or x is None or top is None:
        return None
    plain = constant_value(inverse.operands[0]) == 1 and inverse.dtype is power.dtype
    own = space.operand(total.operands[0]) is power
    return Share(x, top, total, inverse) if plain and own else None


def _collect(chain: Chain, wanted: Iterable[Node], shares: dict[Node, Share]) -> None:
    """What wanted nodes are made of, as far as the chain makes it."""
    space = chain.space
    found: set[Node] = set()
    stack = list(wanted)
    while stack:
        node = stack.pop()
        if node in found:
            continue
        share = shares.get(node)
        if share is not None and chain.finds(share.inverse):
            chain.shares[node] = share
            found.add(node)
            stack += [share.x, share.inverse]
            continue
        if chain.finds(node):
            chain.loaded[node] = None
            continue
        found.add(node)
        stack += [y for x in node.operands if (y := space.operand(x)) is not None]
    chain.members = {node: None for node in space.members if node in found}
    chain.stats = {node: None for node in space.stats if node in found}
