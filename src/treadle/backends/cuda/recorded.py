"""Runs that a profile is told of: an event of the device around every kernel.

Kernels are started one by one, also where they would be started as a graph: the device runs the
same ones in the same order, but Python may not keep up with short ones. Times are those of the
device's clock, moved to that of Python by a moment known on both.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from time import perf_counter_ns
from typing import Any, Protocol

from treadle.backends.cuda.driver import Gpu, Mark
from treadle.backends.cuda.ranges import Program as Ranged
from treadle.backends.cuda.ranges import Ranges
from treadle.backends.cuda.walk import Started
from treadle.base.watch import WATCH, Kind, Records

LONGEST = 2_000_000_000  # nanoseconds from a known moment: times are floats of 24 bits


class Program(Ranged, Protocol):
    """What is needed of a program."""

    # fmt: off
    @property
    def gpu(self) -> Gpu: ...
    @property
    def calls(self) -> Sequence[Started]: ...
    # fmt: on


class Moment:
    """A moment that is known on both clocks."""

    def __init__(self, gpu: Gpu) -> None:
        gpu.wait()
        self.mark = gpu.mark()
        gpu.wait_for(self.mark)
        self.time = perf_counter_ns()


class Marks:
    """What was started since somebody profiles, to be read at its end."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget an earlier profile."""
        self.moments: dict[Gpu, Moment] = {}
        self.runs: list[tuple[Gpu, Moment, int, int, list[Mark]]] = []
        """Device, moment, launch, first entry, and a mark before, between and after entries."""
        self.words: dict[Gpu, array[int]] = {}  # of runs that were read

    def moment(self, gpu: Gpu) -> Moment:
        """A moment not long ago."""
        found = self.moments.get(gpu)
        if found is None or perf_counter_ns() - found.time > LONGEST:
            found = self.moments[gpu] = Moment(gpu)
        return found

    def records(self) -> list[Records]:
        """Records of every device, once it is done."""
        runs, self.runs = self.runs, []
        for gpu, moment, number, first, marks in runs:
            gpu.wait_for(marks[-1])
            times = [moment.time + round(gpu.between(moment.mark, x) * 1e6) for x in marks]
            for entry, (start, end) in enumerate(pairwise(times), first):
                self.words.setdefault(gpu, array("q")).extend((number, entry, start, end, 1))
        return [
            Records(f"cuda:{int(gpu.device)}", 0, found[:], 0, len(found) // 5, 0, 0)
            for gpu, found in self.words.items()
        ]


MARKS = Marks()
WATCH.begun.append(MARKS.begin)
WATCH.sources.append(MARKS.records)


def start_recorded(program: Program, bases: Sequence[int]) -> None:
    """Start the kernels of a program with an event between any two."""
    gpu, begun = program.gpu, perf_counter_ns()
    moment, number = MARKS.moment(gpu), next(WATCH.launches)
    WATCH.memory.append((begun, f"cuda:{int(gpu.device)}", gpu.mapped - gpu.kept))
    marks: list[Any] = [gpu.mark()]
    ranges = Ranges(program, WATCH.thread.caller.sites)
    for k, call in enumerate(program.calls):
        call.aim(bases)
        ranges.reach(k)
        call.start()
        marks.append(gpu.mark())
    ranges.close()
    MARKS.runs.append((gpu, moment, number, 0, marks))
    WATCH.add(Kind.CALL, program, begun, (number, WATCH.thread.caller))


class Alone:
    """A launch whose kernels are started one by one, with other things between them."""

    def __init__(self, program: Program) -> None:
        self.program, self.begun = program, perf_counter_ns()
        self.moment, self.number = MARKS.moment(program.gpu), next(WATCH.launches)

    def start(self, entry: int) -> None:
        """Start a kernel with an event on either side."""
        gpu = self.program.gpu
        marks = [gpu.mark()]
        self.program.calls[entry].start()
        marks.append(gpu.mark())
        MARKS.runs.append((gpu, self.moment, self.number, entry, marks))

    def end(self) -> None:
        """All of them were started, or a fault was found."""
        WATCH.add(Kind.CALL, self.program, self.begun, (self.number, WATCH.thread.caller))
