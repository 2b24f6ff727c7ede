"""DLPack's structures as written and read here, against NumPy's, in memory of the host."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from treadle.backends.arrays import numpy_dtype
from treadle.base.dtypes import dtype
from treadle.base.errors import DtypeError, ExchangeError
from treadle.tensor import capsules

NAMES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
         "float16", "float32", "float64", "complex64", "complex128")  # fmt: skip


class Given:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


class Owner:
    alive = 0

    def __init__(self, array):
        self.array = array
        Owner.alive += 1

    def __del__(self):
        Owner.alive -= 1


def made(array, versioned):
    kind = dtype(array.dtype.name)
    return capsules.made(array.ctypes.data, array.shape, kind, (1, 0), Owner(array), versioned)


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_numpy_reads_what_is_written_here_and_lets_go(name, versioned):
    array = np.arange(24).reshape(2, 3, 4).astype(numpy_dtype(dtype(name)))
    found = np.from_dlpack(Given(made(array, versioned)))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.ctypes.data == array.ctypes.data
    assert not found.flags.writeable
    np.testing.assert_array_equal(found, array)
    assert Owner.alive == 1
    del found
    gc.collect()
    assert Owner.alive == 0


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_what_numpy_writes_is_read_here_and_given_back(name, versioned):
    array = np.arange(24).reshape(2, 3, 4).astype(numpy_dtype(dtype(name))).T
    options = {"max_version": (1, 0)} if versioned else {}
    capsule = array.__dlpack__(**options)
    found = capsules.taken(capsule)
    assert (found.address, found.shape) == (array.ctypes.data, array.shape)
    assert found.dtype is dtype(name)
    assert found.strides == tuple(n // array.itemsize for n in array.strides)
    with pytest.raises(ExchangeError, match="unknown kind"):  # it is ours already
        capsules.taken(capsule)
    found.release()


def test_one_that_nobody_takes_lets_go():
    capsule = made(np.ones(3), True)
    assert Owner.alive == 1
    del capsule
    assert Owner.alive == 0


def test_elements_of_an_unknown_kind_are_refused():
    capsule = made(np.ones(3), True)
    whole = capsules.Versioned.from_address(capsules._pointer(id(capsule), capsules.VERSIONED))
    whole.tensor.code = 77
    with pytest.raises(DtypeError, match="code=77"):
        capsules.taken(capsule)
    whole.tensor.code, whole.major = 2, 9
    with pytest.raises(ExchangeError, match="version"):
        capsules.taken(capsule)
