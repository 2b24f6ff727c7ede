"""A CUDA driver in host memory that runs kernels through Triton's interpreter."""

from __future__ import annotations

import contextlib
import ctypes
import enum
import importlib
import struct
import sys
import types

import numpy as np
from ptx_host import run_blocks
from triton_host import Host, quicken, tensor_of

from treadle.backends import registry
from treadle.base.device import device
from treadle.runtime import realize

CUresult = enum.Enum(
    "CUresult",
    {
        "CUDA_SUCCESS": 0,
        "CUDA_ERROR_INVALID_VALUE": 1,
        "CUDA_ERROR_OUT_OF_MEMORY": 2,
        "CUDA_ERROR_INVALID_HANDLE": 400,
        "CUDA_ERROR_NOT_READY": 600,
    },
)
OK = CUresult.CUDA_SUCCESS
ATTRIBUTES = {
    "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": 9,
    "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR": 0,
    "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT": 132,
}


NEAR_THE_DRIVER = (
    "driver",
    "pinned",
    "beside",
    "shared",
    "calls",
    "segments",
    "show",
    "recorded",
    "execute",
    "timing",
    "watched",
    "backend",
)  # modules that import it


def latest_first(graph):
    """An order that a graph allows: of what may start, always what was added last."""
    left = {id(node): set(before) for node, before in graph}
    found = []
    while left:
        key = [key for key, before in left.items() if not before][-1]
        del left[key]
        found.append(key)
        for before in left.values():
            before.discard(key)
    return found


class FakeDriver(types.ModuleType):
    """The calls our driver makes, each returning (result, values...)."""

    CUresult = CUresult
    CUdevice_attribute = types.SimpleNamespace(**{name: name for name in ATTRIBUTES})
    CUfunction_attribute = types.SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)
    CUpointer_attribute = types.SimpleNamespace(CU_POINTER_ATTRIBUTE_MEMORY_TYPE=2)
    CUDA_KERNEL_NODE_PARAMS = types.SimpleNamespace

    def __init__(self, limit=1 << 30):
        super().__init__("cuda.bindings.driver")
        self.memory, self.sources, self.limit = {}, {}, limit
        self.launched = self.replayed = self.changed = self.waited = 0
        self.contexts = []  # that threads went into

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)
        return lambda *_: (OK, 0)  # contexts, streams, events

    def cuDeviceGet(self, index):
        return OK, index

    def cuDevicePrimaryCtxRetain(self, device):
        return OK, device

    def cuCtxSetCurrent(self, context):
        self.contexts.append(context)
        return (OK,)

    def cuStreamSynchronize(self, _):
        self.waited += 1
        return (OK,)

    def cuDeviceGetAttribute(self, name, _):
        return OK, ATTRIBUTES[name]

    def cuMemAllocAsync(self, nbytes, _):
        if sum(block.nbytes for block in self.memory.values()) + nbytes > self.limit:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        block = np.full(nbytes, 0xCD, np.uint8)
        self.memory[block.ctypes.data] = block
        return OK, block.ctypes.data

    def cuMemFreeAsync(self, address, _):
        del self.memory[address]
        return (OK,)

    def cuMemsetD8Async(self, address, value, nbytes, _):
        ctypes.memset(address, value, nbytes)
        return (OK,)

    def _move(self, target, source, nbytes, _):
        ctypes.memmove(target, source, nbytes)
        return (OK,)

    cuMemcpyHtoDAsync = cuMemcpyDtoHAsync = cuMemcpyDtoDAsync = _move

    def cuModuleLoadData(self, cubin):
        return OK, cubin

    def cuModuleGetFunction(self, module, _):
        return OK, self.sources[module]

    def cuMemGetInfo(self):
        return OK, 0, self.limit

    def cuGraphCreate(self, _):
        return OK, []

    def cuGraphAddKernelNode(self, graph, before, count, node):
        assert len(before) == count
        graph.append((node, [id(x) for x in before]))
        return OK, node

    def cuGraphInstantiate(self, graph, _):
        work = {id(node): self._work(node) for node, _ in graph}
        return OK, {key: work[key] for key in latest_first(graph)}

    def cuGraphExecKernelNodeSetParams(self, executable, node, parameters):
        self.changed += 1
        executable[id(node)] = self._work(parameters)
        return (OK,)

    def cuGraphLaunch(self, executable, _):
        self.replayed += 1
        for work in executable.values():
            work()
        return (OK,)

    def _work(self, node):
        """What a node does; its arguments are read now, as the driver does."""
        arguments = self._arguments(node.func, node.kernelParams)
        grid = node.gridDimX, node.gridDimY, node.gridDimZ
        return lambda: self._run(node.func, grid, arguments)

    def _arguments(self, source, address):
        places = iter(range(address, address + (1 << 16), 8))
        return [_argument(places, kind) for _, kind in source.types]

    def cuLaunchKernel(self, source, x, y, z, *rest):
        *_, address, _ = rest
        self.launched += 1
        self._run(source, (x, y, z), self._arguments(source, address))
        return (OK,)

    def _run(self, source, grid, arguments):
        from treadle.backends.cuda.hand import PTX, function

        if source.text.startswith(PTX):
            self._run_in_step(source, grid, arguments)
            return
        quicken()
        with np.errstate(all="ignore"):
            function(source.text, "kernel")[grid](*arguments, **dict(source.constants))

    def _run_in_step(self, source, grid, arguments):
        """A kernel in PTX, on whatever memory there is."""
        given = [x.address if isinstance(x, Host) else x for x in arguments]
        names = [name for name, _ in source.types]
        ranges = [(at, at + block.nbytes) for at, block in self.memory.items()]
        shared = dict(source.constants)["shared"]
        named = dict(zip(names, given, strict=True))
        run_blocks(source.text, source.warps, shared, grid[0], named, ranges)


