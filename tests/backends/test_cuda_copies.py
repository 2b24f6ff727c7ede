"""Copies, streams and shared memory on a driver that is as late as it may be."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

pytest.importorskip("triton")

from fake_driver import as_cuda
from late_driver import LEGACY, PER_THREAD, LateDriver
from triton_host import INTERPRETED

import treadle as td
from treadle.backends.registry import backend_of
from treadle.base.device import CPU, device
from treadle.base.dtypes import dtype
from treadle.base.errors import ArgumentError, DeviceError, ExchangeError, OutOfMemory
from treadle.tensor import capsules

pytestmark = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")

ARRAY = np.linspace(-2.0, 2.0, 24, dtype=np.float32).reshape(4, 6)


@pytest.fixture
def driver(monkeypatch):
    with as_cuda(monkeypatch, LateDriver) as driver:
        yield driver
        gc.collect()


def backend():
    return backend_of(device("cuda"))


class Other:
    """A tensor of another library's on the GPU, whose stream is its own."""

    def __init__(self, driver, array, stream, shape=None, strides=None, offset=0):
        self.driver, self.stream = driver, stream
        self.block = np.full(array.nbytes + 64, 0xAB, np.uint8)
        self.start = -self.block.ctypes.data % 16
        self.address = self.block.ctypes.data + self.start + offset
        self.shape, self.strides = shape or array.shape, strides
        self.dtype, self.released, self.asked = array.dtype, False, []
        source = np.ascontiguousarray(array)
        driver._queue(
            stream, lambda: ctypes.memmove(self.address, source.ctypes.data, source.nbytes)
        )

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream=None, max_version=None):
        self.asked.append(stream)
        event = self.driver.cuEventCreate(0)[1]
        self.driver.cuEventRecord(event, self.stream)
        self.driver.cuStreamWaitEvent(stream, event, 0)
        found = capsules.made(self.address, self.shape, dtype(self.dtype.name), (2, 0), Told(self),
                              max_version is not None)  # fmt: skip
        if self.strides is not None:
            name = capsules.VERSIONED if max_version else capsules.PLAIN
            whole = (capsules.Versioned if max_version else capsules.Plain).from_address(
                capsules._pointer(id(found), name)
            )
            for k, step in enumerate(self.strides):
                whole.tensor.strides[k] = step
        return found


class Told:
    def __init__(self, other):
        self.other = other

    def __del__(self):
        self.other.released = True
        self.other.block.fill(0xEE)


# ---- copies beside what is computed


def test_pinned_memory_is_known_and_used_again(driver):
    x = td.tensor(ARRAY)
    assert not x.is_pinned()
    y = x.pin_memory()
    assert y.is_pinned()
    assert y.pin_memory() is y
    assert driver.is_pinned(y.numpy().ctypes.data)
    np.testing.assert_array_equal(y.numpy(), ARRAY)
    assert not (y + 1.0).realize().is_pinned()
    address = y.numpy().ctypes.data
    del y
    assert td.tensor(ARRAY).pin_memory().numpy().ctypes.data == address
    assert td.pin_memory(x).is_pinned()
    with pytest.raises(DeviceError, match="lies on a device"):
        td.tensor(ARRAY, device="cuda").pin_memory()


@pytest.mark.parametrize("hurried", [False, True])
@pytest.mark.parametrize("pinned", [False, True])
def test_a_copy_to_the_device_keeps_its_source_and_comes_before_its_readers(
    driver, pinned, hurried
):
    results = []
    for k in range(6):  # blocks are used again from the third on
        x = td.tensor(ARRAY + k)
        x = (x.pin_memory() if pinned else x).to("cuda", non_blocking=hurried)
        results.append((x * 2.0).realize())
        del x
    if "beside" in vars(backend()):  # now copies are as early as they may be
        driver.cuStreamSynchronize(backend().beside.stream)
    for k, y in enumerate(results):
        np.testing.assert_array_equal(y.numpy(), (ARRAY + k) * 2.0)


def test_a_copy_to_the_device_does_not_wait_for_what_is_computed(driver):
    x = td.tensor(ARRAY).pin_memory()
    a = td.tensor(ARRAY, device="cuda")
    busy = (a * 3.0).realize()
    y = x.to("cuda", non_blocking=True)
    driver.cuStreamSynchronize(backend().beside.stream)
    assert backend().gpu.has_come(backend().beside.sources[-1][0])
    assert driver.ran[int(backend().gpu.stream)] < len(driver.queues[int(backend().gpu.stream)])
    np.testing.assert_array_equal(y.numpy(), ARRAY)
    np.testing.assert_array_equal(busy.numpy(), ARRAY * 3.0)


