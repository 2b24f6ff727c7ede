"""A plan as one native program: a table of kernels and parameters that a native loop walks."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from treadle.backends import facts
from treadle.backends.cpu import jit, perf_map, rings, show
from treadle.backends.cpu.buffers import Buffer, allocate
from treadle.backends.cpu.products import SCRATCH
from treadle.backends.cpu.table import FIRST_LEAF, Table
from treadle.backends.cpu.template import Template
from treadle.backends.cpu.threads import launcher, launcher_holding_gil, part_launcher
from treadle.base import trace
from treadle.base.knobs import MEANING, PERF_MAP
from treadle.ir.node import Node
from treadle.kernel.cost import KernelRow
from treadle.kernel.places import ARENA

DONE, BASES = 4, 5  # words of a launch: set when it has ended, and the first base address
SHORT = 1 << 16  # elements: programs below are called without letting go of the interpreter
LONG = 1 << 22  # elements: programs above can be interrupted between two entries
ENTRY_BYTES = 32


class Program(Table):
    """Compiled code for one structure of graph."""

    walked = False  # piece by piece, for somebody who watches: launch does that
    general: Program | None = None  # the program of all sizes, of which this is for one

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> None:
        super().__init__(roots, leaves, replaces, streams=True)
        with trace.stage("code"):
            self._write()
        self.refused = trace.recall("refused") or ()
        if PERF_MAP.value:
            perf_map.write(self)
        if trace.is_heard():
            show.tell(self)

    def _write(self) -> None:
        """Compile what is missing and fill the table."""
        self.link(iter(jit.load_many(self.jobs())))
        self.template = Template(
            self.words(), [n for kind, n in self.places.outputs if kind == "new"]
        )
        if not self.template.unknowns:
            self._fill({})
        self.short = self.size < SHORT
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
        program.general = self
        program._fill(sizes)
        return program

    def _launcher(self) -> Callable[[int], None]:
        """How the table is walked: all at once where it is short, or overwrites what others see."""
        if self.short:
            return launcher_holding_gil()
        return _launch_in_parts if self.in_parts else launcher()

    @property
    def in_parts(self) -> bool:
        """Can it be interrupted between two entries?"""
        is_long = self.size >= LONG and (len(self.entries) > 1 or bool(self.nested))
        return is_long and not self.overwrites

    # ---- for a profile

    device = "cpu"

    @property
    def number(self) -> int:
        """By which people know it."""
        return facts.number_of(self.general or self)

    def rows(self, caller: Sequence[str | None]) -> list[KernelRow]:
        """Its kernels, with the lines of a caller."""
        return facts.rows_for(self, caller)

    def pieces(self) -> list[list[int]]:
        """Blocks of every entry, step by step."""
        blocks: list[list[int]] = [[] for _ in self.steps]
        for entry in self.entries:
            if entry.step < len(blocks):
                blocks[entry.step].append(entry.blocks)
        return blocks

    def code_of(self, step: int) -> tuple[str, str]:
        """LLVM IR and assembly of a kernel."""
        return show.code_of(self, step)

    def steps_run(self) -> list[int]:
        """For each entry, the number of its kernel."""
        return [entry.step for entry in self.entries]

    # ---- running

    def run(self, inputs: Sequence[Buffer], results: list[Buffer] | None = None) -> list[Buffer]:
        """Run on the leaves' memory; returns the roots', added to results if they are given.

        They are there as soon as they are computed, even if an interrupt keeps this from returning.
        """
        try:
            words = self.free.pop()
        except IndexError:
            words = self._launch_words()
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
            if MEANING.shown and (MEANING.profiled or not self.walked):
                (rings.launch if MEANING.profiled else show.run)(self, words)
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

    def _launch_words(self) -> Any:
        words = _word_array(BASES + self.places.bases)
        words[0] = self.pool.address
        words[1] = self.table
        words[2] = len(self.entries)
        words[3] = words.address + 8 * BASES
        return words


def _launch_in_parts(address: int) -> None:
    """Launch a program bit by bit: Python raises an interrupt between two calls.

    What was written by then is memory that nobody has seen yet.
    """
    given = _word_type(BASES).from_address(address)
    words = _word_array(BASES)
    words[:] = given[:]
    words[DONE] = 0  # no loop was left yet
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
