"""Time Treadle and its peers in turn, workload by workload, and print the table.

Every framework lives in a process and an environment of its own. For each workload all of them
build it from the same inputs and are checked against a float64 reference; then they take short
turns, round after round, so that a change of the machine's speed meets them all. What counts is
the median over the rounds; time in which others used the processors is thrown away and measured
again.

    python -m benchmarks.run --setup                          everything, environments first
    python -m benchmarks.run --fw torch,treadle --only '^C'   some columns, some rows
    python -m benchmarks.run --report                         only the table of the stored results
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import environments, limits, report
from benchmarks.environments import COLUMNS, REPOSITORY, ROOT
from benchmarks.measure import pin_threads
from benchmarks.workload import Workload
from benchmarks.workloads import WORKLOADS

RESULTS = ROOT / "results.json"
MEANINGS = ("workload", "workloads", "networks", "models", "vision", "sequences")  # modules
Result = dict[str, Any]


class Process:
    """A worker at the other end of a pipe; started by the first request, again after a crash."""

    def __init__(self, column: str, log: Path) -> None:
        self.column, self.log = column, log
        self.child: subprocess.Popen[str] | None = None

    def ask(self, **request: Any) -> Result:
        """Send one request and wait for its answer."""
        if self.child is None:
            self.child = self._start()
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        try:
            self.child.stdin.write(json.dumps(request) + "\n")
            self.child.stdin.flush()
            line = self.child.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            answer: Result = json.loads(line)
            return answer
        code, self.child = self.child.wait(), None
        return {"status": "failed", "why": f"the process ended with {code}; see {self.log}"}

    def _start(self) -> subprocess.Popen[str]:
        command = [str(COLUMNS[self.column].python), "-m", "benchmarks.worker", self.column]
        with self.log.open("a") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=REPOSITORY,
                env=environments.variables(),
            )

    def stop(self) -> None:
        """Close the pipe: the worker ends by itself."""
        if self.child is not None and self.child.stdin is not None:
            self.child.stdin.close()
            self.child.wait()


def read_results() -> dict[str, Any]:
    """What is stored, or an empty frame."""
    if RESULTS.exists():
        stored: dict[str, Any] = json.loads(RESULTS.read_text())
        return stored
    return {"machine": "", "limits": {}, "rows": {}}


def write_results(results: dict[str, Any]) -> None:
    """Replace the file at once: a reader sees the old one or the new one."""
    with tempfile.NamedTemporaryFile("w", dir=ROOT, delete=False, suffix=".json") as file:
        json.dump(results, file, indent=1)
    os.replace(file.name, RESULTS)


def reference_file(workload: Workload) -> Path:
    """The float64 reference on disk, computed once for each version of the workloads' source."""
    sources = (REPOSITORY / "benchmarks" / f"{name}.py" for name in MEANINGS)
    version = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    path = ROOT / "references" / f"{workload.name}-{version}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(f"{workload.name}-*.npz"):
            old.unlink()
        unfinished = path.with_suffix(".new.npz")
        np.savez(unfinished, *workload.compute_reference())
        os.replace(unfinished, path)
    return path


def measure_row(processes: dict[str, Process], workload: Workload, options: Any) -> report.Row:
    """Build everywhere, take turns, forget everywhere."""
    row: report.Row = {}
    reference = str(reference_file(workload))
    for name, process in processes.items():
        row[name] = process.ask(do="build", workload=workload.name, reference=reference)
    compare_losses(row, workload.drift)
    turns: dict[str, list[Result]] = {name: [] for name in row if row[name]["status"] == "ok"}
    for turn in range(2 * options.rounds):
        for name, seen in turns.items():
            if sum(r["clean"] for r in seen) >= options.rounds:
                continue
            if turn >= options.rounds and all(not r["clean"] for r in seen):
                continue  # never quiet so far: more of the same would not help
            if row[name]["status"] == "ok":
                answer = processes[name].ask(
                    do="time", seconds=options.seconds, patience=options.patience
                )
                if answer["status"] == "ok":
                    seen.append(answer)
                else:
                    row[name] |= answer
    for name, seen in turns.items():
        if row[name]["status"] == "ok":
            row[name] |= summarise(seen)
    for process in processes.values():
        if process.child is not None:
            process.ask(do="drop")
    return row


