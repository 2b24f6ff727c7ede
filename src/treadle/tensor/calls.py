"""The user's calls of ops as events: methods that have a clock while somebody profiles.

They take the place of the plain ones when the first profile begins and give it back when the last
one ends, so that an op which nobody looks at costs what it did. What is called while a site is set
is a part of something: of another op, of a gradient, or of what a compiler does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import update_wrapper
from threading import current_thread
from time import perf_counter_ns
from typing import Any

from treadle.base.watch import WATCH, Kind, of_op
from treadle.ir.node import Node
from treadle.ir.recording import RECORDING
from treadle.ops import elementwise as e
from treadle.ops.defs import Elementwise, Inline, Op
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE

_OP = int(Kind.OP)
Method = Callable[..., Any]
Named = Callable[[Any, tuple[Any, ...]], Op | str]
"""What is called, by the object that a method is of and its arguments."""

METHODS: tuple[tuple[type, str, Named], ...] = (
    (Op, "__call__", lambda row, args: row),
    (Elementwise, "__call__", lambda row, args: row),
    (Inline, "__call__", lambda row, args: row),
    (Tensor, "_apply", lambda x, args: args[0]),
    (Tensor, "__getitem__", lambda x, args: "getitem"),
    (Tensor, "__setitem__", lambda x, args: "setitem"),
    (Tensor, "__add__", lambda x, args: e.add),
    (Tensor, "__sub__", lambda x, args: e.sub),
    (Tensor, "__mul__", lambda x, args: e.mul),
    (Tensor, "__truediv__", lambda x, args: e.div),
)
"""All ways in which an op is called: its row, or a shorter one."""

_numbers = itertools.count(1)
_exchanged: list[tuple[type, str, Method, Method]] = []
"""Class, name, the plain method and the one with a clock, while somebody profiles."""


def begin() -> None:
    """Somebody profiles."""
    for kind, name, named in METHODS:
        plain = vars(kind)[name]
        timed = _timed(plain, named)
        _exchanged.append((kind, name, plain, timed))
        setattr(kind, name, timed)


def end() -> None:
    """Nobody does any more; a method that was replaced meanwhile stays."""
    while _exchanged:
        kind, name, plain, timed = _exchanged.pop()
        if vars(kind)[name] is timed:
            setattr(kind, name, plain)


def _timed(plain: Method, named: Named) -> Method:
    """A method with a clock around it; what it records knows of the call."""

    def timed(self: Any, *args: Any, **options: Any) -> Any:
        if RECORDING.site is not None:
            return plain(self, *args, **options)
        # a trace is for many runs, none of which is this call's
        site = RECORDING.here() if TRACE else of_op(RECORDING.here(), next(_numbers))
        start = perf_counter_ns()
        try:
            RECORDING.site = site
            made = plain(self, *args, **options)
        finally:
            RECORDING.site = None
        _tell(named(self, args), made, start, site)
        return made

    # by the name of its code a profile says who asked for a value
    timed.__code__ = timed.__code__.replace(co_name=plain.__name__)
    return update_wrapper(timed, plain)


def _tell(op: Op | str, made: Any, start: int, site: str) -> None:
    """Write down a call that has ended; nodes are what others than users work on."""
    end = perf_counter_ns()
    if made.__class__ is Node or not WATCH.on:
        return
    node = getattr(made, "_node", None)
    what = node.call if node is not None and node.call.op is op else op
    WATCH.events.extend((_OP, what, start, end, current_thread(), site))
