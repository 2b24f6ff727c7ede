"""Commands whose output nobody reads to its end: no traceback, and training goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import treadle as td

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(td.__file__).parents[1])}


def read_a_line_of(folder, *words):
    """Exit status and errors of a command whose output is closed after a line."""
    command = subprocess.Popen(
        [sys.executable, "-m", "treadle", *words], cwd=folder, env=ENVIRONMENT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert command.stdout.readline()
    command.stdout.close()
    errors = command.stderr.read().decode()
    command.stderr.close()
    return command.wait(), errors


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_command_that_only_prints_ends(options, tmp_path):
    td.save({f"name{k:05d}": td.zeros(1) for k in range(3000)}, tmp_path / "a.safetensors")
    assert read_a_line_of(tmp_path, "info", "a.safetensors", *options) == (141, "")


def test_a_text_that_nobody_reads_on_ends(tmp_path):
    model = td.models.CharRNN(td.models.CharRNNConfig(vocab_size=256, rnn_size=4))
    model.save_pretrained(tmp_path)
    words = ["generate", ".", "--prompt", "a\n", "--tokens", "100"]
    assert read_a_line_of(tmp_path, *words) == (141, "")


def test_a_run_goes_on_to_its_end(tmp_path):
    pytest.importorskip("sklearn")
    words = ["train", "mlp-digits", "--into", "r", "--steps", "3"]
    assert read_a_line_of(tmp_path, *words) == (0, "")
    assert (tmp_path / "r" / "model.safetensors").is_file()
