"""Values go to NumPy, DLPack, pickle and Python and come back; memory that is shared stays safe."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle

import numpy as np
import pytest

import treadle as td
from treadle.base.dtypes import ALL
from treadle.base.errors import (
    ArgumentError,
    DeviceError,
    ExchangeError,
    OperandError,
)
from treadle.tensor import dlpack
from treadle.tensor.creation import from_dlpack

NAMES = [d.name for d in ALL]


class Exporter:
    """Another library's tensor, of the first or the second version of DLPack."""

    def __init__(self, tensor, versioned, place=(1, 0)):
        self.tensor, self.versioned, self.place = tensor, versioned, place

    def __dlpack__(self, **options):
        if not self.versioned and options:
            raise TypeError("unexpected keyword")
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.place


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_dlpack_brings_every_dtype_there_and_back(name, versioned):
    x = td.tensor([[0, 1, 1], [1, 0, 1]], dtype=name)
    for shown in (x, x.T, x[:, ::2], x[::-1], x[1, 2], x[:0]):
        back = from_dlpack(Exporter(shown, versioned))
        assert (back.dtype, back.shape) == (x.dtype, shown.shape)
        assert back.tolist() == shown.tolist()


def test_dlpack_shares_memory_both_ways():
    x = (td.arange(1000).cast("float32") * 2.0).realize()
    theirs = np.from_dlpack(x)
    assert theirs.ctypes.data == x.numpy().ctypes.data
    assert not theirs.flags.writeable  # the second version can say so
    ours = from_dlpack(Exporter(x, True))
    assert ours.numpy().ctypes.data == x.numpy().ctypes.data
    assert from_dlpack(Exporter(x, True), copy=True).numpy().ctypes.data != x.numpy().ctypes.data
    assert np.from_dlpack(x, copy=True).ctypes.data != x.numpy().ctypes.data


def test_readers_of_the_second_version_are_told_not_to_write():
    x = td.ones(4)
    assert '"dltensor"' in repr(x.__dlpack__())
    assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    capsule = x.__dlpack__(max_version=(1, 0))
    address = dlpack._pointer_of(capsule, b"dltensor_versioned")
    assert ctypes.c_uint64.from_address(address + 24).value & 1


def test_memory_given_out_lives_as_long_as_its_reader():
    theirs = np.from_dlpack(td.full((1000,), 3.0) * 2.0)
    gc.collect()
    for _ in range(20):
        (td.full((1000,), 9.0) * 2.0).realize()  # would take the block if it were free
    assert (theirs == 6.0).all()


def test_memory_given_out_is_never_overwritten_in_place():
    state = (td.ones(1000) * 1.0).realize()

    @td.compile
    def step():
        state.assign(state * 2.0)
        return state.sum()

    step()
    before = state.numpy().copy()
    views = np.from_dlpack(state), np.asarray(state), from_dlpack(Exporter(state, False))
    step()
    for view in views:
        np.testing.assert_array_equal(np.asarray(view), before)
    np.testing.assert_array_equal(state.numpy(), 2 * before)


def test_borrowed_memory_is_never_overwritten_in_place():
    array = np.ones(1024, np.float32)
    state = td.from_numpy(array)
    assert state._node.buffer.borrowed
    td.compile(lambda: state.assign(state + 1.0))()
    assert (array == 1.0).all()
    assert (state.numpy() == 2.0).all()


def test_what_cannot_be_shared_is_said():
    with pytest.raises(OperandError, match="DLPack"):
        from_dlpack([1.0, 2.0])
    with pytest.raises(DeviceError, match="host"):
        from_dlpack(Exporter(td.ones(2), True, place=(10, 0)))
    with pytest.raises(ExchangeError, match="copy"):
        from_dlpack(np.ones((64, 64), np.float32).T, copy=False)
    with pytest.raises(ExchangeError, match="device"):
        td.ones(2).__dlpack__(dl_device=(2, 0))
    assert issubclass(ExchangeError, BufferError)


def test_numpy_asks_for_dtypes_and_copies():
    x = td.tensor([1.0, 2.0])
    assert np.asarray(x).ctypes.data == x.numpy().ctypes.data
    assert np.array(x, copy=True).flags.writeable
    assert x.__array__(np.float64).dtype == np.float64
    assert x.__array__(np.float32, copy=False).ctypes.data == x.numpy().ctypes.data
    with pytest.raises(ArgumentError, match="copy"):
        x.__array__(np.float64, copy=False)


