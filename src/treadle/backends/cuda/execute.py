"""A plan on a device: kernels one by one, or as graphs from the second run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from treadle.backends import facts
from treadle.backends.cuda.buffers import Buffer
from treadle.backends.cuda.calls import Call
from treadle.backends.cuda.driver import Gpu
from treadle.backends.cuda.program import Plan
from treadle.backends.cuda.recorded import start_recorded
from treadle.backends.cuda.segments import segments
from treadle.backends.cuda.show import start_shown, tell
from treadle.backends.cuda.sized import Sizes
from treadle.backends.cuda.walk import call_of
from treadle.base import trace
from treadle.base.knobs import MEANING
from treadle.ir.node import Node
from treadle.kernel.cost import KernelRow
from treadle.kernel.steps import Step
from treadle.schedule.layout import Layout


class Program:
    """Compiled code for one structure of graph."""

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node], gpu: Gpu
    ) -> None:
        self.gpu = gpu
        machine = ("cuda", f"sm_{gpu.architecture}", str(gpu.processors))
        self.plan = Plan(roots, leaves, replaces, gpu.processors, machine, gpu.architecture)
        gpu.prepare(self.plan.launches)
        self.sizes = Sizes()
        kernel, group = partial(Call, gpu, self.sizes), partial(segments, gpu)
        make = partial(call_of, device=gpu, sizes=self.sizes, kernel=kernel, group=group)
        self.calls = [make(work) for work in self.plan.placed()]
        self.segments = group(self.calls)
        self.results = [self.sizes.number(n) for kind, n in self.plan.outputs if kind == "new"]
        if not self.sizes.order:
            self._fit({})
        self.overwrites = self.plan.places.overwrites()
        counted = self.plan.counted
        self.counters = [gpu.zeros(counted)] if counted else []
        self.clock: Callable[[Sequence[int]], None] | None = None  # starts instead, where it is set
        if trace.is_heard():
            tell(self.plan)

    def at(self, sizes: Mapping[str, int]) -> Program:
        """The program for sizes: kernels and graphs are the same, with other numbers."""
        program = Program.__new__(Program)
        program.__dict__.update(self.__dict__)
        program._fit(sizes)
        return program

    def _fit(self, sizes: Mapping[str, int]) -> None:
        self.exact = self.sizes.at(sizes)
        self.new = [number(self.exact) for number in self.results]

    def run(self, inputs: Sequence[Buffer], results: list[Buffer] | None = None) -> list[Buffer]:
        """Queue everything on the leaves' memory; returns the roots', added to results if given."""
        gpu = self.gpu
        gpu.enter()
        with gpu.lock:
            new = [gpu.allocate(nbytes) for nbytes in self.new]
            bases = [gpu.arena(self.plan.layout.nbytes), *(b.address for b in inputs)]
            bases += [buffer.address for buffer in (*new, *self.counters)]
            for segment in self.segments:
                segment.fit(self.exact)
            if self.clock is not None:
                self.clock(bases)
            elif not MEANING.shown:
                for segment in self.segments:
                    segment.start(bases)
            else:
                for segment in self.segments:
                    segment.forget()
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
        """The modules of a kernel, and nothing."""
        return self.plan.code_of(step)

    def steps_run(self) -> list[int]:
        """For each call, the number of its kernel."""
        return [call.step for call in self.calls]
