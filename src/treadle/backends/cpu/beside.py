"""What a program does line by line, and which lines at once: where one leaves threads idle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from treadle.backends.cpu import jit
from treadle.base.sizes import most
from treadle.ir.node import Node
from treadle.kernel.places import Place, Temporary
from treadle.kernel.steps import Step

MOST = 8  # entries side by side
BACK = 8  # how many groups an entry may go past
SHARED = 1 << 14  # elements of an entry that is worth more than one thread
Words = Callable[[Callable[[object], Place]], list[int]]
Range = tuple[int, int, int]
"""A base, and the first and the last byte above it."""


@dataclass(eq=False)
class Entry:
    """One line of the program: a kernel, how many blocks, and parameters once memory is laid."""

    job: jit.Job | None  # None: a loop or branch, whose words lead to tables of its own
    symbol: str
    blocks: int  # these may be sizes, and so may words
    words: Words
    step: int
    size: int
    scratch: int = 0  # bytes of each thread
    once: bool = False  # in a loop: at its first step only

    @property
    def serial(self) -> bool:
        """Is it too little to share?"""
        return self.job is None or self.size < SHARED

    def is_less_than(self, threads: int) -> bool:
        """Could every thread not have two blocks?"""
        return most(self.blocks) < 2 * threads


@dataclass(frozen=True)
class Touched:
    """Memory of a step."""

    reads: Sequence[Range]
    writes: Sequence[Range]

    def meets(self, other: Touched) -> bool:
        """Does one write what the other reads or writes?"""
        return (
            _overlap(self.writes, other.writes)
            or _overlap(self.writes, other.reads)
            or _overlap(self.reads, other.writes)
        )


def _overlap(one: Iterable[Range], other: Sequence[Range]) -> bool:
    return any(
        base == b and first < end and start < last
        for base, first, last in one
        for b, start, end in other
    )


class Memory:
    """What steps read and write, as memory is laid out; temporaries of a step are written."""

    def __init__(
        self, steps: Sequence[Step], temporaries: Mapping[object, Temporary],
        place: Callable[[object], Place],
    ) -> None:  # fmt: skip
        self.steps, self.place = steps, place
        self.between: dict[int, list[Range]] = {}
        self.found: dict[int, Touched] = {}
        for name, (nbytes, first, last) in temporaries.items():
            base, at = place(name)
            for number in range(first, last + 1):
                self.between.setdefault(number, []).append((base, at, at + most(nbytes)))

    def of(self, number: int) -> Touched:
        """The memory of a step."""
        if number not in self.found:
            step = self.steps[number]
            writes = self._ranges(step.writes) + self.between.get(number, [])
            self.found[number] = Touched(self._ranges(step.reads()), writes)
        return self.found[number]

    def _ranges(self, nodes: Iterable[Node]) -> list[Range]:
        found = [(*self.place(node), most(node.type.nbytes)) for node in nodes]
        return [(base, at, at + nbytes) for base, at, nbytes in found]


def independent(steps: Sequence[Step], entries: Sequence[Entry], threads: int) -> set[int]:
    """Steps that leave threads idle, near others that do and that need nothing of them."""
    idle = {x.step for x in entries if not x.serial and x.is_less_than(threads)}
    found: set[int] = set()
    for late in idle if threads > 1 and len(idle) > 1 else ():
        needed = steps[late].reads()
        for early in range(late - 1, max(-1, late - 1 - BACK), -1):
            if not needed.isdisjoint(steps[early].writes):
                needed |= steps[early].reads()
            elif early in idle:
                found |= {early, late}
    return found


def groups(entries: Sequence[Entry], memory: Memory, threads: int) -> list[list[Entry]]:
    """Entries in an order that gives the same, those that run at the same time together.

    One joins those before it, if no thread would get two blocks of each and none of them, nor any
    that it goes past, writes what it needs or needs what it writes.
    """
    found: list[list[Entry]] = []
    for entry in entries:
        home = None
        for group in reversed(found[-BACK:] if threads > 1 and not entry.serial else ()):
            if any(_wait(entry, other, memory) for other in group):
                break
            if _has_room(group, threads) and _share_scratch(group, entry):
                home = group
        if home is None:
            found.append([entry])
        else:
            home.append(entry)
    return found


def _has_room(group: Sequence[Entry], threads: int) -> bool:
    blocks = sum(most(entry.blocks) for entry in group)
    return not group[0].serial and len(group) < MOST and blocks < 2 * threads


def _wait(one: Entry, other: Entry, memory: Memory) -> bool:
    return one.step == other.step or memory.of(one.step).meets(memory.of(other.step))


def _share_scratch(group: Sequence[Entry], entry: Entry) -> bool:
    """Is a thread's scratch at the same place for all? Where it begins depends on its size."""
    return len({x.scratch for x in (*group, entry) if x.scratch}) <= 1
