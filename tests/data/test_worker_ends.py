"""How do workers end: by themselves, by a signal, with an error, with their parent?"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from loader_cases import Failing, Lines, Squares, fails

from treadle import data
from treadle.base.errors import ArgumentError

METHODS = [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()]
SRC = Path(data.__file__).parents[2]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def gone(pids, within=10.0):
    end = time.monotonic() + within
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(alive, pids))


def pids(epoch):
    return [process.pid for process in epoch._pool.processes]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("workers", [1, 2])
def test_an_exception_comes_with_the_traceback_of_its_worker(method, workers):
    loader = data.DataLoader(
        Failing("raises"), 2, num_workers=workers, multiprocessing_context=method
    )
    epoch = iter(loader)
    processes = pids(epoch)
    with pytest.raises(KeyError, match="the ninth is not there") as caught:
        list(epoch)
    note = "".join(caught.value.__notes__)
    assert "in raises" in note
    assert "loader_cases.py" in note
    assert "worker" in note
    assert list(epoch) == []
    assert gone(processes)


def test_batches_before_a_failure_are_given():
    epoch = iter(data.DataLoader(Failing("raises"), 2, num_workers=2))
    assert [next(epoch).tolist() for _ in range(4)] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    with pytest.raises(KeyError):
        next(epoch)


def test_an_exception_that_cannot_be_sent_is_shown():
    loader = data.DataLoader(Failing("raises_oddly"), 2, num_workers=1)
    with pytest.raises(data.WorkerError, match="OddError: firstsecond"):
        list(loader)


@pytest.mark.parametrize(
    ("how", "said"),
    [("exits", "exit code 7"), ("exits_politely", "exit code 3"), ("is_killed", "SIGKILL")],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_dies_is_reported(how, said, workers):
    epoch = iter(data.DataLoader(Failing(how), 2, num_workers=workers))
    processes = pids(epoch)
    with pytest.raises(data.WorkerError, match=rf"{said}.*worker=\d, pid=\d+"):
        list(epoch)
    assert gone(processes)


def test_an_idle_worker_that_is_killed_is_reported():
    loader = data.DataLoader(Squares(400), 2, num_workers=2)
    epoch = iter(loader)
    next(epoch)
    os.kill(pids(epoch)[1], signal.SIGKILL)
    with pytest.raises(data.WorkerError, match="SIGKILL"):
        list(epoch)


def test_persistent_workers_are_made_again_after_a_death():
    loader = data.DataLoader(Squares(), 2, num_workers=1, persistent_workers=True)
    first = iter(loader)
    next(first)
    (pid,) = pids(first)
    list(first)
    assert alive(pid)
    second = iter(loader)
    assert pids(second) == [pid]
    next(second)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(data.WorkerError):
        list(second)
    assert len(list(loader)) == 12
    third = iter(loader)
    (pid,) = pids(third)
    assert alive(pid)


def test_a_worker_that_cannot_begin_says_why():
    for persistent in (False, True):
        loader = data.DataLoader(
            Squares(), num_workers=2, worker_init_fn=fails, persistent_workers=persistent
        )
        with pytest.raises(ValueError, match=r"worker \d cannot begin"):
            list(loader)


def test_time_runs_out():
    loader = data.DataLoader(Failing("sleeps"), 2, num_workers=1, timeout=0.3)
    begun = time.monotonic()
    with pytest.raises(data.WorkerError, match=r"0\.3 s.*waiting_for=\[0\]"):
        list(loader)
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("width", [3, 40000])
def test_a_loop_that_is_left_ends_its_workers_quietly(method, width, capfd):
    for given in range(4 if method == "fork" else 1):
        sets = Squares(100, width)
        epoch = iter(data.DataLoader(sets, 2, num_workers=2, multiprocessing_context=method))
        for _ in range(given):
            next(epoch)
        processes = pids(epoch)
        assert all(map(alive, processes))
        del epoch
        assert gone(processes, 2)
    assert capfd.readouterr().err == ""


def test_what_a_collate_function_gives_must_be_sent():
    loader = data.DataLoader(Squares(), num_workers=1, collate_fn=lambda x: lambda: x)
    with pytest.raises((AttributeError, pickle.PicklingError, data.WorkerError), match="pickle"):
        list(loader)


def loops_in_threads(count):
    """How many elements so many threads see, each in a loop of its own."""
    found = []

    def loop():
        found.extend(len(batch["index"]) for batch in data.DataLoader(Squares(), 4, num_workers=2))

    threads = [threading.Thread(target=loop) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return sum(found)


def test_a_loop_in_a_thread():
    assert loops_in_threads(3) == 3 * 23


def test_nobody_forks_while_an_end_is_being_closed(monkeypatch):
    usual = Connection._close

    def slowly(end):
        usual(end)
        time.sleep(0.03)  # closed, and not yet known to be

    monkeypatch.setattr(Connection, "_close", slowly)
    assert loops_in_threads(4) == 4 * 23


def test_a_loader_that_is_dropped_ends_persistent_workers():
    loader = data.DataLoader(Squares(), 2, num_workers=1, persistent_workers=True)
    epoch = iter(loader)
    processes = pids(epoch)
    list(epoch)
    assert all(map(alive, processes))
    del epoch, loader
    assert gone(processes, 2)


@pytest.mark.parametrize("dataset", [list(range(8)), Lines(8)], ids=["indexed", "iterable"])
def test_a_newer_loop_takes_persistent_workers_from_an_older(dataset):
    loader = data.DataLoader(dataset, 2, num_workers=2, persistent_workers=True, timeout=20)
    older, whole = iter(loader), len(list(loader))
    with pytest.raises(ArgumentError, match="a newer loop"):
        next(older)
    older = iter(loader)
    next(older)
    newer = iter(loader)
    next(newer)
    processes = pids(newer)
    with pytest.raises(ArgumentError, match="one loop at a time"):
        next(older)
    assert list(older) == []
    assert len(list(newer)) == whole - 1
    assert len(list(loader)) == whole
    assert list(newer) == []  # it had ended by itself
    assert all(map(alive, processes))


def test_what_cannot_be_pickled_is_refused_by_spawn():
    loader = data.DataLoader(
        Squares(), num_workers=1, multiprocessing_context="spawn", collate_fn=lambda x: x
    )
    with pytest.raises(ArgumentError, match=r"cannot be sent.*lambda"):
        iter(loader)


# ---- the parent ends

PROGRAM = """
import os, signal, sys, time
sys.path.insert(0, {cases!r})
from loader_cases import Failing, Squares
from treadle import data

