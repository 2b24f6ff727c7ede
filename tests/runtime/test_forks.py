"""Does a child work that was forked while other threads compile, trace, draw and record?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import treadle as td
from treadle.base import forks
from treadle.base.errors import DeviceError
from treadle.runtime import realize as runtime
from treadle.transforms import traced

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")

TIMES = int(os.environ.get("TREADLE_TEST_FORKS", "10"))  # 200 for a long look

PROGRAM = """
import os, signal, sys, threading, warnings
warnings.simplefilter("ignore")
import numpy as np
import treadle as td

times, fork = int(sys.argv[1]), os.fork
x = td.tensor(np.linspace(0.5, 1.5, 12, dtype=np.float32))
ops = (td.cos, td.sqrt, td.tanh, td.sigmoid, td.sin)
host = (np.cos, np.sqrt, np.tanh, lambda v: 1 / (1 + np.exp(-v)), np.sin)
stop = threading.Event()

def new(number, of, x):
    "A graph like no other."
    y = x
    for k in range(6):
        number, which = divmod(number, len(ops))
        y = of[which](y) * 0.5 + x
    return y

def right(number):
    found, wanted = new(number, ops, x).numpy(), new(number, host, x.numpy())
    return np.allclose(found, wanted, rtol=1e-5)

def compiles(number):
    while not stop.is_set():
        number += 16
        assert right(number)

def traces(number):
    while not stop.is_set():
        number += 16
        td.compile(lambda x: new(number, ops, x) + td.rand(12))(x)

def draws():
    while not stop.is_set():
        td.rand(3).numpy()

def child(number):
    signal.alarm(60)  # ends a child that hangs
    ok = right(0) and right(number) and 0 <= float(td.rand(1)[0]) < 1
    made = td.compile(lambda x: new(number, ops, x) * 2.0)(x).numpy()
    ok = ok and np.allclose(made, 2 * new(number, host, x.numpy()), rtol=1e-5)
    wide = td.ones((300, 400)) * x[0]
    return ok and abs(float(wide.sum()) - 60000) < 1

assert right(0)
threads = [threading.Thread(target=compiles, args=(5**4 + k,)) for k in range(2)]
threads += [threading.Thread(target=traces, args=(5**4 + 2,)), threading.Thread(target=draws)]
for thread in threads:
    thread.start()
wrong = []
for number in range(times):
    pid = fork()
    if pid == 0:
        ok = False
        try:
            ok = child(number)
        finally:
            os._exit(0 if ok else 1)
    status = os.waitpid(pid, 0)[1]
    if status:
        wrong.append((number, status))
stop.set()
for thread in threads:
    thread.join()
print(wrong)
"""


def fork_while_compiling(times: int) -> str:
    command = [sys.executable, "-c", PROGRAM, str(times)]
    environment = os.environ | {"TREADLE_CACHE_DIR": "off"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=20 * times, check=False, env=environment
    )
    return done.stdout.strip() or done.stderr[-2000:]


@pytest.mark.timeout(120 + 20 * TIMES)
def test_children_forked_while_others_compile_compute():
    assert fork_while_compiling(TIMES) == "[]"


# ---- what a fork waits for


def in_child(work) -> int:
    """The status with which a child ends that does some work; 99: it hung."""
    pid = os.fork()
    if pid == 0:
        status = 98
        try:
            status = work()
        finally:
            os._exit(status)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 99


def is_free() -> int:
    """Can any thread compile, and take every lock?"""
    found = []

    def look() -> None:
        with forks.COMPILING.mine():
            locks = [lock for name in forks.ORDER for lock in forks._locks[name]]
            found.extend(lock.acquire(timeout=1) for lock in locks if lock is not forks.COMPILING)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join(5)
    return 0 if found and all(found) else 1


class Other:
    """A thread that holds something until it is told to let go."""

    def __init__(self, thing):
        self.thing, self.inside, self.leave = thing, threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        lock = self.thing.mine() if self.thing is forks.COMPILING else self.thing
        lock.acquire(timeout=5)
        self.inside.set()
        self.leave.wait(10)
        lock.release()

    def __enter__(self):
        self.thread.start()
        self.inside.wait()
        return self

    def __exit__(self, *_):
        self.leave.set()
        self.thread.join()


ignored = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # threads and forks


@ignored
@pytest.mark.parametrize("name", [name for name in forks.ORDER if name != "forking"])
def test_a_fork_waits_for_who_holds_a_lock(name):
    td.ones(3).sum().item()  # all locks are there
    td.compile(lambda x: x + 1)(td.ones(3))
    assert forks._locks[name]
    for lock in forks._locks[name]:
        with Other(lock) as other:
            threading.Timer(0.05, other.leave.set).start()
            assert in_child(is_free) == 0
            assert other.leave.is_set()
    assert not forks._held


@ignored
def test_who_is_inside_may_go_in_again_while_a_fork_waits():
    locks = forks.PerThread()
    inside, done = threading.Event(), threading.Event()

    def work():
        with locks.mine():
            inside.set()
            time.sleep(0.05)
            with locks.mine():  # must not wait for the fork, which waits for us
                pass
        done.set()

    def come_and_stay():
        locks.mine().acquire()
        done.clear()
        done.wait(5)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    assert locks.acquire(timeout=5)
    assert done.wait(5)
    late = threading.Thread(target=come_and_stay)
    late.start()
    time.sleep(0.05)
    assert done.is_set()  # it waits
    locks.release()
    while done.is_set():
        time.sleep(0.001)
    assert not locks.acquire(timeout=0.05)  # it is in there
    done.set()
    late.join()


@ignored
def test_a_function_that_is_traced_may_fork():
    status = []

    def f(x):
        status.append(in_child(lambda: 0 if (td.ones(4) * 2).sum()._node is not None else 1))
        return x * 2

    assert td.compile(f)(td.ones(3)).tolist() == [2, 2, 2]
    assert status == [0]


@ignored
def test_who_compiles_may_fork():
    with forks.COMPILING.mine():
        assert in_child(lambda: 0 if float((td.ones(5) + 2).sum()) == 15 else 1) == 0
    assert in_child(is_free) == 0


@ignored
def test_a_child_forked_in_the_middle_of_a_long_compilation_says_so(monkeypatch):
    monkeypatch.setattr(forks, "PATIENCE", 0.1)
    x = td.tensor([1.0, 2.0])
    known = (x * 3).tolist()

    def work() -> int:
        if (x * 3).tolist() != known:  # what is compiled can be computed
            return 1
        try:
            td.compile(lambda x: td.cos(x) * 3.125)(x)
        except DeviceError as error:
            return 0 if "forked in the middle of a long compilation" in str(error) else 2
        return 3

    with Other(forks.COMPILING), Other(runtime._READING):
        assert in_child(work) == 0
    assert in_child(is_free) == 0


def test_a_trace_is_alone_until_tensors_have_their_values_back(monkeypatch):
    """Whoever reads state in between, a forked child too, would find what has no value."""
    alone, undo = [], traced._undo

    def watched(trace):
        alone.append(traced._ONE_AT_A_TIME._is_owned())
        undo(trace)

    monkeypatch.setattr(traced, "_undo", watched)
    state = td.tensor([1.0, 2.0])

    @td.compile
    def step(x):
        state.assign(state + x)
        return state.sum()

    assert float(step(td.ones(2))) == 5.0
    assert alone == [True]
    assert not traced._ONE_AT_A_TIME._is_owned()
