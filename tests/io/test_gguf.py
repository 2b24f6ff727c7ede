"""GGUF files, held against an encoder and decoder that works number by number."""

from __future__ import annotations

import struct

import gguf_forge as forge
import ml_dtypes
import numpy as np
import pytest

import treadle as td
from treadle.base.errors import FileError

PLAIN = {
    "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "F64": np.float64,
    "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64,
}  # fmt: skip


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("kind", forge.BLOCKS)
def test_blocks_stand_for_the_same_numbers(kind, version, mmap, tmp_path):
    rng = np.random.default_rng(len(kind))
    data, wanted = forge.blocks(kind, 6, rng)
    row = wanted.size // 3
    content = forge.file_of([], [forge.tensor_info("w", (row, 3), kind, 0)], data, 32, version)
    (tmp_path / "x.gguf").write_bytes(content)
    found = td.load(tmp_path / "x.gguf", mmap=mmap)["w"]
    assert found.dtype is td.float32
    assert found.shape == (3, row)
    np.testing.assert_array_equal(found.numpy().reshape(-1), wanted)


@pytest.mark.parametrize("count", [0, 1, 40])
def test_many_blocks_are_converted_in_parts(count, tmp_path, monkeypatch):
    monkeypatch.setattr("treadle.io.gguf_blocks.AT_ONCE", 7)
    data, wanted = forge.blocks("Q5_1", count, np.random.default_rng(1))
    content = forge.file_of([], [forge.tensor_info("w", (32, count), "Q5_1", 0)], data)
    (tmp_path / "x.gguf").write_bytes(content)
    np.testing.assert_array_equal(
        td.load(tmp_path / "x.gguf")["w"].numpy(), wanted.reshape(count, 32)
    )


@pytest.mark.parametrize("kind", PLAIN)
def test_plain_tensors_keep_their_dtype(kind, tmp_path):
    array = np.arange(24).reshape(2, 3, 4).astype(PLAIN[kind])
    content = forge.file_of([], [forge.tensor_info("w", (4, 3, 2), kind, 0)], array.tobytes())
    (tmp_path / "x.gguf").write_bytes(content)
    found = td.load(tmp_path / "x.gguf")["w"]
    assert found.dtype.name == np.dtype(PLAIN[kind]).name
    assert found.shape == (2, 3, 4)
    assert found.numpy().tobytes() == array.tobytes()


def test_metadata_of_every_type(tmp_path):
    values = [
        (0, "B", 250), (1, "b", -3), (2, "H", 60000), (3, "h", -30000), (4, "I", 2**32 - 1),
        (5, "i", -(2**31)), (6, "f", 0.5), (10, "Q", 2**64 - 1), (11, "q", -(2**63)),
        (12, "d", 0.1),
    ]  # fmt: skip
    pairs = [forge.pair(f"n{code}", code, struct.pack(f"<{f}", x)) for code, f, x in values]
    pairs += [
        forge.pair(f"a{code}", 9, struct.pack(f"<IQ2{f}", code, 2, x, x)) for code, f, x in values
    ]
    pairs += [
        forge.pair("t", 7, b"\1"), forge.pair("u", 7, b"\0"), forge.pair("s", 8, forge.text("é\n")),
        forge.pair("ta", 9, struct.pack("<IQ", 7, 3) + b"\1\0\1"),
        forge.pair("sa", 9, struct.pack("<IQ", 8, 2) + forge.text("▁the") + forge.text(b"\xff")),
        forge.pair("none", 9, struct.pack("<IQ", 4, 0)),
        forge.pair("nested", 9, struct.pack("<IQ", 9, 2) + struct.pack("<IQ2b", 1, 2, 1, 2)
                   + struct.pack("<IQ", 8, 1) + forge.text("x")),
    ]  # fmt: skip
    (tmp_path / "x.gguf").write_bytes(forge.file_of(pairs, [], b""))
    with td.io.open(tmp_path / "x.gguf") as file:
        found = file.metadata
    for code, _, x in values:
        assert found[f"n{code}"] == x
        assert found[f"a{code}"] == [x, x]
    assert (found["t"], found["u"], found["s"]) == (True, False, "é\n")
    assert found["ta"] == [True, False, True]
    assert found["sa"] == ["▁the", "\udcff"]
    assert found["none"] == []
    assert found["nested"] == [[1, 2], ["x"]]


@pytest.mark.parametrize("alignment", [8, 32, 64, 4096])
def test_alignment_is_the_files(alignment, tmp_path):
    pairs = [forge.pair("general.alignment", 4, struct.pack("<I", alignment))]
    first, second = np.arange(3, dtype="f4"), np.arange(5, dtype="f4")
    gap = bytes(-first.nbytes % alignment)
    infos = [
        forge.tensor_info("b", (5,), "F32", first.nbytes + len(gap)),
        forge.tensor_info("a", (3,), "F32", 0),
    ]
    data = first.tobytes() + gap + second.tobytes()
    (tmp_path / "x.gguf").write_bytes(forge.file_of(pairs, infos, data, alignment))
    found = td.load(tmp_path / "x.gguf")
    assert list(found) == ["b", "a"]
    assert found["a"].tolist() == [0, 1, 2]
    assert found["b"].tolist() == [0, 1, 2, 3, 4]


def test_what_cannot_be_read_can_be_listed(tmp_path):
    content = forge.file_of([], [forge.tensor_info("w", (256,), 16, 0)], bytes(66))
    (tmp_path / "x.gguf").write_bytes(content)
    with td.io.open(tmp_path / "x.gguf") as file:
        assert file.entries["w"] == ("IQ2_XXS", (256,), 66)
        with pytest.raises(FileError, match="not read"):
            file["w"]
