"""Algorithms on matrices that the host's processor runs: operands go there, the result comes back.

Factorisations are long chains of short steps. The host's kernels for them are there, and right; a
program waits for the device before such a step, and its graphs end there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cuda.launch import Places
from treadle.backends.cuda.sized import Exact, Sizes
from treadle.backends.registry import Program, backend_of
from treadle.base.device import CPU
from treadle.ir.node import Call, Node, Type, new_node, placeholder, type_of


def _there(type_: Type) -> Type:
    """The same on the host."""
    return type_of(type_.shape, type_.dtype, CPU)


@dataclass(eq=False)
class HostStep:
    """A routine as a step of a plan; sources: where the elements of its operands lie."""

    node: Node
    sources: Sequence[Node]
    step: int = 0
    form: str = "on_host"
    name: str = "routine"

    @cached_property
    def program(self) -> Program:
        """What the host runs."""
        operands = tuple(placeholder(_there(x.type)) for x in self.node.operands)
        root = new_node(Call(self.node.op, self.node.arg, _there(self.node.type), ()), operands)
        return backend_of(CPU).compile([root], operands, {})


class HostCall:
    """A step with the addresses of its memory.

    - **read**: device memory to host memory, once it is computed
    - **write**: host memory to device memory
    """

    def __init__(
        self, work: HostStep, place: Places, sizes: Sizes,
        read: Callable[[int, int, int], None], write: Callable[[int, int, int], None],
    ) -> None:  # fmt: skip
        self.work, self.step = work, work.step
        self.read, self.write = read, write
        self.places = [place(x) for x in (*work.sources, work.node)]
        self.addresses: list[int] = []
        self.program = work.program
        nodes = *work.node.operands, work.node
        self.kinds, self.shapes = [x.dtype for x in nodes], sizes.within([x.shape for x in nodes])

    def fit(self, exact: Exact) -> None:
        """Fill in sizes."""
        shapes = self.shapes(exact)
        self.types = [type_of(*given, CPU) for given in zip(shapes, self.kinds, strict=True)]
        self.exact: Program = self.program.at(exact.dims)  # type: ignore[attr-defined]

    def aim(self, bases: Sequence[int]) -> None:
        """Fill in addresses."""
        self.addresses = [bases[base] + offset for base, offset in self.places]

    def start(self) -> None:
        """Wait for the operands, compute, and queue the result."""
        *sources, target = self.addresses
        *given, result = self.types
        host, operands = backend_of(CPU), []
        for address, type_ in zip(sources, given, strict=True):
            array = np.empty(type_.shape, numpy_dtype(type_.dtype))
            self.read(array.ctypes.data, address, type_.nbytes)
            operands.append(host.upload(array, type_, copy=False))
        (found,) = self.exact.run(operands)
        self.write(target, host.download(found, result).ctypes.data, result.nbytes)
