"""`treadle info` says what is in a file, by its headers alone."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import gguf_forge as forge
import pytest

import treadle as td
from treadle.cli.info import clean, readable
from treadle.cli.main import main


@pytest.mark.parametrize("suffix", ["safetensors", "npz", "pt", "td"])
def test_names_shapes_dtypes_and_totals(suffix, tmp_path, capsys):
    path = tmp_path / f"x.{suffix}"
    td.save({"layer.weight": td.ones(30, 40), "layer.bias": td.ones(40, dtype="bfloat16")}, path)
    assert main(["info", str(path)]) == 0
    out = capsys.readouterr().out
    assert "layer.weight" in out
    assert "30 x 40" in out
    assert "4,800" in out
    assert "total: 2 tensors, 1,240 elements, 4.9 KB" in out
    assert main(["info", "--json", str(path)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["tensors"]["layer.weight"]["shape"] == [30, 40]
    assert found["tensors"]["layer.bias"]["nbytes"] == 80


def test_gguf_with_its_metadata(tmp_path, capsys):
    (tmp_path / "x.gguf").write_bytes(forge.simple())
    assert main(["info", str(tmp_path / "x.gguf")]) == 0
    out = capsys.readouterr().out
    assert "general.architecture: tiny" in out
    assert "tokens: ['a', 'bc', '']" in out
    assert "Q4_K" in out
    assert "2 x 256" in out


def test_checkpoints_and_shards(tmp_path, capsys):
    run = td.io.Checkpointer(tmp_path / "run")
    folder = run.save(42, model=td.nn.Linear(3, 2), epoch=7)
    for place in (tmp_path / "run", folder):
        assert main(["info", str(place)]) == 0
        out = capsys.readouterr().out
        assert "checkpoint of step 42" in out
        assert "epoch: 7" in out
        assert "weight" in out
    state = {f"w{k}": td.ones(100) for k in range(4)}
    td.io.save_safetensors(state, tmp_path / "model.safetensors", max_shard_size=900)
    assert main(["info", str(tmp_path)]) == 0
    assert "4 tensors, 400 elements, 1.6 KB" in capsys.readouterr().out


def test_what_cannot_be_read(tmp_path, capsys):
    (tmp_path / "x.pt").write_bytes(b"not a file of tensors")
    for name in ("x.pt", "none", "."):
        assert main(["info", str(tmp_path / name)]) == 1
        captured = capsys.readouterr()
        assert captured.err
        assert not captured.out


def bytes_read() -> int:
    """What this process has read from files, where Linux tells."""
    try:
        text = Path("/proc/self/io").read_text("utf-8")
    except OSError:
        return 0
    return int(text.split()[1])


def test_a_file_of_ten_gigabytes_is_not_read(tmp_path, capsys):
    path = tmp_path / "large.safetensors"
    size = 10 * 2**30
    header = {"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
    try:
        os.truncate(path, 8 + len(text) + size)
    except OSError:
        pytest.skip("no sparse files here")
    before = bytes_read()
    assert main(["info", str(path)]) == 0
    assert bytes_read() - before < size / 100
    assert "10.7 GB" in capsys.readouterr().out


def test_names_cannot_steer_a_terminal(tmp_path, capsys):
    td.save({"\x1b[2Jred": td.ones(2), "[bold]x": td.ones(2)}, tmp_path / "x.safetensors")
    main(["info", str(tmp_path / "x.safetensors")])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[2Jred" in out


@pytest.mark.skipif(importlib.util.find_spec("rich") is None, reason="rich is not installed")
def test_in_colour_where_somebody_looks(tmp_path, capsys, monkeypatch):
    td.save({"[bold]x": td.ones(2, 3)}, tmp_path / "x.safetensors")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["info", str(tmp_path / "x.safetensors")]) == 0
    out = capsys.readouterr().out
    assert "[bold]x" in out
    assert "2 x 3" in out


def test_words_for_sizes_and_texts():
    assert [readable(n) for n in (0, 999, 1000, 123456, 7 * 10**9, 5 * 10**15)] == [
        "0 bytes", "999 bytes", "1.0 KB", "123.5 KB", "7.0 GB", "5000.0 TB",
    ]  # fmt: skip
    assert clean("a\tb" + "c" * 200).startswith("a\\tbccc")
    assert clean("x" * 200).endswith("...")
