"""Models in several safetensors files: an index says which file holds which tensor."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.base.files import PathLike, flush_folder, replacing
from treadle.io.files import TensorFile
from treadle.io.safetensors import LARGEST_HEADER, SafeTensors, facts_of, write
from treadle.io.source import shown
from treadle.tensor.tensor import Tensor

UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
INDEX = ".index.json"


class Shards(TensorFile):
    """The files that an index (`model.safetensors.index.json`) names, opened as one."""

    kind = "safetensors index"

    def __init__(self, path: PathLike, mmap: bool = True) -> None:
        self._mmap = mmap
        self.parts: dict[str, SafeTensors] = {}
        super().__init__(path, mmap=False)

    def _read(self) -> None:
        if self.source.size > LARGEST_HEADER:
            raise self.source.wrong("too long for an index", file_bytes=self.source.size)
        index = self.source.json(self.source.read(0, self.source.size))
        names = index.get("weight_map") if isinstance(index, dict) else None
        if not isinstance(names, dict):
            raise self.source.wrong("an index has a weight_map", "open the model's own file")
        found = index.get("metadata", {})
        self.metadata = found if isinstance(found, dict) else {}
        for name, part in names.items():
            if not isinstance(part, str) or part not in self.parts:
                self.parts[part] = self._open(part)
            if name not in self.parts[part].entries:
                raise self.source.wrong("a tensor is not where the index says", name=shown(name))
            self.entries[name] = self.parts[part].entries[name]
        self._names = names

    def _open(self, name: Any) -> SafeTensors:
        plain = isinstance(name, str) and re.fullmatch(r"[^/\\:\0]+", name)
        if not plain or name in (".", ".."):
            hint = "the files of a model lie beside its index"
            raise self.source.wrong("the index names no file beside it", hint, got=shown(name))
        path = self.path.with_name(name)
        if not path.is_file():
            raise self.source.wrong("a file that the index names is missing", missing=shown(name))
        return SafeTensors(path, self._mmap)

    def numpy(self, name: str) -> Any:
        """One tensor's elements as an array that must not be written to."""
        self.entry(name)
        return self.parts[self._names[name]].numpy(name)

    def close(self) -> None:
        """Close the index and the files."""
        super().close()
        for part in self.parts.values():
            part.close()


def save_safetensors(
    tensors: Mapping[str, Tensor],
    path: PathLike,
    metadata: Mapping[str, str] | None = None,
    max_shard_size: int | str | None = None,
) -> list[Path]:
    """Write tensors by name to a safetensors file; the files that were written.

    With max_shard_size (bytes, or a text such as "5GB") a model that is larger goes to several
    files, model-00001-of-00003.safetensors and so on, with an index that td.load takes. Each file
    is written under another name and renamed; the index comes last, and an old one goes first: a
    save that was interrupted leaves no index rather than one of old and new files.
    """
    target, said = Path(path), dict(metadata or {})
    groups = _groups(tensors, None if max_shard_size is None else _bytes(max_shard_size))
    index = target.with_name(target.name + INDEX)
    if len(groups) == 1:
        write(target, tensors, said)
        index.unlink(missing_ok=True)
        return [target]
    index.unlink(missing_ok=True)
    flush_folder(target.parent)
    names: dict[str, str] = {}
    written = []
    for number, group in enumerate(groups, 1):
        part = target.with_name(f"{target.stem}-{number:05}-of-{len(groups):05}{target.suffix}")
        write(part, {name: tensors[name] for name in group}, said)
        names |= dict.fromkeys(group, part.name)
        written.append(part)
    total = sum(_size(name, value) for name, value in tensors.items())
    with replacing(index) as file:
        found = {"metadata": {"total_size": total}, "weight_map": names}
        file.write(json.dumps(found, indent=1).encode())
    return [*written, index]


def _groups(tensors: Mapping[str, Any], most: int | None) -> list[list[str]]:
    """Names in order, cut where a file would become larger than most; at least one group."""
    groups: list[list[str]] = [[]]
    filled = 0
    for name, value in tensors.items():
        size = _size(name, value)
        if most is not None and groups[-1] and filled + size > most:
            groups.append([])
            filled = 0
        groups[-1].append(name)
        filled += size
    return groups


def _size(name: str, value: Any) -> int:
    kind, shape = facts_of("save_safetensors", name, value)
    return prod(shape) * kind.size


def _bytes(size: int | str) -> int:
    """A count of bytes, or a text with a unit: 5GB is 5 * 10**9."""
    match = re.fullmatch(r"(\d+) ?([KMG]I?B)?", size.upper()) if isinstance(size, str) else None
    found = int(match[1]) * UNITS[match[2] or ""] if match else size
    if not isinstance(found, int) or found <= 0:
        hint = 'a number of bytes, or a text such as "5GB" or "500MiB"'
        raise ArgumentError(explain("save_safetensors", "no size", hint, got=repr(size)))
    return found
