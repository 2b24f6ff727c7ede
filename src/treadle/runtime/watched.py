"""A program that is watched while it runs: by the reference, for NaNs, or for the memory it takes.

It is made where a knob asks for it (`base/knobs.py`), beside the one that nobody watches, so
programs that run as usual have nothing of this in them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from treadle.backends.registry import Backend, Program
from treadle.backends.watching import Piece, Read, Walk, Watcher
from treadle.base.knobs import ANOMALY, CHECK
from treadle.ir.node import Node
from treadle.runtime.anomaly import Finite
from treadle.runtime.ledger import LEDGERS
from treadle.runtime.shadow import Shadow


def compiled(
    backend: Backend, roots: Sequence[Node], leaves: Sequence[Node], replaces: dict[Node, Node]
) -> Program:
    """What a backend makes of a graph, watched.

    Who looks for NaNs shall find everything as it was before: nothing is written over then.
    """
    if ANOMALY.value and not CHECK.value:
        replaces = {}
    return Watched(backend, backend.compile(roots, leaves, replaces), roots, leaves)


class Watched:
    """Runs one at a time, and tells whoever watches."""

    def __init__(
        self, backend: Backend, program: Program, roots: Sequence[Node], leaves: Sequence[Node]
    ) -> None:
        self.program, self.overwrites = program, program.overwrites
        self.device = roots[0].device
        self.known = [(node.type, node.site) for node in (*leaves, *roots)]
        self.walk = Walk(_Everyone(_watchers()), bool(program.overwrites))
        self.running = threading.RLock()
        if self.walk.watcher:
            backend.watch(program, self.walk)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.program, name)  # for people who look at programs

    def run(self, inputs: Sequence[Any], results: list[Any] | None = None) -> list[Any]:
        """Run as the program does; raises what a watcher has found."""
        with self.running:
            ledgers = list(LEDGERS)
            for ledger in ledgers:
                ledger.begin(self.device, self._working_bytes(), self.known[-1][1])
            try:
                found = self.program.run(inputs, results)
                memory = [*inputs, *found]
                for ledger in ledgers:
                    for piece, (type_, site) in zip(memory, self.known, strict=True):
                        ledger.add(piece, type_, site)
            finally:
                for ledger in ledgers:
                    ledger.end(self.device)
            self.walk.end()
        return found

    def _working_bytes(self) -> int:
        """What a run takes besides its results."""
        program: Any = self.program
        layout = getattr(getattr(program, "plan", program), "layout", None)
        scratch = getattr(program, "scratch_bytes", 0)
        threads = program.pool.threads if scratch else 0
        return (layout.nbytes if layout is not None else 0) + scratch * threads


def _watchers() -> list[Watcher]:
    found: list[Watcher] = []
    if CHECK.value:
        found.append(Shadow())
    if ANOMALY.value:
        found.append(Finite())
    return found


class _Everyone:
    """Several watchers as one."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self.watchers = watchers

    def __bool__(self) -> bool:
        return bool(self.watchers)

    def before(self, piece: Piece, read: Read) -> None:
        """All that it reads is there."""
        for watcher in self.watchers:
            watcher.before(piece, read)

    def after(self, piece: Piece, read: Read) -> None:
        """All that it writes is there, too."""
        for watcher in self.watchers:
            watcher.after(piece, read)
