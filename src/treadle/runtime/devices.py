"""A program for roots on any devices: no graph crosses from one to another, so a part for each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from treadle.backends.registry import Program, backend_of
from treadle.base.device import Device
from treadle.base.knobs import MEANING
from treadle.ir.node import Node


def compile_for_devices(
    roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
) -> Program:
    """A program for simplified roots; replaces: root to the leaf whose memory it takes."""
    devices = list(dict.fromkeys(root.device for root in roots))
    if len(devices) > 1:
        return Parts(roots, leaves, devices)
    return _compiled(devices[0], roots, leaves, replaces)


def _compiled(
    device: Device, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
) -> Program:
    backend = backend_of(device)
    if not MEANING.watched:
        return backend.compile(roots, leaves, replaces)
    watched: Program = import_module("treadle.runtime.watched").compiled(
        backend, roots, leaves, replaces
    )
    return watched


class Parts:
    """Programs of several devices that are run one after the other.

    No leaf is overwritten: whoever interrupts a run between two parts finds every value as it was.
    """

    overwrites: frozenset[int] = frozenset()

    def __init__(
        self, roots: Sequence[Node], leaves: Sequence[Node], devices: Sequence[Device]
    ) -> None:
        self.count = len(roots)
        self.parts: list[tuple[Program, list[int], list[int]]] = []  # numbers of leaves, of roots
        for device in devices:
            read = [k for k, leaf in enumerate(leaves) if leaf.device is device]
            made = [k for k, root in enumerate(roots) if root.device is device]
            graph = [roots[k] for k in made], [leaves[k] for k in read]
            self.parts.append((_compiled(device, *graph, {}), read, made))

    def run(self, inputs: Sequence[Any], results: list[Any] | None = None) -> list[Any]:
        """The roots' memory from the leaves', added to results if they are given."""
        found: list[Any] = [None] * self.count
        for program, read, made in self.parts:
            for k, memory in zip(made, program.run([inputs[k] for k in read]), strict=True):
                found[k] = memory
        if results is not None:
            results += found
        return found