def compare_losses(row: report.Row, drift: float) -> None:
    """After the same steps from the same start everybody must have the same loss as the first."""
    trained = [(name, result["losses"]) for name, result in row.items() if "losses" in result]
    for name, losses in trained:
        expected = trained[0][1]
        if not math.isclose(losses[-1], expected[-1], rel_tol=drift):
            why = f"loss {losses[-1]:.6f} after {len(losses)} steps, expected {expected[-1]:.6f}"
            row[name] |= {"status": "failed", "why": why}


def summarise(turns: list[Result]) -> Result:
    """The median over the clean turns, or over all where none was clean."""
    clean = [turn for turn in turns if turn["clean"]]
    counted = clean or turns
    return {
        "median": statistics.median(turn["median"] for turn in counted),
        "least": min(turn["least"] for turn in counted),
        "turns": [turn["median"] for turn in counted],
        "samples": sum(turn["samples"] for turn in counted),
        "clean": bool(clean),
        "foreign": min(turn["foreign"] for turn in turns),
    }


def is_measured(row: report.Row, columns: list[str]) -> bool:
    """Does one earlier run hold all these columns, free of noise?"""
    runs = {row.get(column, {}).get("run", "") for column in columns}
    if len(runs) != 1 or "" in runs:
        return False
    results = [row[column] for column in columns]
    return all(r["status"] != "failed" and r.get("clean", True) for r in results)


def describe_machine() -> str:
    """The processor's name, and how many threads everybody got."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name}, {environments.THREADS} threads, {platform.system()}"


def print_report(results: dict[str, Any], markdown: str) -> None:
    """The table on the terminal, and as Markdown in a file if one is named."""
    table = report.cells(results["rows"], results["limits"])
    print(f"\n{results['machine']}\n\n{report.as_text(table)}\n")
    for line in report.remarks(results["rows"]):
        print(line)
    if markdown:
        Path(markdown).write_text(f"{results['machine']}\n\n{report.as_markdown(table)}\n")


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    first, *_ = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser("benchmarks.run", description=first)
    parser.add_argument("--fw", default=",".join(COLUMNS), help="columns, separated by commas")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose name matches")
    parser.add_argument("--redo", action="store_true", help="measure rows again that are stored")
    parser.add_argument("--setup", action="store_true", help="make absent environments first")
    parser.add_argument("--limits", action="store_true", help="measure the machine's limits too")
    parser.add_argument(
        "--report", nargs="?", const="", metavar="FILE", help="measure nothing; FILE: as Markdown"
    )
    parser.add_argument("--rounds", type=int, default=3, help="turns of every column")
    parser.add_argument("--seconds", type=float, default=0.4, help="clean time in a turn")
    parser.add_argument("--patience", type=float, default=8.0, help="seconds a turn may take")
    options = parser.parse_args()
    options.columns = options.fw.split(",")
    unknown = sorted(set(options.columns) - set(COLUMNS))
    if unknown:
        parser.error(f"unknown column {', '.join(unknown)}; there are {', '.join(COLUMNS)}")
    return options


def measure_all(options: argparse.Namespace, results: dict[str, Any]) -> None:
    """Every row that is asked for, stored as soon as it is there."""
    run = time.strftime("%Y-%m-%d %H:%M:%S")
    logs = ROOT / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    processes = {column: Process(column, logs / f"{column}.log") for column in options.columns}
    try:
        for name, workload in WORKLOADS.items():
            row = results["rows"].get(name, {})
            wanted = re.search(options.only, name)
            if not wanted or (is_measured(row, options.columns) and not options.redo):
                continue
            print(f"{name} ...", file=sys.stderr, flush=True)
            measured = measure_row(processes, workload, options)
            new = {column: result | {"run": run} for column, result in measured.items()}
            results["rows"][name] = row | new
            write_results(results)
    finally:
        for process in processes.values():
            process.stop()


def main() -> None:
    """Set up, measure, report."""
    options = parse_arguments()
    ROOT.mkdir(parents=True, exist_ok=True)
    if options.report is not None:
        print_report(read_results(), options.report)
        return
    with (Path(tempfile.gettempdir()) / "treadle-bench.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once would measure each other
        if options.setup:
            environments.prepare(options.columns)
        options.columns = environments.present(options.columns)
        pin_threads(environments.THREADS)
        results = read_results() | {"machine": describe_machine()}
        if options.limits:  # a limit is the best ever seen: noise only lowers it
            seen = results["limits"]
            found = limits.measure()
            results["limits"] = {name: max(found[name], seen.get(name, 0.0)) for name in found}
        measure_all(options, results)
    print_report(results, "")


if __name__ == "__main__":
    main()
