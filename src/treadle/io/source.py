"""The bytes of a file at places that were checked: read into memory, or mapped."""

from __future__ import annotations

import json
import mmap
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, FileError, explain
from treadle.base.files import PathLike, require_regular

PIECE = 1 << 28
"""Bytes read at once: systems refuse some billions."""
LONGEST_SHOWN = 80


def shown(value: object) -> str:
    """Something out of a file, cut to what fits into a message."""
    text = repr(value[:LONGEST_SHOWN] if isinstance(value, str | bytes) else value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


class Source:
    """A file that is only read. Nothing is taken from beyond its end, however long it says it is.

    Arrays of a mapped file are its pages; of another they are memory of their own.
    """

    def __init__(self, path: PathLike, mapped: bool = False) -> None:
        self.path = Path(path)
        require_regular("load", self.path)
        self._file = open(self.path, "rb")  # noqa: SIM115 - closed by close()
        self._lock = threading.Lock()
        self.size = os.fstat(self._file.fileno()).st_size
        self._map: Any = None
        if mapped and self.size:
            whole = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
            self._map = np.frombuffer(whole, np.uint8)

    @property
    def mapped(self) -> bool:
        """Are arrays pages of the file?"""
        return self._map is not None

    def wrong(self, what: str, hint: str = "", /, **facts: object) -> FileError:
        """The error that says what is wrong with the file."""
        return FileError(explain("load", what, hint, file=str(self.path), **facts))

    def array(self, start: int, count: int) -> Any:
        """count bytes as an array of them."""
        if self._file.closed:
            raise ArgumentError(explain("load", "the file was closed", file=str(self.path)))
        if start < 0 or count < 0 or start + count > self.size:
            facts = {"from": start, "bytes": count, "file_bytes": self.size}
            raise self.wrong("the file ends before what it says it holds", **facts)
        if self._map is not None:
            return self._map[start : start + count]
        array: Any = np.empty(count, np.uint8)
        with self._lock:
            self._file.seek(start)
            for first in range(0, count, PIECE):
                piece = memoryview(array)[first : first + PIECE]
                if self._file.readinto(piece) != len(piece):
                    raise self.wrong("the file became shorter while it was read")
        return array

    def read(self, start: int, count: int) -> bytes:
        """count bytes."""
        found: bytes = self.array(start, count).tobytes()
        return found

    def close(self) -> None:
        """Close the file; what is mapped stays so as long as an array of it is held."""
        self._file.close()
        self._map = None

    # ---- what formats share

    def sizes(self, shape: Any) -> tuple[int, ...]:
        """A shape that a file names, if memory could have it."""
        most = 1
        for size in shape if isinstance(shape, list | tuple) else ():
            if type(size) is not int or size < 0:
                raise self.wrong("a shape is not made of sizes", shape=shown(shape))
            most *= size or 1
        if not isinstance(shape, list | tuple) or len(shape) > 32 or most >= 1 << 59:
            raise self.wrong("no memory has such a shape", shape=shown(shape))
        return tuple(shape)

    def json(self, text: bytes) -> Any:
        """A JSON text that names nothing twice."""
        try:
            return json.loads(
                text.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number
            )
        except (ValueError, RecursionError) as error:
            reason = str(error) or type(error).__name__
            raise self.wrong("what should be JSON is not", reason=shown(reason)) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")
