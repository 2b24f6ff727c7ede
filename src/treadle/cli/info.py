"""`treadle info`: what a file of tensors or a checkpoint holds, by its headers alone."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from treadle import io
from treadle.base.errors import ArgumentError, TreadleError
from treadle.io.checkpointer import MANIFEST, manifest_of, plain_tree

HEAD = ("name", "dtype", "shape", "bytes")
LONGEST = 100
UNITS = ("bytes", "KB", "MB", "GB", "TB")


class Found(NamedTuple):
    """What is in one file."""

    title: str
    entries: dict[str, io.Entry]
    metadata: dict[str, Any]


def show_file(options: argparse.Namespace) -> int:
    """Print what is in a file; 1 if it cannot be read."""
    try:
        found = list(look(Path(options.path)))
    except (TreadleError, OSError) as error:
        print(clean(str(error), limit=10 * LONGEST), file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps([_plain(part) for part in found], indent=1, default=str))
        return 0
    for part in found:
        _show(part)
    return 0


def look(path: Path) -> Iterator[Found]:
    """The files at a path: one, or those of a checkpoint."""
    newest = io.Checkpointer(path).latest() if path.is_dir() else None
    folder = path if newest is None else newest
    if folder.is_dir() and (folder / MANIFEST).is_file():
        yield from _checkpoint(folder)
        return
    with io.open(path) as file:
        yield Found(f"{file.path}: {file.kind}", file.entries, file.metadata)


def _checkpoint(folder: Path) -> Iterator[Found]:
    facts = manifest_of(folder)[1]
    trees = {name: plain_tree(folder, tree) for name, tree in facts["trees"].items()}
    yield Found(f"{folder}: checkpoint of step {facts['step']}", {}, trees)
    for name in facts["files"]:
        if not (folder / name).is_file():
            raise ArgumentError(f"{folder / name} is missing")
        with io.open(folder / name) as file:
            yield Found(f"{name}: {file.kind}", file.entries, {})


# ---- as text


def _plain(found: Found) -> dict[str, Any]:
    entries = {name: entry._asdict() for name, entry in found.entries.items()}
    return {"file": found.title, "tensors": entries, "metadata": found.metadata}


def _show(found: Found) -> None:
    print(clean(found.title, limit=10 * LONGEST))
    for name, value in found.metadata.items():
        print(f"  {clean(name)}: {_short(value)}")
    if not found.entries:
        return
    rows: list[tuple[str, ...]] = [
        (clean(name), entry.dtype, _shape(entry.shape), f"{entry.nbytes:,}")
        for name, entry in found.entries.items()
    ]
    _print_table(rows)
    print(_total("total", list(found.entries.values())))
    kinds = sorted({entry.dtype for entry in found.entries.values()})
    for kind in kinds if len(kinds) > 1 else ():
        print(_total(kind, [entry for entry in found.entries.values() if entry.dtype == kind]))
    print()


def _total(name: str, entries: list[io.Entry]) -> str:
    elements = sum(prod(entry.shape) for entry in entries)
    size = readable(sum(entry.nbytes for entry in entries))
    count = f"{len(entries):,} tensor{'s' * (len(entries) != 1)}"
    return f"  {name}: {count}, {elements:,} elements, {size}"


def readable(count: float) -> str:
    """A number of bytes in a unit that leaves few digits."""
    for unit in UNITS:
        if count < 1000 or unit == UNITS[-1]:
            return f"{count:.0f} {unit}" if unit == UNITS[0] else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "-"


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 8:
        return clean(f"{len(value):,} items: {value[:4]!r}")
    return clean(value if isinstance(value, str) else repr(value))


def clean(text: str, limit: int = LONGEST) -> str:
    """Text out of a file, short and without what would steer a terminal."""
    shown = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text[:limit])
    return shown if len(text) <= limit else f"{shown}..."


def _print_table(rows: list[tuple[str, ...]]) -> None:
    """In colour where rich is installed and somebody looks."""
    if importlib.util.find_spec("rich") is None or not sys.stdout.isatty():
        widths = [max(len(row[k]) for row in (HEAD, *rows)) for k in range(len(HEAD))]
        for row in (HEAD, *rows):
            name, dtype, shape, size = (x.ljust(n) for x, n in zip(row, widths, strict=True))
            print(f"  {name}  {dtype}  {shape}  {size.strip().rjust(widths[-1])}")
        return
    table = importlib.import_module("rich.table").Table(box=None, padding=(0, 2, 0, 2))
    text = importlib.import_module("rich.text").Text  # names are shown as they are, not as markup
    for name in HEAD:
        table.add_column(name, no_wrap=True, justify="right" if name == "bytes" else "left")
    for row in rows:
        styles = ("bold", "green", "cyan", "")
        table.add_row(*(text(x, style=style) for x, style in zip(row, styles, strict=True)))
    importlib.import_module("rich.console").Console().print(table)
