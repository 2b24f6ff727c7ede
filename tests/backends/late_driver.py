"""A driver that does nothing before somebody waits for it, and then no more than is waited for.

Work is queued on streams. Where an order is not asked for, the worst one comes about: what nothing
depends on runs last, after memory was used for something else.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from functools import partial

import numpy as np
from fake_driver import OK, CUresult, FakeDriver

LEGACY, PER_THREAD = 1, 2


class LateDriver(FakeDriver):
    """The same calls, carried out late."""

    def __init__(self, limit=1 << 30):
        super().__init__(limit)
        self.queues = {LEGACY: [], PER_THREAD: []}  # of streams, and how far each has come
        self.ran = {LEGACY: 0, PER_THREAD: 0}
        self.events = {}  # to the stream and the place where it was recorded
        self.numbers = itertools.count(0x1000, 16)
        self.pinned = {}
        self.buried = []
        self.lock = threading.RLock()
        for name in dir(type(self)):
            if name.startswith("cu"):
                setattr(self, name, partial(self._alone, getattr(self, name)))

    def _alone(self, call, *given):
        """A call that no other thread is beside: neither queues nor the interpreter take two."""
        with self.lock:
            return call(*given)

    # ---- streams and events

    def _queue(self, stream, work):
        self.queues[int(stream)].append(work)

    def _advance(self, stream, end):
        queue = self.queues.get(stream, [])  # a stream that is gone has done all
        while queue and self.ran[stream] < end:
            work = queue[self.ran[stream]]
            self.ran[stream] += 1
            try:
                work()
            except BaseException:  # what comes after it may write where nobody waits any more
                self.ran = {number: len(works) for number, works in self.queues.items()}
                raise

    def cuMemsetD8Async(self, address, value, nbytes, stream):
        self._queue(stream, lambda: ctypes.memset(address, value, nbytes))
        return (OK,)

    def cuStreamCreate(self, _):
        number = next(self.numbers)
        self.queues[number], self.ran[number] = [], 0
        return OK, number

    def cuStreamDestroy(self, stream):
        self._advance(stream, len(self.queues[stream]))
        del self.queues[stream], self.ran[stream]
        return (OK,)

    def cuStreamSynchronize(self, stream):
        self.waited += 1
        self._advance(int(stream), len(self.queues[int(stream)]))
        return (OK,)

    def cuCtxSynchronize(self):
        for stream in self.queues:
            self._advance(stream, len(self.queues[stream]))
        return (OK,)

    def cuEventCreate(self, _):
        return OK, next(self.numbers)

    def cuEventDestroy(self, event):
        self.events.pop(event, None)
        return (OK,)

    def cuEventRecord(self, event, stream):
        if int(stream) not in self.queues:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        self.events[event] = int(stream), len(self.queues[int(stream)])
        return (OK,)

    def cuStreamWaitEvent(self, stream, event, _):
        if event in self.events:
            place = self.events[event]
            self._queue(stream, lambda: self._advance(*place))
        return (OK,)

    def cuEventSynchronize(self, event):
        self._advance(*self.events[event])
        return (OK,)

    def cuEventQuery(self, event):
        stream, place = self.events[event]
        come = self.ran.get(stream, place) >= place
        return (OK if come else CUresult.CUDA_ERROR_NOT_READY,)

    def cuEventElapsedTime(self, *_):
        return OK, 1.0

    # ---- work

    def cuMemcpyHtoDAsync(self, target, source, nbytes, stream):
        if self.is_pinned(source):
            self._queue(stream, lambda: ctypes.memmove(target, source, nbytes))
        else:  # staged
            staged = ctypes.string_at(source, nbytes)
            self._queue(stream, lambda: ctypes.memmove(target, staged, nbytes))
        return (OK,)

    def cuMemcpyDtoHAsync(self, target, source, nbytes, stream):
        self._queue(stream, lambda: ctypes.memmove(target, source, nbytes))
        return (OK,)

    cuMemcpyDtoDAsync = cuMemcpyDtoHAsync

    def cuLaunchKernel(self, source, x, y, z, *rest):
        *_, stream, address, _ = rest
        arguments = self._arguments(source, address)
        self.launched += 1
        self._queue(stream, lambda: FakeDriver._run(self, source, (x, y, z), arguments))
        return (OK,)

    def _work(self, node):
        arguments = self._arguments(node.func, node.kernelParams)
        grid = node.gridDimX, node.gridDimY, node.gridDimZ
        return lambda: FakeDriver._run(self, node.func, grid, arguments)

    def cuGraphLaunch(self, executable, stream):
        self.replayed += 1
        for work in list(executable.values()):
            self._queue(stream, work)
        return (OK,)

    # ---- memory

    def cuMemFreeAsync(self, address, stream):
        self._queue(stream, lambda: self._bury(self.memory.pop(address)))
        return (OK,)

    def _bury(self, block):
        """Whoever reads it still finds nonsense."""
        block.fill(0xEE)
        self.buried.append(block)

    def cuMemHostAlloc(self, nbytes, _):
        block = np.full(nbytes, 0xCC, np.uint8)
        self.pinned[block.ctypes.data] = block
        return OK, block.ctypes.data

    def cuMemFreeHost(self, address):
        self._bury(self.pinned.pop(address))
        return (OK,)

    def is_pinned(self, address):
        return any(start <= address < start + len(x) for start, x in self.pinned.items())

    def cuPointerGetAttribute(self, _, address):
        return (OK, 1) if self.is_pinned(address) else (CUresult.CUDA_ERROR_INVALID_VALUE, 0)
