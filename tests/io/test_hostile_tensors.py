"""Files of tensors that lie, Safetensors, trees and GGUF: refused, and little is allocated."""

from __future__ import annotations

import json
import struct

import gguf_forge as forge
import pytest

import treadle as td
from treadle.base.errors import FileError

# ---- safetensors


def tensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def spec(dtype="F32", shape=(2,), places=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(places), **more}


SAFETENSORS = {
    "header past the end": (b"\xff" * 7 + b"\0" + b"{}", "no such header"),
    "header of gigabytes": ((10**9).to_bytes(8, "little") + b"{}", "no such header"),
    "no JSON": (tensors(b"{'a': 1}"), "JSON"),
    "no UTF-8": (tensors(b'{"\xff": 1}'), "JSON"),
    "no object": (tensors([1, 2]), "no JSON object"),
    "cut JSON": (tensors(b'{"a":{"dtype":"F32"'), "JSON"),
    "nested without end": (tensors(b'{"a":' + b"[" * 100_000), "JSON"),
    "names twice": (tensors(b'{"a":{},"a":{}}'), "twice"),
    "NaN as a size": (tensors(b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}'), "JSON"),
    "a number of 10,000 digits": (
        tensors(b'{"a":{"dtype":"F32","shape":[' + b"9" * 10_000 + b'],"data_offsets":[0,8]}}'),
        "JSON",
    ),
    "no facts": (tensors({"a": 3}), "no dtype"),
    "half the facts": (tensors({"a": {"dtype": "F32"}}), "no dtype"),
    "unknown dtype": (tensors({"a": spec("F31")}, bytes(8)), "unknown element type"),
    "dtype that is no text": (tensors({"a": spec({})}, bytes(8)), "unknown element type"),
    "negative size": (tensors({"a": spec(shape=(-2,))}, bytes(8)), "not made of sizes"),
    "fraction of a size": (tensors({"a": spec(shape=(2.0,))}, bytes(8)), "not made of sizes"),
    "truth as a size": (tensors({"a": spec(shape=(True, 2))}, bytes(8)), "not made of sizes"),
    "shape that is no list": (tensors({"a": spec() | {"shape": 2}}, bytes(8)), "shape"),
    "shape beyond memory": (tensors({"a": spec(shape=(2**62, 2))}, bytes(8)), "no memory"),
    "empty beyond memory": (tensors({"a": spec(shape=(0, 2**62), places=(0, 0))}), "no memory"),
    "fifty axes": (tensors({"a": spec(shape=(1,) * 50)}, bytes(4)), "no memory"),
    "bytes for another shape": (tensors({"a": spec(shape=(3,))}, bytes(8)), "shape needs"),
    "bytes for another dtype": (tensors({"a": spec("F64")}, bytes(8)), "shape needs"),
    "half a byte": (tensors({"a": spec("F4", (3,), (0, 2))}, bytes(2)), "shape needs"),
    "places that go back": (tensors({"a": spec(places=(8, 0))}, bytes(8)), "no place"),
    "negative places": (tensors({"a": spec(places=(-8, 0))}, bytes(8)), "no place"),
    "three places": (tensors({"a": spec(places=(0, 4, 8))}, bytes(8)), "no place"),
    "places past the end": (tensors({"a": spec(places=(0, 8))}, bytes(4)), "where the file ends"),
    "bytes that are nobody's": (tensors({"a": spec()}, bytes(9)), "where the file ends"),
    "overlap": (tensors({"a": spec(), "b": spec(places=(4, 12))}, bytes(12)), "overlap"),
    "twice the same place": (tensors({"a": spec(), "b": spec()}, bytes(8)), "overlap"),
    "gap": (tensors({"a": spec(), "b": spec(places=(12, 20))}, bytes(20)), "gap"),
    "float4": (tensors({"a": spec("F4", (16,))}, bytes(8)), "cannot be read"),
    "bools of 2": (tensors({"a": spec("BOOL", (8,))}, bytes([2] * 8)), "neither 0 nor 1"),
    "metadata that are no texts": (tensors({"__metadata__": {"a": 1}}), "not texts"),
    "metadata that are a list": (tensors({"__metadata__": []}), "not texts"),
}


@pytest.mark.parametrize("kind", SAFETENSORS)
def test_safetensors(kind, refused):
    content, match = SAFETENSORS[kind]
    refused(content, "x.safetensors", match)


def tree(form, **entries):
    text = form if isinstance(form, str) else json.dumps(form)
    return tensors({"__metadata__": {"treadle.tree": text}, **entries}, bytes(8 * len(entries)))


TREES = {
    "no JSON": tree("{"),
    "unknown word": tree({"system": "ls"}),
    "two words": tree({"list": [], "tuple": []}),
    "bare list": tree([1]),
    "no list": tree({"list": 3}),
    "no pairs": tree({"dict": [[1, 2, 3]]}),
    "key that is a list": tree({"dict": [[[1], 2]]}),
    "missing tensor": tree({"tensor": "b"}, a=spec()),
    "name that is none": tree({"tensor": 3}, a=spec()),
    "float that is none": tree({"float": "1e5"}),
    "dtype that is none": tree({"dtype": "float31"}),
    "nested without end": tree('{"list":[' * 5000),
    "nested deep": tree('{"list":[' * 200 + "]}" * 200),
}


@pytest.mark.parametrize("kind", TREES)
def test_trees(kind, refused):
    refused(TREES[kind], "x.td")


def test_a_changed_tree_is_noticed_by_its_checksum(tmp_path):
    td.save({"a": td.arange(100.0), "b": "text"}, tmp_path / "x.td")
    whole = (tmp_path / "x.td").read_bytes()
    for place in (10, 60, len(whole) // 2, len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1
        (tmp_path / "x.td").write_bytes(changed)
        with pytest.raises(FileError):
            td.load(tmp_path / "x.td")


INDICES = {
    "no weight_map": {"metadata": {}},
    "a list": [1],
    "path to elsewhere": {"weight_map": {"a": "../secret.safetensors"}},
    "path from the root": {"weight_map": {"a": "/etc/passwd"}},
    "the folder": {"weight_map": {"a": ".."}},
    "no text": {"weight_map": {"a": 3}},
    "a list as a file": {"weight_map": {"a": ["x"]}},
    "missing file": {"weight_map": {"a": "none.safetensors"}},
    "missing tensor": {"weight_map": {"b": "part.safetensors"}},
}


@pytest.mark.parametrize("kind", INDICES)
def test_indices(kind, refused, tmp_path):
    (tmp_path / "part.safetensors").write_bytes(tensors({"a": spec()}, bytes(8)))
    refused(json.dumps(INDICES[kind]).encode(), "model.safetensors.index.json")


# ---- GGUF


def info(name="w", sizes=(4,), kind="F32", place=0):
    return forge.tensor_info(name, sizes, kind, place)


def gguf(*infos, data=bytes(64), pairs=(), **options):
    return forge.file_of(list(pairs), list(infos), data, **options)


def array_pair(code, count, data=b""):
    return forge.pair("a", 9, struct.pack("<IQ", code, count) + data)


ALIGNMENT = "general.alignment"
GGUFS = {
    "only magic": b"GGUF",
    "no magic": gguf(info(), magic=b"GGML"),
    "version 1": gguf(info(), version=1),
    "version 9": gguf(info(), version=9),
    "bytes in the other order": gguf(info(), version=3 << 24),
    "more tensors than bytes": gguf(info(), counts=(2**40, 0)),
    "more pairs than bytes": gguf(info(), counts=(1, 2**60)),
    "one tensor too many": gguf(info(), counts=(2, 0)),
    "text past the end": gguf(pairs=[struct.pack("<Q", 2**40) + b"a"]),
    "text of 2**64": gguf(pairs=[struct.pack("<Q", 2**64 - 1) + b"a" * 20]),
    "array past the end": gguf(pairs=[array_pair(4, 2**40)]),
    "array of 2**64": gguf(pairs=[array_pair(12, 2**64 - 1)]),
    "array of many texts": gguf(pairs=[array_pair(8, 2**35)]),
    "arrays in arrays": gguf(pairs=[array_pair(9, 1, struct.pack("<IQ", 9, 1) * 20)]),
    "unknown type": gguf(pairs=[forge.pair("a", 77, bytes(8))]),
    "array of unknown type": gguf(pairs=[array_pair(77, 1, bytes(64))]),
    "pairs twice": gguf(pairs=[forge.pair("a", 7, b"\1")] * 2),
    "tensors twice": gguf(info(), info(place=32)),
    "fifty axes": gguf(info(sizes=(1,) * 50)),
    "sizes beyond memory": gguf(info(sizes=(2**62, 4))),
    "empty beyond memory": gguf(info(sizes=(0, 2**62))),
    "unknown tensor type": gguf(info(kind=99)),
    "removed tensor type": gguf(info(kind=4)),
    "half a block": gguf(info(sizes=(48,), kind="Q8_0")),
    "block without an axis": gguf(info(sizes=(), kind="Q4_0")),
    "overlap": gguf(info("a", (12,)), info("b", (4,), place=32)),
    "one place": gguf(info("a"), info("b")),
    "place that is not aligned": gguf(info(place=4)),
    "place past the end": gguf(info(place=2**40)),
    "place of 2**64": gguf(info(place=2**64 - 32)),
    "end past the end": gguf(info(sizes=(17,))),
    "no data": gguf(info(), data=b""),
    "alignment of 0": gguf(info(), pairs=[forge.pair(ALIGNMENT, 4, bytes(4))]),
    "alignment of 12": gguf(info(), pairs=[forge.pair(ALIGNMENT, 4, b"\x0c\0\0\0")]),
    "alignment of gigabytes": gguf(info(), pairs=[forge.pair(ALIGNMENT, 4, b"\0\0\0\xf0")]),
    "alignment that is text": gguf(info(), pairs=[forge.pair(ALIGNMENT, 8, forge.text("32"))]),
}  # fmt: skip


@pytest.mark.parametrize("kind", GGUFS)
def test_gguf(kind, refused, tmp_path):
    refused(GGUFS[kind], "x.gguf")


def test_the_forged_file_is_read_where_it_does_not_lie(tmp_path):
    (tmp_path / "x.gguf").write_bytes(gguf(info(), pairs=[array_pair(4, 1, bytes(4))]))
    assert td.load(tmp_path / "x.gguf")["w"].tolist() == [0, 0, 0, 0]
