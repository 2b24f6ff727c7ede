"""What one small op costs, layer by layer: `python -m benchmarks.layers [--device cuda]`.

An add of two tensors of four numbers: every layer that it passes is timed by itself, by the same
functions that run it. Times are the best of some batches of calls, taken in turns; what others do
on the machine only adds to them. On a GPU there are three questions more: what the smallest add
takes until it is done, from which size on that is sooner than on the host, and what the pool saves.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import treadle as td
from treadle.backends.registry import backend_of
from treadle.ir.graph import structure
from treadle.ir.node import apply
from treadle.ops.elementwise import add
from treadle.runtime.realize import compile_graph

SIZE = 4
TURNS, BATCH_SECONDS = 15, 0.01
SIZES = tuple(4**k for k in range(1, 14))  # elements
PRODUCTS = tuple(2**k for k in range(3, 13))  # sides
EACH, LOOK, FIRST, TENSOR = "each op", "each look", "the first time", "each tensor"


class Layer(NamedTuple):
    """What is timed, how often an op pays for it, and a function that gives its nanoseconds."""

    name: str
    what: str
    paid: str
    time: Callable[[], float]


def timed(run: Callable[[], Any]) -> Callable[[], float]:
    """A function that times calls of run, as many as the clock needs."""
    run()
    start = time.perf_counter()
    run()
    calls = max(1, int(BATCH_SECONDS / max(time.perf_counter() - start, 1e-7)))

    def batch() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - start) / calls * 1e9

    return batch


def layers(device: str) -> list[Layer]:
    """Every layer of `a + b` on a device."""
    array = np.arange(SIZE, dtype=np.float32)
    a, b = (td.tensor(array).to(device).realize() for _ in range(2))
    node = apply(add, (a._node, b._node))
    program: Any = compile_graph([node], node.operands, {})
    inputs = (a._node.buffer, b._node.buffer)
    three = ((a + b) * a + b)._node
    done = (a + b).realize()
    pool = _allocator(a, device)
    one = done[:1].realize()

    def plan() -> None:
        compile_graph([node], node.operands, {})

    return [
        Layer("record", "`a + b`: a node and a tensor", EACH, timed(lambda: a + b)),
        Layer("look up", "three ops as a key", LOOK, timed(lambda: structure((three,), [], []))),
        Layer("plan", "simplify, fuse, lay out; kernels are known", FIRST, timed(plan)),
        Layer("call", "`program.run`", LOOK, timed(lambda: program.run(inputs))),
        Layer("· memory", "a block from the pool, and back", LOOK, timed(lambda: pool(16))),
        Layer("· kernel", "by the device's clock", LOOK, _kernel(program, inputs, device)),
        Layer("read", "`x.item()` of a value that is there", LOOK, timed(one.item)),
        Layer("read", "`x.numpy()`", LOOK, timed(done.numpy)),
        *_making(array, device),
        *_whole(a, b, array),
    ]


def _making(array: Any, device: str) -> list[Layer]:
    copied = timed(lambda: td.tensor(array, device=device))
    found = [Layer("make", "`td.tensor(array)`, a copy", TENSOR, copied)]
    if device == "cpu":
        shared = timed(lambda: td.from_numpy(array))
        found.append(Layer("make", "`td.from_numpy(array)`, no copy", TENSOR, shared))
    return found


def _whole(a: td.Tensor, b: td.Tensor, array: Any) -> list[Layer]:
    compiled = td.compile(lambda a, b: a + b)

    def step() -> None:
        (a + b).realize()

    def finished() -> None:
        step()
        td.cuda.synchronize()

    def read() -> None:
        (a + b).numpy()

    until = [Layer("whole", "the same until it is done", "", timed(finished))]
    return [
        Layer("whole", "`(a + b).realize()`", "", timed(step)),
        *(until if a.device.backend == "cuda" else []),
        Layer("whole", "a compiled `a + b`", "", timed(lambda: compiled(a, b))),
        Layer("whole", "`(a + b).numpy()`", "", timed(read)),
        Layer("NumPy", "`array + array`", "", timed(lambda: array + array)),
    ]


def _allocator(a: td.Tensor, device: str) -> Callable[[int], Any]:
    backend: Any = backend_of(a.device)
    buffers = import_module("treadle.backends.cpu.buffers")
    found: Callable[[int], Any] = (backend.gpu if device == "cuda" else buffers).allocate
    return found


def _kernel(program: Any, inputs: Any, device: str) -> Callable[[], float]:
    """The least of some runs with a clock around the kernel."""
    clock = import_module(f"treadle.backends.{device}.timing").step_seconds
    return lambda: min(sum(clock(program, inputs)) for _ in range(20)) * 1e9


def measured(cases: list[Layer], wait: Callable[[], None]) -> list[float]:
    """The least time of each, all of them in turns: others on the machine only add to it."""
    best = [float("inf")] * len(cases)
    for _ in range(TURNS):
        for k, case in enumerate(cases):
            best[k] = min(best[k], case.time())
            wait()
    return best


def nanoseconds(run: Callable[[], Any]) -> float:
    """The least time of one thing alone."""
    batch = timed(run)
    return min(batch() for _ in range(5))


# ---- questions about GPUs


def smallest(
    sizes: tuple[int, ...], make: Callable[[int, str], Callable[[], Any]]
) -> Iterator[Any]:
    """(size, microseconds on the CPU, on the GPU), each until it is done."""
    for size in sizes:
        host, gpu = make(size, "cpu"), make(size, "cuda")
        yield size, nanoseconds(host) / 1e3, nanoseconds(gpu) / 1e3


def adds(size: int, device: str) -> Callable[[], None]:
    """A compiled add of two tensors that are there."""
    a, b = (td.ones(size).to(device).realize() for _ in range(2))
    return _until_done(td.compile(lambda a, b: a + b), a, b)


def products(side: int, device: str) -> Callable[[], None]:
    """The same with a product of matrices."""
    a, b = (td.ones(side, side).to(device).realize() for _ in range(2))
    return _until_done(td.compile(lambda a, b: a @ b), a, b)


def _until_done(f: Any, a: td.Tensor, b: td.Tensor) -> Callable[[], None]:
    on_gpu = a.device.backend == "cuda"

    def run() -> None:
        f(a, b)
        if on_gpu:
            td.cuda.synchronize()

    return run


def allocation(nbytes: int) -> tuple[float, float, float]:
    """Microseconds of a block from the pool, from cuMemAllocAsync, and from cuMemAlloc."""
    driver = import_module("treadle.backends.cuda.driver")
    gpu, cu = driver.gpu(0), driver.cu
    gpu.enter()

    def queued() -> None:
        address = driver.checked(cu.cuMemAllocAsync(nbytes, gpu.stream))
        driver.checked(cu.cuMemFreeAsync(address, gpu.stream))

    def plain() -> None:
        driver.checked(cu.cuMemFree(driver.checked(cu.cuMemAlloc(nbytes))))

    ways = (lambda: gpu.allocate(nbytes), queued, plain)
    pool, queue, driver_call = (nanoseconds(way) / 1e3 for way in ways)
    return pool, queue, driver_call


def _questions() -> None:
    for name, sizes, make in (("add", SIZES, adds), ("product", PRODUCTS, products)):
        print(f"\n| {name} of | CPU, us | GPU, us |\n| ---: | ---: | ---: |")
        found = list(smallest(sizes, make))
        for size, host, gpu in found:
            print(f"| {size} | {host:.1f} | {gpu:.1f} |")
        won = next((size for size, host, gpu in found if gpu < host), None)
        print(f"\nthe GPU is quicker from {won} on" if won else "\nthe CPU is quicker throughout")
    print("\n| bytes | pool, us | cuMemAllocAsync, us | cuMemAlloc, us |")
    print("| ---: | ---: | ---: | ---: |")
    for nbytes in (1 << 10, 1 << 20, 1 << 26, 1 << 30):
        times = " | ".join(f"{x:.2f}" for x in allocation(nbytes))
        print(f"| {nbytes} | {times} |")


def main() -> None:
    """Print the table of a device."""
    parser = argparse.ArgumentParser(prog="benchmarks.layers", description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--json", action="store_true", help="rows, for programs")
    options = parser.parse_args()
    if options.device == "cuda" and not td.cuda.is_available():
        raise SystemExit("no GPU here: leave --device out")
    cases = layers(options.device)
    wait = td.cuda.synchronize if options.device == "cuda" else lambda: None
    found = measured(cases, wait)
    pairs = list(zip(cases, found, strict=True))
    if options.json:
        print(json.dumps([[case.name, case.what, case.paid, ns] for case, ns in pairs]))
        return
    print("| layer | | paid | ns | NumPy's adds |\n| --- | --- | --- | ---: | ---: |")
    for case, ns in pairs:
        times = f"{ns:,.0f} | {ns / found[-1]:.1f}"
        print(f"| {case.name} | {case.what} | {case.paid} | {times} |")
    if options.device == "cuda":
        _questions()


if __name__ == "__main__":
    main()