def _argument(places, kind):
    at = ctypes.c_uint64.from_address(next(places)).value
    if kind.startswith("tensordesc"):  # its map, extents and strides
        rank = kind.count(",") + 1
        numbers = [_argument(places, word) for word in ("i32", "i64") for _ in range(rank)]
        base = ctypes.c_uint64.from_address(at).value
        return tensor_of(base, kind, numbers[:rank], numbers[rank:])
    raw = bytes((ctypes.c_uint8 * 8).from_address(at))
    if kind[0] == "*":
        return Host(int.from_bytes(raw, "little"), kind)
    if kind in ("fp32", "fp64"):
        return struct.unpack("<f" if kind == "fp32" else "<d", raw[: int(kind[2:]) // 8])[0]
    return int.from_bytes(raw[: int(kind[1:]) // 8], "little", signed=kind[0] == "i")


@contextlib.contextmanager
def as_cuda(patch, kind=FakeDriver):
    """The fake driver, with a backend on it as td's device "cuda"."""
    patch.setitem(registry.BACKENDS, "cuda", "treadle.backends.cuda.backend:Cuda")
    fake, _ = install(patch, kind)
    registry.backend_of.cache_clear()
    try:
        yield fake
    finally:
        realize.forget()
        registry.backend_of.cache_clear()
        registry.LOADED.pop(device("cuda"), None)
        for name in NEAR_THE_DRIVER:
            sys.modules.pop(f"treadle.backends.cuda.{name}", None)


def install(patch, kind=FakeDriver):
    """Put a fake driver in place of cuda.bindings; returns (driver, a backend on it)."""
    fake = kind()
    package = types.ModuleType("cuda")
    bindings = types.ModuleType("cuda.bindings")
    package.bindings, bindings.driver = bindings, fake
    for module in (package, bindings, fake):
        patch.setitem(sys.modules, module.__name__, module)
    for name in NEAR_THE_DRIVER:
        patch.delitem(sys.modules, f"treadle.backends.cuda.{name}", raising=False)
    backend = importlib.import_module("treadle.backends.cuda.backend")
    from treadle.backends.cuda.compile import Code

    def code_of(source, _):
        key = str(len(fake.sources)).encode()
        fake.sources[key] = source
        blocks = [[3, [1]] for _, kind in source.types if kind.startswith("tensordesc")]
        return Code(key, "kernel", 64 << 10, source.warps, blocks)

    def encode(place, _, __, address, *___):
        ctypes.c_uint64.from_address(place.value).value = address.value
        return 0

    patch.setattr("treadle.backends.cuda.compile.code_of", code_of)

    def ready(function, grid, threads, shared, stream, address):
        sizes = *grid, 1, threads, 1, 1, shared
        return lambda: fake.cuLaunchKernel(function, *sizes, stream, address, 0)[0].value

    patch.setattr("treadle.backends.cuda.tensor_maps.encoder", lambda: encode)
    patch.setattr("treadle.backends.cuda.calls.ready", ready)
    return fake, backend.Cuda(0)
