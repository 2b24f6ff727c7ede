"""Tables in text files: columns with names and types."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, FileError, IndexingError, explain

Array = np.ndarray[Any, Any]
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
TRUTHS = {"true": True, "false": False, "True": True, "False": False, "TRUE": True, "FALSE": False}
_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z|[+-]?(inf|Inf|INF)\Z")


class Table:
    """Columns by name, all of one length: `table["age"]` is a NumPy array."""

    def __init__(self, columns: dict[str, Array]) -> None:
        self.columns = columns

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.columns)

    def __getitem__(self, name: str) -> Array:
        if name not in self.columns:
            raise IndexingError(explain("Table", "no such column", ", ".join(self.names), got=name))
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def array(self, names: Sequence[str] | None = None, dtype: Any = np.float32) -> Array:
        """Columns of numbers side by side: (rows, columns); all of them, or those named."""
        chosen = {name: self[name] for name in (self.names if names is None else names)}
        words = [name for name, column in chosen.items() if column.dtype.kind == "U"]
        if words:
            wrong, hint = "columns of text are no numbers", "name the others, or use `codes`"
            raise ArgumentError(explain("Table.array", wrong, hint, text=words))
        kind = np.dtype(getattr(dtype, "name", dtype))
        parts = [column.astype(kind) for column in chosen.values()]
        return np.stack(parts, axis=1) if parts else np.zeros((len(self), 0), kind)

    def codes(self, name: str) -> tuple[Array, list[str]]:
        """A column as numbers of its sorted values, and these values: classes of a label."""
        values, numbers = np.unique(self[name], return_inverse=True)
        return numbers.astype(np.int64), values.tolist()

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}: {column.dtype}" for name, column in self.columns.items())
        return f"Table({len(self)} rows; {shown})"


def read_csv(
    path: str | os.PathLike[str], header: bool | Sequence[str] = True, delimiter: str = ",",
    dtype: Mapping[str, Any] | None = None, missing: Sequence[str] = MISSING,
    encoding: str = "utf-8",
) -> Table:  # fmt: skip
    """A table from a CSV file.

    header says whether the first line has the names, or gives them. A column is int64 if all of it
    is whole numbers, float64 if numbers (missing ones are NaN), bool if true and false, else text
    (missing is ""); dtype names another for some. Numbers of more than 64 bits stay text.
    """
    if len(delimiter) != 1:
        raise ArgumentError(explain("read_csv", "delimiter is one character", got=repr(delimiter)))
    names, rows, lines = _rows(path, header, delimiter, encoding)
    wanted = dict(dtype or {})
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        raise ArgumentError(explain("read_csv", "no such columns", columns=names, dtype=unknown))
    absent = set(missing)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    made = {}
    for name, column in zip(names, columns, strict=True):
        if name in wanted:
            made[name] = _typed(path, name, column, wanted[name], absent, lines)
        else:
            made[name] = _guessed(column, absent)
    return Table(made)


def _rows(
    path: Any, header: bool | Sequence[str], delimiter: str, encoding: str
) -> tuple[list[str], list[list[str]], list[int]]:
    """The names, the fields of each row, and the number of each row's last line."""
    rows, lines = [], []
    try:
        with open(path, encoding=encoding, newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for row in reader:
                if row:
                    rows.append([field.strip() for field in row])
                    lines.append(reader.line_num)
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileError(explain("read_csv", f"not a CSV file: {error}", path=path)) from error
    if header is True:
        if not rows:
            raise FileError(explain("read_csv", "empty: no line with names", path=path))
        names, rows, lines = rows[0], rows[1:], lines[1:]
        names[0] = names[0].removeprefix("\ufeff")
    elif header is False:
        names = [f"column{k}" for k in range(len(rows[0]) if rows else 0)]
    else:
        names = list(header)
    if len(set(names)) < len(names):
        raise FileError(explain("read_csv", "two columns have one name", path=path, names=names))
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(names):
            facts = {"path": path, "line": line, "fields": len(row), "columns": len(names)}
            raise FileError(explain("read_csv", "a row has another number of fields", **facts))
        if any("\0" in field for field in row):
            raise FileError(explain("read_csv", "a zero byte in the text", path=path, line=line))
    return names, rows, lines


def _guessed(column: Sequence[str], absent: set[str]) -> Array:
    """A column in the narrowest type that holds all of it."""
    if not column:
        return np.zeros(0)
    there = [field for field in column if field not in absent]
    complete = len(there) == len(column)
    if there and all(map(_WHOLE.match, there)):
        whole = [int(field) for field in there]
        if not all(-(1 << 63) <= n < 1 << 63 for n in whole):
            return np.array(column, np.str_)
        if complete:
            return np.array(whole, np.int64)
    if all(map(_NUMBER.match, there)) and (there or not complete):
        return np.array([np.nan if field in absent else float(field) for field in column])
    if complete and there and all(field in TRUTHS for field in there):
        return np.array([TRUTHS[field] for field in there])
    return np.array(["" if field in absent else field for field in column], np.str_)


def _typed(
    path: Any, name: str, column: Sequence[str], given: Any, absent: set[str], lines: list[int]
) -> Array:
    """A column in the type that was asked for."""
    kind = np.dtype(getattr(given, "name", given))
    made: list[Any] = []
    for field, line in zip(column, lines, strict=True):
        facts = {"path": path, "line": line, "column": name, "got": repr(field)}
        if field in absent and kind.kind in "iub":
            wrong = f"a missing value in a column of {kind}"
            raise FileError(explain("read_csv", wrong, "ask for float64", **facts))
        try:
            made.append(_value(field, kind, absent))
        except (ValueError, KeyError, OverflowError):
            raise FileError(explain("read_csv", f"not {kind}", **facts)) from None
    return np.array(made, kind)


def _value(field: str, kind: np.dtype[Any], absent: set[str]) -> Any:
    if kind.kind in "iu":
        return kind.type(int(field) if _WHOLE.match(field) else _refused(field))
    if kind.kind == "b":
        return TRUTHS[field] if field in TRUTHS else bool(("0", "1").index(field))
    if kind.kind == "f":
        if field in absent:
            return np.nan
        return float(field) if _NUMBER.match(field) else _refused(field)
    return "" if field in absent else field


def _refused(field: str) -> Any:
    raise ValueError(field)
