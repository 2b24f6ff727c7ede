"""What this machine can do at best: bytes and multiply-adds per second, measured with NumPy.

Both are the best of several tries, with as many threads as every framework gets. They bound a
row from below as far as NumPy's copy and its matrix product reach the machine's own limit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from benchmarks.environments import REPOSITORY, THREADS, variables
from benchmarks.measure import pin_threads

MEMORY_BYTES = (32 << 20, 256 << 20)
SIZE = 2048


def _best(run: Callable[[], object], tries: int) -> float:
    run()
    times = []
    for _ in range(tries):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def _on_pieces(pool: ThreadPoolExecutor, function: Callable[..., object], *pieces: Any) -> None:
    list(pool.map(function, *pieces))


def bytes_per_second() -> float:
    """The best of reading and copying, with and without help from the caches.

    A row's inputs fit partly into the last cache, and a copy also reads what it overwrites, so
    the rate of a large copy alone would be no floor.
    """
    rates = []
    with ThreadPoolExecutor(THREADS) as pool:
        for size in MEMORY_BYTES:
            source = np.array_split(np.ones(size // 4, np.float32), THREADS)
            target = [np.zeros_like(piece) for piece in source]
            copied = _best(partial(_on_pieces, pool, np.copyto, target, source), 10)
            read = _best(partial(_on_pieces, pool, np.max, source), 10)
            rates += [2 * size / copied, size / read]
    return max(rates)


def flops_per_second() -> float:
    """The matrix product of two squares of float32."""
    a = np.random.default_rng(0).standard_normal((SIZE, SIZE), dtype=np.float32)
    b, out = a.copy(), np.empty_like(a)
    return 2 * SIZE**3 / _best(lambda: np.matmul(a, b, out=out), 10)


def measure() -> dict[str, float]:
    """Both limits by name, from a process whose NumPy has the right number of threads."""
    command = [sys.executable, "-m", "benchmarks.limits"]
    answer = subprocess.run(
        command, cwd=REPOSITORY, env=variables(), capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(answer.stdout)
    return found


if __name__ == "__main__":
    pin_threads(THREADS)
    print(
        json.dumps({"bytes_per_second": bytes_per_second(), "flops_per_second": flops_per_second()})
    )
