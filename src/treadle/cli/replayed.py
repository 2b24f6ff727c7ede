"""`treadle replay`: a kernel that `TREADLE_CHECK=1` has saved, run again."""

from __future__ import annotations

import argparse
import sys

from treadle.base.errors import TreadleError
from treadle.runtime.rerun import Rerun


def add_options(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("path", help="treadle-fault-....npz")
    parser.set_defaults(run=replay)


def replay(options: argparse.Namespace) -> int:
    """Print its graph and how results differ from NumPy's; 1 if they do, 2 if it cannot be run."""
    try:
        found = Rerun(options.path)
    except (TreadleError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(found)
    return 0 if found.now is None else 1
