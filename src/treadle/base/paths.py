"""Which paths can be opened without waiting, and read at any place."""

from __future__ import annotations

import os
import stat

from treadle.base.errors import FileError, explain


def require_regular(what: str, path: str | os.PathLike[str]) -> None:
    """Refuse folders, devices and pipes: to open a pipe waits for somebody who writes."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise FileError(explain(what, "not a regular file", file=os.fspath(path)))
