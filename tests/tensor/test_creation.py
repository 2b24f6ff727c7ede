"""Tensors from numbers: values and dtypes against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, DeviceError, TreadleError
from treadle.ops.defs import TABLE, Kind

TESTED_ELSEWHERE = {
    "from_dlpack", "triu_indices", "tril_indices", "hann_window", "hamming_window",
    "blackman_window", "bartlett_window", "kaiser_window", "fftfreq", "rfftfreq",
}  # fmt: skip

x = td.tensor(np.arange(6, dtype=np.int16).reshape(2, 3))
CASES = {
    "tensor": [(lambda: td.tensor([[1.5, 2], [3, 4]]), np.array([[1.5, 2], [3, 4]], np.float32))],
    "asarray": [(lambda: td.asarray([True, False]), np.array([True, False]))],
    "from_numpy": [(lambda: td.from_numpy(np.arange(3.0)), np.arange(3.0))],
    "full": [
        (lambda: td.full((2, 3), 7), np.full((2, 3), 7)),
        (lambda: td.full(3, 2.5), np.full(3, 2.5, np.float32)),
        (lambda: td.full((), True), np.full((), True)),
        (lambda: td.full((0, 2), 1, dtype="uint8"), np.full((0, 2), 1, np.uint8)),
    ],
    "zeros": [
        (lambda: td.zeros(2, 3), np.zeros((2, 3), np.float32)),
        (lambda: td.zeros((2, 3), dtype="int32"), np.zeros((2, 3), np.int32)),
        (lambda: td.zeros(()), np.zeros((), np.float32)),
    ],
    "ones": [(lambda: td.ones((4,), dtype="bool"), np.ones(4, bool))],
    "empty": [(lambda: td.empty(2), np.zeros(2, np.float32))],
    "full_like": [
        (lambda: td.full_like(x, 3), np.full((2, 3), 3, np.int16)),
        (lambda: td.full_like(x, 2.5, dtype="float64"), np.full((2, 3), 2.5)),
    ],
    "zeros_like": [(lambda: td.zeros_like(x), np.zeros((2, 3), np.int16))],
    "ones_like": [(lambda: td.ones_like(x, dtype="float32"), np.ones((2, 3), np.float32))],
    "empty_like": [(lambda: td.empty_like(x), np.zeros((2, 3), np.int16))],
    "arange": [
        (lambda: td.arange(5), np.arange(5)),
        (lambda: td.arange(2, 20, 3, dtype="int8"), np.arange(2, 20, 3, dtype=np.int8)),
        (lambda: td.arange(5, -4, -2), np.arange(5, -4, -2)),
        (lambda: td.arange(0.0, 1.0, 0.1), np.arange(0.0, 1.0, 0.1).astype(np.float32)),
        (lambda: td.arange(1, 3, 0.25, dtype="float64"), np.arange(1, 3, 0.25)),
        (lambda: td.arange(3, 3), np.arange(3, 3)),
        (lambda: td.arange(5, 1), np.arange(5, 1)),
    ],
    "linspace": [
        (lambda: td.linspace(0, 1, 7), np.linspace(0, 1, 7, dtype=np.float32)),
        (lambda: td.linspace(5, -5, 11, dtype="float64"), np.linspace(5, -5, 11)),
        (lambda: td.linspace(0, 1, 4, endpoint=False), np.linspace(0, 1, 4, False, dtype="f4")),
        (lambda: td.linspace(2, 3, 1), np.linspace(2, 3, 1, dtype=np.float32)),
        (lambda: td.linspace(2, 3, 0), np.linspace(2, 3, 0, dtype=np.float32)),
    ],
    "logspace": [(lambda: td.logspace(-2, 3, 6, dtype="float64"), np.logspace(-2, 3, 6))],
    "eye": [
        (lambda: td.eye(3), np.eye(3, dtype=np.float32)),
        (lambda: td.eye(3, 5, k=1, dtype="int64"), np.eye(3, 5, 1, dtype=np.int64)),
        (lambda: td.eye(3, 2, k=-2), np.eye(3, 2, -2, dtype=np.float32)),
        (lambda: td.eye(0, 2), np.eye(0, 2, dtype=np.float32)),
    ],
}


def test_every_creation_function_is_tested():
    rows = {name for name, op in TABLE.items() if op.kind is Kind.CREATION}
    assert rows - TESTED_ELSEWHERE == CASES.keys()


@pytest.mark.parametrize(
    ("make", "expected"), [c for cases in CASES.values() for c in cases],
    ids=[f"{name}-{k}" for name, cases in CASES.items() for k in range(len(cases))],
)  # fmt: skip
def test_values_and_dtype_are_those_of_numpy(make, expected):
    made = make().numpy()
    assert made.dtype == expected.dtype
    assert made.shape == expected.shape
    np.testing.assert_allclose(made, expected, rtol=1e-15 if made.dtype == np.float64 else 1e-7)


def test_linspace_ends_exactly_where_it_should():
    for stop in (0.1, 1 / 3, 7.7):
        assert td.linspace(0, stop, 50, dtype="float64").tolist()[-1] == stop


def test_asarray_copies_only_when_asked():
    array = np.arange(1024.0)
    shared = td.asarray(array, copy=False)
    copied = td.asarray(array, copy=True)
    array[0] = 5.0
    assert (float(shared[0]), float(copied[0])) == (5.0, 0.0)
    assert td.asarray(shared) is shared
    assert float(td.asarray(array)[0]) == 5.0


@pytest.mark.parametrize("kind", ["bool", "int8", "float16", "float32", "int64"])
@pytest.mark.parametrize("start", range(9))
def test_an_array_in_order_is_shared_at_any_address(start, kind):
    """Whoever wrote to it would else be seen or not by the luck of an allocator."""
    array = np.zeros(5000, kind)[start:].reshape(-1)
    pending = td.from_numpy(array) * 1
    shared = td.from_numpy(array)
    array[:] = 1
    assert shared.numpy().ctypes.data == array.ctypes.data
    assert shared.numpy().all()
    assert pending.numpy().all()


@pytest.mark.parametrize("offset", [4, 12, 36, 60])
def test_kernels_read_shared_memory_at_any_address(offset):
    rng = np.random.default_rng(0)
    memory = np.zeros(4 * 200 * 200 + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    array = memory[start : start + 4 * 200 * 200].view(np.float32).reshape(200, 200)
    array[:] = rng.standard_normal((200, 200))
    x, wide = td.from_numpy(array), array.astype(np.float64)
    assert x.numpy().ctypes.data == array.ctypes.data
    for got, expected in (
        (x @ x, wide @ wide), (x @ x.T, wide @ wide.T), (x @ x[0], wide @ wide[0]),
        (x + x.T, wide + wide.T), (x.sum(axis=0), wide.sum(0)), (x.sum(axis=1), wide.sum(1)),
        (x.cumsum(axis=1), wide.cumsum(1)), (x.sort(axis=1), np.sort(wide, 1)),
        (x.sin(), np.sin(wide)),
    ):  # fmt: skip
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-4, atol=1e-4)


def test_what_forbids_sharing_is_said():
    packed = np.zeros(3, [("a", "i1"), ("b", "f4")])["b"]
    odd = np.frombuffer(bytearray(13), "f4", 3, 1)
    for array, dtype, word in (
        (np.ones((4, 4))[::2], None, "row-major"), (np.ones((3, 4)).T, None, "row-major"),
        (packed, None, "row-major"), (odd, None, "aligned to 4"),
        (np.ones(3, ">f4"), None, "order"),
        (np.ones(3), "float32", "asked for is float32"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=word):
            td.asarray(array, dtype=dtype, copy=False)
    with pytest.raises(ValueError, match="memory of its own"):
        td.asarray(np.ones(3), device="reference", copy=False)
    assert td.asarray(np.float32(2.0) + np.zeros(()), copy=False).shape == ()


def test_tensor_may_ask_for_gradients_at_once():
    w = td.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    assert w.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: td.full((2,), "a"), "fill_value"), (lambda: td.full((-2,), 1), "negative"),
        (lambda: td.zeros(2, 1.5), "integer"), (lambda: td.ones("ab"), "integer"),
        (lambda: td.arange("a"), "number"), (lambda: td.arange(1, 2, 0), "step"),
        (lambda: td.linspace(0, 1, -1), "negative"), (lambda: td.linspace(None, 1), "start"),
        (lambda: td.arange(0, float("inf")), "finite"), (lambda: td.eye(-1), "negative"),
        (lambda: td.eye(2, k="a"), "k is"), (lambda: td.tensor([[1], [2, 3]]), "lists"),
        (lambda: td.tensor("text"), "array"), (lambda: td.tensor(None), "array"),
        (lambda: td.asarray([1], copy=False), "copy"), (lambda: td.zeros(2, dtype="q"), "element"),
        (lambda: td.zeros(2, device="moon"), "moon"), (lambda: td.full((2,), 300, "uint8"), "fit"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(call, word):
    with pytest.raises(TreadleError, match=word):
        call()


@pytest.mark.parametrize(
    "make",
    [
        lambda: td.ones(3, device="cuda:77"), lambda: td.arange(3, device="cuda:77"),
        lambda: td.eye(3, device="cuda:77"), lambda: td.random.normal((2,), device="cuda:77"),
    ],
)  # fmt: skip
def test_a_device_that_is_not_there_is_refused_at_the_call(make):
    with pytest.raises(DeviceError, match="cuda:77"):
        make()


def test_asarray_says_from_where_to_where_it_would_copy():
    with pytest.raises(ArgumentError, match=r"float32 on cpu.*float32 on reference"):
        td.asarray(td.ones(2), device="reference", copy=False)


@pytest.mark.parametrize("kind", [td.float8_e5m2, td.float8_e4m3fn, td.float16, td.bfloat16])
def test_a_filled_tensor_holds_numbers_of_its_dtype(kind):
    for made in (td.full((1, 17), 4097.3, dtype=kind), td.zeros(3, dtype=kind).full_like(4097.3)):
        inside = (made.float() - 4000).numpy()
        made.realize()
        np.testing.assert_array_equal(inside, (made.float() - 4000).numpy())
