"""Which planted bugs does the fuzzer find? `python tests/testing/mutate.py --minutes 3`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutations import MUTATIONS, Mutation

SOURCES = Path(__file__).parents[2] / "src"


def found_by_fuzzing(
    sources: Path, mutation: Mutation | None, minutes: float, programs: int, seed: int
) -> tuple[bool, str]:
    """Does the fuzzer find a bug in sources, and what does it say? None: as they are."""
    with tempfile.TemporaryDirectory(prefix="treadle-mutation-") as folder:
        shutil.copytree(sources, folder, dirs_exist_ok=True)
        if mutation is not None:
            path = Path(folder, "treadle", mutation.file)
            path.write_text(path.read_text("utf-8").replace(mutation.old, mutation.new), "utf-8")
        command = [sys.executable, "-m", "treadle.testing.fuzz", "--minutes", str(minutes)]
        command += ["--programs", str(programs), "--seed", str(seed), "--workers", "1"]
        command += ["--most", "1", "--shrink", "1"]
        changes = {"PYTHONPATH": folder, "OPENBLAS_NUM_THREADS": "1", "TREADLE_CACHE_DIR": "off"}
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | changes
        )
    lines = done.stdout.splitlines()
    said = [line for line in lines if line.startswith("found after")]
    if said or not done.returncode:
        return bool(said), [*said, *lines[-1:]][0]
    return False, (done.stderr.strip().splitlines() or ["failed"])[-1]  # it did not even begin


def main() -> int:
    """Plant every bug; 1 if more than one in ten is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--programs", type=int, default=1 << 60, help="at most so many for a bug")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutations")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="treadle-sources-") as sources:
        shutil.copytree(SOURCES, sources, dirs_exist_ok=True)  # edits meanwhile change nothing
        return _plant_all(Path(sources), given)


def _plant_all(sources: Path, given: argparse.Namespace) -> int:
    chosen = given.only or range(len(MUTATIONS))
    missed = []
    found, said = found_by_fuzzing(sources, None, given.minutes, given.programs, given.seed)
    if found:  # it would be found in place of every planted one
        say(f"a bug that nobody planted: {said}")
        return 1

    def look(number: int) -> None:
        began = time.monotonic()
        caught, said = found_by_fuzzing(
            sources, MUTATIONS[number], given.minutes, given.programs, given.seed
        )
        if not caught:
            missed.append(number)
        spent = time.monotonic() - began
        mutation = MUTATIONS[number]
        say(f"{number:2} {spent:4.0f} s {'caught' if caught else 'MISSED'}  {mutation.file}: "
            f"{mutation.breaks}\n              {said[:120]}")  # fmt: skip

    with ThreadPoolExecutor(given.workers) as pool:
        list(pool.map(look, chosen))
    say(f"{len(chosen) - len(missed)} of {len(chosen)} caught; missed: {sorted(missed)}")
    return int(len(missed) * 10 > len(chosen))


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
