"""Pickles that lie: they are refused, and nothing in them is run."""

from __future__ import annotations

import os
import pickle
import struct

import pytest
from pickle_forge import legacy, one, tensor, whole, zipped

import treadle as td


class Runs:
    """A pickle of this runs code where pickles are trusted."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


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
