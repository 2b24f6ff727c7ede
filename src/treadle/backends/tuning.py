"""Which ways of its kernels are fastest for a program: tried on its inputs, within some seconds.

In a round every kernel that takes a part of the time worth speaking of tries one other way, all of
them at once, in a program made for that. It runs in turns with the best one so far, each step by
the clock, and a kernel keeps the new way where its steps took less time. What is found is kept
(backends/choices.py) and used by every program that is compiled from then on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

from treadle.backends import choices
from treadle.backends.progress import Bar
from treadle.base import forks, trace
from treadle.base.knobs import TUNE_SECONDS, override

ROUNDS = 32  # at most
TURNS = 3  # of either program in a round; the least time of a step counts
GAIN = 0.95  # of the time before: less of a change could be noise
SHARE = 0.01  # of the whole time: steps below are left as they are
_SEARCHING = threading.RLock()  # one at a time: two would time each other
forks.share("searching", _SEARCHING)

Refusals = tuple[type[Exception], ...]
"""By what errors a device says that it does not take a way."""
Clock = Callable[[Any, Sequence[Any]], list[float]]
"""Run a program on inputs; seconds of each of its steps."""


class Untuned:
    """A program whose first run finds the ways of its kernels. It then is the one that was found.

    make builds it under the choices of a search, copy copies memory, clock times a run; refusals
    are errors of these two that a way does not work at all.
    """

    def __init__(
        self, make: Callable[[], Any], copy: Callable[[Any], Any], clock: Clock,
        refusals: Refusals = (),
    ) -> None:  # fmt: skip
        self.context = copy_context()  # that of a compiler
        self.make, self.copy, self.clock, self.refusals = make, copy, clock, refusals
        self.seconds = TUNE_SECONDS.value
        self.program = make()
        self.overwrites: frozenset[int] = self.program.overwrites

    def __getattr__(self, name: str) -> Any:
        return getattr(self.program, name)  # for people who look at programs

    def run(self, inputs: Sequence[Any], results: list[Any] | None = None) -> list[Any]:
        """Search, then run."""
        with _SEARCHING:
            if "run" not in self.__dict__:
                self._search(inputs)
                self.run = self.program.run  # type: ignore[method-assign]
                del self.make, self.context  # and the graph with them
        found: list[Any] = self.program.run(inputs, results)
        return found

    def _search(self, inputs: Sequence[Any]) -> None:
        own = [self.copy(x) if k in self.overwrites else x for k, x in enumerate(inputs)]
        search = Search(
            self._made, lambda program: self.clock(program, own), self.seconds, self.refusals
        )
        with override(debug=0):
            self.program = search.run()

    def _made(self) -> Any:
        context = self.context.copy()
        context.run(choices.SEARCH.set, choices.SEARCH.get())
        with forks.COMPILING.mine():
            return context.run(self.make)


class Search:
    """The search for one program."""

    def __init__(
        self,
        make: Callable[[], Any],
        measure: Callable[[Any], list[float]],
        seconds: float,
        refusals: Refusals = (),
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.make, self.measure, self.refusals, self.now = make, measure, refusals, now
        self.begin, self.end = now(), now() + seconds
        self.asked: dict[str, choices.Question] = {}
        self.best: dict[str, Any] = {}
        self.tried: dict[str, set[Any]] = {}
        self.busy: list[str] = []
        self.machine: choices.Machine = ()

    def run(self) -> Any:
        """The fastest program that was found; what it takes is kept."""
        first = program = self._made({})
        if not self.asked:
            return first
        self.best = {key: question.space.default for key, question in self.asked.items()}
        self.tried = {key: {choice} for key, choice in self.best.items()}
        spent = self._timed([first])[0]
        self.busy = [key for key in self.asked if self._of(key, spent) >= SHARE * sum(spent)]
        with Bar("tune") as bar:
            for number in range(ROUNDS):
                trial = self._next() if self.now() < self.end else {}
                if not trial:
                    break
                bar.show((self.now() - self.begin) / (self.end - self.begin), self._words(number))
                program = self._round(program, trial)
        before, after = map(sum, self._timed([first, program]))
        if program is not first and after >= before:  # what steps gain alone they may lose together
            program = first
            self.best = {key: question.space.default for key, question in self.asked.items()}
        choices.keep(self.machine, {k: way for k, way in self.best.items() if self._is_settled(k)})
        self._tell(before, min(before, after))
        return program

    def _round(self, program: Any, trial: dict[str, Any]) -> Any:
        """The best program after some other ways were tried."""
        try:
            other = self._made(self.best | trial)
            old, new = self._timed([program, other])
        except self.refusals:  # which of them is it?
            if len(trial) > 1:
                for half in _halves(trial):
                    program = self._round(program, half)
            return program
        won = {k: way for k, way in trial.items() if self._of(k, new) < GAIN * self._of(k, old)}
        self.best |= won
        if not won:
            return program
        return other if len(won) == len(trial) else self._made(self.best)

    def _made(self, wanted: dict[str, Any]) -> Any:
        search = choices.Search(wanted)
        with choices.searching(search):
            program = self.make()
        self.asked = self.asked or search.asked
        self.machine = self.machine or search.machine
        return program

    def _next(self) -> dict[str, Any]:
        """A way not tried yet for each kernel that has one and takes time."""
        trial = {key: way for key in self.busy if (way := self._untried(key)) is not None}
        for key, way in trial.items():
            self.tried[key].add(way)
        return trial

    def _untried(self, key: str) -> Any:
        near = self.asked[key].space.near(self.best[key])
        return next((way for way in near if way not in self.tried[key]), None)

    def _is_settled(self, key: str) -> bool:
        """Is it known, not merely left as it was when time was up?"""
        changed = self.best[key] != self.asked[key].space.default
        return changed or key not in self.busy or self._untried(key) is None

    def _timed(self, programs: Sequence[Any]) -> list[list[float]]:
        """Seconds of each step of programs, run in turns; the first run warms up."""
        least: list[list[float]] = [[] for _ in programs]
        for turn in range(TURNS + 1):
            for k, program in enumerate(programs):
                found = self.measure(program)
                least[k] = list(map(min, least[k], found)) if turn > 1 else found
            if turn and self.now() >= self.end:
                break
        return least

    def _of(self, key: str, seconds: Sequence[float]) -> float:
        return sum(seconds[step] for step in self.asked[key].steps)

    def _words(self, number: int) -> str:
        changed = sum(way != self.asked[key].space.default for key, way in self.best.items())
        return f"round {number + 1}, {changed} of {len(self.asked)} kernels changed"

    def _tell(self, before: float, after: float) -> None:
        trace.show(1, f"tuned: {self._words(0)}, {after / max(before, 1e-12):.2f} of the time")


def _halves(trial: dict[str, Any]) -> list[dict[str, Any]]:
    items = list(trial.items())
    return [dict(items[: len(items) // 2]), dict(items[len(items) // 2 :])]
