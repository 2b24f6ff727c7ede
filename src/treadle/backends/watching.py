"""How runs of a program are watched: what is told of each of its pieces, and to whom.

A backend walks through a program piece by piece and lets the watcher read memory before and after.
Nothing here is used, or loaded, by programs that nobody watches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from treadle.base.errors import TreadleError
from treadle.ir.node import Node

if TYPE_CHECKING:  # NumPy's backend needs no compiler
    from treadle.kernel.steps import Step

Read = Callable[[Node], Any]
"""An array with the elements that a node has in memory just now, of its own."""


class Piece(NamedTuple):
    """A kernel, or a few that belong together.

    - **taken**: of what it reads, nodes whose memory it may write over
    """

    number: int
    kind: str
    writes: Sequence[Node]
    reads: Sequence[Node]
    taken: Sequence[Node]


class Watcher(Protocol):
    """Who looks at the memory around each piece; raises a TreadleError at a fault."""

    def before(self, piece: Piece, read: Read) -> None:
        """All that it reads is there."""

    def after(self, piece: Piece, read: Read) -> None:
        """All that it writes is there, too."""


def pieces_of(steps: Sequence[Step], place: Callable[[Node], object]) -> list[Piece]:
    """The steps of a program; place says where a node lies."""
    found = []
    for number, step in enumerate(steps):
        reads = sorted(step.reads(), key=lambda n: str(n.type))
        written = [place(node) for node in step.writes]
        taken = [node for node in reads if place(node) in written]
        found.append(Piece(number, step.cluster.kind, step.writes, reads, taken))
    return found


class Walk:
    """One run of a program, piece by piece.

    lasting: the program writes over what others see, so it goes on to its end after a fault, which
    is raised by whoever has started it.
    """

    def __init__(self, watcher: Watcher, lasting: bool) -> None:
        self.watcher, self.lasting = watcher, lasting
        self.fault: TreadleError | None = None

    @contextmanager
    def around(self, piece: Piece, read: Read) -> Iterator[None]:
        """The watcher's words before and after a piece is run."""
        self._tell(self.watcher.before, piece, read)
        yield
        self._tell(self.watcher.after, piece, read)

    def _tell(self, ask: Callable[[Piece, Read], None], piece: Piece, read: Read) -> None:
        if self.fault is not None:
            return
        try:
            ask(piece, read)
        except TreadleError as fault:
            if not self.lasting:
                raise
            self.fault = fault

    def end(self) -> None:
        """Raise what was found."""
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault
