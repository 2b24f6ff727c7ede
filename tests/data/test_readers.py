"""Do readers give what was written, and refuse what is damaged or hostile?"""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import sys
import wave
import zipfile
from pathlib import Path

import numpy as np
import pytest

import treadle as td
from treadle import data
from treadle.base.errors import ArgumentError, FileError, NotSupported
from treadle.data import transforms as T

KINDS = {"u1": 8, "i1": 9, ">i2": 0xB, ">i4": 0xC, ">f4": 0xD, ">f8": 0xE}


def idx(array):
    kind = array.dtype.newbyteorder(">").str.lstrip("|")
    head = bytes([0, 0, KINDS[kind], array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(kind).tobytes()


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


# ---- IDX


@pytest.mark.parametrize("kind", ["u1", "i1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("shape", [(5,), (3, 4, 2), (0, 3), ()], ids=str)
@pytest.mark.parametrize("packed", [False, True])
def test_idx_files(tmp_path, kind, shape, packed):
    array = np.asarray(np.random.default_rng(0).random(shape) * 100, kind)
    content = gzip.compress(idx(array), mtime=0) if packed else idx(array)
    found = data.read_idx(written(tmp_path, "x", content))
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    td.tensor(found)


GOOD = idx(np.arange(24, dtype=np.uint8).reshape(2, 3, 4))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not an IDX file"),
        (b"\x89PNG\r\n\x1a\n", "not an IDX file"),
        (b"\0\0\x0a" + GOOD[3:], "not an IDX file"),
        (GOOD[:10], "header"),
        (GOOD[:-1], "cannot be|cut off"),
        (GOOD + b"x", "more bytes"),
        (b"\0\0\x0e\x03" + b"\xff" * 12, "as large as it says"),
        (gzip.compress(GOOD, mtime=0)[:-9], "damaged gzip"),
        (gzip.compress(GOOD[:-5], mtime=0), "cut off"),
        (gzip.compress(b"\0\0\x0e\x03" + b"\xff" * 12, mtime=0), "as large as it says"),
        (gzip.compress(GOOD, mtime=0)[:-6] + b"abcdef", "damaged gzip"),
    ],
)
def test_damaged_idx_files(tmp_path, content, said):
    with pytest.raises(FileError, match=said):
        data.read_idx(written(tmp_path, "x", content))


def test_mnist(tmp_path):
    images = np.arange(6 * 28 * 28).reshape(6, 28, 28).astype(np.uint8)
    written(tmp_path, "train-images-idx3-ubyte.gz", gzip.compress(idx(images), mtime=0))
    written(tmp_path, "train-labels-idx1-ubyte", idx(np.arange(6, dtype=np.uint8)))
    sets = data.MNIST(tmp_path)
    assert (sets[3][0].shape, int(sets[3][1])) == ((1, 28, 28), 3)
    changed = data.MNIST(tmp_path, transform=T.ToTensor())
    assert changed[3][0].max() <= 1
    x, y = next(iter(data.DataLoader(changed, 4)))
    assert (x.shape, y.tolist()) == ((4, 1, 28, 28), [0, 1, 2, 3])
    with pytest.raises(FileError, match="t10k-images"):
        data.MNIST(tmp_path, train=False)
    written(tmp_path, "t10k-images-idx3-ubyte", idx(images))
    written(tmp_path, "t10k-labels-idx1-ubyte", idx(np.arange(5, dtype=np.uint8)))
    with pytest.raises(FileError, match="do not fit"):
        data.MNIST(tmp_path, train=False)


# ---- NPY and NPZ


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["?", "i1", "<i8", ">i4", "<f2", "<f4", ">f8"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 4)], ids=str)
def test_npy_files(tmp_path, kind, shape):
    for order in "CF":
        array = np.asarray(np.random.default_rng(0).random(shape) * 9, kind, order=order)
        path = written(tmp_path, "x.npy", npy(array))
        np.testing.assert_array_equal(data.read_npy(path), array)
        if array.size:
            mapped = data.read_npy(path, mmap=True)
            assert isinstance(mapped, np.memmap)
            np.testing.assert_array_equal(mapped, array)
    both = data.read_npz(written(tmp_path, "x.npz", npz(a=array, b=np.arange(3))))
    np.testing.assert_array_equal(both["a"], array)
    assert list(both) == ["a", "b"]


class Trap:
    def __reduce__(self):
        return (print, ("unpickled",))


def header(text):
    text = text.encode().ljust(118 - 10 + 9) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


