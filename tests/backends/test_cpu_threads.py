"""Does every block of every entry run exactly once, whoever wakes when, and does nobody linger?"""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from treadle.backends.cpu import host, jit, link, threads
from treadle.backends.cpu.runners import BESIDE
from treadle.backends.cpu.workers import MAX_BLOCKS, SERIAL, runtime_text
from treadle.base.target import Target

# count: params[block] += 1.
# order: append block and tid to the list at params, whose head is its length.
KERNELS = """
define void @count(ptr %bases, ptr %params, i64 %block, i64 %tid) {
  %p = getelementptr i64, ptr %params, i64 %block
  %old = load i64, ptr %p
  %new = add i64 %old, 1
  store i64 %new, ptr %p
  ret void
}
define void @order(ptr %bases, ptr %params, i64 %block, i64 %tid) {
  %n = load i64, ptr %params
  %n1 = add i64 %n, 1
  %n2 = add i64 %n, 2
  %p1 = getelementptr i64, ptr %params, i64 %n1
  %p2 = getelementptr i64, ptr %params, i64 %n2
  store i64 %block, ptr %p1
  store i64 %tid, ptr %p2
  store i64 %n2, ptr %params
  ret void
}
"""


@cache  # holds the code
def kernels() -> link.Code:
    return jit.load(KERNELS, lambda: KERNELS, ("count", "order"), host.host_target(), 2)


def kernel(name: str) -> int:
    return kernels()[name]


def words(values) -> ctypes.Array:
    return (ctypes.c_int64 * len(values))(*values)


class Counting:
    """A program of many entries, each counting in a row of its own."""

    def __init__(self, seed: int, entries: int = 400, most: int = 40) -> None:
        chance = random.Random(seed)
        self.blocks = [chance.randint(1, most) for _ in range(entries)]
        self.most = most
        self.rows = words([0] * (entries * most))
        start = ctypes.addressof(self.rows)
        table, free = [], 0
        for i, blocks in enumerate(self.blocks):
            flags = SERIAL if chance.random() < 0.1 else 0
            if i >= free and i + 5 < entries and chance.random() < 0.3:  # as one with some others
                more = chance.randint(1, 4)
                flags, free = more << BESIDE, i + 1 + more
            table += [kernel("count"), start + 8 * most * i, blocks, flags]
        self.table = words(table)

    def run(self, pool: int, times: int = 1) -> None:
        for _ in range(times):
            threads.runner()(pool, ctypes.addressof(self.table), len(self.blocks), 0)

    def is_right(self, times: int = 1) -> bool:
        expected = [
            times if block < blocks else 0 for blocks in self.blocks for block in range(self.most)
        ]
        return list(self.rows) == expected


@pytest.mark.parametrize("count", [1, 2, 3, 5, 16])
def test_every_block_runs_exactly_once(count):
    program = Counting(count)
    program.run(threads.Pool.get(count).address, times=10)
    assert program.is_right(times=10)


def test_workers_that_wake_late_do_nothing():
    pool = threads.Pool.get(4).address
    for seed in range(30):
        program = Counting(seed, entries=30)
        time.sleep(0.0004 * (seed % 3))  # awake, drowsy, asleep
        program.run(pool)
        assert program.is_right()


def test_a_caller_finishes_without_any_worker():
    lonely = threads.Pool(8)
    program = Counting(1)
    program.run(lonely._start)
    assert program.is_right()