def test_a_copy_to_the_host_goes_on_beside_and_is_waited_for(driver):
    x = td.tensor(ARRAY, device="cuda")
    y = (x * 2.0).to("cpu", non_blocking=True)
    waits = driver.waited
    later = (x * 5.0).realize()
    assert y.device is CPU
    assert driver.waited == waits
    np.testing.assert_array_equal(y.numpy(), ARRAY * 2.0)
    stream = int(backend().gpu.stream)
    assert driver.ran[stream] < len(driver.queues[stream])  # only what y needs was waited for
    assert driver.waited == waits
    np.testing.assert_array_equal(later.numpy(), ARRAY * 5.0)


def test_what_is_copied_to_the_host_may_go_or_be_written_over(driver):
    state = td.tensor(ARRAY, device="cuda")

    @td.compile
    def step():
        state.assign(state * 2.0)

    copies = []
    for _ in range(4):
        step()
        copies.append(state.to("cpu", non_blocking=True))
        (state + 1.0).to("cpu", non_blocking=True)  # nobody looks at it
    backend().gpu.wait()
    for k, y in enumerate(copies, 1):
        np.testing.assert_array_equal(y.numpy(), ARRAY * 2.0**k)


def test_pinned_memory_is_not_used_again_before_a_copy_to_it_is_done(driver):
    td.tensor(ARRAY, device="cuda").to("cpu", non_blocking=True)  # nobody looks at it
    y = td.tensor(ARRAY * 9.0).pin_memory()
    assert len(driver.pinned) == 1
    driver.cuCtxSynchronize()
    np.testing.assert_array_equal(y.numpy(), ARRAY * 9.0)


def test_memory_that_others_have_pinned_may_change_when_a_copy_returns(driver):
    driver.cuMemHostAlloc(ARRAY.nbytes, 0)
    (block,) = driver.pinned.values()
    array = block.view(np.float32).reshape(ARRAY.shape)
    array[:] = ARRAY
    x = td.tensor(array, device="cuda")
    array[:] = 0.0
    np.testing.assert_array_equal(x.numpy(), ARRAY)


def test_a_compiled_function_goes_to_the_device_and_back(driver):
    @td.compile
    def f(x):
        y = x.to("cuda")
        return (td.exp(y) * 2.0).to("cpu") + x, y

    for _ in range(2):
        found, there = f(td.tensor(ARRAY))
        np.testing.assert_allclose(found.numpy(), np.exp(ARRAY) * 2.0 + ARRAY, rtol=1e-5)
        np.testing.assert_array_equal(there.numpy(), ARRAY)
    x = td.tensor(ARRAY).requires_grad_()
    (x.to("cuda") * x.to("cuda")).sum().backward()
    assert x.grad.device is CPU
    np.testing.assert_allclose(x.grad.numpy(), ARRAY * 2.0, rtol=1e-6)


def test_a_loader_pins_batches_and_copies_them_beside(driver):
    data = td.data.TensorDataset(td.tensor(ARRAY))
    batches = [x for (x,) in td.data.DataLoader(data, batch_size=2, pin_memory=True)]
    assert all(x.is_pinned() for x in batches)
    moved = [x.to("cuda", non_blocking=True) for x in batches]
    np.testing.assert_array_equal(np.concatenate([x.numpy() for x in moved]), ARRAY)
    there = [x for (x,) in td.data.DataLoader(data, batch_size=2, pin_memory=True, device="cuda")]
    assert {str(x.device) for x in there} == {"cuda:0"}
    np.testing.assert_array_equal(np.concatenate([x.numpy() for x in there]), ARRAY)


# ---- streams


def test_work_goes_to_a_stream_and_stays_in_order(driver):
    before = td.cuda.current_stream()
    stream = td.cuda.Stream()
    x = td.tensor(ARRAY, device="cuda") * 2.0
    x.realize()
    with td.cuda.stream(stream):
        assert td.cuda.current_stream() == stream
        y = (x + 1.0).realize()
        assert driver.queues[stream.cuda_stream]
        del x
    assert td.cuda.current_stream() == before
    z = (y * 3.0).realize()
    np.testing.assert_array_equal(z.numpy(), (ARRAY * 2.0 + 1.0) * 3.0)
    with td.cuda.stream(None):
        assert td.cuda.current_stream() == before
    with pytest.raises(DeviceError, match="not a stream"), td.cuda.stream(3):
        pass


def test_streams_end_in_any_order(driver):
    before = td.cuda.current_stream()
    one, other = td.cuda.Stream(), td.cuda.Stream()
    first, second = td.cuda.stream(one), td.cuda.stream(other)
    first.__enter__()  # as threads do that know nothing of each other
    second.__enter__()
    with td.cuda.stream(one):
        assert td.cuda.current_stream() == one
    assert td.cuda.current_stream() == other
    first.__exit__(None, None, None)
    assert td.cuda.current_stream() == other
    number = one.cuda_stream
    del one, first
    assert number not in driver.queues
    x = (td.tensor(ARRAY, device="cuda") * 2.0).realize()
    second.__exit__(None, None, None)
    assert td.cuda.current_stream() == before
    np.testing.assert_array_equal((x + 1.0).numpy(), ARRAY * 2.0 + 1.0)


