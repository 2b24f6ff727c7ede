"""Files that are there whole or not at all: written under another name, flushed, then renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PathLike = str | os.PathLike[str]


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A file to write that becomes path when the block ends well; else nothing has changed."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as file:
            yield file
            flush(file)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)


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
