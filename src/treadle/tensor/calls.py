"""The user's calls of ops as events: methods that have a clock while somebody profiles.

They take the place of the plain ones when the first profile begins and give it back when the last
one ends, so that an op which nobody looks at costs what it did. What a call calls in turn is a
part of it, and so is what a compiler or a gradient records: those set a site.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import current_thread
from time import perf_counter_ns
from typing import Any

from treadle.base.watch import PART, WATCH, Kind, OpSite
from treadle.ir.node import Node
from treadle.ir.recording import RECORDING, user_site
from treadle.ops import elementwise as e
from treadle.ops.defs import Elementwise, Inline, Op
from treadle.tensor.tensor import Tensor
from treadle.tensor.tracing import TRACE

_OP = int(Kind.OP)
Method = Callable[..., Any]


def _tell(op: Op | None, made: Any, number: int, start: int) -> None:
    """Write down a call that has ended; nodes are what others than users work on."""
    end, node = perf_counter_ns(), getattr(made, "_node", None)
    if made.__class__ is Node or not WATCH.on:
        return
    call = None if node is None else node.call
    if call is not None and (op is None or call.op is op):
        what = call
    elif op is not None:
        what = op
    else:
        return
    site = None if node is None else node.site
    if site.__class__ is not OpSite or site.op != number:  # it was made before, or in a trace
        site = user_site() + RECORDING.wishes.within
    WATCH.events.extend((_OP, what, start, end, current_thread(), (number, site)))


def _timed(plain: Method, op_of: Callable[[Any, tuple[Any, ...]], Op | None]) -> Method:
    """A method with a clock around it; op_of finds the op in its arguments."""
    numbers, thread, clock = WATCH.ops, WATCH.thread, perf_counter_ns

    @wraps(plain)
    def timed(self: Any, *args: Any, **options: Any) -> Any:
        if thread.op or RECORDING.site is not None:
            return plain(self, *args, **options)
        number = thread.op = PART if TRACE else next(numbers)
        start = clock()
        try:
            made = plain(self, *args, **options)
        finally:
            thread.op = 0
        _tell(op_of(self, args), made, number, start)
        return made

    return timed


def _methods() -> list[tuple[type, str, Method, Method]]:
    """Class, name, the plain method and the one with a clock."""
    found: list[tuple[type, str, Callable[[Any, tuple[Any, ...]], Op | None]]] = [
        (kind, "__call__", lambda row, args: row) for kind in (Op, Elementwise, Inline)
    ]
    found.append((Tensor, "_apply", lambda x, args: args[0]))
    found.append((Tensor, "__getitem__", lambda x, args: None))
    for name, op in (("add", e.add), ("sub", e.sub), ("mul", e.mul), ("truediv", e.div)):
        found.append((Tensor, f"__{name}__", lambda x, args, op=op: op))  # type: ignore[misc]
    return [
        (kind, name, plain := vars(kind)[name], _timed(plain, op_of)) for kind, name, op_of in found
    ]


_METHODS = _methods()


def begin() -> None:
    """Somebody profiles."""
    for kind, name, _, timed in _METHODS:
        setattr(kind, name, timed)


def end() -> None:
    """Nobody does any more."""
    for kind, name, plain, _ in _METHODS:
        setattr(kind, name, plain)
