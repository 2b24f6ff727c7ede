"""Pinned host memory: devices copy from it and to it by themselves, beside their work."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from typing import Any

import numpy as np
from cuda.bindings import driver as cu

from treadle.backends.cuda.buffers import room_of
from treadle.backends.cuda.driver import Mark, checked, gpu

PORTABLE = 1  # for every device
MOST_KEPT = 1 << 30  # bytes that wait to be used again


_LIVE: dict[int, int] = {}  # bytes by address
_RETURNED: deque[tuple[int, int, Mark | None]] = deque()  # by whoever let go, at any moment
_FREE: dict[int, list[tuple[int, Mark | None]]] = {}
_LOCK = threading.RLock()


class Block:
    """Pinned memory, used again when nobody holds the object and the copies it is in are done."""

    __slots__ = ("__weakref__", "address", "last", "room", "size")

    def __init__(self, address: int, size: int, room: int) -> None:
        self.address, self.size, self.room = address, size, room
        self.last: Mark | None = None  # when the last copy from or to it is done

    def __del__(self, live: dict[int, int] = _LIVE, returned: deque[Any] = _RETURNED) -> None:
        live.pop(self.address, None)  # named above: at the end of Python modules are empty
        returned.append((self.address, self.room, self.last))

    def array(self, dtype: Any, shape: tuple[int, ...]) -> Any:
        """The memory as an array, which keeps the object."""
        view: Any = (ctypes.c_ubyte * self.size).from_address(self.address)
        view.block = self
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(view, dtype, count).reshape(shape)


def allocate(nbytes: int) -> Block:
    """Pinned memory of at least nbytes."""
    room = room_of(nbytes)
    with _LOCK:
        while _RETURNED:
            address, size, last = _RETURNED.popleft()
            _FREE.setdefault(size, []).append((address, last))
        _shrink(MOST_KEPT)
        blocks = _FREE.get(room)
        if blocks:
            address, last = blocks.pop(0)  # the one that was let go of first
            if last is not None:
                checked(cu.cuEventSynchronize(last.handle))
        else:
            gpu(0).enter()
            address = int(checked(cu.cuMemHostAlloc(room, PORTABLE)))
        _LIVE[address] = room
        return Block(address, nbytes, room)


def _shrink(most: int) -> None:
    """Unpin blocks until no more than so many bytes are kept."""
    kept = sum(room * len(blocks) for room, blocks in _FREE.items())
    for room in sorted(_FREE, reverse=True):
        while kept > most and _FREE[room]:
            address, last = _FREE[room].pop(0)
            if last is not None:
                checked(cu.cuEventSynchronize(last.handle))
            checked(cu.cuMemFreeHost(address))
            kept -= room


def release() -> None:
    """Unpin what nobody holds."""
    with _LOCK:
        while _RETURNED:
            address, size, last = _RETURNED.popleft()
            _FREE.setdefault(size, []).append((address, last))
        _shrink(0)


def copied(array: Any) -> Any:
    """An array in pinned memory with the same elements."""
    made = allocate(array.nbytes).array(array.dtype, array.shape)
    np.copyto(made, array)
    return made


def holds(address: int) -> bool:
    """Is an address in pinned memory of ours?"""
    return any(start <= address < start + room for start, room in list(_LIVE.items()))
