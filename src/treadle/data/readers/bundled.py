"""Data that is there already: scikit-learn's sets, and the standard library's own source."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from treadle.base.errors import ArgumentError, explain
from treadle.data.datasets import TensorDataset
from treadle.data.extras import extra

SETS = ("breast_cancer", "diabetes", "digits", "iris", "wine")
APART = {"site-packages", "dist-packages", "__pycache__"}


class BundledDataset(TensorDataset):
    """Inputs and targets, and the names of both."""

    def __init__(self, inputs: Any, targets: Any, feature_names: Any, target_names: Any) -> None:
        super().__init__(inputs, targets)
        self.feature_names = [str(name) for name in feature_names]
        self.target_names = [str(name) for name in target_names]


def bundled(name: str) -> BundledDataset:
    """One of scikit-learn's sets: breast_cancer, diabetes, digits, iris, wine.

    Inputs are float32: digits are (1, 8, 8) from 0 to 1, others rows of numbers as they are.
    Targets are int64 classes, of diabetes float32.
    """
    if name not in SETS:
        raise ArgumentError(explain("bundled", "no such set", ", ".join(SETS), got=repr(name)))
    found = getattr(extra("bundled", "sklearn.datasets", "scikit-learn"), f"load_{name}")()
    inputs = np.asarray(found.data, np.float32)
    if name == "digits":
        inputs = inputs.reshape(-1, 1, 8, 8) / np.float32(16)
    is_class = name != "diabetes"
    targets = np.asarray(found.target, np.int64 if is_class else np.float32)
    return BundledDataset(
        inputs, targets, found.feature_names, found.target_names if is_class else ["progression"]
    )


def stdlib_text(max_bytes: int | None = None) -> str:
    """The source of Python's standard library as one text, file after file in a fixed order.

    It ends after max_bytes of UTF-8, at a whole character. Files that are not UTF-8 are left out.
    """
    folder = Path(sysconfig.get_path("stdlib"))
    parts, size = [], 0
    for path in _sources(folder):
        try:
            content = path.read_bytes()
            content.decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        parts.append(content)
        size += len(content)
        if max_bytes is not None and size >= max_bytes:
            break
    whole = b"".join(parts)[:max_bytes].replace(b"\r\n", b"\n")
    return whole.decode("utf-8", "ignore")  # a character that was cut in two is left out


def _sources(folder: Path) -> Iterator[Path]:
    """The Python files of a folder, then those of the folders in it, by name: the same anywhere."""
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    yield from (Path(x.path) for x in entries if x.name.endswith(".py") and x.is_file())
    for entry in entries:
        if entry.name not in APART and entry.is_dir():
            yield from _sources(Path(entry.path))
