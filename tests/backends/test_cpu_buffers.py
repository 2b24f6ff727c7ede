"""Are buffers aligned, apart from each other, reused, and given back when nobody holds them?"""

from __future__ import annotations

import gc
import itertools
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle as td
from treadle.backends.cpu import buffers
from treadle.backends.cpu.host import host_target
from treadle.base.errors import OutOfMemory
from treadle.base.knobs import override

MIB = 1 << 20


@pytest.mark.parametrize(
    ("nbytes", "alignment"),
    [
        *[(1, 64), (64, 64), (65, 64), (4096, 64), (65536, 64), (65537, 4096), (MIB, 4096)],
        *[(2 * MIB, 2 * MIB), (5 * MIB + 1, 2 * MIB)],
    ],
)
def test_addresses_are_aligned_and_the_memory_is_there(nbytes, alignment):
    buffer = buffers.allocate(nbytes)
    assert buffer.size == nbytes
    assert buffer.address % alignment == 0
    array = np.frombuffer(buffer.view(), np.uint8)
    assert array.shape == (nbytes,)
    array[:] = 7
    assert array[-1] == 7


@given(st.lists(st.integers(0, 300_000), min_size=1, max_size=40), st.randoms())
def test_live_buffers_never_overlap(sizes, chance):
    live = []
    for size in sizes:
        live.append(buffers.allocate(size))
        if chance.random() < 0.3:
            live.pop(chance.randrange(len(live)))
    spans = sorted((buffer.address, buffer.size) for buffer in live if buffer.size)
    for (start, size), (following, _) in itertools.pairwise(spans):
        assert start + size <= following


@pytest.mark.parametrize("nbytes", [256, 100_000, 3 * MIB])
def test_a_dropped_buffer_is_the_next_one(nbytes):
    buffer = buffers.allocate(nbytes)
    address = buffer.address
    del buffer
    assert buffers.allocate(nbytes).address == address


def test_a_view_keeps_the_buffer_and_lets_it_go():
    buffer = buffers.allocate(3 * MIB)
    watch = weakref.ref(buffer)
    array = np.frombuffer(buffer.view(), np.float32)[5:]
    del buffer
    gc.collect()
    assert watch() is not None
    del array
    gc.collect()
    assert watch() is None


def test_a_wrapped_buffer_keeps_its_owner_and_shows_its_memory():
    class Owner:
        pass

    array = np.arange(10, dtype=np.int64)
    owner = Owner()
    watch = weakref.ref(owner)
    buffer = buffers.wrap(array.ctypes.data, array.nbytes, owner)
    del owner
    assert watch() is not None
    np.frombuffer(buffer.view(), np.int64)[3] = 42
    assert array[3] == 42
    del buffer
    assert watch() is None


def test_freed_memory_is_kept_up_to_the_bound():
    buffers.release()
    with override(pool_bytes=10 * MIB):
        held = [buffers.allocate(4 * MIB) for _ in range(5)]
        assert buffers.statistics()["kept_large"] == 0
        del held
        gc.collect()
        assert buffers.statistics()["kept_large"] == 8 * MIB
    mapped = buffers.statistics()["mapped"]
    buffers.release()
    assert buffers.statistics()["kept_large"] == 0
    assert buffers.statistics()["mapped"] < mapped


def test_sizes_in_use_displace_sizes_long_unused():
    buffers.release()
    with override(pool_bytes=8 * MIB):
        old = buffers.allocate(8 * MIB)
        new = buffers.allocate(4 * MIB)
        del old
        address = new.address
        del new
        assert buffers.statistics()["kept_large"] == 4 * MIB
        assert buffers.allocate(4 * MIB).address == address


def test_no_memory_left_is_an_error_of_ours():
    with pytest.raises(OutOfMemory, match="allocate: the system has no memory left"):
        buffers.allocate(1 << 60)
    with pytest.raises(MemoryError):
        buffers.allocate(1 << 70)


def test_the_size_classes_waste_little():
    for nbytes in range(buffers.SMALL_BYTES + 1, 4 * MIB, 9973):
        size = buffers.mapping_size(nbytes)
        assert nbytes <= size
        assert size % buffers.PAGE_BYTES == 0
        assert size <= nbytes * 1.25 + buffers.PAGE_BYTES or nbytes > 2 * MIB
        assert buffers.mapping_size(size) == size


def test_threads_may_allocate_at_the_same_time():
    wrong = []

    def work(number: int) -> None:
        for i in range(2000):
            buffer = buffers.allocate(512 if i % 3 else 70_000)
            array = np.frombuffer(buffer.view(), np.int64)
            array[:8] = number
            if (array[:8] != number).any():
                wrong.append(number)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_memory_is_steady_over_many_buffers():
    def churn():
        for i in range(5000):
            buffers.allocate(1 + (i * 7919) % 200_000)

    churn()
    before = buffers.statistics()
    churn()
    assert buffers.statistics() == before


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_large_results_that_start_anywhere_are_joined(kind):
    """Stores past the caches take whole lines: a part of a join may start between two."""
    rng = np.random.default_rng(0)
    large = host_target().l3_bytes // np.dtype(kind).itemsize
    part = rng.integers(0, 9, (1, large // 8 // 2048 * 2048)).astype(kind)
    parts = [np.ones((1, 5), kind), part, part[:, ::-1], part]
    found = td.concat([td.tensor(x) for x in parts], axis=1).numpy()
    np.testing.assert_array_equal(found, np.concatenate(parts, axis=1))
    rows = part.reshape(1, -1, 2048)
    found = td.pad(td.tensor(rows), [(0, 2), (1, 0), (1, 0)], mode="replicate").numpy()
    np.testing.assert_array_equal(found, np.pad(rows, [(0, 2), (1, 0), (1, 0)], mode="edge"))
