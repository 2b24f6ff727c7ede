"""Treadle, PyTorch and JAX on one GPU, each in a process of its own: `make bench-gpu`.

    PYTHONPATH=src python -m benchmarks.gpu_table --only 'matmul|softmax' --fw treadle,torch,compile

Every process makes the same inputs from the same seed, leaves some numbers of its result to
compare, and rests between timings: a card at its power limit is slower than a rested one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.gpu_rows import ROWS

FRAMEWORKS = ("treadle", "torch", "compile", "jax")
REST = 0.06  # seconds
ROUNDS = 5
SPAN = 0.02  # seconds that a round takes


def measured(run: Callable[[], Any], wait: Callable[[Any], None]) -> dict[str, float]:
    """Milliseconds of the first call, and of one call: the median over rounds of many."""
    start = time.perf_counter()
    wait(run())
    first = time.perf_counter() - start
    for _ in range(3):
        wait(run())
    start = time.perf_counter()
    wait(run())
    count = max(1, min(400, int(SPAN / (time.perf_counter() - start))))
    rounds = []
    for _ in range(ROUNDS):
        time.sleep(REST)
        start = time.perf_counter()
        for _ in range(count):
            result = run()
        wait(result)
        rounds.append((time.perf_counter() - start) / count)
    return {"first": 1e3 * first, "ms": 1e3 * statistics.median(rounds)}


def work(framework: str, names: list[str], into: Path) -> None:
    """Time rows in this process; each is written when it is there."""
    home = {"compile": "torch", "again": "treadle"}.get(framework, framework)
    module = importlib.import_module(f"benchmarks.gpu_{home}")
    for name in names:
        row = ROWS[name]
        make = module.MAKERS.get(row.kind)
        if make is None:
            continue
        try:
            module.begin()
            run, shown = make(row, framework == "compile")
            found: dict[str, Any] = measured(run, module.wait)
            found["result"] = [float(x) for x in shown(run())]
            found["memory"] = module.peak()
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"[:200]}
            traceback.print_exc(limit=-3)
        with into.open("a") as file:
            file.write(json.dumps({"row": name, "framework": framework, **found}) + "\n")


def table(found: list[dict[str, Any]]) -> str:
    """A line for each row: our time, the peers', the ratio to the best of them, and the bar."""
    lines = [
        f"{'row':34}{'treadle ms':>11}{'torch':>10}{'compile':>10}{'jax':>10}{'ratio':>7}{'bar':>6}"
    ]
    for name, row in ROWS.items():
        mine = {x["framework"]: x for x in found if x["row"] == name}
        times = [mine.get(fw, {}).get("ms") for fw in FRAMEWORKS]
        if not any(times):
            continue
        ours, peers = times[0], [t for t in times[1:] if t]
        ratio = f"{ours / min(peers):.2f}" if ours and peers else "-"
        cells = "".join(f"{t:>10.4f}" if t else f"{'-':>10}" for t in times)
        lines.append(f"{name:34} {cells}{ratio:>7}{row.bar:>6} {_difference(mine)}")
    return "\n".join(lines)


def _difference(mine: dict[str, dict[str, Any]]) -> str:
    """How far our result is from a peer's."""
    if "error" in mine.get("treadle", {}):
        return mine["treadle"]["error"]
    ours = mine.get("treadle", {}).get("result")
    theirs = next(
        (mine[fw]["result"] for fw in FRAMEWORKS[1:] if "result" in mine.get(fw, {})), None
    )
    if not ours or not theirs:
        return ""
    top = max(map(abs, theirs)) or 1.0
    return f"off {max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / top:.0e}"


def whole(found: list[dict[str, Any]]) -> list[str]:
    """Memory and first calls of whole steps, against the peer with the quickest step."""
    lines = []
    for name, row in ROWS.items():
        mine = {x["framework"]: x for x in found if x["row"] == name and "ms" in x}
        peers = [mine[fw] for fw in FRAMEWORKS[1:] if fw in mine]
        if not row.more or "treadle" not in mine or not peers:
            continue
        best = min(peers, key=lambda x: float(x["ms"]))
        ours = mine["treadle"] | {"again": mine.get("again", {}).get("first", 0.0)}
        for what, bar in row.more.items():
            theirs = best["memory" if what == "memory" else "first"]
            unit, scale = ("GiB", 2.0**30) if what == "memory" else ("s", 1e3)
            lines.append(
                f"{name}, {what}: {ours[what] / scale:.2f} {unit}, {best['framework']} "
                f"{theirs / scale:.2f}, ratio {ours[what] / theirs:.2f}, bar {bar}"
            )
    return lines


def main() -> int:
    """The table of all frameworks, or one framework's part of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a pattern that names of rows have")
    parser.add_argument("--fw", default=",".join(FRAMEWORKS))
    parser.add_argument("--into", type=Path, default=Path("gpu_table.jsonl"))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = [name for name in ROWS if re.search(given.only, name)]
    if given.worker:
        work(given.worker, names, given.into)
        return 0
    given.into.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:  # the disk cache begins empty
        for framework in given.fw.split(","):
            start(framework, given.only, given.into, folder)
        again = "|".join(re.escape(name) for name in names if ROWS[name].more)
        if again and "treadle" in given.fw.split(","):
            start("again", f"^({again})$", given.into, folder)
    found = [json.loads(line) for line in given.into.read_text().splitlines()]
    print(table(found))
    print("\n".join(whole(found)))
    return int(any("error" in x for x in found if x["framework"] == "treadle"))


def start(framework: str, only: str, into: Path, folder: str) -> None:
    """Time rows in a process of its own; again: ours with the disk cache as it is by then."""
    command = [sys.executable, "-m", "benchmarks.gpu_table", "--worker", framework]
    command += ["--only", only, "--into", str(into)]
    caches = {"TREADLE_CACHE_DIR": folder, "TREADLE_CACHE_SECRET": f"{folder}/secret"}
    caches["TRITON_CACHE_DIR"] = f"{folder}/triton"
    subprocess.run(command, check=False, env=os.environ | caches)


if __name__ == "__main__":
    sys.exit(main())
