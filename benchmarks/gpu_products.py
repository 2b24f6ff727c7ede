"""Products that read and chain computed values on a CUDA GPU, checked and timed beside PyTorch.

PYTHONPATH=src python benchmarks/gpu_products.py
"""

from __future__ import annotations

import statistics
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

import treadle as td

F = torch.nn.functional
Work = Callable[[], Any]


def timed(*works: Work, rounds: int = 15) -> list[float]:
    """Medians in milliseconds, in turns, the device synchronised around each."""
    spent: list[list[float]] = [[] for _ in works]
    for work in works:
        for _ in range(3):
            work()
    for _ in range(rounds):
        for mine, work in zip(spent, works, strict=True):
            torch.cuda.synchronize()
            start = time.perf_counter()
            work()
            torch.cuda.synchronize()
            mine.append(1e3 * (time.perf_counter() - start))
    return [statistics.median(mine) for mine in spent]


def given(*shapes: tuple[int, ...], kind: str = "bfloat16") -> tuple[list[Any], list[Any]]:
    """The same normal numbers for both."""
    rng = np.random.default_rng(0)
    ours, theirs = [], []
    for shape in shapes:
        values = rng.standard_normal(shape).astype(np.float32) / 2
        theirs.append(torch.tensor(values, device="cuda").to(getattr(torch, kind)))
        ours.append(td.tensor(values).cast(getattr(td, kind)).to("cuda").realize())
    return ours, theirs


def error(ours: Any, theirs: Any) -> float:
    """The largest difference, as a part of the largest value."""
    a = ours.cast(td.float32).cpu().numpy().astype(np.float64)
    b = theirs.detach().float().cpu().numpy().astype(np.float64)
    return float(np.abs(a - b).max() / max(1e-30, np.abs(b).max()))


def attempt(name: str, work: Work) -> None:
    """Do it and say what came out; a failure is told and does not stop the others."""
    try:
        print(f"{name:44} {work()}", flush=True)
    except Exception:
        print(f"{name:44} FAIL\n{traceback.format_exc(limit=-5)}", flush=True)


def both(make: Callable[..., Any], their: Callable[..., Any], shapes: Any, kind: str) -> str:
    """Forward, and forward with gradients."""
    ours, theirs = given(*shapes, kind=kind)
    run = td.compile(make)
    wrong = error(run(*ours), their(*theirs))
    a, b = timed(lambda: run(*ours).realize(), lambda: their(*theirs))
    text = f"forward {a:7.3f} ms, torch {b:7.3f}, ratio {a / b:5.2f}, error {wrong:.1e}"
    count = tuple(range(len(ours)))
    step = td.compile(td.value_and_grad(lambda *x: make(*x).cast(td.float32).sum(), count))
    leaves = [x.requires_grad_() for x in theirs]

    def their_step() -> Any:
        return torch.autograd.grad(their(*leaves).float().sum(), leaves)

    slopes = step(*ours)[1]
    wrong = max(error(x, y) for x, y in zip(slopes, their_step(), strict=True))
    a, b = timed(lambda: [x.realize() for x in step(*ours)[1]], their_step)
    return f"{text}\n{'':44} backward {a:6.3f} ms, torch {b:7.3f}, ratio {a / b:5.2f}, error {wrong:.1e}"  # noqa: E501


def main() -> int:
    """Everything."""
    ours, theirs = td.scaled_dot_product_attention, F.scaled_dot_product_attention
    attend = {
        causal: (partial(ours, is_causal=causal), partial(theirs, is_causal=causal))
        for causal in (True, False)
    }
    for kind in ("bfloat16", "float32"):
        small = [(2, 4, 300, 64)] * 3
        attempt(f"attention causal 2x4x300x64 {kind}", lambda: both(*attend[True], small, kind))  # noqa: B023
    large = [(4, 16, 4096, 128)] * 3
    attempt(
        "attention causal 4x16x4096x128 bfloat16", lambda: both(*attend[True], large, "bfloat16")
    )
    attempt("attention 4x16x4096x64 bfloat16",
            lambda: both(*attend[False], [(4, 16, 4096, 64)] * 3, "bfloat16"))  # fmt: skip
    for shapes, options in (
        ([(32, 64, 56, 56), (64, 64, 3, 3)], {"padding": 1}),
        ([(32, 256, 14, 14), (256, 256, 3, 3)], {"padding": 1}),
        ([(32, 64, 56, 56), (128, 64, 3, 3)], {"padding": 1, "stride": 2}),
    ):
        for kind in ("bfloat16", "float32"):
            attempt(
                f"conv {shapes[0]} {shapes[1]} {kind}",
                lambda: both(lambda x, w: td.conv2d(x, w, **options),  # noqa: B023
                             lambda x, w: F.conv2d(x, w, **options), shapes, kind),  # noqa: B023
            )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
