"""What the choices of the matrix-product plan are worth on this machine.

For each shape, the plan's own cut against its alternatives, alternated, in GFLOP/s (best and
median). Run it on a quiet machine: python benchmarks/gemm_choices.py [threads]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from statistics import median
from time import perf_counter

import numpy as np

from treadle.backends.cpu import gemm_plan, gemm_tasks, jit, threads
from treadle.backends.cpu.gemm_problem import Cut, Problem
from treadle.backends.cpu.gemm_tiles import tile_for
from treadle.backends.cpu.host import host_target
from treadle.base.dtypes import float32

SHAPES = [
    (64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024),
    (128, 3072, 768), (12, 2048, 2048), (32, 2048, 2048),
]  # fmt: skip
SECONDS = 0.3


class Call:
    """One product, ready to run again and again."""

    def __init__(self, problem: Problem, cut: Cut, pool: threads.Pool) -> None:
        target = host_target()
        text = gemm_tasks.text(float32, float32, target)
        self.code = jit.load(text, lambda: text, gemm_tasks.SYMBOLS, target, 2, passes=True)
        plan = gemm_plan.lay_out(problem, cut, tile_for(float32, target))
        m, n, k = problem.m, problem.n, problem.k
        sizes = {
            "a": m * k, "b": k * n, "c": m * n,
            "apack": plan.apack_bytes // 4 + 1,
            "scratch": plan.scratch_bytes * pool.threads // 4 + 1,
        }  # fmt: skip
        self.buffers = [np.ones(size, np.float32) for size in sizes.values()]
        self.bases = np.array([buffer.ctypes.data for buffer in self.buffers], np.int64)
        self.params = []
        rows = []
        for phase in plan.phases:
            words = np.array(phase.words, np.int64)
            for name, position in phase.slots:
                words[position] = list(sizes).index(name)
            self.params.append(words)
            rows.append((self.code[phase.entry], words.ctypes.data, phase.blocks, 0))
        self.table = np.array(rows, np.int64)
        self.arguments = (
            pool.address, self.table.ctypes.data, len(rows), self.bases.ctypes.data
        )  # fmt: skip
        self.run = threads.runner()

    def __call__(self) -> None:
        """Compute it once."""
        self.run(*self.arguments)


def compare(calls: list[Call]) -> list[list[float]]:
    """Seconds of each call, taken in turns so that all see the same machine."""
    start = perf_counter()
    for call in calls:
        call()
    repeats = max(1, int(0.005 * len(calls) / (perf_counter() - start)))
    times: list[list[float]] = [[] for _ in calls]
    end = perf_counter() + SECONDS * len(calls)
    while perf_counter() < end:
        for call, record in zip(calls, times, strict=True):
            start = perf_counter()
            for _ in range(repeats):
                call()
            record.append((perf_counter() - start) / repeats)
    return times


def alternatives(cut: Cut) -> dict[str, Cut]:
    """The cut, and the cuts that differ from it by one choice."""
    return {
        "plan": cut,
        "other A": replace(cut, pack_left=not cut.pack_left),
        "other B": replace(cut, pack_right=not cut.pack_right),
        "columns x2": replace(cut, columns=2 * cut.columns),
        "rows /2": replace(cut, rows=-(-cut.rows // 12) * 6),
        "depth /2": replace(cut, depth=-(-cut.depth // 16) * 8),
    }


def main() -> None:
    """Print a table."""
    pool = threads.Pool.get(int(sys.argv[1]) if len(sys.argv) > 1 else None)
    target = host_target()
    for m, n, k in SHAPES:
        problem = Problem(m, n, k, (k, 1), (n, 1), n)
        cuts = alternatives(gemm_plan.choose(problem, tile_for(float32, target), target))
        times = compare([Call(problem, cut, pool) for cut in cuts.values()])
        flops = 2e-9 * m * n * k
        shown = [
            f"{name} {flops / min(record):.0f}/{flops / median(record):.0f}"
            for name, record in zip(cuts, times, strict=True)
        ]
        print(f"{m}x{n}x{k}: " + ", ".join(shown))


if __name__ == "__main__":
    main()
