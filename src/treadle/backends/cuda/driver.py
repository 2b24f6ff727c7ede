"""The CUDA driver: a context and a stream for each device, memory, modules."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from cuda.bindings import driver as cu

from treadle.backends.cuda.buffers import Buffer, room_of
from treadle.backends.cuda.compile import Code, codes_of
from treadle.backends.cuda.launch import Launch, Source
from treadle.backends.cuda.naming import LENGTH, named
from treadle.backends.exhausted import exhausted
from treadle.base import forks
from treadle.base.errors import DeviceError, OutOfMemory, explain
from treadle.base.knobs import POOL_BYTES
from treadle.ir.recording import user_site

HOST = 1  # the driver's number of memory that is pinned
LARGE_SHARED = 48 << 10  # more shared memory than this must be asked for


def checked(result: Any) -> Any:
    """What a driver call returned, or the error it reports."""
    code, *values = result
    if code == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        raise OutOfMemory(explain("cuda", "no device memory left"))
    if code != cu.CUresult.CUDA_SUCCESS:
        raise DeviceError(explain("cuda", "the driver refused", code=code.name))
    return values[0] if len(values) == 1 else values


class Mark:
    """An event of the driver's, gone with the object."""

    def __init__(self) -> None:
        self.handle = checked(cu.cuEventCreate(0))

    def __del__(self) -> None:
        if cu is not None and hasattr(self, "handle"):
            cu.cuEventDestroy(self.handle)


Loaded = tuple[Any, int, int, list[Any]]
"""(function, threads of a program, bytes of shared memory, tensors read by blocks)"""


class Current(threading.local):
    """The device whose context a thread is in."""

    gpu: Gpu | None = None


_CURRENT = Current()


