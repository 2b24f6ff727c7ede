"""A graph as a table of kernels and parameters; bodies of its loops have tables of their own."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from treadle.backends import choices
from treadle.backends.cpu import chain_plan, gemm_problem, jit
from treadle.backends.cpu.beside import Entry, Memory, groups, independent
from treadle.backends.cpu.chain_emit import tile_text
from treadle.backends.cpu.chain_tasks import chain_text
from treadle.backends.cpu.emit import kernel_text
from treadle.backends.cpu.epilogue_emit import epilogue_text
from treadle.backends.cpu.host import host_target
from treadle.backends.cpu.link import Code
from treadle.backends.cpu.paces import choose
from treadle.backends.cpu.products import SCRATCH, job_of
from treadle.backends.cpu.products import Words as ProductWords
from treadle.backends.cpu.regions import Nested
from treadle.backends.cpu.routine import Step, plan_of
from treadle.backends.cpu.runners import BESIDE
from treadle.backends.cpu.threads import Pool
from treadle.backends.cpu.workers import REGION, SERIAL
from treadle.base.dtypes import (
    NUMBERS,
    STORAGE,
    DType,
    float32,
    float64,
    int8,
    int16,
    uint8,
    uint16,
)
from treadle.base.errors import needed
from treadle.base.sizes import Size, most
from treadle.base.target import Takes, Target
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.choose import Style, units
from treadle.kernel.driver import Driver
from treadle.kernel.levels import scratch_bytes
from treadle.kernel.places import Place
from treadle.kernel.signature import Signature
from treadle.kernel.steps import ChainStep, ProductStep, RegionStep, RoutineStep

FIRST_LEAF = 2  # number of the first base address after the arena and the threads' own memory
Part = Callable[[Callable[[object], Place]], tuple[int, list[Any]]]
"""(address of the code, its parameters), once memory is laid out."""


class Table(Driver):
    """The kernels of a graph: a program's, or those of a body in it.

    - **still**: leaves that are the same at every step of a loop
    - **within**: of a body, the number of the program's step that it is a part of
    - **streams**: may large results go around the caches?
    """

    takes = Takes(
        NUMBERS, (*STORAGE, int8, uint8, int16, uint16), chain_plan.ABLE, (float32, float64), 2
    )
    ordered, first_leaf = True, FIRST_LEAF

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node],
        still: Container[Node] = (), streams: bool = False, within: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(roots, leaves, replaces)
        self.target = host_target()
        self.pool = Pool.get()
        self.scratch_bytes, self.still, self.within = 0, still, within
        self.streamed = {
            root for root in self.roots
            if streams and root not in self.replaces
            and most(root.type.nbytes) >= self.target.l3_bytes // 4
        }  # fmt: skip
        self.entries: list[Entry] = []
        # What entries close over, which is never the program: that is gone once nobody holds it.
        self.memory: list[array[int]] = []
        self.epilogues: list[jit.Job] = []
        self.epilogue_code: list[Code] = []
        self.nested: list[Any] = []  # tables: bodies of loops and branches
        self.lower()
        self._arrange()

    # ---- kernels

    def add_loops(self, built: Built, step: int) -> None:
        """A loop program as a kernel."""
        self._begin(step)
        self.reserve(built.join(), step)
        target = self.target
        arguments = enumerate(zip(built.loops.arguments, built.buffers, strict=True))
        streams = [k for k, (x, buffer) in arguments if x.written and buffer in self.streamed]
        style, built.loops = choose(built.loops, target, streams)
        loops = built.loops
        signature = Signature(loops)
        width = style.unroll * target.lanes
        scratch = scratch_bytes(loops, signature.text, width, target.lanes)
        self._need_scratch(scratch)
        total = units(loops, style, target)
        blocks = -(-total // loops.rows_per_block)

        def words(place: Callable[[object], Place]) -> list[int]:
            result = [loops.rows_per_block, total, SCRATCH, scratch]
            for buffer in built.buffers:
                result += place(buffer)
            return result + [_encoded(value, dtype) for dtype, value in signature.values]

        job = kernel_job(signature.text, style, target)
        self.entries.append(Entry(job, "kernel", blocks, words, step, most(loops.size), scratch))

    def add_product(self, product: ProductStep, step: int) -> tuple[int, int]:
        """A product as one kernel, and those before it that pack an operand for all."""
        self._begin(step)
        made = ProductWords(product, self.still)
        problem, plan = made.plan(self.target)
        size = most(product.node.type.size * max(1, problem.k))
        packed = {"apack": f"left{step}", "bpack": f"right{step}"}
        sizes = {packed["apack"]: plan.apack_bytes, packed["bpack"]: plan.bpack_bytes}
        self.reserve({name: nbytes for name, nbytes in sizes.items() if nbytes}, step)
        if made.steady and plan.bpack_bytes:  # it stays from step to step
            self.temporaries[packed["bpack"]] = (plan.bpack_bytes, 0, len(self.steps))
        self._need_scratch(plan.scratch_bytes)
        tables = {name: _pinned(self.memory, places) for name, places in made.tables.items()}
        epilogue = self._epilogue(product, problem.m, plan.block) if product.epilogue else None
        job = job_of(problem, plan.code, self.target)
        for phase in plan.phases:

            def words(
                place: Callable[[object], Place], phase: gemm_problem.Phase = phase
            ) -> list[int]:
                result: list[Any] = list(phase.words)
                for name, at in phase.slots:
                    if name in tables:
                        result[at] = tables[name]
                    elif name in ("epilogue", "eparams"):
                        if epilogue is not None:
                            result[at] = epilogue(place)[name == "eparams"]
                    else:
                        result[at : at + 2] = made.argument(name, packed, place)
                return result

            self.entries.append(
                Entry(
                    job, phase.entry, phase.blocks, words, step, size, plan.scratch_bytes,
                    once=made.steady and phase.entry == "gemm_pack_right",
                )
            )  # fmt: skip
        return plan.block

    def add_routine(self, routine: RoutineStep, step: int) -> None:
        """A scan, a sort or a factorisation as a few kernels."""
        node = routine.node
        work = plan_of(node.op)(node, self.target)
        temporary = f"parts{step}"
        if work.temporary_bytes:
            self.reserve({temporary: work.temporary_bytes}, step)
        self._need_scratch(work.scratch_bytes)
        for part in work.steps:

            def words(place: Callable[[object], Place], part: Step = part) -> list[int]:
                parts = place(temporary) if work.temporary_bytes else (0, 0)
                sources = [word for source in routine.sources for word in place(source)]
                return [*sources, *place(node), *parts, SCRATCH, work.scratch_bytes, *part.words]

            symbol = part.symbol
            job = jit.job(work.text, (*work.parts, symbol), (symbol,), self.target, 2, True)
            size = work.size or most(int(node.op.flops) * node.type.size)
            self.entries.append(
                Entry(job, symbol, part.blocks, words, step, size, work.scratch_bytes)
            )

    def add_chain(self, step: ChainStep, number: int) -> None:
        """Chained products as one kernel that calls the programs of their tiles."""
        self._begin(number)
        chain = step.chain
        cut = chain_plan.cut(chain, self.target)
        self._need_scratch(cut.nbytes)
        style, where = Style(effort=2), {name: (0, at) for name, at in cut.offsets.items()}
        head = (0, 0, *where.get(chain_plan.KEPT, (0, 0)))
        parts = [self._part(built, style, tile_text, head, where) for built in chain.programs()]

        def words(place: Callable[[object], Place]) -> list[int]:
            return chain_plan.Table(cut, SCRATCH, place).fill([part(place) for part in parts])

        job = jit.job(chain_text, (chain.dtype,), ("chain_block",), self.target, 2, True)
        self.entries.append(
            Entry(job, "chain_block", cut.tasks, words, number, chain.size, cut.nbytes)
        )

    def _epilogue(self, product: ProductStep, height: int, block: tuple[int, int]) -> Part:
        built = needed("program", product.epilogue, "epilogue")
        style = Style(effort=choose(built.loops, self.target)[0].effort)
        return self._part(built, style, epilogue_text, (block[0], height, block[1], 0), {})

    def _part(
        self, built: Built, style: Style, text: Callable[..., str], head: Sequence[int],
        where: dict[str, Place],
    ) -> Part:  # fmt: skip
        """Code that a kernel calls on its tiles.

        head: its first parameters; where: pieces of scratch that it works on.
        """
        signature = Signature(built.loops)
        codes, number = self.epilogue_code, len(self.epilogues)
        key = (signature.text, style)
        self.epilogues.append(jit.job(text, key, ("kernel",), self.target, style.effort))

        def addresses(place: Callable[[object], Place]) -> tuple[int, list[Any]]:
            words: list[Any] = [*head]
            for buffer in built.buffers:
                words += (isinstance(buffer, str) and where.get(buffer)) or place(buffer)
            words += [_encoded(value, dtype) for dtype, value in signature.values]
            return codes[number]["kernel"], words

        return addresses

    def add_region(self, region: RegionStep, step: int) -> None:
        """A loop or branch as an entry that walks the tables of its bodies."""
        within = step if self.within is None else self.within
        nested = Nested(region, step, partial(Table, within=within))
        self.nested += nested.tables
        self.reserve(nested.temporaries, step)
        self._need_scratch(nested.scratch_bytes)
        self.entries.append(Entry(None, "", 1, nested.words, step, nested.size))

    def _need_scratch(self, nbytes: int) -> None:
        """Every thread has at least so much, whatever the sizes will be."""
        self.scratch_bytes = max(self.scratch_bytes, most(nbytes))

    def _begin(self, step: int) -> None:
        """What is asked from here on concerns a step of the program."""
        choices.begin_step(step if self.within is None else self.within)

    # ---- the table

    def _arrange(self) -> None:
        """Lay out memory, and put entries into the order in which they run."""
        apart = independent(self.steps, self.entries, self.pool.threads)
        self.place = self.places.settle(self.temporaries, apart).__getitem__
        self.layout = self.places.layout
        entries = [entry for entry in self.entries if entry.blocks]
        memory = Memory(self.steps, self.temporaries, self.place)
        threads = 1 if self.places.copies else self.pool.threads  # copies are no steps
        beside = [[entry] for entry in entries if entry.once]
        self.once = len(beside)  # entries at the front that later steps of a loop go past
        beside += groups([entry for entry in entries if not entry.once], memory, threads)
        self.entries = [entry for group in beside for entry in group]
        self.following = {group[0]: len(group) - 1 for group in beside}
        self.size = sum(entry.size for entry in self.entries)

    def jobs(self) -> list[jit.Job]:
        """All code that is called, bodies included."""
        own = [entry.job for entry in self.entries if entry.job is not None] + self.epilogues
        return own + [job for body in self.nested for job in body.jobs()]

    def link(self, code: Iterator[Code]) -> None:
        """Take the code of the jobs, which come in their order."""
        self.code = [None if entry.job is None else next(code) for entry in self.entries]
        self.epilogue_code[:] = [next(code) for _ in self.epilogues]
        for body in self.nested:
            body.link(code)

    def words(self) -> list[Any]:
        """Four words for each entry: code, parameters, number of blocks, flags."""
        table: list[Any] = []
        for entry, found in zip(self.entries, self.code, strict=True):
            flags = SERIAL * entry.serial | REGION * (found is None)
            flags |= self.following.get(entry, 0) << BESIDE
            address = 0 if found is None else found[entry.symbol]
            table += [address, entry.words(self.place), entry.blocks, flags]
        return table


def _pinned(memory: list[array[int]], words: Iterable[int]) -> int:
    """The address of words that stay for as long as the memory is held."""
    memory.append(array("q", words))
    return memory[-1].buffer_info()[0]


def kernel_job(text: str, style: Style, target: Target) -> jit.Job:
    """The code of a loop kernel, which its signature's text and style decide."""
    return jit.job(kernel_text, (text, style), ("kernel",), target, style.effort)


def _encoded(value: float | int | bool, dtype: DType) -> int:
    """A parameter as a word; a size stays one."""
    if isinstance(value, Size):
        return value
    if dtype is float32:
        return int(struct.unpack("<I", struct.pack("<f", _clipped(value)))[0])
    if dtype is float64:
        return int(struct.unpack("<q", struct.pack("<d", value))[0])
    value = int(value)
    return value - (1 << 64) if value >= 1 << 63 else value


def _clipped(value: float) -> float:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value
