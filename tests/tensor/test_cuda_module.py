"""`td.cuda` where there is no GPU: it says so, and nothing else breaks."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.base.errors import DeviceError

without = pytest.mark.skipif(td.cuda.is_available(), reason="there is a GPU")


@without
def test_there_is_none():
    assert td.cuda.device_count() == 0
    assert td.cuda.current_device() == 0
    td.cuda.synchronize()  # of all in use: none
    td.cuda.empty_cache()


@without
@pytest.mark.parametrize("ask", ["get_device_name", "get_device_capability", "memory_stats"])
def test_questions_about_it_are_refused(ask):
    with pytest.raises(DeviceError):
        getattr(td.cuda, ask)()


def test_another_device_is_no_gpu():
    with pytest.raises(DeviceError, match="not a GPU"):
        td.cuda.memory_stats("cpu")
