"""Names for Linux perf: one for the code of each kernel, where perf looks for them."""

from __future__ import annotations

import tempfile

import numpy as np

import treadle as td
from treadle.backends.cpu import perf_map


def test_kernels_are_named_where_perf_looks(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    x = td.tensor(np.ones((5, 11), np.float32))
    with td.override(perf_map=1):
        for _ in range(2):
            td.softmax(td.sinh(x) * 1.625).numpy()
    lines = [line.split(maxsplit=2) for line in perf_map.path().read_text().splitlines()]
    assert len({address for address, _, _ in lines}) == len(lines) > 0
    assert any("softmax" in name for _, _, name in lines)
    assert all(int(address, 16) > 0 < int(size, 16) for address, size, _ in lines)


def test_nothing_is_written_unless_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    td.softmax(td.ones(5, 13) * 1.375).numpy()
    assert not perf_map.path().exists()
