"""A plan as one native program: a table of kernels and parameters that a native loop walks."""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from treadle.backends import choices
from treadle.backends.cpu import chain_plan, gemm_problem, jit, show
from treadle.backends.cpu.beside import Entry, Memory, groups, independent
from treadle.backends.cpu.buffers import Buffer, allocate
from treadle.backends.cpu.chain_emit import tile_text
from treadle.backends.cpu.chain_tasks import chain_text
from treadle.backends.cpu.emit import kernel_text
from treadle.backends.cpu.epilogue_emit import epilogue_text
from treadle.backends.cpu.host import host_target
from treadle.backends.cpu.link import Code
from treadle.backends.cpu.paces import choose
from treadle.backends.cpu.products import SCRATCH, job_of
from treadle.backends.cpu.products import Words as ProductWords
from treadle.backends.cpu.routine import Step, plan_of
from treadle.backends.cpu.runners import BESIDE
from treadle.backends.cpu.template import Template
from treadle.backends.cpu.threads import Pool, launcher, launcher_holding_gil, part_launcher
from treadle.backends.cpu.workers import SERIAL
from treadle.base import trace
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
from treadle.base.knobs import DEBUG
from treadle.base.sizes import Size, most
from treadle.base.target import Takes, Target
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.choose import Style, units
from treadle.kernel.driver import Driver
from treadle.kernel.levels import scratch_bytes
from treadle.kernel.places import ARENA, Place
from treadle.kernel.signature import Signature
from treadle.kernel.steps import ChainStep, ProductStep, RoutineStep

FIRST_LEAF = 2  # number of the first base address after the arena and the threads' own memory
DONE, BASES = 4, 5  # words of a launch: set when it has ended, and the first base address
SHORT = 1 << 16  # elements: programs below are called without letting go of the interpreter
LONG = 1 << 22  # elements: programs above can be interrupted between two entries
ENTRY_BYTES = 32
Part = Callable[[Callable[[object], Place]], tuple[int, list[Any]]]
"""(address of the code, its parameters), once memory is laid out."""


