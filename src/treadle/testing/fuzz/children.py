"""Children of this process that run programs: each begins with nothing compiled, and may die."""

from __future__ import annotations

import atexit
import itertools
import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

import treadle as td
from treadle.base.knobs import CACHE_DIR, THREADS, override
from treadle.testing.fuzz.bounds import Unfit
from treadle.testing.fuzz.machine import make_small
from treadle.testing.fuzz.model import Model
from treadle.testing.fuzz.modes import HOME, Failure, run
from treadle.testing.fuzz.runs import is_small, runs_of
from treadle.testing.fuzz.shrink import Case, Run

FORK = multiprocessing.get_context("fork")
MOST_SPOILT = 5  # runs that gave something wrong, after which a process is not believed any more
MOST_MEMORY = 8 << 30  # bytes of a child: whoever takes more has gone wrong
PATIENCE = 60.0  # seconds for one program; on a busy machine compiling takes a while


def run_batch(seed: int, first: int, count: int, pipe: Connection) -> None:
    """Run programs and tell of each, before and after."""
    if is_small(first):
        make_small()
    kinds: Counter[str] = Counter()
    spoilt = 0
    for number in range(first, first + count):
        pipe.send(("program", number, None))
        runs, expected = runs_of(seed, number)
        kinds.update(runs[0].program.kinds)
        for one in runs:
            pipe.send(("run", number, one.mode))
            failure = run(one.program, expected, one.mode)
            if failure is not None:
                pipe.send(("failure", number, failure))
                spoilt += failure.what != "raised"
        if spoilt > MOST_SPOILT:
            pipe.send(("end", number + 1, kinds))
            return
    pipe.send(("end", first + count, kinds))


def _replay(case: Case, pipe: Connection) -> None:
    """Run a case; tell what the last run does."""
    if case[0].small:
        make_small()
    failure: Failure | str | None = None
    try:
        for one in case:
            expected = Model().run(one.program)
            failure = run(one.program, expected, one.mode)
    except Unfit:
        failure = "unfit"
    pipe.send(failure)


def _generate(seed: int, numbers: Sequence[int], pipe: Connection) -> None:
    """Tell the runs of programs."""
    pipe.send([one for number in numbers for one in runs_of(seed, number)[0]])


def _child(work: Callable[..., None], args: Sequence[Any], pipe: Connection, folder: str) -> None:
    """What every child begins with: little memory, a disk cache of its own, and no terminal."""
    if HOME[0] is td:  # a GPU's driver reserves addresses for all memory there is
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)
    THREADS.value = 0
    CACHE_DIR.value = folder
    try:
        work(*args, pipe)
    except Exception:
        pipe.send(("broken", 0, traceback.format_exc()))
    pipe.close()
    os._exit(0)


# ---- in the parent


_NUMBERS = itertools.count()


@cache
def disk_caches() -> str:
    """A folder for the disk caches of all children, which goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="treadle-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def start(work: Callable[..., None], *args: Any, shared: str = "") -> tuple[Any, Connection]:
    """A child at work, and the end of the pipe it talks into.

    shared names a disk cache, which children may have in common; by default it is its own.
    """
    here, there = FORK.Pipe(duplex=False)
    folder = f"{disk_caches()}/{shared or next(_NUMBERS)}"
    process = FORK.Process(target=_child, args=(work, args, there, folder), daemon=True)
    process.start()
    there.close()
    return process, here


def replay(case: Case, seconds: float = PATIENCE) -> Failure | None:
    """What the last run of a case does, in a process of its own."""
    process, pipe = start(_replay, case)
    mode = case[-1].mode
    try:
        if not pipe.poll(seconds):
            process.kill()
            return Failure(mode, "hung", f"nothing for {seconds:.0f} s", "hung")
        told = pipe.recv()
    except EOFError:
        process.join()
        name = ending(process.exitcode)
        return Failure(mode, "crashed", name, f"crashed {name}")
    finally:
        process.join(5.0)
        pipe.close()
    return told if isinstance(told, Failure) else None


def ending(code: int | None) -> str:
    """How a process ended, in words."""
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit {code}"


def warm_up() -> None:
    """Compile what every child needs, on one thread, so that forking stays safe."""
    with override(threads=1):
        for kind in (td.float32, td.float64):
            x = td.ones(4, 4, dtype=kind).realize()
            (x @ x).realize()


def generated(seed: int, numbers: Sequence[int]) -> list[Run]:
    """The runs of programs, as a child makes them; none if it dies."""
    process, pipe = start(_generate, seed, numbers)
    try:
        found = pipe.recv() if pipe.poll(2 * PATIENCE) else []
    except EOFError:
        found = []
    process.kill()
    process.join()
    pipe.close()
    return found if isinstance(found, list) else []
