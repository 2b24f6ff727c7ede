"""Where the bodies of a loop or branch find their memory at each step, in words for the walker.

A carry is written over itself where its kernel may do that, else to one of two places in turn, or
read from the last slice of a stack that holds it anyway. What a body only hands on is copied. What
the words mean is said in nesting.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from treadle.backends.cpu.nesting import RULE
from treadle.backends.cpu.products import SCRATCH
from treadle.base.sizes import most
from treadle.ir.node import LEAF, Node
from treadle.ir.region import Loop, Region
from treadle.kernel.places import ARENA, Place, Places
from treadle.kernel.steps import RegionStep
from treadle.schedule.clusters import without_reshape
from treadle.schedule.layout import Layout

Where = Callable[[object], Place]
ANY = 1 << 22  # steps that a loop is taken to have where nobody knows: it can be interrupted


class Tabled(Protocol):
    """The table of a body."""

    layout: Layout
    places: Places
    place: Where
    scratch_bytes: int
    size: int
    once: int

    def words(self) -> list[Any]:
        """Four for each entry."""


Make = Callable[[Sequence[Node], Sequence[Node], dict[Node, Node], Sequence[Node]], Any]
"""A table for roots over leaves; roots to leaves whose memory they may take over, and leaves that
stay as they are."""


class Body:
    """One body: which results its table writes, and which are copies of something else.

    Bases from `extra` on are no table's: results are copied there.
    """

    def __init__(
        self, region: Region, order: Sequence[int], carries: int, still: int, make: Make
    ) -> None:
        self.params = list(region.params)
        self.results = [without_reshape(x) for x in region.results]
        first: dict[Node, int] = {}
        for k in order:  # whoever comes first is written, others are copied from there
            if self.results[k].op is not LEAF:
                first.setdefault(self.results[k], k)
        self.owner = {k: first.get(x) for k, x in enumerate(self.results)}
        own = list(first.values())
        over = {self.results[k]: self.params[k] for k in own if k < carries}
        roots = [self.results[k] for k in own]
        self.table: Tabled = make(roots, self.params, over, self.params[still:])
        self.extra = self.table.places.bases
        self.bases = self.extra
        self.base = {k: self._number(k) for k in order}

    def _number(self, k: int) -> int:
        """The base that holds a result after a step."""
        if self.owner[k] == k:
            return self.table.place(self.results[k])[0]
        self.bases += 1
        return self.bases - 1

    def is_over(self, k: int) -> bool:
        """Is a carry written over itself?"""
        return self.owner[k] == k and self.base[k] == self.table.place(self.params[k])[0]

    def words(self, rules: dict[int, list[int]], skipped: Sequence[int]) -> list[Any]:
        """A record; results that are skipped need not be copied."""
        before: list[int] = []
        after: list[int] = []
        for k, base in self.base.items():
            if base >= self.extra and k not in skipped:
                source, nbytes = self.results[k], self.results[k].type.nbytes
                owner = self.owner[k]
                moves = before if owner is None else after
                moves += [self.table.place(source)[0] if owner is None else self.base[owner],
                          base, nbytes]  # fmt: skip
        nothing = [0] * RULE
        listed = [word for k in range(self.bases) for word in rules.get(k, nothing)]
        table = self.table.words()
        counts = len(before) // 3, len(after) // 3
        return [table, len(table) // 4, self.bases, listed, counts[0], before, counts[1], after,
                self.table.once]  # fmt: skip


def fixed(place: Place) -> list[int]:
    """The rule of what lies at the same place at every step."""
    return [*place, *place, *place, 0]


def moving(place: Place, stride: int) -> list[int]:
    """The rule of what lies a stride further at every step."""
    return [*place, *place, *place, stride]


class Nested:
    """A loop or branch as an entry of a table."""

    def __init__(self, region: RegionStep, step: int, make: Make) -> None:
        self.spec, self.step = region.node.arg, step
        self.given = region.operands()
        self.wanted: dict[int, object] = {node.arg: node for node in region.writes}
        if isinstance(self.spec, Loop):
            self._order = self._loop_order(self.spec)
            carries, still = self.spec.carries, self.spec.carries + self.spec.xs
            self.bodies = [Body(self.spec.body, self._order, carries, still, make)]
        else:
            self.bodies = [
                Body(body, range(len(body.results)), 0, len(body.params), make)
                for body in self.spec.bodies
            ]
        self.tables = [body.table for body in self.bodies]
        self.scratch_bytes = max(table.scratch_bytes for table in self.tables)
        self.temporaries: dict[object, int] = self._reserved()
        steps = 1
        if isinstance(self.spec, Loop):
            steps = ANY if self.spec.flagged else most(self.spec.length)
        self.size = max(1, *(table.size for table in self.tables)) * steps

    @staticmethod
    def _loop_order(spec: Loop) -> list[int]:
        """Stacks before carries: a carry can be read from its stack, but not the other way."""
        stacks = range(spec.carries, spec.carries + spec.ys)
        return [
            *stacks,
            *range(spec.carries),
            *range(spec.carries + spec.ys, len(spec.body.results)),
        ]

    def _reserved(self) -> dict[object, int]:
        """Memory besides that of results which are wanted: names, and bytes."""
        found: dict[object, int] = {
            self._name("bases"): 8 * max(body.bases for body in self.bodies)
        }
        arena = max(table.layout.nbytes for table in self.tables)
        found |= {self._name("arena"): arena} if arena else {}
        body = self.bodies[0]
        for k, node in enumerate(body.results):
            if k not in self.wanted:
                self.wanted[k] = self._name(f"result{k}-")
                found[self.wanted[k]] = node.type.nbytes
            if isinstance(self.spec, Loop) and k < self.spec.carries and not body.is_over(k):
                found[self._name(f"other{k}-")] = node.type.nbytes
        return found

    def _name(self, what: str) -> str:
        return f"{what}{self.step}"

    def words(self, place: Where) -> list[Any]:
        """The head, which leads to everything else."""
        if isinstance(self.spec, Loop):
            return self._loop(self.spec, place)
        records: list[Any] = []
        for body in self.bodies:
            rules = self._inner(body, place)
            for k, node in enumerate(body.params, 1):
                rules[body.table.place(node)[0]] = fixed(place(self.given[k]))
            for k, base in body.base.items():
                rules[base] = fixed(place(self.wanted[k]))
            records += body.words(rules, ())
        index, bases = place(self.given[0]), place(self._name("bases"))
        return [len(self.bodies), 1, *index, 0, *bases, records, 0, [], 0, []]

    def _inner(self, body: Body, place: Where) -> dict[int, list[int]]:
        """Rules of the memory that bodies work in."""
        arena = self._name("arena")
        return {
            ARENA: fixed(place(arena) if arena in self.temporaries else (ARENA, 0)),
            SCRATCH: fixed((SCRATCH, 0)),
        }

    def _loop(self, spec: Loop, place: Where) -> list[Any]:
        (body,) = self.bodies
        rules = self._inner(body, place)
        at = [body.table.place(node)[0] for node in body.params]
        before: list[int] = []  # copies to begin with
        after: list[int] = []
        for k in range(spec.carries, len(body.params)):
            moves = k < spec.carries + spec.xs
            stride = body.params[k].type.nbytes * moves
            rules[at[k]] = self._along(place(self.given[k]), stride)
        for k in range(spec.carries, len(body.results)):
            stacked = k < spec.carries + spec.ys and not isinstance(self.wanted[k], str)
            stride = body.results[k].type.nbytes * stacked
            rules[body.base[k]] = self._along(place(self.wanted[k]), stride)
        in_stack = [k for k in range(spec.carries) if self._is_in_stack(body, k)]
        for k in range(spec.carries):
            nbytes = body.results[k].type.nbytes
            home, begin = place(self.wanted[k]), place(self.given[k])
            if body.is_over(k):
                rules[at[k]] = fixed(home)
                before += [*begin, *home, nbytes]
                continue
            if k in in_stack:
                base, offset, *_, stride = rules[body.base[body.owner[k] or 0]]
                last = (base, offset - stride)
                rules[at[k]] = [*begin, *last, *last, stride]
            else:
                even, odd = home, place(self._name(f"other{k}-"))
                if not spec.flagged and isinstance(spec.length, int) and not spec.length % 2:
                    even, odd = odd, even  # so that the last step writes where it is wanted
                rules[body.base[k]] = [*even, *even, *odd, 0]
                rules[at[k]] = [*begin, *odd, *even, 0]
            if not isinstance(self.wanted[k], str):
                after += [at[k], *home, nbytes]
        flag = (*place(self.given[-1]), body.base[len(body.results) - 1])
        records = body.words(rules, in_stack)
        return [
            0, spec.length, *(flag if spec.flagged else (-1, 0, 0)), *place(self._name("bases")),
            records, len(before) // 5, before, len(after) // 4, after,
        ]  # fmt: skip

    def _along(self, place: Place, stride: int) -> list[int]:
        """The rule of a slice that goes on at every step, or back."""
        if self.spec.reverse:
            base, offset = place
            return moving((base, offset + (self.spec.length - 1) * stride), -stride)
        return moving(place, stride)

    def _is_in_stack(self, body: Body, k: int) -> bool:
        """Is a carry the same as a result that is stacked, and read from there?"""
        owner = body.owner[k]
        stacks = range(self.spec.carries, self.spec.carries + self.spec.ys)
        return owner is not None and owner in stacks and not isinstance(self.wanted[owner], str)
