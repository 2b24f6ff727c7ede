"""Programs on a driver that interprets: arguments, memory, graphs, a full device."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

pytest.importorskip("triton")

from cuda_cases import CASES
from fake_driver import NEAR_THE_DRIVER, install
from triton_host import INTERPRETED, check_on, error_of, node_of, simplified

from treadle.base.dtypes import float32
from treadle.base.errors import DeviceError, OutOfMemory
from treadle.base.knobs import override
from treadle.ir.node import type_of

pytestmark = pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")


@pytest.fixture
def device(monkeypatch):
    fake, backend = install(monkeypatch)
    yield fake, backend
    for name in NEAR_THE_DRIVER:
        sys.modules.pop(f"treadle.backends.cuda.{name}", None)


@pytest.mark.parametrize("name", ["chain", "padded", "half", "sums", "embedding", "classifier",
                                  "double_product", "integer_product",
                                  "chained_attention_half"])  # fmt: skip
def test_a_program_runs(device, name):
    check_on(device[1], CASES[name].build(), CASES[name].tolerance)


def test_numbers_of_every_kind_reach_the_kernel(device):
    x = np.array([1.0, 2.0, 3.0])
    check_on(device[1], [node_of(x) * 1e300, node_of(x.astype(np.float32)) * 1.7], 1e-6)
    check_on(device[1], [node_of(x.astype(np.int64)) + (1 << 40)], 0.0)
    check_on(device[1], [node_of(x.astype(np.int8)) - 77, node_of(x.astype(np.uint32)) + 9], 0.0)


def test_the_second_run_records_a_graph(device):
    fake, backend = device
    roots = CASES["classifier"].build()
    simple, places, leaves = simplified(roots)
    program = backend.compile(simple, places, {})
    inputs = [backend.upload(x.buffer, x.type, True) for x in leaves]
    found = [backend.download(program.run(inputs)[1], roots[1].type) for _ in range(3)]
    assert fake.launched == len(program.calls)
    assert fake.replayed == 2
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_a_root_takes_over_its_leaf(device):
    _, backend = device
    values = np.arange(12, dtype=np.float32)
    simple, places, (x,) = simplified([node_of(values) * 2.0])
    program = backend.compile(simple, places, {simple[0]: places[0]})
    buffer = backend.upload(x.buffer, x.type, True)
    assert program.run([buffer]) == [buffer]
    assert error_of(backend.download(buffer, x.type), values * 2.0) == 0.0


def test_freed_memory_is_used_again(device):
    fake, backend = device
    type_ = type_of((1000,), float32)
    first = backend.upload(np.ones(1000, np.float32), type_, True)
    address = first.address
    del first
    second = backend.copy(backend.upload(np.ones(1000, np.float32), type_, True))
    assert address in fake.memory
    assert len(fake.memory) == 2
    with override(pool_bytes=0):
        del second
        third = backend.gpu.allocate(1 << 20)
    assert [block.nbytes for block in fake.memory.values()] == [third.room]


def test_beyond_its_bound_the_pool_gives_back_half_without_waiting(device):
    fake, backend = device
    held = [backend.gpu.allocate(1 << 20) for _ in range(8)]
    waits = fake.waited
    with override(pool_bytes=4 << 20):
        del held
        backend.gpu.allocate(512)
    assert backend.gpu.kept == 2 << 20
    assert fake.waited == waits


def test_kept_results_do_not_keep_a_graph_from_being_used(device):
    fake, backend = device
    roots = CASES["classifier"].build()
    simple, places, leaves = simplified(roots)
    program = backend.compile(simple, places, {})
    inputs = [backend.upload(x.buffer, x.type, True) for x in leaves]
    kept = [program.run(inputs) for _ in range(5)]
    assert fake.launched == len(program.calls)
    assert fake.replayed == 4
    assert len({results[1].address for results in kept}) == 5
    first, *others = (backend.download(results[1], roots[1].type) for results in kept)
    assert all(np.array_equal(first, other) for other in others)


def test_inputs_anywhere_are_read_where_they_are(device):
    _, backend = device
    roots = CASES["classifier"].build()
    simple, places, leaves = simplified(roots)
    program = backend.compile(simple, places, {})
    for scale in (1.0, 1.0, 0.5, 0.25, 0.25, 1.0):  # all of them elsewhere, or none
        inputs = [backend.upload(x.buffer * x.buffer.dtype.type(scale or 1), x.type, True)
                  for x in leaves]  # fmt: skip
        found = backend.download(program.run(inputs)[0], roots[0].type)
        again = backend.download(backend.compile(simple, places, {}).run(inputs)[0], roots[0].type)
        assert np.array_equal(found, again)


def test_a_thread_is_in_the_context_of_the_device_it_uses(device):
    fake, backend = device
    other = type(backend)(1)
    fake.contexts.clear()
    for each in (backend, other, backend, backend, other):
        each.gpu.allocate(1)
    assert fake.contexts == [0, 1, 0, 1]


def test_programs_share_working_memory(device):
    _, backend = device
    for scale in (1.0, 2.0):
        x = node_of(np.ones((64, 64), np.float32))
        simple, places, leaves = simplified([(x @ x * scale) @ x])
        program = backend.compile(simple, places, {})
        program.run([backend.upload(x.buffer, x.type, True) for x in leaves])
        arenas = {program.segments[0].bases[0], backend.gpu.working.address}
        assert len(arenas) == 1


def test_a_full_device_frees_what_is_kept_and_then_says_so(device):
    fake, backend = device
    fake.limit = 100 << 20
    backend.gpu.allocate(80 << 20)
    held = backend.gpu.allocate(60 << 20)
    with pytest.raises(OutOfMemory, match="no device memory"):
        backend.gpu.allocate(60 << 20)
    assert held.size == 60 << 20


def message_of(attempt) -> str:
    try:
        attempt()
    except DeviceError as error:
        return str(error)
    return "nothing"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_says_that_it_has_no_device(device):
    _, backend = device
    kind = type_of((3,), float32)
    buffer = backend.upload(np.ones(3, np.float32), kind, True)
    backend.upload(np.ones(3, np.float32), kind, True)  # leaves a free block
    simple, places, leaves = simplified(CASES["chain"].build())
    program = backend.compile(simple, places, {})
    inputs = [backend.upload(x.buffer, x.type, True) for x in leaves]
    program.run(inputs)
    attempts = [
        lambda: backend.download(buffer, kind),
        lambda: backend.upload(np.ones(3, np.float32), kind, True),
        lambda: backend.copy(buffer),
        lambda: program.run(inputs),
        lambda: type(backend)(1),  # another device of the same driver
    ]
    child = os.fork()
    if child == 0:
        said = [message_of(attempt) for attempt in attempts]
        os._exit(0 if all("fork" in text and "spawn" in text for text in said) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert backend.download(buffer, kind).tolist() == [1, 1, 1]  # the parent goes on


def test_what_programs_work_in_is_handed_back_and_taken_again(device):
    fake, backend = device
    roots = CASES["classifier"].build()
    simple, places, leaves = simplified(roots)
    program = backend.compile(simple, places, {})
    inputs = [backend.upload(x.buffer, x.type, True) for x in leaves]
    results = [backend.download(program.run(inputs)[1], roots[1].type) for _ in range(2)]
    assert program.plan.layout.nbytes
    held = len(fake.memory)
    backend.gpu.release()
    assert len(fake.memory) < held
    assert backend.gpu.working is None
    results += [backend.download(program.run(inputs)[1], roots[1].type) for _ in range(2)]
    assert all(np.array_equal(results[0], x) for x in results)
