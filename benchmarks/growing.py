"""A cache that grows by a row at each token, in plain lazy ops, against PyTorch's eager ones.

    python -m benchmarks.growing

Every length is new to Treadle, as it is to a text that is being written.
"""

from __future__ import annotations

import statistics
import time
from importlib.util import find_spec
from typing import Any

import numpy as np

import treadle as td

WIDTH, HEADS, START, TOKENS, SKIPPED = 256, 8, 4, 160, 20
SIZE = WIDTH // HEADS


def parameters() -> list[Any]:
    """Matrices for queries, keys, values and the output."""
    generator = np.random.default_rng(0)
    made = [generator.standard_normal((WIDTH, WIDTH), np.float32) / 16 for _ in range(4)]
    return [*made, generator.standard_normal((1, HEADS, START, SIZE), np.float32)]


def treadle_tokens(arrays: list[Any]) -> tuple[list[float], Any]:
    """Milliseconds of each token, and the last one."""
    *w, k = map(td.tensor, arrays)
    x, v, spent = td.ones(1, WIDTH), k * 0.5, []
    for _ in range(TOKENS):
        start = time.perf_counter()
        q, *new = ((x @ m).reshape(1, HEADS, 1, SIZE) for m in w[:3])
        k, v = (td.concat(pair, 2) for pair in zip((k, v), new, strict=True))
        x = td.nn.functional.scaled_dot_product_attention(q, k, v).reshape(1, WIDTH) @ w[3]
        td.realize(x, k, v)
        spent.append(1e3 * (time.perf_counter() - start))
    return spent, x.numpy()


def torch_tokens(arrays: list[Any]) -> tuple[list[float], Any]:
    """The same in PyTorch."""
    import torch

    torch.set_num_threads(2)
    *w, k = map(torch.from_numpy, arrays)
    x, v, spent = torch.ones(1, WIDTH), k * 0.5, []
    attend = torch.nn.functional.scaled_dot_product_attention
    with torch.no_grad():
        for _ in range(TOKENS):
            start = time.perf_counter()
            q, *new = ((x @ m).reshape(1, HEADS, 1, SIZE) for m in w[:3])
            k, v = (torch.concat(pair, 2) for pair in zip((k, v), new, strict=True))
            x = attend(q, k, v).reshape(1, WIDTH) @ w[3]
            spent.append(1e3 * (time.perf_counter() - start))
    return spent, x.numpy()


def main() -> None:
    """Print the median of a token's time, and the first's."""
    arrays = parameters()
    spent, last = treadle_tokens(arrays)
    show("treadle", spent)
    if find_spec("torch") is not None:
        spent, expected = torch_tokens(arrays)
        np.testing.assert_allclose(last, expected, rtol=1e-3, atol=1e-4)
        show("torch", spent)


def show(name: str, spent: list[float]) -> None:
    """A line of the table."""
    print(f"{name:8} {statistics.median(spent[SKIPPED:]):.3f} ms a token, the first {spent[0]:.0f}")


if __name__ == "__main__":
    main()
