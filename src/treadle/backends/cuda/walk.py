"""Work made ready to be started, of any kind; loops and branches that the host walks through.

It starts the kernels of a body on the memory of a step, together where they were there before:
what a loop carries lies in two places in turns. A loop with a flag has it read back after every
step, a branch its index before: the host waits for the device there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from treadle.backends.cuda.launch import Launch, Places
from treadle.backends.cuda.nest import Nest, Placed
from treadle.backends.cuda.on_host import HostCall, HostStep
from treadle.backends.cuda.sized import Exact, Sizes
from treadle.ir.region import Loop
from treadle.kernel.places import Place

TURNS = range(2)


class Device(Protocol):
    """Memory that the host reads and writes; work asked for before is done by then."""

    def read(self, target: int, address: int, nbytes: int) -> None:
        """Its memory to the host's."""

    def write(self, address: int, source: int, nbytes: int) -> None:
        """The host's memory to its own."""

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Its memory to its memory."""


class Started(Protocol):
    """Work that is aimed at memory and started."""

    # fmt: off
    @property
    def step(self) -> int: ...
    # fmt: on

    def fit(self, exact: Exact) -> None:
        """Fill in sizes."""

    def aim(self, bases: Sequence[int]) -> None:
        """Fill in addresses."""

    def start(self) -> None:
        """Queue it, or do it."""


class Run(Protocol):
    """Calls that are started one after the other, or together."""

    def fit(self, exact: Exact) -> None:
        """With these sizes from now on."""

    def start(self, bases: Sequence[int]) -> None:
        """On this memory."""


Kernel = Callable[[Launch, Places], Started]
"""How a launch is made ready to be started."""
Group = Callable[[Sequence[Started]], Sequence[Run]]
"""How calls are put together."""


def call_of(placed: Placed, device: Device, sizes: Sizes, kernel: Kernel, group: Group) -> Started:
    """Work of any kind, ready to be started."""
    work, place = placed
    if isinstance(work, Launch):
        return kernel(work, place)
    if isinstance(work, HostStep):
        return HostCall(work, place, sizes, device.read, device.write)
    return Walk(work, place, device, sizes, kernel, group)


class Walk:
    """A loop or branch that the host walks through."""

    def __init__(
        self, work: Nest, place: Places, device: Device, sizes: Sizes, kernel: Kernel, group: Group
    ) -> None:
        self.work, self.step, self.device = work, work.step, device
        self.laid = work.nested.laid(place)
        self.sized = sizes.within(self.laid)
        self.length = sizes.number(work.spec.length if isinstance(work.spec, Loop) else 1)
        make = partial(call_of, device=device, sizes=sizes, kernel=kernel, group=group)
        self.bodies: list[list[Sequence[Run]]] = []  # for steps of even numbers, and of odd ones
        for body, steps in zip(work.nested.bodies, self.laid.bodies, strict=True):
            frame = [(k, 0) for k in range(body.bases)]
            parts = [*work.around(steps.before, frame), *body.table.placed(),
                     *work.around(steps.after, frame)]  # fmt: skip
            self.bodies.append([group([make(x) for x in parts if x is not None]) for _ in TURNS])
        self.outer: list[int] = []

    def fit(self, exact: Exact) -> None:
        """The sizes of a run."""
        self.laid, self.steps = self.sized(exact), self.length(exact)
        for turns in self.bodies:
            for runs in turns:
                for run in runs:
                    run.fit(exact)

    def aim(self, bases: Sequence[int]) -> None:
        """The memory of whatever it is a part of."""
        self.outer = list(bases)

    def start(self) -> None:
        """All steps, or one of the branches."""
        if not isinstance(self.work.spec, Loop):
            which = int(self._read(self._address(self.laid.flag or (0, 0)), np.int64))
            self._step(min(max(which, 0), len(self.bodies) - 1), 0)
            return
        for source, target, nbytes in self.laid.begin:
            self.device.copy(self._address(target), self._address(source), nbytes)
        flag, step = self.laid.flag, 0
        going = flag is None or bool(self._read(self._address(flag), np.bool_))
        while going and step < self.steps:
            inner = self._step(0, step)
            step += 1
            going = flag is None or bool(self._read(inner[self.laid.told], np.bool_))
        rules = self.laid.bodies[0].rules
        for base, home, nbytes in self.laid.finish:
            last = self._address(rules[base].at(step))
            if last != self._address(home):
                self.device.copy(self._address(home), last, nbytes)

    def _step(self, which: int, step: int) -> dict[int, int]:
        """One step of a body; returns where its bases were."""
        rules = self.laid.bodies[which].rules
        inner = {base: self._address(rule.at(step)) for base, rule in rules.items()}
        listed = [inner.get(k, 0) for k in range(self.work.nested.bodies[which].bases)]
        for run in self.bodies[which][step % len(TURNS)]:
            run.start(listed)
        return inner

    def _address(self, place: Place) -> int:
        base, offset = place
        return self.outer[base] + offset

    def _read(self, address: int, kind: type) -> Any:
        """One number of the device's, once it is computed."""
        found: Any = np.empty((), kind)
        self.device.read(found.ctypes.data, address, found.nbytes)
        return found[()]
