"""What several threads want at the same time is made by the first of them.

Meanwhile Python's collector of garbage rests. It goes through every object there is each time their
number has grown by a quarter, and planning makes hundreds of thousands that are nearly all in use:
it would find nothing, and take a fifth of the time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from treadle.base import forks

T = TypeVar("T")
MAKING: dict[Hashable, Any] = {}
"""A key to the lock of who makes it just now. One left by who was interrupted is free."""
STOPPED: list[bool] = []  # the collector, by so many blocks that start it again
MANY = 50_000  # objects: it takes a while to go through more of them


def once(key: Hashable, find: Callable[[], T | None], make: Callable[[], T]) -> T:
    """What find finds, else what make makes, who keeps it where it is found from then on.

    Who asks while somebody makes it waits for that, and for nothing else. Where making fails, the
    next one tries.
    """
    try:
        with MAKING.setdefault(key, threading.RLock()):
            found = find()
            if found is None:
                with uncollected():
                    found = make()
            return found
    finally:
        MAKING.pop(key, None)


@contextmanager
def uncollected() -> Iterator[None]:
    """A with block in which the collector rests.

    Of several threads, the last that found it at work starts it again, and maybe too early for
    others, which costs them time alone.
    """
    works = gc.isenabled()
    try:
        STOPPED.extend([True] * works)
        gc.disable()
        yield
    finally:
        if works:
            STOPPED.pop()
            if gc.get_count()[0] > MANY and not gc.get_freeze_count():
                gc.freeze()  # together these two count all there is as old, and go through nothing
                gc.unfreeze()
            gc.enable()


def _begin() -> None:
    """In a forked child nobody is there who would let go of locks, or start the collector."""
    MAKING.clear()
    if STOPPED:
        gc.enable()


forks.in_child(_begin)
