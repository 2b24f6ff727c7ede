"""`treadle cache` shows where kernels are kept, and removes them."""

from __future__ import annotations

import pytest

from treadle.base import cache
from treadle.base.knobs import override
from treadle.cli.main import main


@pytest.fixture
def root(tmp_path):
    with override(cache_dir=str(tmp_path / "cache"), cache_secret=str(tmp_path / "own" / "secret")):
        yield tmp_path / "cache"


def test_size_place_and_clear(root, capsys):
    for text in ("a", "b"):
        cache.write(cache.digest(text), b"x" * 1000)
    assert main(["cache"]) == 0
    assert "2 kernels, 2.1 KB, in" in capsys.readouterr().out
    assert main(["cache", "where"]) == 0
    assert capsys.readouterr().out.strip() == str(root)
    assert main(["cache", "clear"]) == 0
    assert "2 kernels, 2.1 KB, removed" in capsys.readouterr().out
    assert cache.read(cache.digest("a")) is None
    assert main(["cache", "size"]) == 0
    assert "0 kernels, 0 bytes" in capsys.readouterr().out


def test_a_cache_that_is_off(capsys):
    with override(cache_dir="off"):
        for what in ("size", "where", "clear"):
            assert main(["cache", what]) == 0
            assert "off" in capsys.readouterr().out
