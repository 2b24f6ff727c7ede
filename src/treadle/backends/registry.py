"""Backends by name, loaded when first used."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from treadle.base.device import Device
from treadle.base.errors import DeviceError, explain
from treadle.ir.node import Node, Type

if TYPE_CHECKING:
    from treadle.base.target import Target

BACKENDS = {
    "cpu": "treadle.backends.cpu.backend:Cpu",
    "cuda": "treadle.backends.cuda.backend:Cuda",
    "reference": "treadle.backends.reference.backend:Reference",
}


class Program(Protocol):
    """Compiled code for one structure of graph."""

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """The roots' memory from the leaves'."""


class Backend(Protocol):
    """What every kind of device offers."""

    name: str

    def target(self) -> Target:
        """What the device can do."""

    def compile(
        self, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
    ) -> Program:
        """A program for simplified roots; replaces: root to the leaf whose memory it takes."""

    def upload(self, array: Any, type_: Type, copy: bool) -> Any:
        """Memory with the elements of an array: NumPy's, or one that it can read."""

    def download(self, buffer: Any, type_: Type) -> Any:
        """A NumPy array with the elements of memory."""

    def copy(self, buffer: Any) -> Any:
        """The same bytes in memory of their own."""


@cache
def backend_of(device: Device) -> Backend:
    """The backend of a device."""
    module, name = BACKENDS[device.backend].split(":")
    try:
        made = getattr(importlib.import_module(module), name)
    except ImportError as error:
        hint = f"pip install 'treadle[{device.backend}]'"
        raise DeviceError(
            explain(str(device), f"cannot load the backend: {error}", hint)
        ) from error
    return made(device.index) if device.backend == "cuda" else made()
