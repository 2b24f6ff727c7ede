"""Two profiles side by side: what became faster, and what slower."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from treadle.profiler.groups import Group
from treadle.profiler.table import shown, time_text


class Change(NamedTuple):
    """A name with its time before and after, in nanoseconds; 0 where it is missing."""

    name: str
    before: float
    after: float

    @property
    def gained(self) -> float:
        """Nanoseconds saved; negative where it became slower."""
        return self.before - self.after


class Difference:
    """Changes, the largest first; print it to read it."""

    def __init__(self, key: str, before: Sequence[Group], after: Sequence[Group]) -> None:
        old, new = ({group.name: group.time for group in x} for x in (before, after))
        self.key = key
        changes = [Change(name, old.get(name, 0.0), new.get(name, 0.0)) for name in old | new]
        self.rows = sorted(changes, key=lambda change: -abs(change.gained))
        self.before, self.after = (sum(group.own for group in x) for x in (before, after))

    def __str__(self) -> str:
        lines = [f"{self.key:<44} {'before':>10} {'after':>10} {'ratio':>7}"]
        total = Change("all", self.before, self.after)
        for change in (total, *self.rows[:20]):
            ratio = f"{change.after / change.before:7.2f}" if change.before else "    new"
            texts = time_text(change.before), time_text(change.after)
            lines.append(
                f"{shown(self.key, change.name):<44} {texts[0]:>10} {texts[1]:>10} {ratio}"
            )
        return "\n".join(lines)

    __repr__ = __str__
