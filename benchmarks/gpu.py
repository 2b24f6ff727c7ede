"""The CUDA backend on this machine: every kernel checked, the usual workloads timed beside PyTorch.

PYTHONPATH=src python benchmarks/gpu.py            (checks and timings, a few minutes)
PYTHONPATH=src python benchmarks/gpu.py --no-check
"""

from __future__ import annotations

import statistics
import sys
import time
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

try:
    import ml_dtypes
except ImportError:  # bfloat16 arrays then cannot be made, only moved
    ml_dtypes = types.ModuleType("ml_dtypes")
    ml_dtypes.bfloat16 = np.dtype("V2")  # type: ignore[attr-defined]
    ml_dtypes.is_absent = True  # type: ignore[attr-defined]
    sys.modules["ml_dtypes"] = ml_dtypes

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "backends")]

from treadle.autograd.backward import gradients  # noqa: E402
from treadle.backends.cuda.backend import Cuda  # noqa: E402
from treadle.base.dtypes import bfloat16, dtype, float32  # noqa: E402
from treadle.ir.node import leaf, type_of  # noqa: E402
from treadle.ops import activations, neural  # noqa: E402
from treadle.ops.defs import TABLE  # noqa: E402
from treadle.ops.elementwise import cast, sigmoid, tanh  # noqa: E402

FAILED: list[str] = []


def attempt(name: str, work: Callable[[], Any]) -> Any:
    """Do it; a failure is told in a few lines and counted."""
    try:
        return work()
    except Exception as error:
        FAILED.append(name)
        lines = traceback.format_exc(limit=-4).strip().splitlines()
        print(f"FAIL {name}: {type(error).__name__}: {str(error)[:400]}")
        print("\n".join(f"     {line[:160]}" for line in lines[1:-1][-8:]))
        return None


# ---- checks


def check_everything(backend: Cuda) -> None:
    """All cases of the tests, and every elementwise primitive, against the reference."""
    import triton_host
    from cuda_cases import CASES

    start = time.perf_counter()
    done = 0
    for name, case in CASES.items():
        if hasattr(ml_dtypes, "is_absent") and ("bfloat" in name or name == "mixed_precision"):
            continue
        before = len(FAILED)
        tolerance = max(case.tolerance, 4e-6)
        attempt(name, lambda: triton_host.check_on(backend, case.build(), tolerance))  # noqa: B023
        done += len(FAILED) == before
    from treadle.backends.cuda.ops import ROWS

    for name in ROWS:
        for kind in ("float32", "int32", "float64"):
            before = len(FAILED)
            attempt(f"{name} {kind}", lambda: check_row(backend, name, kind))  # noqa: B023
            done += len(FAILED) == before
    print(f"checks: {done} passed, {len(FAILED)} failed, {time.perf_counter() - start:.0f} s\n")


def check_row(backend: Cuda, name: str, kind: str) -> None:
    """One primitive on one dtype, if it takes it."""
    import triton_host

    op = TABLE[name]
    rng = np.random.default_rng(0)
    if name == "cast":
        x = triton_host.node_of(rng.uniform(-300, 300, 999).astype(kind))
        roots = [cast(x, dtype(k)) for k in ("int8", "uint8", "int64", "bool", "float16")]
        triton_host.check_on(backend, roots, 1e-3)
        return
    words = name == "threefry"
    low, high = op.samples.low, op.samples.high
    count = op.reference.__code__.co_argcount - 1  # type: ignore[union-attr]
    arrays = [rng.uniform(low, high, (13, 37)).astype("uint32" if words else kind)
              for _ in range(count)]  # fmt: skip
    if name == "where":
        arrays[0] = arrays[0] > 0
    try:
        root = op(*map(triton_host.node_of, arrays))
    except TypeError:
        return
    triton_host.check_on(backend, [root], 0.0 if words else 2e-6)


# ---- timing


