"""The CUDA backend on a device: every row of the table, every form of kernel, memory, graphs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")
pytest.importorskip("cuda.bindings")

from cuda_cases import CASES
from cuda_rows import DIFFERENTIABLE, SAMPLED, label, run_gradient, run_row
from device_pool import begun
from triton_host import INTERPRETED, PROCESSORS, check_on, error_of, simplified

from treadle.backends.registry import backend_of
from treadle.base.device import device
from treadle.base.errors import DeviceError
from treadle.ir.node import leaf, type_of
from treadle.ops.neural import (
    layer_norm,
    softmax,
)
from treadle.runtime.realize import realize

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(INTERPRETED, reason="kernels are compiled here"),
]


@pytest.fixture(scope="module")
def backend():
    from treadle.backends.cuda.backend import Cuda

    try:
        return Cuda(0)
    except (DeviceError, ImportError, RuntimeError, OSError) as error:
        pytest.skip(f"no CUDA device: {error}")


@pytest.fixture(scope="module")
def outcomes(request, backend):
    """The work of all chosen rows."""
    work = {"test_row_on_the_device": run_row, "test_gradient_on_the_device": run_gradient}
    with begun(request, work | {"test_on_the_device": run_case}) as found:
        yield found


@pytest.mark.parametrize(("name", "kind"), SAMPLED, ids=label)
def test_row_on_the_device(outcomes, request, name, kind):
    assert outcomes[request.node.nodeid].result() > 0


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient_on_the_device(outcomes, request, name):
    assert outcomes[request.node.nodeid].result() > 0


def run_case(name):
    case = CASES[name]
    check_on(backend_of(device("cuda")), case.build(), max(case.tolerance, 4e-6))


@pytest.mark.parametrize("name", CASES)
def test_on_the_device(outcomes, request, name):
    outcomes[request.node.nodeid].result()


def test_the_device_is_described(backend):
    assert backend.target().cpu.startswith("sm_")
    assert backend.gpu.processors > 0
    assert PROCESSORS > 0


def test_memory_goes_round(backend):
    array = np.arange(1000, dtype=np.float32)
    type_ = type_of((1000,), CASES["add"].build()[0].dtype)
    first = backend.upload(array, type_, True)
    other = backend.copy(first)
    assert np.array_equal(backend.download(other, type_), array)
    address = first.address
    del first
    assert backend.upload(array, type_, True).address == address


def test_a_graph_gives_the_same_as_launches(backend):
    roots = CASES["classifier"].build()
    simple, places, leaves = simplified(roots)
    program = backend.compile(simple, places, {})
    inputs = [backend.upload(x.buffer, x.type, True) for x in leaves]
    results = [
        [backend.download(b, r.type) for b, r in zip(program.run(inputs), roots, strict=True)]
        for _ in range(4)
    ]
    assert any(segment.graph is not None for segment in program.segments)
    for later in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], later, strict=True))


def test_realize_reaches_the_device(backend):
    where = device("cuda")
    array = np.random.default_rng(0).standard_normal((33, 70)).astype(np.float32)
    type_ = type_of(array.shape, CASES["add"].build()[0].dtype, where)
    x = leaf(type_, backend.upload(array, type_, True))
    y = layer_norm(softmax(x @ x.T))
    realize([y])
    found = backend.download(y.buffer, y.type)
    e = array @ array.T
    e = np.exp(e - e.max(1, keepdims=True))
    e /= e.sum(1, keepdims=True)
    e = (e - e.mean(1, keepdims=True)) / np.sqrt(e.var(1, keepdims=True) + 1e-5)
    assert error_of(found, e) < 1e-4


def test_state_on_the_device_changes_for_nobody_else(backend):
    import treadle as td

    state, x = td.zeros(1000, device="cuda"), td.ones(1000, device="cuda")

    @td.compile
    def step(v):
        state.assign(state * 2.0 + v)
        return state.sum()

    seen = []
    for _ in range(4):
        total = step(x)
        seen.append((state.detach(), state + 0.0, total))
    assert [(a.tolist()[7], b.tolist()[7], c.item()) for a, b, c in seen] == [
        (v, v, 1000.0 * v) for v in (1.0, 3.0, 7.0, 15.0)
    ]
