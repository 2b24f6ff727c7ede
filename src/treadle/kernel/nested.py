"""Where the bodies of a loop or branch find their memory at each step.

A carry is written over itself where its kernel may do that, else to one of two places in turn, or
read from the last slice of a stack that holds it anyway. What a body only hands on is copied, and
so are slices that begin where kernels could not read or write them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from treadle.ir.node import LEAF, Node
from treadle.ir.region import Loop, Region
from treadle.kernel.places import ARENA, Place, Places
from treadle.kernel.steps import RegionStep
from treadle.schedule.clusters import without_reshape
from treadle.schedule.layout import Layout

Where = Callable[[object], Place]


class Tabled(Protocol):
    """The kernels of a body."""

    # fmt: off
    @property
    def layout(self) -> Layout: ...
    @property
    def places(self) -> Places: ...
    # fmt: on

    def place(self, buffer: object, /) -> Place:
        """Where a buffer lies."""


Table = TypeVar("Table", bound=Tabled)
Make = Callable[[Sequence[Node], Sequence[Node], dict[Node, Node], Sequence[Node]], Table]
"""A table for roots over leaves; roots to leaves whose memory they may take over, and leaves that
stay as they are."""


class Rule(NamedTuple):
    """Where a base of a body is at the first step, at even and odd ones, and how far it moves."""

    first: Place
    even: Place
    odd: Place
    stride: int

    def at(self, step: int) -> Place:
        """The place at a step."""
        base, offset = self.first if not step else self.odd if step % 2 else self.even
        return base, offset + self.stride * step


def fixed(place: Place, stride: int = 0) -> Rule:
    """The rule of what lies at the same place at every step, or a stride further."""
    return Rule(place, place, place, stride)


Move = tuple[int, int, int]
"""A copy between bases of a body: from, to, bytes."""


class Steps(NamedTuple):
    """What a step of a body does besides its kernels, and where its bases are."""

    rules: dict[int, Rule]
    before: list[Move]
    after: list[Move]


class Laid(NamedTuple):
    """A loop or branch once memory is laid out.

    - **flag**: where it says whether to begin, or which branch; None: a loop that only counts
    - **told**: the base of the body that says whether to go on
    - **begin**: copies before all: from, to, bytes
    - **finish**: copies after all, from where the next step would find a base of the body
    """

    bodies: list[Steps]
    flag: Place | None
    told: int
    begin: list[tuple[Place, Place, int]]
    finish: list[tuple[int, Place, int]]


class Body(Generic[Table]):
    """One body: which results its table writes, and which are copies of something else.

    Bases from `extra` on are no table's: results are copied there.
    """

    def __init__(
        self, region: Region, order: Sequence[int], carries: int, still: int, make: Make[Table]
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
        self.table = make(roots, self.params, over, self.params[still:])
        self.extra = self.bases = self.table.places.bases
        self.at = [self.table.place(node)[0] for node in self.params]
        self.base = {k: self._number(k) for k in order}

    def _number(self, k: int) -> int:
        """The base that holds a result after a step."""
        return self.table.place(self.results[k])[0] if self.owner[k] == k else self.another()

    def another(self) -> int:
        """A base that no kernel reads or writes."""
        self.bases += 1
        return self.bases - 1

    def is_over(self, k: int) -> bool:
        """Is a carry written over itself?"""
        return self.owner[k] == k and self.base[k] == self.at[k]

    def moves(self, skipped: Sequence[int] = ()) -> tuple[list[Move], list[Move]]:
        """Copies before a step and after it; results that are skipped need none."""
        before: list[Move] = []
        after: list[Move] = []
        for k, base in self.base.items():
            if base >= self.extra and k not in skipped:
                source, owner = self.results[k], self.owner[k]
                nbytes = source.type.nbytes
                if owner is None:
                    before.append((self.table.place(source)[0], base, nbytes))
                else:
                    after.append((self.base[owner], base, nbytes))
        return before, after


class Nested(Generic[Table]):
    """A loop or branch as a step of a program.

    grain: bytes that a slice must begin at a multiple of, for kernels to read or write it there.
    """

    def __init__(self, region: RegionStep, step: int, make: Make[Table], grain: int = 1) -> None:
        self.spec, self.step = region.node.arg, step
        self.given = region.operands()
        self.wanted: dict[int, object] = {node.arg: node for node in region.writes}
        if isinstance(self.spec, Loop):
            carries, still = self.spec.carries, self.spec.carries + self.spec.xs
            order = self._loop_order(self.spec)
            self.bodies = [Body(self.spec.body, order, carries, still, make)]
        else:
            self.bodies = [
                Body(body, range(len(body.results)), 0, len(body.params), make)
                for body in self.spec.bodies
            ]
        self.tables = [body.table for body in self.bodies]
        self.temporaries: dict[object, int] = self._reserved()
        self.slices: dict[int, int] = {}  # params whose slices are copied, and the base of these
        self.parts: dict[int, int] = {}  # the same of results
        if isinstance(self.spec, Loop) and grain > 1:
            self._stage(self.spec, grain)

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
        arena = max(table.layout.nbytes for table in self.tables)
        found: dict[object, int] = {self._name("arena"): arena} if arena else {}
        body = self.bodies[0]
        for k, node in enumerate(body.results):
            if k not in self.wanted:
                self.wanted[k] = self._name(f"result{k}-")
                found[self.wanted[k]] = node.type.nbytes
            if isinstance(self.spec, Loop) and k < self.spec.carries and not body.is_over(k):
                found[self._name(f"other{k}-")] = node.type.nbytes
        return found

    def _stage(self, spec: Loop, grain: int) -> None:
        """Slices that do not begin at multiples of a grain lie elsewhere during a step."""
        (body,) = self.bodies
        for k in range(spec.carries, spec.carries + spec.xs):
            if (nbytes := body.params[k].type.nbytes) % grain:
                self.slices[k] = body.another()
                self.temporaries[self._name(f"slice{k}-")] = nbytes
        for k in range(spec.carries, spec.carries + spec.ys):
            nbytes = body.results[k].type.nbytes
            if nbytes % grain and self._is_stacked(k) and body.owner[k] == k:
                self.parts[k] = body.another()
                self.temporaries[self._name(f"part{k}-")] = nbytes

    def _name(self, what: str) -> str:
        return f"{what}{self.step}"

    def laid(self, place: Where) -> Laid:
        """The rules of all bases, once memory is laid out."""
        if isinstance(self.spec, Loop):
            return self._loop(self.spec, place)
        bodies = []
        for body in self.bodies:
            rules = self._inner(place)
            rules |= {body.at[k - 1]: fixed(place(x)) for k, x in enumerate(self.given) if k}
            rules |= {base: fixed(place(self.wanted[k])) for k, base in body.base.items()}
            bodies.append(Steps(rules, *body.moves()))
        return Laid(bodies, place(self.given[0]), 0, [], [])

    def _inner(self, place: Where) -> dict[int, Rule]:
        """The rule of the memory that bodies work in."""
        arena = self._name("arena")
        return {ARENA: fixed(place(arena))} if arena in self.temporaries else {}

    def _loop(self, spec: Loop, place: Where) -> Laid:
        (body,) = self.bodies
        rules = self._inner(place)
        in_stack = [k for k in range(spec.carries) if self._is_in_stack(body, k)]
        before, after = body.moves(in_stack)
        staged: list[Move] = []
        for k in range(spec.carries, len(body.params)):
            nbytes = body.params[k].type.nbytes
            rule = self._along(place(self.given[k]), nbytes * (k < spec.carries + spec.xs))
            if k in self.slices:
                rules[self.slices[k]] = rule
                staged.append((self.slices[k], body.at[k], nbytes))
                rule = fixed(place(self._name(f"slice{k}-")))
            rules[body.at[k]] = rule
        for k in range(spec.carries, len(body.results)):
            nbytes = body.results[k].type.nbytes
            rule = self._along(place(self.wanted[k]), nbytes * self._is_stacked(k))
            if k in self.parts:
                rules[self.parts[k]] = rule
                after.append((body.base[k], self.parts[k], nbytes))
                rule = fixed(place(self._name(f"part{k}-")))
            rules[body.base[k]] = rule
        begin, finish = self._carries(spec, place, rules, in_stack)
        flag = place(self.given[-1]) if spec.flagged else None
        steps = Steps(rules, staged + before, after)
        return Laid([steps], flag, body.base[len(body.results) - 1], begin, finish)

    def _carries(
        self, spec: Loop, place: Where, rules: dict[int, Rule], in_stack: Sequence[int]
    ) -> tuple[list[tuple[Place, Place, int]], list[tuple[int, Place, int]]]:
        """Rules of carries are added; copies that come before all, and after."""
        (body,) = self.bodies
        begin: list[tuple[Place, Place, int]] = []
        finish: list[tuple[int, Place, int]] = []
        for k in range(spec.carries):
            nbytes = body.results[k].type.nbytes
            home, start = place(self.wanted[k]), place(self.given[k])
            if body.is_over(k):
                rules[body.at[k]] = fixed(home)
                begin.append((start, home, nbytes))
                continue
            if k in in_stack:
                (base, offset), *_, stride = rules[body.base[body.owner[k] or 0]]
                last = (base, offset - stride)
                rules[body.at[k]] = Rule(start, last, last, stride)
            else:
                even, odd = home, place(self._name(f"other{k}-"))
                if not spec.flagged and isinstance(spec.length, int) and not spec.length % 2:
                    even, odd = odd, even  # so that the last step writes where it is wanted
                rules[body.base[k]] = Rule(even, even, odd, 0)
                rules[body.at[k]] = Rule(start, odd, even, 0)
            if not isinstance(self.wanted[k], str):
                finish.append((body.at[k], home, nbytes))
        return begin, finish

    def _along(self, place: Place, stride: int) -> Rule:
        """The rule of a slice that goes on at every step, or back."""
        if self.spec.reverse:
            base, offset = place
            return fixed((base, offset + (self.spec.length - 1) * stride), -stride)
        return fixed(place, stride)

    def _is_stacked(self, k: int) -> bool:
        """Are the slices of a result kept, of every step?"""
        stacks = range(self.spec.carries, self.spec.carries + self.spec.ys)
        return k in stacks and not isinstance(self.wanted[k], str)

    def _is_in_stack(self, body: Body[Table], k: int) -> bool:
        """Is a carry the same as a result that is stacked, and read from there?"""
        owner = body.owner[k]
        return owner is not None and self._is_stacked(owner) and owner not in self.parts
