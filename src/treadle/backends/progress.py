"""How far something has come: a line on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

WIDTH = 24


class Bar:
    """A bar on standard error for the time of a with block, if somebody looks."""

    def __init__(self, name: str) -> None:
        self.name, self.is_seen = name, sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def show(self, share: float, words: str) -> None:
        """So much is done."""
        if self.is_seen:
            done = round(WIDTH * min(1.0, max(0.0, share)))
            drawn = "━" * done + " " * (WIDTH - done)
            self._write(f"{self.name} {drawn} {words}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        at: TracebackType | None,
    ) -> None:  # fmt: skip
        if self.is_seen:
            self._write("")

    def _write(self, line: str) -> None:
        sys.stderr.write(f"\r\033[K{line}")
        sys.stderr.flush()
