"""Trees of tensors written as checkpoints that PyTorch loads, weights_only included."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from treadle.base.dtypes import DType
from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.base.files import PathLike, replacing
from treadle.io.pickled import Name
from treadle.io.pytorch import DEEPEST, PACKAGE, STORAGES, UNTYPED
from treadle.io.safetensors import array_of, facts_of
from treadle.io.source import shown
from treadle.tensor.tensor import Tensor, realize

ALIGNMENT = 64
"""Bytes to which storages are aligned in the file, as PyTorch does."""
STORAGE_NAMES = {kind: name for name, kind in STORAGES.items()}
PADDING = struct.Struct("<2sH")
LARGE = 1 << 31


def save_pt(tree: Any, path: PathLike) -> None:
    """Write a tree of tensors as PyTorch's load reads it, its weights_only form included."""
    pickler = Pickler()
    pickler.value(tree, 0)
    data = bytes(b"\x80\x02" + pickler.code + b".")
    realize(*(leaf for leaf in pickler.leaves if isinstance(leaf, Tensor)))
    root = Path(path).stem or "archive"
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, text in (("data.pkl", data), (".format_version", b"1")):
            _member(archive, file, f"{root}/{name}", text)
        _member(archive, file, f"{root}/byteorder", b"little")
        for key, leaf in enumerate(pickler.leaves):
            array = array_of("save", str(key), leaf)
            _member(
                archive, file, f"{root}/data/{key}", memoryview(array.reshape(-1).view(np.uint8))
            )
        _member(archive, file, f"{root}/version", b"3\n")


def _member(archive: zipfile.ZipFile, file: BinaryIO, name: str, data: Any) -> None:
    """A member whose bytes begin at a multiple of ALIGNMENT: a field without a meaning fills up."""
    info = zipfile.ZipInfo(name)
    large = 20 if len(data) > LARGE else 0  # a field for sizes of more than 32 bits comes before
    header = file.tell() + 30 + len(name.encode()) + large + PADDING.size
    padding = -header % ALIGNMENT
    info.extra = PADDING.pack(b"FB", padding) + b"Z" * padding
    with archive.open(info, "w", force_zip64=bool(large)) as member:
        member.write(data)


class Pickler:
    """Plain data and tensors as instructions of a pickle; every tensor's memory gets a number."""

    def __init__(self) -> None:
        self.code = bytearray()
        self.leaves: list[Any] = []
        self._keys: dict[int, int] = {}

    def value(self, tree: Any, depth: int) -> None:
        """Instructions that make a tree."""
        if depth > DEEPEST:
            raise ArgumentError(explain("save", f"nested deeper than {DEEPEST}"))
        if isinstance(tree, Tensor | np.ndarray):
            self._tensor(tree)
        elif isinstance(tree, np.generic):
            self.value(tree.item(), depth)
        elif isinstance(tree, DType):
            self._name(Name(PACKAGE, tree.name))
        elif isinstance(tree, dict):
            self.code += b"}("
            for key, part in tree.items():
                self.value(_key(key), depth + 1)
                self.value(part, depth + 1)
            self.code += b"u"
        elif type(tree) in (list, tuple):
            self.code += b"](" if type(tree) is list else b"("
            for part in tree:
                self.value(part, depth + 1)
            self.code += b"e" if type(tree) is list else b"t"
        else:
            self._plain(tree)

    def _plain(self, tree: Any) -> None:
        if tree is None or type(tree) is bool:
            self.code += {None: b"N", True: b"\x88", False: b"\x89"}[tree]
        elif type(tree) is int:
            self._integer(tree)
        elif isinstance(tree, float):
            self.code += b"G" + struct.pack(">d", tree)
        elif type(tree) is str:
            data = tree.encode("utf-8", "surrogatepass")
            self.code += b"X" + struct.pack("<I", len(data)) + data
        else:
            hint = "dicts, lists, tuples, tensors, NumPy arrays, numbers, strings and None are"
            facts = {"got": type(tree).__name__}
            raise OperandError(explain("save", "a value cannot be stored", hint, **facts))

    def _integer(self, value: int) -> None:
        if -(1 << 31) <= value < 1 << 31:
            self.code += b"J" + struct.pack("<i", value)
            return
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        if len(data) > 64:
            raise ArgumentError(explain("save", "an integer is too long", bytes=len(data)))
        self.code += b"\x8a" + bytes((len(data),)) + data

    def _name(self, name: Name) -> None:
        self.code += f"c{name.module}\n{name.name}\n".encode()

    def _tensor(self, leaf: Any) -> None:
        """The call that makes a tensor of a storage."""
        kind, shape = facts_of("save", "a value", leaf)
        typed = kind in STORAGE_NAMES
        if id(leaf) not in self._keys:
            self._keys[id(leaf)] = len(self.leaves)
            self.leaves.append(leaf)
        count = int(np.prod(shape, dtype=object)) * (1 if typed else kind.size)
        self._name(Name(f"{PACKAGE}._utils", f"_rebuild_tensor_v{2 if typed else 3}"))
        self.code += b"(("
        self._plain("storage")
        self._name(Name(PACKAGE, STORAGE_NAMES[kind]) if typed else UNTYPED)
        for part in (str(self._keys[id(leaf)]), "cpu", count):
            self._plain(part)
        self.code += b"tQ"
        self._plain(0)
        for numbers in (shape, _strides(shape)):
            self.value(tuple(int(n) for n in numbers), 0)
        self._plain(False)
        self._name(Name("collections", "OrderedDict"))
        self.code += b")R"
        if not typed:
            self._name(Name(PACKAGE, kind.name))
        self.code += b"tR"


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _key(key: Any) -> Any:
    if key is None or type(key) in (str, bool, int, float):
        return key
    hint = "strings and numbers are keys"
    raise OperandError(
        explain("save", "a key cannot be stored", hint, got=shown(type(key).__name__))
    )
