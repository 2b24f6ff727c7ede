"""Files that are there whole or not at all, and which of them can be read at any place."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from treadle.base.errors import FileError, explain

PathLike = str | os.PathLike[str]


def require_regular(what: str, path: PathLike) -> None:
    """Refuse folders, devices and pipes: to open a pipe waits for somebody who writes."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise FileError(explain(what, "not a regular file", file=os.fspath(path)))


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A file to write that becomes path when the block ends well; else nothing has changed."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    part = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    try:
        with open(part, "xb") as file:
            yield file
            flush(file)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)


def write(path: PathLike, text: str) -> None:
    """A text as a file that is there whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode())


def flush(file: BinaryIO) -> None:
    """Wait until what was written is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def flush_folder(folder: PathLike) -> None:
    """Wait until the names in a folder are on the disk; where folders cannot be, they need not."""
    with suppress(PermissionError):  # Windows opens no folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
