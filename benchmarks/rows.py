"""How fast is every row of the op table? One line each, compiled, against what it must move."""

from __future__ import annotations

import argparse
import math
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import treadle as td
from treadle.base.dtypes import DType, float32, int64, uint32
from treadle.base.errors import TreadleError
from treadle.ops.defs import Kind, Op
from treadle.testing.samples import Case, arity, case_of, cases, public_rows, takes

MOST_ELEMENTS = 1 << 22
FACTORS = (256, 64, 16, 4, 2)


@dataclass
class Timed:
    """One row on one size."""

    name: str
    case: str
    seconds: float
    nbytes: int
    flops: float

    def __str__(self) -> str:
        rate = (
            f"{self.nbytes / self.seconds / 1e9:8.2f} GB/s {self.flops / self.seconds / 1e9:8.2f}"
        )
        return f"{self.name:28} {self.seconds * 1e6:10.1f} µs {rate} GFLOP/s  {self.case}"


def kind_of(op: Op) -> DType:
    """The dtype a row is timed in."""
    return next(kind for kind in (float32, int64, uint32) if takes(op, kind))


def samples_of(op: Op) -> list[tuple[Any, ...]]:
    """What a row is timed on: its own sizes, else its samples grown as far as they fit."""
    if any(isinstance(part, dict | tuple) for shape in op.samples.bench for part in shape):
        return list(op.samples.bench)
    if not op.samples.cases:
        return [(*(shape,) * arity(op), {}) for shape in op.samples.bench]
    return [largest(op)]


def largest(op: Op) -> tuple[Any, ...]:
    """The largest of a row's samples, all sizes multiplied as far as the row takes it."""
    count = 1 if op.kind is Kind.MOVEMENT and not op.samples.listed else -1
    for factor in FACTORS:
        fitting = {}
        for sample in op.samples.cases:
            shapes = [tuple(n * factor for n in shape) for shape in sample[:count]]
            sizes = [math.prod(shape) if shape else 0 for shape in shapes]
            candidate = (*shapes, *sample[count:])
            if all(0 < size <= MOST_ELEMENTS for size in sizes) and fits(op, candidate):
                fitting[sum(sizes)] = candidate
        if fitting:
            return fitting[max(fitting)]
    return max(op.samples.cases, key=lambda sample: math.prod(sample[0]))


def case_on(op: Op, sample: tuple[Any, ...]) -> Case:
    """A call of a row on operands of the sizes that a sample names."""
    kind, rng = kind_of(op), np.random.default_rng(0)
    case = case_of(op, kind, rng, sample)
    if not op.samples.cases:
        case.arguments = next(cases(op, kind, rng)).arguments
    return case


def fits(op: Op, sample: tuple[Any, ...]) -> bool:
    """Can the row be called like this?"""
    try:
        case = case_on(op, sample)
        made = results(case.record([td.zeros(x.shape, dtype=x.dtype.name) for x in case.operands]))
    except (TreadleError, ValueError, TypeError):
        return False
    return sum(x.size for x in made if isinstance(x, td.Tensor)) <= MOST_ELEMENTS


def results(made: Any) -> list[Any]:
    """What a row gives, as a list."""
    return list(made) if isinstance(made, list | tuple) else [made]


def seconds_of(call: Callable[[], Any], budget: float) -> float:
    """The least time of a call within a budget of seconds."""
    least, end = math.inf, time.perf_counter() + budget
    while True:
        start = time.perf_counter()
        call()
        now = time.perf_counter()
        least = min(least, now - start)
        if now > end:
            return least


def timed(op: Op, case: Case, budget: float) -> Timed:
    """Time a compiled call; rows whose sizes depend on values run as they are recorded."""
    operands = [td.tensor(x) for x in case.operands]

    def call(*given: td.Tensor) -> list[td.Tensor]:
        return [x for x in results(case.record(given)) if isinstance(x, td.Tensor)]

    try:
        rows = td.explain(call, *operands).rows
        compiled = td.compile(call)
        compiled(*operands)
        least = seconds_of(lambda: compiled(*operands), budget)
    except TreadleError:
        rows = []
        least = seconds_of(lambda: td.realize(*call(*operands)), budget)
    moved, flops = sum(row.nbytes for row in rows), sum(row.flops for row in rows)
    return Timed(op.name, repr(case), least, moved, flops)


def main() -> None:
    """Time the rows that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose name matches")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each row")
    parser.add_argument("--list", action="store_true", help="say what would be timed")
    options = parser.parse_args()
    chosen = [op for op in public_rows().values() if re.search(options.only, op.name)]
    for number, op in enumerate(chosen, 1):
        for sample in samples_of(op):
            case = case_on(op, sample)
            if sys.stderr.isatty():
                print(f"\r\033[K{number}/{len(chosen)} {op.name}\r", end="", file=sys.stderr)
            print(repr(case) if options.list else timed(op, case, options.seconds), flush=True)


if __name__ == "__main__":
    main()
