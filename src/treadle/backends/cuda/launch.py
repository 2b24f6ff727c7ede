"""What a kernel is before it is compiled, and how it is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treadle.backends.cuda.forms import INDEX_LIMIT
from treadle.backends.cuda.ops import SHORT
from treadle.base.dtypes import DType
from treadle.base.sizes import Size, least, most
from treadle.kernel.build import Built
from treadle.kernel.places import Place
from treadle.kernel.signature import Signature

Argument = object
"""A number, which may be a size that is not known yet, or a Memory."""
Places = Callable[[object], Place]
"""Where buffers lie."""


@dataclass(frozen=True)
class Memory:
    """An argument that is the address of a buffer: a node's memory, or a named temporary."""

    buffer: object


@dataclass(frozen=True)
class Tensor(Memory):
    """A part of a buffer that the copy engine of a device reads, a block at a time.

    Offset and strides count elements; the last stride is 1. Beyond the extents there are zeros.
    """

    offset: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True)
class Source:
    """All that decides the machine code of a kernel."""

    text: str  # Triton's, or PTX
    types: tuple[tuple[str, str], ...]  # (argument, Triton's short name of its type)
    constants: tuple[tuple[str, int], ...]
    aligned: tuple[int, ...]  # arguments known to be multiples of 16
    warps: int
    stages: int = 3
    registers: int = 0  # of a thread when it starts, at most; 0: as many as it takes


@dataclass(eq=False)
class Launch:
    """One call of a kernel."""

    source: Source
    grid: tuple[int, int]
    arguments: list[Argument]
    size: int  # elements, for people and for timing
    step: int = 0  # of the program
    form: str = ""  # how it goes over its elements, where that is worth a word
    name: str = "kernel"  # in profilers
    touched: list[tuple[int, bool]] | None = None
    """Of each memory, how many bytes it has and whether they are written; None: nobody knows."""

    def __post_init__(self) -> None:
        self.size = most(self.size)

    def memories(self) -> list[tuple[int, Memory]]:
        """Arguments that are addresses, with their numbers."""
        return [(k, a) for k, a in enumerate(self.arguments) if isinstance(a, Memory)]


class Arguments:
    """The arguments of one call, collected in order."""

    def __init__(self) -> None:
        self.types: list[tuple[str, str]] = []
        self.values: list[Argument] = []

    def memory(self, name: str, dtype: DType, buffer: object) -> None:
        """An address; all our memory is aligned."""
        self.add(name, f"*{SHORT[dtype.name]}", Memory(buffer))

    def tensor(self, name: str, dtype: DType, tensor: Tensor, layout: str = "") -> None:
        """A tensor that is read by blocks; layout: how they lie in shared memory, in Gluon."""
        block = ", ".join(map(str, tensor.block))
        kind = f"{SHORT[dtype.name]}[{block}]{',' * bool(layout)}{layout}"
        self.add(name, f"tensordesc<{kind}>", tensor)

    def integer(self, name: str, value: Any, wide: bool) -> None:
        """A number that indices are made of."""
        wide = wide or max(most(value), -least(value)) >= INDEX_LIMIT
        number = value if isinstance(value, Size) else int(value)
        self.add(name, "i64" if wide else "i32", number)

    def constant(self, name: str, value: float | int | bool, dtype: DType) -> None:
        """A number of the computation itself."""
        if not isinstance(value, Size):
            value = float(value) if dtype.is_float else int(value)
        self.add(name, SHORT[dtype.name], value)

    def add(self, name: str, kind: str, value: Argument) -> None:
        """Anything, with Triton's short name of its type."""
        self.types.append((name, kind))
        self.values.append(value)

    def loops(self, built: Built, signature: Signature, wide: bool) -> None:
        """Buffers and slots of a loop program."""
        for k, (argument, buffer) in enumerate(
            zip(built.loops.arguments, built.buffers, strict=True)
        ):
            self.memory(f"b{k}", argument.dtype, buffer)
        for k, (dtype, value) in enumerate(signature.values):
            if f"p{k}" in signature.constants:
                self.constant(f"p{k}", value, dtype)
            else:
                self.integer(f"p{k}", value, wide)

    def source(
        self, text: str, constants: dict[str, int], warps: int, stages: int = 3, registers: int = 0
    ) -> Source:
        """The kernel these arguments are for."""
        aligned = tuple(
            k
            for k, ((_, kind), value) in enumerate(zip(self.types, self.values, strict=True))
            if kind[0] == "*"
            or (kind[0] == "i" and isinstance(value, int | Size) and value % 16 == 0)
        )
        kinds, sizes = tuple(self.types), tuple(constants.items())
        return Source(text, kinds, sizes, aligned, warps, stages, registers)

    @property
    def names(self) -> tuple[str, ...]:
        """In order."""
        return tuple([name for name, _ in self.types])

    def written(self, text: str, shared: int, warps: int) -> Source:
        """The same of one written in PTX, with so many bytes of shared memory."""
        return Source(text, tuple(self.types), (("shared", shared),), (), warps)
