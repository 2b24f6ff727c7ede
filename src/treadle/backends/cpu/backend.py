"""The protocol for the host processor."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cpu import link
from treadle.backends.cpu.buffers import Buffer, Home, allocate, statistics, wrap
from treadle.backends.cpu.host import host_target
from treadle.backends.cpu.program import Program
from treadle.backends.cpu.timing import step_seconds
from treadle.backends.registry import Statistics
from treadle.backends.tuning import Untuned
from treadle.base.knobs import MEANING, TUNE
from treadle.base.target import Target
from treadle.ir.node import Node, Type

if TYPE_CHECKING:
    from treadle.backends.watching import Walk


class Cpu:
    """Backend of device "cpu"."""

    name = "cpu"
    rules = ()

    def target(self) -> Target:
        """The machine this runs on."""
        return host_target()

    def compile(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> Program | Untuned:
        """Native code for simplified roots."""
        if TUNE.value and not MEANING.watched:
            return Untuned(partial(Program, roots, leaves, replaces), self.copy, step_seconds)
        return Program(roots, leaves, replaces)

    def watch(self, program: Program, walk: Walk) -> None:
        """Let a walk see every piece of its runs."""
        import_module("treadle.backends.cpu.watched").watch(program, walk)

    def upload(self, array: Any, type_: Type, copy: bool) -> Buffer:
        """Memory with an array's elements: its own if they lie in order and aligned, unless copy.

        Kernels read memory that they have not allocated by the alignment of its elements.
        """
        source = np.asarray(array, numpy_dtype(type_.dtype), order="C")
        if not copy and source is array and source.ctypes.data % source.itemsize == 0:
            return wrap(source.ctypes.data, source.nbytes, source)
        buffer = allocate(type_.nbytes)
        ctypes.memmove(buffer.address, source.ctypes.data, type_.nbytes)
        return buffer

    def download(self, buffer: Buffer, type_: Type) -> Any:
        """An array over the memory; it keeps the memory alive."""
        view: Any = buffer.view()
        flat = np.frombuffer(view, numpy_dtype(type_.dtype), type_.size)
        return flat.reshape(type_.shape)

    def copy(self, buffer: Buffer) -> Buffer:
        """The same bytes in memory of their own."""
        fresh = allocate(buffer.size)
        ctypes.memmove(fresh.address, buffer.address, buffer.size)
        return fresh

    def lend(self, buffer: Buffer, home: Home) -> Buffer:
        """The same memory under another name, which goes back to home."""
        return Buffer(buffer.address, buffer.size, home)

    def statistics(self) -> Statistics:
        """The pool and the code of this process."""
        found, code = statistics(), link.statistics()
        return Statistics(found["mapped"], found["kept"], *code)
