"""Programs run in children of this process, until something goes wrong or the time is over.

A child begins with nothing compiled and runs a batch of programs; when it dies, what it ran last is
known. Whatever goes wrong is run again in fresh children, alone or after what ran before it, and
shrunk there.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing.connection import Connection, wait
from typing import Any

from treadle.base.knobs import CACHE_DIR, THREADS, override
from treadle.testing.choice import Choice
from treadle.testing.fuzz.bounds import Unfit
from treadle.testing.fuzz.generate import program_of, resized
from treadle.testing.fuzz.machine import make_small
from treadle.testing.fuzz.model import Model
from treadle.testing.fuzz.modes import Expected, Failure, run
from treadle.testing.fuzz.program import Program
from treadle.testing.fuzz.shrink import Case, Run, shrink
from treadle.testing.fuzz.vocabulary import EVERY

FORK = multiprocessing.get_context("fork")
BATCH = 300  # programs of a child
PATIENCE = 60.0  # seconds for one program; on a busy machine compiling takes a while
HISTORY = " after other programs"
SHRINKING = 40.0  # seconds for one failure
ENOUGH = 3  # shrunk failures of one symptom, which may have more than one cause
VARIANTS = 3  # programs of the same statements at other sizes, one after the other
MODES: tuple[tuple[str, int], ...] = (
    ("lazily", 2), ("lazily, backwards", 4), ("lazily, together", 4), ("step by step", 2),
    ("compiled", 2), ("uncompiled", 3), ("by reference", 10), ("in threads", 12),
    ("in any order", 2), ("shadowed", 8), ("sparingly", 3),
)  # fmt: skip
"""(mode, one program in so many)."""
LARGE_TENSOR = re.compile(r"data\([^s)]*\d\d\d?,[^s)]*\d\d\d")


@lru_cache(maxsize=4)
def new_program(seed: int, number: int) -> Program:
    """A program that is made from nothing."""
    return program_of(seed, number, EVERY)


def program_number(seed: int, number: int) -> tuple[Program, Expected]:
    """The program of a number, and its values.

    Every third is new, the others have its statements at other sizes.
    """
    made = new_program(seed, number // VARIANTS)
    draw = Choice(f"{seed}/{number} resized")
    for _ in range(4 if number % VARIANTS else 0):
        try:
            other = resized(made, draw)
            return other, Model().run(other)
        except Unfit:
            continue
    if number % VARIANTS:
        made = new_program(seed, -number)
    return made, Model().run(made)


def is_small(number: int) -> bool:
    """Does a program run on a machine with small limits? Every second batch does."""
    return number // BATCH % 2 == 1


def modes_of(seed: int, number: int, program: Program, small: bool) -> list[str]:
    """The ways in which a program is run."""
    draw = Choice(f"{seed}/{number} modes")
    forms = {s.form for s in program.statements}
    found = [mode for mode, share in MODES if draw.rarely(share)]
    unfit = {"uncompiled"} if "define" not in forms else set()
    if not any(LARGE_TENSOR.search(s.text) for s in program.statements):
        unfit |= {"sparingly"} if small else {"sparingly", "in any order"}  # not worth it
    if not all(s.is_pure or s.form == "number" for s in program.statements):
        unfit.add("sparingly")
    return [m for m in found if m not in unfit] or ["lazily"]


def runs_of(seed: int, number: int) -> tuple[list[Run], Expected]:
    """A program in each of its ways, and its values."""
    program, expected = program_number(seed, number)
    small = is_small(number)
    runs = [Run(program, mode, small) for mode in modes_of(seed, number, program, small)]
    return runs, expected


# ---- in a child


def _batch(seed: int, first: int, count: int, known: frozenset[str], pipe: Connection) -> None:
    """Run programs and tell of each, before and after."""
    if is_small(first):
        make_small()
    kinds: Counter[str] = Counter()
    for number in range(first, first + count):
        pipe.send(("program", number, None))
        runs, expected = runs_of(seed, number)
        kinds.update(runs[0].program.kinds)
        for one in runs:
            pipe.send(("run", number, one.mode))
            failure = run(one.program, expected, one.mode)
            if failure is not None:
                pipe.send(("failure", number, failure))
                if failure.what != "raised":  # the process may be spoilt
                    pipe.send(("end", number + 1, kinds))
                    return
    pipe.send(("end", first + count, kinds))


def _replay(case: Case, pipe: Connection) -> None:
    """Run a case; tell what the last run does."""
    if case[0].small:
        make_small()
    failure: Failure | str | None = None
    try:
        for one in case:
            expected = Model().run(one.program)
            failure = run(one.program, expected, one.mode)
    except Unfit:
        failure = "unfit"
    pipe.send(failure)


def _generate(seed: int, numbers: Sequence[int], pipe: Connection) -> None:
    """Tell the runs of programs."""
    pipe.send([one for number in numbers for one in runs_of(seed, number)[0]])


def _child(work: Callable[..., None], args: Sequence[Any], pipe: Connection) -> None:
    """What every child begins with: a disk cache of its own, and nobody's terminal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)
    THREADS.value = 0
    with tempfile.TemporaryDirectory(prefix="treadle-fuzz-") as folder:
        CACHE_DIR.value = folder if os.getpid() % 2 else "off"
        work(*args, pipe)
    pipe.close()
    os._exit(0)


