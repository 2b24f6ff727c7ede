"""Kernels with their arguments in the driver's form: one call, and many as a graph."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

from cuda.bindings import driver as cu

from treadle.backends.cuda.driver import Gpu, checked
from treadle.backends.cuda.hazards import spans_of, waits
from treadle.backends.cuda.launch import Launch, Memory, Places, Tensor
from treadle.backends.cuda.native import ready
from treadle.backends.cuda.sized import Exact, Number, Sizes
from treadle.backends.cuda.tensor_maps import TensorMap
from treadle.base.sizes import Size

PACK = {"fp32": "<f", "fp64": "<d"}


class Call:
    """A launch with its arguments in the form the driver reads."""

    def __init__(self, gpu: Gpu, sizes: Sizes, launch: Launch, place: Places) -> None:
        self.gpu, self.grid, self.step = gpu, launch.grid, launch.step
        self.function, self.threads, self.shared, maps = gpu.functions[launch.source, launch.name]
        self.moving: list[tuple[int, int, int]] = []  # (cell, base, offset)
        self.maps: list[tuple[TensorMap, int, int]] = []
        words: list[tuple[str, Any]] = []
        for (_, kind), value in zip(launch.source.types, launch.arguments, strict=True):
            if isinstance(value, Tensor):
                made = TensorMap(value, sizes, kind, *maps[len(self.maps)])
                self.maps.append((made, *place(value.buffer)))
                words += [("map", made), *(("i64", n) for n in (*value.extents, *value.strides))]
            elif isinstance(value, Memory):
                self.moving.append((len(words), *place(value.buffer)))
                words.append(("i64", 0))
            else:
                words.append((kind, value))
        self._write([*words, ("i64", 0), ("i64", 0)])  # Triton adds two scratch pointers
        self.sized = [(k, kind, sizes.number(value)) for k, (kind, value) in enumerate(words)
                      if isinstance(value, Size)]  # fmt: skip
        self.count: list[Number] = []  # of programs, where that is not known yet
        if any(isinstance(n, Size) for n in launch.grid):
            self.count = [sizes.number(n) for n in launch.grid]
        self.address = ctypes.addressof(self.pointers)
        self.stream: Any = None  # that launch is for
        self.launch: Callable[[], int] = lambda: 0
        self.spans = spans_of(launch, place)

    def _write(self, words: Sequence[tuple[str, Any]]) -> None:
        """Arguments in memory, and where each is: a map lies elsewhere."""
        count = len(words)
        self.cells = (ctypes.c_uint64 * count)(
            *(0 if isinstance(x, TensorMap | Size) else encoded(kind, x) for kind, x in words)
        )
        first = ctypes.addressof(self.cells)
        self.pointers = (ctypes.c_uint64 * count)(
            *(x.place if isinstance(x, TensorMap) else first + 8 * k
              for k, (_, x) in enumerate(words))
        )  # fmt: skip

    def is_sized(self) -> bool:
        """Has it numbers that are not known yet?"""
        return bool(self.sized or self.count or any(made.sized for made, *_ in self.maps))

    def fit(self, exact: Exact) -> None:
        """Fill in numbers; it is aimed once more before it is started."""
        for k, kind, number in self.sized:
            self.cells[k] = encoded(kind, number(exact))
        if self.count:
            across, second = (number(exact) for number in self.count)
            self.grid, self.stream = (across, second), None
        for made, *_ in self.maps:
            made.fit(exact)

    def bases(self) -> set[int]:
        """Numbers of the base addresses it depends on."""
        return {base for _, base, _ in (*self.moving, *self.maps)}

    def aim(self, bases: Sequence[int]) -> None:
        """Fill in addresses."""
        for k, base, offset in self.moving:
            self.cells[k] = bases[base] + offset
        for made, base, offset in self.maps:
            made.aim(bases[base] + offset)

    def parameters(self) -> Any:
        """What a node of a graph is made of."""
        node = cu.CUDA_KERNEL_NODE_PARAMS()
        node.func, node.kernelParams = self.function, self.address
        node.gridDimX, node.gridDimY, node.gridDimZ = (*self.grid, 1)
        node.blockDimX, node.blockDimY, node.blockDimZ = self.threads, 1, 1
        node.sharedMemBytes = self.shared
        return node

    def start(self) -> None:
        """Queue the kernel."""
        if self.stream is not self.gpu.stream:
            self.stream = self.gpu.stream
            how = self.function, self.grid, self.threads, self.shared
            self.launch = ready(*how, self.stream, self.address)
        if code := self.launch():
            checked((cu.CUresult(code),))


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
    """Calls that are started together; each waits for those whose memory it touches.

    It is written, not recorded from a stream: what other threads start meanwhile is not in it.
    """

    def __init__(self, gpu: Gpu, calls: Sequence[Call]) -> None:
        self.gpu, self.calls = gpu, calls
        graph = checked(cu.cuGraphCreate(0))
        self.nodes: list[Any] = []
        order = waits([call.spans for call in calls])
        for call, numbers in zip(calls, order, strict=True):
            before = [self.nodes[k] for k in numbers]
            node = checked(cu.cuGraphAddKernelNode(graph, before, len(before), call.parameters()))
            self.nodes.append(node)
        self.executable = checked(cu.cuGraphInstantiate(graph, 0))
        self.graph = graph  # nodes are known by it

    def change(self, number: int) -> None:
        """A call has other arguments now."""
        parameters = self.calls[number].parameters()
        node = self.nodes[number]
        checked(cu.cuGraphExecKernelNodeSetParams(self.executable, node, parameters))

    def start(self) -> None:
        """Queue all calls."""
        checked(cu.cuGraphLaunch(self.executable, self.gpu.stream))

    def __del__(self) -> None:
        # Where Python ends, modules may be gone before what they made.
        if cu is not None and hasattr(self, "graph") and not self.gpu.lost:
            cu.cuGraphExecDestroy(self.executable)
            cu.cuGraphDestroy(self.graph)
