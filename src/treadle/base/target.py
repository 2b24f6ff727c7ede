"""What a device can do, as a value passed to the compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

from treadle.base.dtypes import DType

Reads = Callable[[Any], bool]
Beside = Callable[[Any, Sequence[Any]], bool]


@dataclass(frozen=True)
class Target:
    """A processor as the compiler sees it. Every tile, width and threshold derives from these."""

    backend: str  # "cpu", "cuda", "reference"
    triple: str = ""  # LLVM's name of architecture and system; empty: the host's
    cpu: str = ""  # LLVM's name of the processor
    features: str = ""  # LLVM's feature string
    vector_bytes: int = 64  # one vector register
    registers: int = 32  # vector registers
    l2_bytes: int = 1 << 20
    l3_bytes: int = 16 << 20

    @property
    def lanes(self) -> int:
        """Elements handled side by side: a register of float32; other types take the same count."""
        return self.vector_bytes // 4

    @cached_property
    def machine(self) -> tuple[str, ...]:
        """What tells it from others, the backend first."""
        return tuple(map(str, astuple(self)))

    @property
    def is_x86(self) -> bool:
        """An x86-64 processor?"""
        return self.triple.startswith(("x86_64", "i686"))

    @property
    def has_avx512(self) -> bool:
        """512-bit registers with masks, scalef and rcp14?"""
        return self.is_x86 and self.vector_bytes == 64


@dataclass(frozen=True)
class Ability:
    """What a backend can chain.

    - **dtypes**: of products; **widest**: most columns of a sink's result
    - **balance**: operations that take the device as long as moving a byte
    - **whole**: depths of products and widths of results are multiples of it
    - **fewest**: rows of tiles that a block may have, where no more share what streams by
    - **both**: may one kernel fill sinks of both directions, item after item?
    """

    dtypes: tuple[DType, ...] = ()
    balance: int = 0
    widest: int = 1 << 40
    whole: int = 1
    fewest: int = 1 << 40
    both: bool = False


@dataclass(frozen=True)
class Takes:
    """What the kernels of a backend can do besides loops."""

    products: tuple[DType, ...] = ()  # multiplied by a template that takes maps along
    converts: tuple[DType, ...] = ()  # what products in float32 read and widen as they go
    chains: Ability = Ability()
    separable: tuple[DType, ...] = ()  # products of which one operand may lie anywhere, as windows
    streams: int = 1 << 30  # arrays that tiles are joined with or go to: more than that are slow
    many: int = 0  # elements of tiles, from which on that is so
    depth: int = 1 << 62  # of products that take longer than any number of arrays
    reads: Reads = lambda x: not x.guards  # of what lies so, what is better not copied before
    copy: float = 32.0  # multiplications in the time that an element takes to be copied before
    given: int = 1 << 30  # arrays for tiles such as the program is given
    after: float = 1e9  # flops for an element of a large narrow product's tiles
    beside: Beside = lambda *_: False  # but what is done meanwhile
