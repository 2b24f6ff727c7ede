"""A plan on a device: launches one by one, or as a graph from the second run on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treadle.backends import facts
from treadle.backends.cuda.calls import Call, Graph
from treadle.backends.cuda.driver import Buffer, Gpu
from treadle.backends.cuda.program import Plan
from treadle.backends.cuda.recorded import start_recorded
from treadle.backends.cuda.show import start_shown, tell
from treadle.base import trace
from treadle.base.knobs import MEANING
from treadle.ir.node import Node
from treadle.kernel.cost import KernelRow
from treadle.kernel.steps import Step
from treadle.schedule.layout import Layout

FEW = 2  # launches that are not worth a graph


class Program:
    """Compiled code for one structure of graph."""

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node], gpu: Gpu
    ) -> None:
        self.gpu = gpu
        machine = ("cuda", f"sm_{gpu.architecture}", str(gpu.processors))
        self.plan = Plan(roots, leaves, replaces, gpu.processors, machine, gpu.architecture)
        gpu.prepare(self.plan.launches)
        self.calls = [Call(gpu, launch, self.plan.found) for launch in self.plan.launches]
        self.new = [nbytes for kind, nbytes in self.plan.outputs if kind == "new"]
        self.overwrites = self.plan.places.overwrites()
        self.readers: dict[int, list[int]] = {}  # numbers of the calls that use a base address
        for number, call in enumerate(self.calls):
            for base in call.bases():
                self.readers.setdefault(base, []).append(number)
        self.graph: Graph | None = None
        self.bases: list[int] = []  # that the calls are aimed at
        self.stale: set[int] = set()  # calls that were aimed elsewhere since the graph was started
        self.clock: Callable[[Sequence[int]], None] | None = None  # starts instead, where it is set
        if trace.is_heard():
            tell(self.plan)

    def run(self, inputs: Sequence[Buffer], results: list[Buffer] | None = None) -> list[Buffer]:
        """Queue everything on the leaves' memory; returns the roots', added to results if given."""
        gpu = self.gpu
        gpu.enter()
        with gpu.lock:
            new = [gpu.allocate(nbytes) for nbytes in self.new]
            bases = [gpu.arena(self.plan.layout.nbytes), *(b.address for b in inputs)]
            bases += [buffer.address for buffer in new]
            if self.clock is not None:
                self.clock(bases)
            elif not MEANING.shown:
                self._start(bases)
            else:
                self._forget()
                (start_recorded if MEANING.profiled else start_shown)(self, bases)
        found = self.plan.places.arranged(inputs, new)
        if results is not None:
            results += found
        return found

    # ---- for a profile

    @property
    def device(self) -> str:
        """The name of the device."""
        return f"cuda:{int(self.gpu.device)}"

    @property
    def number(self) -> int:
        """By which people know it."""
        return facts.number_of(self.plan)

    @property
    def steps(self) -> Sequence[Step]:
        """Its kernels, as planned."""
        return self.plan.steps

    @property
    def layout(self) -> Layout:
        """Where temporaries lie."""
        return self.plan.layout

    def rows(self, caller: Sequence[str | None]) -> list[KernelRow]:
        """Its kernels, with the lines of a caller."""
        return facts.rows_for(self.plan, caller)

    def code_of(self, step: int) -> tuple[str, str]:
        """The Triton modules of a kernel, and nothing."""
        return self.plan.code_of(step)

    def steps_run(self) -> list[int]:
        """For each launch, the number of its kernel."""
        return [launch.step for launch in self.plan.launches]

    # ---- starting

    def _forget(self) -> None:
        """Somebody else aims the calls."""
        self.bases, self.stale = [], set(range(len(self.calls)))

    def _start(self, bases: list[int]) -> None:
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

    def _aim(self, bases: list[int]) -> set[int]:
        """Point the calls at memory; the numbers of those that pointed elsewhere before."""
        if self.bases:
            moved = [k for k, (new, old) in enumerate(zip(bases, self.bases, strict=True))
                     if new != old]  # fmt: skip
            changed = {number for k in moved for number in self.readers.get(k, ())}
        else:
            changed = set(range(len(self.calls)))
        for number in changed:
            self.calls[number].aim(bases)
        self.bases = bases
        return changed