def median_ms(work: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Milliseconds of one call, the median over rounds of many calls."""
    for _ in range(4):
        work()
    wait()
    start = time.perf_counter()
    work()
    wait()
    count = max(2, min(200, int(0.05 / max(1e-6, time.perf_counter() - start))))
    rounds = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(count):
            work()
        wait()
        rounds.append((time.perf_counter() - start) / count)
    return statistics.median(rounds) * 1e3


class Bench:
    """Leaves on the device, programs over them, rows of a table."""

    def __init__(self, backend: Cuda, torch: Any) -> None:
        self.backend, self.torch = backend, torch
        print(f"{'workload':34s}{'treadle':>22s}{'torch':>12s}{'compiled':>12s}  error")

    def leaf(self, array: Any) -> Any:
        """An array as a leaf."""
        type_ = type_of(array.shape, float32)
        return leaf(type_, self.backend.upload(array, type_, True))

    def narrow(self, node: Any) -> Any:
        """A leaf in bfloat16, converted on the device."""
        program, inputs = self.program([cast(node, bfloat16)])
        return leaf(type_of(node.shape, bfloat16), program.run(inputs)[0])

    def program(self, roots: list[Any]) -> tuple[Any, list[Any]]:
        """(program, its inputs)."""
        import triton_host

        simple, places, leaves = triton_host.simplified(roots)
        return self.backend.compile(simple, places, {}), [x.buffer for x in leaves]

    def value(self, buffer: Any, type_: Any) -> Any:
        """Elements as float32, bfloat16 by its bits."""
        array = self.backend.download(buffer, type_)
        if type_.dtype is not bfloat16:
            return array
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)

    def row(
        self, name: str, roots: list[Any], work: Callable[[], Any], amount: float, unit: str,
        compiled: bool = False,
    ) -> None:  # fmt: skip
        """One line: amount is bytes (TB/s) or operations (TFLOP/s) of one call."""
        attempt(name, lambda: self._row(name, roots, work, amount, unit, compiled))

    def _row(
        self, name: str, roots: list[Any], work: Callable[[], Any], amount: float, unit: str,
        compiled: bool,
    ) -> None:  # fmt: skip
        program, inputs = self.program(roots)
        outputs = program.run(inputs)
        ours = median_ms(lambda: program.run(inputs), self.backend.gpu.wait)
        found = self.value(outputs[0], roots[0].type)
        del outputs
        text = f"{name:34s}{ours:9.4f} ms {amount / ours / 1e9:5.2f} {unit}"
        if self.torch is not None:
            wait = self.torch.cuda.synchronize
            text += f"{median_ms(work, wait):9.4f} ms"
            text += f"{self._compiled(work, wait):9.4f} ms" if compiled else " " * 12
            first = work()
            first = first[0] if isinstance(first, tuple) else first
            want = first.detach().float().cpu().numpy()
            top = float(np.abs(want).max()) or 1.0
            text += f"  {float(np.abs(found.reshape(want.shape) - want).max()) / top:.1e}"
        print(text, flush=True)

    def _compiled(self, work: Callable[[], Any], wait: Callable[[], Any]) -> float:
        try:
            return median_ms(self.torch.compile(work), wait)
        except Exception:
            return float("nan")


def torch_of(torch: Any, *nodes: tuple[Any, Any]) -> list[Any]:
    """Arrays as tensors on the device."""
    return [torch.from_numpy(array).cuda() if torch else None for array in nodes]


def elementwise(bench: Bench, torch: Any) -> None:
    """A fused chain, limited by memory."""
    n = 64 << 20
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(n, np.float32) for _ in range(2)]
    a, b = map(bench.leaf, arrays)
    x, y = torch_of(torch, *arrays)
    bench.row(
        "elementwise chain, 64M f32", [tanh(a * b + 1.5) * sigmoid(b) - abs_of(a)],
        lambda: torch.tanh(x * y + 1.5) * torch.sigmoid(y) - x.abs(), 12 * n, "TB/s", True,
    )  # fmt: skip
    bench.row("sum of 64M f32", [a.sum()], lambda: torch.sum(x), 4 * n, "TB/s")


def abs_of(node: Any) -> Any:
    """|node|."""
    return TABLE["abs"](node)


def rows(bench: Bench, torch: Any) -> None:
    """Softmax, layer norm and its gradients, column sums, a transposition."""
    shape = (8192, 4096)
    n = shape[0] * shape[1]
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(shape, np.float32) for _ in range(2)]
    arrays += [rng.standard_normal(shape[1], np.float32) for _ in range(2)]
    a, da, w, b = map(bench.leaf, arrays)
    x, dx, tw, tb = torch_of(torch, *arrays)
    f = torch.nn.functional if torch else None
    size = "8192x4096"
    bench.row(
        f"softmax {size}", [neural.softmax(a)], lambda: torch.softmax(x, 1), 8 * n, "TB/s", True
    )
    norm = neural.layer_norm(a, w, b)
    bench.row(f"layer norm {size}", [norm], lambda: f.layer_norm(x, shape[1:], tw, tb), 8 * n,
              "TB/s", True)  # fmt: skip

    def both() -> Any:
        leaves = [t.detach().requires_grad_() for t in (x, tw, tb)]
        y = f.layer_norm(leaves[0], shape[1:], leaves[1], leaves[2])
        return torch.autograd.grad(y, leaves, dx)

    back = gradients([norm], [a, w, b], [da])
    bench.row(f"layer norm + gradients {size}", [*back, norm], both, 16 * n, "TB/s")
    bench.row(f"column sum {size}", [a.sum(0)], lambda: torch.sum(x, 0), 4 * n, "TB/s", True)
    bench.row(f"row sum {size}", [a.sum(1)], lambda: torch.sum(x, 1), 4 * n, "TB/s")
    bench.row(f"transposed + 1 {size}", [a.T + 1.0], lambda: torch.add(x.T, 1).contiguous(), 8 * n,
              "TB/s", True)  # fmt: skip


def products(bench: Bench, torch: Any) -> None:
    """Matrix products of both precisions."""
    rng = np.random.default_rng(2)
    for n in (8192, 4096, 1024):
        arrays = [rng.standard_normal((n, n), np.float32) for _ in range(2)]
        wide = list(map(bench.leaf, arrays))
        a, b = map(bench.narrow, wide)
        x, y = [t.bfloat16() if torch else None for t in torch_of(torch, *arrays)]
        ops = 2.0 * n**3
        bench.row(f"bf16 {n}^3", [a @ b], lambda x=x, y=y: x @ y, ops, "TFLOP/s")
        if n == 4096:
            bench.row(
                f"bf16 {n}^3, a transposed", [a.T @ b], lambda x=x, y=y: x.T @ y, ops, "TFLOP/s"
            )
            bench.row(
                f"bf16 {n}^3, b transposed", [a @ b.T], lambda x=x, y=y: x @ y.T, ops, "TFLOP/s"
            )
            gelu = torch.nn.functional.gelu if torch else None
            bench.row(
                f"gelu(bf16 {n}^3)", [activations.gelu(a @ b)],
                lambda x=x, y=y, f=gelu: f(x @ y), ops, "TFLOP/s", True,
            )  # fmt: skip
            s, t = torch_of(torch, *arrays)
            bench.row(f"f32 {n}^3", [wide[0] @ wide[1]], lambda s=s, t=t: s @ t, ops, "TFLOP/s")


def launches(bench: Bench, torch: Any) -> None:
    """What starting work costs."""
    small = bench.leaf(np.ones((64, 64), np.float32) / 64)
    program, inputs = bench.program([small + 1.0])
    one = median_ms(lambda: program.run(inputs), bench.backend.gpu.wait)
    x = small
    for _ in range(50):
        x = x @ small
    program, inputs = bench.program([x])
    many = median_ms(lambda: program.run(inputs), bench.backend.gpu.wait)
    count = len(program.calls)
    print(f"one launch: {one * 1e3:.1f} us; {count} launches in a graph: {many * 1e3:.1f} us")


def main() -> int:
    """Everything, however much of it works."""
    backend = Cuda(0)
    print(f"device {backend.target().cpu}, {backend.gpu.processors} processors")
    if "--no-check" not in sys.argv:
        attempt("checks", lambda: check_everything(backend))
    try:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
    except ImportError:
        torch = None  # type: ignore[assignment]
    bench = Bench(backend, torch)
    for part in (elementwise, rows, products, launches):
        attempt(part.__name__, lambda: part(bench, torch))  # noqa: B023
    print(f"failed: {', '.join(FAILED) or 'nothing'}")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
