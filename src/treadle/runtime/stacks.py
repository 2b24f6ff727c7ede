"""A stack that every thread has for itself."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class ThreadStack(threading.local, Generic[T]):
    """What a thread is in the middle of; empty in every other thread."""

    def __init__(self) -> None:
        self.items: list[T] = []

    def __bool__(self) -> bool:
        return bool(self.items)

    @property
    def top(self) -> T:
        """The item pushed last."""
        return self.items[-1]

    def push(self, item: T) -> None:
        """Begin something."""
        self.items.append(item)

    def pop(self) -> None:
        """End what began last."""
        self.items.pop()