if __name__ == "__main__":
    loader = data.DataLoader({dataset}, 2, num_workers=2, multiprocessing_context={method!r})
    epoch = iter(loader)
    next(epoch)
    print(*(process.pid for process in epoch._pool.processes), flush=True)
    {ending}
"""
ENDINGS = {
    "ends": ("pass", 0),
    "raises": ("raise ValueError", 1),
    "exits": ("os._exit(3)", 3),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", -9),
    "is terminated": ("os.kill(os.getpid(), signal.SIGTERM)", -15),
}


def started(tmp_path, ending, method, dataset="Squares(400)"):
    text = PROGRAM.format(
        cases=str(Path(__file__).parent), ending=ending, method=method, dataset=dataset
    )
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(text))
    environment = os.environ | {"PYTHONPATH": str(SRC)}
    return subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True,
        start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_workers_end_with_their_parent(tmp_path, ending, method):
    if method == "spawn" and ending not in ("is killed", "ends"):
        pytest.skip("the same as by fork")
    line, code = ENDINGS[ending]
    process = started(tmp_path, line, method)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code
    workers = [int(word) for word in out.split()]
    assert len(workers) == 2
    assert gone(workers)


def test_busy_workers_end_with_a_killed_parent(tmp_path):
    line, _ = ENDINGS["is killed"]
    process = started(tmp_path, f"time.sleep(0.2); {line}", "fork", "Failing('sleeps', 4)")
    out, _ = process.communicate(timeout=60)
    workers = [int(word) for word in out.split()]
    assert gone(workers)


def test_an_interrupt_ends_the_loop_and_its_workers_quietly(tmp_path):
    process = started(tmp_path, "list(epoch)", "fork", "Failing('sleeps', 8)")
    workers = [int(word) for word in process.stdout.readline().split()]
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, said = process.communicate(timeout=60)
    assert said.count("KeyboardInterrupt") == 1
    assert "treadle-data" not in said
    assert gone(workers)