def test_callers_at_the_same_time_do_not_wait_for_each_other():
    pool = threads.Pool.get(3).address
    programs = [Counting(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as callers:
        list(callers.map(lambda program: program.run(pool, times=20), programs))
    assert all(program.is_right(times=20) for program in programs)


def test_serial_entries_run_in_order_on_the_caller():
    room = words([0] * 201)
    table = words([kernel("order"), ctypes.addressof(room), 100, SERIAL])
    threads.runner()(threads.Pool.get(4).address, ctypes.addressof(table), 1, 0)
    assert list(room) == [200, *(number for block in range(100) for number in (block, 0))]


def test_all_ways_of_calling_run_the_program():
    pool = threads.Pool.get(2).address
    for times, launch in enumerate((threads.launcher(), threads.launcher_holding_gil()), 1):
        program = Counting(5)
        call = words([pool, ctypes.addressof(program.table), len(program.blocks), 0, 0])
        launch(ctypes.addressof(call))
        threads.runner()(pool, ctypes.addressof(program.table), len(program.blocks), 0)
        assert program.is_right(times=2), times


def test_a_trace_has_one_record_per_entry_in_order_of_time():
    program = Counting(3, entries=50)
    records = words([-1] * 200)
    pool = threads.Pool.get(2).address
    table, place = ctypes.addressof(program.table), ctypes.addressof(records)
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    threads.traced_runner()(pool, table, 50, 0, place)
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    assert program.is_right()
    assert list(records)[0::4] == list(range(50))
    assert list(records)[3::4] == [0] * 50
    times = [moment for i in range(50) for moment in (records[4 * i + 1], records[4 * i + 2])]
    assert [before, *times, after] == sorted([before, *times, after])


def test_more_blocks_than_a_ticket_holds_run_on_the_caller():
    text = KERNELS.replace(
        "%p = getelementptr i64, ptr %params, i64 %block",
        "%p = getelementptr i64, ptr %params, i64 %tid",
    )
    code = jit.load(text, lambda: text, ("count",), host.host_target(), 2)
    room = words([0] * 4)
    table = words([code["count"], ctypes.addressof(room), MAX_BLOCKS + 1, 0])
    threads.runner()(threads.Pool.get(4).address, ctypes.addressof(table), 1, 0)
    assert list(room) == [MAX_BLOCKS + 1, 0, 0, 0]


def test_an_idle_pool_uses_no_processor():
    Counting(1).run(threads.Pool.get(2).address)
    time.sleep(0.05)
    began, before = time.monotonic(), time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.3 * (time.monotonic() - began)


PROGRAM = """
import ctypes, os, sys, warnings
warnings.simplefilter("ignore")
from treadle.backends.cpu import host, jit, threads
text = '''
define void @count(ptr %bases, ptr %params, i64 %block, i64 %tid) {
  %p = getelementptr i64, ptr %params, i64 %block
  %old = load i64, ptr %p
  %new = add i64 %old, 1
  store i64 %new, ptr %p
  ret void
}
'''
code = jit.load("count", lambda: text, ("count",), host.host_target(), 2)
room = (ctypes.c_int64 * 100)()
table = (ctypes.c_int64 * 4)(code["count"], ctypes.addressof(room), 100, 0)
pool = threads.Pool.get(3)
def run():
    for _ in range(50):
        threads.runner()(pool.address, ctypes.addressof(table), 1, 0)
    return set(room)
if run() != {50}: sys.exit(1)
"""
FORK = """
child = os.fork()
if child == 0:
    ok = run() == {100} and len(pool._workers) == 2
    sys.exit(0 if ok else 1)
sys.exit(os.waitpid(child, 0)[1] != 0 or run() != {100})
"""


def run_python(program: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_interpreter_exits_cleanly_and_at_once():
    result = run_python(PROGRAM + "import time; open(1, 'w').write(str(time.time()))")
    assert (result.returncode, result.stderr) == (0, "")
    assert time.time() - float(result.stdout) < 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_child_starts_workers_of_its_own():
    result = run_python(PROGRAM + FORK)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    "target",
    [host.AVX2, host.AARCH64, Target("cpu", "arm64-apple-darwin", "apple-m1", vector_bytes=16)],
    ids=["x86-linux", "arm-linux", "arm-apple"],
)
def test_the_workers_compile_for_other_systems(target):
    assert jit.compile_object(runtime_text(target), target, 2)


def test_pools_are_shared_and_bounded():
    assert threads.Pool.get(2) is threads.Pool.get(2)
    assert threads.Pool.get(1000) is threads.Pool.get(host.MAX_THREADS)
    assert threads.Pool.get().threads == host.usable_cores()
