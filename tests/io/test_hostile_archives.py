"""Zip files and arrays that lie, NPZ and NPY: refused, and little is allocated."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest
from pickle_forge import one, whole, zipped

import treadle as td
from treadle.base.errors import FileError


def edited(content, change):
    """An archive whose directory is changed: change gets each entry's fields by name, as a dict."""
    names = ("CRC", "packed", "size", "name", "extra", "comment", "disk", "inner", "outer", "at")
    made, place = bytearray(content), content.index(b"PK\1\2")
    while made[place : place + 4] == b"PK\1\2":
        head = struct.unpack_from("<HHHHHH", made, place + 4)
        rest = dict(zip(names, struct.unpack_from("<IIIHHHHHII", made, place + 16), strict=True))
        fields = dict(zip(("by", "needs", "flags", "method", "t", "d"), head, strict=True)) | rest
        length = 46 + fields["name"] + fields["extra"] + fields["comment"]
        name = bytes(made[place + 46 : place + 46 + fields["name"]]).decode()
        change(name, fields)
        struct.pack_into("<HHHHHHIIIHHHHHII", made, place + 4, *fields.values())
        place += length
    return bytes(made)


def zipfile_with(*members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return made.getvalue()


def setting(**values):
    return lambda _, fields: fields.update(values)


def arrays(compressed=False, **more):
    made = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(made, **more)
    return made.getvalue()


def same_place(name, fields):
    fields["at"] = 0


def bomb():
    """24 megabytes of zeros, as 24 kilobytes."""
    block = bytes(1 << 20)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        header = npy("'|u1'", f"({24 << 20},)")
        with archive.open("a.npy", "w", force_zip64=True) as member:
            member.write(header)
            for _ in range(24):
                member.write(block)
    return made.getvalue()


def npy(descr, shape, order="False", data=b"", version=1, text=None):
    text = text or f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"
    return b"\x93NUMPY" + bytes((version, 0)) + struct.pack("<H", len(text)) + text.encode() + data


def npz(content, name="a.npy"):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(name, content)
    return made.getvalue()


OBJECTS = io.BytesIO()
np.savez(OBJECTS, a=np.array([{"b": 1}], dtype=object))
RECORDS = io.BytesIO()
np.savez(RECORDS, a=np.zeros(2, [("x", "f4"), ("y", "i4")]))
BYTES = npy("'|u1'", "(2,)", data=b"ab")
TWO = {"a": np.arange(100), "b": np.arange(100)}

ARCHIVES = {
    "objects": OBJECTS.getvalue(),
    "records": RECORDS.getvalue(),
    "texts": arrays(a=np.array(["x"])),
    "complex": arrays(a=np.zeros(2, "G")),
    "dates": arrays(a=np.zeros(2, "M8[s]")),
    "void": arrays(a=np.zeros(2, "V3")),
    "no array": npz(b"just text"),
    "no .npy": npz(b"just text", "readme.txt"),
    "empty member": npz(b""),
    "only magic": npz(b"\x93NUMPY\1\0"),
    "header past the end": npz(b"\x93NUMPY\1\0\xff\xff{"),
    "header of gigabytes": npz(b"\x93NUMPY\2\0\xff\xff\xff\x7f{"),
    "header that runs": npz(npy("__import__('os').system('ls')", "(2,)", data=bytes(8))),
    "nested header": npz(npy("'<f4'", "(" * 5000)),
    "negative size": npz(npy("'<f4'", "(-2,)", data=bytes(8))),
    "size of exabytes": npz(npy("'<f4'", f"({2**61},)", data=bytes(8))),
    "size of 30 digits": npz(npy("'<f4'", "(" + "9" * 30 + ",)", data=bytes(8))),
    "more than there is": npz(npy("'<f4'", "(3,)", data=bytes(8))),
    "less than there is": npz(npy("'<f4'", "(1,)", data=bytes(8))),
    "swapped and cut off": npz(npy("'>f4'", "(2,)", data=bytes(7))),
    "two shapes": npz(npy("'<f4', 'shape': (1,)", "(2,)", data=bytes(8))),
    "bools of 2": npz(npy("'|b1'", "(2,)", data=b"\2\2")),
    "version 9": npz(npy("'<f4'", "(2,)", data=bytes(8), version=9)),
    "note of another kind": zipfile_with(
        ("a.npy", BYTES), ("treadle.json", b'{"dtypes":{"a":"bfloat16"}}')
    ),
    "note that is none": zipfile_with(("a.npy", BYTES), ("treadle.json", b"[]")),
    "names twice": zipfile_with(("a.npy", BYTES), ("a", b"x")),
    "size past the end": edited(arrays(a=np.arange(9)), setting(size=10**9)),
    "packed past the end": edited(arrays(a=np.arange(9)), setting(packed=10**9, size=10**9)),
    "place past the end": edited(arrays(a=np.arange(9)), setting(at=10**9)),
    "encrypted": edited(arrays(a=np.arange(9)), setting(flags=1)),
    "packed otherwise": edited(arrays(a=np.arange(9)), setting(method=14)),
    "deflated and not": edited(arrays(a=np.arange(9)), setting(method=8)),
    "two in one place": edited(arrays(**TWO), same_place),
    "declares more than it unpacks to": edited(arrays(True, a=np.zeros(999)), setting(size=9000)),
    "declares less than it unpacks to": edited(arrays(True, a=np.zeros(999)), setting(size=300)),
    "declares gigabytes": edited(arrays(True, a=np.zeros(999)), setting(size=2**32 - 2)),
    "directory cut off": arrays(**TWO)[:-30],
    "local header gone": b"PK\3\4" + bytes(200) + arrays(a=np.arange(3))[4:],
    "only a signature": b"PK\3\4",
}  # fmt: skip


@pytest.mark.parametrize("kind", ARCHIVES)
def test_archives(kind, refused):
    refused(ARCHIVES[kind], "x.npz")


@pytest.mark.parametrize(
    "content",
    [
        b"\x93NUMPY", b"\x93NUMPY\2\0\xff\xff\xff\x7f{", npy("'|O'", "(1,)", data=b"cos\nsystem\n"),
        npy("'<f4'", "(3,)", data=bytes(8)), npy("'<f4'", "(1,)", data=bytes(8)),
        npy("'>f4'", "(2,)", data=bytes(7)), npy("'<f4'", f"({2**61},)"),
    ],
    ids=["magic", "long header", "objects", "short", "long", "swapped", "exabytes"],
)  # fmt: skip
def test_arrays(content, refused):
    refused(content, "x.npy")


def test_a_zip_bomb(refused, monkeypatch):
    monkeypatch.setattr("treadle.io.archive.SUSPICIOUS_BYTES", 1 << 24)
    refused(bomb(), "x.npz", "zip bomb")


@pytest.mark.parametrize("content", [arrays(a=np.arange(9)), arrays(True, a=np.arange(9)), one()])
def test_a_member_with_another_checksum(content, tmp_path):
    (tmp_path / "x").write_bytes(edited(content, setting(CRC=7)))
    with pytest.raises(FileError, match="checksum differs"):
        td.load(tmp_path / "x")


def test_a_checkpoint_in_a_zip_bomb(refused):
    content = zipped(whole(b"N"), {"0": bytes(1 << 20)}, compression=zipfile.ZIP_DEFLATED)
    refused(content, "x.pt", "no checkpoint")