PLAIN = npy(np.arange(12.0))
HOSTILE = {
    "empty": b"",
    "another format": b"PK\x05\x06" + b"\0" * 18,
    "cut off": PLAIN[:-3],
    "too long": PLAIN + b"x",
    "cut off in its header": PLAIN[:40],
    "objects": npy(np.array([Trap()], object), allow_pickle=True),
    "a pickle": pickle.dumps(Trap()),
    "a huge shape": header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**15, 10**9)}"),
    "a huge number": header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"),
    "a negative size": header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -8)}"),
    "no header": header("__import__('os').getcwd()"),
    "records": npy(np.zeros(2, [("a", "i4"), ("b", "f4")])),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_damaged_npy_files(tmp_path, name, capsys):
    path = written(tmp_path, "x.npy", HOSTILE[name])
    for mmap in (False, True):
        with pytest.raises(FileError, match="read_npy"):
            data.read_npy(path, mmap)
    if name != "empty":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a.npy", HOSTILE[name])
        with pytest.raises(FileError, match=r"read_npz.*a\.npy"):
            data.read_npz(written(tmp_path, "x.npz", file.getvalue()))
    assert "unpickled" not in capsys.readouterr().out


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_damaged_npz_files(tmp_path):
    good = npz(a=np.arange(1000.0))
    flipped = bytearray(good)
    flipped[len(good) // 3] ^= 0xFF
    cases = {
        "damaged": [b"", good[:-30], good[:50], bytes(flipped), b"not a zip"],
        "no array": [zipped(**{"a.txt": b"hello"}), zipped(**{"../evil": b"x"})],
        "too much": [zipped(**{"a.npy": npy(np.zeros(300_000))})],
    }
    for said, contents in cases.items():
        for content in contents:
            path = written(tmp_path, "x.npz", content)
            with pytest.raises(FileError, match=said):
                data.read_npz(path, max_bytes=1_000_000)
    assert data.read_npz(written(tmp_path, "x.npz", good))["a"].sum() == 499500
    with pytest.raises(FileNotFoundError):
        data.read_npz(tmp_path / "none.npz")


# ---- CSV

TABLE = """\
name,age,height,member,note,id
Ann,31,1.75,true,"a, b",1
Bob,,1.5e0,false,NA,2
"C
D",7,NA,true,,99999999999999999999
"""


def test_csv_columns_have_types(tmp_path):
    table = data.read_csv(written(tmp_path, "x.csv", TABLE.encode()))
    assert table.names == ["name", "age", "height", "member", "note", "id"]
    assert [table[name].dtype.kind for name in table] == ["U", "f", "f", "b", "U", "U"]
    np.testing.assert_array_equal(table["age"], [31, np.nan, 7])
    np.testing.assert_array_equal(table["height"], [1.75, 1.5, np.nan])
    assert table["name"].tolist() == ["Ann", "Bob", "C\nD"]
    assert table["note"].tolist() == ["a, b", "", ""]
    assert len(table) == 3
    assert table.array(["age", "member"]).tolist()[0] == [31, 1]
    assert table.codes("name") == (pytest.approx([0, 1, 2]), ["Ann", "Bob", "C\nD"])
    with pytest.raises(ArgumentError, match="text"):
        table.array()
    with pytest.raises(IndexError, match="height"):
        table["weight"]
    assert repr(table).startswith("Table(3 rows; name: <U3, age: float64")


def test_csv_options(tmp_path):
    path = written(tmp_path, "x.csv", b"\xef\xbb\xbfa;b\r\n1;2\r\n\r\n3;-\r\n")
    table = data.read_csv(path, delimiter=";", missing=["-"])
    assert table["a"].tolist() == [1, 3]
    assert np.isnan(table["b"][1])
    path = written(tmp_path, "x.csv", b"1,2\n3,4\n")
    assert data.read_csv(path, header=False).names == ["column0", "column1"]
    table = data.read_csv(path, header=["u", "v"], dtype={"u": td.float32, "v": str})
    assert (table["u"].dtype, table["v"].tolist()) == (np.float32, ["2", "4"])
    assert data.read_csv(path, header=["u", "v"], dtype={"u": np.int8})["u"].dtype == np.int8
    flags = data.read_csv(written(tmp_path, "y.csv", b"a\n1\n0\n"), dtype={"a": bool})
    assert flags["a"].tolist() == [True, False]
    empty = data.read_csv(written(tmp_path, "z.csv", b"a,b\n"))
    assert (len(empty), empty.array().shape) == (0, (0, 2))
    whole = data.read_csv(written(tmp_path, "w.csv", b"a\n1_000\n\xd9\xa3\n"))
    assert whole["a"].dtype.kind == "U"  # what Python reads as a number is text to others


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (b"", {}, "no line with names"),
        (b"a,b\n1,2\n1,2,3\n", {}, r"line=3, fields=3, columns=2"),
        (b"a,b\n1\n", {}, "line=2, fields=1"),
        (b'a,b\n1,"2\n', {}, "not a CSV file"),
        (b"a,a\n1,2\n", {}, "one name"),
        (b"a\n\xff\xfe\n", {}, "not a CSV file"),
        (b"a\n1\0\n", {}, "zero byte|not a CSV"),
        (b"a\n" + b"x" * 200_000, {}, "not a CSV file"),
        (b"a\n1\nx\n", {"dtype": {"a": float}}, "line=3, column=a, got='x'"),
        (b"a\n300\n", {"dtype": {"a": np.uint8}}, "not uint8"),
        (b"a\n\n1\nNA\n", {"dtype": {"a": int}}, "missing value"),
        (b"a\n2\n", {"dtype": {"a": bool}}, "not bool"),
    ],
)
def test_damaged_csv_files(tmp_path, content, options, said):
    with pytest.raises(FileError, match=said):
        data.read_csv(written(tmp_path, "x.csv", content), **options)


