"""A plan on a device: launches one by one, or as a graph once their addresses repeat."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from treadle.backends.cuda.driver import Buffer, Call, Gpu, Graph
from treadle.backends.cuda.program import Plan
from treadle.ir.node import Node

FEW = 2  # launches that are not worth a graph
MOST_GRAPHS = 8


class Program:
    """Compiled code for one structure of graph."""

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node], gpu: Gpu
    ) -> None:
        self.gpu = gpu
        machine = ("cuda", f"sm_{gpu.architecture}", str(gpu.processors))
        self.plan = Plan(roots, leaves, replaces, gpu.processors, machine, gpu.architecture)
        self.calls = [Call(gpu, launch, self.plan.found) for launch in self.plan.launches]
        self.new = [nbytes for kind, nbytes in self.plan.outputs if kind == "new"]
        self.overwrites = self.plan.places.overwrites()
        self.graphs: dict[tuple[int, ...], Graph | None] = {}
        self.lock = threading.Lock()
        self.clock: Callable[[Sequence[int]], None] | None = None  # starts instead, where it is set

    def run(self, inputs: Sequence[Buffer], results: list[Buffer] | None = None) -> list[Buffer]:
        """Queue everything on the leaves' memory; returns the roots', added to results if given."""
        arena = self.gpu.allocate(self.plan.layout.nbytes) if self.plan.layout.nbytes else None
        new = [self.gpu.allocate(nbytes) for nbytes in self.new]
        bases = [arena.address if arena else 0, *(b.address for b in inputs)]
        bases += [buffer.address for buffer in new]
        self.gpu.enter()
        with self.lock:
            if self.clock is not None:
                self.clock(bases)
            elif len(self.calls) > FEW:
                self._start_together(tuple(bases))
            else:
                self._start(bases)
        found = self.plan.places.arranged(inputs, new)
        if results is not None:
            results += found
        return found

    def _start(self, bases: Sequence[int]) -> None:
        for call in self.calls:
            call.aim(bases)
            call.start()

    def _start_together(self, bases: tuple[int, ...]) -> None:
        """The second run at the same addresses records a graph."""
        if bases not in self.graphs:
            if len(self.graphs) >= MOST_GRAPHS:
                del self.graphs[next(iter(self.graphs))]
            self.graphs[bases] = None
            self._start(bases)
            return
        graph = self.graphs[bases]
        if graph is None:
            for call in self.calls:
                call.aim(bases)
            graph = self.graphs[bases] = Graph(self.gpu, self.calls)
        graph.start()
