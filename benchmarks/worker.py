"""One framework in a process of its own, told over a pipe what to build and when to time it.

A request is a line of JSON, and so is its answer:
    {"do": "build", "workload": NAME, "reference": FILE}   build, run once, check the result
    {"do": "time", "seconds": S, "patience": P}            one turn
    {"do": "drop"}                                         forget the workload
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
import traceback
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.environments import COLUMNS, THREADS
from benchmarks.framework import Framework, Run
from benchmarks.measure import pin_threads, time_round
from benchmarks.workload import Workload
from benchmarks.workloads import WORKLOADS

STEPS = 5  # of training, compared between frameworks
Answer = dict[str, Any]


class WrongResult(Exception):
    """The framework computed something else."""


def _relative_error(outputs: list[Any], expected: list[Any]) -> float:
    if len(outputs) != len(expected):
        raise WrongResult(f"{len(outputs)} outputs, expected {len(expected)}")
    worst = 0.0
    for output, right in zip(outputs, expected, strict=True):
        if np.size(output) != right.size:
            raise WrongResult(f"shape {np.shape(output)}, expected {right.shape}")
        difference = np.abs(np.asarray(output, right.dtype).reshape(right.shape) - right).max()
        worst = max(worst, float(difference / (np.abs(right).max() + 1e-30)))
        if not np.isfinite(difference):
            worst = float("inf")
    return worst


def _losses(framework: Framework, run: Run, first: Any) -> list[float]:
    outputs = [first, *(run() for _ in range(STEPS - 1))]
    return [float(framework.to_numpy(output)[0].reshape(-1)[0]) for output in outputs]


class Worker:
    """The framework and the workload it holds at the moment."""

    def __init__(self, column: str) -> None:
        pin_threads(THREADS)
        self.framework = importlib.import_module(COLUMNS[column].module).load(column, THREADS)
        self.run: Run | None = None

    def build(self, workload: Workload, reference: str) -> Answer:
        """Build the workload, run it once, check what came out, warm up."""
        if workload.name not in self.framework.makers:
            return {"status": "absent", "why": "not in this column"}
        run = self.framework.makers[workload.name](*workload.make_inputs())
        start = time.perf_counter()
        first = run()
        answer: Answer = {"version": self.framework.version}
        answer["first_call"] = time.perf_counter() - start
        with np.load(reference) as stored:
            expected = [stored[name] for name in stored.files]
        if workload.trains:
            answer["losses"] = _losses(self.framework, run, first)
            outputs = [np.asarray(answer["losses"][0])]
        else:
            outputs = self.framework.to_numpy(first)
        answer["error"] = _relative_error(outputs, expected)
        if not answer["error"] <= workload.tolerance:
            raise WrongResult(f"error {answer['error']:.1e}, allowed {workload.tolerance:.0e}")
        for _ in range(2):
            run()
        self.run = run
        return answer | {"status": "ok"}

    def answer(self, request: Answer) -> Answer:
        """Do what one request says."""
        if request["do"] == "build":
            return self.build(WORKLOADS[request["workload"]], request["reference"])
        if request["do"] == "time":
            assert self.run is not None
            turn = time_round(self.run, request["seconds"], request["patience"])
            return asdict(turn) | {"status": "ok"}
        self.run = None
        self.framework.reset()
        gc.collect()
        return {"status": "ok"}


def main() -> None:
    """Answer requests until the pipe closes."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints must not end up among the answers
    worker: Worker | None = None
    for line in sys.stdin:
        try:
            worker = worker or Worker(sys.argv[1])
            answer = worker.answer(json.loads(line))
        except Exception as error:
            traceback.print_exc()
            answer = {"status": "failed", "why": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
