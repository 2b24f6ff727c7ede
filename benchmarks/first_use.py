"""How long is the wait the first time a small graph is computed: ever, and with a warm cache?

    python -m benchmarks.first_use

Two processes with one cache folder, new at the start: the first compiles, the second loads.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

import treadle as td

BUDGET = {"cold": 10.0, "disk": 1.0}  # milliseconds


def graphs() -> dict[str, Callable[[], td.Tensor]]:
    """Elementwise ops and reductions that share no kernel."""
    rng = np.random.default_rng(0)
    a, b = (td.tensor(rng.uniform(0.5, 1.5, (8, 8)).astype(np.float32)) for _ in range(2))
    td.realize(a + b)  # loads the backend and starts its threads
    return {
        "product": lambda: a * b * a,
        "exp chain": lambda: td.exp(a - b) * 2.5,
        "tanh chain": lambda: td.tanh(a * b + 1.25),
        "sum": lambda: (a * b).sum() + 1.0,
        "sum of rows": lambda: a.sum(axis=1),
        "mean of columns": lambda: td.mean(a, axis=0),
        "softmax": lambda: td.softmax(a) * 2.0,
        "variance": lambda: td.var(a, axis=1),
        "where": lambda: td.where(a > b, a, b),
        "max": lambda: a.max(axis=1),
        "log chain": lambda: td.log(b) * a - b,
        "gated": lambda: td.sigmoid(a) * b,
    }


def measure() -> dict[str, float]:
    """Milliseconds of each graph's first use in this process."""
    found = {}
    for name, make in graphs().items():
        start = time.perf_counter()
        make().realize()
        found[name] = 1e3 * (time.perf_counter() - start)
    return found


def main() -> None:
    """Print a table of the waits."""
    if "--child" in sys.argv:
        print(json.dumps(measure()))
        return
    with tempfile.TemporaryDirectory() as folder:
        runs = {"cold": _child(folder), "disk": _child(folder)}
    for name in runs["cold"]:
        print(f"{name:16}" + "".join(f"{runs[kind][name]:8.2f} ms {kind}" for kind in runs))
    for kind, run in runs.items():
        middle, most = statistics.median(run.values()), max(run.values())
        print(f"{kind}: median {middle:.2f} ms, most {most:.2f} ms, bar {BUDGET[kind]:.0f} ms")


def _child(folder: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.first_use", "--child"]
    environment = os.environ | {"TREADLE_CACHE_DIR": folder}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    main()
