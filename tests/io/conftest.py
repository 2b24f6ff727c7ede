"""What tests of files share: a check that a file is refused, quickly and with little memory."""

from __future__ import annotations

import tracemalloc

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
