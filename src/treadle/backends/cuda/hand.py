"""A process that compiles kernels until nobody asks: see `crew.py`."""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import suppress
from typing import IO

from treadle.backends.cuda.compile import compiled


def answer(asked: IO[bytes], answered: IO[bytes]) -> None:
    """Machine code for each source that comes; None where that cannot be had."""
    with suppress(EOFError):
        while True:
            source, architecture = pickle.load(asked)
            try:
                code = compiled(source, architecture)
            except Exception:  # whoever asked compiles it again and sees
                code = None
            pickle.dump(code, answered)
            answered.flush()


if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a compiler prints is no answer
    answer(sys.stdin.buffer, out)