def test_csv_arguments(tmp_path):
    path = written(tmp_path, "x.csv", b"a\n1\n")
    for options in ({"delimiter": ", "}, {"dtype": {"b": int}}):
        with pytest.raises(ArgumentError):
            data.read_csv(path, **options)


# ---- WAV


def wav(frames, width, channels=2, rate=8000):
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(width)
        out.setframerate(rate)
        out.writeframes(frames)
    return file.getvalue()


def riff(kind, bits, channels, samples, extensible=False, extra=b""):
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", kind, channels, 8000, 8000 * block, block, bits)
    if extensible:
        form = struct.pack("<H", 0xFFFE) + form[2:] + struct.pack("<HHI", 22, bits, 3)
        form += struct.pack("<H", kind) + bytes.fromhex("000000001000800000aa00389b71")
    body = b"fmt " + struct.pack("<I", len(form)) + form + extra
    body += b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


@pytest.mark.parametrize("bits", [8, 16, 24, 32])
@pytest.mark.parametrize("channels", [1, 2])
def test_wav_files(tmp_path, bits, channels):
    top = 1 << (bits - 1)
    values = np.array([0, 1, -1, top - 1, -top, top // 3], np.int64)
    stored = values + (128 if bits == 8 else 0)
    frames = b"".join(int(v).to_bytes(bits // 8, "little", signed=bits > 8) for v in stored)
    path = written(tmp_path, "x.wav", wav(frames, bits // 8, channels))
    sound, rate = data.read_wav(path)
    assert rate == 8000
    wanted = (values / top).reshape(-1, channels).T
    np.testing.assert_allclose(sound, wanted, atol=1e-7)
    assert sound.dtype == np.float32
    raw, _ = data.read_wav(path, normalize=False)
    np.testing.assert_array_equal(raw, stored.reshape(-1, channels).T)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("extensible", [False, True])
def test_wav_files_of_floats(tmp_path, bits, extensible):
    values = np.array([0.5, -1.0, 2.0, 0.25], f"<f{bits // 8}")
    other = b"LIST" + struct.pack("<I", 3) + b"abc\0"  # parts are padded to even sizes
    content = riff(3, bits, 2, values.tobytes(), extensible, other)
    sound, _ = data.read_wav(written(tmp_path, "x.wav", content))
    np.testing.assert_array_equal(sound, values.reshape(2, 2).T)


SOUND = wav(bytes(range(16)), 2)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a WAV"),
        (b"RIFX" + SOUND[4:], "not a WAV"),
        (SOUND[:-3], "cut off"),
        (SOUND[:30], "cut off"),
        (SOUND[:36], "no samples"),
        (SOUND[:12] + SOUND[36:], "format first"),
        (riff(7, 8, 1, b"1234"), "format=7"),
        (riff(1, 12, 2, b"123"), "bits=12"),
        (riff(1, 16, 2, b"123456"), "contradicts"),
        (riff(1, 16, 0, b""), "contradicts"),
        (SOUND[:16] + b"\xff\xff\xff\xff" + SOUND[20:], "cut off"),
    ],
)
def test_damaged_wav_files(tmp_path, content, said):
    with pytest.raises(FileError, match=said):
        data.read_wav(written(tmp_path, "x.wav", content))


# ---- pictures


def test_folders_of_pictures(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)
    for name, count in (("dog", 2), ("cat", 1)):
        (tmp_path / name).mkdir()
        for number in range(count):
            pillow.fromarray(pixels).save(tmp_path / name / f"{number}.PNG")
        (tmp_path / name / "notes.txt").write_text("no picture")
    pillow.fromarray(pixels[:, :, 0]).save(tmp_path / "cat" / "grey.bmp")
    (tmp_path / "dog" / "more").mkdir()
    pillow.fromarray(pixels).convert("RGBA").save(tmp_path / "dog" / "more" / "deep.png")
    sets = data.ImageFolder(tmp_path)
    assert sets.classes == ["cat", "dog"]
    assert sets.targets == [0, 0, 1, 1, 1]
    np.testing.assert_array_equal(sets[0][0], pixels.transpose(2, 0, 1))
    np.testing.assert_array_equal(sets[1][0], np.stack([pixels[:, :, 0]] * 3))
    changed = data.ImageFolder(
        tmp_path, T.Compose([T.Resize((2, 2)), T.ToTensor()]), lambda number: -number
    )
    x, y = next(iter(data.DataLoader(changed, 5, num_workers=1)))
    assert (x.shape, x.dtype, y.tolist()) == ((5, 3, 2, 2), td.float32, [0, 0, -1, -1, -1])
    assert data.read_image(sets.samples[0][0], "L").shape == (1, 4, 5)
    assert repr(sets) == "ImageFolder(5 pictures, 2 classes)"


def test_damaged_pictures(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8)
    pillow.fromarray(pixels).save(file, "PNG")
    good = file.getvalue()
    bomb = bytearray(good)
    bomb[16:24] = struct.pack(">II", 100_000, 100_000)
    broken = bytearray(good)
    broken[len(good) // 2] ^= 0xFF
    for content in (b"", b"GIF89a", good[:200], good[:30], bytes(bomb), bytes(broken)):
        with pytest.raises(FileError, match="not a picture"):
            data.read_image(written(tmp_path, "x.png", content))


def test_folders_that_have_none(tmp_path):
    with pytest.raises(FileError, match="no such folder"):
        data.ImageFolder(tmp_path / "none")
    with pytest.raises(FileError, match="no folders"):
        data.ImageFolder(tmp_path)
    (tmp_path / "cat").mkdir()
    with pytest.raises(FileError, match="no picture in cat"):
        data.ImageFolder(tmp_path)


# ---- what is there already


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [
        ("digits", (1797, 1, 8, 8), 10),
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
        ("breast_cancer", (569, 30), 2),
        ("diabetes", (442, 10), None),
    ],
)
def test_bundled_sets(name, shape, classes):
    pytest.importorskip("sklearn")
    sets = data.bundled(name)
    x, y = next(iter(data.DataLoader(sets, len(sets))))
    assert (x.shape, x.dtype) == (shape, td.float32)
    if classes:
        assert (y.dtype, sorted(set(y.tolist()))) == (td.int64, list(range(classes)))
        assert len(sets.target_names) == classes
    else:
        assert y.dtype == td.float32
    if name == "digits":
        assert float(x.max()) == 1.0
    assert len(sets.feature_names) == np.prod(shape[1:])


def test_bundled_sets_that_are_not_there(monkeypatch):
    with pytest.raises(ArgumentError, match="digits"):
        data.bundled("mnist")
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(NotSupported, match=r"scikit-learn.*treadle\[data\]"):
        data.bundled("iris")


def test_the_standard_library_is_a_corpus():
    text = data.stdlib_text(100_000)
    assert 99_000 < len(text.encode()) <= 100_000
    assert data.stdlib_text(50_000) == text.encode()[:50_000].decode("utf-8", "ignore")
    first = min(Path(data.readers.bundled.sysconfig.get_path("stdlib")).glob("*.py"))
    assert first.read_text("utf-8")[:500] in text
    assert "def " in text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("read", ["read_idx", "read_npy", "read_npz", "read_image"])
def test_a_pipe_that_nobody_writes_to_is_no_file(tmp_path, read):
    if read == "read_image":
        pytest.importorskip("PIL")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(FileError, match=f"{read}: not a regular file"):
            getattr(data, read)(path)
    with pytest.raises(FileNotFoundError):
        getattr(data, read)(tmp_path / "nothing")
