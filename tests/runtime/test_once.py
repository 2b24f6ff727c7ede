"""What is made once, and what rests meanwhile."""

from __future__ import annotations

import gc
import os
import threading

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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_is_forked_meanwhile_collects():
    begun, ended = threading.Event(), threading.Event()

    def make():
        begun.set()
        return ended.wait(60)

    thread = threading.Thread(target=once, args=("another key", lambda: None, make))
    thread.start()
    begun.wait(60)
    child = os.fork()
    if not child:
        os._exit(0 if gc.isenabled() else 1)
    ended.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert gc.isenabled()