# ---- in the parent


@dataclass
class Child:
    """A process and what it did last."""

    process: Any
    pipe: Connection
    first: int
    number: int
    mode: str | None = None
    heard: float = field(default_factory=time.monotonic)


def start(work: Callable[..., None], *args: Any) -> tuple[Any, Connection]:
    """A child at work, and the end of the pipe it talks into."""
    here, there = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_child, args=(work, args, there), daemon=True)
    process.start()
    there.close()
    return process, here


def replay(case: Case, seconds: float = PATIENCE) -> Failure | None:
    """What the last run of a case does, in a process of its own."""
    process, pipe = start(_replay, case)
    mode = case[-1].mode
    try:
        if not pipe.poll(seconds):
            process.kill()
            return Failure(mode, "hung", f"nothing for {seconds:.0f} s", "hung")
        told = pipe.recv()
    except EOFError:
        process.join()
        name = _signal_name(process.exitcode)
        return Failure(mode, "crashed", name, f"crashed {name}")
    finally:
        process.join(5.0)
        pipe.close()
    return told if isinstance(told, Failure) else None


def _signal_name(code: int | None) -> str:
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit {code}"


def warm_up() -> None:
    """Compile what every child needs, on one thread, so that forking stays safe."""
    import treadle as td

    with override(threads=1):
        for kind in (td.float32, td.float64):
            x = td.ones(4, 4, dtype=kind).realize()
            (x @ x).realize()


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
        show: Callable[[str, Find], None],
    ) -> None:  # fmt: skip
        self.seed, self.workers, self.tell, self.show = seed, workers, tell, show
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
            if time.monotonic() > until + 20:
                break
            for child in self._ready():
                self._listen(child)
        for child in self.children:
            child.process.kill()

    def _start(self, first: int, count: int) -> None:
        process, pipe = start(_batch, self.seed, first, count, frozenset(self.finds))
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
            name = _signal_name(child.process.exitcode)
            self._failed(child, Failure(str(child.mode), "crashed", name, f"crashed {name}"))
            self._ended(child)
            return
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
        self.tell(f"{spent:.0f} s: {self.done} programs, {rate:.0f} a second, {len(self.finds)} found")

    # ---- what was found

    def _failed(self, child: Child, failure: Failure) -> None:
        """Shrink a failure, unless it looks like one that is known."""
        self.looked[failure.symptom] += 1
        if self.looked[failure.symptom] > (1 if failure.what == "raised" else ENOUGH):
            return
        seconds = time.monotonic() - self.began
        case, again = self._reproduced(child, failure)
        if again is None:
            self._note(failure.symptom, Find(failure, case, child.number, seconds))
            return
        if len(case) > 1:
            self.looked[HISTORY] += 1
            if self.looked[HISTORY] > ENOUGH:
                return
        small = shrink(case, lambda c: _alike(replay(c), again), SHRINKING)
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
        runs = self._runs([child.number])
        if not runs:
            return (), None
        last = next((r for r in runs if r.mode == failure.mode), runs[-1])
        own = runs[: runs.index(last)]
        for back in (0, 1, 30, BATCH):
            first = max(child.first, child.number - back)
            before = self._runs(range(first, child.number))
            case = (*before, *(own if back else ()), last)
            again = replay(case, PATIENCE + len(case))
            if again is not None and again.what == failure.what:
                return case, again
        return (last,), None


    def _runs(self, numbers: Sequence[int]) -> list[Run]:
        """The runs of programs, as a child makes them; none if it dies."""
        process, pipe = start(_generate, self.seed, numbers)
        try:
            found: list[Run] = pipe.recv() if pipe.poll(2 * PATIENCE) else []
        except EOFError:
            found = []
        process.kill()
        process.join()
        pipe.close()
        return found


def _alike(found: Failure | None, failure: Failure) -> bool:
    if found is None or found.what != failure.what:
        return False
    return failure.what != "raised" or found.symptom == failure.symptom
