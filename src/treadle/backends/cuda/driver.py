"""The CUDA driver: one context and stream per device, memory, modules, launches and graphs."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from cuda.bindings import driver as cu

from treadle.backends.cuda.compile import code_of
from treadle.backends.cuda.launch import Launch, Memory, Source, Tensor
from treadle.backends.cuda.tensor_maps import TensorMap
from treadle.base import forks
from treadle.base.errors import DeviceError, OutOfMemory, explain
from treadle.base.knobs import POOL_BYTES

GRAIN = 512  # bytes: sizes are multiples, and addresses are aligned to it
COARSE = 1 << 20  # larger blocks come in fewer sizes, so that freed ones fit again
PACK = {"fp32": "<f", "fp64": "<d"}
LARGE_SHARED = 48 << 10  # more shared memory than this must be asked for


def checked(result: Any) -> Any:
    """What a driver call returned, or the error it reports."""
    code, *values = result
    if code == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        raise OutOfMemory(explain("cuda", "no device memory left"))
    if code != cu.CUresult.CUDA_SUCCESS:
        raise DeviceError(explain("cuda", "the driver refused", code=code.name))
    return values[0] if len(values) == 1 else values


class Buffer:
    """Device memory, given back when the last reference to the object goes."""

    __slots__ = ("__weakref__", "address", "device", "room", "size")

    def __init__(self, address: int, size: int, room: int, device: Gpu) -> None:
        self.address, self.size, self.room, self.device = address, size, room, device

    def __del__(self) -> None:
        self.device.take_back(self.address, self.room)

    def __repr__(self) -> str:
        return f"<device buffer of {self.size} bytes at {self.address:#x}>"


class Loan:
    """Device memory that belongs to somebody else, who is told when nobody holds it any more."""

    __slots__ = ("__weakref__", "address", "home", "size")

    def __init__(self, buffer: Buffer, home: Any) -> None:
        self.address, self.size, self.home = buffer.address, buffer.size, home

    def __del__(self) -> None:
        self.home.append(self.address)


def room_of(nbytes: int) -> int:
    """The block handed out for a request."""
    if nbytes <= COARSE:
        return -(-max(nbytes, 1) // GRAIN) * GRAIN
    step = 1 << (nbytes.bit_length() - 4)  # eight sizes per doubling
    return -(-nbytes // step) * step


class Gpu:
    """One device. All work goes to one stream, so freed memory can be reused at once."""

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
        self.threads = threading.local()
        self.enter()
        self.stream = checked(cu.cuStreamCreate(1))  # does not wait for the default stream
        ask = cu.CUdevice_attribute
        major = self._attribute(ask.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = self._attribute(ask.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        self.architecture = 10 * major + minor
        self.processors = self._attribute(ask.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        self.functions: dict[Source, tuple[Any, int, int, list[Any]]] = {}
        self.free: dict[int, list[int]] = {}
        self.mapped = self.kept = 0  # bytes from the driver, and those of them that are free
        _devices.append(self)

    def _attribute(self, name: Any) -> int:
        return int(checked(cu.cuDeviceGetAttribute(name, self.device)))

    def enter(self) -> None:
        """Make the context current in this thread."""
        if not getattr(self.threads, "entered", False):
            self._require()
            checked(cu.cuCtxSetCurrent(self.context))
            self.threads.entered = True

    def leave(self) -> None:
        """In a forked child: the driver's state has stayed with the parent, memory with it."""
        self.lost, self.threads = True, threading.local()

    def _require(self) -> None:
        if self.lost:
            hint = "start the process by spawn, or fork before the first use of a device"
            wrong = "a device that was in use before a fork cannot be used after it, in the child"
            raise DeviceError(explain("cuda", wrong, hint))

    def wait(self) -> None:
        """Until everything asked for so far is done."""
        self.enter()
        checked(cu.cuStreamSynchronize(self.stream))

    # ---- memory

    def allocate(self, nbytes: int) -> Buffer:
        """Memory of at least nbytes."""
        room = room_of(nbytes)
        blocks = self.free.get(room)
        if blocks:
            self.kept -= room
            return Buffer(blocks.pop(), nbytes, room, self)
        self.enter()
        try:
            address = int(checked(cu.cuMemAllocAsync(room, self.stream)))
        except OutOfMemory:
            self.release()
            address = int(checked(cu.cuMemAllocAsync(room, self.stream)))
        self.mapped += room
        return Buffer(address, nbytes, room, self)

    def take_back(self, address: int, room: int) -> None:
        """Keep a block for the next request of its size."""
        self.free.setdefault(room, []).append(address)
        self.kept += room
        if self.kept > POOL_BYTES.value and not self.lost:
            self.release()

    def release(self) -> None:
        """Hand kept blocks to the driver."""
        self.enter()
        for blocks in self.free.values():
            while blocks:
                checked(cu.cuMemFreeAsync(blocks.pop(), self.stream))
        self.mapped -= self.kept
        self.kept = 0
        checked(cu.cuStreamSynchronize(self.stream))

    def write(self, address: int, source: int, nbytes: int) -> None:
        """Host memory to device memory; pageable memory is staged before this returns."""
        self.enter()
        if nbytes:
            checked(cu.cuMemcpyHtoDAsync(address, source, nbytes, self.stream))

    def read(self, target: int, address: int, nbytes: int) -> None:
        """Device memory to host memory, once it is computed."""
        self.enter()
        if nbytes:
            checked(cu.cuMemcpyDtoHAsync(target, address, nbytes, self.stream))
        checked(cu.cuStreamSynchronize(self.stream))

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Device memory to device memory."""
        self.enter()
        if nbytes:
            checked(cu.cuMemcpyDtoDAsync(target, source, nbytes, self.stream))

    # ---- code

    def load(self, source: Source) -> tuple[Any, int, int, list[Any]]:
        """(function, threads of a program, bytes of shared memory, tensors read by blocks)."""
        found = self.functions.get(source)
        if found is None:
            code = code_of(source, self.architecture)
            self.enter()
            module = checked(cu.cuModuleLoadData(code.cubin))
            function = checked(cu.cuModuleGetFunction(module, code.name.encode()))
            if code.shared > LARGE_SHARED:
                what = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                checked(cu.cuFuncSetAttribute(function, what, code.shared))
            found = (function, 32 * code.warps, code.shared, code.maps)
            self.functions[source] = found
        return found


class Call:
    """A launch with its arguments in the form the driver reads."""

    def __init__(self, gpu: Gpu, launch: Launch, places: dict[object, tuple[int, int]]) -> None:
        self.gpu, self.grid = gpu, launch.grid
        self.function, self.threads, self.shared, maps = gpu.load(launch.source)
        self.moving: list[tuple[int, int, int]] = []  # (cell, base, offset)
        self.maps: list[tuple[TensorMap, int, int]] = []
        cells: list[int | TensorMap] = []
        for (_, kind), value in zip(launch.source.types, launch.arguments, strict=True):
            if isinstance(value, Tensor):
                made = TensorMap(value, kind, *maps[len(self.maps)])
                self.maps.append((made, *places[value.buffer]))
                cells += [made, *value.extents, *value.strides]
            elif isinstance(value, Memory):
                self.moving.append((len(cells), *places[value.buffer]))
                cells.append(0)
            else:
                cells.append(encoded(kind, value))
        cells += [0, 0]  # Triton adds two scratch pointers
        count = len(cells)
        self.cells = (ctypes.c_uint64 * count)(*(x if isinstance(x, int) else 0 for x in cells))
        first = ctypes.addressof(self.cells)
        self.pointers = (ctypes.c_uint64 * count)(
            *(first + 8 * k if isinstance(x, int) else x.place for k, x in enumerate(cells))
        )
        self.address = ctypes.addressof(self.pointers)

    def aim(self, bases: Sequence[int]) -> None:
        """Fill in addresses."""
        for k, base, offset in self.moving:
            self.cells[k] = bases[base] + offset
        for made, base, offset in self.maps:
            made.aim(bases[base] + offset)

    def start(self) -> None:
        """Queue the kernel."""
        grid, block = (*self.grid, 1), (self.threads, 1, 1)
        where = self.shared, self.gpu.stream, self.address
        checked(cu.cuLaunchKernel(self.function, *grid, *block, *where, 0))


def encoded(kind: str, value: Any) -> int:
    """A number as the low bytes of a cell."""
    if kind in PACK:
        data = struct.pack(PACK[kind], clipped(value) if kind == "fp32" else value)
        return int.from_bytes(data, "little")
    return int(value) & ((1 << 64) - 1)


def clipped(value: float) -> float:
    """Numbers beyond float32 are infinite there."""
    return float(value) if abs(value) < 3.4028235e38 else value * float("inf")


class Graph:
    """Calls recorded once, started together."""

    def __init__(self, gpu: Gpu, calls: Sequence[Call]) -> None:
        self.gpu = gpu
        mode = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        checked(cu.cuStreamBeginCapture(gpu.stream, mode))
        try:
            for call in calls:
                call.start()
        finally:
            graph = checked(cu.cuStreamEndCapture(gpu.stream))
        self.executable = checked(cu.cuGraphInstantiate(graph, 0))
        checked(cu.cuGraphDestroy(graph))

    def start(self) -> None:
        """Queue all calls."""
        checked(cu.cuGraphLaunch(self.executable, self.gpu.stream))

    def __del__(self) -> None:
        # Where Python ends, modules may be gone before what they made.
        if cu is not None and hasattr(self, "executable") and not self.gpu.lost:
            cu.cuGraphExecDestroy(self.executable)


_devices: list[Gpu] = []  # in use, in this process or the one it was forked from


def _leave_all() -> None:
    for known in _devices:
        known.leave()


forks.in_child(_leave_all)


@cache
def gpu(index: int) -> Gpu:
    """The device of that number."""
    return Gpu(index)
