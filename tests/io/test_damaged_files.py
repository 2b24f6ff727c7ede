"""Bytes that change, go missing or are added: the right error or the right values, and no more.

Formats with checksums (trees, NPZ, PyTorch's zip files) give the values that were saved or a
FileError. The others cannot notice a changed number; they too raise nothing but a FileError, and
allocate no more than the file could hold.
"""

from __future__ import annotations

import io
import tracemalloc

import gguf_forge as forge
import numpy as np
import pytest
from pickle_forge import legacy, tensor, whole
from test_file_round_trips import agree, bits

import treadle as td
from treadle.base.dtypes import ALL
from treadle.base.errors import FileError

ROUNDS = 100
CHECKED = ("td", "npz", "packed.npz", "pt")


def state():
    kinds = [kind for kind in ALL if kind.bits != 64]
    return {f"w.{kind.name}": td.tensor(bits(kind, (2, 3))) for kind in kinds}


def packed():
    made = io.BytesIO()
    np.savez_compressed(made, a=np.arange(50.0), b=np.ones((3, 4), np.int16))
    return made.getvalue()


def old():
    """Two tensors in PyTorch's format of before 1.6."""
    code = b"}(X\x01\x00\x00\x00a" + tensor() + b"X\x01\x00\x00\x00b" + tensor(key="1") + b"u"
    numbers = (2).to_bytes(8, "little")
    return legacy(whole(code), ["0", "1"], 2 * (numbers + np.array([1, 2], "f4").tobytes()))


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The bytes of a sound file of each format."""
    folder = tmp_path_factory.mktemp("sound")
    tree = {"model": state(), "steps": [1, (2.5, None, "text")], 7: np.arange(3)}
    plain = tree | {7: td.arange(3)}
    for name, value in {"td": tree, "pt": plain, "npz": state(), "safetensors": state()}.items():
        td.save(value, folder / f"x.{name}")
    found = {path.suffix[1:]: path.read_bytes() for path in folder.iterdir()}
    return found | {"packed.npz": packed(), "old.pt": old(), "gguf": forge.simple()}


def damaged(content, rng):
    """The bytes with some damage, as disks, networks and editors do it."""
    made = bytearray(content)
    kind = rng.integers(6)
    first = int(rng.integers(len(made)))
    last = min(len(made), first + int(rng.integers(1, 40)))
    if kind <= 1:
        made[first] ^= 1 << int(rng.integers(8))
    elif kind == 2:
        made[first:last] = rng.bytes(last - first)
    elif kind == 3:
        del made[first:]
    elif kind == 4:
        del made[first:last]
    else:
        made[first:first] = rng.choice([bytes(8), b"\xff" * 8, rng.bytes(5)])
    return bytes(made)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", [*CHECKED, "safetensors", "old.pt", "gguf"])
def test_damage_is_an_error_or_does_not_matter(name, mmap, content, tmp_path):
    rng = np.random.default_rng(len(name) + mmap)
    path = tmp_path / f"x.{name}"
    path.write_bytes(content[name])
    wanted = td.load(path)
    errors = 0
    for _ in range(ROUNDS):
        made = damaged(content[name], rng)
        path.write_bytes(made)
        tracemalloc.start()
        try:
            found = td.load(path, mmap=mmap)
        except FileError:
            errors += 1
            continue
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 3_000_000 + 20 * len(made)
        if name in CHECKED and not mmap:
            agree(found, wanted)
    assert errors > ROUNDS / 4


@pytest.mark.parametrize("name", [*CHECKED, "safetensors", "old.pt", "gguf"])
def test_a_file_cut_anywhere_is_an_error(name, content, tmp_path):
    path = tmp_path / f"x.{name}"
    whole_file = content[name]
    for length in {*range(0, len(whole_file), 29), *range(len(whole_file) - 5, len(whole_file))}:
        path.write_bytes(whole_file[:length])
        with pytest.raises(FileError):
            td.load(path)


@pytest.mark.parametrize("name", CHECKED)
def test_every_bit_counts(name, content, tmp_path):
    """Each byte changed in one bit, where there are checksums: an error or the same values."""
    path = tmp_path / f"x.{name}"
    path.write_bytes(content[name])
    wanted = td.load(path)
    step = max(1, len(content[name]) // 200)
    for place in range(0, len(content[name]), step):
        made = bytearray(content[name])
        made[place] ^= 1 << (place % 8)
        path.write_bytes(made)
        try:
            found = td.load(path)
        except FileError:
            continue
        agree(found, wanted)
