"""Kernels compiled side by side, by processes that do nothing else.

Triton holds Python's interpreter for most of a compilation, so threads would wait for each other. A
process reads sources and answers with machine code until there are none; it is started as a program
of its own, so that nothing of the one that asks, its devices least of all, goes along.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from treadle.backends.cuda.launch import Source

PROGRAM = "treadle.backends.cuda.hand"
MOST = 12  # processes: each takes some hundred megabytes
FEWEST = 6  # kernels: fewer are compiled by the time a process has started


def answers(sources: Sequence[Source], architecture: int) -> Iterator[tuple[Source, Any]]:
    """(kernel, its code) as they come; those that no process could compile are missing."""
    hands = min(len(sources), MOST, os.cpu_count() or 1)
    if len(sources) < FEWEST or hands < 3:
        return
    waiting: SimpleQueue[Source] = SimpleQueue()
    for source in sorted(sources, key=lambda x: -len(x.text)):  # long ones begin first
        waiting.put(source)
    with ThreadPoolExecutor(hands) as pool:
        for found in pool.map(lambda _: list(_asked(waiting, architecture)), range(hands)):
            yield from found


def _asked(waiting: SimpleQueue[Source], architecture: int) -> Iterator[tuple[Source, Any]]:
    """What one process answers."""
    here = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        [sys.executable, "-m", PROGRAM], env=here,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with process, suppress(Empty, OSError, EOFError, pickle.UnpicklingError):
        asking: Any = process.stdin
        while True:
            source = waiting.get_nowait()
            pickle.dump((source, architecture), asking)
            asking.flush()
            code = pickle.load(process.stdout)  # type: ignore[arg-type]
            if code is not None:
                yield source, code
