"""Algorithms on matrices that the host's processor runs: operands go there, the result comes back.

Factorisations are long chains of short steps. The host's kernels for them are there, and right; a
program waits for the device before such a step, and its graphs end there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.backends.cuda.launch import Places
from treadle.backends.cuda.sized import Exact
from treadle.backends.registry import Program, backend_of
from treadle.base.device import CPU
from treadle.base.sizes import Size, evaluator
from treadle.ir.node import Call, Node, Type, new_node, placeholder, type_of


def _there(type_: Type, dims: Mapping[str, int] | None = None) -> Type:
    """The same on the host, with the sizes that Dims have."""
    shape = type_.shape
    if dims is not None and Size in map(type, shape):
        shape = tuple([evaluator([n])(dims)[0] if isinstance(n, Size) else n for n in shape])
    return type_of(shape, type_.dtype, CPU)


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

    def exact(self, dims: Mapping[str, int]) -> Exactly:
        """It for the sizes of a run."""
        types = [_there(x.type, dims) for x in (*self.node.operands, self.node)]
        return Exactly(self.program.at(dims), types)  # type: ignore[attr-defined]


class Exactly(NamedTuple):
    """What the host runs, and the types of its operands and its result."""

    program: Program
    types: list[Type]

    def run(self, arrays: Sequence[Any]) -> Any:
        """The result of operands, in arrays of NumPy."""
        host, (*given, result) = backend_of(CPU), self.types
        pairs = zip(arrays, given, strict=True)
        (found,) = self.program.run([host.upload(x, type_, copy=False) for x, type_ in pairs])
        return host.download(found, result)


class HostCall:
    """A step with the addresses of its memory.

    - **read**: device memory to host memory, once it is computed
    - **write**: host memory to device memory
    """

    def __init__(
        self, work: HostStep, place: Places,
        read: Callable[[int, int, int], None], write: Callable[[int, int, int], None],
    ) -> None:  # fmt: skip
        self.work, self.step = work, work.step
        self.read, self.write = read, write
        self.places = [place(x) for x in (*work.sources, work.node)]
        self.addresses: list[int] = []
        work.program  # noqa: B018 - compiled with everything else

    def fit(self, exact: Exact) -> None:
        """Fill in sizes."""
        self.exactly = self.work.exact(exact.dims)

    def aim(self, bases: Sequence[int]) -> None:
        """Fill in addresses."""
        self.addresses = [bases[base] + offset for base, offset in self.places]

    def start(self) -> None:
        """Wait for the operands, compute, and queue the result."""
        *sources, target = self.addresses
        *given, result = self.exactly.types
        arrays = []
        for address, type_ in zip(sources, given, strict=True):
            arrays.append(np.empty(type_.shape, numpy_dtype(type_.dtype)))
            self.read(arrays[-1].ctypes.data, address, type_.nbytes)
        found = self.exactly.run(arrays)
        self.write(target, found.ctypes.data, result.nbytes)
