"""Is plain data of Python's and NumPy's read out of checkpoints, and nothing else?"""

from __future__ import annotations

import pickle
import zipfile
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import FileError


def loaded(path, data):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", data)
    return td.load(path)


def old(data):
    """As NumPy 1 writes it."""
    return data.replace(b"numpy._core", b"numpy.core")


PROTOCOLS = pytest.mark.parametrize("protocol", [2, 3, 4])
WRITERS = pytest.mark.parametrize(
    ("writer", "protocol"), [(bytes, 2), (bytes, 3), (bytes, 4), (old, 2), (old, 3)]
)


@WRITERS
@pytest.mark.parametrize("code", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u1", "?"])
def test_scalars_of_numpy_are_numbers(code, writer, protocol, tmp_path):
    values = [np.array(x).astype(code)[()] for x in (0, 1, 100)]
    found = loaded(tmp_path / "x.pt", writer(pickle.dumps({"loss": values}, protocol)))
    assert found == {"loss": [x.item() for x in values]}
    assert [type(x) for x in found["loss"]] == [type(x.item()) for x in values]


@WRITERS
@pytest.mark.parametrize("array", [
    np.arange(6.0).reshape(2, 3), np.arange(6, dtype=np.int32).reshape(2, 3).T,
    np.arange(3, dtype=">f4"), np.zeros((0, 2), np.float16), np.array(7), np.array([True, False]),
])  # fmt: skip
def test_arrays_of_numpy_are_arrays(array, writer, protocol, tmp_path):
    found = loaded(tmp_path / "x.pt", writer(pickle.dumps([array, array, 1], protocol)))
    assert found[0].dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found[0], array)
    assert found[0].shape == array.shape
    assert found[0] is found[1]
    assert found[0].flags.writeable


@PROTOCOLS
def test_kinds_of_dicts_are_dicts(protocol, tmp_path):
    given = [
        defaultdict(list, a=[1]), defaultdict(None, b=2), defaultdict(int, {3: 4}),
        defaultdict(str), Counter("aab"), OrderedDict(c=5), {6, 7},
    ]  # fmt: skip
    found = loaded(tmp_path / "x.pt", pickle.dumps(given, protocol))
    assert found == given
    assert [type(x) for x in found] == [dict] * 6 + [set]


def test_arrays_stand_in_the_metadata(tmp_path):
    loaded(tmp_path / "x.pt", pickle.dumps({"best": np.float64(0.5), "ids": np.arange(3)}, 2))
    with td.io.open(tmp_path / "x.pt") as file:
        assert file.metadata["best"] == 0.5
        assert file.metadata["ids"].tolist() == [0, 1, 2]


GOOD = pickle.dumps(np.arange(3, dtype="i4"), 2)
NUMBER = pickle.dumps(np.float64(1), 2)
HOSTILE = {
    "more elements than bytes": GOOD.replace(b"K\x03\x85", b"K\x04\x85"),
    "fewer elements than bytes": GOOD.replace(b"K\x03\x85", b"K\x02\x85"),
    "negative size": GOOD.replace(b"K\x03\x85", b"J\xff\xff\xff\xff\x85"),
    "order that is a number": GOOD.replace(b"b\x89h", b"bK\x01h"),
    "another class": GOOD.replace(b"cnumpy\nndarray", b"cnumpy\nmatrix"),
    "a class that is known": GOOD.replace(b"cnumpy\nndarray", b"c__builtin__\nlist"),
    "never filled": GOOD[: GOOD.index(b"(K\x01K\x03")] + b".",
    "filled twice": GOOD[:-1] + GOOD[GOOD.index(b"(K\x01K\x03") : -1] + b".",
    "byte order": GOOD.replace(b"X\x01\0\0\0<", b"X\x01\0\0\0!"),
    "state that is none": GOOD[:-2] + b"0Nb.",
    "number of fewer bytes": NUMBER.replace(b"f8", b"f4"),
    "number that is called a list": NUMBER.replace(b"numpy\ndtype", b"numpy\nndarray"),
    "objects": pickle.dumps(np.array([{}], object), 2),
    "records": pickle.dumps(np.zeros(2, "f4,i4"), 2),
    "texts": pickle.dumps(np.array(["a"]), 2),
    "complex": pickle.dumps(np.clongdouble(1), 2),
    "dates": pickle.dumps(np.datetime64("2020-01-01"), 2),
    "a default that runs": pickle.dumps(defaultdict(print), 2),
    "a default that is no class": b"\x80\x02ccollections\ndefaultdict\nK\x01\x85R.",
    "a class that is called": b"\x80\x02c__builtin__\nlist\n)R.",
    "bytes of a size": b"\x80\x02c__builtin__\nbytes\nJ\xff\xff\xff\x7f\x85R.",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_plain_data_is_refused(kind, tmp_path):
    assert HOSTILE[kind] not in (GOOD, NUMBER)
    with pytest.raises(FileError):
        loaded(tmp_path / "x.pt", HOSTILE[kind])


def test_many_arrays_of_the_same_bytes_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("treadle.io.pickled_data.LEAST_COPIES", 1 << 20)
    content = np.zeros(1 << 16, np.uint8).tobytes()
    state = b"cnumpy._core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\0\x85C\1btR"
    kind = b"cnumpy\ndtype\nX\2\0\0\0u1\x85R"
    again = state + b"(K\1J\0\0\1\0\x85" + kind + b"\x89h\xfftb"
    head = b"\x80\x03B\0\0\1\0" + content + b"q\xff0]("
    assert len(loaded(tmp_path / "few.pt", head + again * 9 + b"e.")) == 9
    with pytest.raises(FileError, match="many times larger"):
        loaded(tmp_path / "many.pt", head + again * 100 + b"e.")
