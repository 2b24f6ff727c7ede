"""Kernels compiled side by side, by processes that do nothing else.

Triton holds Python's interpreter for most of a compilation, so threads would wait for each other. A
process reads kernels and answers with machine code until there are none; it is started as a program
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

from treadle.backends.cuda import hand

MOST = 16  # processes: each takes some hundred megabytes
FEWEST = 6  # kernels: fewer are compiled by the time a process has started
PROGRAM = hand.__file__

Answer = tuple[int, Any]
"""The number of a kernel, and what `machine_code` gives for it."""


def answers(kernels: Sequence[hand.Asked]) -> Iterator[Answer]:
    """Machine code of kernels as it comes; of those that no process could compile there is none."""
    hands = min(len(kernels), MOST, os.cpu_count() or 1)
    if len(kernels) < FEWEST or hands < 3:
        return
    waiting: SimpleQueue[tuple[int, hand.Asked]] = SimpleQueue()
    for one in sorted(enumerate(kernels), key=lambda x: -len(x[1].text)):  # long ones begin first
        waiting.put(one)
    with ThreadPoolExecutor(hands) as pool:
        for found in pool.map(lambda _: list(_answered(waiting)), range(hands)):
            yield from found


def _answered(waiting: SimpleQueue[tuple[int, hand.Asked]]) -> Iterator[Answer]:
    """What one process answers."""
    here = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        [sys.executable, "-P", PROGRAM], env=here,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with process, suppress(Empty, OSError, EOFError, pickle.UnpicklingError):
        asking: Any = process.stdin
        while True:
            number, kernel = waiting.get_nowait()
            pickle.dump(tuple(kernel), asking)
            asking.flush()
            code = pickle.load(process.stdout)  # type: ignore[arg-type]
            if code is not None:
                yield number, code
