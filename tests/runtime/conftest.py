"""What tests of tuning share: a cache of their own."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.backends import choices
from treadle.runtime import realize


@pytest.fixture
def own_cache(tmp_path):
    """Nothing found by others, and others find nothing of ours."""
    place = {"cache_dir": str(tmp_path / "cache"), "cache_secret": str(tmp_path / "data" / "key")}
    with td.override(**place):
        choices.forget()
        realize.forget()
        yield tmp_path
    choices.forget()
    realize.forget()