class Gpu:
    """One device. All work goes to one stream, so freed memory can be reused at once.

    Who starts work holds the lock: what threads start is in the order in which they took memory.
    """

    def __init__(self, index: int) -> None:
        self.lost: bool = any(known.lost for known in _devices)
        self._require()
        try:
            checked(cu.cuInit(0))
            self.device = checked(cu.cuDeviceGet(index))
        except RuntimeError as error:
            hint = "is there an NVIDIA driver, and a device of that number?"
            raise DeviceError(explain(f"cuda:{index}", f"not available: {error}", hint)) from error
        self.context = checked(cu.cuDevicePrimaryCtxRetain(self.device))
        name = checked(cu.cuDeviceGetName(128, self.device))
        self.name = name.split(b"\0")[0].decode() if isinstance(name, bytes) else ""
        self.lock = threading.RLock()  # a finalizer may come in between
        self.enter()
        self.stream = self.home = self.new_stream()
        self.entered: list[Any] = []  # streams that do all work for a while, the newest last
        ask = cu.CUdevice_attribute
        major = self._attribute(ask.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = self._attribute(ask.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        self.architecture = 10 * major + minor
        self.processors = self._attribute(ask.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        self.functions: dict[tuple[Source, str], Loaded] = {}
        self.free: dict[int, list[int]] = {}
        self.returned: deque[tuple[int, int]] = deque()  # by whoever let go of them, at any moment
        self.mapped = self.kept = 0  # bytes from the driver, and those of them that are free
        self.working: Buffer | None = None
        self.chores: list[Callable[[], None]] = []  # before memory is taken, under the lock
        self.reliefs: list[Callable[[], None]] = []  # where there is too little, or all is to go
        self.beside: list[Any] = []  # streams whose work the main one does not always wait for
        _devices.append(self)

    def _attribute(self, name: Any) -> int:
        return int(checked(cu.cuDeviceGetAttribute(name, self.device)))

    def enter(self) -> None:
        """Make the context current in this thread."""
        if _CURRENT.gpu is not self:
            self._require()
            checked(cu.cuCtxSetCurrent(self.context))
            _CURRENT.gpu = self

    def leave(self) -> None:
        """In a forked child: the driver's state has stayed with the parent, memory with it."""
        self.lost, self.lock, _CURRENT.gpu = True, threading.RLock(), None

    def _require(self) -> None:
        if self.lost:
            hint = "start the process by spawn, or fork before the first use of a device"
            wrong = "a device that was in use before a fork cannot be used after it, in the child"
            raise DeviceError(explain("cuda", wrong, hint))

    def wait(self) -> None:
        """Until everything asked for so far is done."""
        self.enter()
        checked(cu.cuStreamSynchronize(self.stream))

    def wait_for_all(self) -> None:
        """The same, copies that go on beside it too."""
        self.wait()
        for stream in self.beside:
            checked(cu.cuStreamSynchronize(stream))

    def mark(self, stream: Any = None) -> Mark:
        """An event that comes when everything asked for so far is done, here or of a stream."""
        self.enter()
        with self.lock:
            event = Mark()
            checked(cu.cuEventRecord(event.handle, self.stream if stream is None else stream))
        return event

    def follow(self, mark: Mark, stream: Any = None) -> None:
        """Let what is asked for from now on, here or of a stream, come after an event."""
        self.enter()
        with self.lock:
            after = self.stream if stream is None else stream
            checked(cu.cuStreamWaitEvent(after, mark.handle, 0))

    def new_stream(self) -> Any:
        """A stream of its own, which does not wait for the default one."""
        self.enter()
        return checked(cu.cuStreamCreate(1))

    def end_stream(self, stream: Any) -> None:
        """Let a stream go, once what was asked of it is done."""
        if cu is not None and not self.lost:
            self.enter()
            cu.cuStreamDestroy(stream)

    def begin_on(self, stream: Any) -> None:
        """Have another stream, an object with its handle, do all work from now on.

        It does so for every thread: memory is handed on in the order in which work was asked for.
        """
        with self.lock:
            self._switch(stream.handle)
            self.entered.append(stream)

    def end_on(self, stream: Any) -> None:
        """Have it done by who was asked before and has not ended; threads end in any order."""
        with self.lock:
            last = max(k for k, other in enumerate(self.entered) if other == stream)
            del self.entered[last]
            self._switch(self.entered[-1].handle if self.entered else self.home)

    def _switch(self, stream: Any) -> None:
        """Go on with a stream, after what was asked for."""
        self.enter()
        if int(self.stream) != int(stream):
            self.follow(self.mark(), stream)
            self.stream = stream

    def wait_for(self, mark: Mark) -> None:
        """Until it has come."""
        self.enter()
        checked(cu.cuEventSynchronize(mark.handle))

    def has_come(self, mark: Mark) -> bool:
        """Has it?"""
        self.enter()
        return bool(cu.cuEventQuery(mark.handle)[0] == cu.CUresult.CUDA_SUCCESS)

    def between(self, first: Mark, last: Mark) -> float:
        """Milliseconds."""
        return float(checked(cu.cuEventElapsedTime(first.handle, last.handle)))

    def room(self) -> tuple[int, int]:
        """Bytes of the device that are free, and all."""
        self.enter()
        free, total = checked(cu.cuMemGetInfo())
        return int(free), int(total)

    # ---- memory

    def allocate(self, nbytes: int) -> Buffer:
        """Memory of at least nbytes."""
        self.enter()
        with self.lock:
            self._sort()
            for chore in self.chores:
                chore()
            room = room_of(nbytes)
            blocks = self.free.get(room)
            if blocks:
                self.kept -= room
                return Buffer(blocks.pop(), nbytes, room, self)
            return Buffer(self.mapping(room, self.stream), nbytes, room, self)

    def zeros(self, nbytes: int) -> Buffer:
        """Memory of zeros."""
        with self.lock:
            made = self.allocate(nbytes)
            checked(cu.cuMemsetD8Async(made.address, 0, nbytes, self.stream))
        return made

    def mapping(self, room: int, stream: Any) -> int:
        """The address of a new block; what is kept goes where there is too little."""
        try:
            address = int(checked(cu.cuMemAllocAsync(room, stream)))
        except OutOfMemory:
            pooled = self.kept
            self._free(0)
            for relieve in self.reliefs:
                relieve()
            checked(cu.cuStreamSynchronize(self.stream))
            address = self._last_resort(room, stream, pooled)
        self.mapped += room
        return address

    def _last_resort(self, room: int, stream: Any, pooled: int) -> int:
        try:
            return int(checked(cu.cuMemAllocAsync(room, stream)))
        except OutOfMemory as error:
            free, total = self.room()
            working = 0 if self.working is None else self.working.room
            sizes = {
                "asked for": room, "held by tensors": self.mapped - working,
                "programs work in": working, "pooled, given back": pooled, "free": free,
            }  # fmt: skip
            facts = {name: f"{value / 2**30:.2f} GiB" for name, value in sizes.items()}
            facts["at"] = user_site()
            hint = f"of {total / 2**30:.1f} GiB; try smaller batches, td.checkpoint, or del"
            raise exhausted("cuda", "cuda", "no device memory left", hint, **facts) from error

    def arena(self, nbytes: int) -> int:
        """Where working memory lies: one place for all programs, which run one after the other."""
        if not nbytes:
            return 0
        if self.working is None or self.working.size < nbytes:
            self.working = None
            self.working = self.allocate(nbytes)
        return self.working.address

    def take_back(self, address: int, room: int) -> None:
        """A block for the next request of its size: from any thread, in the middle of anything."""
        self.returned.append((address, room))

    def _sort(self) -> None:
        while self.returned:
            address, room = self.returned.popleft()
            self.free.setdefault(room, []).append(address)
            self.kept += room
        if self.kept > POOL_BYTES.value:
            self._free(POOL_BYTES.value // 2)

    def _free(self, most: int) -> None:
        """Hand kept blocks to the driver, the largest first, until so many bytes are left."""
        for room in sorted(self.free, reverse=True):
            blocks = self.free[room]
            while blocks and self.kept > most:
                checked(cu.cuMemFreeAsync(blocks.pop(), self.stream))
                self.mapped -= room
                self.kept -= room

    def release(self) -> None:
        """Hand all that is kept to the driver, and what programs work in: they take it again."""
        self.enter()
        with self.lock:
            self.working = None
            self._sort()
            self._free(0)
            for relieve in self.reliefs:
                relieve()
            checked(cu.cuStreamSynchronize(self.stream))

    def write(self, address: int, source: int, nbytes: int) -> None:
        """Host memory to device memory; when this returns, the source may change.

        Pageable memory is staged by then; what somebody has pinned is waited for.
        """
        self.enter()
        with self.lock:
            if nbytes:
                checked(cu.cuMemcpyHtoDAsync(address, source, nbytes, self.stream))
        if nbytes and is_locked(source):
            self.wait()

    def read(self, target: int, address: int, nbytes: int) -> None:
        """Device memory to host memory, once it is computed."""
        self.enter()
        with self.lock:
            if nbytes:
                checked(cu.cuMemcpyDtoHAsync(target, address, nbytes, self.stream))
        checked(cu.cuStreamSynchronize(self.stream))

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Device memory to device memory."""
        self.enter()
        with self.lock:
            if nbytes:
                checked(cu.cuMemcpyDtoDAsync(target, source, nbytes, self.stream))

    # ---- code

    def prepare(self, launches: Iterable[Launch]) -> None:
        """Compile what is missing and load it, under the names it is wanted by."""
        wanted = dict.fromkeys((launch.source, launch.name) for launch in launches)
        missing = [key for key in wanted if key not in self.functions]
        codes = codes_of((source for source, _ in missing), self.architecture)
        for source, name in missing:
            self.functions[source, name] = self._loaded(codes[source], name)

    def _loaded(self, code: Code, name: str) -> Loaded:
        self.enter()
        module = checked(cu.cuModuleLoadData(named(code.cubin, name)))
        function = checked(cu.cuModuleGetFunction(module, name.encode()[:LENGTH]))
        if code.shared > LARGE_SHARED:
            what = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            checked(cu.cuFuncSetAttribute(function, what, code.shared))
        return (function, 32 * code.warps, code.shared, code.maps)


def is_locked(address: int) -> bool:
    """Is host memory pinned, by whomever, so that a device copies from it at its own time?"""
    attribute = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    code, kind = cu.cuPointerGetAttribute(attribute, address)
    return bool(code == cu.CUresult.CUDA_SUCCESS and int(kind) == HOST)


_devices: list[Gpu] = []  # in use, in this process or the one it was forked from


def _leave_all() -> None:
    for known in _devices:
        known.leave()


forks.in_child(_leave_all)


def count() -> int:
    """How many devices there are."""
    if cu.cuInit(0)[0] != cu.CUresult.CUDA_SUCCESS:
        return 0
    return int(checked(cu.cuDeviceGetCount()))


@cache
def gpu(index: int) -> Gpu:
    """The device of that number."""
    return Gpu(index)
