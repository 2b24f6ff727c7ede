"""Files that lie: each kind is refused by a FileError, runs nothing and allocates little."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile

import gguf_forge as forge
import numpy as np
import pytest

import treadle as td
from treadle.base.errors import FileError

LITTLE = 30_000_000
"""Bytes that may be allocated while a small file is refused."""


@pytest.fixture
def refused(tmp_path):
    """A check that a file of some bytes is refused, read and mapped, without much memory."""

    def check(content, name="x", match=None):
        path = tmp_path / name
        path.write_bytes(content)
        for mmap in (False, True):
            tracemalloc.start()
            try:
                with pytest.raises(FileError, match=match) as caught:
                    td.load(path, mmap=mmap)
                assert tracemalloc.get_traced_memory()[1] < LITTLE + 20 * len(content)
            finally:
                tracemalloc.stop()
            assert len(str(caught.value)) < 2000
        assert path.read_bytes() == content

    return check


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


# ---- pickles


class Runs:
    """A pickle of this runs code where pickles are trusted."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def zipped(data, storages=None, root="archive", compression=zipfile.ZIP_STORED, **more):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        archive.writestr(f"{root}/data.pkl", data)
        for key, content in (storages or {}).items():
            archive.writestr(f"{root}/data/{key}", content)
        for name, content in more.items():
            archive.writestr(f"{root}/{name}", content)
    return made.getvalue()


