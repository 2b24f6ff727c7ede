"""Numbers of a run as a CSV file, a line for each step."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any, Self

from treadle.base.errors import ArgumentError, FileError, explain
from treadle.base.files import write


class CSVLogger:
    """Lines of named numbers in a file: `log(step=3, loss=0.5)`.

    A name that was not there before becomes a new column, empty in earlier lines. A file that
    exists is gone on with; a last line that was cut off is dropped. Every line is written when log
    returns.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.names: list[str] = []
        if self.path.exists():
            self._go_on()
        self._file = open(self.path, "a", encoding="utf-8", newline="")  # noqa: SIM115

    def log(self, **values: Any) -> None:
        """Write a line."""
        if self._file.closed:
            raise ArgumentError(explain("CSVLogger", "it is closed", path=self.path))
        plain = {name: _plain(name, value) for name, value in values.items()}
        new = [name for name in plain if name not in self.names]
        if new:
            self._widen(new)
        self._file.write(_line(plain.get(name, "") for name in self.names))
        self._file.flush()

    def _go_on(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            write(self.path, whole)
        try:
            rows = list(csv.reader(io.StringIO(whole), strict=True))
        except csv.Error as error:
            raise FileError(
                explain("CSVLogger", f"not a CSV file: {error}", path=self.path)
            ) from error
        self.names = rows[0] if rows else []
        if len(set(self.names)) < len(self.names) or any(len(r) != len(self.names) for r in rows):
            raise FileError(explain("CSVLogger", "not a table that it wrote", path=self.path))

    def _widen(self, new: list[str]) -> None:
        """Write the file again with more columns, whole or not at all."""
        self._file.close()
        with open(self.path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        self.names += new
        lines = [_line(self.names), *(_line([*row, *[""] * len(new)]) for row in rows)]
        write(self.path, "".join(lines))
        self._file = open(self.path, "a", encoding="utf-8", newline="")  # noqa: SIM115

    def close(self) -> None:
        """Write no more."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"CSVLogger({str(self.path)!r}, columns={self.names})"


def _plain(name: str, value: Any) -> Any:
    """A number or a text; a tensor or an array of one element is its number."""
    if isinstance(value, str | bool | int | float | None):
        return value
    if not hasattr(value, "item"):
        got = type(value).__name__
        raise ArgumentError(explain("CSVLogger", "not one number", name=name, got=got))
    if getattr(value, "size", 1) != 1 and getattr(value, "shape", ()) != ():
        raise ArgumentError(explain("CSVLogger", "not one number", name=name, shape=value.shape))
    return value.item()


def _line(values: Any) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow(values)
    return file.getvalue()
