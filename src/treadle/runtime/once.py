"""What several threads want at the same time is made by the first of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from treadle.base import forks

T = TypeVar("T")
MAKING: dict[Hashable, Any] = {}
"""A key to the lock of who makes it just now. One left by who was interrupted is free."""


def once(key: Hashable, find: Callable[[], T | None], make: Callable[[], T]) -> T:
    """What find finds, else what make makes, who keeps it where it is found from then on.

    Who asks while somebody makes it waits for that, and for nothing else. Where making fails, the
    next one tries.
    """
    try:
        with MAKING.setdefault(key, threading.RLock()):
            found = find()
            return make() if found is None else found
    finally:
        MAKING.pop(key, None)


forks.in_child(MAKING.clear)  # nobody is there who would let go of them