def legacy(data, keys=(), storages=b""):
    head = [pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    return b"".join(head) + data + pickle.dumps(list(keys), 2) + storages


def tensor(shape=(2,), stride=(1,), offset=0, count=2, kind="FloatStorage", key="0"):
    """Instructions that make one tensor."""

    def plain(value):
        return pickle.dumps(value, 2)[2:-1]

    storage = b"(" + plain("storage") + f"ctorch\n{kind}\n".encode() + plain(key) + plain("cpu")
    storage += plain(count) + b"tQ"
    rest = plain(offset) + plain(shape) + plain(stride) + b"\x89N"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + rest + b"tR"


def whole(code):
    return b"\x80\x02" + code + b"."


def one(**options):
    return zipped(whole(tensor(**options)), {"0": np.zeros(2, "f4").tobytes()})


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("place", ["zip", "legacy", "legacy system", "legacy keys", "plain"])
def test_pickles_that_run_code(protocol, place, refused, tmp_path):
    data = pickle.dumps({"a": Runs(tmp_path / "ran")}, protocol)
    head = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    content = {
        "zip": zipped(data),
        "legacy": legacy(data),
        "legacy system": head + data,
        "legacy keys": head + pickle.dumps({}, 2) + pickle.dumps({}, 2) + data,
        "plain": data,
    }[place]
    refused(content, "x.pt")
    assert not (tmp_path / "ran").exists()
    pickle.loads(data)  # the pickle is what it is said to be
    assert (tmp_path / "ran").exists()


NAMES = [
    ("os", "system"), ("posix", "system"), ("nt", "system"), ("builtins", "eval"),
    ("builtins", "exec"), ("builtins", "getattr"), ("__builtin__", "eval"), ("builtins", "open"),
    ("subprocess", "Popen"), ("torch", "load"), ("torch.hub", "load"), ("torch._utils", "_import"),
    ("torch.serialization", "load"), ("collections", "namedtuple"), ("importlib", "import_module"),
    ("treadle", "load"), ("numpy", "load"), ("runpy", "run_path"), ("torch", "FloatStorage.mro"),
    ("functools", "partial"), ("operator", "attrgetter"), ("_codecs", "lookup"),
    ("webbrowser", "open"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_names_outside_the_table_are_never_looked_up(module, name, refused):
    call = b"(X\x02\x00\x00\x00lstR"
    refused(zipped(whole(f"c{module}\n{name}\n".encode() + call)), "x.pt", "wants to run")
    stacked = pickle.dumps((module, name), 4)
    at = stacked.index(b"\x8c")
    parts = stacked[at:-1].replace(b"\x94", b"").rstrip(b"\x86")
    refused(zipped(b"\x80\x04" + parts + b"\x93" + call + b"."), "x.pt", "wants to run")


@pytest.mark.parametrize(
    "code",
    [
        b"itorch\nload\n", b"Z", b"\x81", b"\x92", b"\x82\x01", b"\x83\x01\x00", b"\x84\1\0\0\0",
        b"o", b"P1\n",
    ],
    ids=["inst", "unknown", "newobj", "newobj_ex", "ext1", "ext2", "ext4", "obj", "persid"],
)  # fmt: skip
def test_instructions_that_data_do_not_need(code, refused):
    refused(zipped(whole(b"(" + code)), "x.pt", "instruction")


PICKLES = {
    "no end": zipped(b"\x80\x02}"),
    "nothing": zipped(b""),
    "nothing on the stack": zipped(whole(b"")),
    "text past the end": zipped(whole(b"X\xff\xff\xff\xffab")),
    "text of exabytes": zipped(b"\x80\x04\x8d" + b"\xff" * 8 + b"ab."),
    "bytes of exabytes": zipped(b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7fab."),
    "negative length": zipped(whole(b"T\xff\xff\xff\xffab")),
    "long of gigabytes": zipped(whole(b"\x8b\xff\xff\xff\x7f")),
    "long of -1 bytes": zipped(whole(b"\x8b\xff\xff\xff\xff")),
    "memo of gigabytes, recalled": zipped(whole(b"Nr\xff\xff\xff\xffj\xfe\xff\xff\xff")),
    "list that is a dict": zipped(whole(b"}Na")),
    "dict that is a list": zipped(whole(b"]NNs")),
    "set that is a list": zipped(b"\x80\x04](N\x90."),
    "key without value": zipped(whole(b"}(Nu")),
    "key that is a list": zipped(whole(b"}]Ns")),
    "key that is nested": zipped(whole(b"}N" + b"\x85" * 20_000 + b"Ns")),
    "no mark": zipped(whole(b"NNt")),
    "marks only": zipped(whole(b"((((")),
    "holds itself": zipped(whole(b"]q\x00h\x00a")),
    "nested without end": zipped(whole(b"]" * 20_000 + b"a" * 19_999)),
    "tuples without end": zipped(whole(b"N" + b"\x85" * 20_000)),
    "calls a number": zipped(whole(b"K\x01)R")),
    "calls with a list": zipped(whole(b"ccollections\nOrderedDict\n]R")),
    "changes a number": zipped(whole(b"K\x01}b")),
    "name without end": zipped(whole(b"c" + b"a" * 5000)),
    "name that is no text": zipped(b"\x80\x04K\x01K\x02\x93."),
    "protocol 99": zipped(b"\x80\x63N."),
    "no UTF-8": zipped(whole(b"X\x01\x00\x00\x00\xff")),
    "name of a megabyte": zipped(whole(b"}X\x00\x00\x10\x00" + b"a" * (1 << 20) + b"Ns")),
    "a class as a value": zipped(whole(b"ctorch\nFloatStorage\n")),
    "OrderedDict of numbers": zipped(whole(b"ccollections\nOrderedDict\n(K\x01tR")),
    "encode to rot13": zipped(
        whole(b"c_codecs\nencode\n(X\x01\x00\x00\x00aX\x05\x00\x00\x00rot13tR")
    ),
    "Size of texts": zipped(whole(b"ctorch\nSize\n(X\x01\x00\x00\x00atR")),
    "dtype that is called": zipped(whole(b"ctorch\nfloat32\n)R")),
    "storage without tensor": zipped(
        whole(tensor().partition(b"_v2\n(")[2].partition(b"Q")[0] + b"Q"), {"0": bytes(8)}
    ),
    "missing storage": zipped(whole(tensor())),
    "short storage": zipped(whole(tensor()), {"0": bytes(7)}),
    "long storage": zipped(whole(tensor()), {"0": bytes(16)}),
    "shape past the storage": one(shape=(3,)),
    "offset past the storage": one(offset=1),
    "negative offset": one(offset=-1),
    "stride past the storage": one(stride=(2,)),
    "negative stride": one(stride=(-1,)),
    "negative size": one(shape=(-1,)),
    "two strides": one(stride=(1, 1)),
    "no shape": one(shape=None),
    "size of text": one(shape=("2",)),
    "offset of exabytes": one(offset=2**63),
    "expanded to terabytes": one(shape=(2**40,), stride=(0,)),
    "empty beyond memory": one(shape=(0, 2**62), stride=(1, 1)),
    "negative storage": one(count=-2),
    "storage of exabytes": one(count=2**61),
    "complex half": one(kind="ComplexHalfStorage", count=1),
    "quantised": one(kind="QInt8Storage", count=8),
    "unknown storage": one(kind="Storage"),
    "key to elsewhere": one(key="../data.pkl"),
    "bools of 3": zipped(whole(tensor(kind="BoolStorage")), {"0": b"\1\3"}),
    "byte order": zipped(whole(tensor()), {"0": bytes(8)}, byteorder=b"middle"),
    "two archives": zipped(whole(b"N"), {"x/data.pkl": b""}),
    "compressed": zipped(whole(b"X\x00\x10\x00\x00" + b"a" * 4096), compression=8),
    "legacy: no keys": legacy(whole(tensor())),
    "legacy: other keys": legacy(whole(tensor()), ["1"], struct.pack("<q8x", 2)),
    "legacy: keys twice": legacy(whole(tensor()), ["0", "0"], struct.pack("<q8xq8x", 2, 2)),
    "legacy: other count": legacy(whole(tensor()), ["0"], struct.pack("<q8x", 3)),
    "legacy: negative count": legacy(whole(tensor()), ["0"], struct.pack("<q8x", -1)),
    "legacy: cut off": legacy(whole(tensor()), ["0"], struct.pack("<q7x", 2)),
    "legacy: other magic": pickle.dumps(7, 2) + pickle.dumps(1001, 2),
    "legacy: other version": pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1, 2),
}  # fmt: skip


@pytest.mark.parametrize("kind", PICKLES)
def test_pickles(kind, refused):
    refused(PICKLES[kind], "x.pt")


def test_the_forged_tensor_is_read_where_it_does_not_lie(tmp_path):
    """What the cases above are changes of."""
    for content in (
        one(),
        legacy(whole(tensor()), ["0"], struct.pack("<q8x", 2)),
        one(shape=(2, 1), stride=(1, 7)),
        one(shape=(3,), stride=(0,), offset=1),
    ):
        (tmp_path / "x.pt").write_bytes(content)
        assert not td.load(tmp_path / "x.pt").numpy().any()


def test_shared_containers_are_not_written_out(tmp_path):
    """Thirty lists, each of which holds the one before twice: a thousand million leaves."""
    code = b"]q\x00" + b"".join(b"](h%ch%ceq%c" % (k, k, k + 1) for k in range(30))
    (tmp_path / "x.pt").write_bytes(zipped(whole(code)))
    found = td.load(tmp_path / "x.pt")
    for _ in range(30):
        assert found[0] is found[1]
        found = found[0]
    assert found == []


def test_many_views_of_one_storage_are_bounded(refused, monkeypatch):
    monkeypatch.setattr("treadle.io.pytorch.LEAST_COPIES", 1 << 20)
    count = 1 << 12
    view = tensor((1 << 6, 1 << 6), (1, 1 << 6), 0, count)
    code = b"](" + view * 500 + b"e"  # 8 MB out of 50 KB
    refused(zipped(whole(code), {"0": bytes(4 * count)}), "x.pt", "many times larger")


# ---- zip files


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
