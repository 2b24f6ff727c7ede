"""Which spans are open where something is recorded.

A function with a name runs from call to return, so those that a thread is in lie in each other.
With blocks may be left in any order, as those of generators are, and each task of a thread has its
own. They are noted as cheaply as can be: there may be many, and few have anything recorded in them.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any

from treadle.ir.recording import RECORDING, SPAN


class Mine:
    """Names of the functions that a thread is in, the outermost first, and the thread itself."""

    __slots__ = ("names", "thread")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.thread = threading.current_thread()


class Calls(threading.local):
    """Those of each thread."""

    def __init__(self) -> None:
        self.mine = Mine()


PLAIN = dict.fromkeys(range(32), " ")  # a site has marks of its own
CALLS = Calls()
BLOCKS: ContextVar[list[Any] | None] = ContextVar("blocks", default=None)
"""The innermost with block: its span, which is None when it is over; the block around it; of the
thread that entered it, the functions, and how many of them are around it; and when that was."""


def scope() -> str:
    """Spans that are open here, the outermost first: "epoch/model"."""
    mine, block = CALLS.mine, BLOCKS.get()
    if block is None and not mine.names:
        return ""
    names = mine.names.copy()
    while block is not None:
        span, block, theirs, around, _ = block
        if span is not None:
            names.insert(around if theirs is mine else 0, span.name)
    path = "/".join(names)
    return path if path.isprintable() else path.translate(PLAIN)


def _in_site() -> str:
    path = scope()
    return SPAN + path if path else ""


RECORDING.spans = _in_site
