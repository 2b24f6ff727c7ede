"""The protocol for NVIDIA GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cuda.beside import Beside
from treadle.backends.cuda.buffers import Buffer, Loan
from treadle.backends.cuda.driver import gpu
from treadle.backends.cuda.execute import Program
from treadle.backends.cuda.orders import ORDERS
from treadle.backends.cuda.pinned import holds
from treadle.backends.cuda.shared import Shared
from treadle.backends.cuda.timing import step_seconds
from treadle.backends.registry import Statistics
from treadle.backends.tuning import Untuned
from treadle.base.knobs import MEANING, TUNE
from treadle.base.target import Target
from treadle.ir.node import Node, Type

if TYPE_CHECKING:
    from treadle.backends.watching import Walk


class Cuda:
    """Backend of one device "cuda:<index>"."""

    name = "cuda"
    rules = ORDERS

    def __init__(self, index: int = 0) -> None:
        self.gpu = gpu(index)

    def target(self) -> Target:
        """The device."""
        return Target("cuda", "nvptx64-nvidia-cuda", f"sm_{self.gpu.architecture}")

    def compile(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> Program | Untuned:
        """Machine code for simplified roots."""
        make = partial(Program, roots, leaves, replaces, self.gpu)
        # Triton's compiler refuses tiles that do not fit, by errors of many kinds.
        searched = TUNE.value and not MEANING.watched
        return Untuned(make, self.copy, step_seconds, (Exception,)) if searched else make()

    def watch(self, program: Program, walk: Walk) -> None:
        """Let a walk see every piece of its runs."""
        import_module("treadle.backends.cuda.watched").watch(program, walk)

    @cached_property
    def beside(self) -> Beside:
        """Copies that nobody waits for."""
        return Beside(self.gpu)

    @cached_property
    def shared(self) -> Shared:
        """What other libraries read, and what is theirs."""
        return Shared(self.gpu)

    def upload(self, array: Any, type_: Type, copy: bool) -> Buffer:
        """Memory with an array's elements; from pinned memory of ours they come at some time."""
        source = np.ascontiguousarray(array, numpy_dtype(type_.dtype))
        if holds(source.ctypes.data):
            return self.beside.upload(source, type_.nbytes)
        buffer = self.gpu.allocate(type_.nbytes)
        self.gpu.write(buffer.address, source.ctypes.data, type_.nbytes)
        return buffer

    def upload_beside(self, array: Any, type_: Type) -> Buffer:
        """The same, beside what is computed; the array stays as it is."""
        source = np.ascontiguousarray(array, numpy_dtype(type_.dtype))
        return self.beside.upload(source, type_.nbytes)

    def begin(self, buffer: Any, type_: Type) -> None:
        """Copy memory to the host beside what is computed, for `download`."""
        self.beside.begin(buffer, type_.nbytes)

    def download(self, buffer: Buffer, type_: Type) -> Any:
        """A new array with the elements of memory, or the one that was begun."""
        if "beside" in self.__dict__ and (block := self.beside.landed_of(buffer)) is not None:
            return block.array(numpy_dtype(type_.dtype), type_.shape)
        array = np.empty(type_.shape, numpy_dtype(type_.dtype))
        self.gpu.read(array.ctypes.data, buffer.address, type_.nbytes)
        return array

    def copy(self, buffer: Buffer) -> Buffer:
        """The same bytes in memory of their own."""
        fresh = self.gpu.allocate(buffer.size)
        self.gpu.copy(fresh.address, buffer.address, buffer.size)
        return fresh

    def lend(self, buffer: Buffer, home: Any) -> Loan:
        """The same memory under another name, which goes back to home."""
        return Loan(buffer, home)

    def statistics(self) -> Statistics:
        """The pool and the code of this device."""
        room, total = self.gpu.room()
        working = self.gpu.working.room if self.gpu.working is not None else 0
        return Statistics(
            self.gpu.mapped, self.gpu.kept, len(self.gpu.functions),
            working=working, room=room, total=total,
        )  # fmt: skip
