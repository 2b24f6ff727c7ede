"""A piece of a program in a file: its graph, what it read, and what it made of that.

The file is an npz of bytes. `graph` is text as `td.graph` prints it, `leaf0`, `leaf1` and so on are
the elements of its leaves in order, `found0` and so on those of its roots.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.base import cache
from treadle.base.errors import FileError, explain
from treadle.base.files import replacing
from treadle.ir.node import Node
from treadle.ir.parser import parse_parts
from treadle.ir.printer import graph_text
from treadle.runtime.excerpt import Excerpt

Array = Any
NAME = "treadle-fault-{}.npz"


def save(excerpt: Excerpt, given: Mapping[Node, Array], found: list[Array]) -> str:
    """Write a piece to a file in this folder, or where that cannot be in the system's; its path."""
    text = graph_text(excerpt.roots, sites=True, first=excerpt.leaves)
    parts = {"graph": np.frombuffer(text.encode(), np.uint8)}
    parts |= {f"leaf{k}": _raw(given[leaf]) for k, leaf in enumerate(excerpt.leaves)}
    parts |= {f"found{k}": _raw(array) for k, array in enumerate(found)}
    data = io.BytesIO()
    np.savez_compressed(data, **parts)  # type: ignore[arg-type]
    name = NAME.format(cache.digest(text)[:12])
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        try:
            with replacing(folder / name) as file:
                file.write(data.getvalue())
        except OSError:
            continue
        return str(folder / name)
    return f"nowhere: neither this folder nor {tempfile.gettempdir()} can be written to"


def _raw(array: Array) -> Array:
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


class Saved:
    """What a file holds: roots, the leaves below them with their values, and what was made."""

    def __init__(self, path: str | Path) -> None:
        try:
            with np.load(path) as parts:
                known = {name: parts[name].tobytes() for name in parts.files}
            self.text = known["graph"].decode()
        except (KeyError, ValueError, BadZipFile, EOFError) as error:
            hint = "TREADLE_CHECK=1 writes such files"
            wrong = "not a saved kernel"
            raise FileError(explain("replay", wrong, hint, file=str(path))) from error
        self.leaves, self.roots = parse_parts(self.text)
        self.given = {leaf: _array(known[f"leaf{k}"], leaf) for k, leaf in enumerate(self.leaves)}
        self.found = [_array(known[f"found{k}"], root) for k, root in enumerate(self.roots)]


def _array(data: bytes, node: Node) -> Array:
    return np.frombuffer(data, numpy_dtype(node.dtype)).reshape(node.shape)
