"""Small products that need nothing of each other, started as one launch.

A product of few tiles leaves most processors idle, and is done in about the time that it takes to
start a kernel. So products of one text, as queries, keys and values are, or the layers of experts,
become one kernel, whose programs find by their number which product their tile belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod

from treadle.backends.choices import Machine
from treadle.backends.cuda.launch import Arguments, Launch, Source
from treadle.backends.cuda.matmul import Matmul, Tile
from treadle.backends.cuda.together import MOST, together
from treadle.base.sizes import most
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.steps import ProductStep, ScatterStep, Step
from treadle.schedule.clusters import Cluster

FEWEST = 3  # products that are worth it
MANY = 8  # the same of those that take long beside their start
SIDE = 64  # of the tiles by which a product is called small
PART = 4  # of all processors it has at most such a part of tiles
TINY = 8  # tiles of a product that takes no time, whatever its dtype
DEEPEST = 512  # along k: deeper ones are cut in pieces, if they have few tiles
LOW = 16  # rows of tiles that are for products of no more
APART = 256  # steps that may lie between products of one launch: what they make waits in memory
Device = tuple[int, Machine, int]
"""Processors, what it is known by, and its architecture."""


@dataclass(eq=False)
class GroupStep(Step):
    """Products that are started together: as one step, no memory is used twice within it."""

    members: list[ProductStep]
    made: list[Launch]

    def programs(self) -> list[Built]:
        """Every loop program in it."""
        return [built for step in self.members for built in step.programs()]

    def operands(self) -> list[Node]:
        """What is multiplied."""
        return [node for step in self.members for node in step.operands()]

    def reads(self) -> set[Node]:
        """Nodes whose memory is read, and was written before."""
        return {node for step in self.members for node in step.reads()}

    def launches(self) -> list[Launch]:
        """One kernel, as a rule."""
        return together(self.made)


Exact = tuple[bool, bool, bool]


class Member(Matmul):
    """A product with the tile of its group, which nobody has timed, and the text of all."""

    common: Exact = (False, False, False)  # what is so for all of the group

    def timed(self, tile: Tile) -> Tile:
        """The tile."""
        return tile

    def exact(self) -> Exact:
        """Is nothing left over, of any?"""
        return self.common

    def launched(self, tile: Tile, common: Exact) -> Launch:
        """Its launch."""
        self.tile, self.common, self.arguments = tile, common, Arguments()
        return self.launch()


class Grouping:
    """Steps of a program on their way to fewer launches."""

    def __init__(
        self, steps: Sequence[Step], replaces: Mapping[Node, Node], device: Device
    ) -> None:
        self.steps, self.device, self.processors = steps, device, device[0]
        self.small = {
            k: step
            for k, step in enumerate(steps)
            if type(step) is ProductStep and self._is_small(step)
        }
        self.before = _before(steps, replaces) if len(self.small) >= FEWEST else []

    def arranged(self) -> list[Step]:
        """The steps, small products in groups where there are enough of them."""
        if len(self.small) < FEWEST:
            return list(self.steps)
        groups = [made for alike in self._alike() for made in self._groups(alike)]
        return self._sorted(groups) if groups else list(self.steps)

    def _is_small(self, step: ProductStep) -> bool:
        if step.parts or step.after or not step.node.type.size:
            return False
        a, b = step.sides()
        if a.places is not None or b.places is not None or most(a.shape[-1]) > DEEPEST:
            return False
        return PART * _tiles(step) <= self.processors

    def _alike(self) -> list[list[int]]:
        """Numbers of small products of one kind, none of which is made of another.

        Those that have the same number of small products below them, on the longest way.
        """
        depth: list[int] = []
        found: dict[object, list[list[int]]] = {}
        for k, before in enumerate(self.before):
            depth.append(max((depth[d] + (d in self.small) for d in before), default=0))
            if k not in self.small:
                continue
            node = self.small[k].node
            key = depth[k], node.dtype, len(node.shape)
            rows = found.setdefault(key, [[]])
            if rows[-1] and k - rows[-1][0] > APART:
                rows.append([])
            rows[-1].append(k)
        return [row for rows in found.values() for row in rows if self._is_worth(row)]

    def _is_worth(self, numbers: Sequence[int]) -> bool:
        """Are there enough? Where no tensor cores help, more: they take their time anyway."""
        products = [self.small[k] for k in numbers]
        brief = all(x.node.dtype.size <= 2 or _tiles(x) <= TINY for x in products)
        return len(products) >= (FEWEST if brief else MANY)

    def _groups(self, numbers: list[int]) -> list[tuple[list[int], list[Launch]]]:
        """Products of one text, with their launches."""
        members = {k: Member(self.small[k], *self.device) for k in numbers}
        tile = self._tile(list(members.values()))
        texts: dict[Source, list[int]] = {}
        for k, member in members.items():
            source = member.launched(tile, Member.common).source
            texts.setdefault(source, []).append(k)
        found = []
        for mine in texts.values():
            for some in (mine[k : k + MOST] for k in range(0, len(mine), MOST)):
                whole = [Matmul.exact(members[k]) for k in some]
                common = (
                    all(x[0] for x in whole),
                    all(x[1] for x in whole),
                    all(x[2] for x in whole),
                )
                found.append((some, [members[k].launched(tile, common) for k in some]))
        return [group for group in found if self._is_worth(group[0])]

    def _tile(self, members: Sequence[Member]) -> Tile:
        """The tile of least estimated time for all of them."""

        def time(tile: Tile) -> float:
            waves = -(-sum(most(x.count(tile)) for x in members) // self.processors)
            return waves * tile.m * tile.n / tile.speed

        rows, narrow = max(most(x.m) for x in members), members[0].node.dtype.size <= 2
        tiles = [x for x in members[0].tiles() if x.m > LOW or rows <= LOW or not narrow]
        return min(tiles, key=time)

    def _sorted(self, groups: Sequence[tuple[list[int], list[Launch]]]) -> list[Step]:
        """All steps as they were, but for groups, which wait for what all of them read."""
        home = {k: numbers[0] for numbers, _ in groups for k in numbers}
        step_of: dict[int, Step] = {
            k: step for k, step in enumerate(self.steps) if home.get(k, k) == k
        }
        step_of |= {numbers[0]: self._step(numbers, made) for numbers, made in groups}
        waits: dict[int, set[int]] = {k: set() for k in step_of}
        readers: dict[int, set[int]] = {k: set() for k in step_of}
        for k, before in enumerate(self.before):
            own = home.get(k, k)
            for other in {home.get(d, d) for d in before} - {own}:
                waits[own].add(other)
                readers[other].add(own)
        ready = [k for k, some in waits.items() if not some]
        heapify(ready)
        found = []
        while ready:
            k = heappop(ready)
            found.append(step_of[k])
            for other in readers[k]:
                waits[other].discard(k)
                if not waits[other]:
                    heappush(ready, other)
        return found

    def _step(self, numbers: Sequence[int], made: list[Launch]) -> GroupStep:
        members = [self.small[k] for k in numbers]
        first = members[0].cluster
        reason = f"{len(members)} small products that need nothing of each other"
        cluster = Cluster(first.number, "product", sum(x.cluster.size for x in members))
        cluster.members = {node: how for x in members for node, how in x.cluster.members.items()}
        cluster.reason = reason
        return GroupStep(cluster, [node for x in members for node in x.writes], members, made)


def _tiles(step: ProductStep) -> int:
    *batch, rows, columns = step.node.shape
    return most(-(-rows // SIDE) * -(-columns // SIDE) * prod(batch))


def _before(steps: Sequence[Step], replaces: Mapping[Node, Node]) -> list[set[int]]:
    """For each step those that come before it, as they did: they make what it reads.

    Or they read what it may write over.
    """
    writer: dict[Node, int] = {}
    readers: dict[Node, set[int]] = {}
    found = []
    for k, step in enumerate(steps):
        reads = step.reads()
        before = {writer[node] for node in reads if node in writer}
        over = [replaces[node] for node in step.writes if node in replaces]
        over += [step.base] if isinstance(step, ScatterStep) and step.base else []
        for node in over:
            before |= readers.get(node, set())
        found.append(before - {k})
        for node in reads:
            readers.setdefault(node, set()).add(k)
        writer |= dict.fromkeys(step.writes, k)
    return found
