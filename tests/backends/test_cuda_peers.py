"""Copies and memory shared with PyTorch, CuPy and JAX, on a device."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")
pytest.importorskip("cuda.bindings")

from triton_host import INTERPRETED

import treadle as td

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(INTERPRETED, reason="kernels are compiled here"),
    pytest.mark.skipif(not td.cuda.is_available(), reason="no CUDA device"),
]
ARRAY = np.linspace(-2.0, 2.0, 1 << 20, dtype=np.float32).reshape(1024, 1024)
READERS = {
    "torch": lambda module, x: module.from_dlpack(x),
    "cupy": lambda module, x: module.from_dlpack(x),
    "jax.numpy": lambda module, x: module.from_dlpack(x),
}
TO_HOST = {
    "torch": lambda module, y: y.cpu().numpy(),
    "cupy": lambda module, y: module.asnumpy(y),
    "jax.numpy": lambda module, y: np.asarray(y),
}


@pytest.mark.parametrize("name", list(READERS))
def test_another_library_reads_ours_and_we_read_theirs(name):
    module = pytest.importorskip(name)
    for turn in range(1, 20):
        x = td.tensor(ARRAY, device="cuda") * float(turn)
        theirs = READERS[name](module, x) + 1.0
        del x
        back = td.from_dlpack(theirs) * 2.0
        wanted = (ARRAY * np.float32(turn) + 1.0) * 2.0
        np.testing.assert_allclose(TO_HOST[name](module, theirs) * 2.0, wanted, rtol=1e-6)
        del theirs
        np.testing.assert_allclose(back.numpy(), wanted, rtol=1e-6)


def test_no_copy_is_made():
    torch = pytest.importorskip("torch")
    x = (td.tensor(ARRAY, device="cuda") * 2.0).realize()
    theirs = torch.from_dlpack(x)
    assert theirs.data_ptr() == x.__cuda_array_interface__["data"][0]
    ours = td.from_dlpack(theirs.T, copy=False)
    np.testing.assert_array_equal(ours.numpy(), (ARRAY * 2.0).T)
    half = torch.ones(3, 5, device="cuda", dtype=torch.bfloat16)
    assert td.from_dlpack(half).dtype is td.bfloat16


def test_interface_of_arrays():
    cupy = pytest.importorskip("cupy")
    x = td.tensor(ARRAY, device="cuda") * 3.0
    np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(x)), ARRAY * np.float32(3.0))


def test_copies_both_ways_beside_work():
    weights = td.tensor(ARRAY / 1024, device="cuda")
    found = []
    for turn in range(8):
        x = td.tensor(ARRAY * turn).pin_memory()
        assert x.is_pinned()
        y = x.to("cuda", non_blocking=True) @ weights
        found.append((y @ weights).to("cpu", non_blocking=True))
        del x, y
    first = found[1].numpy()
    for turn, y in enumerate(found):
        np.testing.assert_allclose(y.numpy(), first * turn, rtol=1e-3, atol=1e-3)


def test_a_compiled_step_over_both_devices():
    @td.compile
    def f(x):
        return (td.exp(x * 0.5).to("cuda") * 2.0).to("cpu") + x

    wanted = np.exp(ARRAY * 0.5) * 2.0 + ARRAY  # both cancel somewhere
    np.testing.assert_allclose(f(td.tensor(ARRAY)).numpy(), wanted, rtol=1e-5, atol=1e-6)
    x = td.tensor(ARRAY).requires_grad_()
    (x.to("cuda") ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), ARRAY * 2.0, rtol=1e-6)


def test_work_on_a_stream_of_another_library():
    torch = pytest.importorskip("torch")
    theirs = torch.cuda.Stream()
    x = td.tensor(ARRAY, device="cuda")
    with td.cuda.stream(td.cuda.Stream(address=theirs.cuda_stream)):
        y = (x * 2.0).realize()
    assert td.cuda.current_stream().cuda_stream != theirs.cuda_stream
    np.testing.assert_array_equal((y + 1.0).numpy(), ARRAY * 2.0 + 1.0)
    torch.cuda.synchronize()
