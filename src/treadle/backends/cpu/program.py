"""A plan as one native program: a table of kernels and parameters that a native loop walks."""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from treadle.backends.cpu import chain_plan, gemm_plan, gemm_tasks, jit, scan, show, sort
from treadle.backends.cpu.along import Step
from treadle.backends.cpu.chain_emit import tile_text
from treadle.backends.cpu.chain_tasks import chain_text
from treadle.backends.cpu.emit import kernel_text
from treadle.backends.cpu.host import host_target
from treadle.backends.cpu.link import Code
from treadle.backends.cpu.memory import Buffer, allocate
from treadle.backends.cpu.threads import Pool, launcher, launcher_holding_gil, part_launcher
from treadle.backends.cpu.workers import SERIAL
from treadle.base import trace
from treadle.base.dtypes import FLOATS, DType, float32, float64
from treadle.base.errors import needed
from treadle.base.knobs import DEBUG
from treadle.base.shapes import strides_of
from treadle.base.target import Target
from treadle.ir.node import Node
from treadle.kernel.build import Built
from treadle.kernel.chain import Chained
from treadle.kernel.choose import Style, choose, units
from treadle.kernel.levels import scratch_bytes
from treadle.kernel.places import ARENA, Place, Places, Temporary
from treadle.kernel.plan import Product, Scan, as_stored, plan_tasks
from treadle.kernel.signature import Signature
from treadle.ops.scan import argsort

SCRATCH, FIRST_LEAF = 1, 2  # numbers of base addresses
DONE, BASES = 4, 5  # words of a launch: set when it has ended, and the first base address
SHORT = 1 << 16  # elements: programs below are called without letting go of the interpreter
LONG = 1 << 22  # elements: programs above can be interrupted between two entries
ENTRY_BYTES = 32
Words = Callable[[Callable[[object], Place]], list[int]]
Part = Callable[[Callable[[object], Place]], Place]
"""(address of the code, address of its parameters), once memory is laid out."""


@dataclass(eq=False)
class Entry:
    """One line of the program: a kernel, how many blocks, and parameters once memory is laid."""

    job: jit.Job
    symbol: str
    blocks: int
    words: Words
    task: int
    size: int


