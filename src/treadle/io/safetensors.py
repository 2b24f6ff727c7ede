"""The safetensors format: a header of names and places, then the bytes of the tensors."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from math import prod
from typing import Any, BinaryIO

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.base import dtypes as d
from treadle.base.dtypes import DType
from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.base.files import PathLike, replacing
from treadle.io.files import Entry, TensorFile, Where, tensor_of, typed
from treadle.io.source import Source, shown
from treadle.io.tree import built
from treadle.tensor.tensor import Tensor, realize

KINDS: dict[str, DType] = {
    "BOOL": d.bool_, "U8": d.uint8, "I8": d.int8, "U16": d.uint16, "I16": d.int16,
    "U32": d.uint32, "I32": d.int32, "U64": d.uint64, "I64": d.int64,
    "F8_E4M3": d.float8_e4m3fn, "F8_E5M2": d.float8_e5m2, "F16": d.float16, "BF16": d.bfloat16,
    "F32": d.float32, "F64": d.float64, "C64": d.complex64,
}  # fmt: skip
NAMES = {kind: name for name, kind in KINDS.items()}
FOREIGN_BITS = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E8M0": 8}
"""Bits of elements that can be listed and not be read."""
LARGEST_HEADER = 100_000_000
TREE, CHECKSUM = "treadle.tree", "treadle.crc32"
METADATA = "__metadata__"


class SafeTensors(TensorFile):
    """A safetensors file, opened: tensors lie in the mapped file wherever they are aligned there.

    The header is checked before anything is used: the tensors' bytes follow each other without a
    gap or an overlap from its end to the end of the file, and are what shapes and dtypes need.
    """

    kind = "safetensors"

    def _read(self) -> None:
        header, self._begin = _header(self.source)
        self.metadata = _metadata(self.source, header.pop(METADATA, {}))
        self._places = {name: _place(self.source, name, facts) for name, facts in header.items()}
        self._check_order()
        for name, (start, end) in self._places.items():
            facts = header[name]
            self.entries[name] = Entry(facts["dtype"], tuple(facts["shape"]), end - start)

    def numpy(self, name: str) -> Any:
        """One tensor's elements as an array that must not be written to."""
        entry = self.entry(name)
        kind = KINDS.get(entry.dtype)
        if kind is None:
            raise self.source.wrong("its element type cannot be read", name=name, dtype=entry.dtype)
        start, end = self._places[name]
        raw = self.source.array(self._begin + start, end - start)
        return typed(self.source, raw, kind, entry.shape)

    def load(self, device: Where = None) -> Any:
        """The tensors by name, or the tree that td.save wrote."""
        if not self.source.mapped:
            self.verify()
        if TREE not in self.metadata:
            return super().load(device)

        def leaf(kind: str, name: str) -> Any:
            if name not in self.entries:
                raise self.source.wrong("the tree names a tensor that is missing", name=shown(name))
            array = self.numpy(name)
            if kind == "tensor":
                return tensor_of(array, device)
            return array if kind == "array" else array[()]

        form = self.source.json(self.metadata[TREE].encode("utf-8", "replace"))
        return built(self.source.wrong, form, leaf)

    def verify(self) -> None:
        """Compare the bytes with the checksum that td.save leaves in a tree's file."""
        wanted = self.metadata.get(CHECKSUM)
        if wanted is None:
            return
        sum_ = zlib.crc32(_blank(self.source.read(8, self._begin - 8), wanted))
        for start, end in sorted(self._places.values()):
            sum_ = zlib.crc32(self.source.array(self._begin + start, end - start), sum_)
        if f"{sum_:08x}" != wanted:
            facts = {"found": f"{sum_:08x}", "wanted": shown(wanted)}
            raise self.source.wrong("the file is damaged: its checksum differs", **facts)

    def _check_order(self) -> None:
        """Tensors must follow each other from the header to the end."""
        last = 0
        for start, end in sorted(self._places.values()):
            if start != last:
                wrong = "tensors overlap" if start < last else "there is a gap between tensors"
                raise self.source.wrong(wrong, at=start, expected=last)
            last = end
        if self._begin + last != self.source.size:
            facts = {"ends": self._begin + last, "file_bytes": self.source.size}
            raise self.source.wrong("the tensors do not end where the file ends", **facts)


# ---- the header


def _header(source: Source) -> tuple[dict[str, Any], int]:
    """The header, and where it ends."""
    if source.size < 8:
        raise source.wrong("too short for a safetensors file", file_bytes=source.size)
    length = int.from_bytes(source.read(0, 8), "little")
    if length > min(LARGEST_HEADER, source.size - 8):
        raise source.wrong("no such header fits", header_bytes=length, file_bytes=source.size)
    header = source.json(source.read(8, length))
    if not isinstance(header, dict):
        raise source.wrong("the header is no JSON object")
    return header, 8 + length


def _metadata(source: Source, found: Any) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(x, str) for x in found.values()):
        raise source.wrong("metadata are not texts by name")
    return found


