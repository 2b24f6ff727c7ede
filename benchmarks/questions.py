"""Measures what docs/questions.md answers: `python -m benchmarks.questions`."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import treadle as td
from benchmarks.measure import median_seconds

TURNS, SECONDS = 5, 0.15
BATCHES, BATCH = 400, 500  # calls: half a millisecond at most
RECORDS, WORDS = 100_000, 5  # of what threads write down, see backends/cpu/rings.py


def ratio(changed: Callable[[], Any], plain: Callable[[], Any]) -> float:
    """How many times as long as plain the changed one takes: medians, in turns."""
    return statistics.median(
        median_seconds(changed, SECONDS) / median_seconds(plain, SECONDS) for _ in range(TURNS)
    )


def gradient_tracking(size: int) -> float:
    """A forward pass of a perceptron, lazily, with parameters that require gradients or do not."""
    rng = np.random.default_rng(0)
    x = td.tensor(rng.standard_normal((size, size), np.float32))
    plain = [td.tensor(rng.standard_normal((size, size), np.float32)) for _ in range(3)]
    followed = [td.tensor(w.numpy(), requires_grad=True) for w in plain]

    def forward(weights: list[td.Tensor]) -> None:
        h = x
        for w in weights:
            h = td.tanh(h @ w)
        h.realize()

    return ratio(lambda: forward(followed), lambda: forward(plain))


def pool(size: int) -> float:
    """A sum of two tensors with every result's memory from the system, or from the pool."""
    a, b = (td.ones(size, size).realize() for _ in range(2))

    def add() -> None:
        (a + b).realize()

    def without() -> None:
        with td.override(pool_bytes=0):
            add()

    return ratio(without, add)


def concat_backward() -> int:
    """Kernels of the gradient of a concat of two halves, each then doubled: slices are views."""
    a, b = td.ones(64, 64).requires_grad_(), td.ones(64, 64).requires_grad_()

    def both(g: td.Tensor) -> Any:
        return [part * 2.0 for part in td.gradients(td.concat([a, b]), [a, b], g)]

    return len(td.explain(both, td.ones(128, 64)).rows)


def bare(x: Any) -> Any:
    """A function that does nothing."""
    return x


@td.span("decorated")
def decorated(x: Any) -> Any:
    """The same, with a span."""
    return x


def block(x: Any) -> Any:
    """The same, with a span inside."""
    with td.span("block"):
        return x


def least(run: Callable[[Any], Any]) -> float:
    """Nanoseconds of a call, by short batches: one of them was left alone by others."""
    best = float("inf")
    for _ in range(BATCHES):
        start = time.perf_counter_ns()
        for _ in range(BATCH):
            run(1)
        best = min(best, (time.perf_counter_ns() - start) / BATCH)
    return best


def spans() -> dict[str, float]:
    """Nanoseconds above a bare call: a decorated function and a with block, idle and watched."""
    ways = {"decorator": decorated, "block": block}
    idle = {f"{name}, idle": least(way) - least(bare) for name, way in ways.items()}
    with td.profile():
        return idle | {f"{name}, on": least(way) - least(bare) for name, way in ways.items()}


def crossing() -> tuple[float, float]:
    """Nanoseconds for each native record: seen by NumPy where it lies, and as Python's numbers."""
    words = (ctypes.c_int64 * (RECORDS * WORDS))()

    def mapped() -> Any:
        return np.frombuffer(words, np.int64).reshape(RECORDS, WORDS)[:, 2].min()

    def copied() -> Any:
        return min(words[2::WORDS])

    seen, numbers = (median_seconds(way, SECONDS) / RECORDS * 1e9 for way in (mapped, copied))
    return seen, numbers


def main() -> None:
    """Print what is measured."""
    for name, spent in spans().items():
        print(f"a span, {name}: {spent:.0f} ns above a bare call")
    seen, copied = crossing()
    print(
        f"reading a field of native records: {seen:.1f} ns each, as Python's numbers {copied:.1f}"
    )
    for size in (8, 64, 512):
        print(f"gradient tracking, forward of 3 layers of {size}: {gradient_tracking(size):.2f}")
    for size in (64, 1024, 4096):
        print(f"without the pool, a + b of {size} x {size}: {pool(size):.2f}")
    print(f"kernels of the gradient of a concat: {concat_backward()}")


if __name__ == "__main__":
    main()
