"""What is made once, and what rests meanwhile."""

from __future__ import annotations

import gc

import pytest

from treadle.runtime.once import once


def test_the_collector_rests_while_something_is_made():
    seen = []
    assert gc.isenabled()
    assert once("a key", lambda: None, lambda: seen.append(gc.isenabled()) or 1) == 1
    assert seen == [False]
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        once("a key", lambda: None, lambda: 1 // 0)
    assert gc.isenabled()
    gc.disable()
    try:
        once("a key", lambda: None, lambda: 1)
        assert not gc.isenabled()
    finally:
        gc.enable()
