"""Copies that a device makes beside its work, on a stream of their own.

What comes to the device lies in blocks that only such copies fill: a block is filled again once the
work is done that was asked for when it was let go of. So a copy never waits for what is computed
just now; what is asked for after the copy waits for it. What goes to the host lands in pinned
memory and is waited for by whoever looks at it.
"""

from __future__ import annotations

from collections import deque
from typing import Any
from weakref import WeakKeyDictionary

from cuda.bindings import driver as cu

from treadle.backends.cuda.buffers import Buffer, room_of
from treadle.backends.cuda.driver import Gpu, Mark, checked
from treadle.backends.cuda.pinned import Block, allocate
from treadle.base.knobs import POOL_BYTES


class Landing(Buffer):
    """Device memory that a copy has filled."""

    __slots__ = ("home",)

    def __init__(self, address: int, size: int, room: int, home: Beside) -> None:
        super().__init__(address, size, room, home.gpu)
        self.home = home

    def __del__(self) -> None:
        self.home.returned.append((self.address, self.room))


class Landed:
    """Pinned memory on its way to being filled."""

    def __init__(self, block: Block, mark: Mark) -> None:
        self.block, block.last = block, mark


class Beside:
    """The copies of one device."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.stream = gpu.new_stream()
        gpu.beside.append(self.stream)
        gpu.reliefs.append(self.release)
        self.returned: deque[tuple[int, int]] = deque()
        self.free: dict[int, list[tuple[int, Mark]]] = {}  # with the work that comes before
        self.kept = 0
        self.sources: deque[tuple[Mark, Any]] = deque()  # until they are read
        self.landed: WeakKeyDictionary[Any, Landed] = WeakKeyDictionary()

    def upload(self, source: Any, nbytes: int) -> Buffer:
        """New device memory that host memory is copied to; source is an array that stays as it is.

        From pageable memory it is copied when this returns, from pinned memory at some time.
        """
        gpu = self.gpu
        gpu.enter()
        with gpu.lock:
            while self.sources and gpu.has_come(self.sources[0][0]):
                self.sources.popleft()
            buffer = self._block(nbytes)
            if nbytes:
                address = source.ctypes.data
                checked(cu.cuMemcpyHtoDAsync(buffer.address, address, nbytes, self.stream))
                mark = gpu.mark(self.stream)
                gpu.follow(mark)
                self.sources.append((mark, source))
        return buffer

    def begin(self, buffer: Any, nbytes: int) -> None:
        """Copy device memory to the host, once it is computed; `landed_of` has it then."""
        gpu = self.gpu
        gpu.enter()
        with gpu.lock:
            if buffer in self.landed or not nbytes:
                return
            block = allocate(nbytes)
            gpu.follow(gpu.mark(), self.stream)
            checked(cu.cuMemcpyDtoHAsync(block.address, buffer.address, nbytes, self.stream))
            self.landed[buffer] = Landed(block, gpu.mark(self.stream))

    def landed_of(self, buffer: Any) -> Block | None:
        """What was begun for a buffer, once it is there."""
        found = self.landed.pop(buffer, None)
        if found is None:
            return None
        if found.block.last is not None:
            self.gpu.wait_for(found.block.last)
        return found.block

    def _block(self, nbytes: int) -> Landing:
        self._sort()
        room = room_of(nbytes)
        blocks = self.free.get(room)
        if blocks:
            address, mark = blocks.pop(0)  # the one whose work is done first
            self.gpu.follow(mark, self.stream)
            self.kept -= room
        else:
            address = self.gpu.mapping(room, self.stream)
        return Landing(address, nbytes, room, self)

    def _sort(self) -> None:
        if self.returned:
            mark = self.gpu.mark()
            while self.returned:
                address, room = self.returned.popleft()
                self.free.setdefault(room, []).append((address, mark))
                self.kept += room
        if self.kept > POOL_BYTES.value // 4:
            self._give_back()

    def _give_back(self) -> None:
        """Kept blocks to the driver, after the work that is asked for."""
        for room, blocks in self.free.items():
            for address, _ in blocks:
                checked(cu.cuMemFreeAsync(address, self.gpu.stream))
                self.gpu.mapped -= room
        self.free.clear()
        self.kept = 0

    def release(self) -> None:
        """All kept blocks to the driver."""
        self._sort()
        self._give_back()
