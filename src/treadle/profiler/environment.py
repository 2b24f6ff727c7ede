"""TREADLE_TRACE=out.pftrace: a profile of the whole run, written when Python ends."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import sys
from pathlib import Path

from treadle.base.knobs import TRACE
from treadle.profiler.files import place_of
from treadle.profiler.profile import Profile


def begin() -> None:
    """Profile from now to the end of Python; processes that it starts do not write the file."""
    if multiprocessing.parent_process() is None:
        path, whole = place_of(TRACE.value), Profile()
        whole.__enter__()
        atexit.register(_end, whole, path, os.getpid())


def _end(whole: Profile, path: Path, process: int) -> None:
    if os.getpid() != process:  # forked
        return
    whole.__exit__()
    whole.save(path)
    sys.stderr.write(f"treadle: {whole.head()}; written to {path}\n")