def test_events_and_streams_wait_for_each_other(driver):
    one, other = td.cuda.Stream(), td.cuda.Stream()
    done = []
    driver._queue(one.cuda_stream, lambda: done.append("one"))
    event = one.record_event()
    assert not event.query()
    other.wait_event(event)
    driver._queue(other.cuda_stream, lambda: done.append("other"))
    assert not one.query()
    other.synchronize()
    assert done == ["one", "other"]
    assert one.query()
    driver._queue(other.cuda_stream, lambda: done.append("more"))
    one.wait_stream(other)
    one.synchronize()
    assert done[-1] == "more"
    start, end = td.cuda.Event(enable_timing=True), td.cuda.Event(enable_timing=True)
    start.record(one)
    end.record()
    assert start.elapsed_time(end) > 0
    with pytest.raises(DeviceError, match="nothing is recorded"):
        td.cuda.Event().wait()
    wrapped = td.cuda.Stream(address=one.cuda_stream)
    assert wrapped == one
    assert hash(wrapped) == hash(one)
    number = one.cuda_stream
    del wrapped
    assert number in driver.queues
    del one
    assert number not in driver.queues


def test_synchronize_waits_for_copies_too(driver):
    x = td.tensor(ARRAY, device="cuda").to("cpu", non_blocking=True)
    td.cuda.synchronize()
    assert all(driver.ran[k] == len(queue) for k, queue in driver.queues.items())
    np.testing.assert_array_equal(x.numpy(), ARRAY)


# ---- memory shared with other libraries


def read(driver, capsule, stream):
    """What another library finds in a capsule, on its stream; and how it lets go."""
    found = capsules.taken(capsule)
    count = int(np.prod(found.shape))
    array = np.zeros(count, np.float32)
    driver.cuMemcpyDtoHAsync(array.ctypes.data, found.address, array.nbytes, stream)
    return array.reshape(found.shape), found


@pytest.mark.parametrize("versioned", [False, True])
def test_another_library_reads_after_our_work_and_before_its_memory_is_used_again(
    driver, versioned
):
    stream = driver.cuStreamCreate(0)[1]
    x = (td.tensor(ARRAY, device="cuda") * 2.0).realize()
    assert x.__dlpack_device__() == (2, 0)
    waits = driver.waited
    options = {"max_version": (1, 0)} if versioned else {}
    array, found = read(driver, x.__dlpack__(stream=stream, **options), stream)
    assert found.address == x._node.buffer.address  # no copy
    assert driver.waited == waits  # and nobody waits
    address = found.address
    found.release()
    del found, x
    again = [td.tensor(ARRAY * 7.0, device="cuda") for _ in range(3)]
    assert address in [y._node.buffer.address for y in again]
    np.testing.assert_array_equal(again[0].numpy(), ARRAY * 7.0)
    driver.cuStreamSynchronize(stream)
    np.testing.assert_array_equal(array, ARRAY * 2.0)


def test_words_of_the_streams_of_readers(driver):
    x = td.tensor(ARRAY, device="cuda")
    for stream in (None, LEGACY):
        array, found = read(driver, x.__dlpack__(stream=stream), LEGACY)
        driver.cuStreamSynchronize(LEGACY)
        np.testing.assert_array_equal(array, ARRAY)
        found.release()
    queued = [len(queue) for queue in driver.queues.values()]
    capsules.taken(x.__dlpack__(stream=-1)).release()
    assert [len(queue) for queue in driver.queues.values()] == queued  # it waits by itself
    for stream in (0, True, "main"):
        with pytest.raises(ArgumentError, match="address of a CUDA stream"):
            x.__dlpack__(stream=stream)
    host = np.from_dlpack(Asks(x, dl_device=(1, 0)))
    np.testing.assert_array_equal(host, ARRAY)
    with pytest.raises(ExchangeError, match="another device"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    copy = capsules.taken(x.__dlpack__(copy=True))
    assert copy.address != x._node.buffer.address
    copy.release()


class Asks:
    def __init__(self, x, **options):
        self.x, self.options = x, options

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options | self.options)

    def __dlpack_device__(self):
        return (1, 0)


def test_a_capsule_that_nobody_takes_lets_go(driver):
    x = td.tensor(ARRAY, device="cuda")
    before = len(capsules._LENT)
    capsule = x.__dlpack__()
    assert len(capsules._LENT) == before + 1
    del capsule
    assert len(capsules._LENT) == before


