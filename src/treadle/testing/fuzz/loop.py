"""Programs run in children of this process, until something goes wrong or the time is over.

A child runs a batch of programs; when it dies, what it ran last is known. Whatever goes wrong is
run again in fresh children, alone or after what ran before it, and shrunk there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from treadle.testing.fuzz.children import PATIENCE, ending, generated, replay, run_batch, start
from treadle.testing.fuzz.modes import Failure
from treadle.testing.fuzz.runs import BATCH
from treadle.testing.fuzz.shrink import Case, shrink

HISTORY = " after other programs"
ENOUGH = 2  # shrunk failures of one symptom, which may have more than one cause


@dataclass
class Child:
    """A process and what it did last."""

    process: Any
    pipe: Connection
    first: int
    number: int
    mode: str | None = None
    heard: float = field(default_factory=time.monotonic)


@dataclass
class Find:
    """Something that went wrong, as small as it could be made."""

    failure: Failure
    case: Case
    number: int
    seconds: float
    count: int = 1


class Fuzz:
    """A campaign: batches in children, and what they found."""

    def __init__(
        self, seed: int, workers: int, tell: Callable[[str], None],
        show: Callable[[str, Find], None], shrinking: float = 40.0,
    ) -> None:  # fmt: skip
        self.seed, self.workers, self.tell, self.show = seed, workers, tell, show
        self.shrinking = shrinking  # seconds for one failure
        self.children: list[Child] = []
        self.next = 0
        self.done = 0
        self.kinds: Counter[str] = Counter()
        self.finds: dict[str, Find] = {}
        self.looked: Counter[str] = Counter()  # how often each symptom was shrunk
        self.began = self.free = time.monotonic()

    def go(self, seconds: float, programs: int, most: int) -> None:
        """Run until the time is over, enough programs have run, or enough was found."""
        until = time.monotonic() + seconds
        while True:
            over = time.monotonic() > until or self.next >= programs or len(self.finds) >= most
            while not over and len(self.children) < self.workers:
                self._start(self.next, min(BATCH, programs - self.next))
                self.next += BATCH
            if not self.children:
                return
            if time.monotonic() > until + 20 or len(self.finds) >= most:
                break
            for child in self._ready():
                self._listen(child)
        for child in self.children:
            child.process.kill()

    def _start(self, first: int, count: int) -> None:
        shared = f"shared{first // BATCH // 4}"  # cold for the first of four
        process, pipe = start(run_batch, self.seed, first, count, shared=shared)
        self.children.append(Child(process, pipe, first, first))

    def _ready(self) -> Iterator[Child]:
        ready = wait([child.pipe for child in self.children], timeout=1.0)
        for child in list(self.children):
            if child.pipe in ready:
                yield child
            elif time.monotonic() - max(child.heard, self.free) > PATIENCE:
                child.process.kill()
                self._failed(child, Failure(str(child.mode), "hung", "", "hung"))
                self._ended(child)

    def _listen(self, child: Child) -> None:
        try:
            told, number, what = child.pipe.recv()
        except (EOFError, OSError):
            child.process.join()
            name = ending(child.process.exitcode)
            self._failed(child, Failure(str(child.mode), "crashed", name, f"crashed {name}"))
            self._ended(child)
            return
        if told == "broken":
            raise RuntimeError(f"the fuzzer itself is broken\n{what}")
        child.heard, child.number = time.monotonic(), number
        if told == "run":
            child.mode = what
        elif told == "failure":
            self._failed(child, what)
        elif told == "end":
            self.kinds.update(what)
            self._ended(child)

    def _ended(self, child: Child) -> None:
        self.done += child.number - child.first
        self.children.remove(child)
        child.process.join(5.0)
        child.pipe.close()
        rate = self.done / (time.monotonic() - self.began)
        spent = time.monotonic() - self.began
        self.tell(
            f"{spent:.0f} s: {self.done} programs, {rate:.0f} a second, {len(self.finds)} found"
        )

    # ---- what was found

    def _failed(self, child: Child, failure: Failure) -> None:
        """Shrink a failure, unless it looks like one that is known."""
        self.looked[failure.symptom] += 1
        if self.looked[failure.symptom] > (1 if failure.what == "raised" else ENOUGH):
            return
        seconds = time.monotonic() - self.began
        case, again = self._reproduced(child, failure)
        if again is None:
            self._note(f"{failure.symptom}, once", Find(failure, case, child.number, seconds))
            return
        if len(case) > 1:
            self.looked[HISTORY] += 1
            if self.looked[HISTORY] > ENOUGH:
                return
        small = shrink(case, lambda c: _alike(replay(c), again), self.shrinking)
        found = replay(small) or again
        symptom = failure.symptom
        if found.what != "raised":
            kinds = set(small[-1].program.kinds) - {"tensor", "return", "define"}
            symptom = f"{found.what}: {', '.join(sorted(kinds))}"
            symptom += HISTORY if len(small) > 1 else ""
        self._note(symptom, Find(found, small, child.number, seconds))
        self.free = time.monotonic()

    def _note(self, symptom: str, find: Find) -> None:
        if symptom in self.finds:
            self.finds[symptom].count += 1
        else:
            self.finds[symptom] = find
            self.show(symptom, find)

    def _reproduced(self, child: Child, failure: Failure) -> tuple[Case, Failure | None]:
        """The failing run alone, after its neighbours, or after all that the child ran before."""
        runs = generated(self.seed, [child.number])
        if not runs:
            return (), None
        last = next((r for r in runs if r.mode == failure.mode), runs[-1])
        own = runs[: runs.index(last)]
        for back in (0, 1, 30, BATCH):
            first = max(child.first, child.number - back)
            before = generated(self.seed, range(first, child.number))
            case = (*before, *(own if back else ()), last)
            again = replay(case, PATIENCE + len(case))
            if again is not None and again.what == failure.what:
                return case, again
        return (last,), None


def _alike(found: Failure | None, failure: Failure) -> bool:
    if found is None or found.what != failure.what:
        return False
    return failure.what != "raised" or found.symptom == failure.symptom
