"""A plan as work: kernels with their arguments, loops, and where every buffer lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from treadle.backends import choices, facts
from treadle.backends.choices import Machine
from treadle.backends.cuda import owners
from treadle.backends.cuda.chain import ABLE, chain_launch
from treadle.backends.cuda.emit import Emitter
from treadle.backends.cuda.forms import Form, block_rows, choose, constants_of, size_of, splits
from treadle.backends.cuda.launch import Arguments, Launch
from treadle.backends.cuda.matmul import SEPARABLE, TEMPLATES
from treadle.backends.cuda.nest import Nest, Placed
from treadle.backends.cuda.on_host import HostStep
from treadle.backends.cuda.ordered import with_values
from treadle.backends.cuda.primitives import RUNNING
from treadle.backends.cuda.scan import Scan, sizes_of
from treadle.backends.cuda.sort import Sort
from treadle.backends.cuda.split import split_reduction, with_parts
from treadle.backends.cuda.streamed import product_of
from treadle.backends.cuda.ways import settled_form
from treadle.base import trace
from treadle.base.dtypes import bfloat16, float16, int8, uint8
from treadle.base.knobs import MEANING
from treadle.base.sizes import most
from treadle.base.target import Takes
from treadle.ir.graph import toposort
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.driver import Driver
from treadle.kernel.names import name_of
from treadle.kernel.parser import parse
from treadle.kernel.places import Place
from treadle.kernel.signature import Signature
from treadle.kernel.steps import ChainStep, ProductStep, RegionStep, RoutineStep
from treadle.passes.branches import chosen
from treadle.passes.pipeline import simplify
from treadle.passes.regions import has_regions

FORMS = {"map": "", "rows": "rows", "blocks": "columns", "owners": "owners"}  # in names
UNKNOWN = 1 << 30  # kernels, where nobody knows how many
FIRST_LEAF = 1  # number of the first leaf's base address, after the arena


class Plan(Driver):
    """Everything about a program, or a body in it, that needs no device.

    within: of a body, the number of the program's step that it is a part of.
    """

    takes = Takes(TEMPLATES, (float16, bfloat16, int8, uint8), ABLE, SEPARABLE)
    first_leaf = FIRST_LEAF
    ordered = False  # the programs of a grid run in any order: only equal positions share memory

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node],
        processors: int, machine: Machine = ("cuda",), architecture: int = 90,
        within: int | None = None,
    ) -> None:  # fmt: skip
        graph = roots, leaves, replaces
        super().__init__(*(_prepared(*graph) if within is None else graph))
        self.refused = trace.recall("refused") or ()
        self.architecture = architecture
        self.processors, self.machine, self.within = processors, machine, within
        self.work: list[Launch | HostStep | Nest] = []
        self.marked = 0
        self.lower()
        self.work = [x for x in self.work if not isinstance(x, Launch) or all(x.grid)]
        self.found = self.places.settle(self.temporaries)
        self.layout, self.outputs = self.places.layout, self.places.outputs
        for nest in self.work:
            if isinstance(nest, Nest):
                nest.settle(self.place)
        for work in self.work:
            if isinstance(work, Launch):
                work.touched = self._touched(work)
        self._name()

    def _touched(self, launch: Launch) -> list[tuple[int, bool]] | None:
        """Of each memory of a launch, its bytes and whether they may be written."""
        writes, found = set(self.steps[launch.step].writes), []
        for _, memory in launch.memories():
            buffer = memory.buffer
            if isinstance(buffer, Node):
                found.append((most(buffer.type.nbytes), buffer in writes))
            elif buffer in self.temporaries:
                found.append((self.temporaries[buffer][0], True))
            else:
                return None
        return found

    def _name(self) -> None:
        """Names for profilers; of what a step is besides its kernels, nothing is known here."""
        rows = facts.rows_for(self, trace.recall("caller") or ())
        for work in self.work:
            row = rows[work.step]
            work.name = name_of(row, work.form)
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
        """The Triton modules of a kernel; what they are compiled to is nothing to read."""
        texts = [launch.source.text for launch in self.launches if launch.step == step]
        return "\n\n".join(dict.fromkeys(texts)), ""

    # ---- kernels

    def add_loops(self, built: Built, step: int) -> None:
        """A loop program as a kernel, or two where few rows are long."""
        self._begin(step)
        self.reserve(built.join(), step)
        parts = splits(built.loops, self.processors)
        if parts > 1:
            self._add_split(built, step, parts)
        else:
            form = self._form(built)
            rows = block_rows(built.loops, form, self.processors) if form.kind == "blocks" else 1
            built.loops = replace(built.loops, rows_per_block=rows)
            self._launch(built, form)
        self._mark(step)

    def add_product(self, product: ProductStep, step: int) -> tuple[int, int]:
        """A product as a kernel."""
        self._begin(step)
        made = product_of(product, self.processors, self.machine, self.architecture)
        if product.node.type.size:
            before, sizes = made.before(step)
            self.reserve(sizes, step)
            self.work += [*before, made.launch()]
        self._mark(step)
        return made.tile.m, made.tile.n // made.slices()

    def add_chain(self, step: ChainStep, number: int) -> None:
        """Chained products as a kernel."""
        self._begin(number)
        self.work.append(chain_launch(step.chain, self.machine, self.architecture))
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

    def _form(self, built: Built) -> Form:
        form = choose(built.loops)
        updates = any(s.updates for s in built.loops.stores())
        return (updates and owners.form_of(built.loops, form.wide)) or form

    def _add_split(self, built: Built, step: int, parts: int) -> None:
        """Few rows, long: parts of them reduced side by side, then joined."""
        columns = size_of(built.loops.inner)
        form = choose(with_parts(built.loops, parts), split=True)
        span = -(-columns // (parts * form.columns)) * form.columns
        first, between = split_reduction(built, -(-columns // span), f"parts{len(self.work)}")
        self.reserve(between, step)
        self._launch(first, form, span)
        self._launch(built, choose(built.loops))

    def _mark(self, step: int) -> None:
        """The newest work belongs to a step."""
        for work in self.work[self.marked :]:
            work.step = step
        self.marked = len(self.work)

    def _launch(self, built: Built, form: Form, span: int = 0) -> None:
        loops = built.loops
        form = settled_form(self.machine, loops, form)
        signature = Signature(loops)
        arguments = Arguments()
        arguments.loops(built, signature, form.wide)
        rows, columns = size_of(loops.outer[form.split :]), size_of(loops.inner)
        programs, second = -(-rows // form.rows), 1
        if form.kind == "map":
            programs *= -(-columns // form.columns)
        elif form.kind == "blocks":
            arguments.integer("rows_per_block", loops.rows_per_block, form.wide)
            programs = -(-rows // loops.rows_per_block)
            second = 1 if form.whole or form.in_memory else -(-columns // form.columns)
        if form.split:
            arguments.integer("span", span, form.wide)
            second = loops.outer[0].extent
        elif form.kind == "owners":
            programs, second = columns, programs
        text = kernel_text(signature.text, form)
        source = arguments.source(text, constants_of(form), form.warps)
        grid = programs, second
        launch = Launch(source, grid, arguments.values, loops.size, form=FORMS[form.kind])
        self.work.append(launch)


@lru_cache(maxsize=1024)
def kernel_text(text: str, form: Form) -> str:
    """The Triton module of the kernel that a signature's text describes."""
    emitter = owners.Owners if form.kind == "owners" else Emitter
    return emitter(parse(text), form).text()


def _prepared(
    roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
) -> tuple[Sequence[Node], Sequence[Node], dict[Node, Node]]:
    """The graph with cheap branches all computed: to choose one, the host would have to wait.

    And with sorts of elements, unless somebody watches, who knows the ops of the table.
    """
    plain = simplify(chosen(roots)) if has_regions(toposort(roots)) else roots
    plain = plain if MEANING.watched else with_values(plain)
    same = dict(zip(roots, plain, strict=True))
    return plain, leaves, {same[root]: leaf for root, leaf in replaces.items()}