def _place(source: Source, name: str, facts: Any) -> tuple[int, int]:
    """Where a tensor begins and ends, if that is as many bytes as it needs."""
    keys = ("dtype", "shape", "data_offsets")
    if not isinstance(facts, dict) or not all(key in facts for key in keys):
        raise source.wrong("a tensor has no dtype, shape and data_offsets", name=shown(name))
    kind, shape, places = (facts[key] for key in keys)
    if not isinstance(kind, str) or (kind not in KINDS and kind not in FOREIGN_BITS):
        raise source.wrong("unknown element type", name=shown(name), dtype=shown(kind))
    whole = isinstance(places, list) and all(type(x) is int for x in places)
    if not whole or len(places) != 2 or not 0 <= places[0] <= places[1]:
        facts = {"name": shown(name), "data_offsets": shown(places)}
        raise source.wrong("no place in the file", **facts)
    bits = KINDS[kind].size * 8 if kind in KINDS else FOREIGN_BITS[kind]
    start, end = places
    if prod(source.sizes(shape)) * bits != (end - start) * 8:
        facts = {"name": shown(name), "dtype": kind, "shape": shown(shape), "bytes": end - start}
        raise source.wrong("a tensor's bytes are not what its shape needs", **facts)
    return start, end


def _blank(header: bytes, checksum: str) -> bytes:
    """The header as it was when the checksum was computed: with zeros in its place."""
    return header.replace(checksum.encode(), b"0" * len(checksum), 1)


# ---- writing


def array_of(what: str, name: str, value: Any) -> Any:
    """The elements of a tensor or an array, in order."""
    if isinstance(value, Tensor):
        return np.asarray(value.numpy(), order="C")
    if not isinstance(value, np.ndarray | np.generic):
        hint = "a tensor or a NumPy array; td.save takes trees of them"
        raise OperandError(
            explain(what, f"{shown(name)} is no tensor", hint, got=type(value).__name__)
        )
    array = np.asarray(value)
    if array.dtype.kind not in "biufcV" or array.dtype.names:
        facts = {"name": shown(name), "dtype": array.dtype}
        raise OperandError(explain(what, "no tensor has such elements", **facts))
    return np.asarray(array, numpy_dtype(d.dtype(array.dtype)), order="C")


def facts_of(what: str, name: str, value: Any) -> tuple[DType, tuple[int, ...]]:
    """Dtype and shape of a tensor or an array; nothing is computed."""
    if isinstance(value, Tensor):
        return value.dtype, value.shape
    array = array_of(what, name, value)
    return d.dtype(array.dtype), array.shape


def write(
    path: PathLike, tensors: Mapping[str, Any], metadata: Mapping[str, str], checked: bool = False
) -> None:
    """Write tensors to a file that appears when it is whole; checked: with a checksum in it."""
    with replacing(path) as file:
        write_to(file, tensors, metadata, checked)


def write_to(
    file: BinaryIO, tensors: Mapping[str, Any], metadata: Mapping[str, str], checked: bool
) -> None:
    """Write tensors to a file. Wide elements go first, so that all are aligned."""
    realize(*(value for value in tensors.values() if isinstance(value, Tensor)))
    described = {name: facts_of("save", name, value) for name, value in tensors.items()}
    order = sorted(tensors, key=lambda name: -described[name][0].size)
    header = _header_for(described, order, metadata, checked)
    sum_ = zlib.crc32(header)
    file.write(len(header).to_bytes(8, "little") + header)
    for name in order:
        array = array_of("save", name, tensors[name])
        piece = memoryview(array.reshape(-1).view(np.uint8))
        file.write(piece)
        sum_ = zlib.crc32(piece, sum_) if checked else 0
    if checked:
        place = header.index(f'"{CHECKSUM}":"'.encode()) + len(CHECKSUM) + 4
        file.seek(8 + place)
        file.write(f"{sum_:08x}".encode())


def _header_for(
    described: Mapping[str, tuple[DType, tuple[int, ...]]],
    order: list[str],
    metadata: Mapping[str, str],
    checked: bool,
) -> bytes:
    for name, text in metadata.items():
        if not isinstance(name, str) or not isinstance(text, str):
            hint = "metadata are texts by name; json.dumps(value) makes one"
            raise ArgumentError(explain("save", "metadata are no texts", hint, name=shown(name)))
    last, places = 0, {}
    for name in order:
        kind, shape = described[name]
        places[name] = [last, last + prod(shape) * kind.size]
        last = places[name][1]
    said = ({CHECKSUM: "0" * 8} if checked else {}) | dict(metadata)
    header: dict[str, Any] = {METADATA: said} if said else {}
    for name, (kind, shape) in described.items():
        if not isinstance(name, str) or name == METADATA:
            raise ArgumentError(explain("save", "no name for a tensor", name=shown(name)))
        if kind not in NAMES:
            hint = "save td.view_as_real(x), or a file .npz or .pt"
            facts = {"name": shown(name), "dtype": kind.name}
            raise OperandError(explain("save", "the format has no such elements", hint, **facts))
        sizes = [int(size) for size in shape]
        header[name] = {"dtype": NAMES[kind], "shape": sizes, "data_offsets": places[name]}
    made = json.dumps(header, separators=(",", ":")).encode()
    if len(made) > LARGEST_HEADER:
        hint = "fewer names, or a file for each part"
        raise ArgumentError(explain("save", "no file has so long a header", hint, bytes=len(made)))
    return made + b" " * (-len(made) % 8)
