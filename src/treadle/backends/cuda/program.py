"""A plan as work: kernels with their arguments, loops, and where every buffer lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from treadle.backends import choices
from treadle.backends.choices import Machine
from treadle.backends.cuda import owners, segmented, unordered
from treadle.backends.cuda.chain import ABLE
from treadle.backends.cuda.chain_split import chain_launches
from treadle.backends.cuda.clear import cleared
from treadle.backends.cuda.finisher import is_beside
from treadle.backends.cuda.forms import (
    SCAN,
    Form,
    block_rows,
    choose,
    size_of,
    splits,
)  # fmt: skip
from treadle.backends.cuda.grouped import Grouping, GroupStep
from treadle.backends.cuda.launch import Launch, Memory
from treadle.backends.cuda.looped import looped
from treadle.backends.cuda.matmul import SEPARABLE, TEMPLATES
from treadle.backends.cuda.nest import Nest, Placed
from treadle.backends.cuda.on_host import HostStep
from treadle.backends.cuda.prepared import prepared
from treadle.backends.cuda.primitives import RUNNING
from treadle.backends.cuda.products import product_of
from treadle.backends.cuda.scan import Scan, sizes_of
from treadle.backends.cuda.sort import Sort
from treadle.backends.cuda.split import split_reduction, with_parts
from treadle.backends.cuda.together import together, together_form, updates_last
from treadle.backends.cuda.ways import settled_form
from treadle.backends.cuda.windowed import is_read
from treadle.base import trace
from treadle.base.dtypes import bfloat16, float16, int8, int32, uint8
from treadle.base.sizes import most
from treadle.base.target import Takes
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.driver import Driver
from treadle.kernel.loops import Loops
from treadle.kernel.names import name_of_step
from treadle.kernel.places import Place
from treadle.kernel.steps import (
    ChainStep,
    CopyStep,
    LoopStep,
    ProductStep,
    RegionStep,
    RoutineStep,
    Step,
)  # fmt: skip

COPY = 256.0  # multiplications by tensor cores in the time that an element is written and read
AFTER = 8.0  # while tiles are looked at, nothing is multiplied
GIVEN = 2  # what an optimizer keeps beside its parameters is more: tiles would wait for it
UNKNOWN = 1 << 30  # kernels, where nobody knows how many
STREAMS = 2  # arrays besides a tile: of more, loops over whole rows keep many on their way
MANY = 1 << 21  # elements: fewer are soon moved
DEEP = 640  # along k: then it is the product that takes the time
ALIGNED = 16  # bytes
FIRST_LEAF = 1  # number of the first leaf's base address, after the arena


class Plan(Driver):
    """Everything about a program, or a body in it, that needs no device.

    within: of a body, the number of the program's step that it is a part of.
    """

    takes = Takes(
        TEMPLATES, (float16, bfloat16, int8, uint8), ABLE, SEPARABLE, STREAMS, MANY, DEEP, is_read,
        COPY, GIVEN, AFTER,
    )  # fmt: skip
    first_leaf = FIRST_LEAF
    ordered = False  # the programs of a grid run in any order: only equal positions share memory

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node],
        processors: int, machine: Machine = ("cuda",), architecture: int = 90,
        within: int | None = None,
    ) -> None:  # fmt: skip
        graph = roots, leaves, replaces
        self.within, self.updates = within, 0
        self.processors, self.machine, self.architecture = processors, machine, architecture
        beside = partial(is_beside, processors=processors, architecture=architecture)
        self.takes = replace(self.takes, beside=beside)
        super().__init__(*(prepared(*graph) if within is None else graph))
        self.forms: dict[Loops, tuple[int, Form, Loops]] = {}  # steps that are alike share loops
        self.kernels: dict[tuple[Loops, Form, int], Launch] = {}
        self.refused = trace.recall("refused") or ()
        self.work: list[Launch | HostStep | Nest] = []
        self.marked = 0
        self.lasting: dict[str, int] = {}  # counters that kernels leave at zero, and their bytes
        self.lower()
        self.work = [x for x in self.work if not isinstance(x, Launch) or all(x.grid)]
        self._join_updates()
        self.found = self.places.settle(self.temporaries)
        self.layout, self.outputs = self.places.layout, self.places.outputs
        self.counted = 0  # bytes of all counters, which lie after the last output
        for name, nbytes in self.lasting.items():
            self.found[name] = self.places.bases, self.counted
            self.counted += -(-nbytes // ALIGNED) * ALIGNED
        for nest in self.work:
            if isinstance(nest, Nest):
                nest.settle(self.place)
        for work in self.work:
            if isinstance(work, Launch):
                work.touched = self._touched(work)
        self._name()

    def arranged(self, steps: list[Step]) -> list[Step]:
        """Small products in groups, updates at the end."""
        device = self.processors, self.machine, self.architecture
        steps = Grouping(steps, self.replaces, device).arranged()
        if self.within is None:
            steps, self.updates = updates_last(steps, self.roots, self.replaces)
        return steps

    def _is_update(self, step: int) -> bool:
        return step >= len(self.steps) - self.updates

    def _join_updates(self) -> None:
        """Those of one text in one launch."""
        updates = [x for x in self.work if isinstance(x, Launch) and self._is_update(x.step)]
        others = [x for x in self.work if x not in updates]
        self.work = [*others, *together(updates)]

    def _touched(self, launch: Launch) -> list[tuple[int, bool]] | None:
        """Of each memory of a launch, its bytes and whether they may be written."""
        steps = (
            self.steps[launch.step :] if self._is_update(launch.step) else [self.steps[launch.step]]
        )
        writes, found = {node for step in steps for node in step.writes}, []
        for _, memory in launch.memories():
            buffer = memory.buffer
            if buffer in self.temporaries:
                found.append((self.temporaries[buffer][0], True))
            elif isinstance(buffer, Node):
                found.append((most(buffer.type.nbytes), buffer in writes))
            elif buffer in self.lasting:
                found.append((self.lasting[str(buffer)], True))
            else:
                return None
        return found

    def _name(self) -> None:
        """Names for profilers; of what a step is besides its kernels, nothing is known here."""
        caller = trace.recall("caller") or ()
        for work in self.work:
            work.name = name_of_step(self.steps[work.step], caller, work.form)
            work.step = work.step if self.within is None else self.within

    def place(self, buffer: object) -> Place:
        """Where a buffer lies."""
        return self.found[buffer]

    @property
    def launches(self) -> list[Launch]:
        """All kernels, each once: those of bodies stand where their loop does."""
        found: list[Launch] = []
        for work in self.work:
            if isinstance(work, Launch):
                found.append(work)
            elif isinstance(work, Nest):
                found += work.launches()
        return found

    @property
    def count(self) -> int:
        """Kernels that are started; more than any loop has where that is not known before."""
        flat = [x.count if isinstance(x, Nest) and x.is_flat else UNKNOWN for x in self.work
                if not isinstance(x, Launch)]  # fmt: skip
        return len(self.work) - len(flat) + sum(flat)

    def placed(self, frame: Sequence[Place] | None = None) -> list[Placed]:
        """Its work in order, loops flat where they can be; frame: where its own bases are."""

        def place(buffer: object) -> Place:
            base, offset = self.found[buffer]
            if frame is None:
                return base, offset
            outer, start = frame[base]
            return outer, start + offset

        found: list[Placed] = []
        for work in self.work:
            if isinstance(work, Nest) and work.is_flat:
                found += work.flat(place)
            else:
                found.append(Placed(work, place))
        return found

    def pieces(self) -> list[list[int]]:
        """Programs of the grid of every launch, step by step."""
        blocks: list[list[int]] = [[] for _ in self.steps]
        for work in self.work:
            each = work.grid[0] * work.grid[1] if isinstance(work, Launch) else 1
            blocks[work.step].append(each)
        return blocks

    def code_of(self, step: int) -> tuple[str, str]:
        """The modules of a kernel; what they are compiled to is nothing to read."""
        texts = [launch.source.text for launch in self.launches if launch.step == step]
        return "\n\n".join(dict.fromkeys(texts)), ""

    # ---- kernels

    def add_loops(self, built: Built, step: int) -> None:
        """A loop program as a kernel, or two where few rows are long."""
        self._begin(step)
        self.reserve(built.join(), step)
        if built.loops not in self.forms:
            self.forms[built.loops] = self._formed(built.loops)
        parts, form, built.loops = self.forms[built.loops]
        if self._is_update(step) and not built.loops.outer:
            form = together_form(form)
        if parts > 1:
            self._add_split(built, step, parts)
        elif form.kind == "owners":
            self._add_owners(built, step, form)
        elif form.kind == "sorted":
            self._add_sorted(built, step, form)
        else:
            self.work.append(self._launch(built, form))
        self._mark(step)

    def _add_each(self, step: LoopStep, number: int) -> None:
        """Kernels in order; side by side what joins column sums of one, or copies parts of one."""
        beside = isinstance(step, CopyStep)
        for joins, some in groupby(step.kernels, lambda built: built.joins):
            kernels, start = list(some), len(self.work)
            for built in kernels:
                self.add_loops(built, number)
            launches = [x for x in self.work[start:] if isinstance(x, Launch)]
            if (joins or beside) and len(launches) == len(kernels):  # none waits for another
                self.work[start:] = together(launches)
                self._mark(number)

    def add_product(self, product: ProductStep, step: int) -> tuple[int, int]:
        """A product as a kernel."""
        self._begin(step)
        made = product_of(product, self.processors, self.machine, self.architecture)
        if product.node.type.size:
            before, sizes = made.before(step)
            self.reserve(sizes, step)
            self.work += [*before, *self._counters(made.counters(), step), made.launch()]
        self._mark(step)
        return made.tile.m, made.tile.n // made.slices()

    def _counters(self, sizes: dict[str, int], step: int) -> list[Launch]:
        """Memory of zeros: there from the first run on, or cleared where bodies run many times."""
        sizes = {name: most(nbytes) for name, nbytes in sizes.items()}
        if self.within is None:
            self.lasting |= sizes
            return []
        self.reserve(sizes, step)
        return [cleared(name, int32, nbytes // int32.size) for name, nbytes in sizes.items()]

    def _emitter(self, step: Step) -> Callable[..., None]:
        return self.add_group if isinstance(step, GroupStep) else super()._emitter(step)

    def add_group(self, step: GroupStep, number: int) -> None:
        """Small products as one kernel."""
        self._begin(number)
        self.work += step.launches()
        self._mark(number)

    def add_chain(self, step: ChainStep, number: int) -> None:
        """Chained products as a kernel, or two where few programs would stream for long."""
        self._begin(number)
        device = self.processors, self.machine, self.architecture
        launches, sizes = chain_launches(step.chain, number, *device)
        self.reserve(sizes, number)
        self.work += launches
        self._mark(number)

    def add_routine(self, routine: RoutineStep, step: int) -> None:
        """A running total or a sort as a few kernels; others the host runs."""
        node, (source, *_) = routine.node, routine.sources
        made: Scan | Sort
        if node.op.name in RUNNING:
            name = f"parts of {step}"
            memory = (source, node)
            made = Scan(node.op.name, node.dtype, sizes_of(node), memory, name, self.processors)
        elif node.op.name == "argsort":
            made = Sort(node, source, str(step))
        else:
            self.work += [HostStep(node, routine.sources)] if node.type.size else []
            self._mark(step)
            return
        launches = made.launches()
        self.reserve(made.temporaries(), step)
        self.work += launches
        self._mark(step)

    def add_region(self, region: RegionStep, step: int) -> None:
        """A loop or branch, whose bodies are plans of their own."""
        within = step if self.within is None else self.within

        def make(
            roots: Sequence[Node], leaves: Sequence[Node], over: dict[Node, Node], _: object
        ) -> Plan:
            own = self.processors, self.machine, self.architecture
            return Plan(roots, leaves, over, *own, within=within)

        nest = Nest(region, step, make)
        self.reserve(nest.nested.temporaries, step)
        self.work.append(nest)
        self._mark(step)

    def _begin(self, step: int) -> None:
        """What is asked from here on concerns a step of the program."""
        choices.begin_step(step if self.within is None else self.within)

    def _formed(self, loops: Loops) -> tuple[int, Form, Loops]:
        """In how many parts to reduce, the form, and the loops with their blocks of rows."""
        form = choose(loops)
        if form.kind == "rows" and any(s.updates for s in loops.stores()):
            given = loops, form.wide
            form = unordered.form_of(*given) or owners.form_of(*given) or form
        rows = block_rows(loops, form, self.processors) if form.kind == "blocks" else 1
        return splits(loops, self.processors), form, replace(loops, rows_per_block=rows)

    def _add_split(self, built: Built, step: int, parts: int) -> None:
        """Few rows, long: parts of them reduced side by side, then joined."""
        columns = most(size_of(built.loops.inner))
        form = choose(with_parts(built.loops, parts), split=True)
        span = -(-columns // (parts * form.columns)) * form.columns
        first, between = split_reduction(built, -(-columns // span), f"parts{len(self.work)}")
        self.reserve(between, step)
        self.work.append(self._launch(first, form, span))
        self.work.append(self._launch(built, choose(built.loops)))

    def _add_owners(self, built: Built, step: int, form: Form) -> None:
        """Entries of a scatter that mark what they are the first of, then are added up."""
        clear, marks = owners.marks_of(built.loops, f"entries{len(self.work)}")
        self.reserve(marks, step)
        self.work.append(clear)
        exact = size_of(built.loops.inner) % SCAN == 0
        block = replace(form, kind="marks", columns=SCAN, exact_columns=exact)
        memory = dict(zip(owners.MARKS, marks, strict=True))
        self.work += [self._launch(built, each, memory=memory) for each in (block, form)]

    def _add_sorted(self, built: Built, step: int, form: Form) -> None:
        """Entries of a scatter that are sorted by their index, then added up."""
        name, kernel = f"entries{len(self.work)}", partial(self._launch, built)
        launches, sizes = segmented.launches_of(built.loops, form, name, kernel)
        self.reserve(sizes, step)
        self.work += launches

    def _mark(self, step: int) -> None:
        """The newest work belongs to a step."""
        for work in self.work[self.marked :]:
            work.step = step
        self.marked = len(self.work)

    def _launch(
        self, built: Built, form: Form, span: int = 0, memory: Mapping[str, object] | None = None
    ) -> Launch:
        loops = built.loops
        form = settled_form(self.machine, loops, form)
        known = self.kernels.get((loops, form, span)) if memory is None else None
        if known is not None:
            places = [Memory(buffer) for buffer in built.buffers]
            return replace(known, arguments=[*places, *known.arguments[len(places) :]])
        made = looped(built, form, span, memory or {})
        if memory is None:
            self.kernels[loops, form, span] = made
        return made
