"""Calls that are started together: kernels one after the other, between work of the host's."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.backends.cuda.calls import Call, Graph
from treadle.backends.cuda.driver import Gpu
from treadle.backends.cuda.sized import Exact
from treadle.backends.cuda.walk import Started

FEW = 2  # launches that are not worth a graph


class Segment:
    """Kernels that nothing of the host's comes between: one by one, or a graph from then on."""

    def __init__(self, gpu: Gpu, calls: Sequence[Call]) -> None:
        self.gpu, self.calls = gpu, calls
        self.readers: dict[int, list[int]] = {}  # numbers of the calls that use a base address
        for number, call in enumerate(calls):
            for base in call.bases():
                self.readers.setdefault(base, []).append(number)
        self.graph: Graph | None = None
        self.bases: Sequence[int] = ()  # that the calls are aimed at
        self.stale: set[int] = set()  # calls that were aimed elsewhere since the graph was started
        self.sized = [number for number, call in enumerate(calls) if call.is_sized()]
        self.exact: Exact | None = None  # sizes that calls have
        self.fitted: set[int] = set()  # calls that were given others since they were aimed

    def forget(self) -> None:
        """Somebody else aims the calls."""
        self.bases, self.stale = (), set(range(len(self.calls)))

    def fit(self, exact: Exact) -> None:
        """Give calls the sizes of a run."""
        if exact is self.exact:
            return
        self.exact = None  # until all have them: whoever interrupts leaves some with others
        self.fitted.update(self.sized)
        for number in self.sized:
            self.calls[number].fit(exact)
        self.exact = exact

    def start(self, bases: Sequence[int]) -> None:
        """Together where most calls are aimed as they were, else one by one."""
        changed = self._aim(bases)
        self.stale |= changed
        if len(self.calls) <= FEW or 2 * len(changed) > len(self.calls):
            for call in self.calls:
                call.start()
            return
        if self.graph is None:
            self.graph = Graph(self.gpu, self.calls)
        else:
            for number in self.stale:
                self.graph.change(number)
        self.stale.clear()
        self.graph.start()

    def _aim(self, bases: Sequence[int]) -> set[int]:
        """Point the calls at memory; the numbers of those that pointed elsewhere before."""
        if self.bases:
            moved = [k for k, (new, old) in enumerate(zip(bases, self.bases, strict=True))
                     if new != old]  # fmt: skip
            changed = {number for k in moved for number in self.readers.get(k, ())} | self.fitted
        else:
            changed = set(range(len(self.calls)))
        self.bases = ()  # until all are: where one cannot be aimed, the next run aims all of them
        for number in changed:
            self.calls[number].aim(bases)
        self.bases = bases
        self.fitted.clear()
        return changed


class Alone:
    """Work that the host has a part in."""

    def __init__(self, call: Started) -> None:
        self.call = call
        self.exact: Exact | None = None

    def forget(self) -> None:
        """It is aimed anew at every run."""

    def fit(self, exact: Exact) -> None:
        """Give it the sizes of a run."""
        if exact is not self.exact:
            self.exact = None
            self.call.fit(exact)
            self.exact = exact

    def start(self, bases: Sequence[int]) -> None:
        """Once everything before it was started."""
        self.call.aim(bases)
        self.call.start()


def segments(gpu: Gpu, calls: Sequence[Started]) -> list[Segment | Alone]:
    """Calls in order, as few segments as there can be."""
    found: list[Segment | Alone] = []
    kernels: list[Call] = []
    for call in calls:
        if isinstance(call, Call):
            kernels.append(call)
            continue
        found += [Segment(gpu, kernels)] if kernels else []
        found.append(Alone(call))
        kernels = []
    return [*found, *([Segment(gpu, kernels)] if kernels else [])]
