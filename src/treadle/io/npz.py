"""NumPy's files of arrays, read without pickles, and its archives, also written."""

from __future__ import annotations

import json
import re
import struct
import zipfile
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from treadle.backends.arrays import numpy_dtype
from treadle.base import dtypes as d
from treadle.base.dtypes import DType
from treadle.base.errors import ArgumentError, explain
from treadle.base.files import PathLike, replacing
from treadle.io.archive import Archive
from treadle.io.files import Entry, TensorFile, Where, typed
from treadle.io.safetensors import array_of
from treadle.io.source import Source, shown

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000
FOREIGN = (d.bfloat16, d.float8_e4m3fn, d.float8_e5m2)
"""What NumPy does not know: stored as bytes without a meaning, which a note gives back."""
NOTE = "treadle.json"
ONLY = "value"
CODES = {numpy_dtype(kind).str[1:]: kind for kind in (*d.ALL, *d.COMPLEX) if kind not in FOREIGN}
REASONS = {
    "O": "Python objects are pickles, which can run code",
    "U": "texts are no tensors",
    "S": "texts are no tensors",
    "V": "its elements have no meaning that NumPy knows",
}


class Header(NamedTuple):
    """What an array says about itself."""

    code: str
    swapped: bool
    fortran: bool
    shape: tuple[int, ...]
    length: int


class NPZ(TensorFile):
    """An NPZ archive, opened. Arrays that are not compressed are mapped."""

    kind = "npz"

    def _read(self) -> None:
        self.archive = Archive(self.source)
        noted = self._note()
        self._kinds: dict[str, DType | None] = {}
        for member in self.archive.members:
            name = member.removesuffix(".npy")
            if member == NOTE:
                continue
            if name == member or name in self.entries:
                raise self.source.wrong(
                    "an archive of arrays holds .npy files", found=shown(member)
                )
            header = header_of(self.source, self.archive.head(member, LONGEST_HEADER + 1024))
            self._kinds[name] = _kind(self.source, name, header, noted)
            nbytes = self.archive.members[member].file_size - header.length
            kind = self._kinds[name]
            shown_as = header.code if kind is None else kind.name
            self.entries[name] = Entry(shown_as, header.shape, nbytes)

    def _note(self) -> dict[str, Any]:
        if NOTE not in self.archive.members:
            return {}
        found = self.source.json(self.archive.read(NOTE))
        if not isinstance(found, dict) or not isinstance(found.get("dtypes"), dict):
            raise self.source.wrong("the note on dtypes is damaged")
        noted: dict[str, Any] = found["dtypes"]
        return noted

    def numpy(self, name: str) -> Any:
        """One array, which must not be written to."""
        self.entry(name)
        raw = self.archive.array(f"{name}.npy")
        header = header_of(self.source, raw[: LONGEST_HEADER + 12].tobytes())
        return elements(self.source, name, header, self._kinds[name], raw[header.length :])


class NPY(TensorFile):
    """An NPY file, opened: one array, which has no name."""

    kind = "npy"

    def _read(self) -> None:
        size = self.source.size
        self._header = header_of(self.source, self.source.read(0, min(size, LONGEST_HEADER + 12)))
        self._kind = CODES.get(self._header.code)
        shown_as = self._header.code if self._kind is None else self._kind.name
        self.entries[ONLY] = Entry(shown_as, self._header.shape, size - self._header.length)

    def numpy(self, name: str) -> Any:
        """The array, which must not be written to."""
        body = self.source.array(self._header.length, self.entry(name).nbytes)
        return elements(self.source, name, self._header, self._kind, body)

    def load(self, device: Where = None) -> Any:
        """The tensor itself."""
        return self.tensor(ONLY, device)


def elements(source: Source, name: str, header: Header, kind: DType | None, body: Any) -> Any:
    """The bytes behind a header as the array that it describes."""
    if kind is None:
        reason = REASONS.get(header.code[0], "unknown element type")
        raise source.wrong(reason, name=shown(name), dtype=header.code)
    shape = header.shape[::-1] if header.fortran else header.shape
    if header.swapped and body.size % kind.size == 0:
        body = body.view(f"u{kind.size}").byteswap().view(np.uint8)
    array = typed(source, body, kind, shape)
    return array.T if header.fortran else array


def header_of(source: Source, head: bytes) -> Header:
    """The header of an array, read by its three fields and never evaluated."""
    if head[:6] != MAGIC or len(head) < 12 or head[6] not in (1, 2, 3):
        raise source.wrong("a member is no array of NumPy's", begins=shown(head[:8]))
    width = 2 if head[6] == 1 else 4
    length = int.from_bytes(head[8 : 8 + width], "little")
    text = head[8 + width : 8 + width + length].decode("latin1")
    if length > LONGEST_HEADER or len(text) != length:
        raise source.wrong("an array's header is cut off or too long", header_bytes=length)
    fields = [
        re.findall(pattern, text)
        for pattern in (
            r"""['"]descr['"]: *['"]([<>|=]?[a-zA-Z]\d*)['"]""",
            r"""['"]fortran_order['"]: *(True|False)""",
            r"""['"]shape['"]: *\(((?:\d{1,19}L?, ?)*(?:\d{1,19}L?)?)\)""",
        )
    ]
    if any(len(found) != 1 for found in fields):
        raise source.wrong("an array's header is none of an array of numbers", got=shown(text))
    code, fortran, sizes = (found[0] for found in fields)
    shape = source.sizes([int(size) for size in re.findall(r"\d+", sizes)])
    order, code = (code[0], code[1:]) if code[0] in "<>|=" else ("=", code)
    return Header(code, order == ">", fortran == "True", shape, 8 + width + length)


def _kind(source: Source, name: str, header: Header, noted: Mapping[str, Any]) -> DType | None:
    """The dtype of an array; None if it can only be listed."""
    said = noted.get(name)
    if said is None:
        return CODES.get(header.code)
    found = next((kind for kind in FOREIGN if kind.name == said), None)
    if found is None or header.code != f"V{found.size}":
        raise source.wrong("the note on dtypes is damaged", name=shown(name), dtype=shown(said))
    return found


def save_npz(tensors: Mapping[str, Any], path: PathLike) -> None:
    """Write tensors or arrays by name to an archive that numpy.load reads.

    bfloat16 and the floats of 8 bits are bytes without a meaning to NumPy; td.load knows them by a
    note in the archive.
    """
    if not isinstance(tensors, Mapping) or not all(isinstance(name, str) for name in tensors):
        hint = "trees of another form go to .safetensors, .pt or any other name"
        raise ArgumentError(explain("save", "an .npz holds a dict of tensors by name", hint))
    arrays = {name: array_of("save", name, value) for name, value in tensors.items()}
    noted = {}
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            kind = d.dtype(array.dtype)
            if kind in FOREIGN:
                noted[name] = kind.name
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(_npy_header(array, kind))
                member.write(memoryview(array.reshape(-1).view(np.uint8)))
        if noted:
            archive.writestr(NOTE, json.dumps({"dtypes": noted}))


def _npy_header(array: Any, kind: DType) -> bytes:
    code = f"|V{kind.size}" if kind in FOREIGN else array.dtype.str
    sizes = "".join(f"{size}, " for size in array.shape)
    sizes = f"({sizes.strip()})" if array.ndim < 2 else f"({sizes[:-2]})"
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {sizes}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return MAGIC + bytes((1, 0)) + struct.pack("<H", len(text)) + text.encode("latin1")
