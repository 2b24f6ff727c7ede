"""A recording as a file that other programs show; the name says which."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from treadle.base.errors import ArgumentError, explain
from treadle.base.files import PathLike, replacing
from treadle.profiler.chrome import chrome_parts
from treadle.profiler.perfetto import perfetto_parts
from treadle.profiler.recording import Recording
from treadle.profiler.report import report_parts
from treadle.profiler.stacks import folded_parts, speedscope_parts

Parts = Callable[[Recording], Iterator[bytes]]

FORMATS: dict[str, tuple[str, Parts]] = {
    ".pftrace": ("Perfetto", perfetto_parts),
    ".perfetto-trace": ("Perfetto", perfetto_parts),
    ".speedscope.json": ("speedscope", speedscope_parts),
    ".json": ("Chrome trace events", chrome_parts),
    ".folded": ("folded stacks", folded_parts),
    ".html": ("the report", report_parts),
}
"""Endings of names, longer ones first, and what is written then."""


def format_of(path: PathLike) -> Parts:
    """Who writes a file of this name."""
    name = os.fspath(path)
    for ending, (_, parts) in FORMATS.items():
        if name.endswith(ending):
            return parts
    known = ", ".join(f"{ending} ({what})" for ending, (what, _) in FORMATS.items())
    raise ArgumentError(
        explain("save", "the name does not say which format", f"end it in {known}", path=name)
    )


def place_of(path: PathLike) -> Path:
    """Where a file of this name will lie, whatever folder a program goes to meanwhile.

    Ask before recording, so that nothing is lost to a name that cannot be written.
    """
    format_of(path)
    place = Path(path).absolute()
    folder = str(place.parent)
    if not place.parent.is_dir():
        raise ArgumentError(explain("save", "no such folder", "make it first", folder=folder))
    if not os.access(folder, os.W_OK):
        hint = "name a file in another one"
        raise ArgumentError(explain("save", "the folder cannot be written to", hint, folder=folder))
    if place.is_dir():
        raise ArgumentError(
            explain("save", "a folder, not a file", "take another name", path=place)
        )
    return place


def save(recording: Recording, path: PathLike) -> None:
    """Write a recording in the format that the path's ending names, whole or not at all."""
    parts = format_of(path)
    with replacing(path) as file:
        for part in parts(recording):
            file.write(part)
