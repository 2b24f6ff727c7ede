"""Do kernels that no table names run at the bandwidth of those that one does?

    python -m benchmarks.generality

Made-up normalisations, losses and activations beside softmax and layer norm, each one kernel over
the same matrix, in turns; what counts is the ratio of bytes per second.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

import treadle as td
from benchmarks.measure import median_seconds

ROWS, COLUMNS = 4096, 1024
TURNS, SECONDS = 5, 0.2
Function = Callable[[Any], Any]


def _cubic_norm(x: Any) -> Any:
    """Divide by the cube root of the mean cube of |x|."""
    size = abs(x)
    return x / td.pow(td.mean(size * size * size, axis=-1, keepdims=True) + 1e-5, 1.0 / 3.0)


def _range_norm(x: Any) -> Any:
    low, high = x.min(axis=-1, keepdims=True), x.max(axis=-1, keepdims=True)
    return (x - low) / (high - low + 1e-5)


def _norm_of_norms(x: Any) -> Any:
    """Two reductions feed a third."""
    centred = x - td.mean(x, axis=-1, keepdims=True)
    peak = abs(centred).max(axis=-1, keepdims=True)
    scaled = centred / (peak + 1e-5)
    return scaled * td.rsqrt(td.mean(scaled * scaled, axis=-1, keepdims=True) + 1e-5)


def _squared_softmax(x: Any) -> Any:
    positive = td.relu(x) * td.relu(x) + 1e-3
    return positive / positive.sum(axis=-1, keepdims=True)


def _layer_norm(x: Any) -> Any:
    return td.layer_norm(x)


NAMED: dict[str, Function] = {"softmax": td.softmax, "layer norm": _layer_norm}
MADE_UP: dict[str, Function] = {
    "cubic norm": _cubic_norm,
    "range norm": _range_norm,
    "norm of norms": _norm_of_norms,
    "squared softmax": _squared_softmax,
    "activation": lambda x: x / (1.0 + abs(x)) + 0.1 * x,
}


def main() -> None:
    """Time everything in turns and print bandwidths."""
    x = td.tensor(np.random.default_rng(0).standard_normal((ROWS, COLUMNS), np.float32))
    functions = {name: td.compile(f) for name, f in (NAMED | MADE_UP).items()}
    turns: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(TURNS):
        for name, function in functions.items():
            turns[name].append(median_seconds(lambda function=function: function(x), SECONDS))
    rates = {name: 2 * x.nbytes / statistics.median(t) / 1e9 for name, t in turns.items()}
    slowest = min(rates[name] for name in NAMED)
    for name, rate in rates.items():
        kernels = len(td.explain((NAMED | MADE_UP)[name], x).rows)
        compared = f"{rate / slowest:5.2f} of the slower named"
        print(f"{name:16s} {rate:6.1f} GB/s  {compared}  {kernels} kernel")


if __name__ == "__main__":
    main()
