"""A loop or branch in words for the walker; what these mean is said in nesting.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from treadle.backends.cpu.nesting import RULE
from treadle.backends.cpu.products import SCRATCH
from treadle.base.sizes import most
from treadle.ir.region import Loop
from treadle.kernel import nested
from treadle.kernel.nested import Body, Make, Rule, Steps, Where, fixed
from treadle.kernel.steps import RegionStep

ANY = 1 << 22  # steps that a loop is taken to have where nobody knows: it can be interrupted


class Tabled(nested.Tabled, Protocol):
    """The table of a body."""

    # fmt: off
    @property
    def scratch_bytes(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def once(self) -> int: ...
    # fmt: on

    def words(self) -> list[Any]:
        """Four for each entry."""


class Nested(nested.Nested[Tabled]):
    """A loop or branch as an entry of a table."""

    def __init__(self, region: RegionStep, step: int, make: Make[Tabled]) -> None:
        super().__init__(region, step, make)
        self.temporaries[self._name("bases")] = 8 * max(body.bases for body in self.bodies)
        self.scratch_bytes = max(table.scratch_bytes for table in self.tables)
        steps = 1
        if isinstance(self.spec, Loop):
            steps = ANY if self.spec.flagged else most(self.spec.length)
        self.size = max(1, *(table.size for table in self.tables)) * steps

    def words(self, place: Where) -> list[Any]:
        """The head, which leads to everything else."""
        laid = self.laid(place)
        records = _flat(map(_record, self.bodies, laid.bodies))
        is_loop = isinstance(self.spec, Loop)
        flag = (*laid.flag, laid.told) if laid.flag else (-1, 0, 0)
        begin = _flat((*start, *home, nbytes) for start, home, nbytes in laid.begin)
        finish = _flat((base, *home, nbytes) for base, home, nbytes in laid.finish)
        return [
            0 if is_loop else len(self.bodies), self.spec.length if is_loop else 1, *flag,
            *place(self._name("bases")), records, len(laid.begin), begin, len(laid.finish), finish,
        ]  # fmt: skip


def _record(body: Body[Tabled], steps: Steps) -> list[Any]:
    """Nine words of a body."""
    rules = {SCRATCH: fixed((SCRATCH, 0))} | steps.rules
    listed = _flat(_rule(rules.get(k)) for k in range(body.bases))
    table = body.table.words()
    before, after = _flat(steps.before), _flat(steps.after)
    return [table, len(table) // 4, body.bases, listed, len(steps.before), before,
            len(steps.after), after, body.table.once]  # fmt: skip


def _rule(rule: Rule | None) -> list[int]:
    if rule is None:
        return [0] * RULE
    return [*rule.first, *rule.even, *rule.odd, rule.stride]


def _flat(parts: Iterable[Iterable[Any]]) -> list[Any]:
    return [word for part in parts for word in part]