class Program(Driver):
    """Compiled code for one structure of graph."""

    takes = Takes(
        NUMBERS, (*STORAGE, int8, uint8, int16, uint16), chain_plan.ABLE, (float32, float64), 2
    )
    ordered, first_leaf = True, FIRST_LEAF

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> None:
        super().__init__(roots, leaves, replaces)
        self.target = host_target()
        self.scratch_bytes = 0
        self.streamed = {
            root for root in self.roots
            if root not in self.replaces and most(root.type.nbytes) >= self.target.l3_bytes // 4
        }  # fmt: skip
        self.entries: list[Entry] = []
        # What entries close over, which is never the program: that is gone once nobody holds it.
        self.memory: list[array[int]] = []
        self.epilogues: list[jit.Job] = []
        self.epilogue_code: list[Code] = []
        self.lower()
        with trace.stage("code"):
            self._write()
        self.size = sum(entry.size for entry in self.entries)
        if trace.is_heard():
            show.tell(self)

    # ---- kernels

    def add_loops(self, built: Built, step: int) -> None:
        """A loop program as a kernel."""
        choices.begin_step(step)
        self.reserve(built.join(), step)
        target = self.target
        arguments = enumerate(zip(built.loops.arguments, built.buffers, strict=True))
        streams = [k for k, (x, buffer) in arguments if x.written and buffer in self.streamed]
        style, built.loops = choose(built.loops, target, streams)
        loops = built.loops
        signature = Signature(loops)
        width = style.unroll * target.lanes
        scratch = scratch_bytes(loops, signature.text, width, target.lanes)
        self.scratch_bytes = max(self.scratch_bytes, scratch)
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
        choices.begin_step(step)
        made = ProductWords(product)
        problem, plan = made.plan(self.target)
        size = most(product.node.type.size * max(1, problem.k))
        packed = {"apack": f"left{step}", "bpack": f"right{step}"}
        sizes = {packed["apack"]: plan.apack_bytes, packed["bpack"]: plan.bpack_bytes}
        self.reserve({name: nbytes for name, nbytes in sizes.items() if nbytes}, step)
        self.scratch_bytes = max(self.scratch_bytes, plan.scratch_bytes)
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
                Entry(job, phase.entry, phase.blocks, words, step, size, plan.scratch_bytes)
            )
        return plan.block

    def add_routine(self, routine: RoutineStep, step: int) -> None:
        """A scan, a sort or a factorisation as a few kernels."""
        node = routine.node
        work = plan_of(node.op)(node, self.target)
        temporary = f"parts{step}"
        if work.temporary_bytes:
            self.reserve({temporary: work.temporary_bytes}, step)
        self.scratch_bytes = max(self.scratch_bytes, work.scratch_bytes)
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
        choices.begin_step(number)
        chain = step.chain
        cut = chain_plan.cut(chain, self.target)
        self.scratch_bytes = max(self.scratch_bytes, cut.nbytes)
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

    def _write(self) -> None:
        """Compile what is missing and fill the table."""
        self.pool = Pool.get()
        apart = independent(self.steps, self.entries, self.pool.threads)
        place = self.places.settle(self.temporaries, apart).__getitem__
        self.layout = self.places.layout
        entries = [entry for entry in self.entries if entry.blocks]
        memory = Memory(self.steps, self.temporaries, place)
        threads = 1 if self.places.copies else self.pool.threads  # copies are no steps
        beside = groups(entries, memory, threads)
        self.entries = [entry for group in beside for entry in group]
        following = {group[0]: len(group) - 1 for group in beside}
        jobs = [entry.job for entry in self.entries] + self.epilogues
        code = jit.load_many(jobs)
        self.code, self.epilogue_code[:] = code[: len(self.entries)], code[len(self.entries) :]
        table: list[Any] = []
        for entry, found in zip(self.entries, self.code, strict=True):
            flags = SERIAL * entry.serial | following.get(entry, 0) << BESIDE
            table += [found[entry.symbol], entry.words(place), entry.blocks, flags]
        self.template = Template(table, [n for kind, n in self.places.outputs if kind == "new"])
        if not self.template.unknowns:
            self._fill({})
        self.short = sum(entry.size for entry in self.entries) < SHORT
        self.overwrites = self.places.overwrites()
        self.launch = self._launcher()
        self.needs_memory = bool(self.layout.nbytes or self.scratch_bytes)
        self.simple = all(kind == "new" for kind, _ in self.places.outputs)

    def _fill(self, sizes: Mapping[str, int]) -> None:
        """The table and its parameters in memory, with the numbers that sizes have."""
        self.free: list[Any] = []  # from _word_array
        filled, self.new = self.template.filled(sizes)
        self.memory = [*self.memory, filled]
        self.table = filled.buffer_info()[0]

    def at(self, sizes: Mapping[str, int]) -> Program:
        """The program for sizes: other numbers in another table, everything else is the same."""
        program = Program.__new__(Program)
        program.__dict__.update(self.__dict__)
        program._fill(sizes)
        return program

    def _launcher(self) -> Callable[[int], None]:
        """How the table is walked: all at once where it is short, or overwrites what others see."""
        if self.short:
            return launcher_holding_gil()
        is_long = sum(entry.size for entry in self.entries) >= LONG and len(self.entries) > 1
        return _launch_in_parts if is_long and not self.overwrites else launcher()

    # ---- running

    def run(self, inputs: Sequence[Buffer], results: list[Buffer] | None = None) -> list[Buffer]:
        """Run on the leaves' memory; returns the roots', added to results if they are given.

        They are there as soon as they are computed, even if an interrupt keeps this from returning.
        """
        try:
            words = self.free.pop()
        except IndexError:
            words = self._words()
        if not self.short:
            words[0] = self.pool.address  # asking for it starts the workers again after a fork
        held = self._working_memory(words) if self.needs_memory else None
        k = BASES + FIRST_LEAF
        for buffer in inputs:
            words[k] = buffer.address
            k += 1
        new = []
        for nbytes in self.new:
            buffer = allocate(nbytes)
            words[k] = buffer.address
            new.append(buffer)
            k += 1
        if results is not None:
            words[DONE] = 0
        try:
            if DEBUG.value:
                show.run(self, words)
                words[DONE] = 1
            else:
                self.launch(words.address)
        finally:  # an interrupt that came meanwhile is raised by the call
            if results is not None and words[DONE]:
                results += self.places.arranged(inputs, new)
        del held  # alive until here
        self.free.append(words)
        if results is not None:
            return results
        return new if self.simple else self.places.arranged(inputs, new)

    def _working_memory(self, words: ctypes.Array[ctypes.c_int64]) -> list[Buffer]:
        """Arena and scratch for one run: concurrent runs have their own."""
        held = []
        if self.layout.nbytes:
            held.append(allocate(self.layout.nbytes))
            words[BASES + ARENA] = held[-1].address
        if self.scratch_bytes:
            held.append(allocate(self.scratch_bytes * self.pool.threads))
            words[BASES + SCRATCH] = held[-1].address
        return held

    def _words(self) -> Any:
        words = _word_array(BASES + self.places.bases)
        words[0] = self.pool.address
        words[1] = self.table
        words[2] = len(self.entries)
        words[3] = words.address + 8 * BASES
        return words


def _pinned(memory: list[array[int]], words: Iterable[int]) -> int:
    """The address of words that stay for as long as the memory is held."""
    memory.append(array("q", words))
    return memory[-1].buffer_info()[0]


def _launch_in_parts(address: int) -> None:
    """Launch a program bit by bit: Python raises an interrupt between two calls.

    What was written by then is memory that nobody has seen yet.
    """
    given = _word_type(BASES).from_address(address)
    words = _word_array(BASES)
    words[:] = given[:]
    launch = part_launcher()
    while words[2]:
        ran = launch(words.address)
        words[1] += ran * ENTRY_BYTES
        words[2] -= ran
    given[DONE] = 1


def _word_array(count: int) -> Any:
    """Words of memory that know their address."""
    words = _word_type(count)()
    words.address = ctypes.addressof(words)
    return words


@cache
def _word_type(count: int) -> Any:
    return type("Words", (ctypes.c_int64 * count,), {})


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
