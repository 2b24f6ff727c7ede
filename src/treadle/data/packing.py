"""How a batch goes from one process to another: arrays by shared memory, the rest as a message.

A worker writes the arrays of a batch into a piece of memory without a name, and sends its handle
the first time. The parent's arrays lie in that memory; when the last of them is gone the worker may
use it again. Memory without a name vanishes with its processes, however they end. Small batches and
systems without such memory, send the bytes themselves.
"""

from __future__ import annotations

import mmap
import os
import pickle
import weakref
from collections import deque
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

SMALL = 1 << 16  # bytes that a message carries as well
ALIGNED = 64  # so that tensors can lie over the arrays
HAS_MEMORY = hasattr(os, "memfd_create")


class _Piece:
    """Memory of a worker that the parent can map."""

    def __init__(self, number: int, size: int) -> None:
        self.number, self.size = number, size
        self.handle = os.memfd_create("treadle-batch")
        os.ftruncate(self.handle, size)
        self.memory = mmap.mmap(self.handle, size)

    def close(self) -> None:
        """Unmap it here; the parent's mapping is its own."""
        self.memory.close()
        os.close(self.handle)


class Sender:
    """The worker's end."""

    def __init__(self, connection: Connection[Any, Any], parent: int) -> None:
        self.connection, self.parent = connection, parent
        self._pieces: dict[int, _Piece] = {}
        self._free: list[_Piece] = []
        self._made = 0

    def give_back(self, numbers: list[int]) -> None:
        """The parent reads these pieces no more."""
        self._free += [self._pieces[number] for number in numbers]

    def send(self, message: Any) -> None:
        """A message with arrays in it."""
        kept: list[pickle.PickleBuffer] = []
        data = pickle.dumps(message, protocol=5, buffer_callback=kept.append)
        raws = [one.raw() for one in kept]
        total = sum(-(-raw.nbytes // ALIGNED) * ALIGNED for raw in raws)
        if total < SMALL or not HAS_MEMORY:
            self.connection.send((None, 0, [], [raw.nbytes for raw in raws], data))
            for raw in raws:
                self.connection.send_bytes(raw)
            return
        piece, is_new, dropped = self._piece(total)
        at = 0
        for raw in raws:
            piece.memory[at : at + raw.nbytes] = raw
            at += -(-raw.nbytes // ALIGNED) * ALIGNED
        sizes = [raw.nbytes for raw in raws]
        self.connection.send((piece.number, piece.size if is_new else 0, dropped, sizes, data))
        if is_new:
            reduction.send_handle(self.connection, piece.handle, self.parent)

    def _piece(self, size: int) -> tuple[_Piece, bool, list[int]]:
        """A free piece that is large enough, is it new, and what was given up for it."""
        for place, piece in enumerate(self._free):
            if piece.size >= size:
                return self._free.pop(place), False, []
        dropped = [piece.number for piece in self._free]
        while self._free:
            piece = self._free.pop()
            del self._pieces[piece.number]
            piece.close()
        self._made += 1
        piece = _Piece(self._made, -(-size // mmap.PAGESIZE) * mmap.PAGESIZE)
        self._pieces[piece.number] = piece
        return piece, True, dropped


class Receiver:
    """The parent's end."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self.connection = connection
        self._mapped: dict[int, mmap.mmap] = {}
        self.unread: deque[int] = deque()  # filled by finalizers, in any thread

    def receive(self) -> Any:
        """The next message; its arrays lie in memory that is the worker's once they are gone."""
        number, size, dropped, sizes, data = self.connection.recv()
        for gone in dropped:
            del self._mapped[gone]
        if number is None:
            return pickle.loads(
                data, buffers=[bytearray(self.connection.recv_bytes()) for _ in sizes]
            )
        if size:
            handle = reduction.recv_handle(self.connection)
            try:
                self._mapped[number] = mmap.mmap(handle, size)
            finally:
                os.close(handle)
        whole = np.frombuffer(self._mapped[number], np.uint8)
        weakref.finalize(whole, self.unread.append, number).atexit = False
        parts, at = [], 0
        for nbytes in sizes:
            parts.append(whole[at : at + nbytes])
            at += -(-nbytes // ALIGNED) * ALIGNED
        return pickle.loads(data, buffers=parts)

    def take_unread(self) -> list[int]:
        """The pieces that nobody reads any more."""
        taken = []
        while self.unread:
            taken.append(self.unread.popleft())
        return taken