@pytest.mark.parametrize("gone", [True, False])
def test_a_stream_that_is_gone_or_another_threads_when_memory_comes_back(driver, gone):
    stream = driver.cuStreamCreate(0)[1] if gone else PER_THREAD
    x = td.tensor(ARRAY, device="cuda")
    found = capsules.taken(x.__dlpack__(stream=stream))
    if gone:
        driver.cuStreamDestroy(stream)
    found.release()
    y = (x + 1.0).realize()
    main = int(backend().gpu.stream)
    assert driver.ran[main] > 0  # all that came before was waited for
    np.testing.assert_array_equal(y.numpy(), ARRAY + 1.0)


@pytest.mark.parametrize("versioned", [False, True])
def test_memory_of_another_library_is_read_in_order_and_given_back(driver, versioned):
    stream = driver.cuStreamCreate(0)[1]
    other = Other(driver, ARRAY, stream)
    x = td.from_dlpack(other) if versioned else td.from_dlpack(Old(other))
    assert other.asked == [int(backend().gpu.stream)]
    assert x._node.buffer.address == other.address
    assert (x.device, x.dtype, x.shape) == (device("cuda"), td.float32, ARRAY.shape)
    y = (x * 2.0).realize()
    del x
    td.zeros(5, device="cuda").realize()
    assert not other.released  # our work with it is not done
    np.testing.assert_array_equal(y.numpy(), ARRAY * 2.0)
    (y + 1.0).realize()
    assert other.released


class Old:
    """Before versions."""

    def __init__(self, other):
        self.other = other

    def __dlpack__(self, *, stream):
        return self.other.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return (2, 0)


def test_elements_in_another_order_and_apart(driver):
    stream = driver.cuStreamCreate(0)[1]
    turned = Other(driver, ARRAY, stream, shape=(6, 4), strides=(1, 6))
    x = td.from_dlpack(turned, copy=False)
    np.testing.assert_array_equal(x.numpy(), ARRAY.T)
    apart = Other(driver, ARRAY, stream, shape=(4, 3), strides=(6, 2))
    np.testing.assert_array_equal(td.from_dlpack(apart).numpy(), ARRAY[:, ::2])
    with pytest.raises(ExchangeError, match="lie apart"):
        td.from_dlpack(apart, copy=False)
    odd = Other(driver, ARRAY, stream, offset=4)
    with pytest.raises(ExchangeError, match="not aligned"):
        td.from_dlpack(odd, copy=False)
    np.testing.assert_array_equal(td.from_dlpack(odd).numpy(), ARRAY)
    single = Other(driver, ARRAY, stream, shape=(1, 24, 1), strides=(7, 1, 99))
    assert td.from_dlpack(single, copy=False).shape == (1, 24, 1)
    np.testing.assert_array_equal(
        td.from_dlpack(single, device="cpu").numpy().ravel(), ARRAY.ravel()
    )


def test_a_state_over_memory_of_another_library_is_not_written_there(driver):
    stream = driver.cuStreamCreate(0)[1]
    other = Other(driver, ARRAY, stream)
    state = td.from_dlpack(other)

    @td.compile
    def step():
        state.assign(state * 2.0)

    step()
    np.testing.assert_array_equal(state.numpy(), ARRAY * 2.0)
    start = other.start
    np.testing.assert_array_equal(
        other.block[start : start + ARRAY.nbytes].view(np.float32), ARRAY.ravel()
    )


def test_the_interface_of_numba_and_cupy(driver):
    x = td.tensor(ARRAY, device="cuda")
    found = x.__cuda_array_interface__
    assert found["data"] == (x._node.buffer.address, True)
    assert (found["shape"], found["typestr"], found["version"]) == ((4, 6), "<f4", 3)
    assert found["stream"] == int(backend().gpu.stream)
    assert not hasattr(td.tensor(ARRAY), "__cuda_array_interface__")
    assert not hasattr(x.cast("bfloat16"), "__cuda_array_interface__")


# ---- a full device


def test_a_full_device_says_what_was_asked_held_pooled_and_where(driver):
    driver.limit = 3 << 20
    held = td.zeros(1 << 18, device="cuda").realize()
    for count in (1 << 18, 1 << 17):
        td.tensor(np.zeros(count, np.float32), device="cuda")
    with pytest.raises(OutOfMemory) as caught:
        td.tensor(np.zeros(1 << 20, np.float32), device="cuda")
    text = str(caught.value)
    for part in ("asked for=0.00 GiB", "held by tensors=", "pooled, given back=", "free=",
                 "test_cuda_copies.py:", "held by 1 tensors"):  # fmt: skip
        assert part in text
    assert held.size == 1 << 18
