"""What a profile is told when values are computed: who asked, for which graph, how long it took."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os.path import basename
from time import perf_counter_ns

from treadle.base.watch import WATCH, Caller, Kind, Sites
from treadle.ir.node import Node
from treadle.ir.recording import PACKAGE
from treadle.ir.sites import placed


class Asked:
    """Values are being computed; programs that run meanwhile run for a graph."""

    __slots__ = ("before", "name", "outer", "start")

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.name, self.outer, self.before = trigger(), WATCH.thread.asked, WATCH.thread.caller
        WATCH.thread.asked = self.name
        pending = [node for node in nodes if node.buffer is None]
        WATCH.thread.caller = Caller(_sites(pending))
        self.start = perf_counter_ns()

    def end(self) -> None:
        """They are there."""
        WATCH.thread.caller, WATCH.thread.asked = self.before, self.outer
        if WATCH.on and self.name != self.outer:  # else it is a part of the same
            WATCH.add(Kind.REALIZE, self.name, self.start)


class _Realised:
    """Contains nodes that are in memory, where a graph ends."""

    def __contains__(self, node: object) -> bool:
        return isinstance(node, Node) and node.buffer is not None


def _sites(nodes: Sequence[Node]) -> Sites:
    return tuple([node.site for node in placed(nodes, _Realised())])


def trigger() -> str:
    """What the user wrote that made somebody compute: `item() at train.py:41`."""
    frame = sys._getframe(1)
    called = ""
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        called = frame.f_code.co_name
        frame = frame.f_back
    line = f"{basename(frame.f_code.co_filename)}:{frame.f_lineno}"
    return f"{called}() at {line}" if called else line
