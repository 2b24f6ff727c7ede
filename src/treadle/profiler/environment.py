"""TREADLE_TRACE=out.pftrace: a profile of the whole run, written when Python ends."""

from __future__ import annotations

import atexit
import sys

from treadle.base.knobs import TRACE
from treadle.profiler.profile import Profile


def begin() -> None:
    """Profile from now to the end of Python."""
    whole = Profile()
    whole.__enter__()
    atexit.register(_end, whole, TRACE.value)


def _end(whole: Profile, path: str) -> None:
    whole.__exit__()
    whole.save(path)
    sys.stderr.write(f"treadle: {whole.head()}; written to {path}\n")