def test_the_namespace_is_the_package():
    x = td.ones(2)
    assert x.__array_namespace__() is td
    assert x.__array_namespace__(api_version="2023.12") is td
    with pytest.raises(ArgumentError, match="1999"):
        x.__array_namespace__(api_version="1999.12")


# ---- outputs


def test_outputs_never_see_each_others_changes():
    def twins(x):
        return x + 1.0, x + 1.0, x, (x + 1.0).reshape(2, 2)

    x = td.tensor([1.0, 2.0, 3.0, 4.0])
    for f in (twins, td.compile(twins)):
        outputs = f(x)
        td.realize(*outputs)
        for state in outputs:
            others = [y for y in (*outputs, x) if y is not state]
            before = [y.tolist() for y in others]
            double = td.compile(lambda state=state: state.assign(state * 2.0))
            double()
            double()
            assert [y.tolist() for y in others] == before


# ---- Python's protocols


def test_one_element_is_any_kind_of_number():
    x = td.tensor([[2.0]])
    assert (int(x), float(x), complex(x), bool(x)) == (2, 2.0, 2 + 0j, True)
    assert isinstance(td.tensor([1.5], dtype="bfloat16").item(), float)
    assert range(5)[td.tensor(3, dtype="uint8")] == 3


def test_several_elements_are_no_number():
    for convert, name in ((int, "int"), (float, "float"), (complex, "complex"), (bool, "bool")):
        for x in (td.ones(2), td.ones(0)):
            with pytest.raises(ValueError, match=f"(?s){name}.*hint"):
                convert(x)
    with pytest.raises(TypeError, match=r"(?s)index.*float32.*hint"):
        range(5)[td.tensor(3.0)]
    with pytest.raises(ValueError, match="index"):
        range(5)[td.tensor([1, 2])]
    with pytest.raises(ValueError, match="item"):
        td.ones(2).item()


def test_tensors_are_containers_of_rows():
    x = td.tensor([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3
    assert [row.tolist() for row in x] == x.tolist()
    assert (3 in x, 7 in x, td.tensor([3, 4]) in x) == (True, False, True)
    assert list(td.zeros(0, 2)) == []
    for what in (len, iter):
        with pytest.raises(TypeError, match=what.__name__):
            what(td.tensor(1.0))


def test_augmented_assignment_rebinds():
    x = y = td.tensor([1.0])
    x += 2.0
    assert (x.tolist(), y.tolist()) == ([3.0], [1.0])


def test_copies_keep_values_and_gradients():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    (x * x).sum().backward()
    for y in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert (y.tolist(), y.requires_grad, y.is_leaf) == ([1.0, 2.0], True, True)
    assert copy.deepcopy(x).grad.tolist() == [2.0, 4.0]
    shared = {"a": x, "b": x}
    copied = copy.deepcopy(shared)
    assert copied["a"] is copied["b"]


def test_clones_pass_gradients_on_and_follow_nobody():
    x = td.tensor([1.0, 2.0]).requires_grad_()
    (x.clone() * 3.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    y = td.tensor([1.0])
    kept = y.clone()
    read = td.compile(lambda: kept + 0.0)
    read()
    y.assign(y * 5.0)
    assert read().tolist() == [1.0]


def test_to_takes_devices_and_dtypes():
    x = td.tensor([1.0, 2.0])
    y = x.to("reference", td.float64)
    assert (str(y.device), y.dtype) == ("reference", td.float64)
    assert x.to("float16").dtype is td.float16
    assert x.to("cpu") is x
    for z in (x.to(device="reference", dtype=td.float64), x.to(y), x.to(y, non_blocking=True)):
        assert (str(z.device), z.dtype) == ("reference", td.float64)
    assert x.to(dtype="int32").tolist() == [1, 2]
    assert x.to(y.dtype, copy=True).dtype is td.float64


def test_short_names_of_casts():
    x = td.tensor([0.0, 2.5])
    names = {"double": "float64", "half": "float16", "int": "int32", "long": "int64"}
    for short, name in (names | {n: n for n in ("bfloat16", "bool")}).items():
        assert getattr(x, short)().dtype.name == name
    assert x.int().tolist() == [0, 2]
    assert x.bool().float().tolist() == [0.0, 1.0]


def test_gradients_do_not_get_lost_between_devices():
    x = td.tensor([1.0]).requires_grad_()
    assert x.to("reference").requires_grad
    (x * 2.0).to("reference").sum().backward()
    assert x.grad.tolist() == [2.0]
    assert x.grad.device is x.device