class Program:
    """Compiled code for one structure of graph."""

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> None:
        self.target = host_target()
        self.roots, replaces = as_stored(roots, replaces)
        self.leaves = list(leaves)
        self.scratch_bytes = 0
        self.streamed = {
            root for root in self.roots
            if root not in replaces and root.type.nbytes >= self.target.l3_bytes // 4
        }  # fmt: skip
        self.entries: list[Entry] = []
        # What entries close over, which is never the program: that is gone once nobody holds it.
        self.memory: list[array[int]] = []
        self.epilogues: list[jit.Job] = []
        self.epilogue_code: list[Code] = []
        self.temporaries: dict[object, Temporary] = {}
        with trace.stage("plan"):
            self.tasks = plan_tasks(self.roots, replaces, FLOATS, chain_plan.ABLE)
        self.places = Places(
            self.tasks, self.roots, self.leaves, replaces, FIRST_LEAF, ordered=True
        )
        for built in self.places.copies.values():
            self._add_loops(built, 0)
        for number, task in enumerate(self.tasks):
            for built in task.kernels:
                self._add_loops(built, number)
            if task.product:
                self._add_product(task.product, number)
            if task.scan:
                self._add_scan(task.scan, number)
            if task.chain:
                self._add_chain(task.chain, number)
        with trace.stage("code"):
            self._write()
        self.size = sum(entry.size for entry in self.entries)
        if trace.is_heard():
            show.tell(self)

    # ---- kernels

    def _add_loops(self, built: Built, task: int) -> None:
        loops = built.loops
        for name, nbytes in built.join().items():
            self.temporaries[name] = (nbytes, task, task)
        for argument, buffer in zip(loops.arguments, built.buffers, strict=True):
            if argument.written and buffer in self.streamed:
                argument.stream = True
        target = self.target
        style = choose(loops, target)
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
        self.entries.append(Entry(job, "kernel", blocks, words, task, loops.size))

    def _add_product(self, product: Product, task: int) -> None:
        problem = _problem(product)
        plan = gemm_plan.plan(problem, self.target)
        size = product.dot.type.size * max(1, problem.k)
        packed = f"packed{task}"
        if plan.apack_bytes:
            self.temporaries[packed] = (plan.apack_bytes, task, task)
        self.scratch_bytes = max(self.scratch_bytes, plan.scratch_bytes)
        epilogue = self._epilogue(product) if product.epilogue else None
        job = gemm_job(problem.a_dtype, problem.b_dtype, self.target)
        for phase in plan.phases:

            def words(
                place: Callable[[object], Place], phase: gemm_plan.Phase = phase
            ) -> list[int]:
                result = list(phase.words)
                for name, at in phase.slots:
                    if name in ("epilogue", "eparams"):
                        if epilogue is not None:
                            result[at] = epilogue(place)[name == "eparams"]
                        continue
                    result[at : at + 2] = _argument(name, product, packed, place)
                return result

            self.entries.append(Entry(job, phase.entry, phase.blocks, words, task, size))

    def _add_scan(self, along: Scan, task: int) -> None:
        node = along.node
        work = (sort.plan if node.op is argsort else scan.plan)(node, self.target)
        temporary = f"parts{task}"
        if work.temporary_bytes:
            self.temporaries[temporary] = (work.temporary_bytes, task, task)
        self.scratch_bytes = max(self.scratch_bytes, work.scratch_bytes)
        for step in work.steps:

            def words(place: Callable[[object], Place], step: Step = step) -> list[int]:
                parts = place(temporary) if work.temporary_bytes else (0, 0)
                buffers = [*place(along.source), *place(node), *parts]
                return [*buffers, SCRATCH, work.scratch_bytes, *step.words()]

            symbol = step.symbol
            job = jit.job(work.text, (*work.parts, symbol), (symbol,), self.target, 2, True)
            size = int(node.op.flops) * node.type.size
            self.entries.append(Entry(job, symbol, step.blocks, words, task, size))

    def _add_chain(self, chain: Chained, task: int) -> None:
        cut = chain_plan.cut(chain, self.target)
        self.scratch_bytes = max(self.scratch_bytes, cut.nbytes)
        style, where = Style(2), {name: (0, at) for name, at in cut.offsets.items()}
        parts = [self._part(built, style, tile_text, 0, where) for built in chain.programs()]

        def words(place: Callable[[object], Place]) -> list[int]:
            return chain_plan.Table(cut, SCRATCH, place).fill([part(place) for part in parts])

        job = jit.job(chain_text, (chain.dtype,), ("chain_block",), self.target, 2, True)
        self.entries.append(Entry(job, "chain_block", cut.tasks, words, task, chain.size))

    def _epilogue(self, product: Product) -> Part:
        built = needed("program", product.epilogue, "epilogue")
        style = Style(level=choose(built.loops, self.target).level)
        return self._part(built, style, kernel_text, product.dot.shape[-2], {})

    def _part(
        self, built: Built, style: Style, text: Callable[..., str], height: int,
        where: dict[str, Place],
    ) -> Part:  # fmt: skip
        """Code that a kernel calls on its tiles; where: pieces of scratch that it works on."""
        signature = Signature(built.loops)
        memory, codes, number = self.memory, self.epilogue_code, len(self.epilogues)
        key = (signature.text, style)
        self.epilogues.append(jit.job(text, key, ("kernel",), self.target, style.level))

        def addresses(place: Callable[[object], Place]) -> Place:
            words = [0, height, *where.get(chain_plan.KEPT, (0, 0))]
            for buffer in built.buffers:
                words += (isinstance(buffer, str) and where.get(buffer)) or place(buffer)
            words += [_encoded(value, dtype) for dtype, value in signature.values]
            return codes[number]["kernel"], _pinned(memory, words)

        return addresses

    def _write(self) -> None:
        """Compile what is missing and fill the table."""
        place = self.places.settle(self.temporaries).__getitem__
        self.layout = self.places.layout
        self.entries = [entry for entry in self.entries if entry.blocks]
        jobs = [entry.job for entry in self.entries] + self.epilogues
        code = jit.load_many(jobs)
        self.code, self.epilogue_code[:] = code[: len(self.entries)], code[len(self.entries) :]
        table: list[int] = []
        for entry, found in zip(self.entries, self.code, strict=True):
            flags = SERIAL if entry.size < SHORT // 4 else 0
            params = _pinned(self.memory, entry.words(place))
            table += [found[entry.symbol], params, entry.blocks, flags]
        self.table = _pinned(self.memory, table)
        self.pool = Pool.get()
        self.short = sum(entry.size for entry in self.entries) < SHORT
        self.free: list[Any] = []  # from _word_array
        self.new = [nbytes for kind, nbytes in self.places.outputs if kind == "new"]
        self.overwrites = self.places.overwrites()
        self.launch = self._launcher()
        self.needs_memory = bool(self.layout.nbytes or self.scratch_bytes)
        self.simple = all(kind == "new" for kind, _ in self.places.outputs)

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


def _pinned(memory: list[array[int]], words: Sequence[int]) -> int:
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


def gemm_job(left: DType, right: DType, target: Target) -> jit.Job:
    """The shared code of all products of two dtypes."""
    return jit.job(gemm_tasks.text, (left, right), gemm_tasks.SYMBOLS, target, 2, True)


def kernel_job(text: str, style: Style, target: Target) -> jit.Job:
    """The code of a loop kernel, which its signature's text and style decide."""
    return jit.job(kernel_text, (text, style), ("kernel",), target, style.level)


def _encoded(value: float | int | bool, dtype: DType) -> int:
    """A parameter as a word."""
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


def _argument(
    name: str, product: Product, packed: str, place: Callable[[object], Place]
) -> list[int]:
    if name in ("a", "b"):
        operand = product.left if name == "a" else product.right
        base, offset = place(operand.base)
        return [base, offset + operand.offset * operand.base.dtype.size]
    if name == "scratch":
        return [SCRATCH, 0]
    if name == "apack":
        return list(place(packed))
    return [0, 0] if product.epilogue else list(place(product.dot))


def _problem(product: Product) -> gemm_plan.Problem:
    dot, a, b = product.dot, product.left, product.right
    shape = dot.shape
    m, n = shape[-2:]
    rank = len(shape) - 2
    return gemm_plan.Problem(
        m=m, n=n, k=dot.operands[0].shape[-1],
        a_strides=a.strides[-2:], b_strides=b.strides[-2:], c_row=n,  # type: ignore[arg-type]
        batch=shape[:-2],
        a_batch=_batch(a.strides[:-2], dot.operands[0].shape, rank),
        b_batch=_batch(b.strides[:-2], dot.operands[1].shape, rank),
        c_batch=_batch(strides_of(shape)[:-2], shape, rank),
        a_dtype=a.base.dtype, b_dtype=b.base.dtype, has_epilogue=product.epilogue is not None,
    )  # fmt: skip


def _batch(strides: tuple[int, ...], shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    own = tuple(0 if n == 1 else s for s, n in zip(strides, shape[:-2], strict=True))
    return (0,) * (rank - len(own)) + own
