"""Backends by name, loaded when first used, and the ops and dtypes that each has."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from treadle.base import forks
from treadle.base.device import CPU, Device, device
from treadle.base.dtypes import DType, dtype
from treadle.base.errors import DeviceError, NotSupported, explain
from treadle.ir.node import CHECKS, Node, Type
from treadle.ops.defs import TABLE, Kind, Op
from treadle.ops.elementwise import complex_, conj, detach, imag, real, rerouted

if TYPE_CHECKING:
    from treadle.backends.watching import Walk
    from treadle.base.target import Target
    from treadle.ir.pattern import Rule

BACKENDS = {
    "cpu": "treadle.backends.cpu.backend:Cpu",
    "cuda": "treadle.backends.cuda.backend:Cuda",
    "reference": "treadle.backends.reference.backend:Reference",
}

REWRITTEN = (detach, rerouted, real, imag, conj, complex_)  # never reach a backend


class Program(Protocol):
    """Compiled code for one structure of graph."""

    overwrites: frozenset[int]
    """Numbers of the leaves whose memory some roots take over."""

    def run(self, inputs: Sequence[Any], results: list[Any] | None = None) -> list[Any]:
        """The roots' memory from the leaves'; in results, where given, even if interrupted then."""


class Statistics(NamedTuple):
    """Bytes that a pool has from the system, and those of them that are free; loaded code.

    - **working**: of the bytes that are not free, those that programs work in
    - **room**, **total**: of a device with memory of its own, what nobody holds, and all
    """

    mapped: int = 0
    free: int = 0
    kernels: int = 0
    code_bytes: int = 0
    code_mappings: int = 0
    working: int = 0
    room: int = 0
    total: int = 0


class Backend(Protocol):
    """What every kind of device offers."""

    name: str
    rules: tuple[Rule, ...]
    """How graphs are rewritten for its kind of device alone."""

    def target(self) -> Target:
        """What the device can do."""

    def compile(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> Program:
        """A program for simplified roots; replaces: root to the leaf whose memory it takes."""

    def watch(self, program: Program, walk: Walk) -> None:
        """Let a walk see every piece of a program's runs, before it is first run."""

    def upload(self, array: Any, type_: Type, copy: bool) -> Any:
        """Memory with the elements of an array: NumPy's, or one that it can read."""

    def download(self, buffer: Any, type_: Type) -> Any:
        """A NumPy array with the elements of memory."""

    def copy(self, buffer: Any) -> Any:
        """The same bytes in memory of their own."""

    def lend(self, buffer: Any, home: Any) -> Any:
        """The same memory under another name; when that is gone, home.append is called."""

    def statistics(self) -> Statistics:
        """What it holds just now."""


LOADED: dict[Device, Backend] = {}
"""Backends in use, one for a device."""
RELIEF: list[Callable[[], None]] = []
"""What to call where the system has no room for more code: each forgets what can be made again."""


@cache
def backend_of(device: Device) -> Backend:
    """The backend of a device."""
    module, name = BACKENDS[device.backend].split(":")
    try:
        with forks.COMPILING.mine():  # a child could not import what its parent is in the middle of
            made = getattr(importlib.import_module(module), name)
    except ImportError as error:
        extra = "treadle[cuda]" if device.backend == "cuda" else "treadle"
        hint = f"pip install '{extra}'"
        raise DeviceError(
            explain(str(device), f"cannot load the backend: {error}", hint)
        ) from error
    backend: Backend = made(device.index) if device.backend == "cuda" else made()
    return LOADED.setdefault(device, backend)  # two threads may have made one


def present(where: str | Device) -> Device:
    """The device of that name; raises if this machine lacks it. The host's compiler can wait."""
    found = device(where)
    if found is not CPU:
        backend_of(found)
    return found


class Support(NamedTuple):
    """What a backend has code for."""

    dtypes: Collection[DType]
    names: dict[Kind, Collection[str]]  # primitives by kind; of a kind that is not here, all

    def has(self, op: Op) -> bool:
        """Is there code for a primitive?"""
        return op in REWRITTEN or op.name in self.names.get(op.kind, (op.name,))


@cache
def support_of(backend: str) -> Support:
    """What a backend states in its module `primitives`, which loads no compiler."""
    module = importlib.import_module(f"treadle.backends.{backend}.primitives")
    return Support(dict.fromkeys(module.DTYPES), module.NAMES)  # in order, and quick to look into


def supports(op: Op | str, kind: object, where: str | Device = "cpu") -> bool:
    """Has the backend of a device code for a primitive on elements of a dtype?

    >>> supports("add", "float32", "cuda")
    True
    """
    row = TABLE[op] if isinstance(op, str) else op
    support = support_of(device(where).backend)
    return support.has(row) and dtype(kind).part in support.dtypes


def _require(op: Op, dtypes: tuple[DType, ...], where: Device) -> None:
    """Raise at the call for what the device has no code for, and say what there is."""
    support = support_of(where.backend)
    facts = {"dtypes": ", ".join(d.name for d in dtypes), "device": where}
    if not support.has(op):
        others = [name for name in BACKENDS if support_of(name).has(op)]
        hint = f"it is there on {' and '.join(others)}: x.to({others[0]!r})" if others else ""
        raise NotSupported(explain(op.name, f"not there on {where.backend}", hint, **facts))
    for d in dtypes:
        if d.part not in support.dtypes:
            names = ", ".join(known.name for known in support.dtypes)
            hint = f"cast the operand first; {where.backend} has {names}"
            wrong = f"{where.backend} has no {d.name}"
            raise NotSupported(explain(op.name, wrong, hint, **facts))


CHECKS.append(_require)
